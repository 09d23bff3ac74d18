"""Which files a table in blocks is made of: paths, patterns, folders, and URIs that Arrow knows."""

import os
from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.fs as pafs

from partita.core.errors import FileError
from partita.io.source import naming

STREAMED: Final = ("parquet", "npy")
WHOLE: Final = "only Parquet and NPY files can be read in blocks; read this one whole, or convert it"


def is_several(path: str) -> bool:
    """Whether a path names more than one file: a pattern or a folder."""
    return "://" in path or (not Path(path).exists() and any(sign in path for sign in "*?[")) or Path(path).is_dir()


def check_apart(paths: Any, held: Iterable[str], output: Path) -> None:
    """Refuse an output that would take the place of the table, or be read with it the next time."""
    place = output.resolve()
    there = {Path(path).resolve() for path in held if path and "://" not in path}
    if place in there or place in {path.parent for path in there}:
        raise FileError(f"{output}: the result would overwrite the label table or lie among it; choose another output")
    given = [paths] if isinstance(paths, (str, os.PathLike)) else []
    for path in map(str, given):
        inside = Path(path).is_dir() and place.parent == Path(path).resolve() and place.suffix[1:] in STREAMED
        if inside or ("://" not in path and not Path(path).exists() and place.match(path)):
            raise FileError(f"{output}: would be read as a part of {path} the next time; choose another output")


def files_of(path: str) -> list[str]:
    """The files that a path names."""
    if "://" in path:
        found = _remote(path)
    elif Path(path).is_dir():
        found = [str(file) for file in sorted(Path(path).iterdir()) if file.suffix[1:] in STREAMED]
    elif Path(path).exists():
        found = [path]
    else:
        place = Path(path)
        base = Path(place.anchor or ".")
        found = sorted(map(str, base.glob(str(place.relative_to(base) if place.anchor else place))))
    if not found:
        raise FileError(f"{path}: no such file, and no Parquet or NPY file fits it; check the path")
    return found


def _remote(uri: str) -> list[str]:
    """The files that a URI names, as URIs; its last part may be a pattern."""
    with naming(uri):
        scheme = uri.partition("://")[0]
        folder, _, pattern = uri.rpartition("/")
        several = any(sign in pattern for sign in "*?[")
        try:
            system, place = pafs.FileSystem.from_uri(folder if several else uri)
            info = system.get_file_info(place)
            if not several and info.type == pafs.FileType.File:
                return [uri]
            inside = system.get_file_info(pafs.FileSelector(place))
        except (pa.ArrowException, OSError, ValueError) as error:
            raise FileError(f"cannot be reached ({' '.join(str(error).split())[:160]}); check it") from None
        base = (folder if several else uri.rstrip("/")) + "/"
        fits = [file.base_name for file in inside if fnmatchcase(file.base_name, pattern if several else "*")]
        if scheme == "file" and several and not fits:
            return []
        return [base + name for name in sorted(fits) if Path(name).suffix[1:] == "parquet"]


def kind_of(path: str, asked: str | None) -> str:
    kind = asked or Path(path).suffix[1:].lower()
    if kind not in STREAMED or ("://" in path and kind == "npy"):
        raise FileError(f"{path}: {WHOLE}")
    return kind


def opened(path: str) -> Any:
    """A Parquet file to read from, wherever it lies."""
    if "://" not in path:
        return Path(path).open("rb")
    system, place = pafs.FileSystem.from_uri(path)
    return system.open_input_file(place)


def stamp_of(path: str) -> str:
    """What changes when a file does."""
    if "://" in path:
        system, place = pafs.FileSystem.from_uri(path)
        info = system.get_file_info(place)
        return f"{path} {info.size} {info.mtime_ns}"
    found = Path(path).stat()
    return f"{Path(path).resolve()} {found.st_size} {found.st_mtime_ns}"
