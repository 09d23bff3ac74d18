"""One column of label values, whatever holds it, as indices into its distinct values."""

from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from partita.core.coding import Indexed, Label, MissingRule, code_indexed, label_key
from partita.core.errors import LabelError, ParameterError
from partita.core.texts import WAY_OUT, first_invalid, first_invalid_cell
from partita.core.types import MISSING, FloatArray, IntArray, is_sequence
from partita.core.ways_out import ways_out

PURE_KINDS: Final = ({str}, {int}, {bool}, {float}, {int, float})
"""Kinds of Python values that Arrow reads without changing any; a column of other mixtures is looked up one by one."""


def not_a_label(name: str, row: int, value: Any) -> LabelError:
    """The error for a number with a fraction where a label should stand."""
    return LabelError(
        f"column {name!r}, row {row + 1}: {value!r} is not a label; labels are whole numbers, strings, booleans or "
        f"categories (for memberships, name the columns {name}:0, {name}:1, …); {ways_out().without([name])} if it is "
        "not a clustering"
    )


def not_text(name: str, row: int) -> LabelError:
    """Return the error for a label with an invalid code point, which itself may be impossible to print."""
    return LabelError(f"column {name!r}, row {row + 1}: the label has an invalid code point; {WAY_OUT}")


def index_column(column: Any, name: str) -> Indexed:
    """Any column (NumPy, pandas, polars, Arrow, a list) as indices into its distinct values."""
    cell = first_invalid_cell(column) if isinstance(column, np.ndarray) else None
    if cell is not None:
        raise not_text(name, cell[0])
    if str(getattr(column, "dtype", "")) == "category" and hasattr(column, "cat"):
        return _check_values(Indexed(column.cat.codes.to_numpy(), column.cat.categories.tolist()), name)
    array = _to_arrow(column)
    if array is None:
        return _index_objects(column.to_pylist() if hasattr(column, "to_pylist") else list(column), name)
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    if isinstance(array, pa.ChunkedArray):  # several chunks of a dictionary type stay chunked
        array = array.unify_dictionaries().combine_chunks()
    if pa.types.is_null(array.type):
        return Indexed(np.full(len(array), MISSING, np.int32), ())
    if pa.types.is_floating(array.type):
        return _index_floats(array.to_numpy(zero_copy_only=False).astype(np.float64), name)
    encoded = array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
    indices = pc.fill_null(encoded.indices.cast(pa.int32()), MISSING).to_numpy(zero_copy_only=False)
    return _check_values(Indexed(indices, _python_values(encoded.dictionary)), name)


def _python_values(dictionary: pa.Array) -> list[Label]:
    try:
        values: list[Label] = dictionary.to_pylist()
    except (OverflowError, ValueError):  # dates that Python's calendar does not reach
        values = dictionary.cast(pa.string()).to_pylist()
    return values


def _to_arrow(column: Any) -> pa.Array | pa.ChunkedArray | None:
    """The column as an Arrow array, or None when Arrow would change, refuse or not survive its values."""
    if not isinstance(column, (pa.Array, pa.ChunkedArray)):
        if isinstance(column, (list, tuple)) or str(getattr(column, "dtype", "")) == "object":
            column = list(column)
            kinds = {type(value) for value in column if value is not None}
            if kinds and kinds not in PURE_KINDS:
                return None
        try:
            column = pa.array(column, from_pandas=True)
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            return None
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    return None if isinstance(kind, pa.BaseExtensionType) or pa.types.is_nested(kind) else column


def whole_numbers(values: FloatArray, name: str) -> FloatArray:
    """The values themselves when all are whole or NaN; the first that is not raises."""
    bad = ~(np.isnan(values) | ((values == np.rint(values)) & (np.abs(values) < 2**53)))
    if bad.any():
        row = int(np.argmax(bad))
        raise not_a_label(name, row, float(values[row]))
    return values


def _index_floats(values: FloatArray, name: str) -> Indexed:
    known = ~np.isnan(whole_numbers(values, name))
    distinct, places = np.unique(values[known], return_inverse=True)
    indices = np.full(len(values), MISSING, np.int32)
    indices[known] = places
    return Indexed(indices, [int(value) for value in distinct])


def _check_values(column: Indexed, name: str) -> Indexed:
    """Categories may be floats or NaN: whole ones become integers, NaN becomes missing, others raise."""
    values: list[Label] = list(column.values)
    bad = first_invalid(values)
    if bad is not None:
        raise not_text(name, int(np.argmax(column.indices == bad)))
    odd = [index for index, value in enumerate(values) if value is None or isinstance(value, float)]
    if not odd:
        return column
    indices: IntArray = column.indices.astype(np.int32)
    for index in odd:
        if is_empty(values[index]):
            indices[indices == index] = MISSING
        elif values[index].is_integer():
            values[index] = int(values[index])
        else:
            rows = np.flatnonzero(indices == index)
            if len(rows):
                raise not_a_label(name, int(rows[0]), values[index])
    return Indexed(indices, values)


def is_empty(value: Any) -> bool:
    """Return True for a missing cell: None, a not-a-number of any kind, pandas.NA, `numpy.ma.masked`."""
    if value is None or value is np.ma.masked or type(value).__name__ == "NAType":
        return True
    try:
        return bool(value != value)
    except ArithmeticError:  # a signalling NaN
        return True


def _index_objects(column: list[Any], name: str) -> Indexed:
    """Columns that mix kinds of values, by a dictionary."""
    place: dict[tuple[bool, Label], int] = {}
    indices = np.empty(len(column), np.int32)
    for row, value in enumerate(column):
        plain = value.item() if isinstance(value, np.generic) else value
        plain = float(plain) if isinstance(plain, np.floating) else plain
        try:
            container = hasattr(plain, "__len__") and not isinstance(plain, (str, bytes)) and plain is not np.ma.masked
            if container or (plain is not None and type(plain).__hash__ is object.__hash__):
                raise TypeError  # several labels, or an object that equals nothing but itself
            empty = is_empty(plain)
            indices[row] = MISSING if empty else place.setdefault(label_key(plain), len(place))
        except (TypeError, ValueError):
            raise LabelError(
                f"column {name!r}, row {row + 1}: {plain!r:.60} is not one label; give one label a cell"
            ) from None
    return _check_values(Indexed(indices, [value for _, value in place]), name)


MINUS_ONE: Final = MissingRule.of(MISSING)


def code_labels(values: Any, name: str, rule: MissingRule = MINUS_ONE) -> IntArray:
    """One labelling as codes by first appearance; empty cells and, unless the rule says otherwise, -1 are MISSING.

    >>> code_labels(["b", "a", None, "b"], "truth").tolist()
    [0, 1, -1, 0]
    """
    return code_column(values, name, rule)[0]


def code_column(
    values: Any, name: str, rule: MissingRule = MINUS_ONE
) -> tuple[IntArray, tuple[tuple[Label, ...], ...]]:
    """Return the codes of one labeling, and a tuple with its label values in the order of the codes."""
    if not is_sequence(values):
        kind = f"{type(values).__name__} of shape {getattr(values, 'shape', ())}".removesuffix(" of shape ()")
        raise ParameterError(f"{name} is a {kind}; give an array, a list or a column with one label an object")
    if len(values) == 0:
        raise ParameterError(f"{name} is empty; give one label an object")
    column = values.to_arrow() if hasattr(values, "to_arrow") else values
    labels, classes = code_indexed([index_column(column, name)], [name], rule)
    return labels[:, 0].astype(np.int32), classes
