"""The first pass: how many objects have each different row, as long as these are few, and the rows of a sample."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partita.core.checks import check_columns, check_shape
from partita.core.coding import Indexed, Label, MissingRule, code_indexed, code_integers
from partita.core.distinct import distinct_rows
from partita.core.ensemble import Ensemble
from partita.core.errors import Note
from partita.core.types import MISSING, FloatArray, IntArray, frozen, sealed, smallest_type
from partita.io.blocks import Block, LabelBlocks, naming_file
from partita.kernels.growing import add_rows, hash_codes, place_slots
from partita.streaming.coding import Vocabulary, coded, columns_of

FIRST_ROOM: Final = 1 << 12


class Look(NamedTuple):
    """What one block holds: its labels, its different rows if they were asked for, and its rows of the sample."""

    values: tuple[tuple[Label, ...], ...]
    """Per column."""
    codes: IntArray
    """(m, r) different rows."""
    counts: NDArray[np.int64]
    sample: IntArray
    """(s, r) rows of the sample, in the order of the table."""


@dataclass(frozen=True, slots=True)
class Looking:
    """How to look at a block; a function that can be sent anywhere."""

    source: LabelBlocks
    rule: MissingRule
    most: int
    """Different rows beyond which they are not told any more; 0 to look for labels alone, -1 for the sample alone."""

    def __call__(self, item: tuple[Block, NDArray[np.int64] | None]) -> Look:
        """One block, and the places in it of the rows of the sample."""
        block, picks = item
        words = Vocabulary(self.source.names)
        sampled = self._codes(block, words, picks if self.most < 0 else None)
        sample = sampled if self.most < 0 or picks is None else sampled[picks]
        if self.most <= 0:
            codes, counts = sampled[:0], np.empty(0, np.int64)
        else:
            first, inverse = distinct_rows(sampled)
            codes, counts = sampled[first], np.bincount(inverse, minlength=len(first))
        if picks is None:
            sample = sampled[:0]
        return Look(tuple(map(tuple, words.values)), codes, counts, sample)

    def _codes(self, block: Block, words: Vocabulary, picks: NDArray[np.int64] | None) -> IntArray:
        """The rows of a block, or some of them, under the labels met so far."""
        parts, done = [np.empty((0, len(words.names)), np.int8)], 0
        with naming_file(block):
            for raw in self.source.pieces(block, picks):
                if not raw.rows:
                    continue
                columns = columns_of(raw, self.rule, partial(_row, block, picks, done))
                codes = words.learn([column.values for column in columns])
                parts.append(coded(columns, codes, smallest_type(words.width)))
                done += raw.rows
        return np.ascontiguousarray(np.concatenate(parts))


def _row(block: Block, picks: NDArray[np.int64] | None, done: int, place: int) -> int:
    """Where in its file a row stands, of which so many of the block were read before."""
    return block.row + (done + place if picks is None else int(picks[done + place]))


class Tally:
    """What the blocks looked at so far hold together; blocks are added in their order."""

    def __init__(self, names: Sequence[str], most: int) -> None:
        """`most` different rows are kept; beyond it they are given up."""
        self.words = Vocabulary(names)
        self.most = most
        self.rows = 0
        self.found = 0
        self.over = most <= 0
        """Whether the different rows were too many."""
        self.kept: IntArray = np.empty((FIRST_ROOM, len(names)), np.int16)
        self.totals = np.zeros(FIRST_ROOM, np.int64)
        self._slots = np.full(4 * FIRST_ROOM, -1, np.int32)
        self.samples: list[IntArray] = []

    def add(self, look: Look, rows: int) -> None:
        """One more block, of so many rows."""
        codes = self.words.learn(look.values)
        kind = np.int16 if self.words.width <= np.iinfo(np.int16).max else np.int32
        if len(look.sample):
            self.samples.append(_renumbered(look.sample, codes, kind))
        self.rows += rows
        if self.over:
            return
        if kind != self.kept.dtype:
            self.kept = self.kept.astype(kind)
        for start in range(0, len(look.codes), self.most):
            part = slice(start, start + self.most)
            self._add(_renumbered(look.codes[part], codes, self.kept.dtype), look.counts[part])
            if self.found > self.most:
                self._give_up()
                return

    def _add(self, codes: IntArray, counts: NDArray[np.int64]) -> None:
        self._make_room(self.found + len(codes))
        hashes = np.empty(len(codes), np.uint64)
        hash_codes(sealed(codes), hashes)
        self.found = add_rows(sealed(codes), sealed(counts), hashes, self._slots, self.kept, self.totals, self.found)

    def _make_room(self, wanted: int) -> None:
        room = len(self.totals)
        if wanted <= room:
            return
        while room < wanted:
            room *= 2
        more = np.empty((room - self.found, self.kept.shape[1]), self.kept.dtype)
        self.kept = np.concatenate([self.kept[: self.found], more])
        self.totals = np.concatenate([self.totals[: self.found], np.zeros(room - self.found, np.int64)])
        self._slots = slots_of(self.kept[: self.found], 4 * room)

    def _give_up(self) -> None:
        self.over, self.found = True, 0
        self.kept, self.totals = self.kept[:0].copy(), self.totals[:0].copy()
        self._slots = self._slots[:0].copy()

    def state(self) -> dict[str, Any]:
        """All of it as arrays and plain values, for a file."""
        sample = np.concatenate(self.samples) if self.samples else np.empty((0, len(self.words.names)), np.int16)
        arrays = {"kept": self.kept[: self.found], "totals": self.totals[: self.found], "sample": sample}
        return {"rows": self.rows, "over": self.over, "values": self.words.values, "arrays": arrays}

    @classmethod
    def from_state(cls, names: Sequence[str], most: int, state: Mapping[str, Any]) -> "Tally":
        """Where it stood."""
        tally, arrays = cls(names, most), state["arrays"]
        tally.words = Vocabulary(names, state["values"])
        tally.rows, tally.over, tally.found = state["rows"], state["over"], len(arrays["totals"])
        tally.samples = [arrays["sample"]] if len(arrays["sample"]) else []
        if tally.over:
            tally._give_up()
            return tally
        tally.kept = tally.kept.astype(arrays["kept"].dtype)
        tally.found = 0
        tally._make_room(len(arrays["totals"]))
        tally.found = len(arrays["totals"])
        tally.kept[: tally.found], tally.totals[: tally.found] = arrays["kept"], arrays["totals"]
        tally._slots = slots_of(tally.kept[: tally.found], 4 * len(tally.totals))
        return tally

    def table(self) -> tuple[IntArray, NDArray[np.int64]]:
        """The different rows in the order in which they were met, and how many objects have each."""
        return self.kept[: self.found], self.totals[: self.found]

    def sample(self) -> IntArray:
        """The rows of the sample, in the order of the table."""
        kind = np.int16 if self.words.width <= np.iinfo(np.int16).max else np.int32
        parts = [np.empty((0, len(self.words.names)), kind), *self.samples]
        return np.concatenate([part.astype(kind, copy=False) for part in parts])

    def check(self, weights: FloatArray, transpose: bool | None, allow: frozenset[str]) -> list[Note]:
        """Check the shape and the columns of the whole table, as `Ensemble.from_labels` does, after the last block.

        The check for features needs the unique rows or the sample.
        """
        values, names = self.words.values, self.words.names
        rows = self.table()[0] if not self.over else self.sample()
        labels, order = code_integers(rows, MISSING, names, MissingRule(said=True))
        # The classes are in the order of these codes; labels that occur in no sampled row follow.
        places = (np.append(seen, np.setdiff1d(np.arange(len(v)), seen)) for seen, v in zip(order, values, strict=True))
        classes = [[v[place] for place in column.astype(int)] for column, v in zip(places, values, strict=True)]
        notes = check_shape(self.rows, int((weights > 0).sum()), transpose, allow, transposable=False)
        return notes + check_columns(names, labels, classes, weights, allow, rows=self.rows)

    def ensemble(self, codes: IntArray, counts: NDArray[np.int64] | None, rule: MissingRule, weights: Any) -> Ensemble:
        """Rows under the codes met so far, as an ensemble whose labels are numbered as they come in it."""
        names = self.words.names
        columns = [Indexed(column, values) for column, values in zip(codes.T, self.words.values, strict=True)]
        labels, classes = code_indexed(columns, names, MissingRule(said=True))
        found = Ensemble(labels, tuple(map(len, classes)), names, classes, weights, missing=rule)
        return found if counts is None else found.with_counts(frozen(counts.astype(np.float64)))


def slots_of(kept: IntArray, room: int) -> NDArray[np.int32]:
    """A hash table in which each row of `kept` finds its number."""
    hashes, slots = np.empty(len(kept), np.uint64), np.full(room, -1, np.int32)
    hash_codes(sealed(np.ascontiguousarray(kept)), hashes)
    place_slots(hashes, slots)
    return slots


def _renumbered(table: IntArray, codes: Sequence[IntArray], kind: Any) -> IntArray:
    """(m, r) the table under other codes, column by column."""
    found: IntArray = np.empty(table.shape, kind)
    for j, column in enumerate(codes):
        found[:, j] = np.append(column, -1)[table[:, j]]
    return found
