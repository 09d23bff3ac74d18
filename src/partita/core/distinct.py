"""Distinct rows with multiplicities and the way back."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partita.core.threads import map_chunks
from partita.core.types import IntArray, frozen
from partita.kernels.rows import hash_rows, number_rows


class Distinct(NamedTuple):
    """`matrix[first]` are the distinct rows in order of appearance; `matrix[first][inverse]` is the matrix again."""

    first: IntArray
    inverse: IntArray


def distinct_rows(matrix: NDArray[Any]) -> Distinct:
    """The distinct rows of a contiguous matrix, exactly, by one hash table over machine words.

    >>> distinct_rows(np.array([[1, 2], [3, 4], [1, 2]])).inverse.tolist()
    [0, 1, 0]
    """
    words = _as_words(matrix)
    rows = words.shape[0]
    hashes = np.empty(rows, np.uint64)
    map_chunks(lambda start, stop: hash_rows(words, hashes, start, stop), rows)
    index_type: type[np.signedinteger[Any]] = np.int32 if rows < 2**31 else np.int64
    table = np.full(1 << int(rows * 3 // 2).bit_length(), -1, index_type)
    first, inverse = np.empty(rows, index_type), np.empty(rows, index_type)
    found = number_rows(words, hashes, table, first, inverse)
    return Distinct(frozen(first[:found].copy()), frozen(inverse))


def _as_words(matrix: NDArray[Any]) -> NDArray[Any]:
    """The bytes of each row as the widest unsigned words that divide them."""
    matrix = np.ascontiguousarray(matrix)
    width = matrix.shape[1] * matrix.itemsize
    size = next(size for size in (8, 4, 2, 1) if width % size == 0)
    words: NDArray[Any] = matrix.view(f"u{size}")
    return words
