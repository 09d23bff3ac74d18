"""Partita's own files: NPZ archives of arrays and one JSON text, read without pickle and without trust in their sizes.

`save_model` and `Consensus.save` write them. `numpy.load` opens them too.
"""

import io
import json
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from partita.core.errors import FileError
from partita.io.formats import MAGIC_BYTES, STREAM, detect_format
from partita.io.limits import check_input_size, input_limit
from partita.io.source import checked_path, guarded
from partita.io.writing import check_place, replacing

T = TypeVar("T")

ABOUT: Final = "about"
"""Name of the array that contains the JSON text."""


class Kind(NamedTuple):
    """A kind of archive."""

    format: str
    """Value of "format" in the JSON text."""
    noun: str
    example: str
    """A file name, for messages."""
    reader: str
    """The function that reads it, for messages."""
    way_out: str
    """Advice in messages on damaged files."""


MODEL: Final = Kind(
    "partita model", "model", "model.npz", "partita.load_model", "make it again with save_model (--save-model)"
)
RESULT: Final = Kind(
    "partita result", "result", "result.partita", "partita.load", "save the result again with result.save(path)"
)


class InconsistentError(ValueError):
    """Contents that no fit can have produced; the message names them."""


def need(holds: bool, what: str) -> None:
    """Raise an `InconsistentError` that names `what` unless `holds`."""
    if not holds:
        raise InconsistentError(f"its {what} cannot be right")


def check_archive_path(path: Any, kind: Kind) -> None:
    """Raise a `FileError` if no archive can be written to `path`."""
    if str(path) == STREAM:
        raise FileError(
            f"a {kind.noun} is written to a file, not to standard output; give a path such as {kind.example}"
        )
    check_place(checked_path(path))


def write_archive(path: str | Path, kind: Kind, about: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write arrays and a JSON text to a file, which appears whole or not at all."""
    text = json.dumps({"format": kind.format, **about}, allow_nan=False).encode("ascii")
    with replacing(Path(path)) as file, zipfile.ZipFile(file, "w") as archive:  # not compressed
        for name, array in {ABOUT: np.array(text), **arrays}.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, np.asanyarray(array), allow_pickle=False)


def read_archive(path: str | Path, kind: Kind) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the JSON text and the arrays (read-only) of a file that `write_archive` wrote for the same kind.

    Other files raise a `FileError` that names what they are and, if another function reads them, that function.
    """
    place = checked_path(path)
    check_input_size(place.stat().st_size, input_limit(), "the file")
    with place.open("rb") as file:
        looks = detect_format(file.read(MAGIC_BYTES))
    if looks != "npz":
        table = "" if kind is MODEL else "; to read a table of labels, use partita.read"
        raise FileError(f"is no {kind.noun} of Partita, or its beginning is damaged; {kind.way_out}{table}")
    arrays = guarded(lambda: _entries(place), f"a {kind.noun}")
    return checked(lambda: _about(arrays, kind), kind), arrays


def checked(read: Callable[[], T], kind: Kind) -> T:
    """Return what `read` returns; every error but a `FileError` becomes one that calls the file damaged."""
    try:
        return read()
    except (FileError, MemoryError):
        raise
    except Exception as error:
        reason = " ".join(str(error).split())[:160]
        if not isinstance(error, InconsistentError):
            reason = f"{type(error).__name__}: {reason}"
        raise FileError(f"is a damaged {kind.noun}: {reason}; {kind.way_out}") from None


def _entries(path: Path) -> dict[str, NDArray[Any]]:
    """Return the arrays of an archive by name.

    Each entry is read to its end, because `zipfile` compares checksums only there. Nothing is allocated before its size
    was compared with the size of the file.
    """
    with zipfile.ZipFile(path) as archive:
        entries = archive.infolist()
        if any(entry.compress_type != zipfile.ZIP_STORED for entry in entries):
            raise ValueError("an entry is compressed")
        if sum(entry.file_size for entry in entries) > path.stat().st_size:
            raise ValueError("the entries are larger than the file")
        arrays = {entry.filename.removesuffix(".npy"): _array(archive.read(entry)) for entry in entries}
    if len(arrays) < len(entries):
        raise ValueError("two entries have the same name")
    return arrays


def _array(data: bytes) -> NDArray[Any]:
    """Return the array in the bytes of an .npy file, without a copy."""
    file = io.BytesIO(data)
    shape, fortran, dtype = read_npy_header(file)
    if dtype.hasobject:
        raise ValueError("pickled objects")
    array: NDArray[Any] = np.ndarray(shape, dtype, data, file.tell(), order="F" if fortran else "C")
    if file.tell() + array.nbytes != len(data):
        raise ValueError("an array has another size than its header says")
    return array


def read_npy_header(file: Any) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Return shape, order (whether Fortran's) and type of the array in an .npy file."""
    version = np.lib.format.read_magic(file)
    header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    return header(file)


def _about(arrays: dict[str, NDArray[Any]], kind: Kind) -> dict[str, Any]:
    text = arrays.pop(ABOUT, None)
    about = json.loads(text.item()) if text is not None and text.dtype.kind == "S" and text.ndim == 0 else None
    found = about.get("format") if isinstance(about, dict) else None
    for other in (MODEL, RESULT):
        if found == other.format != kind.format:
            raise FileError(f"contains a {other.noun}, not a {kind.noun}; read it with {other.reader}")
    if found != kind.format:
        raise FileError(f"is no {kind.noun} of Partita; {kind.way_out}")
    assert isinstance(about, dict)
    return about
