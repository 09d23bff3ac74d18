"""Typed column files: Parquet, and the observations of an AnnData file."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from partita.core.errors import DuplicateNamesWarning, FileError, warn
from partita.io.annotation import figure_keys, results_in
from partita.io.hdf5 import check_loaded_size, import_hdf5_package, open_hdf5
from partita.io.limits import ID_BYTES, check_input_size
from partita.io.options import ReadOptions
from partita.io.raw import Choice, Raw, check_several, choose, is_soft, some
from partita.io.source import Source, guarded
from partita.io.text import check_distinct

_EMPTY = np.iinfo(np.int64).min


def load_parquet(source: Source, options: ReadOptions) -> Raw:
    """The clusterings of a Parquet file; an index that pandas stored becomes the ids."""
    schema = parquet_schema(source)
    row_names = index_column_of(schema)
    names = schema.names  # a new list at each access
    choice = choose(names, row_names, options)
    if not options.transpose:
        check_several([names[j] for j in choice.labels], options)
    return read_parquet(source, schema, choice)


def parquet_schema(source: Source) -> pa.Schema:
    """The names and types of a Parquet file's columns."""

    def read_schema() -> tuple[pa.Schema, list[str]]:
        with source.open() as file:
            found = pq.ParquetFile(file)
            check_one_file(found.metadata)
            return found.schema_arrow, found.schema_arrow.names

    schema, names = guarded(read_schema, "a Parquet file")
    if not names:
        raise FileError("holds no columns; give one column a clustering")
    return schema


def check_one_file(metadata: pq.FileMetaData) -> None:
    """Raise if a column of a Parquet file is stored in another file; Arrow would read other bytes in its place."""
    for group in range(metadata.num_row_groups):
        chunks = metadata.row_group(group)
        for j in range(chunks.num_columns):
            other = chunks.column(j).file_path
            if other:
                raise FileError(
                    f"column {chunks.column(j).path_in_schema!r:.80} has its values in another file ({other!r:.300}); "
                    "a file may read no other file: read that one, or write one file with all values"
                )


def index_column_of(schema: pa.Schema) -> int | None:
    """Where pandas has stored the row names, if it has."""
    try:
        stored = [name for name in (schema.pandas_metadata or {}).get("index_columns", []) if isinstance(name, str)]
    except (ValueError, AttributeError, TypeError):
        return None
    names = schema.names
    return names.index(stored[0]) if len(stored) == 1 and stored[0] in names else None


def read_parquet(source: Source, schema: pa.Schema, choice: Choice) -> Raw:
    """The chosen columns; strings come as dictionaries, integers as one matrix."""
    all_names, all_types = schema.names, schema.types  # new lists at each access
    names, types = (tuple(values[j] for j in choice.labels) for values in (all_names, all_types))
    wanted = [*choice.labels, *([] if choice.ids is None else [choice.ids])]
    words = [all_names[j] for j in wanted if is_text(all_types[j])]
    whole = all(map(pa.types.is_signed_integer, types)) and not any(map(is_soft, names))

    def read_raw() -> Raw:
        with source.open() as opened:
            file = pq.ParquetFile(opened, read_dictionary=words)
            _check_memory(file.metadata, {all_names[j]: all_types[j] for j in wanted}, source.limit)
            ids = None if choice.ids is None else _decoded(_column(file, all_names[choice.ids]), source.limit)
            if whole:
                return Raw(names, matrix=_matrix(file, names), empty=_EMPTY, ids=ids)
            columns = [_plain(_column(file, name)) for name in names]
            check_distinct(columns, source.limit)
            return Raw(names, tuple(columns), ids=ids)

    raw = guarded(read_raw, "a Parquet file")
    if not raw.rows:
        raise FileError("holds no rows; give one row an object")
    return raw


def is_text(kind: pa.DataType) -> bool:
    """Return whether a column has text or bytes of any length, which Arrow can read as a dictionary."""
    types = pa.types
    return bool(
        types.is_string(kind)
        or types.is_large_string(kind)
        or types.is_string_view(kind)
        or types.is_binary(kind)
        or types.is_large_binary(kind)
        or types.is_binary_view(kind)
    )


def _check_memory(metadata: pq.FileMetaData, kinds: dict[str, pa.DataType], limit: int) -> None:
    """Raise if columns need too much memory: in a file, a run of equal values takes a few bytes."""
    rows, texts = metadata.num_rows, 0
    for group in range(metadata.num_row_groups):
        chunks = metadata.row_group(group)
        for j in range(chunks.num_columns):
            chunk = chunks.column(j)
            if chunk.path_in_schema in kinds:
                texts += chunk.total_uncompressed_size
    cells = sum(rows * (4 if is_text(kind) else max(8, _width(kind))) for kind in kinds.values())
    check_input_size(cells + texts, limit, f"the table of {rows} rows and {len(kinds)} columns")


def _width(kind: pa.DataType) -> int:
    """Return the number of bytes of a value, 0 for types without a fixed one."""
    try:
        return int(kind.bit_width) // 8
    except ValueError:
        return 0


def _decoded(column: pa.ChunkedArray, limit: int) -> pa.ChunkedArray:
    """Return a column of ids without dictionary."""
    if not pa.types.is_dictionary(column.type):
        return column
    lengths = [pc.binary_length(chunk.dictionary).take(chunk.indices) for chunk in column.chunks]
    needed = sum(pc.sum(length).as_py() or 0 for length in lengths)
    check_input_size(needed + ID_BYTES * len(column), limit, f"the column of {len(column)} ids")
    return column.cast(column.type.value_type)


def _column(file: pq.ParquetFile, name: str) -> pa.ChunkedArray:
    """One column, checked to the last byte; one at a time, so that only one is in memory twice."""
    table = file.read(columns=[name])
    column = table.column(table.column_names.index(name))
    column.validate(full=True)
    if len(column) != file.metadata.num_rows:
        raise ValueError("a column has not as many rows as the file says")
    return column


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return column.cast(pa.float64()) if pa.types.is_decimal(column.type) else column


def _matrix(file: pq.ParquetFile, names: tuple[str, ...]) -> NDArray[np.int64]:
    matrix = np.empty((file.metadata.num_rows, len(names)), np.int64)
    for j, name in enumerate(names):
        column = _column(file, name)
        matrix[:, j] = (column.cast(pa.int64()).fill_null(_EMPTY) if column.null_count else column).to_numpy()
    return matrix


def load_observations(source: Source, options: ReadOptions) -> Raw:
    """Clusterings among the observation columns of an AnnData file; the observation names are the ids.

    Results of ours are no clusterings, unless they are asked for by name.
    """
    frame = read_observations(source)
    names = [str(name) for name in frame.columns]
    if not options.columns:
        raise FileError(
            f"say which observation columns are clusterings by columns= (--columns); there are {some(names)}"
        )
    made = [name for name in earlier_results(source) if name in names and name not in options.columns]
    choice = choose(names, None, replace(options, exclude=(*options.exclude, *made)))
    if not options.transpose:
        check_several([names[j] for j in choice.labels], options)
    ids = observation_names(frame) if choice.ids is None else frame.iloc[:, choice.ids].to_numpy()
    return Raw(tuple(names[j] for j in choice.labels), tuple(frame.iloc[:, j] for j in choice.labels), ids=ids)


def read_observations(source: Source) -> Any:
    """The table of observations (a pandas DataFrame), and nothing else of the file."""
    (frame,) = _read_elements(source, ("obs",))
    if frame is None or not hasattr(frame, "columns"):
        raise FileError("holds no table of observations ('obs'); is this an AnnData file?")
    if not len(frame):
        raise FileError("holds no observations")
    return frame


def observation_names(frame: Any) -> Any:
    """What the observations are called; where two have the same name, all go by their rows."""
    if frame.index.is_unique:
        return frame.index.to_numpy()
    twin = frame.index[frame.index.duplicated()][0]
    warn(DuplicateNamesWarning(f"several observations are called {twin!r}: objects are matched by row position"))
    return None


def earlier_results(source: Source) -> list[str]:
    """The columns of the observations that hold results of ours."""
    found: list[str] = _seen(source, results_in)
    return [*found, *(column for key in found for column in figure_keys(key))]


def read_anndata(source: Source) -> tuple[Any, Any, Any]:
    """The tables of observations and of variables (pandas DataFrames), and the matrix X, None where there is none."""
    frame, variables, X = _read_elements(source, ("obs", "var", "X"))
    if not hasattr(frame, "columns") or not hasattr(variables, "columns"):
        raise FileError("holds no tables of observations and variables; is this an AnnData file?")
    return frame, variables, X


def _read_elements(source: Source, names: tuple[str, ...]) -> list[Any]:
    """Parts of an AnnData file, None where one is not there."""
    read_elem = import_hdf5_package("anndata.io").read_elem

    def look(file: Any) -> list[Any]:
        items = {name: file[name] for name in names if name in file}
        check_loaded_size(items.values(), source.limit)
        return [read_elem(items[name]) if name in items else None for name in names]

    return list(_seen(source, look))


def _seen(source: Source, look: Callable[[Any], Any]) -> Any:
    """What is seen in the open file."""

    def read() -> Any:
        with open_hdf5(source.handle()) as file:
            return look(file)

    return guarded(read, "an AnnData file")
