"""Where a streamed run stands, in a folder: what it is about, the first pass, and the fit; so that it can go on."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from partita import io
from partita.core.errors import EngineError, FileError, PartitaError, PartitaWarning
from partita.io.labels import read_back, written
from partita.io.parts import remove_halves, remove_parts
from partita.io.source import guarded, naming
from partita.streaming.counting import Tally

FOLDER: Final = "_partita"
"""In the folder of the parts; readers of Parquet folders pass over names that begin so."""
ABOUT, TALLY, FIT, MODEL = "about.json", "tally.npz", "fit.npz", "model.npz"


@dataclass(frozen=True, slots=True)
class Kept:
    """The folder of one run."""

    folder: Path
    """That of the parts; the run's own files are in a folder within it."""

    @property
    def place(self) -> Path:
        """Where the run's own files are."""
        return self.folder / FOLDER

    def begin(self, about: Mapping[str, Any]) -> bool:
        """Whether a run of the same is there to go on with; another one's is refused."""
        path = self.place / ABOUT
        for folder in (self.folder, self.place):
            remove_halves(folder)
        if not path.exists():
            if any(self.folder.glob("part-*.parquet")):
                raise FileError(f"{self.folder}: holds the parts of another result; remove them, or name another place")
            with naming(path), io.replacing(path) as file:
                file.write(json.dumps(about).encode())
            return False
        try:
            held = json.loads(path.read_text())
        except (OSError, ValueError):
            held = {}
        differ = [name for name in about if held.get(name) != json.loads(json.dumps(about[name]))]
        if differ:
            raise FileError(
                f"{self.folder}: holds an unfinished run that differs in {', '.join(differ)}; finish it by the same "
                "command, remove the folder, or name another output"
            )
        return True

    def save_tally(self, tally: Tally) -> None:
        """Keep how far the first pass came."""
        state = tally.state()
        values = [
            [written(value, f"column {name!r}") for value in column]
            for name, column in zip(tally.words.names, state["values"], strict=True)
        ]
        told = {"rows": state["rows"], "over": state["over"], "values": values}
        self._save(TALLY, told, state["arrays"])

    def load_tally(self, names: tuple[str, ...], most: int) -> Tally | None:
        """Where the first pass stood, if it had begun."""
        found = self._load(TALLY)
        if found is None:
            return None
        told, arrays = found
        values = [[read_back(value) for value in column] for column in told["values"]]
        return Tally.from_state(names, most, {**told, "values": values, "arrays": arrays})

    def save_fit(self, told: Mapping[str, Any], arrays: Mapping[str, NDArray[Any] | None], model: Any) -> None:
        """Keep what a fit came to."""
        if model is not None:
            io.save_model(model, self.place / MODEL)
        self._save(FIT, told, {name: array for name, array in arrays.items() if array is not None})

    def load_fit(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]], Any] | None:
        """What the fit came to, if it is done."""
        found = self._load(FIT)
        if found is None:
            return None
        path = self.place / MODEL
        return *found, io.load_model(path) if path.exists() else None

    def _save(self, name: str, told: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        path = self.place / name
        with naming(path), io.replacing(path) as file:
            np.savez(file, about=np.array(json.dumps(told)), **arrays)  # type: ignore[arg-type]  # the stubs take arrays for allow_pickle

    def _load(self, name: str) -> tuple[dict[str, Any], dict[str, NDArray[Any]]] | None:
        path = self.place / name
        if not path.exists():
            return None

        def read() -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
            with np.load(path, allow_pickle=False) as held:
                arrays = {key: held[key] for key in held.files}
            return json.loads(str(arrays.pop("about"))), arrays

        with naming(path):
            return guarded(read, "the state of a run")

    def forget(self) -> None:
        """Remove what a run left that cannot be gone on with."""
        if (self.place / ABOUT).exists():
            remove_parts(self.folder)
        for name in (TALLY, FIT, MODEL, ABOUT):
            (self.place / name).unlink(missing_ok=True)

    @contextmanager
    def unless_refused(self) -> Iterator[None]:
        """Remove the checkpoint if the run ends with an error that the same command would meet again.

        These are errors of the user, and warnings that are errors (`--strict`). The next command can then differ from
        this one. The checkpoint is kept if blocks of the output are finished, and if an engine fails, which may be
        available again.
        """
        try:
            yield
        except EngineError:
            raise
        except (PartitaError, PartitaWarning):
            if not any(self.folder.glob("part-*.parquet")):
                self.end()
            raise

    def end(self) -> None:
        """Remove the run's own files, when all is done."""
        for name in (TALLY, FIT, MODEL, ABOUT, "lock"):
            (self.place / name).unlink(missing_ok=True)
        remove_halves(self.folder)  # those of workers that died
        with suppress(OSError):
            self.place.rmdir()
