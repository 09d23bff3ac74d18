"""sCSPA: CSPA on memberships, objects joined by how near their memberships are (Punera and Ghosh 2007, §III C)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

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
from partita.graph.neighbours import SOFT_BLOCK, Closeness, by_closeness, edges_per_row, neighbour_graph
from partita.partition import Graph, GraphOptions, partition_graph

LOG_ZERO: Final = -1e12
"""Replaces log 0 in products of matrices."""


@dataclass(frozen=True, slots=True)
class Params(cspa.Params):
    """Settings of sCSPA."""

    similarity: Literal["gaussian", "inner", "cosine", "kl"] = setting(
        "gaussian",
        "similarity of two objects: exp(-d²) with the Euclidean distance d of their memberships, their inner product, "
        "their cosine, or exp(-D) with their symmetric Kullback-Leibler divergence D",
    )


def fit(ensemble: SoftEnsemble, k: int, params: Params, rng: Generator) -> Consensus:
    """Divide the objects into k clusters of nearly equal size, cutting little similarity.

    Two objects are exp(-d²) similar, d² the squared distance of their memberships summed over clusterings by weight; a
    clustering in which one of them is unknown counts the other's squared length. With inner products one-hot rows give
    CSPA itself; the cosine is the inner product divided by the lengths of both rows.

    With "kl", the similarity is exp(-D), D = sum_q w_q (KL(s_aq, s_bq) + KL(s_bq, s_aq)) / 2 / sum_q w_q over the
    clusterings q known in both; the paper's divergence (eq 1), made symmetric. It is 0 if no clustering is known in
    both, or if one object has probability 0 for a cluster in which the other one may be.
    """
    if params.similarity == "inner" and ensemble.is_one_hot:
        plain = cspa.Params(params.neighbours, params.partitioner, params.imbalance)
        return cspa.fit(ensemble.harden(), k, plain, rng)
    closeness, weigh = kl_similarity(ensemble) if params.similarity == "kl" else products(ensemble, params.similarity)
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


Weigh: TypeAlias = Callable[[IntArray, NDArray[Any]], FloatArray]
"""(rows, closeness) to the similarities."""


def products(ensemble: SoftEnsemble, similarity: str) -> tuple[Closeness, Weigh]:
    """Return the similarities that follow from inner products: "gaussian", "inner" and "cosine"."""
    points = (ensemble.matrix * np.sqrt(cluster_shares(ensemble))).astype(np.float32)
    lengths = (points**2).sum(axis=1)
    if similarity == "cosine":
        points /= np.sqrt(np.maximum(lengths, np.finfo(np.float32).tiny))[:, None]
    scale = len(ensemble.sizes) if similarity == "inner" else 1

    def closeness(rows: IntArray, others: IntArray) -> NDArray[Any]:
        inner = points[rows] @ points[others].T
        return inner - lengths[others] / 2 if similarity == "gaussian" else inner

    def weigh(rows: IntArray, close: NDArray[Any]) -> FloatArray:
        if similarity != "gaussian":
            return np.asarray(close.astype(np.float64) / scale)
        return np.asarray(np.exp(-np.maximum(lengths[rows][:, None] - 2.0 * close.astype(np.float64), 0.0)))

    return closeness, weigh


def kl_similarity(ensemble: SoftEnsemble) -> tuple[Closeness, Weigh]:
    """Return the similarity exp(-D) of the symmetric Kullback-Leibler divergence, see `fit`.

    Over the clusterings q known in both a and b,

        sum_q w_q KL(s_aq, s_bq) = sum_q w_q k_bq e_aq - sum_l w_l s_al log s_bl,  e_aq = sum_l s_al log s_al,

    where k_bq is 1 if b is known in q, and log s_bl is 0 if it is not. So D needs four products of matrices. log 0 is
    replaced by a number that makes exp(-D) exactly 0.
    """
    shares, matrix = ensemble.weights / ensemble.weights.sum(), ensemble.matrix
    known = ensemble.known.astype(np.float64)
    columns = np.repeat(np.arange(len(shares)), ensemble.sizes)
    logs = np.where(matrix > 0, np.log(np.where(matrix > 0, matrix, 1.0)), LOG_ZERO) * known[:, columns]
    entropies = np.add.reduceat(matrix * np.where(matrix > 0, logs, 0.0), ensemble.offsets[:-1], axis=1) * shares
    weighted = matrix * shares[columns]

    def closeness(rows: IntArray, others: IntArray) -> NDArray[Any]:
        one_way = entropies[rows] @ known[others].T - weighted[rows] @ logs[others].T
        other_way = known[rows] @ entropies[others].T - logs[rows] @ weighted[others].T
        common = (known[rows] * shares) @ known[others].T
        mean = np.maximum(one_way + other_way, 0.0) / 2 / np.maximum(common, np.finfo(float).tiny)
        return np.where(common > 0, -mean, -np.inf)

    def weigh(rows: IntArray, close: NDArray[Any]) -> FloatArray:
        return np.asarray(np.exp(close))

    return closeness, weigh


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
