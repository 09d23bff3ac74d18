"""Where each rival stands beside us: ratios at a size, and whether the claim of ten times and no lower ANMI holds."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.contestants import OTHER, Entry, entries
from partita.report.tables import TextTable

Results = Mapping[str, Any]
Runs = Mapping[tuple[str, str, int], Mapping[str, Any]]
CLAIM, TIMES, SLACK, DISAGREE = 20_000, 10.0, 0.005, 1.5
"""Objects of the claim; times as fast; a difference in agreement that is none; how far two ratios may be apart."""


def table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A pipe table."""
    return TextTable("", tuple(columns), tuple(tuple(row) for row in rows)).markdown()


@dataclass(frozen=True)
class Pair:
    """A rival and ours on the same table."""

    entry: Entry
    n: int
    rival: Mapping[str, Any]
    ours: Mapping[str, Any]

    @property
    def ratio(self) -> float:
        """The rival's seconds divided by ours."""
        return self.rival["wall"] / self.ours["wall"]

    @property
    def shown_ratio(self) -> str:
        """The ratio, with that of processor times where the two tell different stories."""
        wall = f"{self.ratio:.3g}"
        used = [run.get("processor") for run in (self.rival, self.ours)]
        if not all(used):
            return wall
        other = used[0] / used[1]
        apart = max(other / self.ratio, self.ratio / other)
        return f"{wall} (processor {other:.3g})" if apart > DISAGREE else wall

    @property
    def gain(self) -> tuple[float, float]:
        """How much higher the rival's ANMI and NMI are."""
        return self.rival["anmi"] - self.ours["anmi"], self.rival["nmi"] - self.ours["nmi"]

    @property
    def holds(self) -> bool:
        """Whether ours is ten times as fast and has no lower ANMI."""
        return self.ratio >= TIMES and self.gain[0] <= SLACK


def by_key(results: Results) -> Runs:
    """The runs of the grid, by method, program and size."""
    return {(run["method"], run["program"], run["n"]): run for run in results["grid"]}


def pairs(runs: Runs, n: int | None = None) -> Iterator[Pair]:
    """Every rival that finished beside ours that finished, at one size or at all."""
    for entry in entries():
        if entry.ours:
            continue
        sizes = sorted(size for method, program, size in runs if (method, program) == (entry.method, entry.program))
        for size in sizes if n is None else [n]:
            rival = runs.get((entry.method, entry.program, size))
            ours = runs.get((entry.method, entry.against, size))
            if rival and ours and "wall" in rival and "wall" in ours:
                yield Pair(entry, size, rival, ours)


def short(runs: Runs) -> list[Entry]:
    """The rivals that need a reason: at the size of the claim it does not hold, or only they finish."""
    found = [pair.entry for pair in pairs(runs, CLAIM) if not pair.holds]
    found += [entry for entry, n, _ in alone(runs) if n == CLAIM]
    return [entry for entry in found if entry.kind != OTHER]


def ahead(pair: Pair) -> list[str]:
    """In what the rival is ahead."""
    agreement, truth = pair.gain
    told = [f"{1 / pair.ratio:.3g} times as fast"] if pair.ratio < 1 else []
    told += [f"ANMI {agreement:+.3f}"] if agreement > SLACK else []
    return told + ([f"NMI {truth:+.3f}"] if truth > SLACK else [])


def alone(runs: Runs) -> list[tuple[Entry, int, str]]:
    """Runs that a rival finished and ours did not, with what stopped ours."""
    found = []
    for entry in entries():
        for (method, program, n), run in runs.items():
            ours = runs.get((method, entry.against, n), {})
            if (method, program) == (entry.method, entry.program) and "wall" in run and "failure" in ours:
                found += [(entry, n, ours["failure"])] if not entry.ours else []
    return found
