"""Folders that one process at a time works in."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from partita.core.errors import FileError


@contextmanager
def holding(folder: Path, taken: str) -> Iterator[None]:
    """A folder that no other process holds; `taken` says what if one does."""
    lock = take_folder(folder, taken)
    try:
        yield
    finally:
        lock.close()


def take_folder(folder: Path, taken: str) -> IO[bytes]:
    """An open file in the folder that says it is held."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = (folder / "lock").open("ab")
    except OSError as error:
        raise FileError(f"{folder}: cannot keep a run there ({error.strerror}); give another folder") from None
    if not _locked(lock):
        lock.close()
        raise FileError(f"{folder}: {taken} or give another folder")
    return lock


if sys.platform == "win32":
    import msvcrt

    def settle(folder: Path) -> None:
        """Nothing to do: here a rename is on the disk when it returns."""

    def _locked(file: IO[bytes]) -> bool:
        """Whether the file is now ours alone, until it is closed."""
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
else:
    import fcntl

    def settle(folder: Path) -> None:
        """Have the names in a folder on the disk, so that a power cut brings back no older file."""
        place = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(place)
        finally:
            os.close(place)

    def _locked(file: IO[bytes]) -> bool:
        """Whether the file is now ours alone, until it is closed."""
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True
