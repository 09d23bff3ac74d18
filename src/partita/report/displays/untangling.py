"""The order of blocks in columns side by side that makes few flows cross."""

from typing import Final

import numpy as np

from partita.core.types import FloatArray, IntArray

SWEEPS: Final = 8


def untangled(flows: list[FloatArray], fixed: list[int], start: int) -> list[IntArray]:
    """For every column the order of its blocks; blocks from `fixed[j]` on keep their places at the end.

    The column `start` begins in its own order; each other column is ordered by the mean place of what flows into it,
    first outwards from there, then to and fro. The order with the fewest crossings, weighed by the flows, is kept.

    >>> [order.tolist() for order in untangled([np.array([[0.0, 5.0], [5.0, 0.0]])], [2, 2], 1)]
    [[1, 0], [0, 1]]
    """
    sizes = [len(flows[0]), *(flow.shape[1] for flow in flows)] if flows else [max(fixed)]
    orders = [np.arange(size) for size in sizes]
    outwards = [*((j, j + 1) for j in range(start - 1, -1, -1)), *((j, j - 1) for j in range(start + 1, len(sizes)))]
    best, least = orders, np.inf
    for sweep in range(SWEEPS):
        to_and_fro = [(j, j - 1) for j in range(1, len(sizes))], [(j, j + 1) for j in range(len(sizes) - 2, -1, -1)]
        for column, beside in outwards if sweep == 0 else to_and_fro[sweep % 2]:
            flow = flows[column].T if beside > column else flows[beside]
            orders = [
                *orders[:column],
                _by_mean(flow, orders[beside], orders[column], fixed[column]),
                *orders[column + 1 :],
            ]
        crossing = sum(crossings(flow[np.ix_(orders[j], orders[j + 1])]) for j, flow in enumerate(flows))
        if crossing < least - 1e-9:
            best, least = orders, crossing
    return best


def _by_mean(flow: FloatArray, beside: IntArray, own: IntArray, fixed: int) -> IntArray:
    """The blocks of a column by the mean place of their flows from the column beside, in its order."""
    weights = flow[beside]
    total = weights.sum(axis=0)
    middles = (np.cumsum(weights.sum(axis=1)) - weights.sum(axis=1) / 2) @ weights
    mean = np.divide(middles, total, out=np.full(len(total), np.inf), where=total > 0)
    free = own[own < fixed]
    return np.concatenate([free[np.argsort(mean[free], kind="stable")], np.arange(fixed, len(own))])


def crossings(flow: FloatArray) -> float:
    """How much flow crosses other flow: for each two that cross the product of both.

    >>> crossings(np.array([[0.0, 2.0], [3.0, 0.0]])), crossings(np.eye(3))
    (6.0, 0.0)
    """
    below_left = np.zeros_like(flow)
    lower = np.cumsum(flow[::-1], axis=0)[::-1]
    below_left[:-1, 1:] = np.cumsum(lower[1:], axis=1)[:, :-1]
    return float((flow * below_left).sum())
