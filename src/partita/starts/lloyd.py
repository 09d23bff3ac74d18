"""k-means on weighted points, with results that do not depend on the number of threads."""

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from partita.core.iterate import Run, iterate
from partita.core.sampling import draw_sample
from partita.core.threads import map_chunks, map_threads
from partita.core.types import FloatArray, IntArray
from partita.kernels.lloyd import add_points, assign_points
from partita.starts.plusplus import plusplus_points

SAMPLE, SAMPLE_PER_CLUSTER = 4096, 100
"""How many points restarts are compared on."""
ROUGH, FINE = 1e-4, 1e-9
"""How little the objective may still change when restarts are compared, and at the end."""


class Grouping(NamedTuple):
    """An assignment of points and its centres."""

    chosen: IntArray
    centers: FloatArray


def weighted_kmeans(points: NDArray[Any], weights: FloatArray, k: int, rng: Generator, restarts: int) -> IntArray:
    """(n,) labels with the smallest weighted sum of squared distances found from `restarts` k-means++ starts."""
    return weighted_groups(points, weights, k, rng, restarts).chosen


def weighted_groups(points: NDArray[Any], weights: FloatArray, k: int, rng: Generator, restarts: int) -> Grouping:
    """The same with the centres of the groups.

    Of many points the runs see a sample; from the centres of the best of them all points go on until they settle.
    """
    few, few_weights = _sample(points, weights, k, rng)
    runs = map_threads(
        lambda child: _settled(few, few_weights, _started(few, few_weights, k, child), ROUGH), rng.spawn(restarts)
    )
    best = min(runs, key=lambda run: run.trace[-1]).state
    return _settled(points, weights, best, FINE).state


def best_centers(
    points: NDArray[Any], weights: FloatArray, k: int, rng: Generator, starts: int, max_iter: int
) -> FloatArray:
    """(k, dimensions) centers of the best of several short k-means runs, each from a k-means++ start."""
    runs = map_threads(
        lambda child: _settled(points, weights, _started(points, weights, k, child), FINE, max_iter), rng.spawn(starts)
    )
    best: Grouping = min(runs, key=lambda run: run.trace[-1]).state
    return best.centers


def nearest_centers(points: NDArray[Any], centers: FloatArray) -> IntArray:
    """(n,) the nearest center of each point; ties go to the lowest index."""
    chosen, distance = np.empty(len(points), np.int32), np.empty(len(points))
    map_chunks(partial(assign_points, points, np.ascontiguousarray(centers.T), chosen, distance), len(points))
    return chosen


def _sample(points: NDArray[Any], weights: FloatArray, k: int, rng: Generator) -> tuple[NDArray[Any], FloatArray]:
    """Points that stand for all where there are many: the heavy ones as they are, others drawn alike."""
    size = max(SAMPLE, SAMPLE_PER_CLUSTER * k)
    if len(points) <= 2 * size:
        return points, weights
    places, factors = draw_sample(weights, size, rng)
    return points[places], weights[places] * factors


def _started(points: NDArray[Any], weights: FloatArray, k: int, rng: Generator) -> Grouping:
    start = plusplus_points(points, weights, k, rng)
    return Grouping(start, _centers(points, weights, start, points[:k]))


def _settled(
    points: NDArray[Any], weights: FloatArray, first: Grouping, tol: float, max_iter: int = 100
) -> Run[Grouping]:
    """Lloyd's iterations from given centres."""

    def step(state: Grouping) -> tuple[Grouping, float]:
        chosen, distance = np.empty(len(points), np.int32), np.empty(len(points))
        columns = np.ascontiguousarray(state.centers.T)
        map_chunks(partial(assign_points, points, columns, chosen, distance), len(points))
        return Grouping(chosen, _centers(points, weights, chosen, state.centers)), float(weights @ distance)

    return iterate(step, first, tol=tol, max_iter=max_iter)


def _centers(points: NDArray[Any], weights: FloatArray, chosen: IntArray, before: FloatArray) -> FloatArray:
    """The mean of each cluster; an empty one keeps the centre it had."""

    def part(start: int, stop: int) -> tuple[FloatArray, FloatArray]:
        sums, masses = np.zeros(before.shape), np.zeros(len(before))
        add_points(points, weights, chosen, sums, masses, start, stop)
        return sums, masses

    sums, masses = (np.sum(found, axis=0) for found in zip(*map_chunks(part, len(points)), strict=True))
    means: FloatArray = np.where(masses[:, None] > 0, sums / np.maximum(masses, 1e-300)[:, None], before)
    return means
