"""Mixtures of label distributions: responsibilities of rows and the counts they add up to, in one pass.

A table (t, k) holds one row for each of the t labels of all columns together; column j's begin at `offsets[j]`.
"""

from typing import Final

import numpy as np

from partita.kernels.canonical import mix
from partita.kernels.compiling import Array, kernel
from partita.kernels.exponential import exponentials
from partita.kernels.padded import BLOCK, lead_rows, score_rows, spread_shares
from partita.kernels.scores import IMPOSSIBLE

TINY: Final = 1e-20
"""A share that adds less than 1e-18 to an entropy."""


@kernel
def lower_to_top(scores: Array) -> tuple[float, int]:
    """Subtract the largest score from all; returns it and which it was."""
    top = scores[0]
    for c in range(1, scores.shape[0]):
        top = max(top, scores[c])
    leader = 0
    while scores[leader] < top:
        leader += 1
    for c in range(scores.shape[0]):
        scores[c] -= top
    return top, leader


@kernel
def normalise(resp: Array, count: float) -> float:
    """Scale a row's unscaled shares to sum to `count`; returns what they summed to."""
    mass = 0.0
    for c in range(resp.shape[0]):
        mass += resp[c]
    scale = count / mass
    for c in range(resp.shape[0]):
        resp[c] *= scale
    return mass


@kernel
def expect_rows(
    labels: Array,
    starts: Array,
    tables: Array,
    bias: Array,
    k: int,
    counts: Array,
    expected: Array,
    masses: Array,
    start: int,
    stop: int,
) -> tuple[float, int]:
    """Add to `expected` and `masses` the rows' labels and multiplicities, shared out by responsibility.

    Tables, those of expected counts too, are padded (see `kernels.padded`). Returns the log-likelihood, and a
    fingerprint of which of the k clusters leads where.
    """
    width, columns = bias.shape[0], starts.shape[0]
    scores, tops, leads = np.empty(BLOCK * width), np.empty(BLOCK), np.empty(BLOCK, np.int64)
    close, shares = np.empty(BLOCK * k), np.zeros(BLOCK * width)
    likelihood, leaders = 0.0, np.uint64(0)
    for first in range(start, stop, BLOCK):
        rows, at = min(BLOCK, stop - first), first * columns
        score_rows(labels, at, columns, starts, tables, bias, k, scores, rows)
        lead_rows(scores, width, k, tops, leads, rows)
        for b in range(rows):
            leaders += np.uint64(mix((first + b) * k + leads[b]))
            for c in range(k):
                close[b * k + c] = scores[b * width + c] - tops[b]
        exponentials(close, rows * k)
        for b in range(rows):
            mass, count = 0.0, counts[first + b]
            for c in range(k):
                mass += close[b * k + c]
            likelihood += count * (tops[b] + np.log(mass))
            scale = count / mass
            for c in range(k):
                shares[b * width + c] = close[b * k + c] * scale
            for c in range(k):
                masses[c] += shares[b * width + c]
        spread_shares(labels, at, columns, starts, expected, shares, width, k, rows)
    return likelihood, leaders  # type: ignore[return-value]  # uint64 in the machine, int to the reader


@kernel
def expect_memberships(
    matrix: Array, tables: Array, bias: Array, counts: Array, expected: Array, masses: Array, start: int, stop: int
) -> tuple[float, int]:
    """The same for rows of memberships: expected scores, and expected counts."""
    resp = np.empty(bias.shape[0])
    likelihood, leaders = 0.0, np.uint64(0)
    for i in range(start, stop):
        for c in range(resp.shape[0]):
            resp[c] = bias[c]
        for place in range(matrix.shape[1]):
            share = matrix[i, place]
            if share > 0.0:
                for c in range(resp.shape[0]):
                    score = tables[place, c]
                    resp[c] += score * share if score > IMPOSSIBLE else score
        top, leader = lower_to_top(resp)
        exponentials(resp, resp.shape[0])
        likelihood += counts[i] * (top + np.log(normalise(resp, counts[i])))
        leaders += np.uint64(mix(i * resp.shape[0] + leader))
        for c in range(resp.shape[0]):
            masses[c] += resp[c]
        for place in range(matrix.shape[1]):
            share = matrix[i, place]
            if share > 0.0:
                for c in range(resp.shape[0]):
                    expected[place, c] += share * resp[c]
    return likelihood, leaders  # type: ignore[return-value]  # uint64 in the machine, int to the reader


@kernel
def share_out(scores: Array, masses: Array, start: int, stop: int) -> None:
    """Turn rows of scores, logarithms of unscaled chances, into shares; keep the logarithm of each row's mass."""
    k = scores.shape[1]
    for i in range(start, stop):
        masses[i], _ = lower_to_top(scores[i])
    exponentials(scores[start:stop].reshape((stop - start) * k), (stop - start) * k)
    for i in range(start, stop):
        masses[i] += np.log(normalise(scores[i], 1.0))


@kernel
def undecided(shares: Array, counts: Array, start: int, stop: int) -> float:
    """The entropy of rows of shares in nats, times their multiplicities; shares too small to tell add nothing."""
    total = 0.0
    for i in range(start, stop):
        row = 0.0
        for c in range(shares.shape[1]):
            share = shares[i, c]
            if TINY < share < 1.0:
                row -= share * np.log(share)
        total += counts[i] * row
    return total
