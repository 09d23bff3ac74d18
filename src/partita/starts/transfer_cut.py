"""Transfer cut by subspace iteration, in which every step is a sum over clusterings.

Sites that hold clusterings of the same objects initialize with it (`federated.at_columns`), and `init="transfer-cut"`
gives the undivided fit the same initialization.

B is the incidence matrix of objects and base clusters, weighted by clustering; C and D are the diagonal matrices of the
weights of the clusters and of the objects. D^-1 B C^-1 B' is a random walk on the bipartite graph of objects and base
clusters. Its leading eigenvectors divide the objects (Li, Wu and Chang 2012). The clusters have no local weights
(`starts.spectral`), because these depend on pairs of clusterings.

The iteration starts from one random vector per base cluster, and k-means sees the unique rows in the order of the sums
of these vectors. So neither the order of the objects nor the division of the clusterings among sites matters.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np
from numpy.random import Generator
from scipy.linalg import eigh

from partita.core.blas import one_thread
from partita.core.counting import column_scores, label_columns, unit_weights
from partita.core.dirichlet import known_weight
from partita.core.distinct import distinct_rows
from partita.core.links import ROWS
from partita.core.rng import named
from partita.core.soft import AnyEnsemble, SoftEnsemble
from partita.core.threads import map_chunks
from partita.core.types import FloatArray, IntArray, sealed
from partita.kernels.columns import add_shares
from partita.starts.lloyd import weighted_kmeans

MAX_STEPS, SETTLED = 30, 1e-3
"""Maximum number of steps, and the change of the eigenvalues below which the iteration ends."""
RESTARTS: Final = 10
"""Runs of k-means."""
MAX_COORDINATE: Final = 1000.0
"""Coordinates of objects are clipped to this absolute value."""
DEPENDENT: Final = 1e-6
"""Directions shorter than this, relative to the longest, depend on the others and are set to 0."""
SIZE_DECIMALS: Final = 6
"""Decimals to which expected sizes of soft clusters are compared."""


@dataclass(frozen=True, slots=True, eq=False)
class Basis:
    """k directions orthogonal to the constant one and to each other, of length 1 by the objects' weights."""

    basis: FloatArray
    """(n, k) in the order of the eigenvalues."""
    ritz: FloatArray
    """(k,) approximate eigenvalues, descending."""

    def is_last(self, before: list[float], turn: int) -> bool:
        """Return True if one more step is enough: the eigenvalues have settled, except the last, which is spare."""
        if turn >= MAX_STEPS:
            return True
        used = max(len(self.ritz) - 1, 1)
        return bool(before) and bool(np.abs(self.ritz - before)[:used].max() <= SETTLED)


def transfer_cut_start(ensemble: AnyEnsemble, k: int, rng: Generator) -> IntArray:
    """Return (n,) labels of the initialization that sites with parts of the clusterings use."""
    if k == 1:
        return np.zeros(len(ensemble), np.int32)
    weights = unit_weights(ensemble)
    degree, marks = known_weight(ensemble, weights), row_marks(ensemble, weights, k)
    spread = partial(spread_basis, ensemble, weights)
    embedded = subspace_iteration(spread, marks, degree, ensemble.counts)
    return cut_labels(embedded, marks, ensemble.counts, k, rng)


def subspace_iteration(
    spread: Callable[[FloatArray], FloatArray], marks: FloatArray, degree: FloatArray, counts: FloatArray
) -> FloatArray:
    """Return the embedding (n, k) of the objects; `spread` applies a step of the walk to a basis."""
    basis = next_basis(marks, degree, counts).basis
    ritz: list[float] = []
    last, turn = False, 0
    while True:
        found = next_basis(spread(basis), degree, counts, basis)
        if last:
            return embedding(found)
        turn += 1
        last, ritz, basis = found.is_last(ritz, turn), found.ritz.tolist(), found.basis


def row_marks(part: AnyEnsemble, weights: FloatArray, k: int) -> FloatArray:
    """Return (n, k) for each object the sum of the random vectors of its base clusters, times their weights.

    The vectors of a clustering come from its name, in the order of the sizes of its clusters; clusters of equal size
    are ordered by their labels as text. Sites with other clusterings add their own sums.
    """
    sizes = np.round(add_by_label(part, np.ones((len(part), 1)))[:, 0], SIZE_DECIMALS)
    tables = np.empty((len(sizes), k))
    for j, name in enumerate(part.names):
        own = np.arange(part.offsets[j], part.offsets[j + 1])
        texts = np.array([str(label) for label in part.classes[j]])
        order = own[np.lexsort((texts, -sizes[own]))]
        tables[order] = weights[j] * named(0, name).standard_normal((len(own), k))
    return column_scores(tables, part, np.zeros(k))


def add_by_label(part: AnyEnsemble, values: FloatArray) -> FloatArray:
    """Return (t, k) the sums of (n, k) values of the objects with each label, with multiplicities."""
    if isinstance(part, SoftEnsemble):
        return np.asarray(part.matrix.T @ (values * part.counts[:, None]))
    if part.multiplicity is not None:
        values = values * part.counts[:, None]

    def chunk(start: int, stop: int) -> FloatArray:
        tables = np.zeros((int(part.offsets[-1]), values.shape[1]))
        add_shares(part.labels, part.offsets, sealed(values), tables, start, stop)
        return tables

    return np.asarray(sum(map_chunks(chunk, len(part), ROWS)))


def spread_basis(part: AnyEnsemble, weights: FloatArray, basis: FloatArray) -> FloatArray:
    """Return (n, k) for each object the sum of the means of the basis over its base clusters, times their weights."""
    sizes = add_by_label(part, np.ones((len(part), 1)))
    means = add_by_label(part, basis) / np.maximum(sizes, 1e-300)
    tables = np.ascontiguousarray(means * weights[label_columns(part.offsets)][:, None])
    return column_scores(tables, part, np.zeros(basis.shape[1]))


def next_basis(spread: FloatArray, degree: FloatArray, counts: FloatArray, before: FloatArray | None = None) -> Basis:
    """Return the directions after a step of the walk.

    Parameters
    ----------
    spread : ndarray of shape (n, k)
        The sums of `spread_basis` or `row_marks` over all clusterings.
    degree : ndarray of shape (n,)
        Total weight of the clusterings in which each object has a label; 0 for objects without any.
    counts : ndarray of shape (n,)
        Multiplicities of the objects.
    before : ndarray of shape (n, k), optional
        The basis of which `spread` is the image; needed for eigenvalues.
    """
    weight = degree * counts / (degree @ counts)
    walked = np.where(degree[:, None] > 1e-9, spread / np.maximum(degree, 1e-300)[:, None], 0.0)
    walked -= weight @ walked
    rotation, ritz = np.eye(spread.shape[1]), np.zeros(spread.shape[1])
    with one_thread():
        if before is not None:
            moved = (before * weight[:, None]).T @ walked
            values, vectors = eigh((moved + moved.T) / 2)
            rotation, ritz = vectors[:, ::-1], values[::-1]
        scaled = (walked @ rotation) * np.sqrt(weight)[:, None]
        found, triangle = np.linalg.qr(scaled)
    lengths = np.diag(triangle)
    found *= np.where(np.abs(lengths) <= DEPENDENT * np.abs(lengths).max(initial=0.0), 0.0, np.sign(lengths))
    basis = np.zeros((len(spread), spread.shape[1]))
    basis[:, : found.shape[1]] = found / np.sqrt(np.maximum(weight, 1e-300))[:, None]
    basis[degree <= 1e-9] = 0.0
    return Basis(np.clip(basis, -MAX_COORDINATE, MAX_COORDINATE), ritz)


def embedding(found: Basis) -> FloatArray:
    """Return (n, k) the directions scaled by the square roots of their eigenvalues."""
    return np.asarray(found.basis * np.sqrt(np.maximum(found.ritz, 0.0)))


def cut_labels(embedded: FloatArray, marks: FloatArray, counts: FloatArray, k: int, rng: Generator) -> IntArray:
    """Return (n,) the k-means clusters of the objects in the leading directions."""
    points = np.column_stack([np.ones(len(embedded)), embedded[:, : k - 1]])
    points /= np.sqrt((points**2).sum(axis=1, keepdims=True))
    first, inverse = distinct_rows(marks)
    order = np.lexsort(marks[first].T[::-1])
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    rows = place[inverse]
    masses = np.bincount(rows, weights=counts, minlength=len(first)).astype(np.float64)
    labels = weighted_kmeans(np.ascontiguousarray(points[first[order]]), masses, k, rng, RESTARTS)
    return np.asarray(labels[rows])
