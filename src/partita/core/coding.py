"""From columns of any label values to one integer matrix, coded by first appearance."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from partita.core.errors import LabelError, ParameterError
from partita.core.threads import map_chunks
from partita.core.types import MISSING, IntArray, sealed, smallest_type
from partita.kernels.codes import first_codes, value_ranges, write_codes

Label: TypeAlias = Any
"""An original label value: an integer, a string, a boolean, a date, …"""

BLANKS: Final = frozenset({"", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null", "None", "<NA>"})
"""Strings that mean an unobserved label wherever they stand."""

WIDEST_SPAN: Final = 1 << 22
"""Integer columns wider than this (and than four values a row) are sorted instead of looked up in a table."""
FEW_CELLS: Final = 1 << 20
"""Up to so many, a copy in another type costs less than compiling kernels for one more."""
FEW_ROWS: Final = 1 << 13
"""Rows worth a call of the pass that writes codes."""


@dataclass(frozen=True, slots=True)
class MissingRule:
    """Which label values mean unobserved, beyond empty cells, and whether the caller has said so."""

    values: frozenset[tuple[bool, Label]] = frozenset()
    said: bool = False

    @classmethod
    def of(cls, missing: Any) -> "MissingRule":
        """From the caller's `missing=`: None (nothing said), one value, or several; `()` keeps every value a label."""
        if missing is None:
            return cls()
        several = isinstance(missing, (list, tuple, set, frozenset, np.ndarray))
        try:
            values = {label_key(_plain(value)) for value in (missing if several else (missing,))}
        except TypeError:
            raise ParameterError(
                f"missing={missing!r} is not a label value; give one value or a list of them"
            ) from None
        return cls(frozenset(values | {label_key(str(value)) for _, value in values}), said=True)

    def drops(self, value: Label) -> bool:
        """Whether this value means unobserved."""
        return (isinstance(value, str) and value.strip() in BLANKS) or label_key(value) in self.values


NOTHING_SAID: Final = MissingRule()
"""The rule of a table of which the caller has said nothing."""


@dataclass(frozen=True, slots=True)
class Indexed:
    """A column as indices into its distinct values; `sentinel` in `indices` where the cell is empty."""

    indices: IntArray
    values: Sequence[Label]


def label_key(value: Label) -> tuple[bool, Label]:
    """What tells two label values apart: True is not 1, though Python calls them equal."""
    return isinstance(value, bool), value


def _plain(value: Any) -> Label:
    return value.item() if isinstance(value, np.generic) else value


def refuse_minus_one(name: str, row: int) -> LabelError:
    """The error for a -1 of which nobody has said what it means."""
    return LabelError(
        f"column {name!r}, row {row + 1}: -1 may be a label or mean 'unobserved'; "
        "say missing=-1 (--missing=-1) if it is unobserved, missing=() (--missing=none) if it is a label"
    )


def code_integers(
    values: IntArray, sentinel: int, names: Sequence[str], rule: MissingRule
) -> tuple[IntArray, tuple[tuple[Label, ...], ...]]:
    """Codes (n, r) of an integer matrix in the smallest type, and each column's values in code order."""
    rows, columns = values.shape
    if values.size <= FEW_CELLS and values.dtype in (np.int8, np.int16):
        values = values.astype(np.int32)  # the type a text file is read in: small tables need no second set of kernels
    values = sealed(values)
    low, high = _ranges(values, sentinel)
    widest = max(WIDEST_SPAN // columns, 4 * rows, 256)
    if any(int(high[j]) - int(low[j]) >= widest for j in range(columns)):
        return _code_wide(values, sentinel, names, rule)
    spans = np.maximum(high - low + 1, 0)
    low = np.where(spans > 0, low, 0)
    offsets = np.concatenate([[0], np.cumsum(spans)]).astype(np.int64)
    codes = np.full(int(offsets[-1]), -1, np.int32)
    _mark_missing(codes, low, offsets, rule)
    found = np.zeros(columns, np.int64)
    first_codes(values, sentinel, low, offsets, codes, found)
    classes = tuple(_in_code_order(codes[offsets[j] : offsets[j + 1]], int(low[j])) for j in range(columns))
    _check_minus_one(values, classes, names, rule)
    labels = np.empty(values.shape, smallest_type(int(found.max(initial=0))))
    map_chunks(partial(write_codes, values, sentinel, low, offsets, codes, labels), rows, FEW_ROWS)
    return labels, classes


def _ranges(values: IntArray, sentinel: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    columns = values.shape[1]
    limits = np.iinfo(np.int64)

    def part(start: int, stop: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        low, high = np.full(columns, limits.max), np.full(columns, limits.min)
        value_ranges(values, sentinel, low, high, start, stop)
        return low, high

    parts = map_chunks(part, values.shape[0]) or [part(0, 0)]
    low = np.min([part[0] for part in parts], axis=0)
    high = np.max([part[1] for part in parts], axis=0)
    empty = low > high
    return np.where(empty, 0, low), np.where(empty, -1, high)


def _mark_missing(codes: IntArray, low: IntArray, offsets: IntArray, rule: MissingRule) -> None:
    for boolean, value in rule.values:
        if not boolean and isinstance(value, (int, float)) and abs(value) < 2**62 and value == int(value):
            place = offsets[:-1] + int(value) - low
            inside = (place >= offsets[:-1]) & (place < offsets[1:])
            codes[place[inside]] = -2


def _in_code_order(codes: IntArray, low: int) -> tuple[int, ...]:
    known = np.flatnonzero(codes >= 0)
    return tuple((known[np.argsort(codes[known])] + low).tolist())


def _check_minus_one(
    values: IntArray, classes: Iterable[tuple[Label, ...]], names: Sequence[str], rule: MissingRule
) -> None:
    if not rule.said:
        for j, column in enumerate(classes):
            if -1 in column:
                raise refuse_minus_one(names[j], int(np.argmax(values[:, j] == -1)))


def _code_wide(
    values: IntArray, sentinel: int, names: Sequence[str], rule: MissingRule
) -> tuple[IntArray, tuple[tuple[Label, ...], ...]]:
    columns = []
    for j in range(values.shape[1]):
        distinct, indices = np.unique(values[:, j], return_inverse=True)
        indices = np.where(values[:, j] == sentinel, MISSING, indices.reshape(-1))
        columns.append(Indexed(indices, distinct.tolist()))
    return code_indexed(columns, names, rule)


def code_indexed(
    columns: Sequence[Indexed], names: Sequence[str], rule: MissingRule
) -> tuple[IntArray, tuple[tuple[Label, ...], ...]]:
    """The same for columns that come as indices (MISSING where empty) into their distinct values."""
    matrix = np.empty((len(columns[0].indices), len(columns)), np.int32)
    for j, (column, name) in enumerate(zip(columns, names, strict=True)):
        matrix[:, j] = _merge_equal(column, name, rule)
    labels, order = code_integers(matrix, MISSING, names, MissingRule(said=True))
    classes = tuple(
        tuple(column.values[index] for index in picks) for column, picks in zip(columns, order, strict=True)
    )
    return labels, classes


def _merge_equal(column: Indexed, name: str, rule: MissingRule) -> IntArray:
    """Indices in which equal values share an index and values that mean missing are MISSING."""
    place: dict[tuple[bool, Label], int] = {}
    target = np.empty(len(column.values) + 1, np.int32)
    target[MISSING] = MISSING
    for index, value in enumerate(column.values):
        if rule.drops(value):
            target[index] = MISSING
        else:
            target[index] = place.setdefault(label_key(value), index)
    if not rule.said and label_key(-1) in place:
        raise refuse_minus_one(name, int(np.argmax(column.indices == place[label_key(-1)])))
    merged: IntArray = target[column.indices]
    return merged
