"""Tables of features from files: objects in rows, one column a feature."""

from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from partita.core.errors import FileError
from partita.core.features import Features, as_features, checked, not_a_number
from partita.core.types import FloatArray
from partita.core.ways_out import FILE, offering
from partita.io.arrays import read_arrays
from partita.io.assemble import id_array
from partita.io.columnar import index_column_of, observation_names, parquet_schema, read_anndata, read_parquet
from partita.io.formats import READABLE, TEXT
from partita.io.options import ReadOptions
from partita.io.raw import Raw, as_list, choose, some
from partita.io.source import Source, naming, open_source
from partita.io.text import read_numbers, read_top

TABLES: Final[tuple[str, ...]] = ("X", "features", "data", "fea", "")
"""Arrays that hold the features in a file of several."""


def read_features(
    path: str | Path,
    options: ReadOptions = ReadOptions(),  # noqa: B008  # frozen
    gaps: bool = False,
) -> Features:
    """The features in a file, `-` for standard input: CSV and TSV (also .gz), Parquet, NPY, NPZ, MAT, and AnnData's X.

    Of the options, `format`, `id`, `columns`, `exclude`, `header` and `max_input_gb` count. A cell that is not a
    finite number raises a line that names file, row and column; with `gaps`, empty cells and such numbers are let
    through, as NaN.
    """
    with naming(path), offering(FILE):
        source = open_source(path, options.format, READABLE, options.max_input_gb)
        if source.format in TEXT:
            return _of_columns(_from_text(source, options), gaps)
        if source.format == "parquet":
            schema = parquet_schema(source)
            return _of_columns(
                read_parquet(source, schema, choose(schema.names, index_column_of(schema), options)), gaps
            )
        if source.format == "h5ad":
            return _from_anndata(source, options)
        return _from_arrays(source, options, gaps)


def _from_text(source: Source, options: ReadOptions) -> Raw:
    data, header = read_top(source, options.header)
    return read_numbers(data, header, choose(header.names, header.row_names, options), source.limit)


def _of_columns(raw: Raw, gaps: bool) -> Features:
    ids = id_array(raw.ids, raw.rows)
    if raw.matrix is not None:
        matrix = raw.matrix.astype(np.float64)
        matrix[raw.matrix == raw.empty] = np.nan
    else:
        matrix = np.stack([_numbers(col, name) for col, name in zip(raw.columns, raw.names, strict=True)], axis=1)
    return checked(matrix, list(raw.names), ids, gaps)


def _numbers(column: Any, name: str) -> FloatArray:
    """A column as floats, NaN where it is empty; the first cell that is no number raises."""
    kind = column.type
    if pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_boolean(kind):
        found: FloatArray = column.cast(pa.float64(), safe=False).to_numpy()
        return found
    return np.array([_number(cell, row, name) for row, cell in enumerate(as_list(column))], dtype=np.float64)


def _number(cell: Any, row: int, name: str) -> float:
    try:
        return np.nan if cell is None or cell == "" else float(cell)
    except (TypeError, ValueError):
        raise not_a_number(name, row, cell) from None


def _from_arrays(source: Source, options: ReadOptions, gaps: bool) -> Features:
    arrays = read_arrays(source)
    named = [name for name in TABLES if name in arrays]
    tables = named or [name for name, array in arrays.items() if array.ndim == 2]
    if not named and len(tables) != 1:
        raise FileError(f"holds {some(list(arrays)) or 'nothing'}; save the features alone, or as an array called 'X'")
    array = arrays[tables[0]]
    if array.ndim != 2:
        raise FileError(f"the array has shape {array.shape}; features have objects in rows and features in columns")
    names = [f"f{j}" for j in range(array.shape[1])]
    return _chosen(array, names, arrays.get("ids"), options, gaps)


def _chosen(array: NDArray[Any], names: list[str], ids: Any, options: ReadOptions, gaps: bool = False) -> Features:
    """Some of the columns of an array; one of them may hold the ids."""
    choice = choose(names, None, options)
    ids = ids if choice.ids is None else array[:, choice.ids]
    return checked(array[:, list(choice.labels)], [names[j] for j in choice.labels], ids, gaps)


def _from_anndata(source: Source, options: ReadOptions) -> Features:
    frame, variables, X = read_anndata(source)
    if X is None:
        raise FileError("holds no X; give a file with a matrix of features")
    return _chosen(as_features(X).matrix, [str(name) for name in variables.index], observation_names(frame), options)
