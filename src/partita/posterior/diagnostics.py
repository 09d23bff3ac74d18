"""Whether chains of draws have mixed, and how many independent draws they are worth.

Rank-normalised split R-hat, bulk and tail effective sample size (Vehtari, Gelman, Simpson, Carpenter and Bürkner 2021).
Every function takes draws (chains, draws) of one number. What the formulas leave open is settled here, without NaN:

- a chain of fewer than four draws, or a draw that is not finite, tells nothing: R-hat inf, size 0;
- draws that are all equal agree: R-hat 1, size the number of draws;
- chains that stand still at different values never met: R-hat inf, size the number of chains.
"""

import math
from collections.abc import Mapping
from typing import Final, NamedTuple

import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata

from partita.core.types import BoolArray, FloatArray

MOST_RHAT: Final = 1.01
"""R-hat above it: the chains have not mixed (the paper's advice)."""
DRAWS_PER_CHAIN: Final = 100
"""Effective draws wanted for each chain, below which R-hat itself is not to be trusted (the paper's advice)."""
LEAST_DRAWS: Final = 4
TAILS: Final = (0.05, 0.95)


class Mixing(NamedTuple):
    """How well the chains of one number mixed."""

    rhat: float
    bulk: float
    tail: float

    def enough(self, chains: int) -> bool:
        """Whether the draws can be relied on."""
        return self.rhat <= MOST_RHAT and min(self.bulk, self.tail) >= DRAWS_PER_CHAIN * chains


class Verdict(NamedTuple):
    """Whether chains can be relied on."""

    mixed: bool
    text: str
    """The same in a sentence, with the worst figures and what to do."""


def verdict(found: Mapping[str, Mixing], chains: int) -> Verdict:
    """Mixed or not mixed by all the numbers that were watched, given by name, and what to do.

    >>> verdict({"log joint": Mixing(1.2, 900.0, 800.0)}, 4).text.partition(";")[2]
    ' the chains disagree: raise burn_in and draws'
    """
    worst = max(found, key=lambda name: found[name].rhat)
    least = min(found, key=lambda name: min(found[name].bulk, found[name].tail))
    rhat, size = found[worst].rhat, min(found[least].bulk, found[least].tail)
    figures = f"R-hat {rhat:.4g}{{}} of the {worst}, draws worth {size:.0f} independent ones{{}} by the {least}"
    if all(one.enough(chains) for one in found.values()):
        return Verdict(True, f"the chains have mixed: {figures.format('', '')}")
    way = "raise draws, or thin" if rhat <= MOST_RHAT else "the chains disagree: raise burn_in and draws"
    wanted = (f" (at most {MOST_RHAT} is wanted)", f" (at least {DRAWS_PER_CHAIN * chains} are wanted)")
    return Verdict(False, f"the chains have not mixed well enough: {figures.format(*wanted)}; {way}")


def mixing(draws: FloatArray) -> Mixing:
    """R-hat and both sizes.

    >>> mixing(np.ones((4, 100)))
    Mixing(rhat=1.0, bulk=400.0, tail=400.0)
    """
    return Mixing(rhat(draws), bulk_size(draws), tail_size(draws))


def rhat(draws: FloatArray) -> float:
    """The larger of the split R-hats of rank-normalised draws and of their rank-normalised distances from the median.

    R-hat is the root of the variance of all draws over the mean variance within half-chains; 1 when they agree.
    """
    if not _tells(draws):
        return math.inf
    folded = np.abs(draws - np.median(draws))
    return max(_rhat(split(normal_scores(draws))), _rhat(split(normal_scores(folded))))


def bulk_size(draws: FloatArray) -> float:
    """The number of independent draws that would tell as much about the middle of the distribution."""
    return _size(split(normal_scores(draws))) if _tells(draws) else 0.0


def tail_size(draws: FloatArray) -> float:
    """The smaller of the numbers of independent draws that would tell as much about the 5 % and 95 % quantiles."""
    if not _tells(draws):
        return 0.0
    return min(_size(split((draws <= np.quantile(draws, tail)).astype(np.float64))) for tail in TAILS)


def split(draws: FloatArray) -> FloatArray:
    """(2 chains, draws // 2): every chain's first and second half; the middle one of an odd number is left out."""
    half = draws.shape[1] // 2
    return np.concatenate([draws[:, :half], draws[:, -half:]])


def normal_scores(draws: FloatArray) -> FloatArray:
    """The normal quantiles of the draws' ranks among all, ties sharing their mean rank."""
    ranks = rankdata(draws, axis=None).reshape(draws.shape)
    return np.asarray(ndtri((ranks - 0.375) / (draws.size + 0.25)))


def _tells(draws: FloatArray) -> bool:
    return draws.shape[1] >= LEAST_DRAWS and bool(np.isfinite(draws).all())


def _still(halves: FloatArray) -> BoolArray:
    """(halves,) which of them hold one value only."""
    return np.asarray((halves == halves[:, :1]).all(axis=1))


def _rhat(halves: FloatArray) -> float:
    if _still(halves).all():
        return 1.0 if (halves == halves[0, 0]).all() else math.inf
    within = halves.var(axis=1, ddof=1).mean()
    draws = halves.shape[1]
    between = halves.mean(axis=1).var(ddof=1)
    return float(np.sqrt((draws - 1) / draws + between / within))


def _size(halves: FloatArray) -> float:
    """Draws over their correlation time, which Geyer's initial monotone sequence of autocorrelations adds up to."""
    if _still(halves).all():
        return float(halves.size if (halves == halves[0, 0]).all() else len(halves) // 2)
    draws = halves.shape[1]
    covariance = autocovariance(halves).mean(axis=0)
    within = covariance[0] * draws / (draws - 1)
    overall = covariance[0] + halves.mean(axis=1).var(ddof=1)
    time = _correlation_time(1 - (within - covariance) / overall)
    return float(halves.size / max(time, 1 / math.log10(halves.size)))


def autocovariance(chains: FloatArray) -> FloatArray:
    """(chains, draws) each chain's covariance with itself at every lag, divided by the number of draws."""
    draws = chains.shape[1]
    spectrum = np.fft.rfft(chains - chains.mean(axis=1, keepdims=True), 2 * draws, axis=1)
    return np.asarray(np.fft.irfft(np.abs(spectrum) ** 2, 2 * draws, axis=1)[:, :draws] / draws)


def _correlation_time(correlation: FloatArray) -> float:
    """-1 + 2 times the sum of autocorrelations, by pairs of lags, while the pairs are positive and fall (Geyer 1992).

    The first pair always counts. Of the first pair that is left out, the even lag counts once when it is positive: a
    better estimate for chains whose neighbours are opposed.
    """
    correlation = np.concatenate([[1.0], correlation[1:]])
    last = 0
    while last < len(correlation) - 5 and correlation[last] + correlation[last + 1] > 0:
        last += 2
    if last == 0:
        return float(-1 + 2 * (1 + correlation[1]))
    pairs = correlation[0:last:2] + correlation[1:last:2]
    return float(-1 + 2 * np.minimum.accumulate(pairs).sum() + max(correlation[last], 0.0))
