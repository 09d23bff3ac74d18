"""Collapsed variational Bayes for nonparametric cluster ensembles of memberships: moments of counts, and sweeps.

Row i has the membership s = matrix[i, l] in label l of a clustering, and adds s to the count of l in its component. A
count is a sum of independent variables s * z, z = 1 with probability gamma[i, c], so that for one component the mean
is sum gamma s and the variance sum (gamma - gamma^2) s^2. `tables` (3, t, m) holds the sums over rows of gamma s (0),
gamma^2 s^2 (1) and gamma s^2 (2). Memberships of a known clustering sum to 1, so that the counts of known labels and
of objects, and all other arrays, are those of `kernels.nbce_cvb`.
"""

import math

import numpy as np

from partita.kernels.compiling import Array, kernel
from partita.kernels.gammas import trigamma
from partita.kernels.nbce_cvb import add_sizes, even_scores, mean_log, mean_rise, move_sizes, normalize, stick_scores


@kernel
def any_share(row: Array, first: int, last: int) -> bool:
    """True if a clustering is known in a row."""
    total = 0.0
    for place in range(first, last):
        total += row[place]
    return total > 0.0


@kernel
def add_soft_moments(
    matrix: Array,
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
    none = np.zeros(gamma.shape[1])
    for i in range(start, stop):
        add_sizes(counts[i], gamma[i], sizes, tails)
        move_shares(matrix[i], offsets, counts[i], none, gamma[i], tables, totals)


@kernel
def add_soft_absences(
    matrix: Array,
    offsets: Array,
    counts: Array,
    gamma: Array,
    copies: Array,
    tables: Array,
    totals: Array,
    sizes: Array,
    tails: Array,
) -> None:
    """Add the logarithms of the probabilities that no row counts, in one component of each column."""
    for i in range(gamma.shape[0]):
        beyond = 0.0
        for c in range(gamma.shape[1] - 1, -1, -1):
            beyond += gamma[i, c]
            tails[c] += counts[i] * np.log1p(-min(beyond, 1.0))
            absent = counts[i] * np.log1p(-min(gamma[i, c] / copies[c], 1.0))
            sizes[c] += absent
            for j in range(totals.shape[0]):
                if any_share(matrix[i], offsets[j], offsets[j + 1]):
                    totals[j, c] += absent
            for place in range(tables.shape[0]):
                if matrix[i, place] > 0.0:
                    tables[place, c] += absent


@kernel
def mean_gain(x: float, step: float, variance: float, second: float) -> float:
    """E [ln Gamma(X + step) - ln Gamma(X)] of a variable X with that mean and variance."""
    if step == 1.0:
        return mean_log(x, variance, second)
    bend = second * 0.5 * variance * (trigamma(x + step) - trigamma(x)) if second > 0.0 else 0.0
    return math.lgamma(x + step) - math.lgamma(x) + bend


@kernel
def share_scores(
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
    out: Array,
) -> None:
    """Add to `out` the expected log-probability of the row's memberships in each column, without `less` of the row.

    Label l of clustering j adds E [ln Gamma(X + w s) - ln Gamma(X)] of X = beta + w N_l; the clustering takes away
    the same of k_j beta + w N, where N counts the known labels, and s = 1.
    """
    for j in range(totals.shape[1]):
        w, prior = weights[j], (offsets[j + 1] - offsets[j]) * beta
        if not any_share(row, offsets[j], offsets[j + 1]):
            continue
        for c in range(own.shape[0]):
            # denominator: moments of the number of known labels in one component of the column, without the row
            each = 1.0 / copies[c]
            share = own[c] * each
            known = max(totals[0, j, c] * each - less * share, 0.0)
            spread = max(known - totals[1, j, c] * each * each + less * share * share, 0.0)
            out[c] -= (
                mean_log(prior + known, spread, second) if w == 1.0 else mean_rise(prior + w * known, w, spread, second)
            )
        for place in range(offsets[j], offsets[j + 1]):
            s = row[place]
            if s > 0.0:
                for c in range(own.shape[0]):
                    each = 1.0 / copies[c]
                    # numerator: moments of the count of label l, in which the row has s z with P(z = 1) = share
                    share = own[c] * each
                    mean = max(tables[0, place, c] * each - less * s * share, 0.0)
                    variance = tables[2, place, c] * each - tables[1, place, c] * each * each
                    variance = max(variance - less * s * s * (share - share * share), 0.0)
                    out[c] += mean_gain(beta + w * mean, w * s, w * w * variance, second)


@kernel
def move_shares(row: Array, offsets: Array, count: float, old: Array, new: Array, tables: Array, totals: Array) -> None:
    """Change the moments of labels as the row's chances change from old to new."""
    for j in range(totals.shape[1]):
        if any_share(row, offsets[j], offsets[j + 1]):
            # number of known labels: a known clustering counts 1, whatever its memberships
            for c in range(old.shape[0]):
                totals[0, j, c] += count * (new[c] - old[c])
                totals[1, j, c] += count * (new[c] * new[c] - old[c] * old[c])
            for place in range(offsets[j], offsets[j + 1]):
                # counts of labels: sums of gamma s, gamma^2 s^2 and gamma s^2
                s = row[place]
                if s > 0.0:
                    for c in range(old.shape[0]):
                        tables[0, place, c] += count * s * (new[c] - old[c])
                        tables[1, place, c] += count * s * s * (new[c] * new[c] - old[c] * old[c])
                        tables[2, place, c] += count * s * s * (new[c] - old[c])


@kernel
def sweep_memberships(
    matrix: Array,
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
    """Renew the chances of one row after the other, as `nbce_cvb.sweep_rows` does for labels."""
    scores = np.empty(gamma.shape[1])
    moved, entropy = 0.0, 0.0
    for i in range(matrix.shape[0]):
        # log of the prior weight of each column, then of the row's memberships, both without the row itself
        own, less = gamma[i], min(counts[i], 1.0)
        if sticks:
            stick_scores(sizes, tails, own, less, truncation, alpha, second, scores)
        else:
            even_scores(sizes, own, less, copies, alpha, second, scores)
        share_scores(matrix[i], offsets, weights, own, less, copies, tables, totals, beta, second, scores)
        # normalize, then move the moments from the old to the new responsibilities
        entropy -= counts[i] * normalize(scores, copies)
        moved += move_sizes(counts[i], own, scores, sizes, tails)
        move_shares(matrix[i], offsets, counts[i], own, scores, tables, totals)
        gamma[i] = scores
    return moved, entropy
