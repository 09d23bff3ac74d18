"""Where data sets lie: a folder given, else the one PARTITA_DATA names, else the user's cache."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from partita.core.errors import FileError

VARIABLE: Final = "PARTITA_DATA"
COPIES: Final = "copies"
"""The folder within it for copies from elsewhere, which are checked by what they hold and not by their bytes."""


def data_folder(folder: str | Path | None = None) -> Path:
    """The folder to look in; one that is named and not there is an error, the user's cache may be absent."""
    place, whose = chosen_folder(folder)
    if whose and not place.is_dir():
        raise FileError(f"{place}: {whose} names no folder that is there; make it, or name the one that has the data")
    return place


def chosen_folder(folder: str | Path | None) -> tuple[Path, str]:
    """The data folder, there or not, and what names it; nothing names the user's cache."""
    if folder is not None:
        return Path(folder).expanduser(), "the data folder"
    named = os.environ.get(VARIABLE)
    if named:
        return Path(named).expanduser(), VARIABLE
    return cache_folder(sys.platform, os.environ, Path.home()), ""


def cache_folder(platform: str, variables: Mapping[str, str], home: Path) -> Path:
    """Where this platform keeps what a program can get again.

    >>> cache_folder("linux", {"XDG_CACHE_HOME": "/var/cache/ann"}, Path("/home/ann")).as_posix()
    '/var/cache/ann/partita'
    >>> cache_folder("darwin", {}, Path("/Users/ann")).as_posix()
    '/Users/ann/Library/Caches/partita'
    """
    if platform == "win32":
        return Path(variables.get("LOCALAPPDATA") or home / "AppData" / "Local") / "partita" / "Cache"
    if platform == "darwin":
        return home / "Library" / "Caches" / "partita"
    named = variables.get("XDG_CACHE_HOME", "")
    return (Path(named) if named.startswith("/") else home / ".cache") / "partita"  # the standard ignores others
