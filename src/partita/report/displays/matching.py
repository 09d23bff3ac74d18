"""Clusters of one labelling under the numbers of those of another that they match."""

from typing import Final

import numpy as np
from scipy.optimize import linear_sum_assignment

from partita.core.types import MISSING, IntArray
from partita.metrics.table import Contingency

MOST: Final = 300
"""Of so many clusters, the largest, matches are looked for."""


def matches(table: Contingency, k: int) -> IntArray:
    """(rows,) the column that each row is matched with, one to one; rows without one from k upwards, larger ones first.

    >>> from partita.metrics import from_dense
    >>> matches(from_dense([[0, 5], [3, 4], [1, 0]]), 2).tolist()
    [1, 0, 2]
    """
    rows, cols = (np.argsort(-sums, kind="stable")[:MOST] for sums in (table.row_sums, table.col_sums))
    dense = _dense(table, rows, cols)
    first, second = linear_sum_assignment(dense, maximize=True)
    shared = dense[first, second] > 0
    target = np.full(table.shape[0], MISSING, np.int64)
    target[rows[first[shared]]] = cols[second[shared]]
    alone = np.argsort(-table.row_sums, kind="stable")
    alone = alone[target[alone] == MISSING]
    target[alone] = k + np.arange(len(alone))
    return target


def _dense(table: Contingency, rows: IntArray, cols: IntArray) -> IntArray:
    """The cells of these rows and columns."""
    places = []
    for picked, size in ((rows, table.shape[0]), (cols, table.shape[1])):
        place = np.full(size, MISSING)
        place[picked] = np.arange(len(picked))
        places.append(place)
    at_row, at_col = places[0][table.rows], places[1][table.cols]
    inside = (at_row != MISSING) & (at_col != MISSING)
    dense = np.zeros((len(rows), len(cols)), table.counts.dtype)
    dense[at_row[inside], at_col[inside]] = table.counts[inside]
    return dense


def renamed(labels: IntArray, target: IntArray) -> IntArray:
    """Labels under their new numbers; MISSING stays."""
    return np.append(target, MISSING)[labels]
