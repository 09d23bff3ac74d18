"""Hypergraph partitioning: objects that share a word, or a range of a feature's values, form a hyperedge."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.random import Generator
from scipy.sparse import csc_array, csr_array

from partita.core.params import setting
from partita.core.types import FloatArray
from partita.generate.base import Clusterer, Fitted
from partita.partition import Hypergraph, HypergraphOptions, partition_hypergraph

MANY_ZEROS = 0.5
"""The share of zeros from which features that are never negative are taken for counts."""


@dataclass(frozen=True, slots=True)
class Params:
    """Settings of hypergraph partitioning."""

    features: Literal["auto", "counts", "values"] = setting(
        "auto", "a hyperedge for each word (objects with a count), or for each range of values; auto looks for zeros"
    )
    bins: int = setting(8, "ranges with equally many objects, into which each feature's values are divided", low=2)
    imbalance: float = setting(0.05, "how far the largest cluster may exceed the mean", low=0)


def fit(X: FloatArray, k: int, params: Params, rng: Generator) -> Fitted:
    """Divide the objects so that hyperedges touch few clusters."""
    counts = params.features == "counts" or (params.features == "auto" and looks_like_counts(X))
    incidence = csc_array(X != 0) if counts else ranges(X, params.bins)
    options = HypergraphOptions("km1", params.imbalance)
    return Fitted(partition_hypergraph(Hypergraph.from_sparse(incidence), k, options, rng).labels)


def looks_like_counts(X: FloatArray) -> bool:
    """Whether nothing is negative and most is zero."""
    return bool(X.min() >= 0 and np.count_nonzero(X == 0) >= MANY_ZEROS * X.size)


def ranges(X: FloatArray, bins: int) -> csc_array:
    """(n, d · bins) in which range of each feature's values an object lies; equal values are never parted."""
    inner = np.quantile(X, np.arange(1, bins) / bins, axis=0, method="lower")
    columns = [np.searchsorted(edges, values, side="right") for edges, values in zip(inner.T, X.T, strict=True)]
    places = np.stack(columns, axis=1) + bins * np.arange(X.shape[1])
    starts = np.arange(0, places.size + 1, X.shape[1])
    return csc_array(csr_array((np.ones(places.size, np.int8), places.ravel(), starts), (len(X), bins * X.shape[1])))


CLUSTERER = Clusterer(fit, Params, soft=False, places=False, cite="strehl2002")
