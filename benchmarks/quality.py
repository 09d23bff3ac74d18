"""Quality on public pools, and the row-order audit: the same table in file order, sorted by class, and shuffled."""

import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.contestants import Entry
from benchmarks.records import Log, Record, load
from benchmarks.rivals import answers
from partita.datasets.pools import POOLS, load_pool

COLUMNS, DRAWS = 10, 3
LONGER = 4
"""Our methods have so many times a rival's seconds, so that every pool is told."""
FILE, SORTED, SHUFFLED = "file order", "sorted by class", "shuffled"


@dataclass(frozen=True)
class Table:
    """Some columns of a pool, its rows in some order."""

    pool: str
    draw: int
    way: str
    labels: np.ndarray
    truth: np.ndarray
    order: np.ndarray
    """Row i of the table is row order[i] of the file."""

    @property
    def k(self) -> int:
        """The true number of clusters."""
        return int(self.truth.max()) + 1


def draw_table(pool: Any, number: int, draw: int, way: str) -> Table:
    """Ten columns at random, the same for every contestant and order."""
    rng = np.random.default_rng([number, draw])
    columns = rng.permutation(pool.ensemble.labels.shape[1])[:COLUMNS]
    shuffled = rng.permutation(len(pool.truth))
    ways = {FILE: np.arange(len(pool.truth)), SORTED: np.argsort(pool.truth, kind="stable"), SHUFFLED: shuffled}
    order = ways[way]
    return Table(pool.name, draw, way, pool.ensemble.labels[order][:, columns], pool.truth[order], order)


def tables(draws: int = DRAWS, names: Sequence[str] = (), read: Callable[[str], Any] = load_pool) -> list[Table]:
    """All tables: one draw of every pool, small pools first; then its other orders; then the other draws."""
    pools = sorted((read(name) for name in names or POOLS), key=lambda pool: len(pool.truth))
    plan = [(0, SHUFFLED), (0, FILE), (0, SORTED), *((draw, SHUFFLED) for draw in range(1, draws))]
    kinds = [plan[:1], plan[1:3], *([each] for each in plan[3:])]
    return [
        draw_table(pool, number, draw, way) for kind in kinds for number, pool in enumerate(pools) for draw, way in kind
    ]


def run(log: Log, due: Sequence[Table], limits: tuple[float, float], some: Sequence[Entry]) -> None:
    """Every contestant that the log has not; a line each."""
    done = {(each["method"], each["program"]) for each in log if each["part"] == "pools"}
    for entry in some:
        if (entry.method, entry.program) in done:
            continue
        begun = time.monotonic()
        record = {"part": "pools", "method": entry.method, "program": entry.program, "load": load()}
        longer = LONGER if entry.ours else 1
        log.add(record | judged(entry, due, (longer * limits[0], longer * limits[1])))
        print(f"{time.monotonic() - begun:6.1f} s {entry.method} {entry.program}", file=sys.stderr, flush=True)


def judged(entry: Entry, due: Sequence[Table], limits: tuple[float, float], ask: Any = answers) -> Record:
    """NMI of every draw with the classes, and how much the order of the rows changes, pool by pool."""
    from partita.metrics import ari, nmi

    asked = [(table.labels.T if entry.turned else table.labels, table.k) for table in due]
    scores: dict[str, list[float]] = {}
    restored: dict[str, dict[str, tuple[np.ndarray, float]]] = {}
    failures: Counter[str] = Counter()
    reached = 0
    try:
        for table, found in zip(due, ask(entry.program, entry.asked or entry.method, asked, *limits), strict=False):
            reached += 1
            if found.failure:
                failures[found.failure] += 1
                continue
            answer = np.asarray(found.value)
            score = float(nmi(table.truth, answer))
            if table.way == SHUFFLED:
                scores.setdefault(table.pool, []).append(score)
            if not table.draw:
                back = np.empty_like(answer)
                back[table.order] = answer
                restored.setdefault(table.pool, {})[table.way] = (back, score)
    except ImportError as error:
        return {"failure": f"not installed here: {error}", "absent": True}
    audit = {}
    for pool, ways in restored.items():
        if len(ways) == 3:
            pairs = [(a, b) for a in ways.values() for b in ways.values() if a is not b]
            changed = max(1 - float(ari(a[0], b[0])) for a, b in pairs)
            gained = {way: ways[way][1] - ways[SHUFFLED][1] for way in (FILE, SORTED)}
            audit[pool] = [changed if changed > 1e-12 else 0.0, gained[FILE], gained[SORTED]]
    return {"scores": scores, "audit": audit, "failures": dict(failures), "left": len(due) - reached}
