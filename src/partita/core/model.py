"""ColumnModel: a fitted consensus whose scores add over clusterings, so that it can place new objects."""

import warnings
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from partita.core.coding import NOTHING_SAID, Label, MissingRule, label_key
from partita.core.columns import index_column
from partita.core.errors import PartitaWarning, TableError
from partita.core.links import MEMBERSHIPS, Link
from partita.core.tables import as_table
from partita.core.threads import map_chunks
from partita.core.types import MISSING, FloatArray, FrozenArrays, IntArray, sealed
from partita.kernels.scores import add_scores, pick_winners

if TYPE_CHECKING:
    from partita.core.prepare import Prepared


@dataclass(frozen=True, eq=False)
class ColumnModel(FrozenArrays):
    """Scores of the clusters for an object: `bias + sum over its known labels of tables[j][:, label]`."""

    bias: FloatArray
    """(k,)"""
    tables: tuple[FloatArray, ...]
    """Per clustering j: (k, labels of j)."""
    link: Link
    """How scores become memberships; see `core.links`."""
    names: tuple[str, ...] = ()
    classes: tuple[tuple[Label, ...], ...] = ()
    missing: MissingRule = NOTHING_SAID
    strength: FloatArray | None = None
    """(k,) which of several best clusters wins; without it the first does."""
    reference: FloatArray | None = None
    """(k, t) above 0 where one of all labels pleads for a cluster among the best, before strength decides."""
    weights: FloatArray | None = None
    """(r,) weights of the clusterings, 1 on average, for models that give probabilities."""

    @property
    def offsets(self) -> NDArray[np.int64]:
        """(r + 1,) where each clustering's labels begin among all labels."""
        return np.concatenate([[0], np.cumsum([table.shape[1] for table in self.tables])]).astype(np.int64)

    def scores(self, codes: IntArray) -> FloatArray:
        """(n, k) scores of rows of label codes; MISSING adds nothing."""
        total = np.tile(self.bias, (len(codes), 1))
        stacked = np.ascontiguousarray(np.concatenate(self.tables, axis=1).T)
        map_chunks(partial(add_scores, sealed(codes), self.offsets, stacked, total), len(codes))
        return total

    def winners(self, codes: IntArray, scores: FloatArray) -> IntArray:
        """(n,) the cluster of highest score; of equals the one a reference label pleads for, then the strongest."""
        if self.strength is None:
            first: IntArray = scores.argmax(axis=1).astype(np.int32)
            return first
        own, places = np.full(len(codes), MISSING, np.int32), self.offsets
        for j, column in enumerate(codes.T):
            pleas = None if self.reference is None else self.reference[:, places[j] : places[j + 1]]
            if pleas is not None and pleas.any():
                target = np.append(np.where(pleas.any(axis=0), pleas.argmax(axis=0), MISSING), MISSING)
                own = target[column].astype(np.int32)
        chosen = np.empty(len(codes), np.int32)
        map_chunks(partial(pick_winners, scores, sealed(self.strength), own, chosen), len(codes))
        return chosen

    def labels(self, table: Any) -> IntArray:
        """(n,) the best cluster of each new object, MISSING where none of its labels is known."""
        codes = self.encode(table)
        best = self.winners(codes, self.scores(codes))
        best[(codes == MISSING).all(axis=1)] = MISSING
        return best

    def membership(self, table: Any) -> FloatArray:
        """(n, k) memberships of new objects, NaN rows where none of its labels is known."""
        if self.link == "best":
            raise AttributeError("this method gives labels for new objects, not memberships; use predict")
        codes = self.encode(table)
        return self.shares(codes, (codes == MISSING).all(axis=1))

    def shares(self, codes: IntArray, unknown: NDArray[np.bool_]) -> FloatArray:
        """(n, k) memberships of rows of label codes, NaN where nothing is known."""
        shares = MEMBERSHIPS[self.link](self.scores(codes))
        shares[unknown] = np.nan
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
        blank = np.array([self.missing.drops(value) for value in indexed.values] + [True])
        codes = target[indexed.indices]
        return codes, int(np.count_nonzero((codes == MISSING) & ~blank[indexed.indices]))

    def restored(self, prepared: "Prepared", ensemble: Any, order: IntArray) -> "ColumnModel":
        """The model of a prepared table as the model of the user's, its clusters in the given order."""
        tables = prepared.expand_tables(self.tables, ensemble.sizes, 0.0)
        reference = self.reference
        if reference is not None:
            parts = tuple(np.split(reference, self.offsets[1:-1], axis=1))
            reference = np.concatenate(prepared.expand_tables(parts, ensemble.sizes, 0.0), axis=1)[order]
        return replace(
            self,
            bias=self.bias[order],
            tables=tuple(table[order] for table in tables),
            names=ensemble.names,
            classes=ensemble.classes,
            missing=getattr(ensemble, "missing", NOTHING_SAID),
            strength=None if self.strength is None else self.strength[order],
            reference=reference,
            weights=None if self.weights is None else prepared.expand_columns(self.weights, len(ensemble.sizes)),
        )
