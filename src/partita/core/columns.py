"""One column of label values, whatever holds it, as indices into its distinct values."""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from partita.core.coding import Indexed, Label, MissingRule, code_indexed
from partita.core.errors import LabelError
from partita.core.types import MISSING, FloatArray, IntArray


def not_a_label(name: str, row: int, value: Any) -> LabelError:
    """The error for a number with a fraction where a label should stand."""
    return LabelError(
        f"column {name!r}, row {row + 1}: {value!r} is not a label; labels are whole numbers, strings, booleans or "
        f"categories (for memberships, name the columns {name}:0, {name}:1, …)"
    )


def index_column(column: Any, name: str) -> Indexed:
    """Any column (NumPy, pandas, polars, Arrow, a list) as indices into its distinct values."""
    array = _to_arrow(column)
    if array is None:
        return _index_objects(column, name)
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    if isinstance(array, pa.ChunkedArray):  # several chunks of a dictionary type stay chunked
        array = array.unify_dictionaries().combine_chunks()
    if pa.types.is_nested(array.type):
        raise LabelError(f"column {name!r}: holds {array.type} values; give one label a cell")
    if pa.types.is_null(array.type):
        return Indexed(np.full(len(array), MISSING, np.int32), ())
    if pa.types.is_floating(array.type):
        return _index_floats(array.to_numpy(zero_copy_only=False).astype(np.float64), name)
    encoded = array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
    indices = pc.fill_null(encoded.indices.cast(pa.int32()), MISSING).to_numpy(zero_copy_only=False)
    return _check_values(Indexed(indices, encoded.dictionary.to_pylist()), name)


def _to_arrow(column: Any) -> pa.Array | pa.ChunkedArray | None:
    """The column as an Arrow array, or None when its values are of several kinds."""
    if isinstance(column, (pa.Array, pa.ChunkedArray)):
        return column
    try:
        return pa.array(column, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return None


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
    floats = [index for index, value in enumerate(column.values) if isinstance(value, float)]
    nulls = [index for index, value in enumerate(column.values) if value is None]
    if not floats and not nulls:
        return column
    values: list[Label] = list(column.values)
    indices: IntArray = column.indices.copy()
    for index in floats:
        if values[index] != values[index]:
            nulls.append(index)
        elif not values[index].is_integer():
            rows = np.flatnonzero(indices == index)
            if len(rows):
                raise not_a_label(name, int(rows[0]), values[index])
        else:
            values[index] = int(values[index])
    indices[np.isin(indices, nulls)] = MISSING
    return Indexed(indices, values)


def _is_empty(value: Any) -> bool:
    if value is None:
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):
        return True  # pandas.NA refuses to be compared


def _index_objects(column: Any, name: str) -> Indexed:
    """Columns that mix kinds of values, by a dictionary; a boolean is not the integer it equals."""
    place: dict[tuple[bool, Label], int] = {}
    indices = np.empty(len(column), np.int32)
    for row, value in enumerate(column):
        plain = value.item() if isinstance(value, np.generic) else value
        try:
            if _is_empty(plain):
                indices[row] = MISSING
            else:
                indices[row] = place.setdefault((isinstance(plain, bool), plain), len(place))
        except (TypeError, ValueError):
            raise LabelError(
                f"column {name!r}, row {row + 1}: {plain!r} is not one label; give one label a cell"
            ) from None
    return _check_values(Indexed(indices, [value for _, value in place]), name)


def code_labels(values: Any, name: str) -> IntArray:
    """One labelling as codes by first appearance; empty cells and -1 are MISSING.

    >>> code_labels(["b", "a", None, "b"], "truth").tolist()
    [0, 1, -1, 0]
    """
    column = index_column(values, name)
    labels, _ = code_indexed([column], [name], MissingRule.of(MISSING))
    return labels[:, 0].astype(np.int32)
