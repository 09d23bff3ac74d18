"""k-means on weighted points: the loops over points."""

import numpy as np

from partita.kernels.compiling import Array, kernel

BLOCK = 512
"""Points whose distances are added up together."""


@kernel
def assign_points(points: Array, centers: Array, chosen: Array, distance: Array, start: int, stop: int) -> None:
    """Give each point its nearest centre (the first of equals) and keep the squared distance.

    `centers` (dimensions, k) has a centre in each column, so that the inner loop runs over centres, as vectors.
    """
    totals = np.empty(centers.shape[1])
    for i in range(start, stop):
        for c in range(totals.shape[0]):
            totals[c] = 0.0
        for d in range(points.shape[1]):
            x = points[i, d]
            for c in range(totals.shape[0]):
                apart = x - centers[d, c]
                totals[c] += apart * apart
        nearest = 0
        for c in range(1, totals.shape[0]):
            if totals[c] < totals[nearest]:
                nearest = c
        chosen[i] = nearest
        distance[i] = totals[nearest]


@kernel
def add_points(points: Array, weights: Array, chosen: Array, sums: Array, masses: Array, start: int, stop: int) -> None:
    """Add up the weighted points and the weights of each cluster."""
    for i in range(start, stop):
        cluster = chosen[i]
        masses[cluster] += weights[i]
        for d in range(points.shape[1]):
            sums[cluster, d] += weights[i] * points[i, d]


@kernel
def lower_distance(axes: Array, center: int, distance: Array, start: int, stop: int) -> None:
    """Lower each point's distance to its squared distance from point `center`, if that is smaller.

    `axes` (dimensions, n) has a point in each column, so that the inner loop runs over points, as vectors.
    """
    for first in range(start, stop, BLOCK):
        last = min(first + BLOCK, stop)
        totals = np.zeros(BLOCK)
        for d in range(axes.shape[0]):
            x = axes[d, center]
            for i in range(first, last):
                apart = axes[d, i] - x
                totals[i - first] += apart * apart
        for i in range(first, last):
            distance[i] = min(distance[i], totals[i - first])
