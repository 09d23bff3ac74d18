"""Nonparametric Bayesian cluster ensembles: the collapsed joint distribution, and draws of its two priors' strengths.

Clusters that hold objects stand in slots 0 … m - 1; `tables` (t, K + 1) counts the objects with each label in each
slot, `totals` (r, K + 1) those whose label is known in each clustering, and `book` (3, K + 1) holds the size and the
position 0 … K - 1 of each slot and the slot of each position, -1 where none.
"""

import math
from typing import Any

import numpy as np

from partita.kernels.canonical import mix
from partita.kernels.compiling import Array, kernel
from partita.kernels.gibbs import uniform

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
"""How far the states of two neighbours in a stream of random numbers are apart."""
SIZE, PLACE, AT = 0, 1, 2
"""The rows of the book."""
ALPHA, BETA = 0, 1
"""Which strength is meant."""
LEAST, MOST = 1e-6, 1e6
"""The range of both strengths."""
STEPS_OUT, WIDTH = 30, 1.0
"""How far a slice is looked for on its logarithmic scale, and in which steps."""


@kernel
def occupied(book: Array) -> int:
    """How many slots hold objects."""
    slots = 0
    while slots < book.shape[1] - 1 and book[SIZE, slots] > 0:
        slots += 1
    return slots


@kernel
def log_rise(x: float, w: float) -> float:
    """The log of Gamma(x + w) / Gamma(x): what a label of weight w adds to a Dirichlet-multinomial at count x."""
    return math.log(x) if w == 1.0 else math.lgamma(x + w) - math.lgamma(x)


@kernel
def log_sticks(book: Array, n: int, alpha: float) -> float:
    """The log of p(Z) by truncated stick-breaking: K - 1 sticks v_k ~ Beta(1, alpha), the last cluster takes the rest.

    The product over k < K of alpha Gamma(1 + N_k) Gamma(alpha + N_>k) / Gamma(1 + alpha + N_>=k), its Gamma functions
    of neighbouring sticks cancelled.
    """
    clusters = book.shape[1] - 1
    if clusters == 1:
        return 0.0
    total = (clusters - 1) * math.log(alpha) - math.lgamma(1.0 + alpha + n)
    beyond = n
    for k in range(clusters - 1):
        size = book[SIZE, book[AT, k]] if book[AT, k] >= 0 else 0
        beyond -= size
        if size > 1:
            total += math.lgamma(1.0 + size)
        if k < clusters - 2:
            total -= math.log(alpha + beyond)
    return float(total + math.lgamma(alpha + beyond))


@kernel
def log_shares(book: Array, n: int, alpha: float) -> float:
    """The log of p(Z) by a finite symmetric Dirichlet.

    Gamma(alpha) / Gamma(alpha + n) times the product of Gamma(alpha / K + N_k) / Gamma(alpha / K).
    """
    share = alpha / (book.shape[1] - 1)
    base, total = math.lgamma(share), math.lgamma(alpha) - math.lgamma(alpha + n)
    for s in range(occupied(book)):
        total += math.lgamma(share + book[SIZE, s]) - base
    return total


@kernel
def log_labels(offsets: Array, weights: Array, tables: Array, totals: Array, slots: int, beta: float) -> float:
    """The log of p(Y | Z): a Dirichlet-multinomial of weighted counts for every slot in every clustering."""
    base, total = math.lgamma(beta), 0.0
    for j in range(totals.shape[0]):
        w, prior = weights[j], (offsets[j + 1] - offsets[j]) * beta
        for s in range(slots):
            total += math.lgamma(prior) - math.lgamma(prior + w * totals[j, s])
        for place in range(offsets[j], offsets[j + 1]):
            for s in range(slots):
                if tables[place, s] > 0:
                    total += math.lgamma(beta + w * tables[place, s]) - base
    return total


@kernel
def log_strength(
    which: int,
    value: float,
    offsets: Array,
    weights: Array,
    tables: Array,
    totals: Array,
    book: Array,
    n: int,
    sticks: bool,
) -> float:
    """The log density, less a constant, of log alpha or log beta given Z and Y, under a Gamma(1, 1) prior."""
    if not LEAST <= value <= MOST:
        return -math.inf
    prior = math.log(value) - value
    if which == BETA:
        return prior + log_labels(offsets, weights, tables, totals, occupied(book), value)
    return prior + (log_sticks(book, n, value) if sticks else log_shares(book, n, value))


@kernel
def stream_of(seed: Any, sweep: int, purpose: int) -> Any:
    """Where the random numbers begin that a sweep needs for one purpose."""
    start: Any = np.uint64(seed) ^ np.uint64(purpose)
    start = np.uint64(mix(start)) + np.uint64(sweep)
    return np.uint64(mix(start))


@kernel
def draw_strength(
    which: int,
    value: float,
    offsets: Array,
    weights: Array,
    tables: Array,
    totals: Array,
    book: Array,
    n: int,
    sticks: bool,
    seed: Any,
    sweep: int,
) -> float:
    """The next alpha or beta by slice sampling of its logarithm, stepping out and shrinking (Neal 2003)."""
    given = (offsets, weights, tables, totals, book, n, sticks)
    state = np.uint64(stream_of(seed, sweep, 2 + which))
    here = math.log(value)
    height = log_strength(which, value, *given) + math.log(1.0 - uniform(state))
    state += GOLDEN
    low = here - WIDTH * uniform(state)
    high = low + WIDTH
    state += GOLDEN
    down = int(uniform(state) * STEPS_OUT)
    up = STEPS_OUT - 1 - down
    while down > 0 and log_strength(which, math.exp(low), *given) > height:
        low, down = low - WIDTH, down - 1
    while up > 0 and log_strength(which, math.exp(high), *given) > height:
        high, up = high + WIDTH, up - 1
    while True:
        state += GOLDEN
        found = low + (high - low) * uniform(state)
        if log_strength(which, math.exp(found), *given) >= height:
            return math.exp(found)
        low, high = (found, high) if found < here else (low, found)
