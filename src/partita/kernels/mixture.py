"""Mixtures of label distributions: responsibilities of rows and the counts they add up to, in one pass.

A table (t, k) holds one row for each of the t labels of all columns together; column j's begin at `offsets[j]`.
"""

import numpy as np

from partita.kernels.canonical import mix
from partita.kernels.compiling import Array, kernel
from partita.kernels.scores import IMPOSSIBLE


@kernel
def normalise(resp: Array, count: float) -> tuple[float, int]:
    """Turn a row's scores into shares of `count`; returns the logarithm of their mass and which cluster leads."""
    leader = 0
    for c in range(1, resp.shape[0]):
        if resp[c] > resp[leader]:
            leader = c
    top, mass = resp[leader], 0.0
    for c in range(resp.shape[0]):
        resp[c] = np.exp(resp[c] - top)
        mass += resp[c]
    scale = count / mass
    for c in range(resp.shape[0]):
        resp[c] *= scale
    return top + np.log(mass), leader


@kernel
def expect_rows(
    labels: Array,
    offsets: Array,
    tables: Array,
    bias: Array,
    counts: Array,
    expected: Array,
    masses: Array,
    start: int,
    stop: int,
) -> tuple[float, int]:
    """Add to `expected` and `masses` the rows' labels and multiplicities, shared out by responsibility.

    Returns the log-likelihood, and a fingerprint of which cluster leads where. `normalise` is written out here: as a
    call it costs a third of the pass.
    """
    resp = np.empty(bias.shape[0])
    likelihood, leaders = 0.0, np.uint64(0)
    for i in range(start, stop):
        for c in range(resp.shape[0]):
            resp[c] = bias[c]
        for j in range(labels.shape[1]):
            label = labels[i, j]
            if label >= 0:
                place = offsets[j] + label
                for c in range(resp.shape[0]):
                    resp[c] += tables[place, c]
        leader = 0
        for c in range(1, resp.shape[0]):
            if resp[c] > resp[leader]:
                leader = c
        leaders += np.uint64(mix(i * resp.shape[0] + leader))
        top, mass = resp[leader], 0.0
        for c in range(resp.shape[0]):
            resp[c] = np.exp(resp[c] - top)
            mass += resp[c]
        likelihood += counts[i] * (top + np.log(mass))
        scale = counts[i] / mass
        for c in range(resp.shape[0]):
            resp[c] *= scale
            masses[c] += resp[c]
        for j in range(labels.shape[1]):
            label = labels[i, j]
            if label >= 0:
                place = offsets[j] + label
                for c in range(resp.shape[0]):
                    expected[place, c] += resp[c]
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
        found, leader = normalise(resp, counts[i])
        likelihood += counts[i] * found
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
    for i in range(start, stop):
        masses[i], _ = normalise(scores[i], 1.0)
