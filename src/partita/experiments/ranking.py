"""Does the paper's order of methods hold? Each pair it orders is tested on our draws, method against method.

The test is the paired t test: the columns of a row are measured on the same draws. With the five to ten draws that a
trial of minutes allows, the signed-rank test cannot fall below .05 once it is adjusted for the pairs of an exhibit.
Adjusted after Holm over all pairs of an exhibit.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

import numpy as np
from scipy import stats

from partita.core.records import Order, Pair
from partita.core.types import FloatArray
from partita.experiments.exhibit import Samples

LEVEL = 0.05
LEAST_DRAWS = 3
ROUNDING = 1e-9
"""A smaller difference is that of sums taken in another order."""
TOO_FEW = f"Whether the paper's order holds cannot be tested with fewer than {LEAST_DRAWS} draws."


def holm(p: Sequence[float]) -> FloatArray:
    """P-values adjusted after Holm.

    >>> holm([0.01, 0.04, 0.03]).round(3).tolist()
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p, kind="stable")
    steps = np.arange(len(p), 0, -1) * np.asarray(p, np.float64)[order]
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return adjusted


def paired(first: FloatArray, second: FloatArray) -> tuple[float | None, float]:
    """The mean of first − second over the draws that have both, and the p-value of the paired t test.

    >>> lead, p = paired(np.array([3.0, 4, 5, 7]), np.array([1.0, 3, 4, 5]))
    >>> lead, round(p, 4)
    (1.5, 0.0138)
    """
    gaps = first - second
    gaps = gaps[np.isfinite(gaps)]
    gaps = np.where(np.abs(gaps) < ROUNDING, 0.0, gaps)
    if not len(gaps):
        return None, 1.0
    lead = float(gaps.mean())
    if len(gaps) < LEAST_DRAWS or not gaps.any():
        return lead, 1.0
    noise = gaps.std(ddof=1) / np.sqrt(len(gaps))
    if noise <= 1e-12 * abs(lead):  # equal in every draw: no draw could change the sign
        return lead, 0.0
    return lead, float(2 * stats.t.sf(abs(lead) / noise, len(gaps) - 1))


def pairs_of(published: Mapping[str, Mapping[str, float]], samples: Samples, sign: int) -> tuple[Pair, ...]:
    """Every pair of columns that the paper orders in a row, by (row, column) means; `sign` −1 where less is better."""
    found = []
    for row, printed in published.items():
        for one, other in combinations(printed, 2):
            if printed[one] == printed[other] or not {one, other} <= set(samples.get(row, {})):
                continue
            better, worse = (one, other) if sign * (printed[one] - printed[other]) > 0 else (other, one)
            lead, p = paired(sign * samples[row][better], sign * samples[row][worse])
            if lead is not None:
                found.append((row, better, worse, lead, p))
    adjusted = holm([each[4] for each in found])
    return tuple(_judged(*each[:4], float(p)) for each, p in zip(found, adjusted, strict=True))


def _judged(row: str, better: str, worse: str, lead: float, p: float) -> Pair:
    if p >= LEVEL:
        return Pair(row, better, worse, lead, p, "open")
    return Pair(row, better, worse, lead, p, "holds" if lead > 0 else "reversed")


def orders_of(
    published: Mapping[str, Mapping[str, float]], ours: Mapping[str, Mapping[str, float]], sign: int
) -> tuple[Order, ...]:
    """For each row, the columns that both have, best first, and Kendall's tau-b between the two orders."""
    found = []
    for row, printed in published.items():
        both = [column for column in printed if np.isfinite(ours.get(row, {}).get(column, np.nan))]
        if len(both) < 2:
            continue
        paper = [sign * printed[column] for column in both]
        mine = [sign * round(float(ours[row][column]) / ROUNDING) for column in both]
        tau = None
        if len(set(paper)) > 1 and len(set(mine)) > 1:
            tau = float(stats.kendalltau(paper, mine).statistic)
        found.append(Order(row, _ordered(both, paper), _ordered(both, mine), tau))
    return tuple(found)


def _ordered(columns: Sequence[str], values: Sequence[float]) -> tuple[tuple[str, ...], ...]:
    """From best to worst, equals together.

    >>> _ordered(["a", "b", "c"], [1.0, 3.0, 1.0])
    (('b',), ('a', 'c'))
    """
    return tuple(
        tuple(column for column, own in zip(columns, values, strict=True) if own == value)
        for value in sorted(set(values), reverse=True)
    )


def sentence(pairs: Sequence[Pair]) -> str:
    """The verdicts counted.

    >>> print(sentence([Pair("iris", "mcla", "cspa", 0.1, 0.01, "holds")]))
    Of 1 pair of columns that the paper orders, 1 holds, 0 are reversed and 0 stay open
    (paired t test, Holm, p < .05).
    """
    if not pairs:
        return ""
    holds, back, unsure = (_count(pairs, verdict) for verdict in ("holds", "reversed", "open"))
    return (
        f"Of {len(pairs)} {'pair' if len(pairs) == 1 else 'pairs'} of columns that the paper orders, "
        f"{holds} {'holds' if holds == 1 else 'hold'}, {back} {'is' if back == 1 else 'are'} reversed and "
        f"{unsure} {'stays' if unsure == 1 else 'stay'} open (paired t test, Holm, p < .05)."
    )


def _count(pairs: Iterable[Pair], verdict: str) -> int:
    return sum(pair.verdict == verdict for pair in pairs)
