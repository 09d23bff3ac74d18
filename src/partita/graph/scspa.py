"""sCSPA: CSPA on memberships, objects joined by how near their memberships are (Punera and Ghosh 2007, §III C)."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy import sparse

from partita.core.consensus import Consensus
from partita.core.method import Method
from partita.core.params import setting
from partita.core.soft import SoftEnsemble
from partita.core.types import FloatArray, IntArray
from partita.graph import cspa
from partita.graph.incidence import cluster_shares
from partita.graph.neighbours import SOFT_BLOCK, by_closeness, edges_per_row, neighbour_graph
from partita.partition import Graph, GraphOptions, partition_graph


@dataclass(frozen=True, slots=True)
class Params(cspa.Params):
    """Settings of sCSPA."""

    similarity: Literal["gaussian", "inner"] = setting(
        "gaussian", "of objects a distance d apart in the space of memberships: exp(-d²), or the inner product"
    )


def fit(ensemble: SoftEnsemble, k: int, params: Params, rng: Generator) -> Consensus:
    """Divide the objects into k clusters of nearly equal size, cutting little similarity.

    Two objects are exp(-d²) similar, d² the squared distance of their memberships summed over clusterings by weight; a
    clustering in which one of them is unknown counts the other's squared length. With inner products one-hot rows give
    CSPA itself.
    """
    if params.similarity == "inner" and ensemble.is_one_hot:
        plain = cspa.Params(params.neighbours, params.partitioner, params.imbalance)
        return cspa.fit(ensemble.harden(), k, plain, rng)
    points = (ensemble.matrix * np.sqrt(cluster_shares(ensemble))).astype(np.float32)
    lengths = (points**2).sum(axis=1)
    gaussian, clusterings = params.similarity == "gaussian", len(ensemble.sizes)

    def closeness(rows: IntArray, others: IntArray) -> NDArray[Any]:
        inner = points[rows] @ points[others].T
        return inner - lengths[others] / 2 if gaussian else inner

    def weigh(rows: IntArray, close: NDArray[Any]) -> FloatArray:
        apart = lengths[rows][:, None] - 2.0 * close.astype(np.float64)
        return np.exp(-np.maximum(apart, 0.0)) if gaussian else close.astype(np.float64) / clusterings

    count = edges_per_row(len(ensemble), params.neighbours, "scspa")
    if count is None:
        everyone = np.arange(len(ensemble))
        both = weigh(everyone, closeness(everyone, everyone))
        both = np.maximum(both, both.T) * np.outer(ensemble.counts, ensemble.counts)
        similar = sparse.csr_array(both)
    else:
        similar = neighbour_graph(ensemble.counts, by_closeness(closeness, weigh, count), SOFT_BLOCK, rng)
    options = GraphOptions(params.partitioner, params.imbalance)
    found = partition_graph(Graph.from_sparse(similar, ensemble.counts), k, options, rng)
    return Consensus.hard(found.labels, **cspa.told(found, count))


METHOD = Method(
    fit,
    Params,
    takes=SoftEnsemble,
    cite="punera2007",
    handles_missing=True,
    chooses_k=False,
    deterministic=False,
    balanced=True,
)
