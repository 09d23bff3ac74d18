"""HGPA: divide the objects so that few base clusters, taken as hyperedges, are cut (Strehl and Ghosh 2002, §3.3)."""

import heapq
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.random import Generator

from partita.core.consensus import Consensus
from partita.core.ensemble import Ensemble
from partita.core.method import Method
from partita.core.params import setting
from partita.core.types import IntArray
from partita.graph.base import base_clusterings
from partita.graph.incidence import cluster_shares, incidence
from partita.metrics import column_nmi
from partita.partition import Hypergraph, HypergraphOptions, partition_hypergraph

MOST_ROWS: Final = {"cut": 5_000, "km1": 30_000}
"""Distinct rows beyond which Mt-KaHyPar is not asked: it finds nothing to save ("cut"), or would need minutes."""
MEANINGFUL_ROWS: Final = 5_000
STARTS: Final = 3
NEARLY: Final = 0.95


@dataclass(frozen=True, slots=True)
class Params:
    """Settings of HGPA."""

    objective: Literal["cut", "km1"] = setting(
        "cut", "what is counted: hyperedges that are cut, or for each the blocks it touches beyond the first"
    )
    runs: int | None = setting(
        None, "runs of the partitioner that are compared; without it one, and none above 5000 (km1: 30000) rows", low=0
    )
    imbalance: float = setting(0.05, "how far the largest cluster may exceed the mean", low=0)


def fit(ensemble: Ensemble, k: int, params: Params, rng: Generator) -> Consensus:
    """Divide the objects into k clusters of nearly equal size, cutting base clusters of little weight.

    Each base cluster is a hyperedge that weighs as much as its clustering. Mt-KaHyPar divides the hypergraph, and the
    base clusterings of highest ANMI, cut to k clusters and evened out, are compared with what it finds: with noise
    hardly a hyperedge stays whole, and no division may cut fewer than one that is close to a base clustering.
    """
    hypergraph = Hypergraph.from_sparse(
        incidence(ensemble, np.ones(int(ensemble.offsets[-1]))), cluster_shares(ensemble), ensemble.counts
    )
    rows, most = len(ensemble), MOST_ROWS[params.objective]
    runs = params.runs if params.runs is not None else int(rows <= most)
    options = HypergraphOptions(params.objective, params.imbalance, runs)
    found = partition_hypergraph(hypergraph, k, options, rng, starts_of(ensemble, k))
    detail = {"cut": found.cut, "balance": found.balance, "divisions": tuple(one.name for one in found.tries)}
    notes = found.notes + warnings_on(rows, runs) + likeness_to_base(ensemble, found.labels)
    return Consensus.hard(found.labels, detail=detail, notes=notes)


def starts_of(ensemble: Ensemble, k: int) -> list[IntArray]:
    """The base clusterings that agree best with all, cut to at most k clusters and completed."""
    best = heapq.nlargest(STARTS, base_clusterings(ensemble, k), key=lambda base: base.anmi)
    return [np.unique(base.labels, return_inverse=True)[1].reshape(-1).astype(np.int32) for base in best]


def warnings_on(rows: int, runs: int) -> tuple[str, ...]:
    """What the user should know of HGPA at this size."""
    notes = []
    if rows > MEANINGFUL_ROWS:
        notes.append(
            f"with {rows} distinct rows nearly every base cluster is cut by every division, so the number of cut "
            "clusters says little; mcla, hbgf or lwgp agree better with the base clusterings"
        )
    if not runs:
        notes.append("no partitioner was run: only base clusterings, evened out and improved, were compared")
    return tuple(notes)


def likeness_to_base(ensemble: Ensemble, labels: IntArray) -> tuple[str, ...]:
    """A note when the division is one of the base clusterings, or nearly: then it is that clustering's opinion."""
    agreement = column_nmi(ensemble, labels)
    nearest = int(np.nanargmax(agreement))
    if agreement[nearest] < NEARLY:
        return ()
    name = ensemble.names[nearest]
    return (
        f"the division that cuts fewest base clusters is nearly (NMI {agreement[nearest]:.2f}) clustering {name!r}",
    )


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
