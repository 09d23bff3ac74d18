"""Chains of a collapsed Gibbs sampler for nonparametric Bayesian cluster ensembles: their state and their steps.

A chain never changes: `advance` gives the next one, so that whoever stops in between has whole chains at hand.
"""

from dataclasses import replace
from typing import Final, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.random import Generator

from partita.core.types import IntArray, sealed, smallest_type
from partita.kernels.nbce import ALPHA, BETA, draw_strength
from partita.kernels.nbce_gibbs import sweep_even, sweep_weighted
from partita.kernels.nbce_pairs import split_and_merge
from partita.kernels.nbce_seats import swap_positions
from partita.kernels.nbce_soft import sweep_memberships
from partita.models.nbce import Rows, Seats, Strengths, log_joint, seats_of

PAIRS: Final = 10
"""Pairs of objects that try to split or merge clusters after a sweep."""
Moves: TypeAlias = Literal["all", "swap", "split-merge", "none"]
"""Metropolis moves after each sweep: swaps of the positions of clusters (tsb), splits and merges of clusters."""


class Plan(NamedTuple):
    """Which sweeps of a chain are kept, and from which on alpha and beta are drawn too."""

    burn_in: int
    draws: int
    thin: int
    settle: int
    """Sweeps before alpha and beta are drawn: clusters have to form first."""
    learn_alpha: bool
    learn_beta: bool
    moves: Moves = "all"

    @property
    def sweeps(self) -> int:
        """All of them."""
        return self.burn_in + self.draws * self.thin

    def keeps(self, sweep: int) -> bool:
        """Whether the draw after this sweep (from 1) is kept."""
        return sweep > self.burn_in and (sweep - self.burn_in) % self.thin == 0


class Point(NamedTuple):
    """What is told of a chain after a sweep."""

    log_joint: float
    clusters: int
    alpha: float
    beta: float


class Draw(NamedTuple):
    """A kept draw."""

    z: IntArray  # (n,) the cluster of each object, 0 … K - 1
    point: Point
    tables: IntArray | None = None
    """(t, m + 1) drawn labels in each cluster, by first appearance, and 0; None where labels are given."""


class Chain(NamedTuple):
    """Where one chain stands, and the draws it has kept."""

    seed: np.uint64
    seats: Seats
    strengths: Strengths
    trace: tuple[Point, ...] = ()
    """One for every sweep."""
    kept: tuple[Draw, ...] = ()
    labels: IntArray | None = None
    """(n, r) the drawn labels where memberships are given."""

    def rows(self, rows: Rows) -> Rows:
        """Return the rows with the labels of this chain."""
        return rows if self.labels is None else replace(rows, labels=sealed(self.labels))


def begin(rows: Rows, chosen: IntArray, strengths: Strengths, rng: Generator) -> Chain:
    """A chain whose objects begin in given clusters."""
    seed = np.uint64(rng.integers(2**64, dtype=np.uint64))
    labels = None if rows.memberships is None else rows.labels.copy()
    return Chain(seed, seats_of(rows, chosen), strengths, labels=labels)


def advance(rows: Rows, plan: Plan, sweeps: int, chain: Chain) -> Chain:
    """The chain after so many more sweeps, or as many as the plan still holds."""
    seats, strengths = chain.seats.copy(), chain.strengths
    labels = None if chain.labels is None else chain.labels.copy()
    rows = chain._replace(labels=labels).rows(rows)  # their labels change with `labels`
    trace, kept = list(chain.trace), list(chain.kept)
    while sweeps > 0 and len(trace) < plan.sweeps:
        number = len(trace) + 1
        sweep_once(rows, seats, strengths, chain.seed, number, labels, plan.moves)
        if number > plan.settle:
            strengths = drawn_strengths(rows, plan, seats, strengths, (chain.seed, number))
        trace.append(Point(log_joint(rows, seats, strengths), seats.clusters, *strengths))
        sweeps -= 1
        if plan.keeps(number):
            kept.append(drawn(rows, seats, trace[-1]))
    return Chain(chain.seed, seats, strengths, tuple(trace), tuple(kept), labels)


def drawn(rows: Rows, seats: Seats, point: Point) -> Draw:
    """What is kept of where a chain stands, in the smallest type."""
    tables = None if rows.memberships is None else seats_of(rows, seats.z).tables[:, : seats.clusters + 1].copy()
    return Draw(seats.z.astype(smallest_type(rows.truncation)), point, tables)


def with_last_draw(rows: Rows, chain: Chain) -> Chain:
    """A chain that has kept no draw yet, with the one it stands at: all there is when it is stopped in the burn-in."""
    return chain._replace(kept=(drawn(chain.rows(rows), chain.seats, chain.trace[-1]),))


def sweep_once(
    rows: Rows,
    seats: Seats,
    strengths: Strengths,
    seed: np.uint64,
    number: int,
    labels: IntArray | None = None,
    moves: Moves = "all",
) -> None:
    """Draw the cluster of every object once, in place; then clusters split and merge, and sticks swap positions.

    Where memberships are given, the labels are drawn too, in `labels`, of which `rows.labels` is a view.
    """
    rest = (*seats, *strengths, rows.sticks, seed, number, 0, len(seats.z))
    if rows.memberships is not None:
        assert labels is not None
        sweep_memberships(rows.memberships, labels, rows.offsets, rows.weights, *rest)
    elif rows.even:
        sweep_even(rows.labels, rows.offsets, *rest)
    else:
        sweep_weighted(rows.labels, rows.offsets, rows.weights, *rest)
    given = (rows.labels, rows.offsets, rows.weights)
    if moves in ("all", "split-merge"):
        split_and_merge(*given, *seats, *strengths, rows.sticks, PAIRS, seed, number)
    if moves in ("all", "swap") and rows.sticks and rows.truncation > 1:
        swap_positions(seats.book, seats.z, strengths.alpha, seed, number)


def drawn_strengths(
    rows: Rows, plan: Plan, seats: Seats, strengths: Strengths, place: tuple[np.uint64, int]
) -> Strengths:
    """Both strengths, each drawn anew given the clusters where the plan says so; `place` is seed and sweep."""
    arrays = (sealed(seats.tables), sealed(seats.totals), sealed(seats.book))
    given = (rows.offsets, rows.weights, *arrays, len(seats.z), rows.sticks, *place)
    alpha = draw_strength(ALPHA, strengths.alpha, *given) if plan.learn_alpha else strengths.alpha
    beta = draw_strength(BETA, strengths.beta, *given) if plan.learn_beta else strengths.beta
    return Strengths(float(alpha), float(beta))
