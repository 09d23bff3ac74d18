"""Measuring one unit, in a process that may be anywhere: the same values wherever and whenever it is done."""

import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache

import sklearn.cluster  # noqa: F401  # so that its threads are loaded, and limited, too
from threadpoolctl import threadpool_limits

from partita.core.errors import AbsentDataError, ParameterError, line_of
from partita.core.rng import keyed
from partita.core.threads import thread_limit
from partita.datasets.base import Dataset
from partita.datasets.folder import data_folder
from partita.datasets.loading import load
from partita.experiments.exhibit import Exhibit, Row, Trial
from partita.experiments.papers import exhibit as exhibit_of
from partita.experiments.papers import get
from partita.experiments.units import Settings, Unit

DATASETS_HELD = 8


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a unit: values, or why there are none."""

    unit: Unit
    values: Mapping[str, float]
    seconds: float
    error: str = ""
    absent: str = ""
    """Which data is not there, and how to get it."""


def measure(unit: Unit, settings: Settings) -> Outcome:
    """One trial on one thread. Whatever it raises is an outcome, so that one bad row does not end a night's run."""
    begun = time.perf_counter()
    try:
        values = _tried(unit, settings)
    except AbsentDataError as error:
        return Outcome(unit, {}, time.perf_counter() - begun, absent=_unplaced(str(error), settings))
    except Exception as error:
        return Outcome(unit, {}, time.perf_counter() - begun, error=_unplaced(line_of(error), settings))
    return Outcome(unit, values, time.perf_counter() - begun)


def _unplaced(text: str, settings: Settings) -> str:
    """A message without where this machine keeps its data: reports travel."""
    return text.replace(str(data_folder(settings.data)), "the data folder")


def _tried(unit: Unit, settings: Settings) -> dict[str, float]:
    exhibit = exhibit_of(get(unit.module), unit.exhibit)
    if exhibit.trial is None:
        raise ParameterError(f"{unit.exhibit} has neither a trial nor, in `of`, an exhibit whose draws it shows")
    with quietly():
        found = exhibit.trial(trial_of(unit.paper, exhibit, row_of(exhibit, unit.row), unit.draw, settings))
    if set(found) != set(exhibit.columns):
        odd = sorted(set(found) ^ set(exhibit.columns))
        raise ParameterError(f"the trial and the columns of {unit.exhibit} differ in {', '.join(odd)}")
    return {column: float(found[column]) for column in exhibit.columns}


def trial_of(paper: str, exhibit: Exhibit, row: Row, draw: int, settings: Settings) -> Trial:
    """The trial of a unit: its generator depends on seed, paper, exhibit, row and draw only."""
    rng = keyed(settings.seed, paper, exhibit.key, row.name, draw)
    return Trial(row, rng, settings.quick, loader(settings.data))


@contextmanager
def quietly() -> Iterator[None]:
    """Run on one thread and without warnings: a thousand trials would repeat them a thousand times."""
    with thread_limit(1), threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def row_of(exhibit: Exhibit, name: str) -> Row:
    """The row of this name."""
    return next(row for row in (*(exhibit.quick_rows or ()), *exhibit.rows) if row.name == name)


@lru_cache
def loader(folder: str | None) -> Callable[[str], Dataset]:
    """Loads data sets from a folder, and keeps the last few."""

    @lru_cache(DATASETS_HELD)
    def loaded(name: str) -> Dataset:
        return load(name, folder)

    return loaded
