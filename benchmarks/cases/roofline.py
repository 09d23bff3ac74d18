"""How near each hot loop comes to what this machine can do: `python -m benchmarks.cases.roofline` writes the results.

Of each kernel the bytes and operations of one row are counted from its code, for r = 20 clusterings of 10 labels and
k = 10 clusters, of 16 padded numbers the 12 that are read where the kernel pads. `streamed` are bytes that come from or
go to main memory (rows, and what is kept for each row), `near` bytes of tables and counts that stay in the processor's
caches. An operation is one addition, multiplication, comparison or the like on one number; an exponential counts 34, a
logarithm 25, a digamma 70, a division or root 1.
"""

import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.harness import Case, Contestant
from partita.core.padded import aligned
from partita.core.threads import map_threads, thread_limit
from partita.kernels.compiling import kernel

RESULTS = Path(__file__).parents[2] / "docs" / "performance.json"
R, K, WIDE, LABELS = 20, 10, 12, 10
EXP, LOG, DIGAMMA, MIX = 34, 25, 70, 8
BIG = 1 << 25
"""Numbers in an array far larger than the caches."""
ROUNDS = 5
CHAINED = 4


@kernel
def triad(a, b, out):
    """Write a + 3 b."""
    for i in range(out.shape[0]):
        out[i] = a[i] + 3.0 * b[i]


@kernel
def multiply_add(values, rounds):
    """Four multiplications and additions, one after the other, of each of some numbers that stay near."""
    for _ in range(rounds):
        for i in range(values.shape[0]):
            x = values[i]
            for _ in range(4):
                x = x * 0.999 + 0.001
            values[i] = x


@kernel
def near_add(a, b, out, rounds):
    """Write a + b again and again, all three in the nearest memory."""
    for _ in range(rounds):
        for i in range(out.shape[0]):
            out[i] = a[i] + b[i]


@dataclass(frozen=True)
class Loop:
    """A kernel and what one row costs it, counted from the code."""

    name: str
    place: str
    """The function."""
    make: Callable[[int], Callable[[], Any]]
    """From a number of rows, the call."""
    rows: int
    streamed: float
    near: float
    operations: float
    counted: str
    """How."""
    unit: str = "row"


class Rates(NamedTuple):
    """What the machine does in a second, on one thread: bytes and operations."""

    memory: float
    near: float
    arithmetic: float


def seconds(work: Callable[[], Any], rounds: int = ROUNDS) -> float:
    """Least processor time of several runs, after one that is not timed; others share the machine."""
    work()
    found = []
    for _ in range(rounds):
        begun = time.process_time()
        work()
        found.append(time.process_time() - begun)
    return min(found)


def streams(threads: int) -> dict[str, dict[str, float]]:
    """Gigabytes a second of a sum, a copy and a triad, rows divided over threads: the best of five.

    By wall time, which others on the machine lengthen, and by processor time divided by the threads, which is what they
    would do if they ran side by side all the time.
    """
    a, b, out = np.ones(BIG), np.ones(BIG), np.empty(BIG)
    parts = [slice(i * BIG // threads, (i + 1) * BIG // threads) for i in range(threads)]
    ways = {
        "sum": (8, lambda part: a[part].sum()),
        "copy": (16, lambda part: np.copyto(out[part], a[part])),
        "triad": (24, lambda part: triad(a[part], b[part], out[part])),
    }
    told = {}
    with thread_limit(threads):
        for name, (size, work) in ways.items():
            wall, processor = np.inf, np.inf
            for _ in range(ROUNDS):
                begun, used = time.perf_counter(), time.process_time()
                map_threads(work, parts)
                wall = min(wall, time.perf_counter() - begun)
                processor = min(processor, (time.process_time() - used) / threads)
            told[name] = {"wall": size * BIG / wall / 1e9, "processor": size * BIG / processor / 1e9}
    return told


def rates() -> Rates:
    """By processor time on one thread: the best of sum, copy and triad, and of the two loops on near numbers."""
    a, b, out = np.ones(BIG), np.ones(BIG), np.empty(BIG)
    ways = ((8, a.sum), (16, lambda: np.copyto(out, a)), (24, lambda: triad(a, b, out)))
    memory = max(size * BIG / seconds(work) for size, work in ways)
    near = 0.0
    for size in (512, 768, 1024):
        few = [aligned(size) for _ in range(3)]
        near = max(near, 3 * 8 * size * 100_000 / seconds(lambda few=few: near_add(*few, 100_000)))
    numbers = np.ones(256)
    return Rates(memory, near, 2 * CHAINED * 256 * 100_000 / seconds(lambda: multiply_add(numbers, 100_000)))


def labels_of(n: int) -> np.ndarray:
    """Random labels, hardly two rows alike."""
    return np.random.default_rng(0).integers(LABELS, size=(n, R), dtype=np.int8)


def offsets() -> np.ndarray:
    """Where each clustering's labels begin."""
    return LABELS * np.arange(R + 1)


def log_chances() -> np.ndarray:
    """(t, k) random log-probabilities."""
    drawn = np.random.default_rng(1).dirichlet(np.ones(LABELS), (R, K))
    return np.ascontiguousarray(np.log(drawn.transpose(0, 2, 1).reshape(-1, K)))


def ensemble_of(n: int):
    """The labels as an ensemble."""
    from partita.core.ensemble import Ensemble

    labels, names = labels_of(n), tuple(map(str, range(R)))
    labels.setflags(write=False)
    return Ensemble(labels, (LABELS,) * R, names, (tuple(range(LABELS)),) * R, np.ones(R))


def hashing(n: int):
    """Hashes of rows."""
    from partita.core.distinct import _as_words
    from partita.kernels.rows import hash_rows

    words, hashes = _as_words(labels_of(n)), np.empty(n, np.uint64)
    return lambda: hash_rows(words, hashes, 0, n)


def numbering(n: int):
    """The hash table of distinct rows, all different."""
    from partita.core.distinct import _as_words
    from partita.kernels.rows import hash_rows, number_rows

    words, hashes = _as_words(labels_of(n)), np.empty(n, np.uint64)
    hash_rows(words, hashes, 0, n)
    first, inverse, table = np.empty(n, np.int32), np.empty(n, np.int32), np.empty(1 << 21, np.int32)

    def run():
        table.fill(-1)
        return number_rows(words, hashes, table, first, inverse)

    return run


def gathering(n: int):
    """Keys of clusters from keys of rows."""
    from partita.kernels.canonical import gather_hard

    labels, rows, keys = labels_of(n), np.arange(n).astype(np.uint64), np.zeros(R * LABELS, np.uint64)
    return lambda: gather_hard(labels, offsets(), rows, rows, keys, 0, n)


def scattering(n: int):
    """Keys of rows from keys of clusters."""
    from partita.kernels.canonical import scatter_hard

    labels, rows, keys = labels_of(n), np.arange(n).astype(np.uint64), np.arange(R * LABELS).astype(np.uint64)
    return lambda: scatter_hard(labels, offsets(), keys, rows, 0, n)


def placing(**asked: bool):
    """One pass of a fitted model."""

    def make(n: int):
        from partita.core.placing import Placer

        placer, labels = Placer(np.full(K, -np.log(K)), log_chances(), offsets()), labels_of(n)
        return lambda: placer.place(labels, **asked)

    return make


def expecting(n: int):
    """One EM pass."""
    from partita.models.mixture import Mixture, at_site

    ensemble, params = ensemble_of(n), Mixture(np.full(K, -np.log(K)), log_chances())
    return lambda: at_site(params, ensemble)


def inferring(n: int):
    """Five iterations of the shares of each object."""
    from partita.core.dirichlet import Bce, Inner, even_gamma, expect

    ensemble, params = ensemble_of(n), Bce(np.full(K, 0.5), log_chances())
    gamma, bounds = even_gamma(ensemble, np.ones(R), params.alpha), np.empty(n)
    return lambda: expect(params, ensemble, np.ones(R), gamma.copy(), bounds, Inner(0.0, 5))


def sweeping(n: int):
    """One sweep of the sampler over every label."""
    from partita.kernels.gibbs import count_tokens, sweep_even

    labels = labels_of(n)
    z = np.random.default_rng(2).integers(K, size=labels.shape, dtype=np.int8)
    tables, totals = np.zeros((R * LABELS, K), np.int32), np.zeros((R, K), np.int32)
    count_tokens(labels, offsets(), z, tables, totals, 0, n)
    return lambda: sweep_even(labels, offsets(), z, tables, totals, 0.5, 0.5, np.uint64(1), 0, 0, n)


def counting(n: int):
    """Labels of each cluster."""
    from partita.kernels.scores import count_labels

    labels, chosen = labels_of(n), np.random.default_rng(2).integers(K, size=n).astype(np.int32)
    counts, tables, sizes = np.ones(n), np.zeros((R * LABELS, K)), np.zeros(K)
    return lambda: count_labels(labels, offsets(), chosen, counts, tables, sizes, 0, n)


def overlapping(n: int):
    """Objects that each two base clusters share."""
    from partita.kernels.overlap import add_overlaps

    labels, amounts, out = labels_of(n), np.ones(n), np.zeros((R * LABELS, R * LABELS))
    return lambda: add_overlaps(labels, offsets(), amounts, out, 0, n)


def pairing(n: int):
    """Co-association of all pairs of so many rows that there are n pairs."""
    from partita.kernels.coassociation import Columns, count_shares

    rows = int(np.sqrt(2 * n))
    labels = np.ascontiguousarray(labels_of(rows).T)
    columns = Columns(labels, np.empty((0, rows), np.uint8), np.empty(0, np.int64), np.ones(R, np.uint8), np.ones(rows))
    cells = np.zeros((1, R + 1))
    return lambda: count_shares(columns, cells, True, 0, rows)


def moving(n: int):
    """One sweep of the greedy search."""
    from partita.graph.greedy import sweep

    ensemble, start = ensemble_of(n), np.random.default_rng(2).integers(K, size=n).astype(np.int32)
    return lambda: sweep(ensemble, start.copy(), K, keep=True)


LINE = 8 * WIDE
SCORED = R * WIDE + 2 * WIDE
LOOPS = (
    Loop("distinct rows: hashes", "rows.hash_rows", hashing, 10**6, R + 8, 0, 5 * 4, "5 words of 4 operations"),
    Loop(
        "distinct rows: table", "rows.number_rows", numbering, 10**6, 8 + 64 + 2 * 4 + 8, 0, 4,
        "hash, a line of the table at a random place, its filling, two numbers; all rows different",
    ),
    Loop(
        "canonical order: gather", "canonical.gather_hard", gathering, 10**6, R + 16, 16 * R, R + 1,
        "a key read and written a label",
    ),
    Loop(
        "canonical order: scatter", "canonical.scatter_hard", scattering, 10**6, R + 16, 8 * R, R + MIX,
        "a key read a label, one scrambling",
    ),
    Loop(
        "assign: winners", "placing.place_rows", placing(), 10**6, R + 1, R * LINE + 2 * LINE, SCORED,
        "12 additions a label, maximum and which",
    ),
    Loop(
        "assign: with counts", "placing.place_rows", placing(counts=True), 10**6, R + 1, R * (LINE + 8) + 2 * LINE,
        SCORED + R, "and one count a label",
    ),
    Loop(
        "assign: with likelihood", "placing.place_rows", placing(chances=True), 10**6, R + 9,
        R * LINE + 2 * LINE + 4 * 8 * K, SCORED + K * (EXP + 2), "and 10 exponentials",
    ),
    Loop(
        "EM pass", "mixture.expect_rows", expecting, 10**6, R + 8, 3 * R * LINE + 4 * LINE + 4 * 8 * K,
        SCORED + K * (EXP + 4) + LOG + R * WIDE + MIX, "12 additions a label, 10 exponentials, 12 additions a label",
    ),
    Loop(
        "BCE, five iterations", "dirichlet.infer_rows", inferring, 10**5, R + 2 * 8 * K + 16,
        8 * K * R * (1 + 1 + 5 * 3 + 3),
        5 * (K * (DIGAMMA + EXP + 4) + R * (4 * K + 1)) + R * (4 * K + LOG) + 4 * K * LOG,
        "an iteration: 10 digammas, 10 exponentials, 41 operations a label",
    ),
    Loop(
        "Gibbs sweep", "gibbs.sweep_even", sweeping, 10**5, 3 * R, R * K * (4 + 8 + 8 + 8 + 4),
        R * (4 * K + K // 2 + MIX + 12),
        "a label: 10 products, a number drawn, a search through half the sums on average",
    ),
    Loop("label counts", "scores.count_labels", counting, 10**6, R + 12, 16 * R, R, "a count read and written a label"),
    Loop(
        "overlaps", "overlap.add_overlaps", overlapping, 10**6, R + 8, 16 * R * (R + 1) // 2, R * (R + 1) // 2,
        "210 pairs of labels a row, each a cell read and written",
    ),
    Loop(
        "co-association, all pairs", "coassociation.count_shares", pairing, 10**7, 0, R + 2 * R + 1 + 16, 2 * R + 2,
        "a comparison and an addition of one byte a clustering, one cell", "pair",
    ),
    Loop(
        "greedy sweep", "greedy.sweep_rows", moving, 20_000, R * 12 + 8, R * (4 * 8 * K + 5 * 8 * K),
        R * ((2 * K + 2) * (LOG + 3) + 12 * K), "a label: 22 logarithms, 10 agreements of a dozen operations",
    ),
)  # fmt: skip


def measured(loop: Loop, found: Rates, scale: float = 1.0) -> dict[str, Any]:
    """What one row costs on one thread, and the shares of the three bounds."""
    rows = max(int(loop.rows * scale), 100)
    with thread_limit(1):
        each = seconds(loop.make(rows)) / rows
    bounds = {
        "memory": loop.streamed / found.memory,
        "near": loop.near / found.near,
        "arithmetic": loop.operations / found.arithmetic,
    }
    return {
        "kernel": loop.name,
        "function": loop.place,
        "unit": loop.unit,
        "counted": loop.counted,
        "streamed bytes": loop.streamed,
        "near bytes": loop.near,
        "operations": loop.operations,
        "ns": each * 1e9,
        "shares": {name: bound / each for name, bound in bounds.items()},
        "bound": max(bounds, key=lambda name: bounds[name]),
    }


def machine() -> dict[str, Any]:
    """The processor, its caches, versions."""
    import llvmlite
    import numba

    from partita.version import __version__

    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    model = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), "unknown")
    caches = {}
    for place in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        level, kind, size = ((place / name).read_text().strip() for name in ("level", "type", "size"))
        caches[f"L{level} {kind.lower()}"] = size
    versions = {"partita": __version__, "numpy": np.__version__, "numba": numba.__version__}
    versions |= {"llvmlite": llvmlite.__version__, "python": sys.version.split()[0]}
    return {"processor": model, "cores": os.cpu_count(), "caches": caches, "versions": versions}


def report(scale: float = 1.0) -> dict[str, Any]:
    """Everything that the page shows."""
    found = rates()
    return {
        "command": "python -m benchmarks.cases.roofline",
        "date": datetime.now(UTC).date().isoformat(),
        "machine": machine(),
        "GB/s": {"1 thread": streams(1), "2 threads": streams(2)},
        "rates": {name: value / 1e9 for name, value in found._asdict().items()},
        "kernels": [measured(loop, found, scale) for loop in LOOPS],
    }


def contestant(loop: Loop) -> Contestant:
    """One kernel as a contestant; the machine's rates are its data."""
    return Contestant(loop.name, lambda found: measured(loop, found))


def shown(entry: dict[str, Any], found: Rates) -> dict[str, float]:
    """The figures of a kernel."""
    return {"ns": entry["ns"], **{f"share of {name}": share for name, share in entry["shares"].items()}}


CASES = [
    Case(
        "roofline",
        "time of one row on one thread, and the least that memory, near memory and arithmetic allow, as a share of it",
        rates,
        tuple(contestant(loop) for loop in LOOPS),
        shown,
        repeats=0,
        on_request=True,
        ratios=False,
    )
]


if __name__ == "__main__":
    RESULTS.write_text(json.dumps(report(), indent=1) + "\n")
    print(f"wrote {RESULTS.name}")
