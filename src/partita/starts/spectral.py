"""Spectral consensus by the transfer cut: a normalised cut of the objects-clusters graph, solved on clusters alone.

Locally weighted (Huang, Wang and Lai 2018): a base cluster that the others tear apart counts for less.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackNoConvergence, eigsh

from partita.core.blas import one_thread
from partita.core.counting import column_scores, label_columns
from partita.core.ensemble import Ensemble
from partita.core.memory import check_memory
from partita.core.soft import AnyEnsemble, SoftEnsemble
from partita.core.threads import CHUNK, map_chunks
from partita.core.types import FloatArray, IntArray, sealed
from partita.kernels.overlap import add_overlaps
from partita.kernels.scores import lift_rows
from partita.starts.lloyd import weighted_groups

Solver: TypeAlias = Callable[[Any, int], tuple[FloatArray, FloatArray]]
"""A symmetric matrix and how many in; the largest eigenvalues, falling, and their vectors out."""

FEW_CLUSTERS = 150
LEAST_ROWS = 1 << 11
"""Rows worth a table of overlaps of their own."""
MOST_TABLES = 1 << 28
"""Bytes that the partial tables of overlaps may take together."""
MOST_DENSE = 2000
"""Base clusters up to which every two have a cell in the table of overlaps; beyond, those that share an object."""
MOST_FULL = 1 << 27
"""Cells of the largest table of overlaps that is filled as an array although it is then kept as a sparse matrix."""
BIT_CELLS = 1 << 18
"""Cells of a sparse table of overlaps of which entropies are computed at once."""
CELL = 40
"""Bytes that a cell of the sparse table takes while it is made."""
LANCZOS_STEPS, POWER_STEPS = 100, 100
"""Most restarts of the Lanczos iterations, and on a sparse table steps of the power iterations if they fail."""


def spectral_start(
    ensemble: Ensemble, k: int, rng: Generator, theta: float | None = 0.4, restarts: int = 10
) -> IntArray:
    """(n,) labels of the k-way normalised cut of the bipartite graph of rows and clusters.

    Edge weight: the cluster's `cluster_weights` with this theta times its clustering's weight (theta=None: that alone).
    """
    return spectral_cut(ensemble, k, rng, theta, restarts).labels


class Cut(NamedTuple):
    """A cut, and what places other rows by it: each is lifted by its labels and goes to the nearest centre."""

    labels: IntArray
    tables: FloatArray
    """(t, k) what a label adds to where its row lies, before that is brought to length 1."""
    centers: FloatArray
    """(k, k)."""


def spectral_cut(ensemble: Ensemble, k: int, rng: Generator, theta: float | None, restarts: int) -> Cut:
    """The cut of `spectral_start`."""
    edges = np.repeat(ensemble.weights, ensemble.sizes)
    if theta is not None:
        edges = edges * cluster_weights(ensemble, theta)
    tables = lifting(ensemble, edges, k)
    points = embed(ensemble, tables)
    found = weighted_groups(points, ensemble.counts, k, rng, restarts)
    return Cut(found.chosen, tables, found.centers)


def cluster_weights(ensemble: AnyEnsemble, theta: float, clustering_weights: FloatArray | None = None) -> FloatArray:
    """(t,) exp(-H(C) / theta) of each base cluster C, with H(C) the mean entropy of its members' labels.

    The entropy, in bits, is taken per clustering over the members of C whose label is known. The mean over the
    clusterings is weighted by `clustering_weights`; by default all clusterings have the same weight.
    """
    column = label_columns(ensemble.offsets)
    shares = _mean_weights(len(ensemble.sizes), clustering_weights)
    if len(column) > MOST_DENSE:
        bits = _sparse_bits(sparse_overlaps(ensemble, ensemble.counts), column, shares)
        return np.asarray(np.exp(-bits / theta))
    return weights_from(overlaps(ensemble, ensemble.counts), ensemble.offsets, theta, clustering_weights)


def weights_from(
    shared: FloatArray, offsets: IntArray, theta: float, clustering_weights: FloatArray | None = None
) -> FloatArray:
    """(t,) the weights of `cluster_weights` from the (t, t) numbers of objects that two base clusters share."""
    column = label_columns(offsets)
    known = np.add.reduceat(shared, offsets[:-1], axis=1)
    share = shared / np.maximum(known, 1e-300)[:, column]
    entropies = -np.where(share > 0, share * np.log2(np.where(share > 0, share, 1.0)), 0.0)
    bits = (entropies * _mean_weights(len(offsets) - 1, clustering_weights)[column]).sum(axis=1)
    return np.asarray(np.exp(-bits / theta))


def _mean_weights(clusterings: int, weights: FloatArray | None) -> FloatArray:
    """(r,) weights of a mean over clusterings; they sum to 1."""
    return np.full(clusterings, 1 / clusterings) if weights is None else np.asarray(weights / weights.sum())


def overlaps(ensemble: AnyEnsemble, amounts: FloatArray) -> FloatArray:
    """(t, t) the sum of the amounts of the rows that are in both of two base clusters; expected if they are soft."""
    size = int(ensemble.offsets[-1])

    def count_rows(start: int, stop: int) -> FloatArray:
        table = np.zeros((size, size))
        if isinstance(ensemble, SoftEnsemble):
            rows = ensemble.matrix[start:stop]
            np.matmul(rows.T, rows * amounts[start:stop, None], out=table)
        else:
            add_overlaps(ensemble.labels, ensemble.offsets, sealed(amounts), table, start, stop)
        return table

    parts = max(1, MOST_TABLES // (8 * size * size))
    rows = max(min(CHUNK, LEAST_ROWS), -(-len(ensemble) // parts))
    with one_thread():
        tables = map_chunks(count_rows, len(ensemble), rows) or [count_rows(0, 0)]
    total = tables[0]
    for table in tables[1:]:
        total += table
    return np.asarray(np.triu(total) + np.triu(total, 1).T)


def sparse_overlaps(ensemble: AnyEnsemble, amounts: FloatArray) -> csr_array:
    """(t, t) the overlaps as a sparse matrix, for ensembles in which few pairs of base clusters share objects."""
    size, columns = int(ensemble.offsets[-1]), len(ensemble.sizes)
    cells = min(size * size, len(ensemble) * columns * columns)
    way = 'start elsewhere (init="kmeans++" or "base"), or take voting or mcla'
    check_memory(CELL * cells, f"the graph of {size} base clusters", way)
    pairs = len(ensemble) * columns * columns
    if isinstance(ensemble, Ensemble) and pairs >= 4 * size * size and size * size <= MOST_FULL:
        return _full_overlaps(ensemble, amounts)
    total = csr_array((size, size))
    for start in range(0, len(ensemble), CHUNK):
        part = _incidence(ensemble, start, start + CHUNK)
        total = total + part.T @ (part * amounts[start : start + CHUNK, None])
    return csr_array(total)


def _full_overlaps(ensemble: Ensemble, amounts: FloatArray) -> csr_array:
    """Return the overlaps of `sparse_overlaps`, bit for bit, counted in an array: faster if few cells are empty."""
    size = int(ensemble.offsets[-1])
    total = np.zeros((size, size))
    for start in range(0, len(ensemble), CHUNK):
        table = total if start == 0 else np.zeros((size, size))
        stop = min(start + CHUNK, len(ensemble))
        add_overlaps(ensemble.labels, ensemble.offsets, sealed(amounts), table, start, stop)
        if start:
            total += table
    # the part below the diagonal from the part above it, some rows at a time: no second array of this size is needed
    for a in range(0, size, 256):
        rows = slice(a, a + 256)
        total[rows, rows] += np.triu(total[rows, rows], 1).T
        total[a + 256 :, rows] = total[rows, a + 256 :].T
    columns = [np.flatnonzero(row).astype(np.int32) for row in total]
    places = np.concatenate([[0], np.cumsum([len(found) for found in columns])]).astype(np.int32)
    return csr_array((total[total != 0], np.concatenate(columns), places), (size, size))


def _scaled(matrix: csr_array, factors: FloatArray) -> csr_array:
    """Return diag(factors) @ matrix @ diag(factors)."""
    rows = np.repeat(factors, np.diff(matrix.indptr))
    rows *= matrix.data
    rows *= factors[matrix.indices]
    return csr_array((rows, matrix.indices, matrix.indptr), matrix.shape)


def _incidence(ensemble: AnyEnsemble, start: int, stop: int) -> csr_array:
    """(rows, t) memberships of the rows start to stop as a sparse matrix."""
    if isinstance(ensemble, SoftEnsemble):
        return csr_array(ensemble.matrix[start:stop])
    labels = ensemble.labels[start:stop]
    known = labels >= 0
    ends = (labels.astype(np.int64) + ensemble.offsets[:-1])[known]
    places = np.concatenate([[0], np.cumsum(np.count_nonzero(known, axis=1))])
    return csr_array((np.ones(len(ends)), ends, places), (len(labels), int(ensemble.offsets[-1])))


def _sparse_bits(shared: csr_array, column: IntArray, weights: FloatArray) -> FloatArray:
    """(t,) the mean entropy of each base cluster, weighted over the clusterings, from the sparse table of overlaps."""
    size, wide = shared.shape[0], int(column[-1]) + 1

    def bits(start: int, stop: int) -> FloatArray:
        begins = shared.indptr[start : stop + 1]
        rows = np.repeat(np.arange(stop - start), np.diff(begins))
        cells = slice(begins[0], begins[-1])
        data, columns = shared.data[cells], column[shared.indices[cells]]
        group = rows * wide + columns
        known = np.bincount(group, weights=data, minlength=(stop - start) * wide)
        share = data / known[group]
        entropies = -share * np.log2(share) * weights[columns]
        return np.asarray(np.bincount(rows, weights=entropies, minlength=stop - start), np.float64)

    # some rows at a time, so that the arrays of a part stay in the cache
    return np.concatenate(map_chunks(bits, size, max(1, BIT_CELLS * size // max(shared.nnz, 1))))


def lifting(ensemble: AnyEnsemble, edges: FloatArray, k: int) -> FloatArray:
    """(t, k) the leading eigenvectors of the graph of base clusters, scaled so that those of a row's labels add up to
    where the row lies.

    With B the weighted incidence of rows and clusters, the eigenvectors of the t x t graph Bᵀ D⁻¹ B among clusters are
    carried over to the rows by D⁻¹ B (Li, Wu and Chang 2012).
    """
    degree = column_scores(edges[:, None], ensemble, np.zeros(1))[:, 0]
    if len(edges) > MOST_DENSE:
        scale, vectors = _sparse_vectors(ensemble, ensemble.counts / degree, edges, k)
    else:
        scale, vectors = vectors_from(overlaps(ensemble, ensemble.counts / degree), edges, k)
    return np.ascontiguousarray(edges[:, None] * scale[:, None] * vectors)


def embed(ensemble: AnyEnsemble, tables: FloatArray) -> NDArray[np.float32]:
    """(n, k) rows in the space of the leading eigenvectors, each of length 1, in single precision."""
    if isinstance(ensemble, SoftEnsemble):
        sums = column_scores(tables, ensemble, np.zeros(tables.shape[1]))
        sums /= np.maximum(np.sqrt((sums**2).sum(axis=1, keepdims=True)), 1e-150)
        return sums.astype(np.float32)
    points = np.empty((len(ensemble), tables.shape[1]), np.float32)
    map_chunks(partial(lift_rows, ensemble.labels, ensemble.offsets, tables, points), len(ensemble))
    return points


def vectors_from(shared: FloatArray, edges: FloatArray, k: int) -> tuple[FloatArray, FloatArray]:
    """(t,) the scale of each base cluster, and (t, k) the leading eigenvectors, from the table of overlaps / degree."""
    graph = shared * np.outer(edges, edges)
    scale = 1 / np.sqrt(np.maximum(graph.sum(axis=1), 1e-300))
    with one_thread():
        return scale, leading(graph * np.outer(scale, scale), min(k, len(graph)))


def _sparse_vectors(
    ensemble: AnyEnsemble, amounts: FloatArray, edges: FloatArray, k: int
) -> tuple[FloatArray, FloatArray]:
    """(t,) the scale of each base cluster, and (t, k) the leading eigenvectors of the scaled graph.

    Those of the base clusters that hold objects; the others' parts are 0. Where the Lanczos iterations do not end, a
    fixed number of power iterations comes near enough.
    """
    graph = _scaled(sparse_overlaps(ensemble, amounts), edges)
    degrees = np.asarray(graph.sum(axis=1))
    there = np.flatnonzero(degrees > 0)
    scale = 1 / np.sqrt(np.maximum(degrees, 1e-300))
    part = graph if len(there) == len(edges) else csr_array(graph[there][:, there])
    part = _scaled(part, scale[there])
    found = np.zeros((len(edges), min(k, len(there) - 1)))
    with one_thread():
        found[there] = of_parts(part, found.shape[1], _nearly_largest)
    return scale, found


def _nearly_largest(matrix: csr_array, count: int) -> tuple[FloatArray, FloatArray]:
    """The largest eigenvalues, falling, and their vectors, to what a large sparse matrix allows in time."""
    size = matrix.shape[0]
    if size <= MOST_DENSE:
        return _largest(matrix, count)
    try:
        return _falling(*eigsh(matrix, count, which="LA", v0=np.ones(size), maxiter=LANCZOS_STEPS, tol=1e-6))
    except ArpackNoConvergence:
        vectors = np.random.default_rng(0).standard_normal((size, count))
        for _ in range(POWER_STEPS):
            vectors, _ = np.linalg.qr(matrix @ vectors)
        return _falling(np.einsum("ij,ij->j", vectors, matrix @ vectors), vectors)


def leading(matrix: FloatArray, count: int) -> FloatArray:
    """(t, count) eigenvectors of the largest eigenvalues, by Lanczos iterations where few of many are wanted."""
    if _few_of_many(len(matrix), count):
        return of_parts(csr_array(matrix), count, _largest)
    return _largest(matrix, count)[1]


def _few_of_many(size: int, count: int) -> bool:
    return size > FEW_CLUSTERS and 5 * count < size


def of_parts(matrix: csr_array, count: int, solve: Solver) -> FloatArray:
    """(t, count) leading eigenvectors of a graph that may fall apart.

    Each part of a graph in parts has the same largest eigenvalue, and Lanczos iterations, which see one vector of an
    eigenvalue, miss some of those that repeat; so every part is solved on its own.
    """
    parts, group = connected_components(matrix, directed=False)
    if parts == 1:
        return solve(matrix, count)[1]
    order = np.argsort(group, kind="stable")
    members = np.split(order, np.cumsum(np.bincount(group))[:-1])
    solved = [solve(matrix[places][:, places], min(count, len(places))) for places in members]
    best = np.argsort(-np.concatenate([values for values, _ in solved]), kind="stable")[:count]
    owner = np.repeat(np.arange(parts), [len(values) for values, _ in solved])
    column = np.concatenate([np.arange(len(values)) for values, _ in solved])
    found = np.zeros((matrix.shape[0], count))
    for place, which in enumerate(best):
        found[members[owner[which]], place] = solved[owner[which]][1][:, column[which]]
    return found


def _largest(matrix: Any, count: int) -> tuple[FloatArray, FloatArray]:
    """(count,) the largest eigenvalues, falling, and (t, count) their vectors.

    Where those near the largest lie close together, Lanczos iterations hardly end, and all eigenvalues cost less.
    """
    dense = matrix.toarray() if isinstance(matrix, csr_array) else matrix
    size = len(dense)
    if _few_of_many(size, count):
        try:
            return _falling(*eigsh(dense, count, which="LA", v0=np.ones(size), maxiter=LANCZOS_STEPS))
        except ArpackNoConvergence:
            pass
    return _falling(*eigh(dense, subset_by_index=(size - count, size - 1), driver="evr"))


def _falling(values: FloatArray, vectors: FloatArray) -> tuple[FloatArray, FloatArray]:
    order = np.argsort(-values, kind="stable")
    return values[order], np.asarray(vectors[:, order])
