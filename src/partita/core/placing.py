"""The fast way to place many rows by a model whose scores add up: winners and, in the same pass, what they are worth.

`ColumnModel.assign` is the general way, which makes the (n, k) scores first; this one never does.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partita.core.errors import TableError
from partita.core.threads import map_chunks
from partita.core.types import FloatArray, IntArray, frozen, sealed, smallest_type
from partita.kernels.placing import place_rows

ALIGNED = 64
"""Bytes: a table row of eight numbers then never lies across two lines of the processor's memory."""


class Layout(NamedTuple):
    """(t, k) tables as `kernels.vectors` wants them."""

    tables: FloatArray
    """((t + r) * width,) a row of zeros before each column's first."""
    bias: FloatArray
    """(width,) minus infinity behind the k-th."""
    starts: NDArray[np.int64]
    """(r,) where in `tables` each column's label 0 is."""


class Placement(NamedTuple):
    """Where rows belong, and what was asked for beside."""

    labels: IntArray
    """(n,) in the smallest type, MISSING where nothing is known."""
    confidence: FloatArray | None = None
    """(n,) the winner's share, NaN where nothing is known."""
    log_likelihood: float | None = None
    """The sum of the logarithms of the rows' probabilities; rows that are `excluded` are left out."""
    excluded: int = 0
    """Rows to which the model gives probability 0."""
    counts: NDArray[np.int64] | None = None
    """(t, k) how often each label occurs in each cluster."""
    sizes: NDArray[np.int64] | None = None
    """(k,) rows of each cluster."""


class Part(NamedTuple):
    """What a chunk of rows adds."""

    likelihood: float
    excluded: int
    tally: NDArray[np.int32]
    sizes: NDArray[np.int32]


def widened(k: int) -> int:
    """The width of a table of k clusters: 4, or a multiple of 8.

    >>> [widened(k) for k in (1, 4, 5, 8, 9, 17)]
    [4, 4, 8, 8, 16, 24]
    """
    return 4 if k <= 4 else -(-k // 8) * 8


def aligned(size: int) -> FloatArray:
    """So many zeros, the first at the begin of a line of the processor's memory."""
    zeros = np.zeros(size + ALIGNED // 8)
    shift = -zeros.ctypes.data % ALIGNED // 8
    return zeros[shift : shift + size]


def column_starts(offsets: IntArray, width: int) -> NDArray[np.int64]:
    """(r,) where in a laid-out table each column's label 0 is."""
    first = np.asarray(offsets[:-1], np.int64)
    return (first + np.arange(1, len(first) + 1)) * width


def label_rows(offsets: IntArray) -> NDArray[np.int64]:
    """(t,) which row of a laid-out table is each label's."""
    sizes = np.diff(offsets)
    return np.arange(int(offsets[-1])) + np.repeat(np.arange(1, len(sizes) + 1), sizes)


def lay_out(bias: FloatArray, tables: FloatArray, offsets: IntArray) -> Layout:
    """Tables (t, k) and bias (k,) in the order and width of the vector code."""
    k, width = len(bias), widened(len(bias))
    wide = aligned((len(tables) + len(offsets) - 1) * width)
    wide.reshape(-1, width)[label_rows(offsets), :k] = tables
    filled = np.full(width, -np.inf)
    filled[:k] = bias
    return Layout(frozen(wide), frozen(filled), frozen(column_starts(offsets, width)))


def taken_back(laid: NDArray[Any], offsets: IntArray, k: int) -> NDArray[Any]:
    """(t, k) what stands in a laid-out table."""
    found: NDArray[Any] = laid.reshape(-1, widened(k))[label_rows(offsets), :k]
    return found


@dataclass(frozen=True, eq=False)
class Placer:
    """A model whose scores are `bias + the table rows of a row's labels`, ready to place rows.

    >>> placer = Placer(np.zeros(2), np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([0, 2]))
    >>> placer.place(np.array([[1], [0], [-1]])).labels.tolist()
    [1, 0, -1]
    """

    bias: FloatArray
    """(k,)"""
    tables: FloatArray
    """(t, k) one row for each label of all columns."""
    offsets: IntArray
    """(r + 1,) where each column's labels begin."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "_layout", lay_out(self.bias, self.tables, self.offsets))

    def place(self, labels: NDArray[Any], chances: bool = False, counts: bool = False) -> Placement:
        """Place rows of codes (n, r) of any integer type, -1 where a label is missing.

        With `chances` the scores are logarithms of joint probabilities. The sums are taken chunk by chunk and do not
        depend on the number of threads.
        """
        layout: Layout = vars(self)["_layout"]
        k, columns = len(self.bias), len(self.offsets) - 1
        if labels.ndim != 2 or labels.shape[1] != columns:
            raise TableError(f"labels have shape {labels.shape}; the model places rows of {columns} labels")
        flat = sealed(np.ascontiguousarray(labels).reshape(-1))
        chosen, confidence = np.empty(len(labels), smallest_type(k)), np.empty(len(labels) if chances else 0)

        def part(start: int, stop: int) -> Part:
            tally = np.zeros(len(layout.tables) if counts else 0, np.int32)
            sizes = np.zeros(len(layout.bias) if counts else 0, np.int32)
            found = place_rows(
                flat, layout.starts, layout.tables, layout.bias, k, chosen, confidence, tally, sizes, start, stop
            )
            return Part(*found, tally, sizes)

        parts = map_chunks(part, len(labels)) or [part(0, 0)]
        placed = Placement(chosen)
        if chances:
            likelihood, excluded = sum(each.likelihood for each in parts), sum(each.excluded for each in parts)
            placed = placed._replace(confidence=confidence, log_likelihood=likelihood, excluded=excluded)
        if counts:
            tally = np.asarray(np.sum([each.tally for each in parts], axis=0, dtype=np.int64))
            sizes = np.asarray(np.sum([each.sizes for each in parts], axis=0, dtype=np.int64))
            placed = placed._replace(counts=taken_back(tally, self.offsets, k), sizes=sizes[:k])
        return placed
