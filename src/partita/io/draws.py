"""Draws of partitions from any label file, and as a file."""

import gzip
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any, Final, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from partita.core.checks import MIN_ID_ROWS
from partita.core.coding import MissingRule
from partita.core.draws import Draws
from partita.core.errors import FileError, LabelError, ParameterError, TableError
from partita.core.fields import check_ids
from partita.core.types import MISSING, IntArray
from partita.core.ways_out import FILE, offering
from partita.io.assemble import code, id_array
from partita.io.formats import READABLE, STREAM, TEXT, check_format, detect_format, is_packed
from partita.io.options import ReadOptions
from partita.io.raw import Raw, select
from partita.io.reading import load
from partita.io.source import checked_path, naming, open_source
from partita.io.summary import id_list
from partita.io.writing import check_place, replacing, write_parquet, write_text

WRITABLE: Final = ("csv", "tsv", "parquet", "npy")
ROWS_AT_A_TIME: Final = 1 << 14


@dataclass(frozen=True, slots=True, eq=False)
class DrawsTable:
    """Draws read from a file, and what it calls draws and objects."""

    draws: Draws
    names: tuple[str, ...]
    """What the draws are called."""
    ids: NDArray[Any] | None
    """(n,) what the objects are called, if the file says."""


def read_draws(
    path: str | Path,
    by: Literal["columns", "rows"] = "columns",
    options: ReadOptions = ReadOptions(),  # noqa: B008  # frozen
) -> DrawsTable:
    """The draws in a label file, one a column (objects in rows) or one a row; `-` is standard input.

    Clusters may be called anything in each draw. Every draw must place every object; an object may lack its label in
    all draws, as `write_draws` leaves it, or be -1 in all, unless `missing` says otherwise. A first column called id
    holds the ids. Formats and options are those of `partita.read`, less weights.
    """
    if by not in ("columns", "rows"):
        raise ParameterError(f"by={by!r} is neither; say columns (one draw a column) or rows (one draw a row)")
    missing = MISSING if options.missing is None else options.missing
    options = replace(options, transpose=by == "rows", one=True, missing=missing)
    with naming(path), offering(FILE):
        raw = load(open_source(path, options.format, READABLE, options.max_input_gb), options)
        if by == "rows":
            raw = raw.turned()
            raw = raw.pick(select(raw.names, range(len(raw.names)), options))
        else:
            raw = _with_ids(raw)
        labels, _ = code(raw, MissingRule.of(options.missing))
        if raw.header:
            _check_ids_apart(labels, raw.names)
        _check_complete(labels, raw.names)
        return DrawsTable(Draws.of(labels.T), raw.names, id_array(raw.ids, raw.rows))


def _with_ids(raw: Raw) -> Raw:
    """A first column called id as the ids of the objects, where the file has no others."""
    if raw.ids is not None or len(raw.names) < 2 or not raw.header or raw.names[0].strip().lower() != "id":
        return raw
    ids = raw.columns[0] if raw.matrix is None else raw.matrix[:, 0]
    return replace(raw.pick(range(1, len(raw.names))), ids=ids)


def _check_ids_apart(labels: IntArray, names: tuple[str, ...]) -> None:
    """Refuse a file of which one column alone, all values different, looks like ids."""
    if len(labels) < MIN_ID_ROWS or len(names) < 2:
        return
    different = np.flatnonzero(labels.max(axis=0) == len(labels) - 1)
    if len(different) == 1:
        name = names[int(different[0])]
        raise LabelError(
            f"column {name!r}: each of the {len(labels)} rows has another value, so these look like ids, not a draw; "
            f"say ids={name!r} (--id {name}) if they are, or leave the column out (--exclude {name})"
        )


def _check_complete(labels: IntArray, names: tuple[str, ...]) -> None:
    absent = labels == MISSING
    lacking = absent.any(axis=1)
    if lacking.all():
        raise TableError("no object has a label in every draw; say by= (--by) if the draws stand the other way")
    partly = lacking & ~absent.all(axis=1)
    if partly.any():
        row = int(np.argmax(partly))
        name = names[int(np.argmax(absent[row]))]
        raise LabelError(
            f"draw {name!r}, object {row + 1}: no label, though other draws have one; every draw must place every "
            "object: leave out the draw (--exclude) or the object, or, where -1 is a cluster, say missing=() "
            "(--missing=none)"
        )


def write_draws(
    draws: Draws,
    path: str | Path,
    ids: Any = None,
    format: str | None = None,  # noqa: A002  # as in `write`
) -> None:
    """Write draws, one a column, as CSV, TSV (also .gz), Parquet or NPY, whole or not at all; `read_draws` reads them.

    The columns are the ids, if they are given, and `draw 1`, `draw 2`, …; cells of MISSING objects are empty. NPY holds
    the numbers alone, (n, draws), MISSING as -1.
    """
    with naming(path):
        chosen = check_format(format or detect_format(path), WRITABLE)
        names = check_ids(ids, draws.labels.shape[1])
        check_place(Path(path))
        with replacing(Path(path)) as file:
            if chosen in TEXT and is_packed(path):
                with gzip.GzipFile(fileobj=file, mode="wb", compresslevel=5, mtime=0, filename="") as packed:
                    _put(draws, names, chosen, packed)  # type: ignore[arg-type]  # a binary file in all but name
            else:
                _put(draws, names, chosen, file)


def check_draws_path(path: Any) -> None:
    """Refuse, before long work, a path to which no draws could be written."""
    with naming(path):
        if str(path) == STREAM:
            raise FileError("draws are written to a file, not to standard output; give a path such as draws.npy")
        check_format(detect_format(path), WRITABLE)
        check_place(checked_path(path))


def _put(draws: Draws, ids: NDArray[Any] | None, kind: str, file: IO[bytes]) -> None:
    if kind == "npy":
        np.save(file, np.ascontiguousarray(draws.labels.T), allow_pickle=False)
    elif kind == "parquet":
        write_parquet(_parts(draws, ids), {}, file)
    else:
        write_text(_parts(draws, ids), "\t" if kind == "tsv" else ",", file)


def _parts(draws: Draws, ids: NDArray[Any] | None) -> Iterator[pa.Table]:
    """The table in pieces of rows."""
    names = [f"draw {number}" for number in range(1, len(draws) + 1)]
    called = None if ids is None else id_list(ids)
    for start in range(0, draws.labels.shape[1], ROWS_AT_A_TIME):
        rows = slice(start, start + ROWS_AT_A_TIME)
        columns = [pa.array(row[rows], mask=row[rows] == MISSING) for row in draws.labels]
        if called is not None:
            yield pa.Table.from_arrays([called[rows], *columns], names=["id", *names])
        else:
            yield pa.Table.from_arrays(columns, names=names)
