"""Counts add over rows: how often each label occurs in each cluster of a labelling."""

import numpy as np

from partita.core.ensemble import Ensemble
from partita.core.threads import map_chunks
from partita.core.types import FloatArray, IntArray
from partita.kernels.scores import count_labels


def label_counts(ensemble: Ensemble, labels: IntArray, k: int) -> tuple[FloatArray, FloatArray]:
    """(t, k) objects with each label in each of k clusters, and the (k,) cluster sizes; MISSING rows are left out."""

    def part(start: int, stop: int) -> tuple[FloatArray, FloatArray]:
        tables, sizes = np.zeros((int(ensemble.offsets[-1]), k)), np.zeros(k)
        count_labels(ensemble.labels, ensemble.offsets, labels, ensemble.counts, tables, sizes, start, stop)
        return tables, sizes

    parts = map_chunks(part, len(ensemble))
    tables, sizes = parts[0]
    for more_tables, more_sizes in parts[1:]:
        tables += more_tables
        sizes += more_sizes
    return tables, sizes
