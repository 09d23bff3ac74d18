"""Cells as labels and memberships: when text means numbers, and what a membership column may hold."""

import re
from typing import Any

import numpy as np
import pyarrow as pa

from partita.core.coding import BLANKS, Indexed, Label, MissingRule
from partita.core.columns import index_column, not_a_label
from partita.core.errors import LabelError
from partita.core.types import FloatArray
from partita.io.header import NUMBER

_WHOLE = re.compile(r"([+-]?[0-9]{1,300})(?:\.0*)?")


def index_text(column: Any, name: str, rule: MissingRule) -> Indexed:
    """A column of text as indices into its distinct labels; they are integers when every known one is a number.

    >>> index_text(["1", "01", "1.0", "NA"], "a", MissingRule()).values
    [1, 1, 1, 'NA']
    """
    found = index_column(pa.array(column, pa.string()) if isinstance(column, list) else column, name)
    values: list[Label] = [value.strip() for value in found.values]
    known = [index for index, value in enumerate(values) if not rule.drops(value)]
    if all(NUMBER.fullmatch(values[index]) and len(values[index]) <= 300 for index in known):
        for index in known:
            values[index] = _whole_number(found, index, name)
    return Indexed(found.indices, values)


def _whole_number(column: Indexed, index: int, name: str) -> int:
    text = column.values[index].strip()
    whole = _WHOLE.fullmatch(text)
    if whole:
        return int(whole[1])
    value = float(text)
    if value.is_integer() and abs(value) < 2**53:
        return int(value)
    raise not_a_label(name, int(np.argmax(column.indices == index)), value)


def memberships(column: Any, name: str) -> FloatArray:
    """A column of memberships as floats, NaN where empty."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if isinstance(column, pa.Array):
        if pa.types.is_floating(column.type) or pa.types.is_integer(column.type):
            numbers: FloatArray = column.to_numpy(zero_copy_only=False).astype(np.float64)
            return numbers
        column = column.to_pylist()
    if isinstance(column, np.ndarray) and column.dtype.kind in "iuf":
        return column.astype(np.float64)
    return np.array([_membership(value, row, name) for row, value in enumerate(column)], dtype=np.float64)


def _membership(value: Any, row: int, name: str) -> float:
    if value is None or (isinstance(value, str) and value.strip() in BLANKS):
        return np.nan
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise not_a_membership(name, row, value) from None


def not_a_membership(name: str, row: int, value: Any) -> LabelError:
    """The error for a cell of a membership block that is no number."""
    return LabelError(
        f"column {name!r}, row {row + 1}: {value!r} is not a membership; give a number between 0 and 1, "
        "or leave every cell of the row's block empty if it is unobserved"
    )
