"""The second pass: the rows of a block get their labels, by their row's result or by a model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from partita.core.coding import Label
from partita.core.counting import label_columns, label_counts
from partita.core.ensemble import Ensemble
from partita.core.errors import FileError
from partita.core.model import ColumnModel
from partita.core.placing import Placer as FastPlacer
from partita.core.types import MISSING, FloatArray, IntArray, sealed, smallest_type
from partita.kernels.growing import find_rows, hash_codes
from partita.streaming.coding import Column, Vocabulary, coded, known_codes, take_unseen
from partita.streaming.counting import Tally, slots_of

ADDING: Final = ("softmax", "best")
"""Links under which the cluster of the highest sum of scores wins, the first of equals."""
CHANGED: Final = "holds rows that were not there in the first pass; was it changed? start again"


class Totals(NamedTuple):
    """What placed rows add up to."""

    sizes: FloatArray
    """(k,) rows in each cluster."""
    labels: FloatArray
    """(t, k) rows of each cluster with each label, where a model placed them; (0, k) elsewhere."""
    scalars: FloatArray
    """The log-likelihood, how many labels are known by weight, rows that the model excludes, labels it never saw, rows
    without a label, rows with a label whose confidence is not defined."""


def add_totals(parts: Sequence[Totals]) -> Totals:
    """Totals together, added in their order."""
    sums = [np.sum(np.stack(arrays), axis=0) for arrays in zip(*parts, strict=True)]
    return Totals(*sums)


class Placed(NamedTuple):
    """Where some rows belong."""

    labels: IntArray
    confidence: FloatArray | None
    membership: FloatArray | None
    totals: Totals
    second: tuple[IntArray, FloatArray] | None
    """Nearest other cluster, and item consensus with it; with the confidence."""


class Placer(Protocol):
    """A way to place rows."""

    def place(self, columns: Sequence[Column]) -> Placed:
        """The rows of a piece."""


@dataclass(frozen=True, slots=True, eq=False)
class ByRow:
    """Each different row has its result already."""

    names: tuple[str, ...]
    values: tuple[tuple[Label, ...], ...]
    kept: IntArray
    slots: NDArray[np.int32]
    labels: IntArray
    confidence: FloatArray | None
    membership: FloatArray | None
    second: tuple[IntArray, FloatArray] | None
    width: int

    @classmethod
    def of(cls, tally: Tally, arrays: Mapping[str, NDArray[Any] | None]) -> "ByRow":
        """The labels, confidence and memberships of the different rows, those that are wanted."""
        kept, _ = tally.table()
        room = 4 << max(len(kept), 1).bit_length()
        labels, second, shares = arrays["labels"], arrays.get("second"), arrays.get("second_item_consensus")
        assert labels is not None
        width = int(labels.max(initial=MISSING)) + 1
        return cls(
            tally.words.names,
            tuple(map(tuple, tally.words.values)),
            np.ascontiguousarray(kept),
            slots_of(kept, room),
            labels.astype(smallest_type(width)),
            arrays.get("confidence"),
            arrays.get("membership"),
            None if second is None or shares is None else (second, shares),
            width,
        )

    def place(self, columns: Sequence[Column]) -> Placed:
        """The rows of a piece."""
        words = Vocabulary(self.names, self.values)
        codes = coded(columns, words.learn([column.values for column in columns]), self.kept.dtype)
        hashes, numbers = np.empty(len(codes), np.uint64), np.empty(len(codes), np.int32)
        hash_codes(sealed(codes), hashes)
        find_rows(sealed(codes), hashes, self.slots, sealed(self.kept), numbers)
        if (numbers < 0).any():
            raise FileError(CHANGED)
        labels = self.labels[numbers]
        sizes = np.bincount(labels[labels != MISSING], minlength=self.width).astype(np.float64)
        confidence = None if self.confidence is None else self.confidence[numbers]
        membership = None if self.membership is None else self.membership[numbers]
        scalars = np.array([0.0, 0.0, 0.0, 0.0, *undefined(labels, confidence)])
        second = None if self.second is None else (self.second[0][numbers], self.second[1][numbers])
        return Placed(labels, confidence, membership, Totals(sizes, np.zeros((0, self.width)), scalars), second)


@dataclass(frozen=True, slots=True, eq=False)
class ByModel:
    """A model places every row by its labels."""

    model: ColumnModel
    confidence: bool
    membership: bool
    fast: FastPlacer | None

    @classmethod
    def of(cls, model: ColumnModel, confidence: bool, membership: bool) -> "ByModel":
        """A model, with the fast way where its scores add up."""
        fast = None
        if model.link in ADDING and model.shares is None:
            fast = FastPlacer(model.bias, model.stacked, model.offsets)
        return cls(model, confidence, membership, fast)

    def place(self, columns: Sequence[Column]) -> Placed:
        """The rows of a piece."""
        model = self.model
        sizes = tuple(map(len, model.classes))
        codes = coded(columns, known_codes(columns, model.classes), smallest_type(max(sizes)))
        unseen = take_unseen(codes)
        rows = Ensemble(codes, sizes, model.names, model.classes, np.ones(len(sizes)), missing=model.missing)
        if self.fast is not None and not self.membership:
            return self._quickly(self.fast, rows, unseen)
        found = model.assign(rows, membership=self.membership)
        counts, masses = label_counts(rows, found.labels, model.width)
        likelihood, excluded = 0.0, 0
        if found.log_chances is not None:
            excluded = int(np.count_nonzero(np.isneginf(found.log_chances)))
            likelihood = float(found.log_chances.sum())
        labels = found.labels.astype(smallest_type(model.width))
        confidence = model.confidence(rows, found.labels) if self.confidence else None
        scalars = self._scalars(likelihood, counts, excluded, unseen, labels, confidence)
        totals = Totals(masses, counts, scalars)
        return Placed(labels, confidence, found.membership, totals, self._second(rows, found.labels))

    def _quickly(self, fast: FastPlacer, rows: Ensemble, unseen: int) -> Placed:
        """In one pass that never makes the scores of all clusters, for models that add up scores."""
        found = fast.place(rows.labels, chances=self.model.link == "softmax", counts=True)
        assert found.counts is not None and found.sizes is not None
        confidence = self.model.confidence(rows, found.labels) if self.confidence else None
        likelihood = -np.inf if found.excluded else found.log_likelihood or 0.0
        counts, masses = found.counts.astype(np.float64), found.sizes.astype(np.float64)
        scalars = self._scalars(likelihood, counts, found.excluded, unseen, found.labels, confidence)
        totals = Totals(masses, counts, scalars)
        return Placed(found.labels, confidence, None, totals, self._second(rows, found.labels))

    def _second(self, rows: Ensemble, labels: IntArray) -> tuple[IntArray, FloatArray] | None:
        """Return the second clusters of rows, if the confidence is requested and the model has the training counts."""
        counts = self.model.label_counts if self.confidence else None
        return None if counts is None else counts.second(rows, labels)

    def _scalars(
        self,
        likelihood: float,
        counts: FloatArray,
        excluded: int,
        unseen: int,
        labels: IntArray,
        confidence: FloatArray | None,
    ) -> FloatArray:
        """Those of `Totals`."""
        weights = np.ones(len(self.model.tables)) if self.model.weights is None else self.model.weights
        known = float(counts.sum(axis=1) @ weights[label_columns(self.model.offsets)])
        return np.array([likelihood, known, excluded, unseen, *undefined(labels, confidence)])


def undefined(labels: IntArray, confidence: FloatArray | None) -> tuple[int, int]:
    """Count the rows without a label, and those with a label but no defined confidence."""
    missing = labels == MISSING
    without = 0 if confidence is None else np.count_nonzero(np.isnan(confidence) & ~missing)
    return int(np.count_nonzero(missing)), int(without)


def agreement(totals: Totals, offsets: IntArray) -> list[NDArray[Any]]:
    """Per clustering the (labels, k) rows of each cluster with each label."""
    return list(np.split(totals.labels, offsets[1:-1], axis=0))
