"""Measures that count pairs of objects: together in both partitions, in one, or in none."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partita.metrics.contingency import contingency
from partita.metrics.table import Contingency, on_objects

WHOLE_SQUARES = 3_000_000_000
"""The square of this many objects still fits 64 bits; more are squared in floating point."""


class PairCounts(NamedTuple):
    """Ordered pairs of different objects; whole when the table's counts are."""

    both: float
    """Together in both partitions."""
    first: float
    """Together in the first only."""
    second: float
    """Together in the second only."""
    neither: float


def pair_counts(table: Contingency) -> PairCounts:
    """How the two partitions of a table treat pairs; a weight of 2 is two objects."""
    both = _squares(table.counts)
    first, second = _squares(table.row_sums), _squares(table.col_sums)
    return PairCounts(both - table.total, first - both, second - both, table.total**2 - first - second + both)


def _squares(counts: NDArray[Any]) -> float:
    if counts.dtype.kind == "i" and int(counts.sum()) >= WHOLE_SQUARES:
        counts = counts.astype(np.float64)
    total: float = np.dot(counts, counts).item()
    return total


def rand(a: Any, b: Any, weights: Any = None) -> float:
    """The share of pairs of objects on which two partitions agree; 1 when there is no pair. As `sklearn.rand_score`.

    >>> round(rand([0, 0, 1, 1], [0, 0, 1, 2]), 4)
    0.8333
    """
    return rand_of(contingency(a, b, weights))


@on_objects
def rand_of(table: Contingency) -> float:
    """Rand index of the two partitions of a table."""
    both, first, second, neither = pair_counts(table)
    if first == second == 0:
        return 1.0
    return float((both + neither) / (both + first + second + neither))


def ari(a: Any, b: Any, weights: Any = None) -> float:
    """The Rand index adjusted for chance: 1 for equal partitions, 0 on average for random ones, at least -0.5.

    Equal to scikit-learn's `adjusted_rand_score`.

    >>> round(ari([0, 0, 1, 1], [0, 0, 1, 2]), 4)
    0.5714
    """
    return ari_of(contingency(a, b, weights))


@on_objects
def ari_of(table: Contingency) -> float:
    """Adjusted Rand index of the two partitions of a table."""
    both, first, second, neither = pair_counts(table)
    if first == second == 0:
        return 1.0
    chance = (both + first) * (first + neither) + (both + second) * (second + neither)
    return float(2 * (both * neither - first * second) / chance)
