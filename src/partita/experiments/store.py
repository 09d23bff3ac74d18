"""Finished units on disk: one JSON line each, appended as it is finished, so that a killed run loses none."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from partita.core.errors import FileError
from partita.experiments.measuring import Outcome
from partita.experiments.units import Unit
from partita.version import __version__

Place: TypeAlias = tuple[str, str, str, int]
"""Paper, exhibit, row, draw."""


class Line(NamedTuple):
    """One finished unit."""

    stamp: str
    values: Mapping[str, float]
    seconds: float
    error: str
    date: str
    """ISO date in UTC on which it was measured; empty in records of older versions."""
    version: str


@dataclass(frozen=True, slots=True)
class Held:
    """What a file of records holds."""

    lines: Mapping[Place, Mapping[str, Line]]
    """By place, then by stamp; the last line wins, so that what failed once may be tried again."""
    torn: int
    """Lines that cannot be read: the last one of a killed run."""

    def find(self, unit: Unit, stamp: str) -> Line | None:
        """The unit, if it was made with these settings."""
        return self.lines.get(place_of(unit), {}).get(stamp)

    def otherwise(self, unit: Unit, stamp: str) -> bool:
        """Whether the unit is there, but only with other settings."""
        return bool(self.lines.get(place_of(unit))) and self.find(unit, stamp) is None


def place_of(unit: Unit) -> Place:
    """Under which a unit is filed: wherever the paper was imported from."""
    return unit.paper, unit.exhibit, unit.row, unit.draw


def read_records(path: Path) -> Held:
    """All finished units of a file; none if it is not there."""
    found: dict[Place, dict[str, Line]] = {}
    torn = 0
    try:
        text = path.read_bytes() if path.exists() else b""
    except OSError as error:
        raise FileError(f"{path}: cannot be read ({error.strerror}); choose another --output") from None
    for raw in text.split(b"\n"):
        if not raw.strip():
            continue
        try:
            place, line = _parsed(json.loads(raw))
        except (ValueError, KeyError, TypeError, AttributeError):
            torn += 1
            continue
        found.setdefault(place, {})[line.stamp] = line
    return Held(found, torn)


def _parsed(entry: Any) -> tuple[Place, Line]:
    place = (str(entry["paper"]), str(entry["exhibit"]), str(entry["row"]), int(entry["draw"]))
    values = {str(column): float(value) for column, value in entry["values"].items()}
    described = [str(entry.get(name, "")) for name in ("error", "date", "version")]
    return place, Line(str(entry["stamp"]), values, float(entry["seconds"]), *described)


class Store:
    """An open file of records, to which finished units are added. Each is on the disk before the next begins."""

    def __init__(self, path: Path) -> None:
        try:
            self._file = path.open("ab+")
        except OSError as error:
            raise FileError(f"{path}: cannot be written ({error.strerror}); choose another --output") from None
        self._cut_torn_line()

    def _cut_torn_line(self) -> None:
        """What a killed run left of a line must not become the beginning of the next."""
        size = self._file.seek(0, os.SEEK_END)
        whole = size
        while whole:
            start = max(whole - (1 << 16), 0)
            self._file.seek(start)
            place = self._file.read(whole - start).rfind(b"\n")
            if place >= 0:
                whole = start + place + 1
                break
            whole = start
        if whole < size:
            self._file.truncate(whole)
        self._file.seek(0, os.SEEK_END)

    def add(self, outcome: Outcome, stamp: str) -> None:
        """Append one unit and wait until the disk has it."""
        unit = outcome.unit
        entry: dict[str, Any] = {"paper": unit.paper, "exhibit": unit.exhibit, "row": unit.row, "draw": unit.draw}
        entry |= {"stamp": stamp, "seconds": round(outcome.seconds, 4)}
        entry |= {"date": datetime.now(UTC).date().isoformat(), "version": __version__}
        entry["values"] = {c: v if v - v == 0 else str(v) for c, v in outcome.values.items()}  # strict JSON has no NaN
        if outcome.error:
            entry["error"] = outcome.error
        self._file.write(json.dumps(entry, allow_nan=False).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Nothing is added any more."""
        self._file.close()
