"""Figures that compare fits with different k, and the rule by which each of them chooses."""

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple

import numpy as np

from partita.core.consensus import Consensus
from partita.core.errors import ParameterError
from partita.core.types import FloatArray
from partita.selection.records import Trial

ALIVE: Final = 1e-6
"""A component that holds less of an object than this has died."""
EQUAL: Final = 1e-9


class Criterion(NamedTuple):
    """How a figure chooses."""

    title: str
    field: str
    """The field of `Trial`."""
    better: Literal["lowest", "highest"]
    needs: str
    """What a method must give."""
    digits: int = 1
    weak: float = 0.0
    """A smaller difference is "not worth more than a bare mention" (Kass and Raftery 1995): 2 in BIC, 1 in nats."""

    def of(self, trial: Trial) -> float:
        """The figure of a trial, NaN where there is none."""
        value = getattr(trial, self.field)
        return math.nan if value is None else float(value)


CRITERIA: Final[Mapping[str, Criterion]] = MappingProxyType(
    {
        "covariance": Criterion("the covariance criterion", "covariance", "highest", "nothing", digits=4),
        "bic": Criterion("BIC", "bic", "lowest", "a log-likelihood, as mm has", weak=2.0),
        "icl": Criterion("ICL", "icl", "lowest", "a log-likelihood, as mm has", weak=2.0),
        "mml": Criterion("message length", "mml", "lowest", "a log-likelihood, as mm has", weak=1.0),
        "bound": Criterion(
            "the penalised bound", "penalised_bound", "highest", "a variational bound, as bce-vb has", weak=1.0
        ),
        "stability": Criterion("stability", "stability", "highest", "three clusterings and repeats >= 2", digits=3),
        "pac": Criterion("PAC", "pac", "lowest", "three clusterings and repeats >= 2", digits=3),
        "anmi": Criterion("ANMI", "anmi", "highest", "nothing", digits=3),
    }
)
"""The criteria by name. "covariance" is the default rule (`partita._default_k`), which has other steps, too."""
DEFAULT: Final = "covariance"


OF_HALVES: Final = ("stability", "pac")
"""Those that compare consensuses of halves of the clusterings."""
OF_ANY: Final = ("covariance", "anmi")
"""Those that every method and table has."""


def check_known(criterion: str | None) -> None:
    """Refuse an unknown criterion; None is the default."""
    if criterion is not None and criterion not in CRITERIA:
        raise ParameterError(f"criterion={criterion!r} is not known; choose one of {', '.join(CRITERIA)}")


def figures(result: Consensus, counts: FloatArray) -> dict[str, Any]:
    """The fields of a `Trial` that follow from one fit of the rows that `counts` tells the multiplicities of.

    n is the number of objects with a known label, p the free parameters, L the likelihood:
    BIC = -2 log L + p log n; ICL = BIC + 2 × the entropy of the memberships. A method with no likelihood but a
    bound of it tells that, from which (p / 2) log n is taken: its parameters are point
    estimates, so that the bound by itself grows with k as a likelihood does.
    """
    told = result.detail
    if "free parameters" not in told:
        return {}
    free, objects = int(told["free parameters"]), float(counts.sum())
    known: dict[str, Any] = {"free_parameters": free}
    if "log likelihood" in told:
        likelihood = float(told["log likelihood"])
        bic = -2 * likelihood + free * math.log(objects)
        known |= {"log_likelihood": likelihood, "bic": bic}
        if "membership entropy" in told:
            known["icl"] = bic + 2 * float(told["membership entropy"])
        if result.membership is not None:
            sizes = counts @ result.membership
            known["mml"] = message_length(likelihood, sizes, parameters_each(free, len(sizes)))
    elif "bound" in told:
        bound = float(told["bound"])
        known |= {"bound": bound, "penalised_bound": bound - free / 2 * math.log(objects)}
    return known


def parameters_each(free: int, components: int) -> float:
    """The free parameters of one of k components, where k - 1 are the weights."""
    return (free - components + 1) / components


def message_length(log_likelihood: float, sizes: FloatArray, each: float) -> float:
    """Eq 15 of Figueiredo and Jain (2002): (N/2) Σ log(n a_c / 12) + (k/2) log(n/12) + k (N + 1)/2 - log L, in nats.

    The sum is over the k components with objects, `sizes` holds n a_c and `each` is N, the parameters of one. The
    formula counts on many objects a component: below 12 the first logarithm is negative, and below 12/e an additional
    component would shorten the message (there, Figueiredo and Jain remove it). Here it is taken for 0 at least.

    >>> round(message_length(-100.0, np.array([24.0, 36.0]), 3), 4)
    108.2971
    """
    living = sizes[sizes > ALIVE]
    own = np.log(np.maximum(living / 12, 1.0)).sum()
    return float(each / 2 * own + len(living) / 2 * (np.log(sizes.sum() / 12) + each + 1) - log_likelihood)


class Choice(NamedTuple):
    """A number of clusters and why."""

    k: int
    reason: str
    notes: tuple[str, ...] = ()


def choose(trials: Sequence[Trial], criterion: str) -> Choice | None:
    """The k that a criterion chooses; None where no trial has its figure.

    Of equals the smallest k is taken, but for PAC the most clusters, as clusters that are merged the same way in every
    half leave no pair in doubt. Stability is an estimate, so that of all k within one standard error of the
    highest the one with the fewest clusters found is taken, and of those that are exactly as stable as it, the most
    detailed. The standard error is the spread of the most stable k over the square root of the number of subsets.
    """
    rule = CRITERIA[criterion]
    sign = 1 if rule.better == "highest" else -1
    able = [trial for trial in trials if not math.isnan(rule.of(trial))]
    ranked = sorted(able, key=lambda trial: (-sign * rule.of(trial), trial.k))
    if not ranked:
        return None
    if criterion == "pac":
        return _most_detailed(ranked, rule)
    return _within_error(ranked, rule) if criterion == "stability" else _first(ranked, rule)


def _first(ranked: Sequence[Trial], rule: Criterion) -> Choice:
    best = ranked[0]
    if len(ranked) == 1:
        return Choice(best.k, f"k = {best.k} is the only one for which {rule.title} is known")
    gap = abs(rule.of(ranked[1]) - rule.of(best))
    reason = f"{rule.title} is {rule.better} at k = {best.k}, "
    if gap <= EQUAL:
        return Choice(best.k, f"{reason}as at k = {ranked[1].k}; the first is taken")
    side = "below" if rule.better == "lowest" else "above"
    notes: tuple[str, ...] = ()
    if gap < rule.weak:
        notes = (f"k = {ranked[1].k} is nearly as good: a difference of {gap:.2g} in {rule.title} is weak evidence",)
    return Choice(best.k, f"{reason}{_amount(gap, rule.digits)} {side} k = {ranked[1].k}", notes)


def _most_detailed(ranked: Sequence[Trial], rule: Criterion) -> Choice:
    equals = [trial for trial in ranked if abs(rule.of(trial) - rule.of(ranked[0])) <= EQUAL]
    best = max(equals, key=lambda trial: (trial.clusters, -trial.k))
    if best is ranked[0]:
        return _first(ranked, rule)
    return Choice(best.k, _as_good(best, ranked[0], rule))


def _as_good(best: Trial, other: Trial, rule: Criterion) -> str:
    return f"{rule.title} is {rule.better} at k = {best.k}, as at k = {other.k}, which has fewer clusters"


def _within_error(ranked: Sequence[Trial], rule: Criterion) -> Choice:
    top = ranked[0]
    error = (top.spread or 0.0) / math.sqrt(top.subsets)
    near = [trial for trial in ranked if rule.of(trial) >= rule.of(top) - error - EQUAL]
    fewest = min(near, key=lambda trial: (trial.clusters, trial.k))
    equals = [trial for trial in near if abs(rule.of(trial) - rule.of(fewest)) <= EQUAL]
    best = max(equals, key=lambda trial: (trial.clusters, -trial.k))
    if best is top:
        return _first(ranked, rule)
    if abs(rule.of(best) - rule.of(top)) <= EQUAL:
        return Choice(best.k, _as_good(best, top, rule))
    reason = (
        f"k = {best.k} has the fewest clusters of those whose stability ({best.stability:.3f}) is within one standard "
        f"error ({error:.3f}) of the highest ({top.stability:.3f} at k = {top.k})"
    )
    return Choice(best.k, reason)


def _amount(gap: float, digits: int) -> str:
    return f"{gap:.{digits}f}" if gap >= 10.0**-digits else f"{gap:.1g}"
