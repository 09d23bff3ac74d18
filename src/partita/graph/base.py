"""The base clustering that agrees best with all, whole: where it does not know an object, the others vote."""

from collections.abc import Iterator
from functools import partial
from typing import Final, NamedTuple

import numpy as np

from partita.core.ensemble import Ensemble
from partita.core.progress import steps
from partita.core.soft import SoftEnsemble
from partita.core.threads import map_chunks
from partita.core.types import MISSING, FloatArray, IntArray, sealed
from partita.core.unique_clusterings import UniqueClusterings, unique_clusterings
from partita.graph.voting import candidate, eligible
from partita.kernels.scores import add_scores, pick_winners
from partita.metrics.contingency import ensemble_tables
from partita.metrics.ensemble import mean_nmi, nmi_and_objects

MOST_CELLS: Final = 1 << 27
"""A clustering with gaps, of so many labels that its table with all labels has more cells, is passed over if it can."""
NO_BETTER: Final = 1e-12
"""Values of ANMI no farther apart than this are equal."""


class BaseClustering(NamedTuple):
    """A base clustering, cut to k clusters where it has more, that knows every row."""

    column: int
    labels: IntArray
    anmi: float

    @property
    def k(self) -> int:
        """How many clusters it has."""
        return n_clusters(self.labels)


def n_clusters(labels: IntArray) -> int:
    """Return the number of different labels, not counting missing ones."""
    return int(np.count_nonzero(np.bincount(labels[labels != MISSING])))


def best_base(ensemble: Ensemble | SoftEnsemble, k: int | None = None) -> BaseClustering:
    """The base clustering, completed, with the highest ANMI; of equals the first. A soft one is hardened.

    With k, those with at least k clusters (or the most there are), cut to k as `voting` does.
    """
    found = base_clusterings(ensemble, k)
    best = next(found)
    for other in found:
        best = other if other.anmi > best.anmi + NO_BETTER else best
    return best


def base_clusterings(
    ensemble: Ensemble | SoftEnsemble, k: int | None = None, max_clusters: int | None = None
) -> Iterator[BaseClustering]:
    """Yield each base clustering, completed and cut to k; see `best_base`.

    With `max_clusters`, base clusterings with more clusters are omitted.
    """
    hard = ensemble if isinstance(ensemble, Ensemble) else ensemble.harden()
    wanted, candidates = eligible(hard, k)
    if max_clusters is not None:
        candidates = [j for j in candidates if n_clusters(hard.labels[:, j]) <= max_clusters]
    width = int(hard.offsets[-1])
    small = [j for j in candidates if hard.sizes[j] * width <= MOST_CELLS or (hard.labels[:, j] != MISSING).all()]
    chosen = small or candidates[:1]
    unique_hard, unique = unique_clusterings(hard), unique_clusterings(ensemble)
    known: dict[int, BaseClustering] = {}
    for j in steps(chosen, len(chosen), "base clusterings"):
        same = int(unique_hard.inverse[j])
        if same not in known:
            groups = candidate(hard, unique_hard, j, wanted).groups if wanted and hard.sizes[j] > wanted else None
            known[same] = _whole(ensemble, unique, hard.labels[:, j].astype(np.int32), j, groups)
        yield known[same]._replace(column=j)


def _whole(
    ensemble: Ensemble | SoftEnsemble, unique: UniqueClusterings, labels: IntArray, j: int, groups: IntArray | None
) -> BaseClustering:
    """Base clustering j, cut to groups of its clusters and completed."""
    labels = labels if groups is None else np.append(groups, np.int32(MISSING))[labels]
    labels = complete(ensemble, labels)
    nmi, objects = nmi_and_objects(unique.ensemble, labels)
    score = mean_nmi(nmi[unique.inverse], objects[unique.inverse], ensemble.weights)
    return BaseClustering(j, labels, score)


def complete(ensemble: Ensemble | SoftEnsemble, labels: IntArray) -> IntArray:
    """A labelling in which rows without a label get the cluster their base labels vote for.

    Each base label splits its clustering's weight among the clusters as its labelled members are split. Of equals, and
    where nothing votes, the largest cluster wins. At least one row must have a label.
    """
    gaps = np.flatnonzero(labels == MISSING)
    if not len(gaps):
        return labels
    counts = np.concatenate([table.dense() for table in ensemble_tables(ensemble, labels)], axis=1).T
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1e-300)
    votes = np.ascontiguousarray(shares * np.repeat(ensemble.weights, ensemble.sizes)[:, None])
    known = labels != MISSING
    strength = np.bincount(labels[known], weights=ensemble.counts[known], minlength=votes.shape[1]).astype(np.float64)
    found = map_chunks(partial(_elect, ensemble, gaps, votes, strength), len(gaps), chunk=1 << 12)
    whole: IntArray = labels.copy()
    whole[gaps] = np.concatenate(found)
    return whole


def _elect(
    ensemble: Ensemble | SoftEnsemble, gaps: IntArray, votes: FloatArray, strength: FloatArray, start: int, stop: int
) -> IntArray:
    rows = gaps[start:stop]
    if isinstance(ensemble, Ensemble):
        scores = np.zeros((len(rows), votes.shape[1]))
        add_scores(sealed(ensemble.labels[rows]), ensemble.offsets, votes, scores, 0, len(rows))
    else:
        scores = ensemble.matrix[rows] @ votes
    chosen = np.empty(len(rows), np.int32)
    pick_winners(scores, sealed(strength), np.full(len(rows), MISSING, np.int32), chosen, 0, len(rows))
    return chosen
