"""The benchmark page from the runs: `python -m benchmarks table | pools | gather | page`."""

import argparse
import datetime
import json
import shlex
from pathlib import Path

from benchmarks import grid, quality
from benchmarks.contestants import Entry, entries, quality_entries
from benchmarks.gathering import as_text, commit, gathered
from benchmarks.grid import Grid
from benchmarks.page import render
from benchmarks.records import Log
from benchmarks.rivals import Bounds

RUNS = Path("benchmarks/results/runs.jsonl")
PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"
RESULTS = PAGE.with_suffix(".json")
COMMANDS = ("table", "pools", "gather", "page")


def parser() -> argparse.ArgumentParser:
    """The options; each has the value that the committed results were made with."""
    made = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    made.add_argument("command", choices=COMMANDS)
    made.add_argument("--runs", type=Path, default=RUNS, help="the file of runs, which is taken up where it stops")
    made.add_argument("--sizes", default=",".join(map(str, grid.SIZES)), help="numbers of objects, with commas")
    made.add_argument("--methods", default="", help="only these methods, with commas")
    made.add_argument("--who", choices=("all", "ours", "others"), default="all", help="only ours, or only the others")
    made.add_argument("--seconds", type=float, default=60.0, help="limit of a process of the table")
    made.add_argument("--gigabytes", type=float, default=12.0, help="its address space")
    made.add_argument("--minutes", type=float, default=float("inf"), help="after so long no run of the table is begun")
    made.add_argument("--patience", type=float, default=2.0, help="seconds within which a quick call is repeated")
    made.add_argument("--draws", type=int, default=quality.DRAWS, help="draws of columns of a pool")
    made.add_argument("--pools", default="", help="only these pools, with commas")
    made.add_argument("--pool-seconds", type=float, default=20.0, help="limit of one table of a pool")
    made.add_argument("--pools-seconds", type=float, default=60.0, help="of all; ours has four times both")
    return made


def chosen(methods: list[str], who: str) -> list[Entry]:
    """The contestants that are asked for."""
    named = [entry for entry in quality_entries() if not methods or entry.method in methods]
    return [entry for entry in named if who == "all" or entry.ours == (who == "ours")]


def main(words: list[str]) -> int:
    """Run the table or the pools, gather all runs beside `--runs` into one file, or write the page from it."""
    given = parser().parse_args(words)
    log = Log(given.runs)
    some = chosen([name for name in given.methods.split(",") if name], given.who)
    command, today = "python -m benchmarks " + shlex.join(words), datetime.date.today().isoformat()
    begun = {"part": "command", "command": command, "date": today, "commit": commit()}
    if given.command == "table":
        sizes = [int(float(size)) for size in given.sizes.split(",")]
        log.add(begun)
        bounds = Bounds(given.seconds, given.gigabytes, given.patience)
        timed = [entry for entry in some if entry in entries()]
        grid.run(Grid(log, timed, sizes, given.minutes, bounds))
    elif given.command == "pools":
        log.add(begun)
        due = quality.tables(given.draws, [name for name in given.pools.split(",") if name])
        quality.run(log, due, (given.pool_seconds, given.pools_seconds), some)
    elif given.command == "gather":
        logs = [Log(path) for path in sorted(given.runs.parent.glob("*.jsonl"))]
        RESULTS.write_text(as_text(gathered(logs)))
    else:
        PAGE.write_text(render(json.loads(RESULTS.read_text())))
    return 0
