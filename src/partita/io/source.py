"""Where the bytes come from: a file, a compressed file or standard input; and errors that name it."""

import gzip
import io
import os
import sys
import warnings
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from partita.core.errors import FileError, PartitaError
from partita.io.formats import (
    GZIP_MAGIC,
    MAGIC_BYTES,
    STREAM,
    TEXT,
    check_format,
    detect_format,
    is_packed,
)
from partita.io.limits import check_input_size, input_limit

T = TypeVar("T")
_BLOCK = 1 << 22


@dataclass(frozen=True, slots=True)
class Source:
    """A file to read: its format, and its path or its bytes."""

    format: str
    path: Path | None
    data: NDArray[np.uint8] | None = None
    limit: int = sys.maxsize
    """Maximum number of bytes that its contents may take in memory; see `limits`."""

    def handle(self) -> Any:
        """What a binary reader opens: the path, or the bytes as a file."""
        return str(self.path) if self.data is None else io.BytesIO(self.data.data)

    def open(self) -> IO[bytes]:
        """The bytes as an open file."""
        return Path(str(self.path)).open("rb") if self.data is None else io.BytesIO(self.data.data)

    def content(self) -> memoryview:
        """All the bytes."""
        with self.open() as file:
            check_input_size(file.seek(0, os.SEEK_END), self.limit, "the file")
            file.seek(0)
            return memoryview(file.read())


@contextmanager
def naming(path: Any, stream: str = "standard input") -> Iterator[None]:
    """Puts the file's name before every error; what is no path, or the system refuses, becomes a FileError."""
    shown = stream if str(path) == STREAM else str(path)
    try:
        checked_path(path)
        yield
    except PartitaError as error:
        raise error.at(shown) from error.__cause__
    except BrokenPipeError:  # nobody reads on: not a fault of the file
        raise
    except FileNotFoundError:
        raise FileError(f"{shown}: no such file; check the path") from None
    except IsADirectoryError:
        raise FileError(f"{shown}: is a directory; give a file") from None
    except PermissionError:
        raise FileError(f"{shown}: permission denied; check who may read or write it") from None
    except OSError as error:
        raise FileError(f"{shown}: {error.strerror or error}") from None
    except MemoryError:
        raise FileError(f"{shown}: asks for more memory than there is; the file is damaged or too large") from None


def guarded(read: Callable[[], T], what: str) -> T:
    """What a parser of binary files returns; on damaged bytes they raise all kinds of errors, which become ours."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return read()
    except (MemoryError, PartitaError):
        raise
    except Exception as error:
        reason = " ".join(str(error).split())[:160] or type(error).__name__
        if "allow_pickle" in reason or "pickle" in reason.lower():
            raise FileError(
                "holds pickled Python objects, which are not read; save a plain array of integers or strings"
            ) from None
        if isinstance(error, BlockingIOError):
            raise FileError("is open elsewhere for writing; close it there, then try again") from None
        raise FileError(f"cannot be read as {what}: it is cut off or damaged ({reason}); make it again") from None


def checked_path(path: Any) -> Path:
    """A path that the system can be asked for."""
    if isinstance(path, bytes):
        raise FileError("bytes is not a path; give text, such as os.fsdecode(path)")
    if not isinstance(path, (str, os.PathLike)) or not isinstance(os.fspath(path), str):
        raise FileError(f"{type(path).__name__} is not a path; give the name of a file")
    if "\0" in str(path):
        raise FileError("the path holds a zero byte; check the path")
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        raise FileError("the path has a character that the file system cannot encode; check the path") from None
    return Path(path)


def open_source(path: str | Path, kind: str | None, known: tuple[str, ...], max_input_gb: Any = None) -> Source:
    """The file at `path` (`-` for standard input), with its bytes in memory when it is text, compressed or a stream.

    Bytes beyond the limit `max_input_gb` are not read.
    """
    limit = input_limit(max_input_gb)
    asked = None if kind is None else check_format(kind, known)
    if str(path) == STREAM:
        if sys.stdin is None or getattr(sys.stdin, "closed", False):
            raise FileError("is closed; connect it, or give the name of a file")
        data = _unpacked(_drained(sys.stdin.buffer, limit), limit)
        return _checked(Source(asked or _looks(data[:MAGIC_BYTES].tobytes()), None, data, limit))
    place = checked_path(path)
    with place.open("rb") as file:
        magic = file.read(MAGIC_BYTES)
    found = asked or check_format(detect_format(place), known)
    packed = magic.startswith(GZIP_MAGIC)
    if is_packed(place) and not packed:
        raise FileError("is not gzip data though its name ends in .gz; rename it or compress it")
    if packed:
        with place.open("rb") as file:
            return _checked(Source(found, place, _unzipped(file, limit), limit))
    if found not in (*TEXT, "json"):
        return _checked(Source(found, place, None, limit), magic)
    check_input_size(place.stat().st_size, limit, "the text")
    return _checked(Source(found, place, np.fromfile(place, np.uint8), limit), magic)


def _checked(source: Source, magic: bytes = b"") -> Source:
    """The source, unless its first bytes belong to another format than its name says."""
    if source.data is not None:
        magic = source.data[:MAGIC_BYTES].tobytes()
    if not magic:
        raise FileError("the file is empty")
    looks = _looks(magic)
    fitting = {looks}
    if looks == "csv":
        fitting |= {"tsv", "json", "mat"}  # MATLAB 4 files carry no mark
    if looks in ("h5ad", "mat"):
        fitting |= {"h5ad", "mat"}  # MATLAB 7.3 files are HDF5
    if source.format in fitting:
        return source
    if looks == "csv":
        raise FileError(f"is not a {source.format} file, or its beginning is damaged; make it again")
    raise FileError(
        f"holds {looks} data, not {source.format}; say format={looks!r} (--input-format {looks}) or rename it"
    )


def _looks(magic: bytes) -> str:
    """The format by the first bytes; a text may begin with a column called PAR1."""
    looks = detect_format(magic)
    return "csv" if looks == "parquet" and all(byte >= 32 or byte in b"\t\r\n" for byte in magic) else looks


def _drained(file: IO[bytes] | gzip.GzipFile, limit: int) -> bytearray:
    """All that is left in a file, in memory that kernels may take as writable (they are compiled for that alone)."""
    data = bytearray()
    while block := file.read(_BLOCK):
        check_input_size(len(data) + len(block), limit, "the unpacked data", at_least=True)
        data += block
    return data


def _unzipped(file: IO[bytes], limit: int) -> NDArray[np.uint8]:
    try:
        with gzip.GzipFile(fileobj=file) as unpacking:
            return np.frombuffer(_drained(unpacking, limit), np.uint8)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise FileError(f"the gzip data is cut off or damaged ({error}); fetch or make the file again") from None


def _unpacked(data: bytearray, limit: int) -> NDArray[np.uint8]:
    if not data:
        raise FileError("the file is empty")
    return _unzipped(io.BytesIO(data), limit) if data.startswith(GZIP_MAGIC) else np.frombuffer(data, np.uint8)
