"""The nearest of some centres to each point, block by block: no table of all points and all centres is held."""

from collections.abc import Iterator

import numpy as np

from partita.core.types import FloatArray, IntArray
from partita.generate.clusterers.similarity import scatter
from partita.kernels.smallest import keep_smallest

BLOCK = 256
"""Rows whose distances are held together; with 1000 centres they still fit a processor's cache."""


def nearest_centres(points: FloatArray, centres: FloatArray) -> tuple[IntArray, FloatArray]:
    """(n,) the nearest centre of each point, the first of equals, and (n,) the squared distance."""
    chosen, distance = np.empty(len(points), np.int32), np.empty(len(points))
    for rows, apart, lengths in _distances(points, centres):
        chosen[rows] = apart.argmin(axis=1)
        distance[rows] = apart.min(axis=1) + lengths
    return chosen, np.maximum(distance, 0.0)


def nearest_few(points: FloatArray, centres: FloatArray, count: int) -> tuple[IntArray, FloatArray]:
    """(n, count) the nearest centres of each point, nearest first, and (n, count) their squared distances."""
    chosen, distance = np.empty((len(points), count), np.int32), np.empty((len(points), count))
    for rows, apart, lengths in _distances(points, centres):
        keep_smallest(apart, chosen[rows], distance[rows])
        distance[rows] += lengths[:, None]
    return chosen, np.maximum(distance, 0.0)


def _distances(points: FloatArray, centres: FloatArray) -> Iterator[tuple[slice, FloatArray, FloatArray]]:
    """Rows, their (rows, k) squared distances less the rows' squared lengths, and those lengths.

    Lengths are taken from the middle of the centres, so that data far from the origin lose no digits.
    """
    middle = centres.mean(axis=0)
    moved = centres - middle
    lengths, columns = scatter(moved), np.ascontiguousarray(-2 * moved.T)
    table = np.empty((BLOCK, len(centres)))
    for start in range(0, len(points), BLOCK):
        block = points[start : start + BLOCK] - middle
        apart = np.matmul(block, columns, out=table[: len(block)])
        apart += lengths
        yield slice(start, start + len(block)), apart, scatter(block)
