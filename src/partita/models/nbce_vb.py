"""NBCE-VB: nonparametric Bayesian cluster ensembles, the number of clusters found, by variational Bayes (Wang et al. 2010)."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.random import Generator

from partita.core.consensus import Consensus
from partita.core.ensemble import Ensemble
from partita.core.iterate import Interrupted, Run, Tick, iterate, untold
from partita.core.method import Method
from partita.core.params import setting
from partita.core.soft import AnyEnsemble, SoftEnsemble
from partita.core.types import FloatArray, IntArray
from partita.models.mixture import Counts, Mixture, at_site, memberships
from partita.models.nbce_bound import (
    HIGHEST,
    LOWEST,
    Columns,
    Hyper,
    Prior,
    bound,
    expectations,
    learned,
    log_sizes,
)
from partita.models.nbce_result import folded
from partita.models.nbce_start import begin, columns_of, pair_gains
from partita.models.restarts import best_of
from partita.starts import Start

FAINT: Final = 1e-8
"""Objects below which a component counts as empty."""
FORMED: Final = 1e-5
"""The relative change of the bound below which clusters have formed."""

TRIES: Final = 3
"""Moves of a kind that are tried at a time."""


@dataclass(frozen=True, slots=True)
class Params:
    """Settings of NBCE-VB."""

    prior: Prior = setting("tsb", "prior of the clusters' shares: sticks broken in turn, or one even Dirichlet")
    truncation: int = setting(100, "most clusters, where k is not given", low=1)
    alpha: float = setting(1.0, "concentration of the clusters' shares at the start", low=LOWEST, high=HIGHEST)
    beta: float = setting(0.5, "prior objects with each label in each cluster at the start", low=LOWEST, high=HIGHEST)
    learn: bool = setting(True, "fit alpha and beta once clusters have formed; otherwise they stay")
    forming: int = setting(50, "most iterations with alpha and beta as given, before they are fitted", low=1)
    start: Start = setting("kmeans++", "what is merged into first clusters: rows far apart, spectral consensus")
    restarts: int = setting(1, "runs from different starts; the one with the highest bound wins", low=1)
    tol: float = setting(1e-8, "a run ends when the bound changes by less, relative to its size", low=0)
    max_iter: int = setting(1000, "most iterations of one run", low=1)


class State(NamedTuple):
    """Where variational Bayes stands: q(pi) and q(theta), by their counts, and what the rows make of them."""

    columns: Columns
    hyper: Hyper
    mixture: Mixture | None  # the expectations under both; None before the first pass
    counts: Counts | None  # those of the best assignments
    height: float = -np.inf  # the bound
    still: bool = False  # whether no move is left to try


def fit(ensemble: AnyEnsemble, k: int | None, params: Params, rng: Generator) -> Consensus:
    """Doc."""
    truncation = min(params.truncation, len(ensemble)) if k is None else k
    hyper = Hyper(params.prior, truncation, params.alpha, params.beta)
    runs = best_of(
        partial(begin, ensemble, hyper, params.start),
        partial(one_run, ensemble, params, hyper),
        rng.spawn(params.restarts),
        what="nbce-vb restarts",
        highest=True,
    )
    state = runs.best.state
    assert state.mixture is not None
    told = runs.told()
    told["detail"]["bound"] = told["detail"]["objective"]
    shares, _ = memberships(state.mixture, ensemble)
    return folded(ensemble, state.columns, state.hyper, shares, k, told)


def one_run(ensemble: AnyEnsemble, params: Params, hyper: Hyper, first: Columns, tick: Tick = untold) -> Run[State]:
    """Variational Bayes from the clusters of a start: with the concentrations as given, then with fitted ones."""
    state = State(with_empty(first, hyper), hyper, None, None)
    if not params.learn:
        return iterate(partial(step, ensemble, False), state, tol=params.tol, max_iter=params.max_iter, tick=tick)
    formed = iterate(
        partial(step, ensemble, False), state._replace(still=True), tol=FORMED, max_iter=min(params.forming, params.max_iter), tick=tick
    )
    done = len(formed.trace)
    try:
        run = iterate(
            partial(step, ensemble, True),
            formed.state._replace(still=False),
            tol=params.tol,
            max_iter=params.max_iter - done,
            tick=lambda iteration: tick(done + iteration),
        )
    except Interrupted as stop:
        raise Interrupted(stop.run._replace(trace=formed.trace + stop.run.trace)) from stop
    return run._replace(trace=formed.trace + run.trace)


def step(ensemble: AnyEnsemble, learn: bool, state: State) -> tuple[State, float]:
    """The best q(pi), q(theta) and, if asked for, concentrations for the counts; then the best assignments for them.

    When the bound hardly rises any more, one component fewer is tried, until none of the likeliest tries raises it.
    """
    columns, hyper = state.columns, state.hyper
    if state.counts is not None:
        columns = arranged(columns_of(state.counts, ensemble, columns.copies), hyper)
    if learn:
        hyper = learned(columns, ensemble.offsets, hyper)
    found = passed(ensemble, columns, hyper)._replace(still=state.still)
    if not found.still and found.height - state.height < FORMED * abs(found.height):
        found = fewer(ensemble, found)
    return found, found.height


def passed(ensemble: AnyEnsemble, columns: Columns, hyper: Hyper) -> State:
    """The best assignments for q(pi) and q(theta) as the columns give them."""
    mixture = expectations(columns, ensemble.offsets, hyper)
    counts = at_site(mixture, ensemble)
    return State(columns, hyper, mixture, counts, bound(counts.log_likelihood, mixture, columns, ensemble.offsets, hyper))


def fewer(ensemble: AnyEnsemble, state: State) -> State:
    """The state with two components joined or one dissolved, if one of the likeliest such moves raises the bound."""
    assert state.counts is not None
    columns = columns_of(state.counts, ensemble, state.columns.copies)
    for tried in moves(columns, ensemble.offsets, state.hyper):
        found = passed(ensemble, arranged(tried, state.hyper), state.hyper)
        assert found.counts is not None
        again = columns_of(found.counts, ensemble, found.columns.copies)
        found = passed(ensemble, arranged(again, state.hyper), state.hyper)
        if found.height > state.height:
            return found
    return state._replace(still=True)


def moves(columns: Columns, offsets: IntArray, hyper: Hyper) -> Iterator[Columns]:
    """The pairs whose joining raises the log joint most, if it does; then without each of the smallest components."""
    single = np.flatnonzero((columns.copies == 1) & (columns.sizes >= FAINT))
    if len(single) < 2:
        return
    gains = pair_gains(picked(columns, single), offsets, hyper)
    for place in np.argsort(-gains, axis=None, kind="stable")[:TRIES]:
        a, b = (single[end] for end in np.unravel_index(int(place), gains.shape))
        if gains.flat[place] > 0:
            sizes, labels = columns.sizes.copy(), columns.labels.copy()
            sizes[b], labels[:, b] = sizes[a] + sizes[b], labels[:, a] + labels[:, b]
            sizes[a], labels[:, a] = 0.0, 0.0
            yield Columns(sizes, labels, columns.copies)
    for a in single[np.argsort(columns.sizes[single], kind="stable")[:TRIES]]:
        sizes, labels = columns.sizes.copy(), columns.labels.copy()
        sizes[a], labels[:, a] = 0.0, 0.0
        yield Columns(sizes, labels, columns.copies)


def picked(columns: Columns, order: IntArray) -> Columns:
    """Some columns."""
    return Columns(columns.sizes[order], columns.labels[:, order], columns.copies[order])


def with_empty(columns: Columns, hyper: Hyper) -> Columns:
    """With a column of empty components at the end: all that are left under fsd, the next one under tsb."""
    left = hyper.truncation - int(columns.copies.sum())
    if not left:
        return columns
    return Columns(
        np.append(columns.sizes, 0.0),
        np.column_stack([columns.labels, np.zeros(len(columns.labels))]),
        np.append(columns.copies, left if hyper.prior == "fsd" else 1.0),
    )


def arranged(columns: Columns, hyper: Hyper) -> Columns:
    """The same components, largest first under tsb where that raises the bound, empty ones together."""
    faint = columns.sizes < FAINT * columns.copies
    if hyper.prior == "fsd":
        if np.count_nonzero(faint) < 2:
            return columns
        kept = picked(columns, np.flatnonzero(~faint))
        return with_empty(kept, hyper)
    order = np.argsort(-columns.sizes, kind="stable")
    ordered = picked(columns, order)
    if log_sizes(ordered, hyper) > log_sizes(columns, hyper):
        columns, faint = ordered, faint[order]
    last = len(faint) - int(np.argmin(faint[::-1]))  # behind the last that is not faint
    return with_empty(picked(columns, np.arange(last)), hyper)


METHOD = Method(
    fit,
    Params,
    takes=Ensemble | SoftEnsemble,
    cite="wang2010",
    handles_missing=True,
    chooses_k=True,
    deterministic=False,
    predicts="memberships",
    by_estimate=True,
    gives_likelihood=True,
    monotone="rises",
)
