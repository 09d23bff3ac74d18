"""Voting: rename every clustering to match a reference, then let them vote (Topchy, Jain and Punch 2004, §3.4)."""

from dataclasses import dataclass
from functools import partial
from typing import Final, Literal

import numpy as np
from numpy.random import Generator
from scipy.optimize import linear_sum_assignment

from partita.core.consensus import Consensus
from partita.core.counting import label_counts
from partita.core.ensemble import Ensemble
from partita.core.method import Method
from partita.core.model import ColumnModel
from partita.core.params import setting
from partita.core.progress import steps
from partita.core.threads import map_chunks
from partita.core.types import MISSING, FloatArray, IntArray
from partita.kernels.scores import pick_winners
from partita.metrics.contingency import from_cells
from partita.metrics.ensemble import anmi_of

WHISPER: Final = 1e-12
"""What all clusters' strengths together add to an object's votes: nothing, unless it has none or they are equal."""


@dataclass(frozen=True, slots=True)
class Params:
    """Settings of voting."""

    unmatched: Literal["nearest", "abstain"] = setting(
        "nearest",
        "what a label without a partner in the reference does: vote where most of its objects are, or not vote",
    )


@dataclass(frozen=True, slots=True)
class Reference:
    """A base clustering, cut to k clusters where it has more."""

    name: str
    labels: IntArray
    k: int
    tables: tuple[FloatArray, ...]
    """Per clustering: (k, labels) objects of each reference cluster with each label."""
    anmi: float


def fit(ensemble: Ensemble, k: int | None, params: Params, rng: Generator) -> Consensus:
    """Align every clustering to the reference by the Hungarian method; each object goes where most votes go.

    The reference is the base clustering that agrees best with all (highest ANMI). With k given, clusterings of more
    than k clusters are first cut to k by merging the clusters whose members fall together most often elsewhere. Votes
    are weighted. Ties, and objects none of whose labels votes, go to the reference's own label, then to the cluster
    with most votes in all.
    """
    reference = choose_reference(ensemble, k)
    tables = tuple(vote_table(table, w, params) for table, w in zip(reference.tables, ensemble.weights, strict=True))
    totals, _ = label_counts(ensemble, np.zeros(len(ensemble), np.int32), 1)
    strength = np.concatenate(tables, axis=1) @ totals[:, 0]
    whisper = WHISPER * float(ensemble.weights.max())
    model = ColumnModel(whisper * strength / max(np.sum(strength), 1e-300), tables, "share")
    votes = model.scores(ensemble.labels)
    labels = winners(votes, reference, model.bias, whisper)
    membership = np.divide(votes, votes.sum(axis=1, keepdims=True), out=votes)
    return Consensus.hard(
        labels,
        membership=membership,
        confidence=np.take_along_axis(membership, labels[:, None].astype(np.int64), axis=1)[:, 0],
        k_asked=k,
        model=model,
        detail={"reference": reference.name, "reference anmi": reference.anmi, "confidence": "share of the votes"},
    )


def choose_reference(ensemble: Ensemble, k: int | None) -> Reference:
    """The base clustering with at least k clusters (or the most there are) that agrees best with all, cut to k."""
    wanted = None if k is None else min(k, max(ensemble.sizes))
    candidates = [j for j, size in enumerate(ensemble.sizes) if wanted is None or size >= wanted]
    best = candidate(ensemble, candidates[0], wanted)
    for j in steps(candidates[1:], len(candidates) - 1, "voting references"):
        best = max(best, candidate(ensemble, j, wanted), key=lambda reference: reference.anmi)
    return best


def candidate(ensemble: Ensemble, j: int, k: int | None) -> Reference:
    """Base clustering j, cut to k clusters, with its tables against all base clusterings."""
    labels = ensemble.labels[:, j].astype(np.int32)
    tables = tables_against(ensemble, labels, ensemble.sizes[j])
    if k is not None and ensemble.sizes[j] > k:
        groups = np.append(merge_to(tables, ensemble.weights, k), MISSING)
        labels = groups[labels]
        tables = tuple(np.stack([table[groups[:-1] == group].sum(axis=0) for group in range(k)]) for table in tables)
    score = anmi_of([from_cells(table) for table in tables], ensemble.weights)
    return Reference(ensemble.names[j], labels, len(tables[0]), tables, score)


def tables_against(ensemble: Ensemble, labels: IntArray, k: int) -> tuple[FloatArray, ...]:
    """Per clustering: (k, labels) objects of each cluster of `labels` with each label."""
    counts, _ = label_counts(ensemble, labels, k)
    return tuple(np.split(np.ascontiguousarray(counts.T), ensemble.offsets[1:-1], axis=1))


def merge_to(tables: tuple[FloatArray, ...], weights: FloatArray, k: int) -> IntArray:
    """Group clusters into k by average linkage: merge the two whose members most often share a label elsewhere.

    The chance that a member of a and one of b share a label in clustering j is the product of their label shares,
    summed over labels. Returns the group of each cluster.
    """
    counts = [table.copy() for table in tables]
    groups = np.arange(len(counts[0]))
    similarity = likeness(counts, counts, weights)
    np.fill_diagonal(similarity, -np.inf)
    for _ in range(len(groups) - k):
        keep, gone = sorted(np.unravel_index(int(np.argmax(similarity)), similarity.shape))
        groups[groups == gone] = keep
        for table in counts:
            table[keep] += table[gone]
        row = likeness([table[keep : keep + 1] for table in counts], counts, weights)[0]
        row[np.setdiff1d(np.arange(len(groups)), groups)] = -np.inf
        row[keep] = -np.inf
        similarity[keep], similarity[:, keep] = row, row
        similarity[gone], similarity[:, gone] = -np.inf, -np.inf
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


def winners(votes: FloatArray, reference: Reference, strength: FloatArray, silence: float) -> IntArray:
    """(n,) the cluster with most votes; of equals the reference's own, then the one with most votes in all."""
    chosen = np.empty(len(votes), np.int32)
    map_chunks(partial(pick_winners, votes, strength, reference.labels, silence, chosen), len(votes))
    return chosen


METHOD = Method(
    fit,
    Params,
    takes=Ensemble,
    cite="topchy2004",
    handles_missing=True,
    chooses_k=True,
    deterministic=True,
    predicts="memberships",
)
