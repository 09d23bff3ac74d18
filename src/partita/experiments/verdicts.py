"""Verdicts on the claims of a paper, from the draws of our runs: differences compared with their noise.

A claim rests on comparisons c = 1..m: rows times rivals. With the mean difference g_c in the direction of the claim,
plus the margin of the claim where it has one, and its noise e_c (standard error times the two-sided t quantile at .05):

- holds: g_c > e_c for every c, or, where the claim includes equality, g_c >= 0 in every draw alike (e_c = 0);
- does not hold: g_c < -e_c for some c, with e_c at the level .05 / m (Bonferroni);
- not contradicted: neither, although the noise of every comparison is known;
- not tested: a comparison was not measured, or by one draw only.

docs/reproduce.md states the rule for users.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from scipy import stats

from partita.core.records import ClaimVerdict
from partita.core.types import FloatArray
from partita.experiments.exhibit import Row, Samples
from partita.experiments.ranking import LEVEL, ROUNDING

Verdict: TypeAlias = tuple[ClaimVerdict, str]
"""The verdict, and the figures that it rests on."""
UNMEASURED: Final = "not measured"


class Compared(NamedTuple):
    """One comparison: of two columns in a row, of two groups of rows, or of a column with a value."""

    row: str
    gap: float
    """Mean difference in the direction of the claim, over the draws that have both sides."""
    error: float
    """The standard error of the gap; infinite with a single draw."""
    freedom: float
    """Degrees of freedom of that error."""
    text: str

    def noise(self, level: float = LEVEL) -> float:
        """Half the width of the confidence interval of the gap, at a two-sided level."""
        return self.error * float(stats.t.ppf(1 - level / 2, self.freedom)) if self.known else np.inf

    @property
    def known(self) -> bool:
        """True if there are enough draws to estimate the noise."""
        return bool(np.isfinite(self.error))

    def above(self, level: float = LEVEL) -> bool:
        """True if the gap is clearly above 0."""
        return self.gap > self.noise(level)

    def below(self, level: float = LEVEL) -> bool:
        """True if the gap is clearly below 0."""
        return self.gap < -self.noise(level)

    def not_below(self, level: float = LEVEL) -> bool:
        """True if the gap is clearly above 0, or at least 0 and the same in every draw."""
        return self.above(level) or (self.gap >= 0 and self.error == 0)

    def moved(self, margin: float) -> "Compared":
        """Return the comparison with a margin added to its gap."""
        return self._replace(gap=self.gap + margin)


@dataclass(frozen=True, slots=True)
class Judge:
    """Comparisons of a claim, and the verdict that follows from them; called with samples it returns the verdict."""

    compare: Callable[[Samples], list[Compared]]
    decide: Callable[[list[Compared], int], Verdict]
    """The verdict on these comparisons, out of the given number that the whole claim rests on."""

    def __call__(self, samples: Samples) -> Verdict:
        pairs = self.compare(samples)
        return self.decide(pairs, len(pairs)) if pairs else ("not tested", UNMEASURED)


def compared(row: str, gaps: FloatArray, text: str) -> Compared:
    """Differences, draw by draw; a difference below the rounding of sums counts as 0."""
    gaps = np.where(np.abs(gaps) < ROUNDING, 0.0, gaps)
    error = float(np.sqrt(variance(gaps)))
    return Compared(row, float(gaps.mean()), error, max(len(gaps) - 1, 1), text)


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
    text = f"{row.name}: {first} {pairs[0].mean():.3g} against {second} {pairs[1].mean():.3g}"
    return compared(row.name, pairs[0] - pairs[1], text)


def mean(samples: Samples, row: Row, column: str) -> float:
    """The mean of a cell over its draws; NaN where there are none."""
    values = draws_of(samples, row, column)
    return float(values.mean()) if len(values) else np.nan


def above(rows: Sequence[Row], first: str, second: str, *, least: float = 0.0) -> Judge:
    """In every row the first is above the second, by `least` at least."""
    return Judge(
        lambda samples: _pairs(samples, rows, first, second, -least),
        lambda pairs, family: all_above(pairs, family, len(rows)),
    )


def not_below(rows: Sequence[Row], first: str, second: str, *, margin: float = 0.0) -> Judge:
    """In no row is the first below the second by more than `margin`."""
    return Judge(
        lambda samples: _pairs(samples, rows, first, second, margin),
        lambda pairs, family: none_below(pairs, family, len(rows)),
    )


def at_least(rows: Sequence[Row], column: str, value: float) -> Judge:
    """In every row the mean of a column is not below a value."""

    def find(samples: Samples) -> list[Compared]:
        cells = [(row, cell) for row in rows if (cell := draws_of(samples, row, column)).size]
        return [compared(row.name, cell - value, f"{row.name}: {column} {cell.mean():.3g}") for row, cell in cells]

    return Judge(find, lambda pairs, family: none_below(pairs, family, len(rows)))


def at_most(rows: Sequence[Row], column: str, value: float) -> Judge:
    """In every row the mean of a column is not above a value."""

    def find(samples: Samples) -> list[Compared]:
        return [pair._replace(gap=-pair.gap) for pair in at_least(rows, column, value).compare(samples)]

    return Judge(find, lambda pairs, family: none_below(pairs, family, len(rows)))


def pool_above(rows: Sequence[Row], others: Sequence[Row], column: str) -> Judge:
    """A column is higher in some rows than in others; each row counts the same, draws are not paired."""
    return Judge(lambda samples: pools(samples, rows, others, column), all_above)


def pool_not_above(rows: Sequence[Row], others: Sequence[Row], column: str, *, margin: float = 0.0) -> Judge:
    """A column is not higher in some rows than in others by more than `margin`."""

    def find(samples: Samples) -> list[Compared]:
        return [pair._replace(gap=margin - pair.gap) for pair in pools(samples, rows, others, column)]

    return Judge(find, none_below)


def together(*judges: Judge) -> Callable[[Samples], Verdict]:
    """All of them hold; one claim, so all their comparisons are one family."""

    def judge(samples: Samples) -> Verdict:
        pairs = [each.compare(samples) for each in judges]
        family = sum(map(len, pairs))
        parts = [
            each.decide(own, family) if own else ("not tested", UNMEASURED)
            for each, own in zip(judges, pairs, strict=True)
        ]
        return weakest([verdict for verdict, _ in parts]), "; ".join(dict.fromkeys(text for _, text in parts))

    return judge


def weakest(verdicts: Sequence[ClaimVerdict]) -> ClaimVerdict:
    """The verdict on a claim with several parts: its least favorable part decides."""
    order: tuple[ClaimVerdict, ...] = ("does not hold", "not tested", "not contradicted", "holds")
    return min(verdicts, key=order.index)


def decided(holds: bool, contradicted: bool, known: bool = True) -> ClaimVerdict:
    """The verdict from what was shown."""
    if contradicted:
        return "does not hold"
    if holds:
        return "holds"
    return "not contradicted" if known else "not tested"


def all_above(pairs: Sequence[Compared], family: int, rows: int = 1) -> Verdict:
    """Every gap is above 0; the text states how many of the given number of rows were measured."""
    return _all(pairs, family, rows, Compared.above)


def none_below(pairs: Sequence[Compared], family: int, rows: int = 1) -> Verdict:
    """No gap is below 0."""
    return _all(pairs, family, rows, Compared.not_below)


def _all(pairs: Sequence[Compared], family: int, rows: int, shown: Callable[[Compared], bool]) -> Verdict:
    text = "; ".join(pair.text for pair in pairs) + (f" ({len(pairs)} of {rows} rows)" if len(pairs) < rows else "")
    contradicted = any(pair.below(LEVEL / family) for pair in pairs)
    return decided(all(map(shown, pairs)), contradicted, all(pair.known for pair in pairs)), text


def mostly(rows: Sequence[Row], first: str, second: str, least: int) -> Judge:
    """The first is above the second in at least `least` of the rows.

    It holds where that many rows show it, and does not hold where so many show the opposite that too few are left.
    Levels are those of a partial conjunction (Bonferroni over the rows that may be otherwise). Rows that were not
    measured could be either.
    """

    def decide(pairs: list[Compared], family: int) -> Verdict:
        spared = max(len(pairs) - least + 1, 1)
        won = [pair.row for pair in pairs if pair.above(LEVEL / spared)]
        fatal = len(rows) - least + 1
        lost = [pair.row for pair in pairs if pair.below(LEVEL / max(family - fatal + 1, 1))]
        higher = sum(pair.gap > 0 for pair in pairs)
        text = f"{first} is above {second} in {higher} of {len(pairs)} rows; beyond the noise above in {_named(won)}, "
        known = len(pairs) == len(rows) and all(pair.known for pair in pairs)
        return decided(len(won) >= least, len(lost) >= fatal, known), f"{text}below in {_named(lost)}"

    return Judge(lambda samples: _pairs(samples, rows, first, second), decide)


def _named(rows: Sequence[str]) -> str:
    return f"{len(rows)} ({', '.join(rows)})" if rows else "none"


def ranked(rows: Sequence[Row], column: str, rivals: Sequence[str], place: int = 1) -> Judge:
    """In every measured row the column is among the first `place`: fewer than `place` rivals are above it.

    A row shows it where fewer than `place` rivals are not clearly below the column, and contradicts it where `place`
    rivals are clearly above.
    """

    def find(samples: Samples) -> list[Compared]:
        pairs = (compare(samples, row, column, rival) for row in rows for rival in rivals)
        return [pair for pair in pairs if pair is not None]

    def decide(pairs: list[Compared], family: int) -> Verdict:
        by_row: dict[str, list[Compared]] = {}
        for pair in pairs:
            by_row.setdefault(pair.row, []).append(pair)
        known = {row: own for row, own in by_row.items() if all(pair.known for pair in own)}
        if not known:
            return "not tested", UNMEASURED
        unclear = {row: sum(not pair.not_below() for pair in own) for row, own in known.items()}
        ahead = {row: sum(pair.below(LEVEL / family) for pair in own) for row, own in known.items()}
        behind = [f"{row} (place {number + 1})" for row, number in ahead.items() if number >= place]
        shown = sum(number < place for number in unclear.values())
        text = f"shown in {shown} of {len(known)} rows" + (f"; contradicted in {', '.join(behind)}" if behind else "")
        return decided(shown == len(by_row), bool(behind), len(known) == len(by_row)), text

    return Judge(find, decide)


class Part(NamedTuple):
    """One of several parts of a claim, such as a curve: it holds where none of its comparisons is below 0."""

    name: str
    pairs: Sequence[Compared]


def most(parts: Sequence[Part], name: str) -> Verdict:
    """More than half of the parts hold; levels are those of a partial conjunction, as in `mostly`."""
    if not parts:
        return "not tested", UNMEASURED
    least = len(parts) // 2 + 1
    fatal = spared = len(parts) - least + 1
    shown = [part.name for part in parts if all(pair.not_below(LEVEL / spared) for pair in part.pairs)]
    level = LEVEL / (len(parts) - fatal + 1)
    lost = [part.name for part in parts if any(pair.below(level / len(part.pairs)) for pair in part.pairs)]
    known = all(pair.known for part in parts for pair in part.pairs)
    text = f"shown for {len(shown)} of {len(parts)} {name}, contradicted for {_named(lost)}"
    return decided(len(shown) >= least, len(lost) >= fatal, known), text


def _pairs(samples: Samples, rows: Iterable[Row], first: str, second: str, margin: float = 0.0) -> list[Compared]:
    pairs = (compare(samples, row, first, second) for row in rows)
    return [pair.moved(margin) for pair in pairs if pair is not None]


def pools(samples: Samples, rows: Sequence[Row], others: Sequence[Row], column: str) -> list[Compared]:
    """The mean of a column over some rows against that over others; empty where either was not measured."""
    first, second = (
        [(row, cell) for row in group if (cell := draws_of(samples, row, column)).size] for group in (rows, others)
    )
    if not first or not second:
        return []
    upper, lower = (float(np.mean([cell.mean() for _, cell in group])) for group in (first, second))
    parts = [(variance(cell) / len(group) ** 2, len(cell) - 1) for group in (first, second) for _, cell in group]
    names = [group[0][0].name if len(group) == 1 else f"{len(group)} rows" for group in (first, second)]
    text = f"{column}: {upper:.3g} in {names[0]} against {lower:.3g} in {names[1]}"
    gap = 0.0 if abs(upper - lower) < ROUNDING else upper - lower
    return [Compared(column, gap, *welch(parts), text)]


def welch(parts: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """The standard error of a sum of independent parts, each a variance with its freedom, and the sum's freedom."""
    total = sum(part for part, _ in parts)
    if not np.isfinite(total) or total == 0:
        return float(np.sqrt(total)), 1.0
    return float(np.sqrt(total)), float(total**2 / sum(part**2 / max(freedom, 1) for part, freedom in parts))


def draws_of(samples: Samples, row: Row, column: str) -> FloatArray:
    """The finite draws of a cell."""
    values: FloatArray = np.asarray(samples.get(row.name, {}).get(column, ()), dtype=np.float64)
    return values[np.isfinite(values)]


def variance(cell: FloatArray) -> float:
    """The variance of the mean of a cell's draws; infinite below two draws."""
    return float(cell.var(ddof=1) / len(cell)) if len(cell) > 1 else np.inf
