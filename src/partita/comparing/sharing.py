"""An ensemble handed to workers once: written to a file that all of them map into memory."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from partita.core.errors import FileError
from partita.core.soft import AnyEnsemble, SoftEnsemble
from partita.core.types import frozen

TABLE, COUNTS = "table.npy", "counts.npy"


@dataclass(frozen=True, slots=True)
class Shared:
    """Where the arrays lie, and the rest of the ensemble."""

    folder: str
    frame: AnyEnsemble
    """The ensemble without rows; ids, which no fit looks at, stay behind."""

    def opened(self) -> AnyEnsemble:
        """The ensemble, its arrays mapped and not copied."""
        place = Path(self.folder)
        table = np.asarray(np.load(place / TABLE, mmap_mode="r"))
        counts = np.load(place / COUNTS) if (place / COUNTS).exists() else None
        if isinstance(self.frame, SoftEnsemble):
            return replace(self.frame, matrix=table, multiplicity=counts)
        return replace(self.frame, labels=table, multiplicity=counts)

    def remove(self) -> None:
        """Take the files away; also called by workers whose starter was killed."""
        shutil.rmtree(self.folder, ignore_errors=True)


@contextmanager
def shared(ensemble: AnyEnsemble) -> Iterator[Shared]:
    """Files that are there as long as the work takes."""
    try:
        folder = tempfile.mkdtemp(prefix="partita-compare-")
    except OSError as error:
        raise FileError(f"no temporary folder can be made ({error.strerror}); set TMPDIR, or say workers=1") from None
    kept = Shared(folder, _frame(ensemble))
    try:
        _save(ensemble, Path(folder))
        yield kept
    finally:
        kept.remove()


def _frame(ensemble: AnyEnsemble) -> AnyEnsemble:
    bare = replace(ensemble, ids=None, multiplicity=None)
    if isinstance(bare, SoftEnsemble):
        return replace(bare, matrix=frozen(bare.matrix[:0].copy()))
    return replace(bare, labels=frozen(bare.labels[:0].copy()))


def _save(ensemble: AnyEnsemble, folder: Path) -> None:
    table = ensemble.matrix if isinstance(ensemble, SoftEnsemble) else ensemble.labels
    try:
        np.save(folder / TABLE, np.ascontiguousarray(table))
        if ensemble.multiplicity is not None:
            np.save(folder / COUNTS, ensemble.multiplicity)
    except OSError as error:
        raise FileError(
            f"{folder}: the table cannot be written for the workers ({error.strerror}); set TMPDIR, or say workers=1"
        ) from None
