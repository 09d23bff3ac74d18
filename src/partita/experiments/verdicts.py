"""Verdicts on what a paper says, from the draws of our runs: differences against their noise.

A claim rests on one comparison, or on many: rows times rivals. It fails only where a comparison has the opposite sign
at the level of .05 divided by all comparisons of the claim (Bonferroni), so that chance alone fails one claim in
twenty, however many rows it speaks of. It holds where every comparison is clear at .05: for all of many to be clear by
chance is less likely than for one. Noise is that of the t distribution for the draws that there are.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from scipy import stats

from partita.core.types import FloatArray
from partita.experiments.exhibit import Row, Samples
from partita.experiments.ranking import LEVEL, ROUNDING

Verdict: TypeAlias = tuple[bool | None, str]
UNMEASURED: Final = "not measured"


class Compared(NamedTuple):
    """One comparison: of two columns in a row, or of what else a claim sets side by side."""

    row: str
    gap: float
    """How far the first is above the second, over the draws that have both."""
    error: float
    """The standard error of the gap; infinite with a single draw."""
    freedom: float
    """Degrees of freedom of that error."""
    told: str

    def noise(self, level: float = LEVEL) -> float:
        """So far the gap may be off, at a two-sided level."""
        return self.error * float(stats.t.ppf(1 - level / 2, self.freedom)) if self.known else np.inf

    @property
    def known(self) -> bool:
        """Whether there are draws enough to know the noise."""
        return bool(np.isfinite(self.error))


@dataclass(frozen=True, slots=True)
class Judge:
    """What a claim rests on, and what follows from it; called with samples it gives the verdict."""

    find: Callable[[Samples], list[Compared]]
    tell: Callable[[list[Compared], int], Verdict]
    """The verdict on these comparisons, of so many that the whole claim rests on."""

    def __call__(self, samples: Samples) -> Verdict:
        found = self.find(samples)
        return self.tell(found, len(found)) if found else (None, UNMEASURED)


def compared(row: str, gaps: FloatArray, told: str) -> Compared:
    """Differences, draw by draw; less than the rounding of sums is none."""
    gaps = np.where(np.abs(gaps) < ROUNDING, 0.0, gaps)
    error = float(np.sqrt(variance(gaps)))
    return Compared(row, float(gaps.mean()), error, max(len(gaps) - 1, 1), told)


def compare(samples: Samples, row: Row, first: str, second: str) -> Compared | None:
    """The two columns, draw by draw; None where no draw has both."""
    cells = samples.get(row.name, {})
    if first not in cells or second not in cells:
        return None
    draws = min(len(cells[first]), len(cells[second]))
    pairs = np.stack([cells[first][:draws], cells[second][:draws]])
    pairs = pairs[:, np.isfinite(pairs).all(axis=0)]
    if not pairs.shape[1]:
        return None
    told = f"{row.name}: {first} {pairs[0].mean():.3g} against {second} {pairs[1].mean():.3g}"
    return compared(row.name, pairs[0] - pairs[1], told)


def mean(samples: Samples, row: Row, column: str) -> float:
    """The mean of a cell over its draws; NaN where there are none."""
    values = _draws(samples, row, column)
    return float(values.mean()) if len(values) else np.nan


def above(rows: Sequence[Row], first: str, second: str, *, least: float = 0.0) -> Judge:
    """In every row the first is above the second, by `least` at least.

    It fails where a row has it below, beyond the noise; it cannot be told where a row is within the noise.
    """
    return Judge(
        lambda samples: _pairs(samples, rows, first, second),
        lambda pairs, family: all_above(pairs, family, least, len(rows)),
    )


def not_below(rows: Sequence[Row], first: str, second: str) -> Judge:
    """In no row is the first below the second by more than the noise."""

    def tell(pairs: list[Compared], family: int) -> Verdict:
        answer, told = all_above(pairs, family, 0.0, len(rows))
        known = answer is None and all(pair.known for pair in pairs)
        return (True if known else answer), told

    return Judge(lambda samples: _pairs(samples, rows, first, second), tell)


def at_least(rows: Sequence[Row], column: str, value: float) -> Judge:
    """In every row the mean is not below a value, beyond the noise of the draws either way."""

    def find(samples: Samples) -> list[Compared]:
        cells = [(row, cell) for row in rows if (cell := _draws(samples, row, column)).size]
        return [compared(row.name, cell - value, f"{row.name}: {column} {cell.mean():.3g}") for row, cell in cells]

    return Judge(find, lambda pairs, family: all_above(pairs, family, -ROUNDING, len(rows)))


def pool_above(rows: Sequence[Row], others: Sequence[Row], column: str) -> Judge:
    """A column is higher in some rows than in others; each row counts the same, draws are not paired."""
    return Judge(lambda samples: pools(samples, rows, others, column), all_above)


def pool_not_above(rows: Sequence[Row], others: Sequence[Row], column: str, *, most: float = 0.0) -> Judge:
    """A column is not higher in some rows than in others by more than `most` and the noise."""

    def tell(pairs: list[Compared], family: int) -> Verdict:
        (pair,) = pairs
        return (pair.gap - most <= pair.noise(LEVEL / family) if pair.known else None), pair.told

    return Judge(lambda samples: pools(samples, rows, others, column), tell)


def together(*judges: Judge) -> Callable[[Samples], Verdict]:
    """All of them: fails with any, holds where all do; one claim, so all their comparisons are one family."""

    def holds(samples: Samples) -> Verdict:
        found = [judge.find(samples) for judge in judges]
        family = sum(map(len, found))
        said = [j.tell(f, family) if f else (None, UNMEASURED) for j, f in zip(judges, found, strict=True)]
        told = "; ".join(dict.fromkeys(text for _, text in said))
        answers = [answer for answer, _ in said]
        return (False if False in answers else None if None in answers else True), told

    return holds


def all_above(pairs: Sequence[Compared], family: int, least: float = 0.0, rows: int = 1) -> Verdict:
    """Every gap is above `least`; of so many rows those that were measured, and it is said where some were not."""
    told = "; ".join(pair.told for pair in pairs) + (f" ({len(pairs)} of {rows} rows)" if len(pairs) < rows else "")
    if any(pair.gap - least < -pair.noise(LEVEL / family) for pair in pairs):
        return False, told
    return (True if all(pair.gap - least > pair.noise() for pair in pairs) else None), told


def mostly(rows: Sequence[Row], first: str, second: str, least: int) -> Judge:
    """The first is above the second in at least so many of the rows.

    It holds where so many rows show it, and fails where so many show the opposite that too few are left, beyond the
    noise; levels are those of a partial conjunction (Bonferroni over the rows that may be otherwise). Rows that were
    not measured could go either way.
    """

    def tell(pairs: list[Compared], family: int) -> Verdict:
        spared = max(len(pairs) - least + 1, 1)
        won = [pair.row for pair in pairs if pair.gap > pair.noise(LEVEL / spared)]
        fatal = len(rows) - least + 1
        lost = [pair.row for pair in pairs if pair.gap < -pair.noise(LEVEL / max(family - fatal + 1, 1))]
        higher = sum(pair.gap > 0 for pair in pairs)
        told = f"{first} is above {second} in {higher} of {len(pairs)} rows; beyond the noise above in {_named(won)}, "
        answer = True if len(won) >= least else False if len(lost) >= fatal else None
        return answer, f"{told}below in {_named(lost)}"

    return Judge(lambda samples: _pairs(samples, rows, first, second), tell)


def _named(rows: Sequence[str]) -> str:
    return f"{len(rows)} ({', '.join(rows)})" if rows else "none"


def ranked(rows: Sequence[Row], column: str, rivals: Sequence[str], place: int = 1) -> Judge:
    """In every measured row at most `place` - 1 rivals are above the column, by more than the noise of the draws."""

    def find(samples: Samples) -> list[Compared]:
        found = (compare(samples, row, column, rival) for row in rows for rival in rivals)
        return [pair for pair in found if pair is not None]

    def tell(pairs: list[Compared], family: int) -> Verdict:
        places: dict[str, int] = {}
        for pair in pairs:
            places.setdefault(pair.row, 1)
            places[pair.row] += pair.gap < -pair.noise(LEVEL / family)
        unknown = {pair.row for pair in pairs if not pair.known}
        if unknown == set(places):
            return None, UNMEASURED
        known = {row: found for row, found in places.items() if row not in unknown}
        behind = [f"{row} (place {found})" for row, found in known.items() if found > place]
        told = f"in {len(known) - len(behind)} of {len(known)} rows"
        return not behind, told + (f"; not: {', '.join(behind)}" if behind else "")

    return Judge(find, tell)


def _pairs(samples: Samples, rows: Iterable[Row], first: str, second: str) -> list[Compared]:
    return [found for row in rows if (found := compare(samples, row, first, second)) is not None]


def pools(samples: Samples, rows: Sequence[Row], others: Sequence[Row], column: str) -> list[Compared]:
    """The mean of a column over some rows against that over others; empty where either was not measured."""
    first, second = (
        [(row, found) for row in group if (found := _draws(samples, row, column)).size] for group in (rows, others)
    )
    if not first or not second:
        return []
    upper, lower = (float(np.mean([cell.mean() for _, cell in group])) for group in (first, second))
    parts = [(variance(cell) / len(group) ** 2, len(cell) - 1) for group in (first, second) for _, cell in group]
    names = [group[0][0].name if len(group) == 1 else f"{len(group)} rows" for group in (first, second)]
    told = f"{column}: {upper:.3g} in {names[0]} against {lower:.3g} in {names[1]}"
    return [Compared(column, upper - lower, *welch(parts), told)]


def welch(parts: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """The standard error of a sum of independent parts, each a variance with its freedom, and the sum's freedom."""
    total = sum(part for part, _ in parts)
    if not np.isfinite(total) or total == 0:
        return float(np.sqrt(total)), 1.0
    return float(np.sqrt(total)), float(total**2 / sum(part**2 / max(freedom, 1) for part, freedom in parts))


def draws_of(samples: Samples, row: Row, column: str) -> FloatArray:
    """The finite draws of a cell."""
    return _draws(samples, row, column)


def _draws(samples: Samples, row: Row, column: str) -> FloatArray:
    values: FloatArray = np.asarray(samples.get(row.name, {}).get(column, ()), dtype=np.float64)
    return values[np.isfinite(values)]


def variance(cell: FloatArray) -> float:
    """Of the mean of a cell's draws."""
    return float(cell.var(ddof=1) / len(cell)) if len(cell) > 1 else np.inf
