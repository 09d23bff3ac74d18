"""Draws: partitions of the same objects, sampled from a distribution over partitions."""

from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from partita.core.errors import TableError
from partita.core.threads import map_chunks
from partita.core.types import MISSING, FrozenArrays, IntArray, sealed, smallest_type
from partita.kernels.codes import number_rows_apart

MOST_CODES: Final = 1 << 20
"""Names of clusters up to which they are looked up in a table; larger ones are sorted first."""


@dataclass(frozen=True, eq=False)
class Draws(FrozenArrays):
    """Sampled partitions, one a row.

    >>> Draws.of([[7, 7, 3], [0, 1, 0]]).labels.tolist()
    [[0, 0, 1], [0, 1, 0]]
    """

    labels: IntArray
    """(draws, n) each row numbered by first appearance; MISSING, in all draws, for an object nothing is known of."""
    chain: IntArray
    """(draws,) the chain each draw is from."""

    @classmethod
    def of(cls, labels: Any, chain: Any = None) -> "Draws":
        """From whole numbers, one draw a row, whatever clusters are called; below 0 is MISSING."""
        if isinstance(labels, np.ma.MaskedArray):
            labels = labels.filled(MISSING)
        try:
            table = np.asarray(labels)
        except ValueError:
            raise TableError("draws of different lengths; every draw must place every object") from None
        if table.ndim != 2 or not table.size:
            raise TableError(f"draws of shape {table.shape}; give a table of at least one draw (row) and one object")
        if table.dtype.kind not in "iu":
            raise TableError(f"draws of type {table.dtype}; give whole numbers")
        from_chain = np.zeros(len(table), np.int64) if chain is None else np.asarray(chain, np.int64)
        if from_chain.shape != (len(table),):
            raise TableError(f"{len(table)} draws and the chains of {from_chain.size}; give one chain a draw")
        codes = _numbered(table)
        absent = codes == MISSING
        if absent.any() and (absent != absent[0]).any():
            place = int(np.flatnonzero((absent != absent[0]).any(axis=0))[0])
            raise TableError(f"object {place} has a label in some draws only; every draw must place every object")
        return cls(codes, from_chain)

    def for_objects(self, rows: IntArray) -> "Draws":
        """The draws for objects of which each has one of the rows; MISSING where it has none."""
        columns = np.ascontiguousarray(self.labels.T)[rows]
        columns[rows == MISSING] = MISSING
        return Draws.of(columns.T, self.chain)

    @property
    def sizes(self) -> IntArray:
        """(draws,) how many clusters each has."""
        return np.asarray(self.labels.max(axis=1).astype(np.int64) + 1)

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:
        chains, objects = len(np.unique(self.chain)), self.labels.shape[1]
        counts = ((len(self), "partition"), (objects, "object"), (chains, "chain"))
        draws, of, by = (f"{count} {what}" if count == 1 else f"{count} {what}s" for count, what in counts)
        return f"Draws({draws} of {of} from {by})"


def _numbered(table: NDArray[Any]) -> IntArray:
    """Each row's clusters by first appearance, below 0 all MISSING, in the smallest type."""
    width = int(table.max()) + 1
    if width > MOST_CODES:
        values, places = np.unique(table, return_inverse=True)
        table = places.reshape(table.shape) - np.searchsorted(values, 0)
        width = len(values)
    values = np.ascontiguousarray(table, np.int64 if table.dtype.kind == "u" else table.dtype.newbyteorder("="))
    codes = np.empty(values.shape, smallest_type(min(max(width, 1), values.shape[1])))
    rows = max(1, (1 << 20) // values.shape[1])
    most = map_chunks(partial(number_rows_apart, sealed(values), max(width, 1), codes), len(values), rows)
    return codes.astype(smallest_type(max(most)), copy=False)
