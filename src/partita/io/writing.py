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
from itertools import chain
from pathlib import Path
from typing import IO, Any, cast

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from partita.core.consensus import Consensus
from partita.core.errors import FileError, ParameterError
from partita.io.formats import STREAM, TEXT, WRITABLE, check_format, detect_format, is_packed
from partita.io.result_table import metadata, result_tables
from partita.io.source import naming
from partita.io.summary import summary

ROWS_AT_A_TIME = 1 << 16


def write(
    result: Consensus,
    path: str | Path,
    format: str | None = None,  # noqa: A002  # the word a user would say
    membership: bool = True,
    id_name: str | None = None,
) -> None:
    """Write the columns of a result to a file, which appears whole or not at all.

    Parameters
    ----------
    result : Consensus
        The result of `partita.consensus`.
    path : path
        A name that ends in .csv, .tsv, .json (each also .gz) or .parquet; "-" is standard output.
    format : str, optional
        "csv", "tsv", "parquet" or "json". Default: the ending of the name.
    membership : bool, default True
        Include the memberships as columns `consensus:0`, `consensus:1`, …
    id_name : str, optional
        Name of the column of ids. Default: its name in the input, or "id".

    See Also
    --------
    Consensus.save : writes the whole result with its model, to be read by `partita.load`.
    """
    check_order(result, path, "write")
    _check_result(result)
    with naming(path, "standard output"):
        chosen = _format(path, format)
        put = _writer(result, chosen, membership, id_name)
        if str(path) == STREAM:
            return to_stdout(put)
        check_place(Path(path))
        with replacing(Path(path)) as file:
            if chosen != "parquet" and is_packed(path):
                with gzip.GzipFile(fileobj=file, mode="wb", compresslevel=5, mtime=0, filename="") as packed:
                    put(packed)  # type: ignore[arg-type]  # a GzipFile is a binary file in all but name
            else:
                put(file)
    return None


def check_order(result: Any, path: Any, function: str) -> None:
    """Raise a `ParameterError` if the arguments of `function(result, path)` are swapped."""
    if isinstance(result, (str, Path)):
        given = f"{type(result).__name__}, {type(path).__name__}"
        raise ParameterError(f"expected {function}(result, path), got {function}({given}); give the result first")


def _check_result(result: Any) -> None:
    if not isinstance(result, Consensus):
        table = ", or write a dataframe with its own method, such as to_csv" if hasattr(result, "columns") else ""
        raise ParameterError(
            f"expected a Consensus, got a {type(result).__name__}; give the result of partita.consensus{table}"
        )


def check_writable(path: str | Path, format: str | None = None) -> None:  # noqa: A002  # as in `write`
    """Refuse, before long work, a path to which nothing could be written."""
    with naming(path, "standard output"):
        if str(path) != STREAM and Path(path).is_dir():
            raise FileError("is a directory; give a file")
        _format(path, format)
        if str(path) == STREAM:
            check_stdout()
        else:
            check_place(Path(path))


def _format(path: str | Path, kind: str | None) -> str:
    found = format_of(path, kind)
    if found == "h5ad":
        raise FileError(
            "an .h5ad is written as a copy of the one with the labels, by `partita run`, `predict` and `cluster`, or "
            "by partita.anndata.annotate and write_h5ad; choose .csv, .tsv, .parquet or .json here"
        )
    return found


def format_of(path: str | Path, kind: str | None) -> str:
    """The format in which a result is written there, CSV on standard output."""
    if kind is not None:
        return check_format(kind, WRITABLE)
    return "csv" if str(path) == STREAM else check_format(detect_format(path), WRITABLE)


def check_place(path: Path) -> None:
    """Refuse a path at which no file could be made."""
    folder = path.parent
    if "\0" in str(path):
        raise FileError("the path holds a zero byte; check the path")
    if path.is_dir():
        raise FileError("is a directory; give a file")
    if not folder.exists():
        raise FileError(f"the folder {str(folder)!r} does not exist; make it first")
    if not folder.is_dir():
        raise FileError(f"{str(folder)!r} is not a folder; give another path")
    try:
        trial = folder / f".partita.{secrets.token_hex(4)}.tmp"
        trial.open("xb").close()
        trial.unlink()
    except OSError as error:
        if not (path.exists() and not path.is_file()):  # a pipe or a device is written to directly
            raise FileError(
                f"cannot write into the folder {str(folder)!r} ({error.strerror}); give another path"
            ) from None


def _writer(consensus: Consensus, kind: str, membership: bool, id_name: str | None) -> Callable[[IO[bytes]], None]:
    """What puts the result into an open file."""
    if kind == "json":
        return lambda file: _write_json(consensus, membership, file)
    tables = result_tables(consensus, membership, id_name, ROWS_AT_A_TIME)
    first = next(tables)  # raises before the file is opened
    if kind in TEXT:
        return lambda file: write_text(chain([first], tables), "\t" if kind == "tsv" else ",", file)
    return lambda file: write_parquet(chain([first], tables), metadata(consensus), file)


def write_parquet(parts: Iterator[pa.Table], notes: dict[bytes, bytes], file: IO[bytes]) -> None:
    """Tables of equal columns, one below the other, and notes about them."""
    first = next(parts)
    with pq.ParquetWriter(file, first.schema.with_metadata(notes)) as writer:
        for part in chain([first], parts):
            writer.write_table(part.replace_schema_metadata(notes))


def write_text(parts: Iterator[pa.Table], delimiter: str, file: IO[bytes]) -> None:
    """Tables of equal columns, one below the other, under one header; only the first column may be text."""
    for place, part in enumerate(parts):
        if place == 0:
            header = io.StringIO()
            csv.writer(header, delimiter=delimiter, lineterminator="\n").writerow(part.column_names)
            file.write(header.getvalue().encode())
        if isinstance(part.schema.field(0).type, pa.UuidType):
            texts = [None if value is None else str(value) for value in part.column(0).to_pylist()]
            part = part.set_column(0, part.schema.names[0], pa.array(texts, pa.string()))
        first = part.column(0)
        special = pa.types.is_string(first.type) or pa.types.is_large_string(first.type)
        special = special and pc.any(pc.match_substring_regex(first, f'["\r\n{delimiter}]')).as_py()
        style = "needed" if special else "none"  # Arrow quotes every text or none
        options = pacsv.WriteOptions(include_header=False, delimiter=delimiter, quoting_style=style)
        pacsv.write_csv(part, file, options)


def _write_json(consensus: Consensus, membership: bool, file: IO[bytes]) -> None:
    file.write(json.dumps(summary(consensus, membership), allow_nan=False).encode() + b"\n")


def check_stdout() -> None:
    """Raise if standard output is closed (`>&-`)."""
    if sys.stdout is None or getattr(sys.stdout, "closed", False):
        raise FileError("is closed; connect it, or give the name of a file")


def to_stdout(put: Callable[[IO[bytes]], None]) -> None:
    """Put bytes on standard output."""
    check_stdout()
    sys.stdout.flush()
    out = getattr(sys.stdout, "buffer", None)
    if out is not None:
        put(cast(IO[bytes], _Unclosed(out)))
        out.flush()
    else:
        held = io.BytesIO()
        put(held)
        sys.stdout.write(held.getvalue().decode())


class _Unclosed(io.RawIOBase):
    """A stream that a writer cannot close behind its owner's back."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._at = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._at += self._stream.write(data)
        return memoryview(data).nbytes

    def tell(self) -> int:
        return self._at


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """A new file beside `path` that takes its place when all is written, and is removed when anything fails."""
    place = path.resolve()
    if place.exists() and not place.is_file():  # a pipe or a device cannot be replaced
        with place.open("wb") as file:
            yield file
        return
    with replacing_path(path) as temporary, temporary.open("xb") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def replacing_path(path: Path) -> Iterator[Path]:
    """The same for what opens the new file by its name; it is not there yet."""
    place = path.resolve()
    temporary = place.with_name(f".{place.name}.{secrets.token_hex(4)}.tmp")
    try:
        yield temporary
        if place.exists():
            shutil.copymode(place, temporary)
        temporary.replace(place)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
