"""Rows placed by a fitted model in one pass: winners and, if asked for, chances and what the clusters then hold.

Tables are padded as `kernels.padded` tells.
"""

import numpy as np

from partita.kernels.compiling import Array, kernel
from partita.kernels.exponential import exponentials
from partita.kernels.padded import BLOCK, lead_rows, score_rows
from partita.kernels.scores import IMPOSSIBLE


@kernel
def any_known(labels: Array, at: int, columns: int) -> bool:
    """Whether a row has a label."""
    j = 0
    while j < columns and np.int64(labels[at + j]) < 0:
        j += 1
    return j < columns


@kernel
def excluded(
    labels: Array, at: int, columns: int, starts: Array, tables: Array, bias: Array, known_clusters: int
) -> bool:
    """Whether every cluster is impossible, or has a label that is, for a row."""
    for c in range(known_clusters):
        possible = bias[c] > IMPOSSIBLE
        for j in range(columns):
            place = starts[j] + np.int64(labels[at + j]) * bias.shape[0] + c
            if tables[place] <= IMPOSSIBLE:
                possible = False
        if possible:
            return False
    return True


@kernel
def count_block(
    labels: Array, at: int, columns: int, starts: Array, winners: Array, rows: int, counts: Array, sizes: Array
) -> None:
    """Count the labels and the rows of each cluster; a missing label is counted where nobody looks."""
    width = sizes.shape[0]
    for b in range(rows):
        winner = winners[b]
        if winner >= 0:
            sizes[winner] += 1
            line = at + b * columns
            for j in range(columns):
                place = starts[j] + np.int64(labels[line + j]) * width + winner
                counts[np.uint64(place)] += 1


@kernel
def place_rows(
    labels: Array,
    starts: Array,
    tables: Array,
    bias: Array,
    clusters: int,
    chosen: Array,
    chances: bool,
    counts: Array,
    sizes: Array,
    start: int,
    stop: int,
) -> tuple[float, int]:
    """Give each row the cluster of highest score, the first of equals, -1 where it has no label.

    With `chances`, scores are logarithms of joint probabilities: the log-likelihood of the rows is returned, without
    the rows to which every cluster gives probability 0, and the number of these. Where `sizes` is as wide as the bias,
    the labels and rows of each cluster are counted.
    """
    width, columns = bias.shape[0], starts.shape[0]
    shares = np.empty(BLOCK * clusters)
    scores, tops, winners = np.empty(BLOCK * width), np.empty(BLOCK), np.empty(BLOCK, np.int64)
    lead_rows(bias, width, clusters, tops, winners, 1)
    lowest, default = tops[0], winners[0]
    likelihood, never = 0.0, 0
    for first in range(start, stop, BLOCK):
        rows, at = min(BLOCK, stop - first), first * columns
        # scores of a block of rows, and the best cluster of each; a row without labels has the scores of the bias
        score_rows(labels, at, columns, starts, tables, bias, clusters, scores, rows)
        lead_rows(scores, width, clusters, tops, winners, rows)
        for b in range(rows):
            if tops[b] == lowest and winners[b] == default and not any_known(labels, at + b * columns, columns):
                winners[b] = -1
            chosen[first + b] = winners[b]
        # labels and rows of each cluster, if requested
        if sizes.shape[0]:
            count_block(labels, at, columns, starts, winners, rows, counts, sizes)
        # log-likelihood: sum of log sum_c exp(score_c), with the largest score of each row taken out
        if chances:
            for b in range(rows):
                for c in range(clusters):
                    shares[b * clusters + c] = scores[b * width + c] - tops[b]
            exponentials(shares, rows * clusters)
            product = 1.0
            for b in range(rows):
                mass = 0.0
                for c in range(clusters):
                    mass += shares[b * clusters + c]
                if winners[b] < 0:
                    continue
                line = at + b * columns
                if tops[b] <= 0.5 * IMPOSSIBLE and excluded(labels, line, columns, starts, tables, bias, clusters):
                    never += 1
                else:
                    likelihood += tops[b]
                    product *= mass
            likelihood += np.log(product)  # of at most 32 sums, each at most k: no overflow
    return likelihood, never
