"""Voting: rename every clustering to match a reference, then let them vote (Topchy, Jain and Punch 2004, §3.4)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Literal

import numpy as np
from numpy.random import Generator
from scipy.optimize import linear_sum_assignment

from partita.core.consensus import Consensus
from partita.core.counting import by_clustering, label_counts
from partita.core.ensemble import Ensemble
from partita.core.errors import ParameterError
from partita.core.method import Method
from partita.core.model import ColumnModel
from partita.core.params import setting
from partita.core.progress import steps
from partita.core.suggest import did_you_mean
from partita.core.threads import map_chunks
from partita.core.types import MISSING, FloatArray, IntArray
from partita.core.unique_clusterings import UniqueClusterings, unique_clusterings
from partita.metrics.ensemble import anmi, mean_nmi
from partita.metrics.information import joint_nmi
from partita.metrics.joint import Joint

MOST_MERGES: Final = 100
"""Clusterings of more labels than this, and than five times k, are cut to k only if there is no other."""


@dataclass(frozen=True, slots=True)
class Params:
    """Settings of voting."""

    reference: str = setting(
        "best",
        "base clustering to which the others are matched: best (the one with the highest ANMI), the name of a "
        "clustering, or each (each one in turn; the consensus with the highest ANMI is kept)",
    )
    unmatched: Literal["nearest", "abstain"] = setting(
        "nearest",
        "what a label without a partner in the reference does: vote where most of its objects are, or not vote",
    )


@dataclass(frozen=True, slots=True)
class Reference:
    """A base clustering, cut to k clusters where it has more."""

    column: int
    groups: IntArray
    """The cluster of each of its labels."""
    k: int
    anmi: float

    def tables(self, ensemble: Ensemble) -> tuple[FloatArray, ...]:
        """Per clustering: (k, labels) objects of each reference cluster with each label."""
        labels = np.append(self.groups, np.int32(MISSING))[ensemble.labels[:, self.column]]
        return tables_against(ensemble, labels.astype(np.int32), self.k)

    def pleas(self, ensemble: Ensemble) -> FloatArray:
        """(k, labels of all clusterings) 1 where a label of the reference belongs to a cluster."""
        table = np.zeros((self.k, int(ensemble.offsets[-1])))
        table[self.groups, ensemble.offsets[self.column] + np.arange(len(self.groups))] = 1.0
        return table


def fit(ensemble: Ensemble, k: int, params: Params, rng: Generator) -> Consensus:
    """Align every clustering to the reference by the Hungarian method; each object goes where most votes go.

    The reference is the base clustering that agrees best with all (highest ANMI), if `reference` does not name another
    one. Clusterings of more than k clusters are first cut to k by merging the clusters whose members fall together most
    often elsewhere. Votes are weighted. Ties, and objects none of whose labels votes, go to the reference's own label,
    then to the cluster with most votes in all.

    With `reference="each"`, every clustering with at least k clusters (or the most there are) is the reference once.
    The consensus with the highest ANMI is kept; ties go to the first. `detail["anmi by reference"]` has all of them.
    """
    if params.reference != "each":
        reference = choose_reference(ensemble, k, params.reference)
        model, labels = vote(ensemble, reference, params)
        detail: dict[str, Any] = {}
    else:
        scores, best = {}, -np.inf
        for candidate_reference in references(ensemble, k):
            voted = vote(ensemble, candidate_reference, params)
            score = scores[ensemble.names[candidate_reference.column]] = anmi(ensemble, voted[1])
            if score > best:
                best, reference, (model, labels) = score, candidate_reference, voted
        detail = {"anmi by reference": scores}
    detail |= {"reference": ensemble.names[reference.column], "reference anmi": reference.anmi}
    return Consensus.hard(labels, k_asked=k, model=model, detail=detail)


def vote(ensemble: Ensemble, reference: Reference, params: Params) -> tuple[ColumnModel, IntArray]:
    """Return the votes of all labels for the clusters of a reference, as a model, and the winner of each row."""
    counts = zip(reference.tables(ensemble), ensemble.weights, strict=True)
    tables = tuple(vote_table(table, weight, params) for table, weight in counts)
    totals, _ = label_counts(ensemble, np.zeros(len(ensemble), np.int32), 1)
    strength = np.concatenate(tables, axis=1) @ totals[:, 0]
    model = ColumnModel(np.zeros(reference.k), tables, "share", strength=strength, reference=reference.pleas(ensemble))
    return model, np.concatenate(map_chunks(partial(elect, model, ensemble), len(ensemble)))


def elect(model: ColumnModel, ensemble: Ensemble, start: int, stop: int) -> IntArray:
    """The winners of some rows; their votes are not kept, but counted once more for the user's objects."""
    rows = ensemble.rows(slice(start, stop))
    return model.winners(rows, model.scores(rows))


def choose_reference(ensemble: Ensemble, k: int, name: str = "best") -> Reference:
    """Return the reference with the highest ANMI, or the clustering with the given name, cut to k clusters."""
    if name == "best":
        return max(references(ensemble, k), key=lambda reference: reference.anmi)
    if name not in ensemble.names:
        raise ParameterError(
            f"voting: reference={name!r:.60} is not a clustering; {did_you_mean(name, ensemble.names)}expected best, "
            f"each, or the name of a clustering with labels and a weight: {', '.join(map(repr, ensemble.names[:8]))}"
            f"{', …' if len(ensemble.names) > 8 else ''}"
        )
    return candidate(ensemble, unique_clusterings(ensemble), ensemble.names.index(name), k)


def references(ensemble: Ensemble, k: int) -> Iterator[Reference]:
    """Yield each base clustering with at least k clusters (or the most there are), cut to k; equal ones only once."""
    wanted, candidates = eligible(ensemble, k)
    unique = unique_clusterings(ensemble)
    chosen = sorted({unique.inverse[j]: j for j in reversed(candidates)}.values())
    return (candidate(ensemble, unique, j, wanted) for j in steps(chosen, len(chosen), "voting references"))


def eligible(ensemble: Ensemble, k: int | None) -> tuple[int | None, list[int]]:
    """How many clusters a base clustering can give when k are wanted, and the clusterings that can give them."""
    if k is None:
        return None, list(range(len(ensemble.sizes)))
    wanted = min(k, max(ensemble.sizes))
    enough = [j for j, size in enumerate(ensemble.sizes) if size >= wanted]
    most = max(MOST_MERGES, 5 * wanted, min(ensemble.sizes[j] for j in enough))
    return wanted, [j for j in enough if ensemble.sizes[j] <= most]


def candidate(ensemble: Ensemble, unique: UniqueClusterings, j: int, k: int | None) -> Reference:
    """Base clustering j, cut to k clusters, with its ANMI; it is compared once with equal base clusterings."""
    others = unique.ensemble
    counts = label_counts(others, ensemble.labels[:, j].astype(np.int32), ensemble.sizes[j])[0].T
    groups = np.arange(ensemble.sizes[j], dtype=np.int32)
    if k is not None and ensemble.sizes[j] > k:
        tables = by_clustering(counts.T, others.offsets)
        groups = merge_to([tables[i] for i in unique.inverse], ensemble.weights, k)
        counts = np.stack([counts[groups == group].sum(axis=0) for group in range(k)])
    nmi, objects = joint_nmi(Joint(counts, others.offsets[:-1], others.sizes))
    score = mean_nmi(nmi[unique.inverse], objects[unique.inverse], ensemble.weights)
    return Reference(j, groups, len(counts), score)


def tables_against(ensemble: Ensemble, labels: IntArray, k: int) -> tuple[FloatArray, ...]:
    """Per clustering: (k, labels) objects of each cluster of `labels` with each label."""
    counts, _ = label_counts(ensemble, labels, k)
    return by_clustering(counts, ensemble.offsets)


def merge_to(tables: Sequence[FloatArray], weights: FloatArray, k: int) -> IntArray:
    """Group clusters into k by average linkage: merge the two whose members most often share a label elsewhere.

    The chance that a member of a and one of b share a label in clustering j is the product of their label shares,
    summed over labels. Returns the group of each cluster.
    """
    counts = [table.copy() for table in tables]
    groups = np.arange(len(counts[0]))
    similarity = likeness(counts, counts, weights)
    np.fill_diagonal(similarity, -np.inf)
    everyone, alive = np.arange(len(groups)), np.ones(len(groups), dtype=bool)
    nearest = similarity.argmax(axis=1)
    for _ in range(len(groups) - k):
        first = int(np.where(alive, similarity[everyone, nearest], -np.inf).argmax())
        keep, gone = sorted((first, int(nearest[first])))
        groups[groups == gone] = keep
        alive[gone] = False
        for table in counts:
            table[keep] += table[gone]
        row = likeness([table[keep : keep + 1] for table in counts], counts, weights)[0]
        row[~alive] = row[keep] = -np.inf
        similarity[gone], similarity[:, gone] = -np.inf, -np.inf
        similarity[keep], similarity[:, keep] = row, row
        stale = alive & ((nearest == keep) | (nearest == gone) | (row >= similarity[everyone, nearest]))
        stale[keep] = True
        nearest[stale] = similarity[stale].argmax(axis=1)
    return np.unique(groups, return_inverse=True)[1].reshape(-1).astype(np.int32)


def likeness(a: list[FloatArray], b: list[FloatArray], weights: FloatArray) -> FloatArray:
    """The weighted chance that members drawn from a row of a and from a row of b share a label, over clusterings."""
    return np.asarray(sum(weight * shared(x, y) for x, y, weight in zip(a, b, weights, strict=True)))


def shared(a: FloatArray, b: FloatArray) -> FloatArray:
    """For each row of a and of b the chance that members drawn from the two share a label."""
    shares_a = a / np.maximum(a.sum(axis=1, keepdims=True), 1e-300)
    shares_b = b / np.maximum(b.sum(axis=1, keepdims=True), 1e-300)
    return np.asarray(shares_a @ shares_b.T)


def vote_table(dense: FloatArray, weight: float, params: Params) -> FloatArray:
    """(k, labels) the weight with which each label of a clustering votes for each reference cluster."""
    matched_rows, matched_cols = linear_sum_assignment(dense, maximize=True)
    votes = np.zeros_like(dense)
    partners = dense[matched_rows, matched_cols] > 0
    matched_rows, matched_cols = matched_rows[partners], matched_cols[partners]
    votes[matched_rows, matched_cols] = weight
    if params.unmatched == "nearest":
        alone = np.setdiff1d(np.arange(dense.shape[1]), matched_cols)
        alone = alone[dense[:, alone].any(axis=0)]
        votes[dense[:, alone].argmax(axis=0), alone] = weight
    return votes


METHOD = Method(
    fit,
    Params,
    takes=Ensemble,
    cite="topchy2004",
    handles_missing=True,
    chooses_k=False,
    deterministic=True,
    predicts="memberships",
)
