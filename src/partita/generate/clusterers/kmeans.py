"""k-means under Euclidean distance, cosine, correlation and the extended Jaccard similarity.

The last three as Strehl, Ghosh and Mooney (2000) compare them. Cosine is k-means on rows of length 1 whose centres have
length 1 (spherical k-means); correlation is the same once each row has mean 0; the extended Jaccard similarity
xᵀy / (|x|² + |y|² − xᵀy) takes rows as they are.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal, NamedTuple

import numpy as np
from numpy.random import Generator

from partita.core.iterate import Run, iterate
from partita.core.params import setting
from partita.core.types import FloatArray, IntArray
from partita.generate.base import Clusterer, Fitted
from partita.generate.clusterers.nearest import BLOCK, nearest_centres
from partita.generate.clusterers.similarity import correlated, directed, jaccard, unchanged
from partita.kernels.lloyd import add_points
from partita.starts.plusplus import plusplus_points

TOL = 1e-6
"""How little the loss may still fall, as a share of what one cluster would lose, when the iterations end."""


@dataclass(frozen=True, slots=True)
class Params:
    """Settings of k-means."""

    n_init: int = setting(1, "how many starts are compared", low=1)
    init: Literal["k-means++", "random"] = setting("k-means++", "rows far apart, or any rows, as first centres")
    max_iter: int = setting(100, "most iterations", low=1)


class Geometry(NamedTuple):
    """What "near" means."""

    rows: Callable[[FloatArray], FloatArray]
    """Features to the points that are clustered."""
    nearest: Callable[[FloatArray, FloatArray], tuple[IntArray, FloatArray]]
    """(n, d) points and (k, d) centres to (n,) the nearest centre and (n,) what that costs."""
    centres: Callable[[FloatArray], FloatArray]
    """(k, d) means to centres."""


class State(NamedTuple):
    """An assignment and the centres that follow from it."""

    chosen: IntArray
    centres: FloatArray


def most_similar(points: FloatArray, centres: FloatArray) -> tuple[IntArray, FloatArray]:
    """(n,) the centre of greatest extended Jaccard similarity, and (n,) what is missing to 1."""
    chosen, loss = np.empty(len(points), np.int32), np.empty(len(points))
    for start in range(0, len(points), BLOCK):
        alike = jaccard(points[start : start + BLOCK], centres)
        chosen[start : start + BLOCK] = alike.argmax(axis=1)
        loss[start : start + BLOCK] = 1 - alike.max(axis=1)
    return chosen, loss


EUCLIDEAN = Geometry(unchanged, nearest_centres, unchanged)


def fit(X: FloatArray, k: int, params: Params, rng: Generator, geometry: Geometry = EUCLIDEAN) -> Fitted:
    """The best of `n_init` runs of Lloyd's iterations."""
    points = np.ascontiguousarray(geometry.rows(X))
    centres = best_centres(points, k, params, rng, geometry)
    return Fitted(geometry.nearest(points, centres)[0], place=partial(_place, geometry, centres))


def best_centres(
    points: FloatArray, k: int, params: Params, rng: Generator, geometry: Geometry = EUCLIDEAN
) -> FloatArray:
    """(k, d) the centres of the run that ends with the smallest loss."""
    starts = (_start(points, k, params.init, rng) for _ in range(params.n_init))
    runs = [_settled(points, start, params.max_iter, geometry) for start in starts]
    return min(runs, key=lambda run: run.trace[-1]).state.centres


def _place(geometry: Geometry, centres: FloatArray, X: FloatArray) -> IntArray:
    return geometry.nearest(np.ascontiguousarray(geometry.rows(X)), centres)[0]


def _start(points: FloatArray, k: int, init: str, rng: Generator) -> FloatArray:
    """(k, d) first centres."""
    if init == "random":
        return points[rng.choice(len(points), k, replace=False)]
    labels = plusplus_points(points, np.ones(len(points)), k, rng)
    return means(points, labels, points[:k])


def _settled(points: FloatArray, first: FloatArray, max_iter: int, geometry: Geometry) -> Run[State]:
    """Lloyd's iterations until the loss hardly falls."""
    whole = float(geometry.nearest(points, geometry.centres(points.mean(axis=0)[None]))[1].sum()) or 1.0

    def step(state: State) -> tuple[State, float]:
        chosen, loss = geometry.nearest(points, state.centres)
        return State(chosen, geometry.centres(means(points, chosen, state.centres))), float(loss.sum()) / whole

    unset = np.full(len(points), -1, np.int32)
    return iterate(step, State(unset, geometry.centres(first)), tol=TOL, max_iter=max_iter)


def means(points: FloatArray, chosen: IntArray, before: FloatArray) -> FloatArray:
    """(k, d) the mean of each cluster; an empty one keeps the centre it had."""
    sums, masses = np.zeros(before.shape), np.zeros(len(before))
    add_points(points, np.ones(len(points)), chosen, sums, masses, 0, len(points))
    return np.asarray(np.where(masses[:, None] > 0, sums / np.maximum(masses, 1)[:, None], before))


def _clusterer(geometry: Geometry, cite: str = "") -> Clusterer:
    return Clusterer(partial(fit, geometry=geometry), Params, soft=False, places=True, cite=cite)


CLUSTERER = _clusterer(EUCLIDEAN)
COSINE = _clusterer(Geometry(directed, nearest_centres, directed), "strehl2000")
CORRELATION = _clusterer(Geometry(correlated, nearest_centres, directed), "strehl2000")
JACCARD = _clusterer(Geometry(unchanged, most_similar, unchanged), "strehl2000")
