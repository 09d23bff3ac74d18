"""Recognition of tables that contain measurements (features) in place of cluster labels.

Cluster labels are names: equal labels mean the same cluster, and their order is arbitrary. Measurements are numbers:
two columns rarely repeat the same groups of equal values, but a high value in one column goes with a high (or low)
value in another. The rule compares the two on a sample of the table: it recognizes features where the order of the
values is shared between columns far more than the groups of equal values are.

Numbering by first appearance is the one numbering of labels that can imitate this, because early rows have small labels
in all columns. Columns with this numbering are ignored.

The constants were chosen on 4,035 label tables (1,788 with wide columns), none of which satisfies the rule, and 126
tables of features. `benchmarks/false_alarms.py` repeats the measurement on a part of them; docs/checks.md has the
result and the known false alarm.
"""

from collections.abc import Sequence
from itertools import combinations
from typing import Final

import numpy as np
from numpy.typing import NDArray

from partita.core.coding import Label
from partita.core.types import MISSING, FloatArray, IntArray

MAX_CLUSTERS: Final = 30
"""A column is wide if it has more distinct values. Features with fewer, such as the 17 gray levels of scikit-learn's
digits, cannot be told apart from ordinal categories, which are valid input."""
MIN_WIDE_COLUMNS: Final = 3
"""Minimum number of wide columns: the correlation of a single pair is significant by chance too often."""
MIN_WIDE_SHARE: Final = 1 / 3
"""Minimum share of wide columns. A label table with a few columns of measurements is not a table of features."""
MIN_CORRELATION: Final = 12.0
"""Minimum mean of m rho^2 over pairs of columns, with rho the rank correlation on m rows: 1 for independent columns.
Highest value of label tables that reach MIN_ORDER_RATIO: 7.1 (90 % random labels). Pendigits: 241, wine x 10: 23."""
MIN_ORDER_RATIO: Final = 6.0
"""Minimum ratio of the mean rho^2 to the mean adjusted Rand index. Highest value of label tables that reach
MIN_CORRELATION: 2.9 (rows sampled from hierarchical cuts). Pendigits: 10.4, vehicle: 16.6, bupa: 22."""
MIN_ARI: Final = 1e-4
"""Smaller mean adjusted Rand indices count as this in the ratio."""
MAX_ROWS: Final = 2000
MAX_COLUMNS: Final = 10
"""Size of the sample. A table with less than `MIN_WIDE_COLUMNS` wide columns is not sampled."""
GOLDEN_RATIO: Final = 0.6180339887498949
"""Multiples of it modulo 1 are spread evenly and have no period, unlike every k-th row of a table in a fixed order."""


def looks_like_features(labels: IntArray, classes: Sequence[Sequence[Label]]) -> bool:
    """Return True if a table of integers looks like features (measurements) in place of cluster labels.

    Features are recognized if at least three columns, and a third of all, have more than 30 distinct integers, and
    if the mean squared rank correlation between these columns is significant and at least six times their mean
    adjusted Rand index. The statistics use at most 2,000 rows and 10 columns and are deterministic.

    Parameters
    ----------
    labels : array of shape (n, r)
        Codes of the labels by first appearance, -1 where missing.
    classes : sequence of r sequences
        Original values of each column in code order.

    Returns
    -------
    bool
        False also where the sample does not suffice to recognize features.

    Notes
    -----
    Not recognized: features with at most 30 distinct values, features that are independent of each other, and
    features of which many pairs of columns repeat the same groups of equal values, such as zeros for missing values.
    Known false alarm: clusterings that do not agree at all, with more than about n / 9 clusters each, that were
    numbered by first appearance before the rows were shuffled.

    Examples
    --------
    >>> from partita import Ensemble
    >>> rng = np.random.default_rng(0)
    >>> measured = rng.normal(100, 20, (500, 1)) + rng.normal(0, 10, (500, 4))
    >>> ensemble = Ensemble.from_labels(measured.astype(int))
    >>> looks_like_features(ensemble.labels, ensemble.classes)
    True
    >>> ensemble = Ensemble.from_labels(rng.integers(4, size=(500, 4)))
    >>> looks_like_features(ensemble.labels, ensemble.classes)
    False
    """
    wide = [j for j, column in enumerate(classes) if len(column) > MAX_CLUSTERS and _is_integer(column[0])]
    if len(wide) < max(MIN_WIDE_COLUMNS, MIN_WIDE_SHARE * len(classes)):
        return False
    columns = [wide[i] for i in np.linspace(0, len(wide) - 1, min(len(wide), MAX_COLUMNS)).round().astype(int)]
    rows = _sample_rows(len(labels))
    groups, ranks = [], []
    for j in columns:
        codes = labels[rows, j]
        known = codes != MISSING
        values = [classes[j][code] for code in codes[known].tolist()]
        if not all(map(_is_integer, values)):
            return False
        _, first, inverse, counts = np.unique(
            np.array(values, np.float64), return_index=True, return_inverse=True, return_counts=True
        )
        if (np.diff(codes[known][first].astype(np.int64)) > 0).all():  # numbered by first appearance
            continue
        group, rank = np.full(len(rows), MISSING, np.intp), np.zeros(len(rows))
        group[known] = inverse
        rank[known] = (np.cumsum(counts) - (counts + len(values)) / 2)[inverse]  # centered; equal values share a rank
        groups.append(group)
        ranks.append(rank)
    if len(groups) < MIN_WIDE_COLUMNS:
        return False
    correlation, evidence = _mean_rank_correlation(np.column_stack(ranks), np.column_stack(groups) != MISSING)
    if evidence < MIN_CORRELATION:
        return False
    agreement = np.mean([_adjusted_rand(x, y) for x, y in combinations(groups, 2)])
    return bool(correlation >= MIN_ORDER_RATIO * max(float(agreement), MIN_ARI))


def _is_integer(value: Label) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def _sample_rows(n: int) -> NDArray[np.intp]:
    """Return all rows, or about MAX_ROWS that are spread evenly over the table."""
    if n <= MAX_ROWS:
        return np.arange(n)
    return np.unique((np.arange(MAX_ROWS) * GOLDEN_RATIO % 1 * n).astype(np.intp))


def _mean_rank_correlation(ranks: FloatArray, known: NDArray[np.bool_]) -> tuple[float, float]:
    """Return the means of rho^2 and m rho^2 over pairs of columns, each from the m rows known in both."""
    weights = known.astype(np.float64)
    norms = (ranks**2).T @ weights  # of column i over the rows known in column j
    scale = norms * norms.T
    squared = np.divide((ranks.T @ ranks) ** 2, scale, out=np.zeros_like(scale), where=scale > 0)
    pairs = np.triu_indices(len(scale), 1)
    return float(squared[pairs].mean()), float((squared * (weights.T @ weights))[pairs].mean())


def _adjusted_rand(x: NDArray[np.intp], y: NDArray[np.intp]) -> float:
    """Return the adjusted Rand index of two columns on the rows known in both."""
    known = (x != MISSING) & (y != MISSING)
    x, y = x[known], y[known]
    if len(x) < 2:
        return 0.0
    both = np.unique(x * (y.max() + 1) + y, return_counts=True)[1]
    together, same_x, same_y = _pairs(both), _pairs(np.bincount(x)), _pairs(np.bincount(y))
    total = len(x) * (len(x) - 1) / 2
    expected = same_x * same_y / total
    most = (same_x + same_y) / 2
    return (together - expected) / (most - expected) if most > expected else 0.0


def _pairs(counts: NDArray[np.intp]) -> float:
    return float((counts * (counts - 1)).sum()) / 2
