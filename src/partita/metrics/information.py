"""Measures of shared information, in nats. Each `…_of` takes a table; its namesake takes two labellings.

All are NaN when no object is known in both labellings (scikit-learn says 1 there).
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.core.errors import ParameterError
from partita.core.types import FloatArray, IntArray, sealed
from partita.kernels.tables import segment_sums, table_shares
from partita.metrics.contingency import contingency
from partita.metrics.joint import Joint
from partita.metrics.table import Contingency, on_objects

TINY = float(np.finfo(np.float64).eps)


def entropy(labels: Any, weights: Any = None) -> float:
    """H = -sum p log p over the shares p of the clusters.

    >>> round(entropy([0, 0, 1, 1]), 4)
    0.6931
    """
    table = contingency(labels, np.zeros(len(labels), np.int8), weights)
    return _entropy(table.row_sums[table.row_sums > 0]) if table.total > 0 else float("nan")


def _entropy(sums: NDArray[Any]) -> float:
    shares = sums / sums.sum()
    return max(0.0, float(-(shares * np.log(shares)).sum()))


def mutual_information(a: Any, b: Any, weights: Any = None) -> float:
    """I = sum p(a, b) log(p(a, b) / (p(a) p(b)))."""
    return mutual_information_of(contingency(a, b, weights))


@on_objects
def mutual_information_of(table: Contingency) -> float:
    """Mutual information of the two partitions of a table."""
    surprise = np.log(table.counts / table.row_sums[table.rows]) - np.log(table.col_sums / table.total)[table.cols]
    return max(0.0, float((table.counts / table.total * surprise).sum()))


def nmi(a: Any, b: Any, weights: Any = None) -> float:
    """Normalised mutual information, I / sqrt(H_a H_b): eq 3 of Strehl and Ghosh (2002), between 0 and 1.

    Two trivial partitions (all objects in one cluster) agree, 1; a trivial one shares nothing with another, 0. Equal to
    scikit-learn's `normalized_mutual_info_score` with the geometric average.

    >>> nmi([0, 0, 1, 1], ["x", "x", "y", "y"])
    1.0
    """
    return nmi_of(contingency(a, b, weights))


@on_objects
def nmi_of(table: Contingency) -> float:
    """Normalised mutual information of the two partitions of a table."""
    if 1 in table.shape:
        return float(table.shape == (1, 1))
    information = mutual_information_of(table)
    if information <= TINY:
        return 0.0
    return min(1.0, information / float(np.sqrt(_entropy(table.row_sums) * _entropy(table.col_sums))))


def joint_nmi(joint: Joint) -> tuple[FloatArray, FloatArray]:
    """Return the normalized mutual information of each of r tables, and the number of objects in each.

    Parameters
    ----------
    joint : Joint
        A labeling against r clusterings.

    Returns
    -------
    nmi : (r,) array
        The values of `nmi_of`; NaN for tables without objects. For whole numbers of objects they are equal bit for bit,
        because the same terms are added in the same order. Other counts are equal up to rounding.
    totals : (r,) array
        Objects known in both.
    """
    table, sizes = sealed(np.ascontiguousarray(joint.table, np.float64)), np.array(joint.sizes, np.int64)
    r, cells = len(sizes), np.count_nonzero(table)
    ratios, shares, columns = np.empty(cells), np.empty(cells), np.empty(cells, np.int64)
    row_shares, col_shares = np.empty(r * len(table)), np.empty(int(sizes.sum()))
    begins, totals = np.zeros((3, r + 1), np.int64), np.empty(r)
    table_shares(
        table, sealed(joint.places), sealed(sizes), ratios, shares, columns, row_shares, col_shares, begins, totals
    )
    of_cells, of_rows, of_cols = sealed(begins)
    end = of_cells[-1]  # cells of unobserved labels are not used
    log_cols = np.log(col_shares[: of_cols[-1]])
    terms = shares[:end] * (np.log(ratios[:end]) - log_cols[columns[:end]])
    information = np.maximum(0.0, _segment_sums(terms, of_cells))
    row_terms = row_shares[: of_rows[-1]] * np.log(row_shares[: of_rows[-1]])
    entropies = [
        np.maximum(0.0, -_segment_sums(values, places))
        for values, places in ((row_terms, of_rows), (col_shares[: of_cols[-1]] * log_cols, of_cols))
    ]
    one_row, one_col = np.diff(of_rows) == 1, np.diff(of_cols) == 1
    with np.errstate(invalid="ignore", divide="ignore"):
        found = np.minimum(1.0, information / np.sqrt(entropies[0] * entropies[1]))
    found = np.where(information <= TINY, 0.0, found)
    found = np.where(one_row | one_col, (one_row & one_col).astype(np.float64), found)
    return np.where(totals > 0, found, np.nan), totals


def _segment_sums(values: FloatArray, begins: IntArray) -> FloatArray:
    sums = np.empty(len(begins) - 1)
    segment_sums(sealed(values), begins, sums)
    return sums


def ami(a: Any, b: Any, weights: Any = None) -> float:
    """Mutual information adjusted for chance, (I - E I) / (mean(H_a, H_b) - E I): 0 on average for random labellings.

    Equal to scikit-learn's `adjusted_mutual_info_score` with the arithmetic average. Weights must be whole numbers,
    because the expectation is over the ways to deal objects out.

    >>> ami([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    """
    return ami_of(contingency(a, b, weights))


@on_objects
def ami_of(table: Contingency) -> float:
    """Adjusted mutual information of the two partitions of a table."""
    counts = np.rint(table.counts).astype(np.int64)
    if not np.array_equal(counts, table.counts):
        raise ParameterError("AMI is defined for whole numbers of objects; give whole weights, or use nmi")
    if len(counts) == max(table.shape) == min(table.shape):
        return 1.0
    if 1 in table.shape:
        return 0.0
    expected = _expected_information(table, counts)
    mean = (_entropy(table.row_sums) + _entropy(table.col_sums)) / 2
    return _away_from_zero(mutual_information_of(table) - expected) / _away_from_zero(mean - expected)


def _expected_information(table: Contingency, counts: NDArray[np.int64]) -> float:
    from scipy.sparse import csr_matrix
    from sklearn.metrics.cluster import expected_mutual_information

    matrix = csr_matrix((counts, (table.rows, table.cols)), shape=table.shape)
    return float(expected_mutual_information(matrix, int(table.total)))


def _away_from_zero(difference: float) -> float:
    """Differences that should be 0 come out a rounding error off; their ratio must not explode."""
    return min(difference, -TINY) if difference < 0 else max(difference, TINY)


def class_entropy(labels: Any, classes: Any, weights: Any = None) -> float:
    """Return the mean entropy of the classes within the clusters, as a share of log(number of classes).

    sum_c (n_c / n) H(classes of cluster c) / log g for g classes: 0 if each cluster has one class, at most 1; the
    entropy that Strehl and Ghosh (2002, section 4.2) mention. Like purity it favors many small clusters.

    Examples
    --------
    >>> class_entropy([0, 0, 1, 1], ["x", "x", "x", "y"])
    0.5
    >>> class_entropy([0, 1, 2, 3], ["x", "x", "x", "y"])
    0.0
    """
    return class_entropy_of(contingency(labels, classes, weights))


@on_objects
def class_entropy_of(table: Contingency) -> float:
    """Return the class entropy of the clusters in the rows of a table."""
    if table.shape[1] == 1:
        return 0.0
    surprise = np.log(table.row_sums[table.rows] / table.counts)
    return min(1.0, float((table.counts / table.total * surprise).sum() / np.log(table.shape[1])))


def variation_of_information(a: Any, b: Any, weights: Any = None, *, normalised: bool = False) -> float:
    """H(a | b) + H(b | a) in nats, a distance between partitions; `normalised` divides it by H(a, b), so it ends at 1.

    >>> round(variation_of_information([0, 0, 1, 1], [0, 1, 0, 1]), 4)
    1.3863
    """
    return variation_of_information_of(contingency(a, b, weights), normalised=normalised)


@on_objects
def variation_of_information_of(table: Contingency, *, normalised: bool = False) -> float:
    """Variation of information between the two partitions of a table."""
    surprise = np.log(table.row_sums[table.rows] / table.counts) + np.log(table.col_sums[table.cols] / table.counts)
    distance = float((table.counts / table.total * surprise).sum())
    if not normalised or distance == 0.0:
        return distance
    return min(1.0, distance / _entropy(table.counts))
