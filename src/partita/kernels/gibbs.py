"""Bayesian cluster ensembles, sampled: one cluster z for every known label (a token), parameters integrated out.

Token (i, j) of object i in clustering j counts `weights[j]`. A table (t, k) counts the tokens of each label in each
cluster, column j's labels beginning at `offsets[j]`; totals (r, k) count those of each clustering. Counts are whole
numbers, before weights, so that no rounding adds up. Uniform numbers come from splitmix64: token (i, j) of sweep s
reads place (s n + i) r + j of the chain's stream, whatever rows a call covers.
"""

import math
from typing import Any

import numpy as np

from partita.kernels.canonical import mix
from partita.kernels.compiling import Array, kernel


@kernel
def stream(seed: Any, sweep: int, labels: Array, row: int) -> Any:
    """The state of the stream just before the first token of a row."""
    place = (np.uint64(sweep) * np.uint64(labels.shape[0]) + np.uint64(row)) * np.uint64(labels.shape[1])
    return np.uint64(seed) + place * np.uint64(0x9E3779B97F4A7C15)


@kernel
def uniform(state: Any) -> float:
    """A number in [0, 1) from a state of the stream."""
    return float(np.int64(np.uint64(mix(state)) >> np.uint64(11))) * 2.0**-53


@kernel
def soften(
    labels: Array, chosen: Array, share: float, k: int, z: Array, seed: Any, sweep: int, start: int, stop: int
) -> None:
    """Give every token its row's cluster with chance `share`, else one of the others, each with equal chance."""
    state = np.uint64(stream(seed, sweep, labels, start))
    for i in range(start, stop):
        for j in range(labels.shape[1]):
            state += np.uint64(0x9E3779B97F4A7C15)
            chance = uniform(state)
            z[i, j] = chosen[i]
            if k > 1 and chance >= share:
                other = min(int((chance - share) / (1.0 - share) * (k - 1)), k - 2)
                z[i, j] = other + (other >= chosen[i])


@kernel
def count_tokens(labels: Array, offsets: Array, z: Array, tables: Array, totals: Array, start: int, stop: int) -> None:
    """Count the tokens of each label, and of each clustering, in each cluster."""
    for i in range(start, stop):
        for j in range(labels.shape[1]):
            label = labels[i, j]
            if label >= 0:
                tables[offsets[j] + label, z[i, j]] += 1
                totals[j, z[i, j]] += 1


@kernel
def sweep_even(
    labels: Array,
    offsets: Array,
    z: Array,
    tables: Array,
    totals: Array,
    alpha: float,
    omega: float,
    seed: Any,
    sweep: int,
    start: int,
    stop: int,
) -> None:
    """Draw every token's cluster given all others, where each token counts 1.

    The chance of cluster h is proportional to (omega + n_hl) / (k_j omega + n_h) (alpha + n_ih), the token itself left
    out of the counts. The object's own counts are made row by row and never stored.
    """
    k = tables.shape[1]
    own, sums, inverse = np.empty(k), np.empty(k), np.empty(totals.shape)
    for j in range(totals.shape[0]):
        for h in range(k):
            inverse[j, h] = 1.0 / ((offsets[j + 1] - offsets[j]) * omega + totals[j, h])
    state = np.uint64(stream(seed, sweep, labels, start))
    for i in range(start, stop):
        for h in range(k):
            own[h] = alpha
        for j in range(labels.shape[1]):
            if labels[i, j] >= 0:
                own[z[i, j]] += 1.0
        for j in range(labels.shape[1]):
            state += np.uint64(0x9E3779B97F4A7C15)
            label = labels[i, j]
            if label < 0:
                continue
            place, old, prior = offsets[j] + label, z[i, j], (offsets[j + 1] - offsets[j]) * omega
            tables[place, old] -= 1
            totals[j, old] -= 1
            own[old] -= 1.0
            before = inverse[j, old]
            inverse[j, old] = 1.0 / (prior + totals[j, old])
            mass = 0.0
            for h in range(k):
                mass += (omega + tables[place, h]) * inverse[j, h] * own[h]
                sums[h] = mass
            target, new = mass * uniform(state), 0
            while new < k - 1 and sums[new] <= target:
                new += 1
            tables[place, new] += 1
            totals[j, new] += 1
            own[new] += 1.0
            if new == old:
                inverse[j, old] = before
            else:
                inverse[j, new] = 1.0 / (prior + totals[j, new])
                z[i, j] = new


@kernel
def rise(x: float, w: float) -> float:
    """Gamma(x + w) / Gamma(x): what a token of weight w adds to a Dirichlet-multinomial at count x; x when w is 1."""
    return math.exp(math.lgamma(x + w) - math.lgamma(x))


@kernel
def sweep_weighted(
    labels: Array,
    offsets: Array,
    weights: Array,
    z: Array,
    tables: Array,
    totals: Array,
    alpha: float,
    omega: float,
    seed: Any,
    sweep: int,
    start: int,
    stop: int,
) -> None:
    """Draw every token's cluster given all others, where a token of clustering j counts `weights[j]`.

    Each factor x of the even sweep becomes Gamma(x + w) / Gamma(x), so that the chances are those of the joint
    distribution of weighted counts. Factors of labels and clusterings are kept and renewed where counts change.
    """
    k = tables.shape[1]
    own, held, sums = np.empty(k), np.zeros(k, np.int64), np.empty(k)
    above, below, empty = np.empty(tables.shape), np.empty(totals.shape), np.empty(totals.shape[0])
    for j in range(totals.shape[0]):
        w, prior = weights[j], (offsets[j + 1] - offsets[j]) * omega
        empty[j] = rise(alpha, w)
        for h in range(k):
            below[j, h] = rise(prior + w * totals[j, h], w)
            for place in range(offsets[j], offsets[j + 1]):
                above[place, h] = rise(omega + w * tables[place, h], w)
    state = np.uint64(stream(seed, sweep, labels, start))
    for i in range(start, stop):
        own[:], held[:] = alpha, 0
        for j in range(labels.shape[1]):
            if labels[i, j] >= 0:
                own[z[i, j]] += weights[j]
                held[z[i, j]] += 1
        for j in range(labels.shape[1]):
            state += np.uint64(0x9E3779B97F4A7C15)
            label = labels[i, j]
            if label < 0:
                continue
            place, old, w, prior = offsets[j] + label, z[i, j], weights[j], (offsets[j + 1] - offsets[j]) * omega
            tables[place, old] -= 1
            totals[j, old] -= 1
            own[old] -= w
            held[old] -= 1
            above[place, old] = rise(omega + w * tables[place, old], w)
            below[j, old] = rise(prior + w * totals[j, old], w)
            mass = 0.0
            for h in range(k):
                mass += above[place, h] / below[j, h] * (rise(own[h], w) if held[h] else empty[j])
                sums[h] = mass
            target, new = mass * uniform(state), 0
            while new < k - 1 and sums[new] <= target:
                new += 1
            tables[place, new] += 1
            totals[j, new] += 1
            own[new] = (own[new] if held[new] else alpha) + w
            held[new] += 1
            above[place, new] = rise(omega + w * tables[place, new], w)
            below[j, new] = rise(prior + w * totals[j, new], w)
            z[i, j] = new


@kernel
def label_probs(
    offsets: Array, w: float, tables: Array, totals: Array, omega: float, j: int, slot: int, probs: Array
) -> None:
    """Write p(label | cluster, all other labels) of the labels of clustering j in one cluster, a label counting w."""
    prior = (offsets[j + 1] - offsets[j]) * omega
    if w == 1.0:
        below = 1.0 / (prior + totals[j, slot])
        for place in range(offsets[j], offsets[j + 1]):
            probs[place, slot] = (omega + tables[place, slot]) * below
        return
    base = math.lgamma(prior + w * (totals[j, slot] + 1)) - math.lgamma(prior + w * totals[j, slot])
    for place in range(offsets[j], offsets[j + 1]):
        x = omega + w * tables[place, slot]
        probs[place, slot] = math.exp(math.lgamma(x + w) - math.lgamma(x) - base)


@kernel
def draw_label(row: Array, first: int, last: int, probs: Array, slot: int, target: float) -> int:
    """The label at which the sum of membership times probability passes `target`, the last possible one at most."""
    chosen, mass = -1, 0.0
    for place in range(first, last):
        share = row[place] * probs[place, slot]
        if share > 0.0 and (chosen < 0 or mass <= target):
            chosen = place
        mass += share
    return chosen - first


@kernel
def sweep_memberships(
    matrix: Array,
    labels: Array,
    offsets: Array,
    weights: Array,
    z: Array,
    tables: Array,
    totals: Array,
    alpha: float,
    omega: float,
    seed: Any,
    sweep: int,
    start: int,
    stop: int,
) -> None:
    """Draw every token's cluster and label together, given all others and the memberships of its object.

    The probability of cluster h and label l is proportional to s_l (omega + n_hl) / (k_j omega + n_h) (alpha + n_ih)
    with s_l = matrix[i, l], the token itself left out of the counts; with weights, a factor x is Gamma(x + w) /
    Gamma(x). One uniform number draws both: first the cluster, labels summed out, then the label in it.
    """
    k = tables.shape[1]
    own, held, sums, probs = np.empty(k), np.zeros(k, np.int64), np.empty(k), np.empty(tables.shape)
    for j in range(totals.shape[0]):
        for h in range(k):
            label_probs(offsets, weights[j], tables, totals, omega, j, h, probs)
    state = np.uint64(stream(seed, sweep, labels, start))
    for i in range(start, stop):
        own[:], held[:] = alpha, 0
        for j in range(labels.shape[1]):
            if labels[i, j] >= 0:
                own[z[i, j]] += weights[j]
                held[z[i, j]] += 1
        for j in range(labels.shape[1]):
            state += np.uint64(0x9E3779B97F4A7C15)
            if labels[i, j] < 0:
                continue
            first, last, old, w = offsets[j], offsets[j + 1], z[i, j], weights[j]
            # take the token out
            tables[first + labels[i, j], old] -= 1
            totals[j, old] -= 1
            held[old] -= 1
            own[old] = own[old] - w if held[old] else alpha
            label_probs(offsets, w, tables, totals, omega, j, old, probs)
            # draw its cluster, then its label
            mass = 0.0
            for h in range(k):
                here = 0.0
                for place in range(first, last):
                    here += matrix[i, place] * probs[place, h]
                mass += here * (own[h] if w == 1.0 else rise(own[h], w))
                sums[h] = mass
            target, new = mass * uniform(state), 0
            while new < k - 1 and sums[new] <= target:
                new += 1
            rest = target - (sums[new - 1] if new > 0 else 0.0)
            rest /= own[new] if w == 1.0 else rise(own[new], w)
            label = draw_label(matrix[i], first, last, probs, new, rest)
            # put it back
            labels[i, j], z[i, j] = label, new
            tables[first + label, new] += 1
            totals[j, new] += 1
            own[new] += w
            held[new] += 1
            label_probs(offsets, w, tables, totals, omega, j, new, probs)


@kernel
def object_terms(
    labels: Array, weights: Array, z: Array, alpha: float, steps: Array, k: int, start: int, stop: int
) -> float:
    """The sum of log Gamma(alpha + n_ih) - log Gamma(alpha) over objects and clusters.

    Where each token counts 1, `steps[n]` holds the term of n tokens; else it is empty.
    """
    own, base, total = np.zeros(k), math.lgamma(alpha), 0.0
    for i in range(start, stop):
        for j in range(labels.shape[1]):
            if labels[i, j] >= 0:
                own[z[i, j]] += weights[j]
        for h in range(k):
            if own[h] > 0.0:
                total += steps[int(own[h])] if steps.shape[0] else math.lgamma(alpha + own[h]) - base
                own[h] = 0.0
    return total


@kernel
def add_agreement(labels: Array, weights: Array, z: Array, sums: Array, table: Array, start: int, stop: int) -> None:
    """Add to `table[h, g]` the objects' counts in cluster h of a draw times those in cluster g so far."""
    k = table.shape[0]
    own = np.zeros(k)
    for i in range(start, stop):
        for j in range(labels.shape[1]):
            if labels[i, j] >= 0:
                own[z[i, j]] += weights[j]
        for h in range(k):
            if own[h] > 0.0:
                for g in range(k):
                    table[h, g] += own[h] * sums[i, g]
                own[h] = 0.0


@kernel
def add_draw(labels: Array, weights: Array, z: Array, names: Array, sums: Array, start: int, stop: int) -> None:
    """Add the objects' counts in a draw to those so far, cluster h of the draw going by `names[h]`."""
    for i in range(start, stop):
        for j in range(labels.shape[1]):
            if labels[i, j] >= 0:
                sums[i, names[z[i, j]]] += weights[j]
