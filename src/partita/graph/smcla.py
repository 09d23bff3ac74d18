"""sMCLA: MCLA on soft clusterings, base clusters grouped by their columns of memberships (Punera and Ghosh 2007)."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.random import Generator

from partita.core.consensus import Consensus
from partita.core.method import Method
from partita.core.params import setting
from partita.core.soft import SoftEnsemble
from partita.core.types import FloatArray, FrozenDict
from partita.graph.incidence import gram
from partita.graph.mcla import group_clusters, jaccard, only_between, told
from partita.partition import GraphOptions

TIE = 1e-9
"""Associations closer than this share of the largest are equal."""


@dataclass(frozen=True, slots=True)
class Params:
    """Settings of sMCLA."""

    similarity: Literal["jaccard", "scaled", "literal"] = setting(
        "jaccard",
        "similarity of two base clusters with columns a and b: jaccard is a·b / (a·a + b·b - a·b); scaled is "
        "exp(-d²/mean d²), with d the Euclidean distance of a and b; literal is exp(-d²), as in the paper",
    )
    partitioner: Literal["auto", "metis", "kahip"] = setting("auto", "what divides the graph of base clusters")
    imbalance: float = setting(0.05, "how far the largest group of base clusters may exceed the mean", low=0)


def fit(ensemble: SoftEnsemble, k: int, params: Params, rng: Generator) -> Consensus:
    """Divide the graph of base clusters into k groups of nearly equal number, then assign objects as MCLA does.

    The weight of an edge is the extended Jaccard similarity a·b / (a·a + b·b - a·b) of two columns of memberships. It
    equals 1 - d² / (a·a + b·b - a·b): the squared Euclidean distance d² of the paper, divided by the size of the union
    of the two clusters. On hard labels this is the graph of MCLA, and the result is MCLA's. A distance without this
    division depends on the sizes of the clusters: d² of two disjoint small clusters is below d² of two large clusters
    that overlap, so that small clusters were grouped with each other.

    Edges between clusters of one clustering count unless every clustering has k clusters.
    """
    shared = gram(ensemble)
    similarity = jaccard(shared) if params.similarity == "jaccard" else gaussian(shared, params.similarity == "scaled")
    if all(size == k for size in ensemble.sizes):
        similarity = only_between(ensemble, similarity)
    groups = group_clusters(ensemble, k, similarity, GraphOptions(params.partitioner, params.imbalance), rng)
    order = np.argsort(-rng.permutation(groups.tables.shape[1]))
    association = ensemble.matrix @ groups.tables[:, order]
    winner = (association >= association.max(axis=1, keepdims=True) * (1 - TIE)).argmax(axis=1)
    rows, membership = np.arange(len(ensemble)), association / association.sum(axis=1, keepdims=True)
    result = told(groups.partition)
    if params.similarity == "literal" and not groups.partition.cut:
        result["notes"] += (
            "exp(-d²) is 0 for all pairs of base clusters: the groups are arbitrary; use scaled or jaccard",
        )
    return Consensus(
        winner.astype(np.int32),
        membership=membership,
        per_object=FrozenDict(association=association[rows, winner]),
        **result,
    )


def gaussian(shared: FloatArray, scaled: bool) -> FloatArray:
    """(t, t) exp(-d²) from the inner products of columns, d² divided by its mean over pairs where `scaled`."""
    own = np.diag(shared)
    squares = np.maximum(own[:, None] + own - 2 * shared, 0.0)
    pairs = len(own) * (len(own) - 1)
    mean = squares.sum() / pairs if scaled and pairs and squares.any() else 1.0
    return np.asarray(np.exp(-squares / mean))


METHOD = Method(
    fit, Params, takes=SoftEnsemble, cite="punera2007", handles_missing=True, chooses_k=False, deterministic=False
)
