"""Where column-distributed methods begin: a spectral consensus by subspace iteration, whose steps add over columns.

With B_s the incidence of objects and the base clusters of site s, weighted by their clusterings, C_s the clusters'
weights and D the objects', D^-1 sum_s B_s C_s^-1 B_s' is the random walk on the graph of objects and base clusters. Its
leading eigenvectors divide the objects (the transfer cut, without local weights: those would cross sites).
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.random import Generator
from scipy.linalg import eigh

from partita.core.blas import one_thread
from partita.core.counting import column_scores, label_columns
from partita.core.links import ROWS
from partita.core.soft import AnyEnsemble, SoftEnsemble
from partita.core.threads import map_chunks
from partita.core.types import BoolArray, FloatArray, IntArray, sealed
from partita.kernels.columns import add_shares
from partita.starts.lloyd import weighted_kmeans

STEPS, SETTLED = 30, 1e-3
"""Most steps of subspace iteration, and the change of the eigenvalues that ends them."""
TRIES: Final = 10
WIDEST: Final = 1000.0
"""How far out an object may lie; the start needs no more."""


@dataclass(frozen=True, slots=True, eq=False)
class Basis:
    """k directions across the constant one, orthogonal and of length 1 by the objects' weights, best first."""

    basis: FloatArray
    """(n, k)"""
    ritz: FloatArray
    """(k,) how much of each the last step left."""

    def is_last(self, before: list[float], turn: int) -> bool:
        """Whether one more step is enough: all but the spare direction have settled."""
        if turn >= STEPS:
            return True
        wanted = max(len(self.ritz) - 1, 1)
        return bool(before) and bool(np.abs(self.ritz - before)[:wanted].max() <= SETTLED)


def add_by_label(part: AnyEnsemble, shares: FloatArray) -> FloatArray:
    """(t, k) the shares of the objects with each label."""
    if isinstance(part, SoftEnsemble):
        return np.asarray(part.matrix.T @ shares)

    def chunk(start: int, stop: int) -> FloatArray:
        tables = np.zeros((int(part.offsets[-1]), shares.shape[1]))
        add_shares(part.labels, part.offsets, sealed(shares), tables, start, stop)
        return tables

    return np.asarray(sum(map_chunks(chunk, len(part), ROWS)))


def spread_basis(part: AnyEnsemble, weights: FloatArray, basis: FloatArray) -> FloatArray:
    """(n, k) for each object the means of the basis over its base clusters, times their clusterings' weights."""
    sizes = add_by_label(part, np.ones((len(part), 1)))
    means = add_by_label(part, basis) / np.maximum(sizes, 1e-300)
    tables = np.ascontiguousarray(means * weights[label_columns(part.offsets)][:, None])
    if isinstance(part, SoftEnsemble):
        return np.asarray(part.matrix @ tables)
    return column_scores(tables, part, np.zeros(basis.shape[1]))


def next_basis(spread: FloatArray, degree: FloatArray, before: FloatArray | None = None) -> Basis:
    """The directions after a step of the walk; `before` are those it began from."""
    weight = degree / degree.sum()
    known = np.maximum(degree, 1e-300)[:, None]
    walked = np.where(degree[:, None] > 1e-9, spread / known, 0.0)
    walked -= weight @ walked
    rotation, ritz = np.eye(spread.shape[1]), np.zeros(spread.shape[1])
    with one_thread():
        if before is not None:
            moved = (before * weight[:, None]).T @ walked
            values, vectors = eigh((moved + moved.T) / 2)
            rotation, ritz = vectors[:, ::-1], values[::-1]
        scaled = (walked @ rotation) * np.sqrt(weight)[:, None]
        found, triangle = np.linalg.qr(scaled)
    found *= np.where(np.diag(triangle) < 0, -1.0, 1.0)
    basis = found / np.sqrt(np.maximum(weight, 1e-300))[:, None]
    basis[degree <= 1e-9] = 0.0
    return Basis(np.clip(basis, -WIDEST, WIDEST), ritz)


def lead_labels(basis: FloatArray | None, keep: BoolArray, k: int, rng: Generator) -> IntArray:
    """(n,) the leader's clusters: k-means of the objects in the leading directions, or at random."""
    labels = np.zeros(len(keep), np.int64)
    known = np.flatnonzero(keep)
    if basis is None or k == 1:
        labels[known] = rng.integers(k, size=len(known))
        return labels
    points = np.column_stack([np.ones(len(known)), basis[known, : k - 1]])
    points /= np.sqrt((points**2).sum(axis=1, keepdims=True))
    labels[known] = weighted_kmeans(points.astype(np.float32), np.ones(len(known)), k, rng, TRIES)
    return labels
