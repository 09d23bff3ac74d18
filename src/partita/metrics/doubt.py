"""Which objects a consensus is least sure of, and why."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from partita.core.fields import check_length
from partita.core.types import MISSING, BoolArray, FloatArray, FrozenArrays, IntArray
from partita.metrics.items import ItemConsensus
from partita.metrics.labelling import as_integers
from partita.metrics.together import labels_of

WHISKER: Final = 1.5
"""Quartile ranges below the first quartile at which Tukey put the fence."""
EQUAL: Final = 1e-9
"""Item-consensus closer than this is the same but for rounding."""


@dataclass(frozen=True, eq=False)
class Doubt(FrozenArrays):
    """The doubts about each object."""

    margin: FloatArray
    """(n,) item consensus with its own cluster minus the largest item consensus with another cluster; NaN where either
    is not defined."""
    misplaced: BoolArray
    """(n,) whether another cluster is nearer than its own: the margin is below 0."""
    outlier: BoolArray
    """(n,) whether it belongs nowhere: item-consensus unusually low for its cluster, with its own and every other."""
    order: IntArray
    """(n,) objects in ascending order of margin, then of item consensus; those with neither are last."""

    def __repr__(self) -> str:
        counts = f"{np.count_nonzero(self.misplaced)} misplaced, {np.count_nonzero(self.outlier)} outliers"
        return f"Doubt({counts} of {len(self.margin)} objects)"


def doubtful(items: ItemConsensus, labels: Any) -> Doubt:
    """The objects that sit badly in their cluster, from their item consensus.

    An object is *misplaced* where its mean co-association with another cluster is above that with its own. It is an
    *outlier* where its item consensus, with its own cluster and with every other, is below the lower fence of its
    cluster: Q1 - 1.5 (Q3 - Q1), with Q1 and Q3 the quartiles of item consensus over the cluster's objects (Tukey 1977).
    An object without item consensus, such as one that is alone in its cluster, is neither. `order` treats an unknown
    other cluster as one with which nothing is shared.
    """
    codes = as_integers(labels_of(labels), "labels")
    check_length("labels", len(codes), "the item-consensus", len(items.own))
    margin = items.own - items.other
    with np.errstate(invalid="ignore"):
        misplaced = margin < -EQUAL
        fence = _fences(items, codes)
        outlier = (items.own < fence - EQUAL) & ~(items.other >= fence - EQUAL)
    key = items.own - np.nan_to_num(items.other)
    order = np.lexsort((items.own, key))
    return Doubt(margin, misplaced, outlier, order)


def _fences(items: ItemConsensus, codes: IntArray) -> FloatArray:
    """(n,) the lower fence of each object's cluster; NaN for objects without item consensus."""
    there = np.flatnonzero((codes != MISSING) & ~np.isnan(items.own))
    fences = np.full(len(codes), np.nan)
    if len(there):
        order = there[np.lexsort((items.own[there], codes[there]))]
        groups = np.cumsum(np.diff(codes[order], prepend=codes[order[0]]) != 0)
        counts = np.ones(len(order)) if items.counts is None else items.counts[order]
        first, third = (_quantiles(items.own[order], groups, counts, share) for share in (0.25, 0.75))
        fences[order] = (first - WHISKER * (third - first))[groups]
    return fences


def _quantiles(values: FloatArray, groups: IntArray, counts: FloatArray, share: float) -> FloatArray:
    """A quantile of each group's rising values, each as often as it counts; between two in proportion, as in NumPy."""
    ends, sizes = np.cumsum(counts), np.bincount(groups, counts)
    begins = np.cumsum(sizes) - sizes
    place = np.maximum(share * (sizes - 1), 0.0)
    low, high = (np.searchsorted(ends, begins + round_to(place), side="right") for round_to in (np.floor, np.ceil))
    return np.asarray(values[low] + (place - np.floor(place)) * (values[high] - values[low]))
