"""k-means++ (Arthur and Vassilvitskii 2007), in its greedy form, for points and for rows of a label table."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from partita.core.ensemble import Ensemble
from partita.core.threads import map_chunks
from partita.core.types import FloatArray, IntArray
from partita.kernels.lloyd import lower_distance
from partita.kernels.scores import hamming_to


def plusplus_start(ensemble: Ensemble, k: int, rng: Generator) -> IntArray:
    """(n,) labels: each row goes to the nearest of k rows drawn far from each other.

    The Hamming distance is the squared Euclidean distance of one-hot rows (up to a factor), so drawing in proportion to
    it, times the multiplicity, is the D² sampling of k-means++.
    """
    return far_apart(ensemble.counts, partial(hamming_to, ensemble.labels, ensemble.weights), k, rng)


def plusplus_points(points: NDArray[Any], weights: FloatArray, k: int, rng: Generator) -> IntArray:
    """(n,) labels: each point goes to the nearest of k points drawn far from each other."""
    axes = np.ascontiguousarray(points.T)
    return far_apart(weights, partial(lower_distance, axes), k, rng)


def far_apart(weights: FloatArray, lower: Callable[..., None], k: int, rng: Generator) -> IntArray:
    """Draw k centres in proportion to weight times distance and give each row its nearest.

    `lower(center, distance, start, stop)` lowers the distances of rows to their distance from one row. After the first,
    each centre is the best of 2 + ln k draws: the one that brings all rows closest (scikit-learn does the same).
    """
    labels = np.zeros(len(weights), np.int32)
    distance = _lowered(lower, drawn(weights, 1, rng), np.full(len(weights), np.inf))[0]
    for cluster in range(1, k):
        chances = weights * distance
        if not chances.any():
            break
        tries = _lowered(lower, drawn(chances, 2 + int(math.log(k)), rng), distance)
        nearest = tries[int((tries @ weights).argmin())]
        labels[nearest < distance] = cluster
        distance = nearest
    return labels


def drawn(chances: FloatArray, count: int, rng: Generator) -> IntArray:
    """(count,) rows, each drawn in proportion to its chance."""
    sums = np.cumsum(chances)
    places = np.searchsorted(sums, rng.random(count) * sums[-1], side="right")
    return np.asarray(np.minimum(places, len(chances) - 1))


def _lowered(lower: Callable[..., None], centers: IntArray, before: FloatArray) -> FloatArray:
    """(centers, n) the distances once each of the rows is a centre, one at a time."""
    after = np.tile(before, (len(centers), 1))

    def part(start: int, stop: int) -> None:
        for row, center in zip(after, centers, strict=True):
            lower(int(center), row, start, stop)

    map_chunks(part, len(before))
    return after
