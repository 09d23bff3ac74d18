"""CSPA: divide the graph of objects, joined by the share of clusterings in which they agree (Strehl and Ghosh 2002)."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.random import Generator

from partita.core.consensus import Consensus
from partita.core.ensemble import Ensemble
from partita.core.method import Method
from partita.core.params import setting
from partita.graph.incidence import incidence
from partita.graph.neighbours import HARD_BLOCK, by_shared_labels, edges_per_row, neighbour_graph
from partita.partition import Graph, GraphOptions, Partition, improve_pairs, partition_graph


@dataclass(frozen=True, slots=True)
class Params:
    """Settings of CSPA."""

    neighbours: int | None = setting(
        None, "edges kept for each distinct row; without it all up to 2000 rows, and the 20 strongest beyond", low=1
    )
    partitioner: Literal["auto", "metis", "kahip"] = setting("auto", "what divides the graph of objects")
    imbalance: float = setting(0.05, "how far the largest cluster may exceed the mean", low=0)


def fit(ensemble: Ensemble, k: int, params: Params, rng: Generator) -> Consensus:
    """Divide the objects into k clusters of nearly equal size, cutting little similarity.

    Two objects are as similar as the share of clusterings, by weight, in which they have the same label. Of many rows
    only the strongest neighbours of each become edges; the similarity within a cluster follows from its label counts
    alone, so the division is then improved by single moves with all pairs counted.
    """
    edges = ensemble.weights / ensemble.weights.sum()
    count = edges_per_row(len(ensemble), params.neighbours, "cspa")
    if count is None:
        ones = np.ones(int(ensemble.offsets[-1]))
        similar = incidence(ensemble, np.repeat(edges, ensemble.sizes)) @ incidence(ensemble, ones).T
        similar = similar.multiply(ensemble.counts[:, None]).multiply(ensemble.counts)
    else:
        similar = neighbour_graph(ensemble.counts, by_shared_labels(ensemble, edges, count), HARD_BLOCK, rng)
    options = GraphOptions(params.partitioner, params.imbalance)
    found = partition_graph(Graph.from_sparse(similar, ensemble.counts), k, options, rng)
    if count is not None:
        found = improve_pairs(ensemble, edges, found, params.imbalance, rng)
    return Consensus.hard(found.labels, **told(found, count))


def told(found: Partition, count: int | None) -> dict[str, Any]:
    """What the result says of the graph and its division."""
    detail = {"cut": found.cut, "balance": found.balance, "neighbours": "all" if count is None else count}
    notes = () if count is None else (f"only the {count} strongest neighbours of each distinct row were edges",)
    return {"detail": detail, "notes": found.notes + notes}


METHOD = Method(
    fit,
    Params,
    takes=Ensemble,
    cite="strehl2002",
    handles_missing=True,
    chooses_k=False,
    deterministic=False,
    balanced=True,
)
