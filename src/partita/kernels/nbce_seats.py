"""Nonparametric Bayesian cluster ensembles, sampled: where clusters stand, and how they come and go.

The arrays are those of `kernels.nbce`; `facts` holds a sweep's factors, a column for each slot.
"""

import math
from typing import Any

import numpy as np

from partita.kernels.compiling import Array, kernel
from partita.kernels.gibbs import uniform
from partita.kernels.nbce import AT, GOLDEN, PLACE, SIZE, occupied, stream_of


@kernel
def seat(labels: Array, offsets: Array, z: Array, tables: Array, totals: Array, book: Array) -> None:
    """Fill the counts and the book from the clusters of all objects, slots in order of appearance."""
    tables[:], totals[:], book[SIZE], book[PLACE], book[AT] = 0, 0, 0, -1, -1
    slots = 0
    for i in range(z.shape[0]):
        slot = book[AT, z[i]]
        if slot < 0:
            slot, slots = slots, slots + 1
            book[AT, z[i]], book[PLACE, slot] = slot, z[i]
        book[SIZE, slot] += 1
        for j in range(labels.shape[1]):
            if labels[i, j] >= 0:
                tables[offsets[j] + labels[i, j], slot] += 1
                totals[j, slot] += 1


@kernel
def locate(labels: Array, offsets: Array, i: int, rows: Array) -> None:
    """The row of each of an object's labels in the tables, -1 where it is unknown."""
    for j in range(labels.shape[1]):
        rows[j] = offsets[j] + labels[i, j] if labels[i, j] >= 0 else -1


@kernel
def draw_place(
    book: Array, like: Array, sums: Array, slots: int, n: int, alpha: float, sticks: bool, own: int, state: Any
) -> int:
    """A position in proportion to prior times likelihood `like` of each slot; the object is left out of the book.

    Where no slot stands for empty clusters, all being taken, an object alone in its own leaves one empty.
    """
    clusters, chance = book.shape[1] - 1, uniform(state)
    if not sticks:
        share, mass, spare = alpha / clusters, 0.0, clusters - slots
        lone = book[SIZE, own] == 0  # all empty clusters are alike: it may keep its own
        for s in range(slots):
            mass += (book[SIZE, s] + share) * like[s] + (share * spare * like[s] if lone and s == own else 0.0)
            sums[s] = mass
        target = (mass + (0.0 if lone or spare == 0 else share * spare * like[slots])) * chance
        for s in range(slots):
            if target < sums[s] or (s == slots - 1 and (lone or spare == 0)):
                return int(book[PLACE, s])
        place = 0
        while book[AT, place] >= 0:
            place += 1
        return place
    mass, left, rest, end, fresh = 0.0, 1.0, n - 1, 0, like[slots if slots < clusters else own]
    while rest > 0:
        slot = book[AT, end]
        size = book[SIZE, slot] if slot >= 0 else 0
        whole = 1.0 / (1.0 + alpha + rest)
        mass += left * ((1.0 + size) * whole if end < clusters - 1 else 1.0) * (like[slot] if slot >= 0 else fresh)
        sums[end] = mass
        rest -= size
        left *= (alpha + rest) * whole
        end += 1
    target = (mass + (left * fresh if end < clusters else 0.0)) * chance
    for k in range(end):
        if target < sums[k] or k == clusters - 1:
            return k
    steps = math.log(1.0 - uniform(np.uint64(state) + GOLDEN)) / math.log(alpha / (1.0 + alpha))
    return int(min(end + math.floor(steps), clusters - 1.0))


@kernel
def open_slot(book: Array, facts: Array, slots: int, place: int) -> int:
    """Give a cluster the slot that stood for all empty ones, and that part to the next; the new number of slots.

    The last column of all is never a cluster's, so that its factors are those of an empty one.
    """
    book[PLACE, slots], book[AT, place] = place, slots
    for row in range(facts.shape[0]):
        facts[row, slots + 1] = facts[row, -1]
    return slots + 1


@kernel
def close_slot(tables: Array, totals: Array, book: Array, facts: Array, slots: int, slot: int) -> int:
    """An empty slot goes: the last one takes its place and stands for empty clusters; the new number of slots."""
    last = slots - 1
    book[AT, book[PLACE, slot]] = -1
    if slot != last:
        book[SIZE, slot], book[PLACE, slot] = book[SIZE, last], book[PLACE, last]
        book[AT, book[PLACE, slot]] = slot
        for row in range(tables.shape[0]):
            tables[row, slot] = tables[row, last]
        for row in range(totals.shape[0]):
            totals[row, slot] = totals[row, last]
        for row in range(facts.shape[0]):
            facts[row, slot] = facts[row, last]
    tables[:, last], totals[:, last] = 0, 0
    book[SIZE, last], book[PLACE, last] = 0, -1
    for row in range(facts.shape[0]):
        facts[row, last] = facts[row, -1]
    return last


@kernel
def slot_at(book: Array, place: int, own: int, slots: int) -> int:
    """The slot at a position, or the number of slots where one has to be opened.

    An object that was alone takes its cluster along to an empty position.
    """
    if book[AT, place] >= 0:
        return int(book[AT, place])
    if book[SIZE, own] > 0:
        return slots
    book[AT, book[PLACE, own]], book[AT, place], book[PLACE, own] = -1, own, place
    return own


@kernel
def swap_positions(book: Array, z: Array, alpha: float, seed: Any, sweep: int) -> None:
    """Metropolis moves that swap the clusters of two positions, which the likelihood does not feel.

    Every two neighbours in turn, then every cluster with any other position: stick-breaking favours large clusters
    first, and objects alone would carry a cluster there one by one.
    """
    clusters, n, slots = book.shape[1] - 1, z.shape[0], occupied(book)
    before, beyond, names = book[PLACE].copy(), np.empty(clusters), np.empty(clusters, np.int64)
    rest = n
    for k in range(clusters):
        rest -= book[SIZE, book[AT, k]] if book[AT, k] >= 0 else 0
        beyond[k] = rest
    state = np.uint64(stream_of(seed, sweep, 1))
    for k in range(clusters - 1):
        state += GOLDEN
        swap_two(book, beyond, k, k + 1, alpha, uniform(state))
    for slot in range(slots):
        state += GOLDEN
        other = min(int(uniform(state) * (clusters - 1)), clusters - 2)
        other += other >= book[PLACE, slot]
        state += GOLDEN
        swap_two(book, beyond, min(other, book[PLACE, slot]), max(other, book[PLACE, slot]), alpha, uniform(state))
    for slot in range(slots):
        names[before[slot]] = book[PLACE, slot]
    for i in range(n):
        z[i] = names[z[i]]


@kernel
def swap_two(book: Array, beyond: Array, first: int, second: int, alpha: float, chance: float) -> None:
    """Swap what stands at two positions, first < second, with the chance min(1, ratio of p(Z)).

    `beyond[k]` counts the objects behind position k; it is kept up to date.
    """
    one, two, last = book[AT, first], book[AT, second], book.shape[1] - 2
    a, b = book[SIZE, one] if one >= 0 else 0, book[SIZE, two] if two >= 0 else 0
    if one < 0 and two < 0:
        return
    ratio = 0.0
    for k in range(first, min(second, last - 1)):
        ratio += math.log((alpha + beyond[k]) / (alpha + beyond[k] + a - b))
    if second == last:
        ratio += math.lgamma(1.0 + b) + math.lgamma(alpha + a) - math.lgamma(1.0 + a) - math.lgamma(alpha + b)
    if math.log(1.0 - chance) > ratio:
        return
    book[AT, first], book[AT, second] = two, one
    if one >= 0:
        book[PLACE, one] = second
    if two >= 0:
        book[PLACE, two] = first
    for k in range(first, second):
        beyond[k] += a - b
