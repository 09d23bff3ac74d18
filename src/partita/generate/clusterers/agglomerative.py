"""Agglomerative clustering: the two nearest clusters are joined until k are left."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.random import Generator
from scipy.cluster.hierarchy import linkage
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from partita.core.memory import check_memory
from partita.core.params import setting
from partita.core.types import FloatArray, IntArray
from partita.generate.base import Clusterer, Fitted


@dataclass(frozen=True, slots=True)
class Params:
    """Settings of agglomerative clustering."""

    linkage: Literal["average", "ward", "complete", "single"] = setting(
        "average", "how near two clusters are: mean distance, rise of squares, farthest or nearest pair"
    )


def fit(X: FloatArray, k: int, params: Params, rng: Generator) -> Fitted:
    """The tree of all pairs, cut at k clusters; nothing in it is random."""
    way = "take another base clusterer (kmeans, uspec), or fewer objects a member"
    check_memory(8 * len(X) ** 2, f"agglomerative on {len(X)} objects", way)
    if len(X) == 1:
        return Fitted(np.zeros(1, np.int32))
    return Fitted(cut(linkage(X, params.linkage), k))


def cut(tree: FloatArray, k: int) -> IntArray:
    """(n,) labels once all but the last k - 1 joins are made; exactly k clusters, also where heights are equal."""
    objects = len(tree) + 1
    joins = np.arange(objects - k)
    parts = tree[joins, :2].astype(np.int64)
    ends = (parts.ravel(), np.repeat(objects + joins, 2))
    nodes = 2 * objects - k
    _, group = connected_components(coo_array((np.ones(parts.size), ends), (nodes, nodes)), directed=False)
    return np.asarray(np.unique(group[:objects], return_inverse=True)[1], np.int32)


CLUSTERER = Clusterer(fit, Params, soft=False, places=False)
