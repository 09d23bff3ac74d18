"""Draws: partitions of the same objects, sampled from a distribution over partitions."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from partita.core.coding import MissingRule, code_integers
from partita.core.errors import TableError
from partita.core.types import MISSING, FrozenArrays, IntArray, smallest_type


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
        table = np.asarray(labels)
        if table.ndim != 2 or not table.size:
            raise TableError(f"draws of shape {table.shape}; give a table of at least one draw (row) and one object")
        if table.dtype.kind not in "iu":
            raise TableError(f"draws of type {table.dtype}; give whole numbers")
        from_chain = np.zeros(len(table), np.int64) if chain is None else np.asarray(chain, np.int64)
        if from_chain.shape != (len(table),):
            raise TableError(f"{len(table)} draws and the chains of {from_chain.size}; give one chain a draw")
        names = [f"draw {row}" for row in range(len(table))]
        objects = np.maximum(table, MISSING) if table.dtype.kind == "i" else table
        codes, _ = code_integers(np.ascontiguousarray(objects.T), MISSING, names, MissingRule(said=True))
        absent = codes == MISSING
        if (absent.any(axis=1) != absent.all(axis=1)).any():
            place = int(np.flatnonzero(absent.any(axis=1) != absent.all(axis=1))[0])
            raise TableError(f"object {place} has a label in some draws only; every draw must place every object")
        largest = int(codes.max(initial=0)) + 1
        return cls(np.ascontiguousarray(codes.T, smallest_type(largest)), from_chain)

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
        chains = len(np.unique(self.chain))
        return f"Draws({len(self)} partitions of {self.labels.shape[1]} objects from {chains} chains)"
