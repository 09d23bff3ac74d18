"""Runs one contestant in a process of its own and measures wall time, processor time, peak memory and quality."""

import multiprocessing
import resource
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from partita.report.tables import TextTable


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
class Case:
    """The same work done in several ways; the first contestant is ours, the others are measured against it."""

    name: str
    about: str
    make: Callable[[], Any]
    """Makes the data, the same in every process."""
    contestants: tuple[Contestant, ...]
    quality: Callable[[Any, Any], float]
    """From (result, data) a number that must agree, or that shows who is better."""
    repeats: int = 5
    floor: Contestant | None = field(default=None)
    """What no one can beat, such as reading the bytes once."""


@dataclass(frozen=True)
class Measurement:
    """What one contestant needed."""

    name: str
    wall: float = float("nan")
    processor: float = float("nan")
    memory: float = float("nan")
    quality: float = float("nan")
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


def _measure(case: Case, contestant: Contestant, answers: Any) -> None:
    try:
        if contestant.sample is not None:
            contestant.run(contestant.sample())
        data = case.make()
        _forget_peak()
        before = 0.0 if contestant.outside else _peak_memory(False)
        result = contestant.run(data)  # the first run is measured for memory only: it may still fill caches
        peak = _peak_memory(contestant.outside) - before
        walls, processors = [], []
        for _ in range(case.repeats):
            del result
            wall, processor = time.perf_counter(), _processor(contestant.outside)
            result = contestant.run(data)
            walls.append(time.perf_counter() - wall)
            processors.append(_processor(contestant.outside) - processor)
        answers.put(Measurement(contestant.name, min(walls), min(processors), peak, case.quality(result, data)))
    except ImportError as error:
        answers.put(Measurement(contestant.name, failure=f"not installed: {error.name}"))
    except Exception as error:
        answers.put(Measurement(contestant.name, failure=f"{type(error).__name__}: {error}"[:80]))


def measure(case: Case, contestant: Contestant, limit: float = 600.0) -> Measurement:
    """One contestant in a fresh process, given up after `limit` seconds."""
    context = multiprocessing.get_context("fork")
    answers = context.SimpleQueue()
    child = context.Process(target=_measure, args=(case, contestant, answers))
    child.start()
    child.join(limit)
    if child.is_alive():
        child.kill()
        child.join()
        return Measurement(contestant.name, failure=f"stopped after {limit:.0f} s")
    if answers.empty():
        return Measurement(contestant.name, failure=f"died with exit code {child.exitcode}")
    found: Measurement = answers.get()
    return found


def run_case(case: Case) -> TextTable:
    """The table of a case: ours first, each rival with its time divided by ours."""
    entries = list(case.contestants) + ([case.floor] if case.floor else [])
    found = [measure(case, contestant) for contestant in entries]
    ours = found[0]
    columns = ("contestant", "wall s", "processor s", "extra memory MB", "quality", "time / ours", "memory / ours")
    rows = []
    for entry in found:
        if entry.failure:
            rows.append((entry.name, entry.failure, None, None, None, None, None))
            continue
        ratio, space = entry.wall / ours.wall, entry.memory / max(ours.memory, 1.0)
        cells = (f"{entry.wall:.4f}", f"{entry.processor:.4f}", f"{entry.memory:.0f}", f"{entry.quality:.6g}")
        rows.append((entry.name, *cells, f"{ratio:.2f}", f"{space:.1f}"))
    return TextTable(f"{case.name}: {case.about}", columns, tuple(rows))
