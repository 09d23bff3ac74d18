"""Running experiments: what is not yet on disk is measured, seeded by its place, and kept as it is finished."""

import logging
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from partita.core.errors import ParameterError
from partita.core.progress import report
from partita.core.records import Absence, Failure, Record
from partita.experiments import papers
from partita.experiments.exhibit import Exhibit
from partita.experiments.measuring import Outcome
from partita.experiments.store import Held, Place, Store, place_of, read_records
from partita.experiments.units import Chosen, Settings, Unit, measured, stamp, units_of
from partita.experiments.workers import measure_all
from partita.io.holding import holding

RECORDS = "records.jsonl"
log = logging.getLogger("partita.experiments")


@dataclass(frozen=True, slots=True)
class Results:
    """What a run has: what it measured and what it found on disk."""

    records: tuple[Record, ...]
    failures: tuple[Failure, ...]
    absences: tuple[Absence, ...]
    seconds: float
    """Wall time of this run."""
    interrupted: bool
    resumed: int
    """Trials that an earlier run had made."""


def choose(names: Sequence[str], exhibits: Sequence[str] = ()) -> list[Chosen]:
    """The papers of these names, `all` for every one, and those of their exhibits that are wanted, or all.

    A paper or exhibit that is named twice counts once. An exhibit may be missing in some of several papers, but not in
    all of them.
    """
    wanted = list(papers.PAPERS) if "all" in names else list(dict.fromkeys(names))
    found = []
    for name in wanted:
        paper = papers.get(name)
        kept = tuple(each for each in paper.exhibits if not exhibits or each.key in exhibits)
        if len(wanted) == 1:
            for key in exhibits:
                papers.exhibit(paper, key)  # raises, with what there is
        if kept:
            found.append(Chosen(papers.module_of(name), paper, kept))
    there = {each.key for chosen in found for each in chosen.exhibits}
    for key in exhibits:
        if key not in there:
            raise ParameterError(f"none of {', '.join(wanted)} has {key}; see partita reproduce --list")
    return found


def run(chosen: Sequence[Chosen], settings: Settings, folder: Path, workers: int, draws: int | None = None) -> Results:
    """Measure what `folder` does not have yet, on so many processes, and return all that was asked for.

    Each unit draws from a generator of its own place (seed, paper, exhibit, row, draw), so that neither the number of
    workers, nor the order, nor which other exhibits run changes a value. Ctrl-C keeps what is finished.
    """
    with holding(folder, "another run keeps its records there; wait for it,"):
        return _run(chosen, settings, folder / RECORDS, workers, draws)


def _run(chosen: Sequence[Chosen], settings: Settings, path: Path, workers: int, draws: int | None) -> Results:
    begun = time.perf_counter()
    held = read_records(path)
    stamps = stamps_of(chosen, settings)
    units = [unit for each in chosen for unit in units_of(each, settings.quick, draws)]
    todo = [unit for unit in units if not _done(held, unit, stamps)]
    for note in _notes(held, todo, len(units), stamps, path):
        log.info("%s", note)
    desk = _Desk(Store(path), stamps, units, todo)
    interrupted = False
    try:
        measure_all(_longest_first(todo, held), settings, workers, desk.take)
    except KeyboardInterrupt:
        interrupted = True
    finally:
        desk.store.close()
    now = read_records(path)
    records, failures = _collected(now, units, stamps)
    failures = tuple(each for each in failures if (each.paper, each.exhibit, each.row) not in desk.absences)
    spent = time.perf_counter() - begun
    return Results(records, failures, tuple(desk.absences.values()), spent, interrupted, len(units) - len(todo))


def stamps_of(chosen: Iterable[Chosen], settings: Settings) -> dict[tuple[str, str], str]:
    """By paper and exhibit, what records must have been made with."""
    found = {}
    for each in chosen:
        for shown in each.exhibits:
            source: Exhibit = measured(each.paper, shown)
            found[each.paper.key, source.key] = stamp(source, settings)
    return found


def _done(held: Held, unit: Unit, stamps: Mapping[tuple[str, str], str]) -> bool:
    """On disk, made with these settings, and not a failure: that is tried again."""
    line = held.find(unit, stamps[unit.paper, unit.exhibit])
    return line is not None and not line.error


def _notes(
    held: Held, todo: Sequence[Unit], total: int, stamps: Mapping[tuple[str, str], str], path: Path
) -> list[str]:
    """What a user must know of the records that are there."""
    notes = []
    if total > len(todo):
        notes.append(f"{total - len(todo)} of {total} trials are in {path.name} already and are not run again")
    others = sum(held.otherwise(unit, stamps[unit.paper, unit.exhibit]) for unit in todo)
    if others:
        notes.append(
            f"{others} trials are in {path.name} with another seed, version, definition, data or --quick; "
            "those records are left alone and the trials run anew"
        )
    if held.torn:
        notes.append(
            f"{held.torn} lines of {path.name} cannot be read (a killed run leaves one); their trials run anew"
        )
    return notes


def _longest_first(todo: Sequence[Unit], held: Held) -> list[Unit]:
    """Exhibit by exhibit, draw by draw; within a draw the rows that took longest before, then the last ones first.

    Papers list small data first, and a long trial that begins last keeps one worker while the others stand idle.
    """
    took: dict[tuple[str, str, str], float] = {}
    for (paper, exhibit, row, _), lines in held.lines.items():
        longest = max(line.seconds for line in lines.values())
        took[paper, exhibit, row] = max(longest, took.get((paper, exhibit, row), 0.0))
    rank = {key: place for place, key in enumerate(dict.fromkeys((unit.paper, unit.exhibit) for unit in todo))}
    numbered = list(enumerate(todo))
    numbered.sort(
        key=lambda each: (
            rank[each[1].paper, each[1].exhibit],
            each[1].draw,
            -took.get(each[1][1:4], 0.0),
            -each[0],
        )
    )
    return [unit for _, unit in numbered]


def _collected(
    held: Held, units: Sequence[Unit], stamps: Mapping[tuple[str, str], str]
) -> tuple[tuple[Record, ...], tuple[Failure, ...]]:
    """Flat records of the units in their own order, whatever order they were finished in."""
    records: list[Record] = []
    failures: list[Failure] = []
    for unit in units:
        line = held.find(unit, stamps[unit.paper, unit.exhibit])
        if line is None:
            continue
        if line.error:
            failures.append(Failure(*place_of(unit), line.error))
        paper, exhibit, row, draw = place_of(unit)
        made = (line.seconds, line.date, line.version)
        records += [Record(paper, exhibit, row, c, draw, value, *made) for c, value in line.values.items()]
    return tuple(records), tuple(failures)


@dataclass(slots=True)
class _Desk:
    """Takes outcomes as they come: to disk, and word of how far the work is."""

    store: Store
    stamps: Mapping[tuple[str, str], str]
    units: Sequence[Unit]
    todo: Sequence[Unit]
    absences: dict[tuple[str, str, str], Absence] = field(default_factory=dict)
    seen: set[Place] = field(default_factory=set)
    total: Counter[tuple[str, str]] = field(default_factory=Counter)
    done: Counter[tuple[str, str]] = field(default_factory=Counter)
    spent: Counter[tuple[str, str]] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.total.update((unit.paper, unit.exhibit) for unit in self.units)
        self.done.update(self.total)
        self.done.subtract((unit.paper, unit.exhibit) for unit in self.todo)

    def take(self, outcome: Outcome) -> None:
        """One outcome; the second time it is handed over, after Ctrl-C, it is known already."""
        unit = outcome.unit
        if place_of(unit) in self.seen:
            return
        self.seen.add(place_of(unit))
        where = unit.paper, unit.exhibit
        if outcome.absent:
            self.absences.setdefault((*where, unit.row), Absence(*where, unit.row, outcome.absent))
        else:
            self.store.add(outcome, self.stamps[where])
        self.done[where] += 1
        self.spent[where] += outcome.seconds  # type: ignore[assignment]  # a Counter counts anything that adds
        report(" ".join(where), self.done[where], self.total[where])
        if self.done[where] == self.total[where]:
            log.info("%s %s: all %d done, %.1f s of work", *where, self.total[where], self.spent[where])
