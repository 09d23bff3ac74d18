"""Typed column files: Parquet, and the observations of an AnnData file."""

import importlib
import warnings
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from partita.core.errors import FileError, MissingExtraError
from partita.io.options import ReadOptions
from partita.io.raw import Choice, Raw, check_several, choose, is_soft, some
from partita.io.source import Source

_EMPTY = np.iinfo(np.int64).min


def load_parquet(source: Source, options: ReadOptions) -> Raw:
    """The clusterings of a Parquet file; an index that pandas stored becomes the ids."""
    schema = parquet_schema(source)
    row_names = index_column_of(schema)
    choice = choose(schema.names, row_names, options)
    if not options.transpose:
        check_several([schema.names[j] for j in choice.labels])
    return read_parquet(source, schema, choice)


def parquet_schema(source: Source) -> pa.Schema:
    """The names and types of a Parquet file's columns."""
    try:
        schema = pq.read_schema(source.handle())
    except (pa.ArrowException, OSError) as error:
        raise _damaged(error) from None
    if not len(schema):
        raise FileError("holds no columns; give one column a clustering")
    return schema


def index_column_of(schema: pa.Schema) -> int | None:
    """Where pandas has stored the row names, if it has."""
    try:
        stored = [name for name in (schema.pandas_metadata or {}).get("index_columns", []) if isinstance(name, str)]
    except (ValueError, AttributeError, TypeError):
        return None
    return schema.names.index(stored[0]) if len(stored) == 1 and stored[0] in schema.names else None


def read_parquet(source: Source, schema: pa.Schema, choice: Choice) -> Raw:
    """The chosen columns; strings come as dictionaries, integers as one matrix."""
    wanted = [*choice.labels, *([] if choice.ids is None else [choice.ids])]
    names = [schema.names[j] for j in wanted]
    words = [schema.names[j] for j in choice.labels if pa.types.is_string(schema.types[j])]
    try:
        file = pq.ParquetFile(source.handle(), read_dictionary=words)
        table = file.read(columns=names).select(names)
    except (pa.ArrowException, OSError, KeyError, UnicodeDecodeError) as error:
        raise _damaged(error) from None
    if not table.num_rows:
        raise FileError("holds no rows; give one row an object")
    ids = None if choice.ids is None else table.column(len(names) - 1)
    columns = [_plain(table.column(place)) for place in range(len(choice.labels))]
    labels = tuple(names[: len(columns)])
    if all(pa.types.is_signed_integer(column.type) for column in columns) and not any(map(is_soft, labels)):
        return Raw(labels, matrix=_matrix(columns), empty=_EMPTY, ids=ids)
    return Raw(labels, tuple(columns), ids=ids)


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return column.cast(pa.float64()) if pa.types.is_decimal(column.type) else column


def _matrix(columns: list[pa.ChunkedArray]) -> Any:
    matrix = np.empty((len(columns[0]), len(columns)), np.int64)
    for j, column in enumerate(columns):
        filled = column.cast(pa.int64()).fill_null(_EMPTY) if column.null_count else column
        matrix[:, j] = filled.to_numpy()
    return matrix


def _damaged(error: Exception) -> FileError:
    reason = " ".join(str(error).split())[:160]
    return FileError(f"cannot be read as a Parquet file: it is cut off or damaged ({reason}); make it again")


def load_observations(source: Source, options: ReadOptions) -> Raw:
    """Clusterings among the observation columns of an AnnData file; the observation names are the ids."""
    frame = read_observations(source)
    names = [str(name) for name in frame.columns]
    if not options.columns:
        raise FileError(
            f"say which observation columns are clusterings by columns= (--columns); there are {some(names)}"
        )
    choice = choose(names, None, options)
    if not options.transpose:
        check_several([names[j] for j in choice.labels])
    ids = frame.index.to_numpy() if choice.ids is None else frame.iloc[:, choice.ids].to_numpy()
    return Raw(tuple(names[j] for j in choice.labels), tuple(frame.iloc[:, j] for j in choice.labels), ids=ids)


def read_observations(source: Source) -> Any:
    """The table of observations (a pandas DataFrame), and nothing else of the file."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            h5py = importlib.import_module("h5py")
            read_elem = importlib.import_module("anndata.io").read_elem
    except ImportError:
        raise MissingExtraError("reading AnnData files needs an extra: pip install 'partita[anndata]'") from None
    try:
        with warnings.catch_warnings(), h5py.File(source.handle(), "r") as file:
            warnings.simplefilter("ignore")
            frame = read_elem(file["obs"]) if "obs" in file else None
    except Exception as error:  # damaged HDF5 raises all kinds of errors
        reason = " ".join(str(error).split())[:160]
        raise FileError(
            f"cannot be read as an AnnData file: it is cut off or damaged ({reason}); make it again"
        ) from None
    if frame is None or not hasattr(frame, "columns"):
        raise FileError("holds no table of observations ('obs'); is this an AnnData file?")
    if not len(frame):
        raise FileError("holds no observations")
    return frame
