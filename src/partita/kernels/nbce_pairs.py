"""Nonparametric Bayesian cluster ensembles, sampled: whole clusters split and merge (Dahl 2005).

Two objects i and j are drawn. Together in a cluster, they part, and its other objects join one of them in turn; in two
clusters, j's joins i's. The parts are counted in `pair` (t, 2) and `pair_totals` (r, 2); the arrays are otherwise those
of `kernels.nbce`.
"""

import math
from typing import Any

import numpy as np

from partita.kernels.canonical import mix
from partita.kernels.compiling import Array, kernel
from partita.kernels.gibbs import uniform
from partita.kernels.nbce import AT, GOLDEN, PLACE, SIZE, log_rise, log_sticks, occupied, stream_of
from partita.kernels.nbce_seats import close_slot


@kernel
def count_pair(labels: Array, offsets: Array, i: int, part: int, pair: Array, pair_totals: Array) -> None:
    """Count an object in one of two parts."""
    for j in range(labels.shape[1]):
        if labels[i, j] >= 0:
            pair[offsets[j] + labels[i, j], part] += 1
            pair_totals[j, part] += 1


@kernel
def pull(labels: Array, offsets: Array, weights: Array, i: int, beta: float, pair: Array, pair_totals: Array) -> float:
    """How much likelier, as a logarithm, an object's labels are in the second part than in the first."""
    total = 0.0
    for j in range(labels.shape[1]):
        if labels[i, j] >= 0:
            row, w, prior = offsets[j] + labels[i, j], weights[j], (offsets[j + 1] - offsets[j]) * beta
            total += log_rise(beta + w * pair[row, 1], w) - log_rise(prior + w * pair_totals[j, 1], w)
            total -= log_rise(beta + w * pair[row, 0], w) - log_rise(prior + w * pair_totals[j, 0], w)
    return total


@kernel
def allot(
    labels: Array,
    offsets: Array,
    weights: Array,
    z: Array,
    first: int,
    second: int,
    beta: float,
    parts: Array,
    pair: Array,
    pair_totals: Array,
    sizes: Array,
    state: Any,
) -> float:
    """Seat the objects of one or two clusters in two parts, one after another; the log chance of what came out.

    `first` and `second` begin the parts. Where they are together, parts are drawn and written to `parts`; where they
    are not, the chance is that of the parts there are. `sizes` are then the parts'.
    """
    pair[:], pair_totals[:] = 0, 0
    count_pair(labels, offsets, first, 0, pair, pair_totals)
    count_pair(labels, offsets, second, 1, pair, pair_totals)
    parts[first], parts[second] = 0, 1
    here, there, state = z[first], z[second], np.uint64(state)
    chance, apart, sizes[:] = 0.0, here != there, 1.0
    for i in range(z.shape[0]):
        if (z[i] != here and z[i] != there) or i in (first, second):
            continue
        odds = math.log(sizes[1] / sizes[0]) + pull(labels, offsets, weights, i, beta, pair, pair_totals)
        state += GOLDEN
        part = int(z[i] == there) if apart else int(math.log(1.0 - uniform(state)) < -soft_plus(-odds))
        chance -= soft_plus(-odds if part == 1 else odds)
        parts[i] = part
        sizes[part] += 1.0
        count_pair(labels, offsets, i, part, pair, pair_totals)
    return chance


@kernel
def soft_plus(x: float) -> float:
    """The log of 1 + e^x, at no risk of overflow."""
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


@kernel
def log_part(offsets: Array, weights: Array, pair: Array, pair_totals: Array, beta: float, part: int) -> float:
    """The log chance of the labels of one part (0 or 1), or of both together (2)."""
    base, total = math.lgamma(beta), 0.0
    for j in range(pair_totals.shape[0]):
        w, prior = weights[j], (offsets[j + 1] - offsets[j]) * beta
        known = pair_totals[j, 0] + pair_totals[j, 1] if part == 2 else pair_totals[j, part]
        total += math.lgamma(prior) - math.lgamma(prior + w * known)
        for row in range(offsets[j], offsets[j + 1]):
            count = pair[row, 0] + pair[row, 1] if part == 2 else pair[row, part]
            if count > 0:
                total += math.lgamma(beta + w * count) - base
    return total


@kernel
def prior_gain(book: Array, n: int, alpha: float, sticks: bool, one: int, other: int, sizes: Array) -> float:
    """The log of p(Z) with parts of these sizes at two positions, less log p(Z) with all of both at the first."""
    if not sticks:
        share = alpha / (book.shape[1] - 1)
        parts = math.lgamma(share + sizes[0]) + math.lgamma(share + sizes[1])
        return parts - math.lgamma(share + sizes[0] + sizes[1]) - math.lgamma(share)
    trial = np.zeros((3, book.shape[1]), np.int64)
    trial[AT] = np.arange(book.shape[1])
    for k in range(book.shape[1] - 1):
        trial[SIZE, k] = book[SIZE, book[AT, k]] if book[AT, k] >= 0 else 0
    trial[SIZE, one], trial[SIZE, other] = sizes[0], sizes[1]
    apart = log_sticks(trial, n, alpha)
    trial[SIZE, one], trial[SIZE, other] = sizes[0] + sizes[1], 0
    return apart - log_sticks(trial, n, alpha)


@kernel
def empty_position(book: Array, chance: float, empty: int) -> int:
    """One of so many empty positions, each with equal chance."""
    which, place = min(int(chance * empty), empty - 1), 0
    while which > 0 or book[AT, place] >= 0:
        which -= book[AT, place] < 0
        place += 1
    return place


@kernel
def write_part(tables: Array, totals: Array, pair: Array, pair_totals: Array, slot: int, part: int) -> None:
    """Put the counts of one part (0 or 1), or of both together (2), in a slot."""
    for row in range(pair.shape[0]):
        tables[row, slot] = pair[row, 0] + pair[row, 1] if part == 2 else pair[row, part]
    for j in range(pair_totals.shape[0]):
        totals[j, slot] = pair_totals[j, 0] + pair_totals[j, 1] if part == 2 else pair_totals[j, part]


@kernel
def try_split(
    labels: Array,
    offsets: Array,
    weights: Array,
    z: Array,
    tables: Array,
    totals: Array,
    book: Array,
    alpha: float,
    beta: float,
    sticks: bool,
    first: int,
    second: int,
    parts: Array,
    pair: Array,
    pair_totals: Array,
    state: Any,
) -> None:
    """Part two objects of a cluster, each with those that join it, by a Metropolis move; the second moves out."""
    slots, n, sizes = occupied(book), z.shape[0], np.empty(2)
    empty, here = book.shape[1] - 1 - slots, z[first]
    if empty == 0:
        return
    own = np.uint64(mix(state))
    chance = allot(labels, offsets, weights, z, first, second, beta, parts, pair, pair_totals, sizes, own)
    there = empty_position(book, uniform(np.uint64(state) + GOLDEN), empty)
    gain = log_part(offsets, weights, pair, pair_totals, beta, 0) + log_part(
        offsets, weights, pair, pair_totals, beta, 1
    )
    gain -= log_part(offsets, weights, pair, pair_totals, beta, 2)
    gain += prior_gain(book, n, alpha, sticks, here, there, sizes) + math.log(empty) - chance
    if math.log(1.0 - uniform(state)) >= gain:
        return
    old = book[AT, here]
    book[SIZE, old], book[SIZE, slots] = sizes[0], sizes[1]
    book[PLACE, slots], book[AT, there] = there, slots
    write_part(tables, totals, pair, pair_totals, old, 0)
    write_part(tables, totals, pair, pair_totals, slots, 1)
    for i in range(n):
        if z[i] == here and parts[i] == 1:
            z[i] = there


@kernel
def try_merge(
    labels: Array,
    offsets: Array,
    weights: Array,
    z: Array,
    tables: Array,
    totals: Array,
    book: Array,
    alpha: float,
    beta: float,
    sticks: bool,
    first: int,
    second: int,
    parts: Array,
    pair: Array,
    pair_totals: Array,
    state: Any,
) -> None:
    """Let the second object's cluster join the first's, by a Metropolis move.

    Most merges are hopeless whatever the chance of the split that leads back, which is looked at only where it counts.
    """
    slots, n, sizes = occupied(book), z.shape[0], np.empty(2)
    here, there = z[first], z[second]
    one, other = book[AT, here], book[AT, there]
    pair[:, 0], pair[:, 1], pair_totals[:, 0], pair_totals[:, 1] = (
        tables[:, one],
        tables[:, other],
        totals[:, one],
        totals[:, other],
    )
    sizes[0], sizes[1] = book[SIZE, one], book[SIZE, other]
    gain = log_part(offsets, weights, pair, pair_totals, beta, 0) + log_part(
        offsets, weights, pair, pair_totals, beta, 1
    )
    gain -= log_part(offsets, weights, pair, pair_totals, beta, 2)
    gain += prior_gain(book, n, alpha, sticks, here, there, sizes) + math.log(book.shape[1] - slots)
    height = math.log(1.0 - uniform(state))
    if height >= -gain:
        return
    chance = allot(labels, offsets, weights, z, first, second, beta, parts, pair, pair_totals, sizes, state)
    if height >= chance - gain:
        return
    write_part(tables, totals, pair, pair_totals, one, 2)
    book[SIZE, one], book[SIZE, other] = sizes[0] + sizes[1], 0
    close_slot(tables, totals, book, np.empty((0, tables.shape[1])), slots, other)
    for i in range(n):
        if z[i] == there:
            z[i] = here


@kernel
def split_and_merge(
    labels: Array,
    offsets: Array,
    weights: Array,
    z: Array,
    tables: Array,
    totals: Array,
    book: Array,
    alpha: float,
    beta: float,
    sticks: bool,
    pairs: int,
    seed: Any,
    sweep: int,
) -> None:
    """So many pairs of objects, each of which tries to split its cluster or to merge its two."""
    n, state = z.shape[0], np.uint64(stream_of(seed, sweep, 4))
    parts, pair, pair_totals = np.empty(n, np.int8), np.empty((tables.shape[0], 2)), np.empty((totals.shape[0], 2))
    if n < 2:
        return
    for _ in range(pairs):
        state += GOLDEN
        first = min(int(uniform(state) * n), n - 1)
        state += GOLDEN
        second = min(int(uniform(state) * (n - 1)), n - 2)
        second += second >= first
        state += GOLDEN
        seats, scratch = (z, tables, totals, book, alpha, beta, sticks), (parts, pair, pair_totals)
        if z[first] == z[second]:
            try_split(labels, offsets, weights, *seats, first, second, *scratch, state)
        else:
            try_merge(labels, offsets, weights, *seats, first, second, *scratch, state)
        state += GOLDEN
