"""All parties in one process: the same functions and the same bytes as between machines, to try out and to test."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from partita.core.consensus import Consensus, by_appearance, usual_notes
from partita.core.errors import ParameterError
from partita.core.recipe import Recipe
from partita.core.soft import AnyEnsemble, as_ensemble
from partita.core.threads import map_threads
from partita.core.types import MISSING, FrozenDict, IntArray
from partita.federated import frames, privacy
from partita.federated.config import Require
from partita.federated.coordinate import Outcome, Plan, agree_terms, check_plan, coordinate
from partita.federated.hub import Hub
from partita.federated.ledger import Ledger
from partita.federated.local import Local
from partita.federated.messages import Ask, Share
from partita.federated.site import SiteResult, agree, answer, hello, result
from partita.federated.state import State
from partita.metrics.ensemble import anmi

Parts = int | Sequence[Any]
"""Into how many parts a table is divided at random, or the rows or columns of each."""


class Simulated(NamedTuple):
    """What a simulated run came to."""

    consensus: Consensus
    """For all objects."""
    outcome: Outcome
    sites: Mapping[str, SiteResult]
    ledger: Ledger
    seen: tuple[Share, ...]
    """All that the coordinator received, where it was kept."""


@dataclass(eq=False)
class Together:
    """A link to sites in the same process; every message becomes bytes on the way."""

    locals: Mapping[str, Local]
    states: dict[str, State]
    ledger: Ledger = field(default_factory=Ledger)
    seen: list[Share] | None = None

    def ask(self, ask: Ask, sites: tuple[str, ...]) -> Mapping[str, Share]:
        """The shares of the sites, which answer side by side."""
        begun, busy, frame = time.perf_counter(), time.thread_time(), frames.encode(ask)

        def one(site: str) -> tuple[State, bytes, float]:
            heard, worked = frames.decode(frame, len(frame)), time.thread_time()
            assert isinstance(heard, Ask)
            state, share = answer(self.locals[site], self.states[site], heard)
            worked = time.thread_time() - worked
            return state, frames.encode(share), worked

        found, times = {}, []
        for site, (state, sent, worked) in zip(sites, map_threads(one, sites), strict=True):
            self.states[site] = state
            times.append(worked)
            self.ledger.record(ask.step, site, "to", len(frame))
            self.ledger.record(ask.step, site, "from", len(sent))
            share = frames.decode(sent, len(sent))
            assert isinstance(share, Share)
            found[site] = share
            if self.seen is not None:
                self.seen.append(share)
        self.ledger.time(ask.step, time.perf_counter() - begun)
        self.ledger.worked.append(tuple(times))
        self.ledger.alone -= time.thread_time() - busy
        return found


def simulate(
    table: Any,
    plan: Plan,
    *,
    rows: Parts | None = None,
    columns: Parts | None = None,
    randomise: float | None = None,
    keep: bool = False,
) -> Simulated:
    """Divide a table among sites and have them cluster it together.

    `rows` or `columns` says among how many sites, or which rows or columns each has; `plan.sites` and `plan.layout`
    follow from it. `randomise` is the epsilon by which each site randomises its labels; `keep` keeps all that the
    coordinator received.

    >>> table = [["a", 1, "x", 1], ["a", 1, "x", 2], ["b", 2, "y", 2], ["b", 2, None, 2]]
    >>> simulate(table, Plan((), "columns", "mm", 2), columns=4).consensus.labels.tolist()
    [0, 0, 1, 1]
    """
    ensemble = as_ensemble(table)
    if randomise is not None:
        privacy.check_positive("randomise", randomise)
    if (rows is None) == (columns is None):
        raise ParameterError("say how the table is divided: rows=5 or columns=4")
    seed = 0 if plan.seed is None else plan.seed
    pieces = divided(ensemble, rows, columns, seed)
    names = plan.sites or tuple(f"site-{i + 1:0{len(str(len(pieces)))}d}" for i in range(len(pieces)))
    plan = replace(plan, sites=names, layout="columns" if rows is None else "rows", seed=seed, aligned=True)
    check_plan(plan)
    if plan.layout == "rows" and not plan.weights:
        plan = replace(plan, weights=FrozenDict(zip(ensemble.names, ensemble.weights.tolist(), strict=True)))
    held = {site: _taken(ensemble, plan.layout, piece) for site, piece in zip(names, pieces, strict=True)}
    link = _gathered(plan, held, randomise, keep)
    busy = time.thread_time()
    outcome = coordinate(Hub(next(iter(link.states.values())).terms, link))
    link.ledger.alone += time.thread_time() - busy
    results = {site: result(link.locals[site], link.states[site]) for site in link.locals}
    where = dict(zip(names, pieces, strict=True))
    notes = outcome.notes
    if randomise is not None:
        notes += (privacy.randomise_cost(randomise, len(ensemble.names)).told(),)
    found = joined(ensemble, outcome._replace(notes=notes), results, where)
    return Simulated(found, outcome._replace(notes=notes), results, link.ledger, tuple(link.seen or ()))


def _gathered(plan: Plan, held: Mapping[str, AnyEnsemble], epsilon: float | None, keep: bool) -> Together:
    """All sites, agreed on the terms."""
    seed = plan.seed or 0
    anything = Require(protocol=None, transport=None)
    locals_ = {
        site: Local(
            site,
            part,
            require=anything,
            allow_two_sites=plan.allow_two_sites,
            randomise=epsilon,
            entropy=seed + place,
            noise=seed + place,
        )
        for place, (site, part) in enumerate(held.items())
    }
    hellos = {site: hello(local, plan.layout) for site, local in locals_.items()}
    terms = agree_terms(plan, hellos, run=f"simulation-{seed}")
    return Together(locals_, {site: agree(local, terms) for site, local in locals_.items()}, seen=[] if keep else None)


def divided(ensemble: AnyEnsemble, rows: Parts | None, columns: Parts | None, seed: int) -> list[IntArray]:
    """The places of each part; a number of parts is drawn from the seed."""
    given, size, what = (
        (rows, len(ensemble), "objects") if columns is None else (columns, len(ensemble.names), "clusterings")
    )
    if isinstance(given, (int, np.integer)):
        if not 1 <= given <= size:
            raise ParameterError(f"{size} {what} cannot be divided among {given} sites; give 1 to {size}")
        order = np.random.default_rng(seed).permutation(size)
        return [np.sort(part) for part in np.array_split(order, int(given))]
    parts = [np.asarray(part) for part in given or ()]
    if not np.array_equal(np.sort(np.concatenate(parts)), np.arange(size)):
        raise ParameterError(f"the parts do not hold each of the {size} {what} once; divide all of them")
    return parts


def _taken(ensemble: AnyEnsemble, layout: str, piece: IntArray) -> AnyEnsemble:
    """One site's part, with no more labels than it has itself."""
    if layout == "rows":
        return replace(ensemble.rows(piece), ids=None)
    return replace(ensemble.columns(piece), ids=None)


def joined(
    ensemble: AnyEnsemble, outcome: Outcome, results: Mapping[str, SiteResult], where: Mapping[str, IntArray]
) -> Consensus:
    """The sites' results as one, for all objects, with its agreement with the whole table."""
    terms, first = outcome.terms, next(iter(results.values()))
    if terms.layout == "columns":
        labels, membership, confidence = first.labels, first.membership, None
    else:
        labels = np.full(len(ensemble), MISSING, np.int32)
        membership = None if first.membership is None else np.full((len(ensemble), first.membership.shape[1]), np.nan)
        confidence = None if first.confidence is None else np.full(len(ensemble), np.nan)
        for site, found in results.items():
            labels[where[site]] = found.labels
            if membership is not None:
                membership[where[site]] = found.membership
            if confidence is not None:
                confidence[where[site]] = found.confidence
    width = int(labels.max(initial=0)) + 1 if membership is None else membership.shape[1]
    labels, order = by_appearance(labels, width)
    if membership is not None:
        membership = membership[:, order]
    recipe = Recipe(terms.method, FrozenDict(terms.params), terms.k, terms.seed, terms.version, ensemble.fingerprint)
    return Consensus(
        labels,
        membership=membership,
        confidence=confidence,
        k_asked=terms.k,
        trace=first.trace,
        converged=first.converged,
        scores=FrozenDict(anmi=anmi(ensemble, labels)),
        detail=FrozenDict({"rounds": outcome.rounds}),
        notes=(*outcome.notes, *usual_notes(labels, terms.k, confidence)),
        model=outcome.model,
        recipe=recipe,
        ids=ensemble.ids,
        id_name=ensemble.id_name,
    )
