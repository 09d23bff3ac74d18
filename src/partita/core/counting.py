"""The two sums behind most methods: scores add over columns, counts add over rows; for hard labels and memberships."""

from functools import partial
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from partita.core.ensemble import Ensemble
from partita.core.soft import SoftEnsemble
from partita.core.threads import map_chunks
from partita.core.types import FloatArray, IntArray, sealed
from partita.kernels.scores import (
    add_memberships,
    add_scores,
    assign_memberships,
    assign_rows,
    count_labels,
    count_memberships,
)


class Weighted(Protocol):
    """Clusterings with weights."""

    @property
    def weights(self) -> FloatArray:
        """(r,)."""


def unit_weights(ensemble: Weighted) -> FloatArray:
    """(r,) weights of the clusterings, 1 on average: only their ratio matters."""
    return np.asarray(ensemble.weights / ensemble.weights.mean())


def label_columns(offsets: IntArray) -> IntArray:
    """(t,) the clustering of each label, where clustering j's labels are offsets[j] … offsets[j + 1]."""
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


def sum_by_column(values: FloatArray, offsets: IntArray) -> FloatArray:
    """(t, k) for each label the sum of the (t, k) values over all labels of its clustering."""
    return np.asarray(np.add.reduceat(values, offsets[:-1], axis=0)[label_columns(offsets)])


def by_clustering(tables: FloatArray, offsets: IntArray) -> tuple[FloatArray, ...]:
    """Per clustering: (k, labels) its part of the (t, k) tables."""
    return tuple(np.split(np.ascontiguousarray(tables.T), offsets[1:-1], axis=1))


def label_counts(ensemble: Ensemble | SoftEnsemble, labels: IntArray, k: int) -> tuple[FloatArray, FloatArray]:
    """(t, k) objects with each label in each of k clusters, and the (k,) cluster sizes; MISSING rows are left out."""
    labels = sealed(labels)

    def part(start: int, stop: int) -> tuple[FloatArray, FloatArray]:
        tables, sizes = np.zeros((int(ensemble.offsets[-1]), k)), np.zeros(k)
        if isinstance(ensemble, Ensemble):
            count_labels(ensemble.labels, ensemble.offsets, labels, ensemble.counts, tables, sizes, start, stop)
        else:
            count_memberships(ensemble.matrix, labels, ensemble.counts, tables, sizes, start, stop)
        return tables, sizes

    parts = map_chunks(part, len(ensemble)) or [part(0, 0)]
    tables, sizes = parts[0]
    for more_tables, more_sizes in parts[1:]:
        tables += more_tables
        sizes += more_sizes
    return tables, sizes


def column_scores(tables: FloatArray, ensemble: Ensemble | SoftEnsemble, bias: FloatArray) -> FloatArray:
    """(n, k) the bias plus, for every row, the rows of `tables` (t, k) that its labels name."""
    out = np.tile(bias, (len(ensemble), 1))
    if isinstance(ensemble, Ensemble):
        work = partial(add_scores, ensemble.labels, ensemble.offsets, np.ascontiguousarray(tables), out)
    else:
        work = partial(add_memberships, ensemble.matrix, sealed(np.ascontiguousarray(tables)), out)
    map_chunks(work, len(ensemble))
    return out


def assigned(
    ensemble: Ensemble | SoftEnsemble, tables: FloatArray, bias: FloatArray
) -> tuple[NDArray[np.int32], FloatArray]:
    """(n,) the cluster of highest score of every row (the first of equals), and that score."""
    chosen, best = np.empty(len(ensemble), np.int32), np.empty(len(ensemble))
    if isinstance(ensemble, Ensemble):
        work = partial(assign_rows, ensemble.labels, ensemble.offsets, tables, bias, chosen, best)
    else:
        work = partial(assign_memberships, ensemble.matrix, tables, bias, chosen, best)
    map_chunks(work, len(ensemble))
    return chosen, best
