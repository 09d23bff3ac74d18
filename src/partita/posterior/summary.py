"""summarise: what draws of partitions say, in one place."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from partita.core.consensus import Consensus
from partita.core.draws import Draws
from partita.core.errors import ParameterError
from partita.core.notebook import card, facts, notes
from partita.core.rng import generator, resolve_seed
from partita.core.showing import clusters
from partita.core.suggest import suggests_names
from partita.core.threads import thread_limit
from partita.core.types import MISSING, FloatArray, FrozenArrays, IntArray
from partita.posterior.ball import Ball, check_level, credible_ball
from partita.posterior.certainty import ClusterNumbers, cluster_numbers, mean_by_cluster, object_certainty
from partita.posterior.losses import Loss, check_loss
from partita.posterior.point import best_partition, check_max_clusters


@dataclass(frozen=True, eq=False)
class Summary(FrozenArrays):
    """A partition that represents draws, and how sure they are of it."""

    labels: IntArray
    """(n,) the partition of least expected loss, clusters by first appearance; MISSING for unknown objects."""
    loss: Loss
    expected_loss: float
    """The mean distance of the draws from it; VI in nats."""
    ball: Ball
    """The credible ball around it."""
    numbers: ClusterNumbers
    """The distribution of the number of clusters."""
    certainty: FloatArray
    """(n,) each object's mean probability of being with the other members of its cluster; see `object_certainty`."""
    cluster_certainty: FloatArray
    """(k,) the mean of that over each cluster."""
    draws: int
    """How many there were."""
    exact: bool
    """Whether every partition was tried; else a search found none better."""
    seed: int
    notes: tuple[str, ...] = ()
    interrupted: bool = False
    """Whether the user stopped the search (Ctrl-C), so that the partition is a central draw."""

    @property
    def k(self) -> int:
        """The number of clusters of the partition."""
        return len(self.cluster_certainty)

    @property
    def sizes(self) -> IntArray:
        """(k,) objects in each cluster."""
        return np.bincount(self.labels[self.labels != MISSING], minlength=self.k)

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:
        clusters = "1 cluster" if self.k == 1 else f"{self.k} clusters"
        ball = f"{self.ball.level:.0%} ball of radius {self.ball.radius:.3f}"
        return (
            f"Summary({_counted(len(self), 'object')} in {clusters} from {_counted(self.draws, 'draw')}: "
            f"expected {self.loss} {self.expected_loss:.3f}, {ball})"
        )

    def _repr_html_(self) -> str:
        likeliest = np.argsort(-self.numbers.shares, kind="stable")[:5]
        numbers = ", ".join(f"{self.numbers.clusters[i]} ({self.numbers.shares[i]:.0%})" for i in likeliest)
        parts = [
            facts([("number of clusters in the draws", numbers), ("seed", self.seed)]),
            clusters(self.labels, self.k, self.certainty, "certainty"),
        ]
        return card(self, [*parts, notes(self.notes)])


@suggests_names
def summarise(
    draws: Any,
    loss: Loss = "vi",
    *,
    level: float = 0.95,
    max_clusters: int | None = None,
    seed: int | None = 0,
    threads: int | None = None,
) -> Summary:
    """Summarize posterior samples of partitions: point estimate, credible ball and certainty of each object.

    Parameters
    ----------
    draws : Consensus, Draws or array of shape (draws, n)
        The result of a sampler (`Consensus` with draws), `Draws`, or integers with one draw per row, from any software.
    loss : {"vi", "binder"}, default="vi"
        Loss that the point estimate minimizes: variation of information (in nats) or Binder's loss; see
        `partita.posterior.losses`.
    level : float, default=0.95
        Share of the posterior in the credible ball.
    max_clusters : int, optional
        Maximum number of clusters of the point estimate. Default: no limit under Binder's loss with more than 2,500
        different objects; otherwise the limit that memory and time allow, at least twice the number of clusters of the
        finest draw. A small limit makes the search faster.
    seed : int or None, default=0
        Seed of the search; None draws a new one, which the summary reports.
    threads : int, optional
        Maximum number of threads (does not affect the result). Default: one per CPU.

    Returns
    -------
    Summary
        The point estimate `labels` with its `expected_loss`, which is at most that of every draw with at most
        `max_clusters` clusters (of 64 evenly spaced draws if draws² x n exceeds 10⁹); the credible ball; the
        distribution of the number of clusters; the certainty of objects and clusters.

    Examples
    --------
    >>> summary = summarise([[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 1, 2]], seed=0)
    >>> summary.labels.tolist(), summary.certainty.round(2).tolist()
    ([0, 0, 1, 1], [1.0, 1.0, 0.67, 0.67])
    >>> summarise([[0, 0, 1, 1], [0, 0, 1, 2]], max_clusters=1).labels.tolist()
    [0, 0, 0, 0]
    """
    check_loss(loss), check_level(level), check_max_clusters(max_clusters)
    found, chosen = _draws(draws), resolve_seed(seed)
    with thread_limit(threads):
        point = best_partition(found, loss, rng=generator(chosen), max_clusters=max_clusters)
        certainty = object_certainty(found, point.labels)
        ball = credible_ball(found, point.labels, loss, level)
    notes = []
    unknown = int(np.count_nonzero(point.labels == MISSING))
    if unknown:
        notes.append(f"{unknown} of {len(point.labels)} objects have no label in the draws: label {MISSING}")
    if point.interrupted:
        notes.append("interrupted: the partition is a central draw, better ones were not searched for")
    if point.limited and int(point.labels.max()) + 1 == max_clusters:
        notes.append(f"the partition has max_clusters={max_clusters} clusters; a finer one may have a lower loss")
    elif point.limited:
        notes.append("the partition has as many clusters as a search of this size may have; a finer one may be better")
    return Summary(
        point.labels,
        loss,
        point.loss,
        ball,
        cluster_numbers(found),
        certainty,
        mean_by_cluster(certainty, point.labels),
        len(found),
        point.exact,
        chosen,
        tuple(notes),
        point.interrupted,
    )


def _counted(number: int, what: str) -> str:
    return f"1 {what}" if number == 1 else f"{number} {what}s"


def _draws(given: Any) -> Draws:
    if isinstance(given, Consensus):
        if given.draws is None:
            by = f"{given.recipe.method} keeps" if given.recipe else "this result has"
            raise ParameterError(f"{by} no draws; give a result of a sampler, or the draws themselves")
        return given.draws
    return given if isinstance(given, Draws) else Draws.of(given)
