"""Nonparametric Bayesian cluster ensembles, sampled: one cluster for every object, all else integrated out.

The arrays are those of `kernels.nbce`; slot m stands for every empty cluster at once. A sweep keeps its factors in one
array `facts` with a column for each slot, so that a slot comes, goes and moves as one column. Random numbers come from
splitmix64: object i of sweep s reads places 2 (s n + i) + 1 and the next of the chain's stream, whatever rows a call
covers.
"""

import math
from typing import Any

import numpy as np

from partita.kernels.compiling import Array, kernel
from partita.kernels.nbce import AT, GOLDEN, SIZE, log_rise, occupied
from partita.kernels.nbce_seats import close_slot, draw_place, locate, open_slot, slot_at

FLOOR, LIFT, BITS = 2.0**-400, 2.0**400, 400
"""Below the floor a product is lifted, and the lifts counted; it is looked at before it can fall by so many bits."""


@kernel
def fill_even(offsets: Array, tables: Array, totals: Array, beta: float, slot: int, facts: Array) -> None:
    """The factors of one slot where every label counts 1.

    A row for each label: beta + N; one for each clustering: 1 / (k_j beta + N_j); one for every whole four of them:
    the product of theirs.
    """
    labels, columns = tables.shape[0], totals.shape[0]
    for row in range(labels):
        facts[row, slot] = beta + tables[row, slot]
    for j in range(columns):
        facts[labels + j, slot] = 1.0 / ((offsets[j + 1] - offsets[j]) * beta + totals[j, slot])
    for four in range(columns // 4):
        renew_four(facts, labels, columns, four, slot)


@kernel
def renew_four(facts: Array, labels: int, columns: int, four: int, slot: int) -> None:
    """The product of four clusterings' denominators, inverted."""
    j = labels + 4 * four
    facts[labels + columns + four, slot] = (facts[j, slot] * facts[j + 1, slot]) * (
        facts[j + 2, slot] * facts[j + 3, slot]
    )


@kernel
def shift_even(
    rows: Array, offsets: Array, tables: Array, totals: Array, beta: float, slot: int, by: int, facts: Array
) -> None:
    """Add an object to a slot (by = 1) or take it out (by = -1), and renew the factors that change."""
    labels, columns = tables.shape[0], totals.shape[0]
    for j in range(columns):
        row = rows[j]
        if row >= 0:
            tables[row, slot] += by
            totals[j, slot] += by
            facts[row, slot] = beta + tables[row, slot]
            facts[labels + j, slot] = 1.0 / ((offsets[j + 1] - offsets[j]) * beta + totals[j, slot])
    for four in range(columns // 4):
        renew_four(facts, labels, columns, four, slot)


@kernel
def safe_columns(offsets: Array, n: int, beta: float) -> int:
    """How many factors, a multiple of four, cannot lower a product by more than `BITS` bits."""
    most = 0
    for j in range(offsets.shape[0] - 1):
        most = max(most, offsets[j + 1] - offsets[j])
    return 4 * max(1, int(BITS / (4.0 * math.log2((most * beta + n) / beta) + 1.0)))


@kernel
def multiply(rows: Array, facts: Array, labels: int, slots: int, safe: int, like: Array, lifts: Array) -> None:
    """The likelihood of an object's labels in every slot, as products of four factors at a time."""
    columns = rows.shape[0]
    for s in range(slots):
        like[s] = 1.0
        lifts[s] = 0
    for j in range(0, columns, 4):
        if j + 4 <= columns and min(min(rows[j], rows[j + 1]), min(rows[j + 2], rows[j + 3])) >= 0:
            a, b, c, d = rows[j], rows[j + 1], rows[j + 2], rows[j + 3]
            four = labels + columns + j // 4
            for s in range(slots):
                like[s] *= (facts[a, s] * facts[b, s]) * (facts[c, s] * facts[d, s]) * facts[four, s]
        else:
            for h in range(j, min(j + 4, columns)):
                if rows[h] >= 0:
                    for s in range(slots):
                        like[s] *= facts[rows[h], s] * facts[labels + h, s]
        if (j + 4) % safe == 0:
            for s in range(slots):
                if like[s] < FLOOR:
                    like[s] *= LIFT
                    lifts[s] += 1


@kernel
def multiply_own(
    rows: Array, offsets: Array, tables: Array, totals: Array, beta: float, own: int, safe: int, lifts: Array
) -> float:
    """The likelihood in the object's own slot, the object left out."""
    value, columns = 1.0, rows.shape[0]
    lifts[own] = 0
    for j in range(0, columns, 4):
        above, below = 1.0, 1.0
        for h in range(j, min(j + 4, columns)):
            if rows[h] >= 0:
                above *= beta + (tables[rows[h], own] - 1)
                below *= (offsets[h + 1] - offsets[h]) * beta + (totals[h, own] - 1)
        value *= above / below
        if (j + 4) % safe == 0 and value < FLOOR:
            value *= LIFT
            lifts[own] += 1
    return value


@kernel
def level(like: Array, lifts: Array, slots: int) -> None:
    """Bring products that were lifted a different number of times to one scale; what was lifted far more is 0."""
    least = lifts[0]
    for s in range(1, slots):
        least = min(least, lifts[s])
    for s in range(slots):
        if lifts[s] > least:
            like[s] = like[s] * FLOOR if lifts[s] == least + 1 else 0.0


@kernel
def sweep_even(
    labels: Array,
    offsets: Array,
    z: Array,
    tables: Array,
    totals: Array,
    book: Array,
    alpha: float,
    beta: float,
    sticks: bool,
    seed: Any,
    sweep: int,
    start: int,
    stop: int,
) -> None:
    """Draw every object's cluster given all others, where each label counts 1.

    The chance of a cluster is its prior times the product of (beta + N_kjl) / (k_j beta + N_kj) over the object's known
    labels l, the object left out of the counts. Only clusters that hold objects are looked at, and an object that stays
    changes nothing.
    """
    n, columns, width = z.shape[0], labels.shape[1], tables.shape[1]
    facts = np.empty((tables.shape[0] + columns + columns // 4, width))
    like, sums, lifts, rows = np.empty(width), np.empty(width), np.zeros(width, np.int64), np.empty(columns, np.int64)
    slots, safe = occupied(book), safe_columns(offsets, n, beta)
    for slot in range(slots + 1):
        fill_even(offsets, tables, totals, beta, slot, facts)
    fill_even(offsets, tables, totals, beta, width - 1, facts)
    state = np.uint64(seed) + np.uint64(2) * (np.uint64(sweep) * np.uint64(n) + np.uint64(start)) * GOLDEN
    for i in range(start, stop):
        state += GOLDEN
        locate(labels, offsets, i, rows)
        own = book[AT, z[i]]
        choices = min(slots + 1, width - 1)
        multiply(rows, facts, tables.shape[0], choices, safe, like, lifts)
        like[own] = multiply_own(rows, offsets, tables, totals, beta, own, safe, lifts)
        if columns >= safe:
            level(like, lifts, choices)
        book[SIZE, own] -= 1
        place = draw_place(book, like, sums, slots, n, alpha, sticks, own, state)
        state += GOLDEN
        new = slot_at(book, place, own, slots)
        if new == slots:
            slots = open_slot(book, facts, slots, place)
        book[SIZE, new] += 1
        z[i] = place
        if new != own:
            shift_even(rows, offsets, tables, totals, beta, new, 1, facts)
            shift_even(rows, offsets, tables, totals, beta, own, -1, facts)
            if book[SIZE, own] == 0:
                slots = close_slot(tables, totals, book, facts, slots, own)


@kernel
def renew_weighted(prior: float, w: float, count: int, facts: Array, row: int, less: int, slot: int) -> None:
    """The logarithm of a factor at so many objects, and at one less."""
    facts[row, slot] = log_rise(prior + w * count, w)
    facts[less, slot] = log_rise(prior + w * (count - 1), w) if count > 0 else 0.0


@kernel
def fill_weighted(
    offsets: Array, weights: Array, tables: Array, totals: Array, beta: float, slot: int, facts: Array
) -> None:
    """The logarithms of the factors of one slot where a label of clustering j counts `weights[j]`.

    A row for each label, then one for each with an object less; the same for the denominators of each clustering.
    """
    labels, columns = tables.shape[0], totals.shape[0]
    for j in range(columns):
        w, below = weights[j], 2 * labels + j
        renew_weighted((offsets[j + 1] - offsets[j]) * beta, w, totals[j, slot], facts, below, below + columns, slot)
        for row in range(offsets[j], offsets[j + 1]):
            renew_weighted(beta, w, tables[row, slot], facts, row, labels + row, slot)


@kernel
def shift_weighted(
    rows: Array,
    offsets: Array,
    weights: Array,
    tables: Array,
    totals: Array,
    beta: float,
    slot: int,
    by: int,
    facts: Array,
) -> None:
    """Add an object to a slot (by = 1) or take it out (by = -1), and renew the factors that change."""
    labels, columns = tables.shape[0], totals.shape[0]
    for j in range(columns):
        row, w, below = rows[j], weights[j], 2 * labels + j
        if row >= 0:
            tables[row, slot] += by
            totals[j, slot] += by
            renew_weighted(beta, w, tables[row, slot], facts, row, labels + row, slot)
            prior = (offsets[j + 1] - offsets[j]) * beta
            renew_weighted(prior, w, totals[j, slot], facts, below, below + columns, slot)


@kernel
def add_up(rows: Array, facts: Array, labels: int, slots: int, own: int, like: Array) -> None:
    """The likelihood of an object's labels in every slot, the object left out of its own, relative to the largest."""
    columns = rows.shape[0]
    for s in range(slots):
        like[s] = 0.0
    mine = 0.0
    for j in range(columns):
        if rows[j] >= 0:
            mine += facts[labels + rows[j], own] - facts[2 * labels + columns + j, own]
            for s in range(slots):
                like[s] += facts[rows[j], s] - facts[2 * labels + j, s]
    like[own] = mine
    top = like[0]
    for s in range(1, slots):
        top = max(top, like[s])
    for s in range(slots):
        like[s] = math.exp(like[s] - top)


@kernel
def sweep_weighted(
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
    seed: Any,
    sweep: int,
    start: int,
    stop: int,
) -> None:
    """Draw every object's cluster given all others, where a label of clustering j counts `weights[j]`.

    Each factor x of the even sweep becomes Gamma(x + w) / Gamma(x), so that the chances are those of the joint
    distribution of weighted counts. Weights may be large, so that logarithms are added.
    """
    n, columns, width = z.shape[0], labels.shape[1], tables.shape[1]
    facts = np.empty((2 * (tables.shape[0] + columns), width))
    like, sums, rows, slots = np.empty(width), np.empty(width), np.empty(columns, np.int64), occupied(book)
    for slot in range(slots + 1):
        fill_weighted(offsets, weights, tables, totals, beta, slot, facts)
    fill_weighted(offsets, weights, tables, totals, beta, width - 1, facts)
    state = np.uint64(seed) + np.uint64(2) * (np.uint64(sweep) * np.uint64(n) + np.uint64(start)) * GOLDEN
    for i in range(start, stop):
        state += GOLDEN
        locate(labels, offsets, i, rows)
        own = book[AT, z[i]]
        add_up(rows, facts, tables.shape[0], min(slots + 1, width - 1), own, like)
        book[SIZE, own] -= 1
        place = draw_place(book, like, sums, slots, n, alpha, sticks, own, state)
        state += GOLDEN
        new = slot_at(book, place, own, slots)
        if new == slots:
            slots = open_slot(book, facts, slots, place)
        book[SIZE, new] += 1
        z[i] = place
        if new != own:
            shift_weighted(rows, offsets, weights, tables, totals, beta, new, 1, facts)
            shift_weighted(rows, offsets, weights, tables, totals, beta, own, -1, facts)
            if book[SIZE, own] == 0:
                slots = close_slot(tables, totals, book, facts, slots, own)
