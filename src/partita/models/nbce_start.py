"""Where variational inference of nonparametric Bayesian cluster ensembles begins: many small clusters, merged.

Variational components die but are hardly ever born, and two that share one cluster part only slowly. So the start has
more clusters than are likely to be needed, and joins them, best pair first, as long as the log joint rises.
"""

from functools import partial
from typing import Final

import numpy as np
from numpy.random import Generator
from scipy.special import gammaln

from partita.core.counting import label_columns, label_counts, unit_weights
from partita.core.soft import AnyEnsemble
from partita.core.types import FloatArray, IntArray
from partita.models.mixture import Counts, at_site
from partita.models.nbce_bound import Columns, Hyper, expectations
from partita.models.restarts import sample_of, start_labels

SEEDS: Final = 100
"""Clusters that are merged, where fewer are to come out."""
ROUNDS: Final = 5
"""Passes that settle them before."""


def begin(ensemble: AnyEnsemble, hyper: Hyper, start: str, rng: Generator) -> Columns:
    """The merged clusters of a start, at most as many as there are components; of many rows a sample is enough."""
    part = sample_of(ensemble, 1, rng)
    seeds = min(max(hyper.truncation, SEEDS), len(part))
    tables, sizes = label_counts(part, start_labels(part, start, seeds, rng), seeds)
    columns = columns_of(Counts(sizes, tables, np.nan, 0), part)
    wide = hyper._replace(truncation=max(hyper.truncation, seeds))
    for _ in range(ROUNDS):
        columns = columns_of(at_site(expectations(columns, part.offsets, wide), part), part)
    return merged(columns, part.offsets, hyper)


def columns_of(counts: Counts, part: AnyEnsemble, copies: FloatArray | None = None) -> Columns:
    """Counts, labels times the weights of their clusterings, as columns of `copies` components each (1 by default)."""
    weighted = counts.labels * unit_weights(part)[label_columns(part.offsets)][:, None]
    return Columns(counts.weights, weighted, np.ones(len(counts.weights)) if copies is None else copies)


def merged(columns: Columns, offsets: IntArray, hyper: Hyper) -> Columns:
    """Columns of one component each, joined in pairs while that raises the log joint or they are too many.

    Under both priors the sizes count as under fsd, where the order of the components does not matter.
    """

    sizes, labels = columns.sizes.copy(), np.ascontiguousarray(columns.labels.T)
    heights = partial(_heights, offsets, hyper)
    own = heights(sizes, labels)
    gains = pair_gains(columns, offsets, hyper)
    alive = np.arange(len(sizes))
    while len(alive) > 1:
        a, b = np.unravel_index(int(gains.argmax()), gains.shape)
        if gains[a, b] <= 0 and len(alive) <= hyper.truncation:
            break
        sizes[a], labels[a] = sizes[a] + sizes[b], labels[a] + labels[b]
        own[a] = heights(sizes[[a]], labels[[a]])[0]
        alive = alive[alive != b]
        gains[b], gains[:, b] = -np.inf, -np.inf
        others = alive[alive != a]
        found = heights(sizes[a] + sizes[others], labels[a] + labels[others]) - own[a] - own[others]
        gains[np.maximum(a, others), np.minimum(a, others)] = found
    order = alive[np.argsort(-sizes[alive], kind="stable")]
    return Columns(sizes[order], np.ascontiguousarray(labels[order].T), np.ones(len(order)))


def pair_gains(columns: Columns, offsets: IntArray, hyper: Hyper) -> FloatArray:
    """(m, m) below the diagonal what joining two columns adds to the log joint; -inf elsewhere."""
    sizes, labels = columns.sizes, np.ascontiguousarray(columns.labels.T)
    own = _heights(offsets, hyper, sizes, labels)
    gains = np.full((len(sizes), len(sizes)), -np.inf)
    for a in range(1, len(sizes)):
        both = _heights(offsets, hyper, sizes[a] + sizes[:a], labels[a] + labels[:a])
        gains[a, :a] = both - own[a] - own[:a]
    return gains


def _heights(offsets: IntArray, hyper: Hyper, sizes: FloatArray, labels: FloatArray) -> FloatArray:
    """(m,) what each of m clusters of given sizes and (m, t) labels adds to the log joint."""
    whole, many = np.add.reduceat(labels, offsets[:-1], axis=1), hyper.beta * np.diff(offsets)
    inside = (gammaln(hyper.beta + labels) - gammaln(hyper.beta)).sum(axis=1)
    outside = (gammaln(many + whole) - gammaln(many)).sum(axis=1)
    even = hyper.alpha / hyper.truncation
    return np.asarray(gammaln(even + sizes) - gammaln(even) + inside - outside)
