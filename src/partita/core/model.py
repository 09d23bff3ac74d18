"""ColumnModel: a fitted consensus whose scores add over clusterings, so that it can place new objects."""

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from partita.core.coding import Label, MissingRule, label_key
from partita.core.columns import index_column
from partita.core.errors import PartitaWarning, TableError
from partita.core.tables import as_table
from partita.core.threads import map_chunks
from partita.core.types import MISSING, FloatArray, IntArray
from partita.kernels.scores import add_scores

if TYPE_CHECKING:
    from partita.core.prepare import Prepared


@dataclass(frozen=True, eq=False)
class ColumnModel:
    """Scores of the clusters for an object: `bias + sum over its known labels of tables[j][:, label]`."""

    bias: FloatArray
    """(k,)"""
    tables: tuple[FloatArray, ...]
    """Per clustering j: (k, labels of j)."""
    link: Literal["share", "best"]
    """How scores become memberships: divided by their sum ("share"), or not at all: only the best is known ("best")."""
    names: tuple[str, ...] = ()
    classes: tuple[tuple[Label, ...], ...] = ()

    def scores(self, codes: IntArray) -> FloatArray:
        """(n, k) scores of rows of label codes; MISSING adds nothing."""
        total = np.tile(self.bias, (len(codes), 1))
        offsets = np.concatenate([[0], np.cumsum([table.shape[1] for table in self.tables])]).astype(np.int64)
        stacked = np.ascontiguousarray(np.concatenate(self.tables, axis=1).T)
        map_chunks(lambda start, stop: add_scores(codes, offsets, stacked, total, start, stop), len(codes))
        return total

    def labels(self, table: Any) -> IntArray:
        """(n,) the best cluster of each new object, MISSING where none of its labels is known."""
        codes = self.encode(table)
        best: IntArray = self.scores(codes).argmax(axis=1).astype(np.int32)
        best[(codes == MISSING).all(axis=1)] = MISSING
        return best

    def membership(self, table: Any) -> FloatArray:
        """(n, k) memberships of new objects, NaN rows where none of its labels is known."""
        if self.link == "best":
            raise AttributeError("this method gives labels for new objects, not memberships; use predict")
        codes = self.encode(table)
        scores = self.scores(codes)
        sums = scores.sum(axis=1, keepdims=True)
        known = (codes != MISSING).any(axis=1, keepdims=True)
        shares: FloatArray = np.divide(scores, sums, out=np.full_like(scores, np.nan), where=known & (sums > 0))
        return shares

    def encode(self, table: Any) -> IntArray:
        """New labels under the training codes; columns are found by name, or by place in a table without names.

        A label never seen in training is treated as missing, with a warning that counts such cells.
        """
        found = as_table(table)
        unnamed = found.names == tuple(f"c{j}" for j in range(len(found.names)))
        if set(self.names) <= set(found.names) and not (unnamed and len(found.names) != len(self.names)):
            columns = [found.columns[found.names.index(name)] for name in self.names]
        elif unnamed and len(found.names) == len(self.names):
            columns = list(found.columns)
        elif unnamed:
            raise TableError(
                f"the new table has {len(found.names)} clusterings, the model {len(self.names)}; give the same"
            )
        else:
            absent = next(name for name in self.names if name not in found.names)
            raise TableError(f"the new table has no clustering {absent!r}; give the same clusterings as in training")
        parts = [self._encode_column(j, column) for j, column in enumerate(columns)]
        unseen = sum(count for _, count in parts)
        if unseen:
            warnings.warn(
                f"{unseen} labels were never seen in training and are treated as missing", PartitaWarning, stacklevel=3
            )
        return np.stack([codes for codes, _ in parts], axis=1)

    def _encode_column(self, j: int, column: Any) -> tuple[IntArray, int]:
        indexed = index_column(column, self.names[j])
        place = {label_key(value): code for code, value in enumerate(self.classes[j])}
        target = np.array([place.get(label_key(value), MISSING) for value in indexed.values] + [MISSING], np.int64)
        blank = np.array([MissingRule().drops(value) for value in indexed.values] + [True])
        codes = target[indexed.indices]
        return codes, int(np.count_nonzero((codes == MISSING) & ~blank[indexed.indices]))

    def restored(self, prepared: "Prepared", ensemble: Any, order: IntArray) -> "ColumnModel":
        """The model of a prepared table as the model of the user's, its clusters in the given order."""
        tables = prepared.expand_tables(self.tables, ensemble.sizes, 0.0)
        return replace(
            self,
            bias=self.bias[order],
            tables=tuple(table[order] for table in tables),
            names=ensemble.names,
            classes=ensemble.classes,
        )
