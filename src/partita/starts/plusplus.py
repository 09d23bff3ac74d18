"""k-means++ start (Arthur and Vassilvitskii 2007) on the rows of a label table, under the Hamming distance."""

import math
from functools import partial

import numpy as np
from numpy.random import Generator

from partita.core.ensemble import Ensemble
from partita.core.threads import map_chunks
from partita.core.types import FloatArray, IntArray
from partita.kernels.scores import hamming_to


def plusplus_start(ensemble: Ensemble, k: int, rng: Generator) -> IntArray:
    """(n,) labels: each row goes to the nearest of k rows drawn far from each other.

    The Hamming distance is the squared Euclidean distance of one-hot rows (up to a factor), so drawing in proportion to
    it, times the multiplicity, is the D² sampling of k-means++. After the first, each centre is the best of 2 + ln k
    draws: the one that brings all rows closest (the greedy form, which scikit-learn also uses).
    """
    labels = np.zeros(len(ensemble), np.int32)
    distance = distances(ensemble, draw(ensemble.counts, rng), np.full(len(ensemble), np.inf))
    for cluster in range(1, k):
        chances = ensemble.counts * distance
        if not chances.any():
            break
        tries = (distances(ensemble, draw(chances, rng), distance) for _ in range(2 + int(math.log(k))))
        nearest = min(tries, key=lambda found: float(ensemble.counts @ found))
        labels[nearest < distance] = cluster
        distance = nearest
    return labels


def draw(chances: FloatArray, rng: Generator) -> int:
    """A row, drawn in proportion to its chance."""
    sums = np.cumsum(chances)
    return int(np.searchsorted(sums, rng.random() * sums[-1], side="right").clip(0, len(chances) - 1))


def distances(ensemble: Ensemble, center: int, before: FloatArray) -> FloatArray:
    """(n,) each row's distance to row `center`, or what it was before if that is smaller."""
    after = before.copy()
    map_chunks(partial(hamming_to, ensemble.labels, ensemble.weights, center, after), len(ensemble))
    return after
