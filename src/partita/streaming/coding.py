"""The labels of a piece of a table as numbers: which values occur in each column, and codes for them."""

import shlex
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa

from partita.core.coding import Label, MissingRule, label_key, refuse_minus_one
from partita.core.columns import index_column, not_a_label
from partita.core.errors import LabelError
from partita.core.newrows import find_labels
from partita.core.types import MISSING, IntArray, sealed
from partita.io.raw import Raw
from partita.kernels.growing import mark_values, translate

NARROW: Final = 1 << 16
"""Whole numbers that lie within so many of each other are looked up in a table."""
MOST_LABELS: Final = 1 << 20
"""Labels of one column beyond which it is taken for ids."""
UNSEEN: Final = -2
"""The code of a label that the known ones lack."""
SHORT: Final = 1 << 15
"""Rows of which one column after the other is coded, so that they stay in the nearest memory."""


class Column(NamedTuple):
    """A column as indices into values: `values[index - low]`."""

    indices: IntArray
    low: int
    values: tuple[Label, ...]
    """None where a value does not occur, or means missing."""


def columns_of(raw: Raw, rule: MissingRule, row_of: Callable[[int], int]) -> list[Column]:
    """The columns of a piece; values that mean missing are dropped. `row_of` tells where a row stands, for errors."""
    return [_column(column, name, rule, row_of) for column, name in zip(raw.columns, raw.names, strict=True)]


def _column(column: Any, name: str, rule: MissingRule, row_of: Callable[[int], int]) -> Column:
    found = _whole(column)
    if found is None:
        _check_fractions(column, name, row_of)
        indexed = index_column(column, name)
        indices, low = np.ascontiguousarray(indexed.indices, np.int32), MISSING
        present: Sequence[Label] = (None, *indexed.values)
    else:
        indices, low = found
        present = _present(indices, low)
    values = tuple(None if value is None or rule.drops(value) else value for value in present)
    if not rule.said and any(value is not None and label_key(value) == label_key(-1) for value in values):
        place = next(place for place, value in enumerate(values) if value is not None and label_key(value)[1] == -1)
        raise refuse_minus_one(name, row_of(int(np.argmax(indices == low + place))))
    return Column(indices, low, values)


def _check_fractions(column: Any, name: str, row_of: Callable[[int], int]) -> None:
    """Refuse a number with a fraction, at its place in the file."""
    if not isinstance(column, pa.Array) or not pa.types.is_floating(column.type):
        return
    values = column.to_numpy(zero_copy_only=False).astype(np.float64)
    bad = ~(np.isnan(values) | (values == np.rint(values)))
    if bad.any():
        place = int(np.argmax(bad))
        raise not_a_label(name, row_of(place), float(values[place]))


def _whole(column: Any) -> tuple[IntArray, int] | None:
    """A column of whole numbers close to each other and the lowest they may be; None for any other column."""
    if isinstance(column, pa.Array):
        if not pa.types.is_integer(column.type) or column.null_count:
            return None
        column = column.to_numpy(zero_copy_only=False)
    if column.dtype.kind not in "iu":
        return None
    if column.dtype.itemsize <= 2:
        return column, int(np.iinfo(column.dtype).min)
    low, high = int(column.min()), int(column.max())
    return (column, low) if high - low < NARROW and column.dtype != np.uint64 else None


def _present(indices: IntArray, low: int) -> list[Label]:
    """The values that occur, None in place of those that do not."""
    high = np.iinfo(indices.dtype).max if indices.dtype.itemsize <= 2 else int(indices.max())
    seen = np.zeros(int(high) - low + 1, np.bool_)
    mark_values(sealed(indices), low, seen)
    return [low + place if there else None for place, there in enumerate(seen.tolist())]


class Vocabulary:
    """The labels of every column met so far, numbered as they are met."""

    def __init__(self, names: Sequence[str], values: Sequence[Sequence[Label]] = ()) -> None:
        self.names = tuple(names)
        self.values: list[list[Label]] = [list(column) for column in values] or [[] for _ in names]
        self._places = [{label_key(value): code for code, value in enumerate(column)} for column in self.values]

    def learn(self, values: Sequence[Sequence[Label]]) -> list[IntArray]:
        """For each column the codes of these values, new ones among them; MISSING for None."""
        return [self._learned(j, column) for j, column in enumerate(values)]

    def _learned(self, j: int, column: Sequence[Label]) -> IntArray:
        places, known = self._places[j], self.values[j]
        codes = np.full(len(column), MISSING, np.int32)
        for place, value in enumerate(column):
            if value is not None:
                codes[place] = code = places.setdefault(label_key(value), len(known))
                if code == len(known):
                    known.append(value)
        if len(known) > MOST_LABELS:
            name, flag = self.names[j], shlex.quote(self.names[j])  # both syntaxes, because workers run this
            raise LabelError(
                f"column {name!r} has more than {MOST_LABELS} different values, so these look like ids, not labels; "
                f"set ids={name!r} (command line: --id {flag}) if they are, or drop the column (command line: "
                f"--exclude {flag})"
            )
        return codes

    @property
    def width(self) -> int:
        """The labels of the column that has most."""
        return max(map(len, self.values))


def coded(columns: Sequence[Column], codes: Sequence[IntArray], kind: Any) -> IntArray:
    """(n, r) for each cell the code of its value."""
    rows = len(columns[0].indices)
    table: IntArray = np.empty((rows, len(columns)), kind)
    for start in range(0, rows, SHORT):
        part = slice(start, start + SHORT)
        for j, (column, places) in enumerate(zip(columns, codes, strict=True)):
            translate(sealed(column.indices[part]), column.low, places, table[part, j])
    return table


def known_codes(columns: Sequence[Column], classes: Sequence[tuple[Label, ...]]) -> list[IntArray]:
    """For each column the codes of its values among known ones, UNSEEN where they lack one; MISSING for None.

    Columns whose labels are not known at all take no part: all is MISSING.
    """
    found = []
    for column, known in zip(columns, classes, strict=True):
        codes = np.full(len(column.values), MISSING, np.int32)
        there = [place for place, value in enumerate(column.values) if value is not None]
        if known and there:
            picks = find_labels([column.values[place] for place in there], known)
            codes[there] = np.where(picks == MISSING, UNSEEN, picks)
        found.append(codes)
    return found


def take_unseen(table: IntArray) -> int:
    """Make cells with labels that are not known MISSING; how many there were."""
    unseen = table == UNSEEN
    count = int(np.count_nonzero(unseen))
    if count:
        table[unseen] = MISSING
    return count
