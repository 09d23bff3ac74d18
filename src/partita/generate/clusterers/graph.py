"""Graph partitioning: objects joined by their similarity, divided into clusters of nearly equal size.

The similarities are those of Strehl, Ghosh and Mooney (2000): exp(−d²), d the Euclidean distance; cosine; correlation,
moved to 0..1 as (1 + r) / 2; extended Jaccard. Distances are divided by their root mean square, for exp(−d²) alone is
0 for all pairs on one scale and 1 on another. Similarities below 0 count as none.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal, NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.sparse import csr_array

from partita.core.params import setting
from partita.core.types import FloatArray, IntArray
from partita.generate.base import Clusterer, Fitted
from partita.generate.clusterers.similarity import correlated, directed, jaccard, scatter, unchanged
from partita.kernels.smallest import keep_smallest
from partita.partition import Graph, GraphOptions, partition_graph

ALL_PAIRS = 2000
"""Objects up to which every pair is an edge."""
NEIGHBOURS = 20
BLOCK = 1024
"""Objects whose neighbours are looked for at a time."""
CANDIDATES = 1 << 14
"""Objects among which neighbours are looked for; of more, so many are drawn anew for every block."""


@dataclass(frozen=True, slots=True)
class Params:
    """Settings of graph partitioning."""

    neighbours: int | None = setting(
        None, "edges kept for each object; without it all up to 2000 objects, and the 20 strongest beyond", low=1
    )
    partitioner: Literal["auto", "metis", "kahip"] = setting("auto", "what divides the graph")
    imbalance: float = setting(0.05, "how far the largest cluster may exceed the mean", low=0)


class Likeness(NamedTuple):
    """What makes two objects alike."""

    rows: Callable[[FloatArray], FloatArray]
    """Features to the points that are compared."""
    apart: Callable[[FloatArray, FloatArray], FloatArray]
    """(n, d) and (m, d) points to (n, m) numbers that fall with likeness."""
    weights: Callable[[FloatArray], FloatArray]
    """Those numbers of all edges to the edges' weights."""


def squared_distances(X: FloatArray, Y: FloatArray) -> FloatArray:
    """(n, m) squared Euclidean distances, taken from the middle of Y so that no digits are lost far from the origin."""
    middle = Y.mean(axis=0)
    X, Y = X - middle, Y - middle
    return np.asarray(np.maximum(scatter(X)[:, None] + scatter(Y) - 2 * (X @ Y.T), 0.0))


def gaussian(squares: FloatArray) -> FloatArray:
    """exp(−d²) of squared distances over their mean."""
    return np.asarray(np.exp(-squares / (float(squares.mean()) or 1.0)))


def fit(X: FloatArray, k: int, params: Params, rng: Generator, likeness: Likeness) -> Fitted:
    """Divide the graph of similarities, cutting little."""
    points = np.ascontiguousarray(likeness.rows(X))
    asked = params.neighbours if params.neighbours is not None else NEIGHBOURS if len(X) > ALL_PAIRS else len(X)
    graph = similarity_graph(points, min(asked, len(X) - 1), likeness, rng)
    options = GraphOptions(params.partitioner, params.imbalance)
    return Fitted(partition_graph(Graph.from_sparse(graph), k, options, rng).labels)


def similarity_graph(points: FloatArray, count: int, likeness: Likeness, rng: Generator) -> csr_array:
    """(n, n) weights between each object and the `count` most alike; an edge if either end has the other."""
    if count == len(points) - 1:
        starts, ends = np.triu_indices(len(points), 1)
        apart = likeness.apart(points, points)[starts, ends]
    else:
        near, distances = nearest_others(points, count, likeness, rng)
        starts, ends, apart = np.repeat(np.arange(len(points)), count), near.ravel(), distances.ravel()
    weights = np.maximum(likeness.weights(apart), 0.0) if len(apart) else apart
    graph = csr_array((weights, (starts, ends)), (len(points), len(points)))
    return csr_array(graph.maximum(graph.T))


def nearest_others(points: FloatArray, count: int, likeness: Likeness, rng: Generator) -> tuple[IntArray, FloatArray]:
    """(n, count) the objects most like each, itself left out, and how far apart they are."""
    near, apart = np.empty((len(points), count), np.int32), np.empty((len(points), count))
    for start in range(0, len(points), BLOCK):
        block = slice(start, min(start + BLOCK, len(points)))
        others = np.arange(len(points))
        if len(points) > CANDIDATES:
            others = np.sort(rng.choice(len(points), max(CANDIDATES, count + 1), replace=False))
        table = likeness.apart(points[block], points[others])
        table[np.arange(block.start, block.stop)[:, None] == others] = np.inf
        keep_smallest(table, near[block], apart[block])
        near[block] = others[near[block]]
    return near, apart


def _minus(function: Callable[..., FloatArray], X: FloatArray, Y: FloatArray) -> FloatArray:
    return np.asarray(-function(X, Y))


def _products(X: FloatArray, Y: FloatArray) -> FloatArray:
    return X @ Y.T


def _half(apart: FloatArray) -> FloatArray:
    """(1 + r) / 2 of correlations with their sign turned."""
    return (1 - apart) / 2


def _clusterer(likeness: Likeness) -> Clusterer:
    return Clusterer(partial(fit, likeness=likeness), Params, soft=False, places=False, cite="strehl2000")


CLUSTERER = _clusterer(Likeness(unchanged, squared_distances, gaussian))
COSINE = _clusterer(Likeness(directed, partial(_minus, _products), np.negative))
CORRELATION = _clusterer(Likeness(correlated, partial(_minus, _products), _half))
JACCARD = _clusterer(Likeness(unchanged, partial(_minus, jaccard), np.negative))
