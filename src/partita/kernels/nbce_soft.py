"""Nonparametric Bayesian cluster ensembles of memberships, sampled: an object's cluster and its labels together.

The arrays are those of `kernels.nbce`, with counts of the labels `labels` that are drawn now; `facts` (t, K + 1) has
p(label | slot) of each label in each slot, the last column of all in an empty one. Random numbers for clusters are
those of `kernels.nbce_gibbs`; label (i, j) of sweep s reads place i r + j of a stream of its own.
"""

import math
from typing import Any

import numpy as np

from partita.kernels.compiling import Array, kernel
from partita.kernels.gibbs import draw_label, label_probs, uniform
from partita.kernels.nbce import AT, GOLDEN, SIZE, occupied, stream_of
from partita.kernels.nbce_seats import close_slot, draw_place, open_slot, slot_at


@kernel
def shift_labels(
    row: Array,
    offsets: Array,
    weights: Array,
    tables: Array,
    totals: Array,
    beta: float,
    slot: int,
    by: int,
    facts: Array,
) -> None:
    """Add an object's labels to a slot (by = 1) or take them out (by = -1), and renew the slot's probabilities."""
    for j in range(row.shape[0]):
        if row[j] >= 0:
            tables[offsets[j] + row[j], slot] += by
            totals[j, slot] += by
            label_probs(offsets, weights[j], tables, totals, beta, j, slot, facts)


@kernel
def membership_likelihood(matrix: Array, row: Array, offsets: Array, facts: Array, slots: int, like: Array) -> None:
    """Write prod_j sum_l s_l p(l | slot) of an object's known clusterings to `like`, relative to the largest."""
    like[:slots] = 0.0
    for j in range(row.shape[0]):
        if row[j] >= 0:
            for s in range(slots):
                mass = 0.0
                for place in range(offsets[j], offsets[j + 1]):
                    mass += matrix[place] * facts[place, s]
                like[s] += math.log(mass)
    top = like[:slots].max()
    for s in range(slots):
        like[s] = math.exp(like[s] - top)


@kernel
def sweep_memberships(
    matrix: Array,
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
    """Draw every object's cluster, its labels summed out, then its labels in that cluster, given all other objects.

    The probability of cluster c is its prior times prod_j sum_l s_l p_cj(l), with p_cj(l) = (beta + N_cjl) / (k_j beta
    + N_cj), the object left out of the counts; that of label l is then proportional to s_l p_cj(l). With weights, a
    factor x is Gamma(x + w) / Gamma(x).
    """
    n, columns, width = z.shape[0], labels.shape[1], tables.shape[1]
    facts, like, sums, slots = np.empty(tables.shape), np.empty(width), np.empty(width), occupied(book)
    for slot in range(width):
        if slot <= slots or slot == width - 1:
            for j in range(columns):
                label_probs(offsets, weights[j], tables, totals, beta, j, slot, facts)
    state = np.uint64(seed) + np.uint64(2) * (np.uint64(sweep) * np.uint64(n) + np.uint64(start)) * GOLDEN
    own_stream = np.uint64(stream_of(seed, sweep, 5)) + np.uint64(start) * np.uint64(columns) * GOLDEN
    for i in range(start, stop):
        state += GOLDEN
        own = book[AT, z[i]]
        # take the object out of its slot
        shift_labels(labels[i], offsets, weights, tables, totals, beta, own, -1, facts)
        book[SIZE, own] -= 1
        # draw its cluster
        membership_likelihood(matrix[i], labels[i], offsets, facts, min(slots + 1, width - 1), like)
        place = draw_place(book, like, sums, slots, n, alpha, sticks, own, state)
        state += GOLDEN
        new = slot_at(book, place, own, slots)
        if new == slots:
            slots = open_slot(book, facts, slots, place)
        book[SIZE, new] += 1
        z[i] = place
        # draw its labels, and put it in its slot
        for j in range(columns):
            own_stream += GOLDEN
            if labels[i, j] >= 0:
                mass = 0.0
                for row in range(offsets[j], offsets[j + 1]):
                    mass += matrix[i, row] * facts[row, new]
                target = mass * uniform(own_stream)
                labels[i, j] = draw_label(matrix[i], offsets[j], offsets[j + 1], facts, new, target)
        shift_labels(labels[i], offsets, weights, tables, totals, beta, new, 1, facts)
        if new != own and book[SIZE, own] == 0:
            slots = close_slot(tables, totals, book, facts, slots, own)
