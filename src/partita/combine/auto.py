"""Auto: run what suits the table, polish the best by ANMI, never fall below the best base clustering (our rule)."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, Literal, NamedTuple

from numpy.random import Generator

from partita.combine.candidates import Candidate, Find, best_of, check_names, kept, run_all
from partita.core.consensus import Consensus
from partita.core.ensemble import Ensemble
from partita.core.method import Method
from partita.core.params import setting
from partita.core.soft import SoftEnsemble
from partita.core.types import FrozenDict
from partita.graph.base import NO_BETTER, BaseClustering, base_clusterings
from partita.graph.greedy import polished
from partita.metrics.ensemble import anmi

MOST_MISSING: Final = 0.5
MOST_PAIRED: Final = 20_000
MOST_DENSE: Final = 2_000
MOST_MOVES: Final = 5e7


class Facts(NamedTuple):
    """What the choice depends on."""

    rows: int
    """Distinct rows."""
    soft: bool
    """Whether there are memberships."""
    missing: float
    """Share of the labels that are unobserved."""
    moves: float
    """Rows times clusterings times clusters: what a sweep of greedy weighs."""


class Line(NamedTuple):
    """A line of the rule: methods, and when they are worth running."""

    methods: tuple[str, ...]
    when: str
    applies: Callable[[Facts], bool]


RULE: Final = (
    Line(("lwgp", "mcla", "hbgf"), "hard labels", lambda facts: not facts.soft),
    Line(
        ("voting",),
        f"hard labels, at most {MOST_MISSING:.0%} of them missing",
        lambda facts: not facts.soft and facts.missing <= MOST_MISSING,
    ),
    Line(
        ("cspa",),
        f"hard labels, at most {MOST_PAIRED} distinct rows",
        lambda facts: not facts.soft and facts.rows <= MOST_PAIRED,
    ),
    Line(("shbgf", "smcla"), "memberships", lambda facts: facts.soft),
    Line(
        ("scspa",),
        f"memberships, at most {MOST_DENSE} distinct rows",
        lambda facts: facts.soft and facts.rows <= MOST_DENSE,
    ),
    Line(
        ("greedy",),
        f"at most {MOST_MOVES:.0e} distinct rows × clusterings × clusters",
        lambda facts: facts.moves <= MOST_MOVES,
    ),
)
"""HGPA is not there: with size nearly every base cluster is cut by every division, and its objective says nothing. EAC
is not there: polishing takes the others as far, and its kernels would double what the first run on a machine compiles.
"""


@dataclass(frozen=True, slots=True)
class Params:
    """Settings of auto."""

    fallback: Literal["k", "best", "none"] = setting(
        "k",
        "which base clustering is returned where its ANMI is higher: the best with at most the k clusters asked for, "
        "the best whatever its number of clusters, or none",
    )


def choose(facts: Facts) -> tuple[str, ...]:
    """The methods worth running, in the order of the rule.

    >>> choose(Facts(rows=50_000, soft=False, missing=0.6, moves=1e9))
    ('lwgp', 'mcla', 'hbgf')
    """
    return tuple(name for line in RULE if line.applies(facts) for name in line.methods)


def fit(find: Find, ensemble: Ensemble | SoftEnsemble, k: int | None, params: Params, rng: Generator) -> Consensus:
    """Run the methods that `RULE` names for this table, keep the one with the highest ANMI and polish it.

    Without k, it is the number of clusters of the base clustering with the highest ANMI. The winner is polished (moved
    on while ANMI rises) where greedy would run. If a base clustering, completed where it has gaps, still has a higher
    ANMI, it is the answer, and a note says so. ANMI tends to rise with the number of clusters, so where k is asked for
    only base clusterings with at most k clusters may take the answer's place, and a note names a better one with more;
    with `fallback="best"` that one is the answer. One cluster asked for is one cluster.
    """
    rival, finest = rivals(ensemble, k, params)
    clusters = k or (1 if rival is None else rival.k)
    facts = facts_of(ensemble, clusters)
    candidates = run_all(find, check_names(find, choose(facts), clusters, "auto"), ensemble, clusters, rng)
    winner = best_of(candidates)
    result = kept(winner, candidates)
    if facts.moves <= MOST_MOVES:
        result = polished(result, ensemble, clusters)
    rule = tuple(f"{', '.join(line.methods)}: {line.when}" for line in RULE if line.applies(facts))
    notes = result.notes
    if k is None and rival is not None:
        notes += (f"k was not given: {clusters} clusters, as in {called(ensemble, rival)}, which agrees best with all",)
    result = replace(result, notes=notes, detail=FrozenDict({**result.detail, "rule": rule}))
    score = anmi(ensemble, result.labels)
    if rival is not None and params.fallback != "none" and rival.anmi > score + NO_BETTER:
        result, score = instead(ensemble, rival, result, k), rival.anmi
    if k is None or finest is None or finest.k <= k or finest.anmi <= score + NO_BETTER:
        return result
    return replace(result, notes=(*result.notes, finer(ensemble, finest, score)))


def facts_of(ensemble: Ensemble | SoftEnsemble, k: int) -> Facts:
    """What the choice depends on."""
    rows, soft = len(ensemble), isinstance(ensemble, SoftEnsemble)
    return Facts(rows, soft, ensemble.missing_share, float(rows) * len(ensemble.names) * k)


def rivals(
    ensemble: Ensemble | SoftEnsemble, k: int | None, params: Params
) -> tuple[BaseClustering | None, BaseClustering | None]:
    """The completed base clustering with the highest ANMI among those that may be the answer, and among all."""
    fitting, best = None, None
    most = k if k is not None and params.fallback == "k" else math.inf
    for found in base_clusterings(ensemble) if k != 1 else ():
        if best is None or found.anmi > best.anmi + NO_BETTER:
            best = found
        if found.k <= most and (fitting is None or found.anmi > fitting.anmi + NO_BETTER):
            fitting = found
    return fitting, best


def called(ensemble: Ensemble | SoftEnsemble, base: BaseClustering) -> str:
    """What a base clustering is called in notes."""
    return f"base clustering {ensemble.names[base.column]!r}"


def instead(ensemble: Ensemble | SoftEnsemble, base: BaseClustering, result: Consensus, k: int | None) -> Consensus:
    """The base clustering in place of the best result, with what is known of both."""
    name, winner = called(ensemble, base), result.detail["chosen"]
    note = (
        f"{name} agrees better with all than the best candidate, {winner} (ANMI {base.anmi:.4f} against "
        f"{anmi(ensemble, result.labels):.4f}), and is the answer"
    )
    if k not in (None, base.k):
        note += f", with {base.k} clusters instead of {k}"
        if base.k > k:
            note += "; fallback=k (--set fallback=k) has at most k clusters"
    row = Candidate(name, 0.0, Consensus.hard(base.labels), base.anmi).told()
    told = {name: result.detail[name] for name in ("rule", "candidates")}
    told |= {"chosen": name, "candidates": (*told["candidates"], row)}
    return Consensus.hard(base.labels, notes=(*result.notes, note), detail=FrozenDict(told))


def finer(ensemble: Ensemble | SoftEnsemble, base: BaseClustering, score: float) -> str:
    """The note on a base clustering that agrees better with all, but has more clusters than were asked for."""
    return (
        f"{called(ensemble, base)} has a higher ANMI ({base.anmi:.4f} against {score:.4f}) with {base.k} clusters; "
        "ANMI tends to rise with their number; fallback=best (--set fallback=best) returns it"
    )


METHOD = Method(
    fit,
    Params,
    takes=Ensemble | SoftEnsemble,
    cite="strehl2002",
    handles_missing=True,
    chooses_k=True,
    deterministic=False,
    together=True,
    combines=True,
)
