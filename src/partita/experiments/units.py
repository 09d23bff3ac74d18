"""Units of work: one draw of one row of an exhibit, every column at once so that methods meet on the same draw."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, is_dataclass
from functools import partial
from hashlib import sha256
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

from partita.datasets.catalogue import entry_of, names
from partita.datasets.folder import data_folder
from partita.datasets.loading import state
from partita.experiments.exhibit import Exhibit, Paper, Row
from partita.version import __version__


class Unit(NamedTuple):
    """What is measured in one go."""

    module: str
    """Where a worker finds the paper."""
    paper: str
    exhibit: str
    row: str
    draw: int


@dataclass(frozen=True, slots=True)
class Settings:
    """What, beside its own unit, a measured value depends on."""

    seed: int = 0
    quick: bool = False
    data: str | None = None
    """The data folder; None for the usual places."""


class Chosen(NamedTuple):
    """A paper and those of its exhibits that are wanted."""

    module: str
    paper: Paper
    exhibits: tuple[Exhibit, ...]


def measured(paper: Paper, exhibit: Exhibit) -> Exhibit:
    """The exhibit whose draws this one shows: itself, or the one it names."""
    if not exhibit.of:
        return exhibit
    return next(each for each in paper.exhibits if each.key == exhibit.of)


def rows_of(exhibit: Exhibit, quick: bool) -> tuple[Row, ...]:
    """The rows that a run measures."""
    return exhibit.quick_rows if quick and exhibit.quick_rows is not None else exhibit.rows


def draws_of(exhibit: Exhibit, quick: bool, wanted: int | None = None) -> int:
    """How many draws a row a run makes; `wanted` overrides."""
    return wanted if wanted is not None else exhibit.quick_draws if quick else exhibit.draws


def units_of(chosen: Chosen, quick: bool, wanted: int | None = None) -> Iterator[Unit]:
    """Every unit of a paper's exhibits, exhibit by exhibit and draw by draw; shared draws once."""
    seen: set[str] = set()
    for shown in chosen.exhibits:
        exhibit = measured(chosen.paper, shown)
        if exhibit.key in seen:
            continue
        seen.add(exhibit.key)
        for draw in range(draws_of(exhibit, quick, wanted)):
            for row in rows_of(exhibit, quick):
                yield Unit(chosen.module, chosen.paper.key, exhibit.key, row.name, draw)


def stamp(exhibit: Exhibit, settings: Settings) -> str:
    """What a record was made with: seed, quick or full, version, what the exhibit measures, and data other than usual.

    Values with different stamps are never put together. Text of a report, numbers of draws and rows may change without
    a new stamp; the trial, and what it calls of its own file and of this package, may not.
    """
    made = [settings.seed, settings.quick, __version__, exhibit.columns, _told(exhibit.trial, set())]
    made += sources_of(exhibit, settings).items()  # none where all data are the catalogue's own
    return sha256(json.dumps(made).encode()).hexdigest()[:12]


def sources_of(exhibit: Exhibit, settings: Settings) -> dict[str, str]:
    """The data sets that are neither the catalogue's file nor scikit-learn's: "copy" or "made", by name."""
    place = data_folder(settings.data)
    kinds = {name: state(entry_of(name), place) for name in exhibit.data if name in names()}
    return {name: kind for name, kind in kinds.items() if kind in ("copy", "made")}


def _told(value: Any, seen: set[str]) -> Any:
    """A value, or what a function of an experiment does, as plain values that are the same in every process."""
    if isinstance(value, partial):
        return ["partial", _told(value.func, seen), _told(value.args, seen), _told(value.keywords, seen)]
    if isinstance(value, FunctionType):
        return _function(value, seen)
    if value is None or isinstance(value, (bool, int, float, str)):
        return repr(value)
    if isinstance(value, (tuple, list)):
        return [_told(each, seen) for each in value]
    if isinstance(value, (set, frozenset)):
        return sorted(repr(_told(each, seen)) for each in value)
    if isinstance(value, Mapping):
        return [[_told(key, seen), _told(each, seen)] for key, each in value.items()]
    if is_dataclass(value) and not isinstance(value, type):
        return [type(value).__name__, *(_told(getattr(value, name), seen) for name in value.__dataclass_fields__)]
    return f"{type(value).__module__}.{type(value).__qualname__}"


def _function(function: FunctionType, seen: set[str]) -> Any:
    """Its code, its defaults, and whatever of an experiment's own its code names; functions of the library by name."""
    called = f"{function.__module__}.{function.__qualname__}"
    if called in seen:
        return called
    seen.add(called)
    names = sorted(set(_names(function.__code__)) & function.__globals__.keys())
    used = [[name, _used(function.__globals__[name], function.__module__, seen)] for name in names]
    held = [_told(cell.cell_contents, seen) for cell in function.__closure__ or ()]
    return [called, _code(function.__code__), _told(function.__defaults__, seen), held, used]


def _used(value: Any, module: str, seen: set[str]) -> Any:
    if isinstance(value, ModuleType):
        return value.__name__
    shared = ("partita.experiments.", f"{module}.")
    if isinstance(value, (FunctionType, type)) and not f"{value.__module__}.".startswith(shared):
        return f"{value.__module__}.{value.__qualname__}"
    return _told(value, seen)


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _names(inner)


def _code(code: CodeType) -> Any:
    """Bytes and constants of compiled code, without line numbers or documentation."""
    inner = [_code(each) if isinstance(each, CodeType) else repr(each) for each in code.co_consts]
    told = code.co_consts[:1] if code.co_consts and isinstance(code.co_consts[0], str) else ()
    return [code.co_code.hex(), list(code.co_names), inner[len(told) :]]
