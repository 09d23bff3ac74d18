"""k-means++ start (Arthur and Vassilvitskii 2007) on the rows of a label table, under the Hamming distance."""

import numpy as np
from numpy.random import Generator

from partita.core.ensemble import Ensemble
from partita.core.threads import map_chunks
from partita.core.types import IntArray
from partita.kernels.scores import hamming_to


def plusplus_start(ensemble: Ensemble, k: int, rng: Generator) -> IntArray:
    """(n,) labels: each row goes to the nearest of k rows drawn far from each other.

    The Hamming distance is the squared Euclidean distance of one-hot rows (up to a factor), so drawing in proportion to
    it, times the multiplicity, is the D² sampling of k-means++.
    """
    rows = len(ensemble)
    distance = np.full(rows, np.inf)
    labels = np.zeros(rows, np.int32)
    chances = ensemble.counts
    for cluster in range(k):
        center = int(np.searchsorted(np.cumsum(chances), rng.random() * chances.sum(), side="right").clip(0, rows - 1))
        before = distance.copy()
        map_chunks(
            lambda start, stop: hamming_to(ensemble.labels, ensemble.weights, center, distance, start, stop),  # noqa: B023
            rows,
        )
        labels[distance < before] = cluster
        chances = ensemble.counts * distance
        if not chances.any():
            break
    return labels
