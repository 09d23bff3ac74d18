"""Rows with shares drawn from a Dirichlet distribution: variational inference of the shares, and what rows add up to.

Object i has shares theta_i ~ Dirichlet(alpha); each of its labels comes from a cluster drawn by them. The posterior is
taken as Dirichlet(gamma_i) times one distribution phi_ij for each known label j, phi_ijh ~ exp(psi(gamma_ih)) beta.
A table (t, k) holds one row for each of the t labels of all columns together; column j's begin at `offsets[j]`.
"""

import math

import numpy as np

from partita.kernels.compiling import Array, kernel
from partita.kernels.scores import IMPOSSIBLE


@kernel
def digamma(x: float) -> float:
    """The derivative of ln Gamma at x > 0: recurrence up to 8, then the asymptotic series.

    The reciprocals of the recurrence are summed as one fraction, so that there is one division.
    """
    above, below = 0.0, 1.0
    while x < 8.0:
        above = above * x + below
        below *= x
        x += 1.0
    inverse = 1.0 / (x * x)
    tail = 1 / 240 - inverse * (1 / 132 - inverse * (691 / 32760 - inverse / 12))
    tail = inverse * (1 / 12 - inverse * (1 / 120 - inverse * (1 / 252 - inverse * tail)))
    return math.log(x) - 0.5 / x - tail - above / below


FAINT = 1e-280
"""Mass of a label below which its phi is computed from logarithms."""


@kernel
def share_by_logs(chances: Array, psi: Array, shares: Array) -> float:
    """Write phi of one label to `shares` (k,), from logarithms; returns the logarithm of its mass."""
    top, mass = -np.inf, 0.0
    for h in range(psi.shape[0]):
        shares[h] = psi[h] + math.log(chances[h]) if chances[h] > 0.0 else -np.inf
        top = max(top, shares[h])
    for h in range(psi.shape[0]):
        shares[h] = math.exp(shares[h] - top)
        mass += shares[h]
    for h in range(psi.shape[0]):
        shares[h] /= mass
    return top + math.log(mass)


@kernel
def settle(
    chances: Array,
    weights: Array,
    known: int,
    alpha: Array,
    gamma: Array,
    work: Array,
    shares: Array,
    tol: float,
    most: int,
) -> float:
    """Raise one row's bound over phi and gamma in turn, from the given gamma, until gamma moves by no more than `tol`.

    `chances[a]` are the chances of the row's a-th known label in the k clusters, the largest of them 1. A label that
    only clusters of tiny gamma can give has a mass that underflows (psi(1e-4) is -10^4): its phi is computed from
    logarithms and written to `shares[a]`. `work` is left with psi(gamma) as it was before the last step (row 0) and its
    exponential, the largest being 1 (row 1); `weights` row 1 with each label's weight divided by its mass, 0 where
    phi is in `shares`. Returns the weighted logarithms of the masses less the sum of w phi psi(gamma).
    """
    psi, pull, new, direct = work[0], work[1], work[2], work[3]
    top, rise = 0.0, 0.0
    for _ in range(most):
        # exp(psi(gamma)) up to a factor, so that the largest is 1
        top, rise = -np.inf, 0.0
        for h in range(alpha.shape[0]):
            psi[h] = digamma(gamma[h])
            top = max(top, psi[h])
            new[h] = 0.0
            direct[h] = 0.0
        for h in range(alpha.shape[0]):
            pull[h] = math.exp(psi[h] - top)
        # phi of each label is pull * chances / mass; the sum over labels without the common factor pull is `new`
        for a in range(known):
            mass = 0.0
            for h in range(alpha.shape[0]):
                mass += pull[h] * chances[a, h]
            if mass < FAINT:
                rise += weights[0, a] * share_by_logs(chances[a], psi, shares[a])
                weights[1, a] = 0.0
                for h in range(alpha.shape[0]):
                    direct[h] += weights[0, a] * shares[a, h]
                continue
            scale = weights[0, a] / mass
            weights[1, a] = scale
            for h in range(alpha.shape[0]):
                new[h] += scale * chances[a, h]
        # gamma = alpha + sum of w phi
        change = 0.0
        for h in range(alpha.shape[0]):
            found = alpha[h] + pull[h] * new[h] + direct[h]
            change = max(change, abs(found - gamma[h]))
            gamma[h] = found
        if change <= tol:
            break
    # the row's part of the bound: w log(mass) of each label, less the sum of w phi psi(gamma)
    for a in range(known):
        if weights[1, a] > 0.0:
            rise += weights[0, a] * (top + math.log(weights[0, a] / weights[1, a]))
    for h in range(alpha.shape[0]):
        rise -= psi[h] * (gamma[h] - alpha[h])
    return rise


@kernel
def add_row(count: float, base: float, gamma: Array, pulls: Array) -> float:
    """Add the row's expected logarithms of shares, times its count; returns `base` + ln Gammas of its posterior."""
    total = 0.0
    for h in range(gamma.shape[0]):
        total += gamma[h]
        base += math.lgamma(gamma[h])
    level = digamma(total)
    for h in range(gamma.shape[0]):
        pulls[h] += count * (digamma(gamma[h]) - level)
    return base - math.lgamma(total)


@kernel
def infer_rows(
    labels: Array,
    offsets: Array,
    column_weights: Array,
    chances: Array,
    tops: Array,
    alpha: Array,
    base: float,
    counts: Array,
    tol: float,
    most: int,
    gamma: Array,
    bounds: Array,
    expected: Array,
    pulls: Array,
    start: int,
    stop: int,
) -> float:
    """Bring the rows' `gamma` and `bounds` up to date; add their labels, shared out by phi, to `expected`.

    `chances` (t, k) are those of the labels divided by exp(`tops`) (t,), `base` is what all rows have of the bound.
    Returns the bound of all the rows, with multiplicities; it is -inf where no cluster can have given some label.
    """
    size, width = labels.shape[1], alpha.shape[0]
    buffer, weights, work = np.empty((size, width)), np.empty((2, size)), np.empty((4, width))
    shares = np.empty((size, width))
    places = np.empty(size, np.int64)
    whole = 0.0
    for i in range(start, stop):
        known, bound = 0, base
        for j in range(size):
            label = labels[i, j]
            if label >= 0 and column_weights[j] > 0.0:
                place = offsets[j] + label
                places[known] = place
                weights[0, known] = column_weights[j]
                bound += column_weights[j] * tops[place] if tops[place] > IMPOSSIBLE else -np.inf
                for h in range(width):
                    buffer[known, h] = chances[place, h]
                known += 1
        bound += settle(buffer, weights, known, alpha, gamma[i], work, shares, tol, most)
        bounds[i] = add_row(counts[i], bound, gamma[i], pulls)
        whole += counts[i] * bounds[i]
        for a in range(known):
            place, scale = places[a], counts[i] * weights[1, a]
            for h in range(width):
                if weights[1, a] > 0.0:
                    expected[place, h] += scale * work[1, h] * buffer[a, h]
                else:
                    expected[place, h] += counts[i] * weights[0, a] * shares[a, h]
    return whole


@kernel
def infer_memberships(
    matrix: Array,
    offsets: Array,
    column_weights: Array,
    log_probs: Array,
    alpha: Array,
    base: float,
    counts: Array,
    tol: float,
    most: int,
    gamma: Array,
    bounds: Array,
    expected: Array,
    pulls: Array,
    start: int,
    stop: int,
) -> float:
    """The same for rows of memberships: a label's chance is the exponential of its expected logarithm."""
    size, width = offsets.shape[0] - 1, alpha.shape[0]
    buffer, weights, work = np.empty((size, width)), np.empty((2, size)), np.empty((4, width))
    shares = np.empty((size, width))
    columns = np.empty(size, np.int64)
    whole = 0.0
    for i in range(start, stop):
        known, bound = 0, base
        for j in range(size):
            seen, top = False, -np.inf
            for h in range(width):
                buffer[known, h] = 0.0
            for place in range(offsets[j], offsets[j + 1]):
                if matrix[i, place] > 0.0:
                    seen = True
                    for h in range(width):
                        score = log_probs[place, h]
                        buffer[known, h] += matrix[i, place] * score if score > IMPOSSIBLE else score
            if seen and column_weights[j] > 0.0:
                columns[known] = j
                weights[0, known] = column_weights[j]
                for h in range(width):
                    top = max(top, buffer[known, h])
                for h in range(width):
                    buffer[known, h] = math.exp(buffer[known, h] - top)
                bound += column_weights[j] * top if top > IMPOSSIBLE else -np.inf
                known += 1
        bound += settle(buffer, weights, known, alpha, gamma[i], work, shares, tol, most)
        bounds[i] = add_row(counts[i], bound, gamma[i], pulls)
        whole += counts[i] * bounds[i]
        for a in range(known):
            scale = counts[i] * weights[0, a]
            if weights[1, a] > 0.0:
                scale = counts[i] * weights[1, a]
                for h in range(width):
                    shares[a, h] = work[1, h] * buffer[a, h]
            for place in range(offsets[columns[a]], offsets[columns[a] + 1]):
                share = scale * matrix[i, place]
                if share > 0.0:
                    for h in range(width):
                        expected[place, h] += share * shares[a, h]
    return whole
