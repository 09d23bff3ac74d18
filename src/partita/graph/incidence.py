"""The incidence H of rows and base clusters, hard or soft: one column a cluster, the table every graph is made of.

A hard ensemble is its own incidence: row i has a 1 in the columns `offsets[j] + labels[i, j]`, and nothing for a
missing label. A soft ensemble carries it as memberships.
"""

from collections.abc import Iterable
from itertools import pairwise

import numpy as np
from scipy import sparse

from partita.core.counting import label_columns, unit_weights
from partita.core.ensemble import Ensemble
from partita.core.soft import SoftEnsemble
from partita.core.types import MISSING, FloatArray
from partita.starts.spectral import overlaps

BLOCK = 1 << 14
"""Rows of a soft ensemble that are multiplied at a time."""


def cluster_shares(ensemble: Ensemble | SoftEnsemble) -> FloatArray:
    """(t,) the weight of each base cluster's clustering, as a multiple of the mean weight."""
    return np.asarray(unit_weights(ensemble)[label_columns(ensemble.offsets)])


def incidence(ensemble: Ensemble | SoftEnsemble, edges: FloatArray) -> sparse.csr_array:
    """(n, t) H with column c scaled by edges[c]."""
    if isinstance(ensemble, SoftEnsemble):
        return sparse.csr_array(ensemble.matrix * edges)
    known = ensemble.labels != MISSING
    columns = (ensemble.labels + ensemble.offsets[:-1])[known]
    starts = np.concatenate([[0], np.cumsum(known.sum(axis=1))])
    return sparse.csr_array((edges[columns], columns, starts), shape=(len(ensemble), len(edges)))


def gram(ensemble: Ensemble | SoftEnsemble) -> FloatArray:
    """(t, t) Hᵀ H over all objects: how much each two base clusters have in common."""
    if isinstance(ensemble, Ensemble):
        return overlaps(ensemble, ensemble.counts)
    total = np.zeros((ensemble.matrix.shape[1],) * 2)
    for start, stop in blocks(len(ensemble)):
        rows = ensemble.matrix[start:stop]
        total += rows.T @ (rows * ensemble.counts[start:stop, None])
    return total


def blocks(rows: int, size: int = BLOCK) -> Iterable[tuple[int, int]]:
    """Consecutive ranges of rows."""
    return pairwise([*range(0, rows, size), rows])
