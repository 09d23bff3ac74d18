"""What draws of nonparametric Bayesian cluster ensembles say of a partition, and of new objects.

Each draw is a mixture: its clusters with the posterior means of their shares and label chances, and one component for
all clusters that hold nothing. The model is the even mixture of some draws' mixtures; a component belongs to the
clusters of the partition as its objects do.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from partita.core.counting import by_clustering, label_columns, unit_weights
from partita.core.dirichlet import known_weight
from partita.core.draws import Draws
from partita.core.likelihood import perplexity
from partita.core.links import shared_out
from partita.core.model import ColumnModel
from partita.core.soft import AnyEnsemble
from partita.core.threads import map_chunks
from partita.core.types import FloatArray, IntArray, sealed
from partita.kernels.nbce import PLACE
from partita.kernels.overlap import add_shares
from partita.models.mixture import Mixture, scores_of
from partita.models.nbce import Rows, Strengths, mean_shares, seats_of

MOST_DRAWS: Final = 100
"""Draws of which the model is made."""
ESTIMATOR: Final = "log of the mean over draws of p(labels of an object | the draw's posterior mean parameters)"


class Sampled(NamedTuple):
    """One draw."""

    z: IntArray
    """(n,) clusters 0 … K - 1."""
    strengths: Strengths
    tables: IntArray | None = None
    """(t, m + 1) labels in each cluster, by first appearance, where labels are drawn; None: those of the rows."""


def spread(count: int, most: int = MOST_DRAWS) -> IntArray:
    """At most so many of `count` draws, evenly spread.

    >>> spread(10, 4).tolist(), spread(3, 4).tolist()
    ([0, 3, 6, 9], [0, 1, 2])
    """
    return np.linspace(0, count - 1, min(count, most)).round().astype(np.int64)


def mixture_of(rows: Rows, draw: Sampled) -> Mixture:
    """A draw as a mixture; clusters come by first appearance, what holds nothing is the last component."""
    seats = seats_of(rows, draw.z)
    m, (alpha, beta) = seats.clusters, draw.strengths
    all_shares = mean_shares(np.bincount(draw.z, minlength=rows.truncation), alpha, rows.prior)
    shares = all_shares[seats.book[PLACE, :m]]
    rest = max(float(all_shares.sum() - shares.sum()), 0.0) if m < rows.truncation else 0.0
    column = label_columns(rows.offsets)
    tables = seats.tables[:, : m + 1] if draw.tables is None else draw.tables
    counts = beta + rows.weights[column][:, None] * tables
    log_probs = np.log(counts / np.add.reduceat(counts, rows.offsets[:-1])[column])
    if rest == 0.0:
        return Mixture(np.log(shares), log_probs[:, :m])
    return Mixture(np.log(np.append(shares, rest)), log_probs)


def overlap_shares(clusters: IntArray, labels: IntArray, k: int) -> FloatArray:
    """(clusters of the draw, k) the share of each one's objects in each cluster of a partition.

    >>> overlap_shares(np.array([0, 0, 1]), np.array([0, 1, 1]), 2).tolist()
    [[0.5, 0.5], [0.0, 1.0]]
    """
    m = int(clusters.max()) + 1
    table = np.bincount(clusters.astype(np.int64) * k + labels, minlength=m * k).reshape(m, k)
    return np.asarray(table / table.sum(axis=1, keepdims=True))


def memberships(draws: Draws, labels: IntArray, k: int) -> FloatArray:
    """(n, k) the mean over draws of the shares of an object's cluster there in the clusters of a partition."""
    tables = [overlap_shares(one, labels, k) for one in draws.labels]
    starts = np.concatenate([[0], np.cumsum([len(table) for table in tables])[:-1]]).astype(np.int64)
    shares, out = sealed(np.concatenate(tables)), np.zeros((draws.labels.shape[1], k))

    def part(start: int, stop: int) -> None:
        add_shares(sealed(draws.labels), sealed(starts), shares, out, start, stop)

    map_chunks(part, len(out), 1 << 13)
    return np.asarray(out / out.sum(axis=1, keepdims=True))


def model_of(
    ensemble: AnyEnsemble, rows: Rows, some: Sequence[Sampled], labels: IntArray, k: int
) -> tuple[ColumnModel, float]:
    """The model of some draws for a partition into k clusters, and its perplexity of the rows it was made from."""
    weights, mixtures = unit_weights(ensemble), [mixture_of(rows, draw) for draw in some]
    even = -np.log(len(some))
    shares, log_chances = [], np.full(len(ensemble), -np.inf)
    for draw, one in zip(some, mixtures, strict=True):
        own = overlap_shares(Draws.of(draw.z[None]).labels[0], labels, k)
        shares.append(np.concatenate([own, np.zeros((len(one.log_weights) - len(own), k))]))
        _, chances = shared_out(one.log_weights + even, scores_of(one, ensemble), ensemble)
        log_chances = np.logaddexp(log_chances, chances)
    together = Mixture(
        np.concatenate([one.log_weights + even for one in mixtures]),
        np.concatenate([one.log_probs for one in mixtures], axis=1),
    )
    tables = by_clustering(scores_of(together, ensemble), ensemble.offsets)
    model = ColumnModel(together.log_weights, tables, "softmax", weights=weights, shares=np.concatenate(shares))
    known = float(ensemble.counts @ known_weight(ensemble, weights))
    return model, perplexity(float(ensemble.counts @ log_chances), known)
