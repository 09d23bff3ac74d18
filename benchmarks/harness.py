"""Runs one contestant in a process of its own and measures wall time, processor time, peak memory and quality."""

import multiprocessing
import resource
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from partita.report.tables import TextTable

LONGEST = 200
"""Characters of a failure's message that are shown."""


@dataclass(frozen=True)
class Contestant:
    """One way to do the work. `run(data)` is timed."""

    name: str
    run: Callable[[Any], Any]
    sample: Callable[[], Any] | None = None
    """Small data for a first unmeasured run that imports, compiles and loads kernels."""
    outside: bool = False
    """The work is done by a process that `run` starts: its peak memory is taken, whole."""


@dataclass(frozen=True)
class Reported:
    """What `run` gives back when the work was measured where it was done, as in another environment."""

    value: Any = None
    wall: float = float("nan")
    processor: float = float("nan")
    memory: float = float("nan")
    failure: str = ""
    quality: dict[str, float] = field(default_factory=dict)
    """What can be measured only there."""
    versions: dict[str, str] = field(default_factory=dict)
    """What ran there: the program's version and those of what it stands on."""


@dataclass(frozen=True)
class Case:
    """The same work done in several ways; the first contestant is ours, the others are measured against it."""

    name: str
    about: str
    make: Callable[[], Any]
    """Makes the data, the same in every process."""
    contestants: tuple[Contestant, ...]
    quality: Callable[[Any, Any], float | dict[str, float]]
    """From (result, data) a number that must agree, or that shows who is better; several by name."""
    repeats: int = 5
    """Runs after the first; 0 times the first."""
    floor: Contestant | None = field(default=None)
    """What no one can beat, such as reading the bytes once."""
    limit: float = 600.0
    """Seconds after which a contestant is stopped."""
    allowed: float | None = None
    """MB that the whole process may take, data and libraries included; its peak is then shown instead of the extra."""
    on_request: bool = False
    """Runs only when it is named: it takes many minutes, or data that is not everywhere."""
    ratios: bool = True
    """Whether the others' time and memory are divided by the first contestant's."""
    lacking: Callable[[], str] = str
    """What the case cannot run without, if that is not here."""


@dataclass(frozen=True)
class Measurement:
    """What one contestant needed."""

    name: str
    wall: float = float("nan")
    processor: float = float("nan")
    memory: float = float("nan")
    quality: dict[str, float] = field(default_factory=dict)
    failure: str = ""


def _peak_memory(outside: bool) -> float:
    """High-water mark in MB, of this process or of the largest it has started."""
    if outside:
        return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _processor(outside: bool) -> float:
    """Processor seconds used so far, by this process or by those it has started."""
    if not outside:
        return time.process_time()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _forget_peak() -> None:
    """Start the high-water mark anew, where the system allows it."""
    reset = Path("/proc/self/clear_refs")
    if reset.exists():
        reset.write_text("5")


def perform(case: Case, contestant: Contestant) -> Measurement:
    """One contestant in this process; what goes wrong is part of the answer."""
    try:
        if contestant.sample is not None:
            contestant.run(contestant.sample())
        data = case.make()
        figures, result = _timed(case, contestant, data)
        told: dict[str, float] = {}
        if isinstance(result, Reported):
            if result.failure:
                return Measurement(contestant.name, failure=result.failure[:LONGEST])
            figures, told = (result.wall, result.processor, result.memory), result.quality
            result = result.value
        quality = case.quality(result, data)
        told = told | (quality if isinstance(quality, dict) else {"quality": quality})
        return Measurement(contestant.name, *figures, told)
    except ImportError as error:
        return Measurement(contestant.name, failure=f"not installed here: {error}"[:LONGEST])
    except Exception as error:
        return Measurement(contestant.name, failure=f"{type(error).__name__}: {error}"[:LONGEST])


def _timed(case: Case, contestant: Contestant, data: Any) -> tuple[tuple[float, float, float], Any]:
    """Wall and processor seconds, memory, and the result."""
    _forget_peak()
    before = 0.0 if contestant.outside or case.allowed else _peak_memory(False)
    walls, processors = [], []
    for attempt in range(1 + case.repeats):
        result = None
        wall, processor = time.perf_counter(), _processor(contestant.outside)
        result = contestant.run(data)
        walls.append(time.perf_counter() - wall)
        processors.append(_processor(contestant.outside) - processor)
        if not attempt:
            peak = _peak_memory(contestant.outside) - before
        if isinstance(result, Reported):
            break
    first = min(1, len(walls) - 1)  # the first run may still fill caches: it is measured for memory only
    return (min(walls[first:]), min(processors[first:]), peak), result


def _measure(case: Case, contestant: Contestant, answers: Any) -> None:
    answers.put(perform(case, contestant))


def measure(case: Case, contestant: Contestant) -> Measurement:
    """One contestant in a fresh process, given up after the case's limit."""
    context = multiprocessing.get_context("fork")
    answers = context.SimpleQueue()
    child = context.Process(target=_measure, args=(case, contestant, answers))
    child.start()
    child.join(case.limit)
    if child.is_alive():
        child.kill()
        child.join()
        return Measurement(contestant.name, failure=f"stopped after {case.limit:.0f} s")
    if answers.empty():
        return Measurement(contestant.name, failure=f"died with exit code {child.exitcode}")
    found: Measurement = answers.get()
    return found


def run_case(case: Case) -> TextTable:
    """The table of a case: ours first, each rival with its time divided by ours."""
    entries = list(case.contestants) + ([case.floor] if case.floor else [])
    return tabulate(case, [measure(case, contestant) for contestant in entries])


def _ratios(case: Case, entry: Measurement, ours: Measurement) -> tuple[str | None, ...]:
    if not case.ratios or ours.failure:
        return (None, None) if case.ratios else ()
    return f"{entry.wall / ours.wall:.2f}", f"{entry.memory / max(ours.memory, 1.0):.1f}"


def tabulate(case: Case, found: list[Measurement]) -> TextTable:
    """The measurements as a table; a contestant that failed says why in place of its time."""
    ours, scores = found[0], list(dict.fromkeys(name for entry in found for name in entry.quality))
    memory = f"peak MB (allowed {case.allowed:.0f})" if case.allowed else "extra memory MB"
    columns = ("contestant", "wall s", "processor s", memory, *scores)
    columns += ("time / ours", "memory / ours") if case.ratios else ()
    rows: list[tuple[Any, ...]] = []
    for entry in found:
        if entry.failure:
            rows.append((entry.name, entry.failure, *[None] * (len(columns) - 2)))
            continue
        over = " TOO MUCH" if case.allowed and entry.memory > case.allowed else ""
        cells = (f"{entry.wall:.4f}", f"{entry.processor:.4f}", f"{entry.memory:.0f}{over}")
        marks = (f"{entry.quality[name]:.6g}" if name in entry.quality else None for name in scores)
        rows.append((entry.name, *cells, *marks, *_ratios(case, entry, ours)))
    return TextTable(f"{case.name}: {case.about}", columns, tuple(rows))
