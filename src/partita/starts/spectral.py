"""Spectral consensus by the transfer cut: a normalised cut of the objects-clusters graph, solved on clusters alone.

Locally weighted (Huang, Wang and Lai 2018): a base cluster that the others tear apart counts for less.
"""

from functools import partial

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.sparse.linalg import ArpackNoConvergence, eigsh

from partita.core.blas import one_thread
from partita.core.counting import label_columns
from partita.core.ensemble import Ensemble
from partita.core.threads import CHUNK, map_chunks
from partita.core.types import FloatArray, IntArray, sealed
from partita.kernels.overlap import add_overlaps
from partita.kernels.scores import add_scores, lift_rows
from partita.starts.lloyd import weighted_kmeans

FEW_CLUSTERS = 150
LEAST_ROWS = 1 << 11
"""Rows worth a table of overlaps of their own."""
MOST_TABLES = 1 << 28
"""Bytes that the partial tables of overlaps may take together."""


def spectral_start(
    ensemble: Ensemble, k: int, rng: Generator, theta: float | None = 0.4, restarts: int = 10
) -> IntArray:
    """(n,) labels of the k-way normalised cut of the bipartite graph of rows and clusters.

    Edge weight: the cluster's `cluster_weights` with this theta times its clustering's weight (theta=None: that alone).
    """
    edges = np.repeat(ensemble.weights, ensemble.sizes)
    if theta is not None:
        edges = edges * cluster_weights(ensemble, theta)
    points = embed(ensemble, edges, k)
    return weighted_kmeans(points, ensemble.counts, k, rng, restarts)


def cluster_weights(ensemble: Ensemble, theta: float) -> FloatArray:
    """(t,) exp(-H(C) / (theta r)) of each base cluster C.

    H(C) is the entropy, in bits, of the labels of C's members in every clustering, summed over clusterings; where
    labels are missing, over the members whose label is known.
    """
    shared = overlaps(ensemble, ensemble.counts)
    column = label_columns(ensemble.offsets)
    known = np.add.reduceat(shared, ensemble.offsets[:-1], axis=1)
    share = shared / np.maximum(known, 1e-300)[:, column]
    bits = -np.where(share > 0, share * np.log2(np.where(share > 0, share, 1.0)), 0.0).sum(axis=1)
    return np.asarray(np.exp(-bits / (theta * len(ensemble.sizes))))


def overlaps(ensemble: Ensemble, amounts: FloatArray) -> FloatArray:
    """(t, t) the amounts of the rows that lie in both of two base clusters."""
    size = int(ensemble.offsets[-1])

    def part(start: int, stop: int) -> FloatArray:
        table = np.zeros((size, size))
        add_overlaps(ensemble.labels, ensemble.offsets, sealed(amounts), table, start, stop)
        return table

    parts = max(1, MOST_TABLES // (8 * size * size))
    tables = map_chunks(part, len(ensemble), max(min(CHUNK, LEAST_ROWS), -(-len(ensemble) // parts)))
    upper = tables[0]
    for table in tables[1:]:
        upper += table
    return np.asarray(upper + np.triu(upper, 1).T)


def embed(ensemble: Ensemble, edges: FloatArray, k: int) -> NDArray[np.float32]:
    """(n, k) rows in the space of the k leading eigenvectors, each of length 1, in single precision.

    With B the weighted incidence of rows and clusters, the eigenvectors of the t x t graph Bᵀ D⁻¹ B among clusters are
    carried over to the rows by D⁻¹ B (Li, Wu and Chang 2012).
    """
    degree = lifted(ensemble, edges[:, None])[:, 0]
    graph = overlaps(ensemble, ensemble.counts / degree) * np.outer(edges, edges)
    scale = 1 / np.sqrt(np.maximum(graph.sum(axis=1), 1e-300))
    with one_thread():
        vectors = leading(graph * np.outer(scale, scale), min(k, len(graph)))
    points = np.empty((len(ensemble), vectors.shape[1]), np.float32)
    tables = np.ascontiguousarray(edges[:, None] * scale[:, None] * vectors)
    map_chunks(partial(lift_rows, ensemble.labels, ensemble.offsets, tables, points), len(ensemble))
    return points


def leading(matrix: FloatArray, count: int) -> FloatArray:
    """(t, count) eigenvectors of the largest eigenvalues, by Lanczos iterations where few of many are wanted."""
    size = len(matrix)
    if size > FEW_CLUSTERS and 5 * count < size:
        try:
            values, vectors = eigsh(matrix, count, which="LA", v0=np.ones(size), maxiter=50 * size)
            return np.asarray(vectors[:, np.argsort(-values, kind="stable")])
        except ArpackNoConvergence:
            pass
    _, vectors = eigh(matrix, subset_by_index=(size - count, size - 1), driver="evr")
    return np.asarray(vectors[:, ::-1])


def lifted(ensemble: Ensemble, tables: FloatArray) -> FloatArray:
    """(n, columns) for each row the sum of the table rows of its labels."""
    out = np.zeros((len(ensemble), tables.shape[1]))
    work = partial(add_scores, ensemble.labels, ensemble.offsets, np.ascontiguousarray(tables), out)
    map_chunks(work, len(ensemble))
    return out
