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
    return far_apart(weights, partial(lower_distance, points), k, rng)


def far_apart(weights: FloatArray, lower: Callable[..., None], k: int, rng: Generator) -> IntArray:
    """Draw k centres in proportion to weight times distance and give each row its nearest.

    `lower(center, distance, start, stop)` lowers the distances of rows to their distance from one row. After the first,
    each centre is the best of 2 + ln k draws: the one that brings all rows closest (scikit-learn does the same).
    """
    labels = np.zeros(len(weights), np.int32)
    distance = _lowered(lower, draw(weights, rng), np.full(len(weights), np.inf))
    for cluster in range(1, k):
        chances = weights * distance
        if not chances.any():
            break
        tries = (_lowered(lower, draw(chances, rng), distance) for _ in range(2 + int(math.log(k))))
        nearest = min(tries, key=lambda found: float(weights @ found))
        labels[nearest < distance] = cluster
        distance = nearest
    return labels


def draw(chances: FloatArray, rng: Generator) -> int:
    """A row, drawn in proportion to its chance."""
    sums = np.cumsum(chances)
    return int(np.searchsorted(sums, rng.random() * sums[-1], side="right").clip(0, len(chances) - 1))


def _lowered(lower: Callable[..., None], center: int, before: FloatArray) -> FloatArray:
    after = before.copy()
    map_chunks(partial(lower, center, after), len(before))
    return after
