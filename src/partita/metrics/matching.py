"""Measures that match clusters with classes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.metrics.contingency import contingency
from partita.metrics.table import DENSE_CELLS, Contingency, on_objects


def micro_precision(labels: Any, truth: Any, weights: Any = None) -> float:
    """The share of objects in the majority class of their cluster (Wang, Shan and Banerjee 2009, section 7).

    It grows with the number of clusters and reaches 1 when each object is its own; show it beside that number.

    >>> micro_precision([0, 0, 0, 1], ["x", "x", "y", "y"])
    0.75
    """
    return micro_precision_of(contingency(labels, truth, weights))


@on_objects
def micro_precision_of(table: Contingency) -> float:
    """Micro-precision of a table of clusters against classes."""
    return min(1.0, float(_largest(table.counts, table.rows, table.shape[0]).sum() / table.total))


def misassignment(labels: Any, truth: Any, weights: Any = None) -> float:
    """The share of objects outside the best one-to-one match of clusters and classes (Topchy, Jain and Punch 2004).

    Where there are more clusters than classes, or fewer, those left over match nothing.

    >>> misassignment([0, 0, 0, 1], ["x", "x", "y", "y"])
    0.25
    """
    return misassignment_of(contingency(labels, truth, weights))


@on_objects
def misassignment_of(table: Contingency) -> float:
    """Misassignment rate of a table of clusters against classes."""
    return max(0.0, 1.0 - float(_best_match(table) / table.total))


def _best_match(table: Contingency) -> float:
    """Objects in the best one-to-one match of rows and columns."""
    if table.shape[0] * table.shape[1] <= DENSE_CELLS:
        from scipy.optimize import linear_sum_assignment

        cells = table.dense()
        return float(cells[linear_sum_assignment(cells, maximize=True)].sum())
    return _best_sparse_match(table)


def _best_sparse_match(table: Contingency) -> float:
    """The same over the cells that are not empty: each row may also take a column of its own, worth nothing.

    Every row is matched exactly once, so adding 1 to all weights changes no choice and keeps them above 0.
    """
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    rows, cols = table.shape
    places = np.concatenate([table.rows, np.arange(rows)]), np.concatenate([table.cols, cols + np.arange(rows)])
    values = np.concatenate([table.counts + 1.0, np.ones(rows)])
    graph = csr_matrix((values, places), shape=(rows, cols + rows))
    chosen = graph[min_weight_full_bipartite_matching(graph, maximize=True)]
    return float(np.asarray(chosen).sum() - rows)


def f1(labels: Any, truth: Any, weights: Any = None) -> float:
    """Harmonic mean of precision and recall (Wang, Domeniconi and Laskey 2010, section 6, sums and divisors agreeing).

    Precision is the mean over clusters of the largest share a class has in them, recall the mean over classes of the
    largest share a cluster has of them; every cluster and every class counts alike, whatever its size.

    >>> round(f1([0, 0, 0, 1], ["x", "x", "y", "y"]), 4)
    0.7895
    """
    return f1_of(contingency(labels, truth, weights))


@on_objects
def f1_of(table: Contingency) -> float:
    """F1 of a table of clusters against classes."""
    rows, cols = table.shape
    precision = float((_largest(table.counts, table.rows, rows) / table.row_sums).mean())
    recall = float((_largest(table.counts, table.cols, cols) / table.col_sums).mean())
    return 2 * precision * recall / (precision + recall)


def _largest(counts: NDArray[Any], groups: NDArray[Any], size: int) -> NDArray[Any]:
    """The largest count of each group."""
    largest = np.zeros(size, counts.dtype)
    np.maximum.at(largest, groups, counts)
    return largest
