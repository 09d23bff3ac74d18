"""The fast way to place many rows by a model whose scores add up: winners and, in the same pass, what they are worth.

`ColumnModel.assign` is the general way, which makes the (n, k) scores first; this one never does.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partita.core.errors import TableError
from partita.core.padded import Padded, padded, taken_back
from partita.core.threads import map_chunks
from partita.core.types import FloatArray, IntArray, sealed, smallest_type
from partita.kernels.placing import place_rows


class Placement(NamedTuple):
    """Where rows belong, and what was asked for beside."""

    labels: IntArray
    """(n,) in the smallest type, MISSING where nothing is known."""
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
        object.__setattr__(self, "_padded", padded(self.bias, self.tables, self.offsets))

    def place(self, labels: NDArray[Any], chances: bool = False, counts: bool = False) -> Placement:
        """Place rows of codes (n, r) of any integer type, -1 where a label is missing.

        With `chances` the scores are logarithms of joint probabilities. The sums are taken chunk by chunk and do not
        depend on the number of threads.
        """
        wide: Padded = vars(self)["_padded"]
        k, columns = len(self.bias), len(self.offsets) - 1
        if labels.ndim != 2 or labels.shape[1] != columns:
            raise TableError(f"labels have shape {labels.shape}; the model places rows of {columns} labels")
        flat = sealed(np.ascontiguousarray(labels).reshape(-1))
        chosen = np.empty(len(labels), smallest_type(k))

        def part(start: int, stop: int) -> Part:
            tally = np.zeros(len(wide.tables) if counts else 0, np.int32)
            sizes = np.zeros(len(wide.bias) if counts else 0, np.int32)
            found = place_rows(flat, wide.starts, wide.tables, wide.bias, k, chosen, chances, tally, sizes, start, stop)
            return Part(*found, tally, sizes)

        parts = map_chunks(part, len(labels)) or [part(0, 0)]
        placed = Placement(chosen)
        if chances:
            likelihood, excluded = sum(each.likelihood for each in parts), sum(each.excluded for each in parts)
            placed = placed._replace(log_likelihood=likelihood, excluded=excluded)
        if counts:
            tally = np.asarray(np.sum([each.tally for each in parts], axis=0, dtype=np.int64))
            sizes = np.asarray(np.sum([each.sizes for each in parts], axis=0, dtype=np.int64))
            placed = placed._replace(counts=taken_back(tally, self.offsets, k), sizes=sizes[:k])
        return placed
