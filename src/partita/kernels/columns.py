"""What a site does that holds columns: all objects, some of the clusterings; sums over the others come from outside.

A table (t, k) holds one row for each of the t labels of all its columns together; column j's begin at `offsets[j]`.
"""

import math

import numpy as np

from partita.kernels.compiling import Array, kernel
from partita.kernels.dirichlet import digamma


@kernel
def add_shares(labels: Array, offsets: Array, shares: Array, tables: Array, start: int, stop: int) -> None:
    """Add each row's shares (n, k) to the table rows of its labels."""
    for i in range(start, stop):
        for j in range(labels.shape[1]):
            label = labels[i, j]
            if label >= 0:
                place = offsets[j] + label
                for c in range(shares.shape[1]):
                    tables[place, c] += shares[i, c]


@kernel
def lower_rows(scores: Array, floor: float, start: int, stop: int) -> float:
    """Subtract from each row its largest score and let none lie below `floor`; returns the sum of what was taken."""
    taken = 0.0
    for i in range(start, stop):
        top = scores[i, 0]
        for c in range(1, scores.shape[1]):
            top = max(top, scores[i, c])
        taken += top
        for c in range(scores.shape[1]):
            scores[i, c] = max(scores[i, c] - top, floor)
    return taken


@kernel
def share_labels(
    labels: Array,
    offsets: Array,
    weights: Array,
    chances: Array,
    tops: Array,
    gamma: Array,
    out: Array,
    masses: Array,
    expected: Array,
    start: int,
    stop: int,
) -> None:
    """Share out each known label by phi, in proportion to exp(psi(gamma)) times its chances.

    phi_ijh = exp(psi(gamma_ih)) beta_hj(y_ij) / mass_ij,  mass_ij = sum over h of the numerators  (wang2009, 5.5)

    ==============  =====================  ===================================================
    w_j             weights[j]             (r,)
    beta / top      chances[o_j + l, h]    (t, k) beta divided by its largest value of the row
    log top         tops[o_j + l]          (t,)
    gamma_i         gamma[i]               (n, k)
    ==============  =====================  ===================================================

    Writes sum_j w_j phi_ij to `out` (n, k) and sum_j w_j log mass_ij, which is what the labels add to the lower bound,
    to `masses` (n,); adds w_j phi_ij to the row of its label in `expected` (t, k).
    """
    width = gamma.shape[1]
    pull = np.empty(width)
    for i in range(start, stop):
        # exp(psi), with the largest taken out so that it cannot underflow for all clusters at once
        top = -np.inf
        for h in range(width):
            pull[h] = digamma(gamma[i, h])
            top = max(top, pull[h])
            out[i, h] = 0.0
        for h in range(width):
            pull[h] = math.exp(pull[h] - top)
        # one known label after the other: its mass, then its shares
        whole = 0.0
        for j in range(labels.shape[1]):
            label = labels[i, j]
            if label >= 0:
                place = offsets[j] + label
                mass = 0.0
                for h in range(width):
                    mass += pull[h] * chances[place, h]
                scale = weights[j] / mass
                for h in range(width):
                    share = scale * pull[h] * chances[place, h]
                    out[i, h] += share
                    expected[place, h] += share
                whole += weights[j] * (tops[place] + top + math.log(mass))
        masses[i] = whole


@kernel
def settle_rows(
    before: Array, gamma: Array, alpha: Array, base: float, keep: Array, pulls: Array, start: int, stop: int
) -> float:
    """What the rows add to the lower bound beside their labels, and to the expected logarithms of their shares.

    `before` is the gamma by which the labels were shared out, `gamma` the one that they led to.
    """
    whole = 0.0
    for i in range(start, stop):
        if not keep[i]:
            continue
        total = 0.0
        bound = base
        for h in range(alpha.shape[0]):
            total += gamma[i, h]
            bound += math.lgamma(gamma[i, h]) - digamma(before[i, h]) * (gamma[i, h] - alpha[h])
        level = digamma(total)
        for h in range(alpha.shape[0]):
            pulls[h] += digamma(gamma[i, h]) - level
        whole += bound - math.lgamma(total)
    return whole
