"""The grid of the benchmark page: every contestant at every size, until it fails, each in a process of its own."""

import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.contestants import Entry
from benchmarks.data import noisy_table
from benchmarks.harness import Reported
from benchmarks.records import Log, Record, load
from benchmarks.rivals import Bounds, outside

SIZES = (10**3, 2 * 10**4, 10**5, 10**6, 10**7)
COLUMNS, CLUSTERS, NOISE = 20, 10, 0.3
HOPELESS = 1.5
"""A size is not tried where time in proportion to objects, from the size before, would be so many times the limit."""


@dataclass(frozen=True)
class Grid:
    """What is run, and how."""

    log: Log
    entries: Sequence[Entry]
    sizes: Sequence[int] = SIZES
    minutes: float = float("inf")
    """After so long no run is begun."""
    bounds: Bounds = field(default_factory=lambda: Bounds(60.0, 12.0, 2.0))


def refusal(entry: Entry, n: int, before: Iterable[Record], seconds: float) -> str:
    """Why a size is not tried; empty where it is."""
    if n > entry.largest:
        return f"not tried above {entry.largest} objects"
    own = [run for run in before if (run["method"], run["program"]) == (entry.method, entry.program) and run["n"] < n]
    if not own:
        return ""
    last = max(own, key=lambda run: run["n"])
    if last.get("failure"):
        return f"not tried: failed at {last['n']}"
    expected = last["wall"] * n / last["n"]
    if expected > HOPELESS * seconds:
        return f"not tried: {last['wall']:.0f} s at {last['n']} objects, and at best {expected:.0f} s here"
    return ""


def run(grid: Grid, ask: Any = outside) -> None:
    """Every run that the log has not; the smallest tables first."""
    over = time.monotonic() + 60 * grid.minutes
    with tempfile.TemporaryDirectory() as folder:
        for n in sorted(grid.sizes):
            done = {(each["method"], each["program"]) for each in grid.log if each["part"] == "grid" and each["n"] == n}
            due = [entry for entry in grid.entries if (entry.method, entry.program) not in done]
            if not due:
                continue
            labels, truth = kept(n, Path(folder))
            for entry in due:
                before = [each for each in grid.log if each["part"] == "grid"]
                record = {"part": "grid", "method": entry.method, "program": entry.program, "n": n, "load": load()}
                late = "not tried: the time for the whole table was over" if time.monotonic() > over else ""
                if reason := refusal(entry, n, before, grid.bounds.seconds) or late:
                    record |= {"failure": reason}
                else:
                    record |= measured(entry, labels, truth, grid.bounds, ask)
                grid.log.add(record)
                print(told(record), file=sys.stderr, flush=True)


def kept(n: int, folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """The table on disk, so that not every contestant's neighbour has it in memory."""
    labels, truth = noisy_table(n, COLUMNS, CLUSTERS, NOISE)
    np.save(folder / f"{n}.npy", labels)
    return np.load(folder / f"{n}.npy", mmap_mode="r"), truth


def measured(entry: Entry, labels: np.ndarray, truth: np.ndarray, bounds: Bounds, ask: Any) -> Record:
    """One run: time, memory, agreement with the clusterings and with what they copy."""
    from partita import Ensemble
    from partita.metrics import anmi, nmi

    table = labels.T if entry.turned else labels
    try:
        found: Reported = ask(entry.program, entry.asked or entry.method, CLUSTERS, table, bounds)
    except ImportError as error:
        return {"failure": f"not installed here: {error}", "absent": True}
    if found.failure:
        return {"failure": found.failure}
    answer = np.asarray(found.value)
    return {
        "wall": found.wall,
        "processor": found.processor,
        "memory": found.memory,
        "anmi": float(anmi(Ensemble.from_labels(labels), answer)),
        "nmi": float(nmi(truth, answer)),
        "clusters": len(np.unique(answer)),
        "told": found.quality,
        "versions": found.versions,
    }


def told(record: Record) -> str:
    """A run in one line, for progress."""
    about = record.get("failure") or f"{record['wall']:.3f} s, ANMI {record['anmi']:.3f}, NMI {record['nmi']:.3f}"
    return f"{record['n']:>9} {record['method']:<18} {record['program']:<36} {about}"
