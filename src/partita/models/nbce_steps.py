"""Steps of variational Bayes for nonparametric Bayesian cluster ensembles: none of them lowers the bound."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np

from partita.core.counting import label_columns, unit_weights
from partita.core.iterate import Interrupted, Run, Tick, iterate
from partita.core.types import FloatArray, IntArray
from partita.models.mixture import Counts, Mixture, Rows, at_site
from partita.models.nbce_bound import Columns, Hyper, bound, expectations, log_sizes, pair_gains
from partita.models.nbce_learn import counted, learned

S = TypeVar("S")
FAINT: Final = 1e-8
"""Objects below which a component counts as empty."""
FORMED: Final = 1e-5
"""The relative change of the bound below which clusters have formed."""
TRIES: Final = 3
"""Moves of a kind that are tried at a time."""


NOTHING: Final = Mixture(np.empty(0), np.empty((0, 0)))
NO_COUNTS: Final = Counts(np.empty(0), np.empty((0, 0)), np.nan, 0)


class State(NamedTuple):
    """Where variational Bayes stands: q(pi) and q(theta), by their counts, and what the rows make of them."""

    columns: Columns
    hyper: Hyper
    height: float = -np.inf
    """The bound; -inf before the first pass."""
    mixture: Mixture = NOTHING
    """The expectations under both."""
    counts: Counts = NO_COUNTS
    """What the best assignments under them add up to."""
    still: bool = False
    """Whether no move is left to try."""


def columns_of(counts: Counts, part: Rows, copies: FloatArray | None = None) -> Columns:
    """Counts, labels times the weights of their clusterings, as columns of `copies` components each (1 by default)."""
    weighted = counts.labels * unit_weights(part)[label_columns(part.offsets)][:, None]
    return Columns(counts.weights, weighted, np.ones(len(counts.weights)) if copies is None else copies)


def first_state(columns: Columns, hyper: Hyper) -> State:
    """Before the first pass, from the clusters of a start."""
    return State(with_empty(columns, hyper), hyper)


def next_columns(ensemble: Rows, state: State) -> Columns:
    """The best q(pi) and q(theta) for the assignments of a state."""
    if np.isneginf(state.height):
        return state.columns
    return arranged(columns_of(state.counts, ensemble, state.columns.copies), state.hyper)


def step(ensemble: Rows, learn: bool, state: State) -> tuple[State, float]:
    """The best q(pi), q(theta) and, if asked for, concentrations for the counts; then the best assignments for them.

    When the bound hardly rises any more, one component fewer is tried, until none of the likeliest tries raises it.
    """
    columns, hyper = next_columns(ensemble, state), state.hyper
    if learn:
        hyper = learned(counted(columns, ensemble.offsets), ensemble.offsets, hyper)
    found = passed(ensemble, columns, hyper)._replace(still=state.still)
    if not found.still and found.height - state.height < FORMED * abs(found.height):
        found = fewer(ensemble, found)
    return found, found.height


def passed(ensemble: Rows, columns: Columns, hyper: Hyper) -> State:
    """The best assignments for q(pi) and q(theta) as the columns give them."""
    mixture = expectations(columns, ensemble.offsets, hyper)
    counts = at_site(mixture, ensemble)
    height = bound(counts.log_likelihood, mixture, columns, ensemble.offsets, hyper)
    return State(columns, hyper, height, mixture, counts)


def fewer(ensemble: Rows, state: State) -> State:
    """The state with two components joined or one dissolved, if one of the likeliest such moves raises the bound."""
    columns = columns_of(state.counts, ensemble, state.columns.copies)
    for tried in moves(columns, ensemble.offsets, state.hyper):
        found = passed(ensemble, arranged(tried, state.hyper), state.hyper)
        found = passed(ensemble, next_columns(ensemble, found), state.hyper)
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
    return with_empty(picked(columns, kept_order(columns, hyper)), hyper)


def kept_order(columns: Columns, hyper: Hyper) -> IntArray:
    """The columns in the order of `arranged`, without empty ones (but for one that stands for all there are)."""
    faint, places = columns.sizes < FAINT * columns.copies, np.arange(len(columns.sizes))
    if hyper.prior == "fsd":
        return places if np.count_nonzero(faint) < 2 else places[~faint]
    order = np.argsort(-columns.sizes, kind="stable")
    if log_sizes(picked(columns, order), hyper) <= log_sizes(columns, hyper):
        order = places
    return order[: len(order) - int(np.argmin(faint[order][::-1]))]


class Limits(NamedTuple):
    """When a run ends."""

    learn: bool
    forming: int
    tol: float
    max_iter: int


def phases(
    step: Callable[[bool, S], tuple[S, float]],
    state: S,
    limits: Limits,
    tick: Tick,
    settle: Callable[[S], S] = lambda state: state,
    enough: Callable[[S], bool] | None = None,
) -> Run[S]:
    """Iterations with the concentrations as given until clusters have formed; then with fitted ones, if they are to be.

    `settle` readies a state for the second. The objective ends a run, or in its place `enough`.
    """
    ends: dict[str, Any] = {"tol": limits.tol} if enough is None else {"tol": 0.0, "enough": enough}
    if not limits.learn:
        return iterate(partial(step, False), state, max_iter=limits.max_iter, tick=tick, **ends)
    formed = iterate(partial(step, False), state, tol=FORMED, max_iter=min(limits.forming, limits.max_iter), tick=tick)
    done, ready = len(formed.trace), settle(formed.state)
    try:
        run = iterate(
            partial(step, True),
            ready,
            max_iter=limits.max_iter - done,
            tick=lambda iteration: tick(done + iteration),
            **ends,
        )
    except Interrupted as stop:
        raise Interrupted(stop.run._replace(trace=formed.trace + stop.run.trace)) from stop
    return run._replace(trace=formed.trace + run.trace)
