"""Every division of a handful of vertices, so that small inputs get the best there is."""

from typing import Final

import numpy as np

from partita.core.types import BoolArray, FloatArray, IntArray
from partita.partition.blocks import SLACK, Limits

MOST_DIVISIONS: Final = 50_000
"""Inputs with more divisions into k blocks than this go to the partitioners."""

MOST_VERTICES: Final = 20
ROUNDING: Final = 1e-12
"""Costs that differ by less, relative to the highest, are equal."""


def few_divisions(vertices: int, k: int) -> bool:
    """Whether all divisions of so many vertices into k blocks can be looked at.

    >>> few_divisions(11, 3), few_divisions(12, 3)
    (True, False)
    """
    if vertices > MOST_VERTICES:
        return False
    row = [1] + [0] * k
    for _ in range(vertices):
        row = [0] + [min(row[b - 1] + b * row[b], MOST_DIVISIONS + 1) for b in range(1, k + 1)]
    return row[k] <= MOST_DIVISIONS


def all_divisions(vertices: int, k: int) -> IntArray:
    """(divisions, n) every division into exactly k blocks once, blocks numbered by first appearance.

    >>> all_divisions(3, 2).tolist()
    [[0, 0, 1], [0, 1, 0], [0, 1, 1]]
    """
    table = np.zeros((1, vertices), np.int8)
    used = np.ones(1, np.int8)
    for place in range(1, vertices):
        choices = [(table, np.full(len(table), block, np.int8), block <= used) for block in range(min(place + 1, k))]
        grown = np.concatenate([_with(rows[fits], place, block[fits]) for rows, block, fits in choices])
        used = np.concatenate([np.maximum(used[fits], block[fits] + 1) for _, block, fits in choices])
        enough = used + (vertices - 1 - place) >= k
        table, used = grown[enough], used[enough]
    return table[np.lexsort(table.T[::-1])] if k > 1 else table


def _with(rows: IntArray, place: int, block: IntArray) -> IntArray:
    grown = rows.copy()
    grown[:, place] = block
    return grown


def best_division(table: IntArray, costs: FloatArray, weights: FloatArray, limits: Limits) -> BoolArray:
    """Which rows of the table are equally best: within the capacities, of least cost, then least uneven."""
    rows = np.arange(len(table))
    loads = np.stack([(table == block) @ weights for block in range(limits.k)], axis=1)
    capacities = np.full(loads.shape, limits.capacity)
    shared = np.zeros(loads.shape, np.int64)
    for vertex, capacity in zip(limits.heavy.tolist(), limits.heavy_capacities.tolist(), strict=True):
        capacities[rows, table[:, vertex]] = capacity
        shared[rows, table[:, vertex]] += 1
    allowed = ((loads <= capacities * (1.0 + SLACK)) & (shared < 2)).all(axis=1)
    costs = np.where(allowed, costs, np.inf)
    best = costs <= costs.min() + ROUNDING * float(costs[allowed].max())
    for uneven in (loads.max(axis=1), ((loads / weights.sum()) ** 2).sum(axis=1)):
        best &= uneven <= uneven[best].min() * (1.0 + SLACK)
    return np.asarray(best)
