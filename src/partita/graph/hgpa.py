"""HGPA: partition the objects so that few base clusters, taken as hyperedges, are cut (Strehl and Ghosh 2002, §3.3)."""

import heapq
from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np
from numpy.random import Generator
from scipy import sparse

from partita.core.consensus import Consensus
from partita.core.ensemble import Ensemble
from partita.core.method import Method
from partita.core.params import setting
from partita.core.types import IntArray
from partita.graph.base import base_clusterings
from partita.graph.incidence import cluster_shares, incidence
from partita.metrics import column_nmi
from partita.partition import Hypergraph, HypergraphOptions, NamedStart, Partition, partition_hypergraph

MAX_ROWS: Final = 20_000
"""Rows above which similar rows are contracted before the partitioner sees them."""
SMALL_ROWS: Final = 500
"""Rows up to which several runs are compared by default."""
SMALL_RUNS: Final = 3
PIECES: Final = 50
"""A contracted row weighs at most this fraction of a mean block, so that the blocks can still be balanced."""
MEANINGFUL_ROWS: Final = 5_000
STARTS: Final = 3
NEARLY: Final = 0.95


@dataclass(frozen=True, slots=True)
class Params:
    """Settings of HGPA."""

    objective: Literal["km1", "cut"] = setting(
        "km1",
        "km1: blocks that each hyperedge touches beyond the first; cut: hyperedges that touch several (the paper)",
    )
    mode: Literal["bisection", "direct"] = setting(
        "bisection", "recursive bisection, as HMETIS, or direct partition into k blocks"
    )
    init: Literal["none", "base"] = setting(
        "none", "base also compares the base clusterings with the highest ANMI, balanced and improved"
    )
    runs: int | None = setting(
        None, "runs of the partitioner that are compared; default: 3 up to 500 rows, else 1", low=1
    )
    imbalance: float = setting(0.05, "how far the largest cluster may exceed the mean", low=0)


def fit(ensemble: Ensemble, k: int, params: Params, rng: Generator) -> Consensus:
    """Partition the objects into k clusters of nearly equal size, cutting base clusters of little weight.

    Each base cluster is a hyperedge, with the weight of its clustering. Mt-KaHyPar partitions the hypergraph, and
    single moves improve its result. Tiny tables are solved exactly. Above 20,000 rows, rows that differ in few labels
    are contracted first. `detail["partition"]` is the name of the partition that was kept, `detail["cut"]` the weight
    of the hyperedges it cuts, `detail["km1"]` the same with each hyperedge counted once per block beyond the first.
    """
    hypergraph = Hypergraph.from_sparse(
        incidence(ensemble, np.ones(int(ensemble.offsets[-1]))), cluster_shares(ensemble), ensemble.counts
    )
    runs = params.runs or (SMALL_RUNS if len(ensemble) <= SMALL_ROWS else 1)
    options = HypergraphOptions(params.objective, params.imbalance, runs, params.mode)
    starts = base_starts(ensemble, k) if params.init == "base" else []
    if len(ensemble) > MAX_ROWS:
        best = partition_contracted(ensemble, hypergraph, k, options, rng, starts)
    else:
        best = partition_hypergraph(hypergraph, k, options, rng, starts)
    cut, km1 = (hypergraph.cut(best.labels, k, objective) for objective in ("cut", "km1"))
    detail = {
        "partition": best.kept,
        "cut": cut,
        "km1": km1,
        "balance": best.balance,
        "divisions": tuple(one.name for one in best.tries),
    }
    notes = (
        best.notes
        + size_note(len(ensemble), cut / max(float(hypergraph.weights.sum()), 1e-300))
        + base_note(ensemble, best.labels)
    )
    return Consensus.hard(best.labels, detail=detail, notes=notes)


def base_starts(ensemble: Ensemble, k: int) -> list[NamedStart]:
    """Return the base clusterings that agree best with all, cut to at most k clusters and completed."""
    best = heapq.nlargest(STARTS, base_clusterings(ensemble, k), key=lambda base: base.anmi)
    return [
        NamedStart(
            f"base clustering {ensemble.names[base.column]!r}",
            np.unique(base.labels, return_inverse=True)[1].reshape(-1).astype(np.int32),
        )
        for base in best
    ]


def partition_contracted(
    ensemble: Ensemble,
    hypergraph: Hypergraph,
    k: int,
    options: HypergraphOptions,
    rng: Generator,
    starts: list[NamedStart],
) -> Partition:
    """Partition the hypergraph of contracted rows, then improve the blocks of all rows by single moves."""
    groups, agree = contract_rows(ensemble, max(MAX_ROWS, 4 * k), ensemble.counts.sum() / k / PIECES, rng)
    members = sparse.csr_array((np.ones(len(groups)), (groups, np.arange(len(groups)))))
    contracted = Hypergraph.from_sparse(
        members @ incidence(ensemble, np.ones(int(ensemble.offsets[-1]))),
        cluster_shares(ensemble),
        members @ ensemble.counts,
    )
    rough = partition_hypergraph(contracted, k, options, rng)
    starts = [NamedStart(rough.kept, rough.labels[groups]), *starts]
    best = partition_hypergraph(hypergraph, k, replace(options, tries=0), rng, starts)
    note = (
        f"{len(groups)} rows were contracted to {len(contracted)} for the partitioner: rows that agree in {agree} of "
        f"{len(ensemble.names)} clusterings; single moves then improved the blocks of all rows"
    )
    return replace(best, notes=(*best.notes, note))


def contract_rows(ensemble: Ensemble, max_groups: int, max_weight: float, rng: Generator) -> tuple[IntArray, int]:
    """Return the group of each row, and in how many clusterings the rows of a group agree at least.

    Clusterings are visited in random order. One is selected if the rows that agree in all selected clusterings still
    form at most a third of `max_groups` groups. The rows of a group, sorted by a clustering that was not selected, are
    then cut into pieces of limited weight and number of rows, so that at most `max_groups` pieces are formed.
    """
    rows, third = len(ensemble), max_groups // 3
    groups, selected, others = np.zeros(rows, np.int64), 0, []
    for j in rng.permutation(len(ensemble.names)).tolist():
        joint = groups * (ensemble.sizes[j] + 1) + ensemble.labels[:, j] + 1
        codes = np.unique(joint, return_inverse=True)[1].reshape(-1)
        if codes.max() < third:
            groups, selected = codes, selected + 1
        else:
            others.append(ensemble.labels[:, j])
    order = np.lexsort((*others, groups))
    first = np.searchsorted(groups[order], groups[order])
    position = np.arange(rows)
    before = np.concatenate([[0.0], np.cumsum(ensemble.counts[order])])
    by_rows = (position - first) // -(-rows // third)
    by_weight = (before[position] - before[first]) // max(max_weight, before[-1] / third)
    starts = (np.diff(groups[order], prepend=-1) != 0) | (np.diff(by_rows + by_weight, prepend=-1) != 0)
    pieces = np.empty(rows, np.int64)
    pieces[order] = np.cumsum(starts) - 1
    return pieces, selected


def size_note(rows: int, share_cut: float) -> tuple[str, ...]:
    """Return a note if the table is large and hardly a base cluster lies within one block."""
    if rows <= MEANINGFUL_ROWS or share_cut < NEARLY:
        return ()
    return (
        f"{share_cut:.0%} of the base clusters (by weight) are cut, so with {rows} rows the objective of HGPA "
        "hardly distinguishes partitions; mcla, hbgf or lwgp usually agree better with the base clusterings",
    )


def base_note(ensemble: Ensemble, labels: IntArray) -> tuple[str, ...]:
    """Return a note if the partition is nearly one of the base clusterings."""
    agreement = column_nmi(ensemble, labels)
    nearest = int(np.nanargmax(agreement))
    if agreement[nearest] < NEARLY:
        return ()
    return (f"the partition is nearly (NMI {agreement[nearest]:.2f}) clustering {ensemble.names[nearest]!r}",)


METHOD = Method(
    fit,
    Params,
    takes=Ensemble,
    cite="strehl2002",
    handles_missing=True,
    chooses_k=False,
    deterministic=False,
    balanced=True,
    sees_through_noise=False,
)
