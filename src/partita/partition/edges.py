"""An undirected graph with weights: checked once, compressed rows, its cut."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy import sparse

from partita.core.errors import ParameterError
from partita.core.types import FloatArray, IntArray, frozen
from partita.partition.blocks import Found, Limits, check_sum, checked_weights, loads_of
from partita.partition.improve import LinkMover, blocks_of, improve
from partita.partition.moves import Links, link_cut


@dataclass(frozen=True, eq=False)
class Graph:
    """An undirected graph in compressed rows; build it with `from_sparse` or `from_bipartite`."""

    starts: IntArray
    """(n + 1,) int64: the neighbours of vertex v are `ends[starts[v]:starts[v + 1]]`."""
    ends: IntArray
    """(2 edges,) int32; every edge stands in both directions, none twice, no loops."""
    weights: FloatArray
    """(2 edges,) positive."""
    vertex_weights: FloatArray
    """(n,) positive."""
    left: int | None = None
    """For a bipartite graph: the vertices before this one are one side, the rest the other."""

    @classmethod
    def from_sparse(cls, matrix: Any, vertex_weights: Any = None) -> "Graph":
        """From a symmetric SciPy matrix of weights >= 0; duplicates are added up, loops and zeros dropped."""
        table = _checked_matrix(matrix)
        if table.shape[0] != table.shape[1]:
            raise ParameterError(f"a matrix of shape {table.shape} is no graph; give one row and column a vertex")
        table = table - sparse.diags_array(table.diagonal(), format="csr")
        table.eliminate_zeros()
        table.sort_indices()
        _check_symmetric(table)
        return cls._from_rows(table, checked_weights(vertex_weights, table.shape[0], "vertex weights", zero=False))

    @classmethod
    def from_bipartite(cls, matrix: Any, row_weights: Any = None, column_weights: Any = None) -> "Graph":
        """From a SciPy matrix of weights >= 0 whose rows are one side (vertices 0..rows-1), columns the other."""
        table = _checked_matrix(matrix)
        rows, columns = table.shape
        weights = (
            checked_weights(row_weights, rows, "row weights", zero=False),
            checked_weights(column_weights, columns, "column weights", zero=False),
        )
        back = table.T.tocsr()
        both = sparse.csr_array(
            (
                np.concatenate([table.data, back.data]),
                np.concatenate([table.indices + rows, back.indices]),
                np.concatenate([table.indptr, back.indptr[1:] + table.indptr[-1]]),
            ),
            shape=(rows + columns, rows + columns),
        )
        return cls._from_rows(both, frozen(np.concatenate(weights)), rows)

    @classmethod
    def _from_rows(cls, table: Any, vertex_weights: FloatArray, left: int | None = None) -> "Graph":
        if len(vertex_weights) == 0:
            raise ParameterError("a graph without vertices cannot be divided; give at least one vertex")
        check_sum(table.data, "edge weights")
        check_sum(vertex_weights, "vertex weights")
        starts, ends = table.indptr.astype(np.int64), table.indices.astype(np.int32)
        return cls(frozen(starts), frozen(ends), frozen(table.data.astype(np.float64)), vertex_weights, left)

    def __len__(self) -> int:
        return len(self.vertex_weights)

    def only(self, vertices: IntArray) -> "Graph":
        """The graph of these vertices, given in rising order, and the edges between them."""
        if len(vertices) == len(self):
            return self
        table = sparse.csr_array((self.weights, self.ends, self.starts), shape=(len(self), len(self)))
        left = None if self.left is None else int(np.count_nonzero(vertices < self.left))
        return Graph._from_rows(table[vertices][:, vertices], frozen(self.vertex_weights[vertices]), left)

    @property
    def links(self) -> Links:
        """The edges, for compiled loops."""
        return Links(self.starts, self.ends, self.weights)

    def cut(self, labels: IntArray) -> float:
        """The weight of the edges between different blocks."""
        return link_cut(self.links, labels) / 2.0

    def improved(self, labels: IntArray, limits: Limits, name: str, rng: Generator) -> Found:
        """The labels made feasible and swept, with their worth."""
        blocks = blocks_of(labels, self.vertex_weights, limits.k)
        improve(LinkMover(self.links, blocks, float(self.weights.sum())), limits, rng)
        return self.found(blocks.labels, limits, name)

    def found(self, labels: IntArray, limits: Limits, name: str) -> Found:
        """The labels with their worth."""
        loads = loads_of(labels, self.vertex_weights, limits.k)
        return Found(labels, self.cut(labels), loads, limits.excess(labels, loads), name)


def _checked_matrix(matrix: Any) -> Any:
    """A matrix in compressed rows with summed duplicates, weights finite and >= 0, none of them stored zeros."""
    try:
        table = sparse.csr_array(matrix, dtype=np.float64, copy=True)
    except (TypeError, ValueError):
        raise ParameterError(f"a {type(matrix).__name__} is no matrix of weights; give a SciPy sparse matrix") from None
    if table.ndim != 2:
        raise ParameterError(f"weights of shape {table.shape} are no matrix; give two dimensions")
    bad = ~(np.isfinite(table.data) & (table.data >= 0))
    if bad.any():
        place = int(np.argmax(bad))
        row = int(np.searchsorted(table.indptr, place, side="right")) - 1
        at = f"row {row}, column {table.indices[place]}"
        raise ParameterError(f"{at}: weight {table.data[place]} is not a finite number >= 0; drop or change it")
    with np.errstate(over="ignore"):
        table.sum_duplicates()
    check_sum(table.data, "edge weights")
    table.eliminate_zeros()
    return table


def _check_symmetric(table: Any) -> None:
    other = table.T.tocsr()
    same = np.array_equal(table.indptr, other.indptr) and np.array_equal(table.indices, other.indices)
    if not (same and np.allclose(table.data, other.data, rtol=1e-9, atol=0.0)):
        raise ParameterError("the matrix is not symmetric; give both directions of every edge the same weight")
