"""Collapsed variational Bayes for nonparametric cluster ensembles: moments of counts, and sweeps that move them on.

Every row i is in column c with chance gamma[i, c], rows independent. A count is then a sum of independent yes-or-no
variables; of each the moments hold the sum of the chances (0) and of their squares (1), so that its mean is the first,
its variance the first less the second. A column stands for `copies` components that are alike and share its chances
evenly. Tables of moments are (2, t, m) for labels, (2, r, m) for known labels of a clustering, (2, m) for objects, and
(2, m) for objects in a column or beyond it.
"""

import math

import numpy as np

from partita.kernels.compiling import Array, kernel
from partita.kernels.gammas import trigamma

BATCH = 16
"""Factors that are multiplied before a logarithm is taken."""


@kernel
def add_sizes(count: float, gamma: Array, sizes: Array, tails: Array) -> None:
    """Add a row to the moments of the objects in a column, and in a column or beyond it."""
    beyond = 0.0
    for c in range(gamma.shape[0] - 1, -1, -1):
        chance = gamma[c]
        beyond += chance
        sizes[0, c] += count * chance
        sizes[1, c] += count * chance * chance
        tails[0, c] += count * beyond
        tails[1, c] += count * beyond * beyond


@kernel
def add_moments(
    labels: Array,
    offsets: Array,
    counts: Array,
    gamma: Array,
    tables: Array,
    totals: Array,
    sizes: Array,
    tails: Array,
    start: int,
    stop: int,
) -> None:
    """Add the rows from start to stop to all moments."""
    for i in range(start, stop):
        add_sizes(counts[i], gamma[i], sizes, tails)
        for j in range(labels.shape[1]):
            label = labels[i, j]
            if label >= 0:
                place = offsets[j] + label
                for c in range(gamma.shape[1]):
                    once = counts[i] * gamma[i, c]
                    tables[0, place, c] += once
                    tables[1, place, c] += once * gamma[i, c]
                    totals[0, j, c] += once
                    totals[1, j, c] += once * gamma[i, c]


@kernel
def add_absences(
    labels: Array,
    offsets: Array,
    counts: Array,
    gamma: Array,
    copies: Array,
    tables: Array,
    totals: Array,
    sizes: Array,
    tails: Array,
) -> None:
    """Add the logarithms of the chances that none of the rows counts, in one component of each column."""
    for i in range(gamma.shape[0]):
        beyond = 0.0
        for c in range(gamma.shape[1] - 1, -1, -1):
            beyond += gamma[i, c]
            tails[c] += counts[i] * np.log1p(-min(beyond, 1.0))
            absent = counts[i] * np.log1p(-min(gamma[i, c] / copies[c], 1.0))
            sizes[c] += absent
            for j in range(labels.shape[1]):
                if labels[i, j] >= 0:
                    tables[offsets[j] + labels[i, j], c] += absent
                    totals[j, c] += absent


@kernel
def mean_log(x: float, variance: float, second: float) -> float:
    """E log of a variable of that mean: to first order, and with `second` = 1 to second order."""
    return math.log(x) - second * 0.5 * variance / (x * x)


@kernel
def mean_rise(x: float, w: float, variance: float, second: float) -> float:
    """E [ln Gamma(X + w) - ln Gamma(X)] of a variable X = prior + w N of mean x, where N has that variance."""
    bend = trigamma(x + w) - trigamma(x)
    return math.lgamma(x + w) - math.lgamma(x) + second * 0.5 * w * w * variance * bend


@kernel
def even_scores(sizes: Array, own: Array, less: float, copies: Array, alpha: float, second: float, out: Array) -> None:
    """E log(alpha + N_c), alpha for one component, without `less` of the row itself, for all copies together."""
    for c in range(own.shape[0]):
        share = own[c] / copies[c]
        mean = max(sizes[0, c] / copies[c] - less * share, 0.0)
        square = sizes[1, c] / (copies[c] * copies[c]) - less * share * share
        out[c] = math.log(copies[c]) + mean_log(alpha + mean, max(mean - square, 0.0), second)


@kernel
def stick_scores(
    sizes: Array, tails: Array, own: Array, less: float, truncation: int, alpha: float, second: float, out: Array
) -> None:
    """E log of the share of each component, sticks broken in turn, without `less` of the row itself.

    Component c < K takes (1 + N_c) / (1 + alpha + N_>=c) of what those before it leave; each of those leaves
    (alpha + N_>h) / (1 + alpha + N_>=h). The last of all K takes what is left.
    """
    m = own.shape[0]
    beyond, left = 0.0, 0.0
    for c in range(m):
        beyond += own[c]
    for c in range(m):
        whole = max(tails[0, c] - less * beyond, 0.0)
        spread = max(whole - tails[1, c] + less * beyond * beyond, 0.0)
        after = beyond - own[c]
        rest, rest_spread = 0.0, 0.0
        if c + 1 < m:
            rest = max(tails[0, c + 1] - less * after, 0.0)
            rest_spread = max(rest - tails[1, c + 1] + less * after * after, 0.0)
        mean = max(sizes[0, c] - less * own[c], 0.0)
        variance = max(mean - sizes[1, c] + less * own[c] * own[c], 0.0)
        out[c] = left
        if c < truncation - 1:
            stick = mean_log(1.0 + alpha + whole, spread, second)
            out[c] += mean_log(1.0 + mean, variance, second) - stick
            left += mean_log(alpha + rest, rest_spread, second) - stick
        beyond = after


@kernel
def label_scores(
    row: Array,
    offsets: Array,
    weights: Array,
    own: Array,
    less: float,
    copies: Array,
    tables: Array,
    totals: Array,
    beta: float,
    second: float,
    product: Array,
    out: Array,
) -> None:
    """Add E log of the chance of the row's known labels in each column, without `less` of the row itself.

    Where labels count 1, factors are multiplied in `product`, and the logarithm of many of them is taken at once.
    """
    factors = 0
    product[:] = 1.0
    for j in range(row.shape[0]):
        if row[j] < 0:
            continue
        place, w, prior = offsets[j] + row[j], weights[j], (offsets[j + 1] - offsets[j]) * beta
        factors += 1
        for c in range(own.shape[0]):
            each = 1.0 / copies[c]
            share = own[c] * each
            mean = max(tables[0, place, c] * each - less * share, 0.0)
            variance = max(mean - tables[1, place, c] * each * each + less * share * share, 0.0)
            known = max(totals[0, j, c] * each - less * share, 0.0)
            spread = max(known - totals[1, j, c] * each * each + less * share * share, 0.0)
            if w == 1.0:
                above, below = 1.0 / (beta + mean), 1.0 / (prior + known)
                product[c] *= (beta + mean) * below
                out[c] -= second * 0.5 * (variance * above * above - spread * below * below)
            else:
                out[c] += mean_rise(beta + w * mean, w, variance, second)
                out[c] -= mean_rise(prior + w * known, w, spread, second)
        if factors % BATCH == 0:
            for c in range(own.shape[0]):
                out[c] += math.log(product[c])
                product[c] = 1.0
    for c in range(own.shape[0]):
        out[c] += math.log(product[c])


@kernel
def move_sizes(count: float, old: Array, new: Array, sizes: Array, tails: Array) -> float:
    """Change the moments of objects as a row's chances change from old to new; returns how far they move."""
    moved, before, after = 0.0, 0.0, 0.0
    for c in range(old.shape[0] - 1, -1, -1):
        moved += abs(new[c] - old[c])
        sizes[0, c] += count * (new[c] - old[c])
        sizes[1, c] += count * (new[c] * new[c] - old[c] * old[c])
        before += old[c]
        after += new[c]
        tails[0, c] += count * (after - before)
        tails[1, c] += count * (after * after - before * before)
    return count * moved


@kernel
def move_labels(row: Array, offsets: Array, count: float, old: Array, new: Array, tables: Array, totals: Array) -> None:
    """Change the moments of labels as the row's chances change from old to new."""
    for j in range(row.shape[0]):
        if row[j] >= 0:
            place = offsets[j] + row[j]
            for c in range(old.shape[0]):
                step, square = count * (new[c] - old[c]), count * (new[c] * new[c] - old[c] * old[c])
                tables[0, place, c] += step
                tables[1, place, c] += square
                totals[0, j, c] += step
                totals[1, j, c] += square


@kernel
def normalize(scores: Array, copies: Array) -> float:
    """Turn log-probabilities of columns, up to a constant, into probabilities; returns minus their entropy."""
    top, mass, lost = scores.max(), 0.0, 0.0
    for c in range(scores.shape[0]):
        scores[c] = math.exp(scores[c] - top)
        mass += scores[c]
    for c in range(scores.shape[0]):
        scores[c] /= mass
        if scores[c] > 0.0:
            lost += scores[c] * math.log(scores[c] / copies[c])
    return lost


@kernel
def sweep_rows(
    labels: Array,
    offsets: Array,
    weights: Array,
    counts: Array,
    gamma: Array,
    copies: Array,
    tables: Array,
    totals: Array,
    sizes: Array,
    tails: Array,
    truncation: int,
    sticks: bool,
    alpha: float,
    beta: float,
    second: float,
) -> tuple[float, float]:
    """Renew the chances of one row after the other, one of its objects left out of the moments.

    `alpha` is that of one component where shares are even. Returns how far the chances move, and their entropy.
    """
    scores, product = np.empty(gamma.shape[1]), np.empty(gamma.shape[1])
    moved, entropy = 0.0, 0.0
    for i in range(labels.shape[0]):
        own, less = gamma[i], min(counts[i], 1.0)
        if sticks:
            stick_scores(sizes, tails, own, less, truncation, alpha, second, scores)
        else:
            even_scores(sizes, own, less, copies, alpha, second, scores)
        label_scores(labels[i], offsets, weights, own, less, copies, tables, totals, beta, second, product, scores)
        entropy -= counts[i] * normalize(scores, copies)
        moved += move_sizes(counts[i], own, scores, sizes, tails)
        move_labels(labels[i], offsets, counts[i], own, scores, tables, totals)
        gamma[i] = scores
    return moved, entropy
