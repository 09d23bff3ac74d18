"""Auto: fit several methods and return the clustering that the base clusterings support best (our rule).

Average NMI with the base clusterings (ANMI) rejects candidates that the base clusterings do not support. Among the
candidates with nearly the highest ANMI, the weighted covariance (`models/lwea.py`) chooses: it asks whether the pairs
of objects in one cluster are the pairs that reliable base clusters put together. If most base clusterings have exactly
k clusters, ANMI alone is the better criterion. If they are much finer, ANMI rewards clusters of equal size; then `lwea`
is the only candidate, because it compares partitions by weighted covariance itself.
"""

from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import numpy as np
from numpy.random import Generator

from partita.combine.candidates import Candidate, Find, best_of, check_names, kept, run_all
from partita.core.consensus import Consensus
from partita.core.counting import label_counts
from partita.core.ensemble import Ensemble
from partita.core.method import Method
from partita.core.params import setting
from partita.core.soft import AnyEnsemble, SoftEnsemble
from partita.core.types import FrozenDict, IntArray
from partita.graph.base import NO_BETTER, BaseClustering, base_clusterings
from partita.models.lwea import THETA, locally_weighted, weighted_covariance

NEAR_BEST: Final = 0.98
"""Share of the highest ANMI that a candidate needs for the weighted covariance to choose it."""
SAME_K: Final = 0.5
"""Share of base clusterings with exactly k clusters from which ANMI alone chooses."""
MUCH_FINER: Final = 3
"""Base clusterings are much finer if their median number of clusters is above this multiple of k."""


@dataclass(frozen=True, slots=True)
class Params:
    """Parameters of the method `auto`."""

    candidates: tuple[str, ...] | None = setting(
        None,
        "methods to choose from, with their default parameters; default: voting, mm and lwea (soft: mm and lwea), or "
        "lwea alone if the median base clustering has more than 3 k clusters",
    )
    candidate_labels: bool = setting(False, "also return the labels of every candidate, in `candidate_labels`")


class Choice(NamedTuple):
    """The chosen candidate and the rule that decided."""

    winner: Candidate
    rule: str


def fit(find: Find, ensemble: AnyEnsemble, k: int, params: Params, rng: Generator) -> Consensus:
    """Fit the candidates and return the one that the base clusterings support best.

    Parameters
    ----------
    find : callable
        Returns the method of a name.
    ensemble : Ensemble or SoftEnsemble
        Base clusterings.
    k : int
        Number of clusters; the result never has more.
    params : Params
        Names of the candidates.
    rng : numpy.random.Generator
        Random numbers; those of a candidate depend on its name, not on the other candidates.

    Returns
    -------
    Consensus
        The result of the chosen candidate with its model. `detail["chosen"]` names it, `detail["rule"]` is the rule
        that decided, and `candidates` has the ANMI, weighted covariance, number of clusters and seconds of
        each.

    Notes
    -----
    A base clustering with at most k clusters is a candidate, too, if its ANMI is the highest. If at least half of the
    base clusterings have exactly k clusters, the candidate with the highest ANMI is returned. Otherwise it is the one
    with the largest weighted covariance among those whose ANMI is at least 0.98 of the highest.
    """
    names = params.candidates if params.candidates is not None else default_candidates(ensemble, k)
    candidates = run_all(find, check_names(find, names, "auto"), ensemble, k, rng)
    base = best_base_clustering(ensemble, k)
    if base is not None and base.anmi > best_of(candidates).anmi + NO_BETTER:
        name = f"base clustering {ensemble.names[base.column]!r}"
        candidates.append(Candidate(name, 0.0, Consensus.hard(base.labels, k_asked=k), base.anmi))
    candidates = with_covariance(ensemble, candidates)
    choice = choose(ensemble, candidates, k)
    result = kept(choice.winner, candidates)
    if params.candidate_labels:
        labels = {c.name: c.result.labels for c in candidates if c.result is not None}
        result = replace(result, candidate_labels=FrozenDict(labels))
    return replace(result, detail=FrozenDict({**result.detail, "rule": choice.rule}))


def default_candidates(ensemble: AnyEnsemble, k: int) -> tuple[str, ...]:
    """Return the names of the default candidates for a table of base clusterings.

    They depend on the type and the numbers of clusters of the base clusterings only.
    """
    if np.median(ensemble.sizes) > MUCH_FINER * k:
        return ("lwea",)
    return ("voting", "mm", "lwea") if isinstance(ensemble, Ensemble) else ("mm", "lwea")


def best_base_clustering(ensemble: AnyEnsemble, k: int) -> BaseClustering | None:
    """Return the base clustering with at most k clusters that has the highest ANMI; None if all have more.

    Missing labels are filled by a vote of the other clusterings.
    """
    best: BaseClustering | None = None
    for base in base_clusterings(ensemble, max_clusters=k):
        if best is None or base.anmi > best.anmi + NO_BETTER:
            best = base
    return best


def with_covariance(ensemble: AnyEnsemble, candidates: list[Candidate]) -> list[Candidate]:
    """Return the candidates with the weighted covariance of their labels."""
    weights = locally_weighted(ensemble, THETA)

    def covariance(labels: IntArray) -> float:
        counts, _ = label_counts(ensemble, labels, int(labels.max()) + 1)
        return weighted_covariance(counts.T, ensemble.offsets, weights)

    return [c if c.result is None else replace(c, covariance=covariance(c.result.labels)) for c in candidates]


def choose(ensemble: AnyEnsemble, candidates: list[Candidate], k: int) -> Choice:
    """Choose a candidate by the rule described at `fit`; ties go to the first."""
    best = best_of(candidates)
    if np.mean([size == k for size in ensemble.sizes]) >= SAME_K:
        return Choice(best, f"highest ANMI, because at least half of the base clusterings have exactly {k} clusters")
    near = [c for c in candidates if c.covariance is not None and c.anmi >= NEAR_BEST * best.anmi]
    largest = max(c.covariance for c in near if c.covariance is not None)
    winner = next(c for c in near if c.covariance is not None and c.covariance >= largest - NO_BETTER)
    return Choice(winner, f"largest weighted covariance among candidates with at least {NEAR_BEST} of the highest ANMI")


METHOD = Method(
    fit,
    Params,
    takes=Ensemble | SoftEnsemble,
    cite="huang2018",
    handles_missing=True,
    chooses_k=False,
    deterministic=False,
    together=True,
    combines=True,
)
