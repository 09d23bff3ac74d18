"""The contingency table: how many objects two labellings put together. Every measure is a function of it."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, Concatenate, ParamSpec

import numpy as np
from numpy.typing import NDArray

from partita.core.threads import map_threads
from partita.core.types import FloatArray, IntArray, frozen
from partita.kernels.tables import count_pairs, hash_pairs, weigh_pairs
from partita.metrics.labelling import Span, numbered, span_of

CHUNK = 1 << 20
"""Pairs a thread counts at a time: enough that handing out the work costs nothing beside it."""
DENSE_CELLS = 1 << 22
"""Tables with more cells than this are counted in a hash table."""
HASH_CHUNK = 1 << 20
_P = ParamSpec("_P")


@dataclass(frozen=True, slots=True, eq=False)
class Contingency:
    """Two partitions of the same objects, as the cells of their table that are not empty.

    Rows are the clusters of the first labelling, columns those of the second. A row or a column may be empty.
    """

    rows: IntArray
    """(m,) the row of each cell, ascending."""
    cols: IntArray
    """(m,) the column of each cell, ascending within a row."""
    counts: NDArray[Any]
    """(m,) how many objects the cell holds, above 0: int64, or float64 where objects have weights."""
    row_sums: NDArray[Any]
    col_sums: NDArray[Any]
    total: float
    """How many objects are known in both labellings."""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self.row_sums), len(self.col_sums)

    @property
    def transposed(self) -> "Contingency":
        """The table of the second labelling against the first."""
        order = np.lexsort((self.rows, self.cols))
        return Contingency(
            self.cols[order], self.rows[order], self.counts[order], self.col_sums, self.row_sums, self.total
        )

    def dense(self) -> NDArray[Any]:
        """The table with its empty cells."""
        table = np.zeros(self.shape, self.counts.dtype)
        table[self.rows, self.cols] = self.counts
        return table

    def compact(self) -> "Contingency":
        """The table without empty rows and columns."""
        some_rows, some_cols = self.row_sums > 0, self.col_sums > 0
        if some_rows.all() and some_cols.all():
            return self
        rows, cols = (np.cumsum(some_rows) - 1)[self.rows], (np.cumsum(some_cols) - 1)[self.cols]
        return Contingency(rows, cols, self.counts, self.row_sums[some_rows], self.col_sums[some_cols], self.total)

    def __repr__(self) -> str:
        rows, cols = self.shape
        return f"Contingency({rows} x {cols} clusters, {len(self.counts)} cells, {self.total:g} objects)"


def from_cells(table: NDArray[Any]) -> Contingency:
    """From a table with its empty cells."""
    rows, cols = np.nonzero(table)
    return _frozen(rows, cols, table[rows, cols], table.sum(axis=1), table.sum(axis=0))


def tabulate(a: Span, b: Span, weights: FloatArray | None) -> Contingency:
    """The table of two labellings; where a range turns out to be wrong, once more with the right ones."""
    cells, objects = a.width * b.width, len(a.values)
    if cells > min(DENSE_CELLS, max(1 << 16, 4 * objects)):
        return _known(*_hashed(*_hashable(a, b), weights))
    inside = []

    def fill(table: NDArray[Any], start: int, stop: int) -> None:
        ranges = a.low, b.low, a.width, b.width
        if weights is None:
            inside.append(count_pairs(a.values, b.values, *ranges, table, start, stop))
        else:
            inside.append(weigh_pairs(a.values, b.values, weights, *ranges, table, start, stop))

    table = add_up(fill, (cells,), objects, max(CHUNK, 4 * cells), whole=weights is None)
    if not all(inside):
        return tabulate(_exact(a), _exact(b), weights)
    places = np.flatnonzero(table)
    return _known(a, b, places, table[places])


def _exact(span: Span) -> Span:
    return span if span.sure else span_of(span.values)


def _hashable(a: Span, b: Span) -> tuple[Span, Span]:
    """The labellings with their true ranges, numbered where a pair would not fit 64 bits."""
    a, b = _exact(a), _exact(b)
    return (a, b) if a.width * b.width < 1 << 63 else (numbered(a), numbered(b))


def add_up(
    fill: Callable[[NDArray[Any], int, int], None], shape: tuple[int, ...], rows: int, chunk: int, *, whole: bool
) -> NDArray[Any]:
    """The table that `fill(table, start, stop)` fills over all rows, one table a chunk, added in row order."""

    def part(start: int) -> NDArray[Any]:
        table = np.zeros(shape, np.int32 if whole else np.float64)
        fill(table, start, min(start + chunk, rows))
        return table

    total = np.zeros(shape, np.int64 if whole else np.float64)
    for table in map_threads(part, range(0, rows, chunk)):
        total += table
    return total


def _hashed(a: Span, b: Span, weights: FloatArray | None) -> tuple[Span, Span, IntArray, NDArray[Any]]:
    """Places and counts of the cells that are not empty: a hash table a chunk, the chunks added in row order."""
    objects = len(a.values)

    def part(start: int) -> tuple[IntArray, FloatArray]:
        stop = min(start + HASH_CHUNK, objects)
        slots = 1 << (2 * (stop - start) - 1).bit_length()
        keys, sums = np.full(slots, -1, np.int64), np.zeros(slots)
        share = frozen(np.ones(stop - start)) if weights is None else weights[start:stop]
        hash_pairs(a.values[start:stop], b.values[start:stop], share, a.low, b.low, b.width, keys, sums)
        used = np.flatnonzero(sums > 0)
        return keys[used], sums[used]

    parts = map_threads(part, range(0, objects, HASH_CHUNK))
    keys, sums = (np.concatenate(found) for found in zip(*parts, strict=True))
    order = np.argsort(keys, kind="stable")
    keys, sums = keys[order], sums[order]
    begins = np.flatnonzero(np.diff(keys, prepend=-1))
    counts = np.add.reduceat(sums, begins) if len(begins) else sums
    return a, b, keys[begins], counts if weights is not None else counts.astype(np.int64)


def _known(a: Span, b: Span, places: IntArray, counts: NDArray[Any]) -> Contingency:
    """The table of cells at places of the two ranges, those of unobserved labels left out."""
    rows, cols = np.divmod(places, max(b.width, 1))
    known = (rows != a.missing) & (cols != b.missing)
    rows, row_count = _numbers(a, rows[known])
    cols, col_count = _numbers(b, cols[known])
    counts = counts[known]
    row_sums = np.bincount(rows, weights=counts, minlength=row_count).astype(counts.dtype)
    col_sums = np.bincount(cols, weights=counts, minlength=col_count).astype(counts.dtype)
    return _frozen(rows, cols, counts, row_sums, col_sums)


def _numbers(span: Span, places: IntArray) -> tuple[IntArray, int]:
    """The numbers of the clusters at these places, and how many clusters there are."""
    if span.codes:
        return places + span.low, max(span.low + span.width, 0)
    distinct, numbers = np.unique(places, return_inverse=True)
    return numbers.reshape(-1), len(distinct)


def _frozen(
    rows: IntArray, cols: IntArray, counts: NDArray[Any], row_sums: NDArray[Any], col_sums: NDArray[Any]
) -> Contingency:
    for array in (rows, cols, counts, row_sums, col_sums):
        frozen(array)
    return Contingency(rows, cols, counts, row_sums, col_sums, counts.sum().item())


def on_objects(
    measure: Callable[Concatenate[Contingency, _P], float],
) -> Callable[Concatenate[Contingency, _P], float]:
    """The measure, given tables without empty rows and columns; NaN where no object is known in both labellings."""

    @wraps(measure)
    def defined(table: Contingency, /, *args: _P.args, **kwargs: _P.kwargs) -> float:
        return measure(table.compact(), *args, **kwargs) if table.total > 0 else float("nan")

    return defined
