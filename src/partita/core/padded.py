"""Padded tables: the form in which `kernels.padded` adds up rows of scores."""

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partita.core.types import FloatArray, IntArray, frozen

ALIGNED: Final = 64
"""Bytes: a table row of eight numbers then never lies across two lines of the processor's memory."""


class Padded(NamedTuple):
    """(t, k) tables, padded."""

    tables: FloatArray
    """((t + r) * width,) a row of zeros before each column's first."""
    bias: FloatArray
    """(width,) minus infinity behind the k-th."""
    starts: NDArray[np.int64]
    """(r,) where in `tables` each column's label 0 is."""


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
    """(r,) where in a padded table each column's label 0 is."""
    first = np.asarray(offsets[:-1], np.int64)
    return (first + np.arange(1, len(first) + 1)) * width


def label_rows(offsets: IntArray) -> NDArray[np.int64]:
    """(t,) which row of a padded table is each label's."""
    sizes = np.diff(offsets)
    return np.arange(int(offsets[-1])) + np.repeat(np.arange(1, len(sizes) + 1), sizes)


def padded(bias: FloatArray, tables: FloatArray, offsets: IntArray) -> Padded:
    """Tables (t, k) and bias (k,), padded."""
    k, width = len(bias), widened(len(bias))
    wide = aligned((len(tables) + len(offsets) - 1) * width)
    wide.reshape(-1, width)[label_rows(offsets), :k] = tables
    filled = np.full(width, -np.inf)
    filled[:k] = bias
    return Padded(frozen(wide), frozen(filled), frozen(column_starts(offsets, width)))


def taken_back(wide: NDArray[Any], offsets: IntArray, k: int) -> NDArray[Any]:
    """(t, k) what stands in a padded table."""
    found: NDArray[Any] = wide.reshape(-1, widened(k))[label_rows(offsets), :k]
    return found
