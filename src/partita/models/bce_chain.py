"""Chains of a collapsed Gibbs sampler for Bayesian cluster ensembles: their state, their steps, their averages.

theta_i ~ Dir(alpha), z_ij ~ theta_i, y_ij ~ beta_{z_ij, j}, beta_hj ~ Dir(omega) (Wang, Shan and Banerjee 2009, §6),
theta and beta integrated out. Where memberships are given, y_ij is unknown and drawn too: the membership s_ij(l) is the
likelihood p(what is known of the label | y_ij = l), up to a constant. A chain never changes: `advance` gives the next
one, so that whoever stops in between has whole chains at hand.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.optimize import linear_sum_assignment
from scipy.special import gammaln

from partita.core.counting import label_columns
from partita.core.dirichlet import SHARE
from partita.core.types import FloatArray, IntArray, sealed, smallest_type
from partita.kernels.gibbs import (
    add_agreement,
    add_draw,
    count_tokens,
    object_terms,
    soften,
    sweep_even,
    sweep_memberships,
    sweep_weighted,
)
from partita.models.chains import log_memberships


@dataclass(frozen=True, eq=False)
class Tokens:
    """What all chains share: the known labels of all objects, and the priors."""

    labels: IntArray
    """(n, r) read-only, MISSING where unobserved; the first labels of each chain where memberships are given."""
    offsets: IntArray
    """(r + 1,) where each clustering's labels begin among all."""
    weights: FloatArray
    """(r,) read-only: what a label of each clustering counts."""
    k: int
    alpha: float
    omega: float
    memberships: FloatArray | None = None
    """(n, t) read-only: the memberships that the labels are drawn from; None where labels are given."""

    @property
    def state_size(self) -> int:
        """Bytes that one chain keeps: the cluster of every label, and sums over draws."""
        sums = (len(self.labels) + int(self.offsets[-1])) * self.k
        own_labels = 0 if self.memberships is None else self.labels.nbytes
        return (
            own_labels
            + self.labels.size * np.dtype(smallest_type(self.k)).itemsize
            + sums * np.dtype(np.float64).itemsize
        )

    @cached_property
    def even(self) -> bool:
        """Whether every label counts 1."""
        return bool((self.weights == 1).all())

    @cached_property
    def column(self) -> IntArray:
        """(t,) the clustering of each label."""
        return label_columns(self.offsets)

    @cached_property
    def prior(self) -> FloatArray:
        """(r, 1) omega of all labels of a clustering together."""
        return np.asarray(np.diff(self.offsets)[:, None] * self.omega)

    @cached_property
    def steps(self) -> FloatArray:
        """What n labels of an object in one cluster add to the log joint, where every label counts 1; else empty."""
        count = len(self.weights) + 1 if self.even else 0
        return np.asarray(gammaln(self.alpha + np.arange(count)) - gammaln(self.alpha))

    @cached_property
    def constant(self) -> float:
        """What the log joint holds whatever the clusters."""
        whole = self.k * self.alpha
        known = sum((self.labels[:, j] >= 0) * weight for j, weight in enumerate(self.weights))
        objects = len(self.labels) * gammaln(whole) - gammaln(whole + known).sum()
        return float(objects + self.k * gammaln(self.prior).sum() - len(self.column) * self.k * gammaln(self.omega))


class Counts(NamedTuple):
    """Labels in each cluster, each counting 1."""

    tables: IntArray  # (t, k)
    totals: IntArray  # (r, k)


class Plan(NamedTuple):
    """Which sweeps of a chain are kept."""

    burn_in: int
    draws: int
    thin: int

    @property
    def sweeps(self) -> int:
        """All of them."""
        return self.burn_in + self.draws * self.thin

    def keeps(self, sweep: int) -> bool:
        """Whether the draw after this sweep (from 1) is kept."""
        return sweep > self.burn_in and (sweep - self.burn_in) % self.thin == 0


class Chain(NamedTuple):
    """Where one chain stands, and the sums over its kept draws, each renamed to agree with those before it."""

    seed: np.uint64
    z: IntArray  # (n, r) the cluster of every label
    sums: FloatArray  # (n, k) weighted labels of each object in each cluster
    tables: FloatArray  # (t, k) objects with each label in each cluster
    trace: tuple[float, ...] = ()
    """The log joint after every sweep."""
    kept: tuple[tuple[float, float], ...] = ()
    """Log joint and concentration of every kept draw."""
    labels: IntArray | None = None
    """(n, r) the drawn labels where memberships are given."""

    def tokens(self, tokens: Tokens) -> Tokens:
        """Return the tokens with the labels of this chain."""
        return tokens if self.labels is None else replace(tokens, labels=sealed(self.labels))


def begin(tokens: Tokens, chosen: IntArray, rng: Generator) -> Chain:
    """A chain whose labels begin in the clusters of their objects, one in ten elsewhere."""
    seed = np.uint64(rng.integers(2**64, dtype=np.uint64))
    z = np.zeros(tokens.labels.shape, smallest_type(tokens.k))
    soften(tokens.labels, sealed(chosen), SHARE, tokens.k, z, seed, 0, 0, len(z))
    labels = None if tokens.memberships is None else tokens.labels.copy()
    sums, tables = np.zeros((len(z), tokens.k)), np.zeros((int(tokens.offsets[-1]), tokens.k))
    return Chain(seed, z, sums, tables, labels=labels)


def advance(tokens: Tokens, plan: Plan, sweeps: int, chain: Chain) -> Chain:
    """The chain after so many more sweeps, or as many as the plan still holds."""
    z, sums, tables = chain.z.copy(), chain.sums.copy(), chain.tables.copy()
    labels = None if chain.labels is None else chain.labels.copy()
    tokens = chain._replace(labels=labels).tokens(tokens)  # their labels change with `labels`
    counts = counts_of(tokens, z)
    step = partial(sweep_once, tokens, z, counts, chain.seed, labels=labels)
    trace, kept = list(chain.trace), list(chain.kept)
    while sweeps > 0 and len(trace) < plan.sweeps:
        step(len(trace) + 1)
        trace.append(log_joint(tokens, z, counts))
        sweeps -= 1
        if plan.keeps(len(trace)):
            _keep(tokens, z, counts, sums, tables)
            kept.append((trace[-1], concentration(tokens, counts)))
    return Chain(chain.seed, z, sums, tables, tuple(trace), tuple(kept), labels)


def _keep(tokens: Tokens, z: IntArray, counts: Counts, sums: FloatArray, tables: FloatArray) -> None:
    """Add a draw, renamed to agree with those before it, to the sums."""
    names = matched(_agreement(tokens, z, sums))
    add_draw(tokens.labels, tokens.weights, sealed(z), names, sums, 0, len(z))
    tables[:, names] += counts.tables


def with_last_draw(tokens: Tokens, chain: Chain) -> Chain:
    """A chain that has kept no draw yet, with the one it stands at: all there is when it is stopped in the burn-in."""
    tokens = chain.tokens(tokens)
    sums, tables, counts = chain.sums.copy(), chain.tables.copy(), counts_of(tokens, chain.z)
    _keep(tokens, chain.z, counts, sums, tables)
    return chain._replace(sums=sums, tables=tables, kept=((chain.trace[-1], concentration(tokens, counts)),))


def counts_of(tokens: Tokens, z: IntArray) -> Counts:
    """The labels in each cluster."""
    tables = np.zeros((int(tokens.offsets[-1]), tokens.k), np.int32)
    totals = np.zeros((len(tokens.weights), tokens.k), np.int32)
    count_tokens(tokens.labels, tokens.offsets, sealed(z), tables, totals, 0, len(z))
    return Counts(tables, totals)


def sweep_once(
    tokens: Tokens, z: IntArray, counts: Counts, seed: np.uint64, number: int, labels: IntArray | None = None
) -> None:
    """Draw the cluster of every label once, in place; where memberships are given, the labels too, in `labels`."""
    rest = (z, *counts, tokens.alpha, tokens.omega, seed, number, 0, len(z))
    if tokens.memberships is not None:
        assert labels is not None
        sweep_memberships(tokens.memberships, labels, tokens.offsets, tokens.weights, *rest)
    elif tokens.even:
        sweep_even(tokens.labels, tokens.offsets, *rest)
    else:
        sweep_weighted(tokens.labels, tokens.offsets, tokens.weights, *rest)


def log_joint(tokens: Tokens, z: IntArray, counts: Counts) -> float:
    """The logarithm of p(z, y | alpha, omega).

    A Dirichlet-multinomial for every object, and for every cluster in every clustering. With weights, these are of
    weighted counts and need not sum to 1. Where
    memberships are given, each label has its membership as a factor.
    """
    weights = tokens.weights[:, None]
    shared = (tokens.labels, tokens.weights, sealed(z), tokens.alpha, tokens.steps, tokens.k)
    objects = object_terms(*shared, 0, len(z))
    above = gammaln(tokens.omega + weights[tokens.column] * counts.tables).sum()
    below = gammaln(tokens.prior + weights * counts.totals).sum()
    evidence = log_memberships(tokens.memberships, tokens.labels, tokens.offsets)
    return float(tokens.constant + objects + above - below + evidence)


def concentration(tokens: Tokens, counts: Counts) -> float:
    """The chance that two labels drawn from the table at random lie in the same cluster, whatever clusters are called.

    1 / k when all clusters hold equally many labels, 1 when one cluster holds them all.
    """
    shares = tokens.weights @ counts.totals
    return float(((shares / shares.sum()) ** 2).sum())


def _agreement(tokens: Tokens, z: IntArray, sums: FloatArray) -> FloatArray:
    table = np.zeros((tokens.k, tokens.k))
    add_agreement(tokens.labels, tokens.weights, sealed(z), sealed(sums), table, 0, len(z))
    return table


def matched(agreement: FloatArray) -> IntArray:
    """(k,) for each row's cluster the column's that it is called, so that the agreement is as large as can be."""
    return np.asarray(linear_sum_assignment(agreement, maximize=True)[1])


class Means(NamedTuple):
    """Posterior means, clusters called alike in all draws of all chains."""

    shares: FloatArray  # (n, k) of theta: the clusters' shares of every object
    probs: FloatArray  # (t, k) of beta: each label's chance in each cluster, among the labels of its clustering
    best: int
    """The chain with the highest mean log joint, after whose clusters all are called."""


def posterior_means(tokens: Tokens, chains: Sequence[Chain]) -> Means:
    """Averages over the kept draws of all chains; those of beta are of averaged counts."""
    drawn = [chain for chain in chains if chain.kept]
    best = max(drawn, key=lambda chain: np.mean([joint for joint, _ in chain.kept]))
    sums, tables = np.zeros(best.sums.shape), np.zeros(best.tables.shape)
    for chain in drawn:
        names = matched(chain.sums.T @ best.sums)
        sums[:, names] += chain.sums
        tables[:, names] += chain.tables
    draws = sum(len(chain.kept) for chain in drawn)
    shares = tokens.alpha + sums / draws
    probs = tokens.omega + tokens.weights[tokens.column][:, None] * tables / draws
    probs /= np.add.reduceat(probs, tokens.offsets[:-1], axis=0)[tokens.column]
    return Means(shares / shares.sum(axis=1, keepdims=True), probs, [chain is best for chain in chains].index(True))
