"""A consensus as a file, whole or not at all."""

import csv
import gzip
import io
import json
import os
import secrets
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from partita.core.consensus import Consensus
from partita.core.errors import FileError
from partita.io.formats import STREAM, TEXT, WRITABLE, check_format, detect_format, is_packed
from partita.io.labelling import CONSENSUS
from partita.io.source import naming
from partita.io.summary import id_list, nullable, recipe_of, summary

_METADATA_KEY = b"partita"


def write(
    consensus: Consensus,
    path: str | Path,
    format: str | None = None,  # noqa: A002
    membership: bool = True,
    id_name: str = "id",
) -> None:
    """Write labels, confidence and memberships as CSV, TSV (also .gz), Parquet or JSON; `-` is standard output.

    The columns are the ids (called `id_name`) if there are any, `consensus`, `confidence`, and `consensus:0`, … when
    there are memberships and `membership` is true. The file appears whole or not at all.
    """
    with naming(path, "standard output"):
        chosen = _format(path, format)
        put = _writer(consensus, chosen, membership, id_name)
        if str(path) == STREAM:
            return _to_stdout(put)
        _check_place(Path(path))
        with replacing(Path(path)) as file:
            if chosen != "parquet" and is_packed(path):
                with gzip.GzipFile(fileobj=file, mode="wb", compresslevel=5, mtime=0, filename="") as packed:
                    put(packed)  # type: ignore[arg-type]  # a GzipFile is a binary file in all but name
            else:
                put(file)
    return None


def check_writable(path: str | Path, format: str | None = None) -> None:  # noqa: A002
    """Refuse, before long work, a path to which nothing could be written."""
    with naming(path, "standard output"):
        _format(path, format)
        if str(path) != STREAM:
            _check_place(Path(path))


def _format(path: str | Path, kind: str | None) -> str:
    if kind is not None:
        return check_format(kind, WRITABLE)
    return "csv" if str(path) == STREAM else check_format(detect_format(path), WRITABLE)


def _check_place(path: Path) -> None:
    folder = path.parent
    if "\0" in str(path):
        raise FileError("the path holds a zero byte; check the path")
    if path.is_dir():
        raise FileError("is a directory; give a file")
    if not folder.exists():
        raise FileError(f"the folder {str(folder)!r} does not exist; make it first")
    if not folder.is_dir():
        raise FileError(f"{str(folder)!r} is not a folder; give another path")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise FileError(f"the folder {str(folder)!r} is not writable; give another path")


def _writer(consensus: Consensus, kind: str, membership: bool, id_name: str) -> Callable[[IO[bytes]], None]:
    """What puts the result into an open file."""
    if kind == "json":
        return lambda file: _write_json(consensus, membership, file)
    table = _table(consensus, membership, id_name)
    if kind in TEXT:
        return lambda file: _write_text(table, "\t" if kind == "tsv" else ",", file)
    notes = {_METADATA_KEY: json.dumps(recipe_of(consensus), allow_nan=False).encode()}
    return lambda file: pq.write_table(table.replace_schema_metadata(notes), file)


def _table(consensus: Consensus, membership: bool, id_name: str) -> pa.Table:
    columns: dict[str, Any] = {}
    if consensus.ids is not None:
        columns[id_name] = id_list(consensus.ids)
    reserved = {CONSENSUS: pa.array(np.asarray(consensus.labels))}
    if consensus.confidence is not None:
        reserved["confidence"] = nullable(consensus.confidence)
    if membership and consensus.membership is not None:
        shares = consensus.membership
        reserved |= {f"{CONSENSUS}:{j}": nullable(shares[:, j]) for j in range(shares.shape[1])}
    if columns and id_name in reserved:
        raise FileError(
            f"the id column cannot be called {id_name!r}, which is a column of the result; give another name"
        )
    return pa.table(columns | reserved)


def _write_text(table: pa.Table, delimiter: str, file: IO[bytes]) -> None:
    header = io.StringIO()
    csv.writer(header, delimiter=delimiter, lineterminator="\n").writerow(table.column_names)
    file.write(header.getvalue().encode())
    first = table.column(0)
    special = pa.types.is_string(first.type) or pa.types.is_large_string(first.type)
    special = special and pc.any(pc.match_substring_regex(first, f'["\r\n{delimiter}]')).as_py()
    style = "needed" if special else "none"  # Arrow quotes every text or none
    options = pacsv.WriteOptions(include_header=False, delimiter=delimiter, quoting_style=style)
    pacsv.write_csv(table, file, options)


def _write_json(consensus: Consensus, membership: bool, file: IO[bytes]) -> None:
    file.write(json.dumps(summary(consensus, membership), allow_nan=False).encode() + b"\n")


def _to_stdout(put: Callable[[IO[bytes]], None]) -> None:
    held = io.BytesIO()
    put(held)
    out = getattr(sys.stdout, "buffer", None)
    sys.stdout.flush()
    if out is not None:
        out.write(held.getbuffer())
        out.flush()
    else:
        sys.stdout.write(held.getvalue().decode())


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """A new file beside `path` that takes its place when all is written, and is removed when anything fails."""
    place = path.resolve()
    if place.exists() and not place.is_file():  # a pipe or a device cannot be replaced
        with place.open("wb") as file:
            yield file
        return
    temporary = place.with_name(f".{place.name}.{secrets.token_hex(4)}.tmp")
    try:
        with temporary.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if place.exists():
            shutil.copymode(place, temporary)
        temporary.replace(place)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
