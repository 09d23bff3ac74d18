"""The order in which pictures show objects, and the bins that stand for many of them."""

from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partita.core.ensemble import Ensemble
from partita.core.rng import generator
from partita.core.soft import SoftEnsemble
from partita.core.types import MISSING, FloatArray, IntArray

MOST_ROWS: Final = 2000
"""Objects up to which each has a row of its own."""
MOST_BINS: Final = 500
"""Rows of a picture where there are more objects."""

QUANTILES: Final = (0.05, 0.25, 0.5, 0.75, 0.95)

MOST_NAMES: Final = 1 << 12
"""Different numbers up to which they are counted without being sorted first."""


class Bins(NamedTuple):
    """Objects in the order they are shown, in runs."""

    rows: IntArray
    """The objects, those of a bin one after another."""
    starts: IntArray
    """(bins + 1,) where each bin begins among them."""
    clusters: IntArray
    """(bins,) the cluster of each bin; MISSING for bins of all small clusters together."""

    def __len__(self) -> int:
        return len(self.clusters)

    @property
    def lengths(self) -> IntArray:
        """(bins,) rows in each."""
        return np.diff(self.starts)

    def places(self, objects: int) -> IntArray:
        """(objects,) the bin of each; MISSING where it is in none."""
        found = np.full(objects, MISSING, np.int64)
        found[self.rows] = np.repeat(np.arange(len(self)), self.lengths)
        return found

    def sample(self) -> IntArray:
        """(bins,) one object of each bin, drawn with a fixed seed.

        Random and not every 1,000th object, because objects of equal confidence can be in a periodic order.
        """
        return np.asarray(self.rows[generator(0).integers(self.starts[:-1], self.starts[1:])])

    def totals(self, values: NDArray[np.generic]) -> FloatArray:
        """(bins,) the sum of the objects' values."""
        if not len(self):
            return np.zeros(0)
        return np.asarray(np.add.reduceat(values[self.rows].astype(np.float64), self.starts[:-1]))

    def means(self, values: FloatArray, weights: FloatArray | None = None) -> FloatArray:
        """(bins,) the mean of the values that are known, NaN where none is."""
        if len(self) == len(self.rows):
            return np.array(values[self.rows])
        known = np.isfinite(values)
        heavy = known.astype(np.float64) if weights is None else known * weights
        weight = self.totals(heavy)
        total = self.totals(np.where(known, values, 0.0) * heavy)
        return np.asarray(np.divide(total, weight, out=np.full(len(self), np.nan), where=weight > 0))


def ordered_bins(labels: IntArray, sure: FloatArray, most_rows: int = MOST_ROWS, bins: int = MOST_BINS) -> Bins:
    """Objects by cluster, then the surest first; above `most_rows` of them in at most so many bins within clusters.

    Objects with the label MISSING are left out. Where there are more clusters than half the bins, the smallest share
    bins at the end.

    >>> ordered_bins(np.array([1, 0, -1, 1]), np.array([0.2, 0.9, 0.9, 0.8])).rows.tolist()
    [1, 3, 0]
    """
    known = np.flatnonzero(labels != MISSING)
    sizes = np.bincount(labels[known])
    most = max(bins // 2, 1) if len(known) > most_rows else len(sizes)
    group, shown = _groups(sizes, most)
    own, doubt = labels[known], -np.nan_to_num(sure[known], nan=-1.0)
    rows = known[np.lexsort((doubt, own, group[own]))]
    lengths = np.bincount(group[own], minlength=len(shown))
    each = lengths if len(rows) <= most_rows else _shares(lengths, bins)
    starts = [np.arange(many) * length // many for many, length in zip(each, lengths, strict=True)]
    ends = np.concatenate([[0], np.cumsum(lengths)])
    found = np.concatenate([*(start + end for start, end in zip(starts, ends, strict=False)), [len(rows)]])
    return Bins(rows, found.astype(np.int64), np.repeat(shown, each))


def _groups(sizes: IntArray, most: int) -> tuple[IntArray, IntArray]:
    """The group of each cluster, and the cluster of each group: its own, or MISSING for all small ones together."""
    there = np.flatnonzero(sizes)
    if len(there) > most:
        largest = np.argsort(-sizes[there], kind="stable")[: most - 1]
        there = np.append(np.sort(there[largest]), MISSING)
    group = np.full(len(sizes), len(there) - 1)
    group[there[there != MISSING]] = np.arange(np.count_nonzero(there != MISSING))
    return group, there


def _shares(lengths: IntArray, bins: int) -> IntArray:
    """So many bins in all, at least one a group and at most one a row, else by its rows.

    >>> _shares(np.array([90, 9, 1]), 10).tolist()
    [7, 2, 1]
    """
    exact = lengths / lengths.sum() * (bins - len(lengths))
    each = np.asarray(np.minimum(1 + np.floor(exact).astype(np.int64), lengths))
    spare = bins - int(each.sum())
    rest = np.argsort(-(exact - np.floor(exact)) * (each < lengths), kind="stable")
    each[rest[: min(spare, int(np.count_nonzero(each < lengths)))]] += 1
    return each


def confidence_quantiles(labels: IntArray, confidence: FloatArray, counts: FloatArray, k: int) -> FloatArray:
    """Return the (k, 5) quantiles 5 %, 25 %, 50 %, 75 % and 95 % of the confidence of each cluster's objects.

    A row counts as `counts` objects. Quantiles are NaN for a cluster without a defined confidence.

    >>> confidence_quantiles(np.array([0, 0, 1]), np.array([0.2, 0.8, np.nan]), np.array([1.0, 9.0, 1.0]), 2)[:, 2]
    array([0.8, nan])
    """
    known = np.flatnonzero(np.isfinite(confidence) & (labels != MISSING))
    order = known[np.lexsort((confidence[known], labels[known]))]
    ends = np.searchsorted(labels[order], np.arange(k + 1))
    quantiles = np.full((k, len(QUANTILES)), np.nan)
    for cluster, (start, stop) in enumerate(pairwise(ends.tolist())):
        if stop > start:
            rows = order[start:stop]
            totals = np.cumsum(counts[rows])
            places = np.searchsorted(totals, np.rint(np.array(QUANTILES) * max(totals[-1] - 1, 0)), side="right")
            quantiles[cluster] = confidence[rows[np.minimum(places, len(rows) - 1)]]
    return quantiles


def most_and_least(agreement: FloatArray, most: int) -> IntArray:
    """Return the clusterings in descending order of agreement; of more than `most`, the first and the last.

    >>> most_and_least(np.array([0.2, np.nan, 0.9, 0.5]), 2).tolist()
    [2, 1]
    """
    order = np.argsort(-np.nan_to_num(agreement), kind="stable")
    return order if len(order) <= most else np.append(order[: most // 2], order[len(order) - most // 2 :])


def hard_column(ensemble: Ensemble | SoftEnsemble, j: int) -> IntArray:
    """(n,) a clustering's labels; of memberships the largest."""
    if isinstance(ensemble, Ensemble):
        return ensemble.labels[:, j]
    return np.where(ensemble.known[:, j], ensemble.block(j).argmax(axis=1), MISSING)


def most_frequent(values: IntArray, lengths: IntArray) -> tuple[IntArray, FloatArray]:
    """The most frequent value of each run of so many, the smallest of equals, and its share of the run.

    >>> found, shares = most_frequent(np.array([3, 1, 1, 2, 2, -1, 2, -1]), np.array([3, 1, 4]))
    >>> found.tolist(), shares.round(2).tolist()
    ([1, 2, -1], [0.67, 1.0, 0.5])
    """
    if len(lengths) == len(values):
        return values, np.ones(len(values))
    names, codes = np.arange(MISSING, int(values.max()) + 1), values - MISSING
    if len(names) > MOST_NAMES:
        names, codes = np.unique(values, return_inverse=True)
    runs = np.repeat(np.arange(len(lengths)), lengths)
    counts = np.bincount(runs * len(names) + codes, minlength=len(lengths) * len(names))
    table = counts.reshape(len(lengths), len(names))
    return names[table.argmax(axis=1)], table.max(axis=1) / lengths
