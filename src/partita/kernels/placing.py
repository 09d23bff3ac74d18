"""Rows placed by a fitted model in one pass: winners and, if asked for, chances and what the clusters then hold.

Tables are laid out as `kernels.vectors` wants them (`core.placing` does that): their width, the number of clusters, is
filled up to 4 or a multiple of 8 with a bias of minus infinity, so that no filling can win.
"""

from typing import Final

import numpy as np

from partita.kernels.compiling import Array, kernel
from partita.kernels.exponential import exponentials
from partita.kernels.scores import IMPOSSIBLE
from partita.kernels.vectors import lead, spread_row, sum_rows

BLOCK: Final = 32
"""Rows that are taken through every step together: few enough for their scores to stay in the nearest memory."""


@kernel
def score_rows(
    labels: Array, at: int, columns: int, starts: Array, tables: Array, bias: Array, out: Array, rows: int
) -> None:
    """Write to `out`, one row behind the other, the bias plus the table rows of the labels of consecutive rows.

    Two rows at a time, so that the additions of one fill the waits of the other.
    """
    width, paired = bias.shape[0], rows - rows % 2
    if width == 4:
        for b in range(0, paired, 2):
            sum_rows(labels, at + b * columns, columns, starts, tables, 4, bias, 0, out, 4 * b, 2, 4)
    elif width == 8:
        for b in range(0, paired, 2):
            sum_rows(labels, at + b * columns, columns, starts, tables, 8, bias, 0, out, 8 * b, 2, 8)
    elif width == 16:
        for b in range(0, paired, 2):
            sum_rows(labels, at + b * columns, columns, starts, tables, 16, bias, 0, out, 16 * b, 2, 16)
    else:
        for b in range(0, paired, 2):
            here, to = at + b * columns, b * width
            for first in range(0, width - 15, 16):
                sum_rows(labels, here, columns, starts, tables, width, bias, first, out, to + first, 2, 16)
            if width % 16:
                first = width - 8
                sum_rows(labels, here, columns, starts, tables, width, bias, first, out, to + first, 2, 8)
    if rows % 2:
        here, to = at + (rows - 1) * columns, (rows - 1) * width
        for first in range(0, width, 4):
            sum_rows(labels, here, columns, starts, tables, width, bias, first, out, to + first, 1, 4)


@kernel
def spread_shares(
    labels: Array, at: int, columns: int, starts: Array, tables: Array, shares: Array, width: int, rows: int
) -> None:
    """Add each row's shares, one row behind the other in `shares`, to the table rows of its labels."""
    for b in range(rows):
        here, place = at + b * columns, b * width
        if width == 4:
            spread_row(labels, here, columns, starts, tables, 4, shares, place, 0, 4)
        elif width == 8:
            spread_row(labels, here, columns, starts, tables, 8, shares, place, 0, 8)
        elif width == 16:
            spread_row(labels, here, columns, starts, tables, 16, shares, place, 0, 16)
        else:
            for first in range(0, width - 15, 16):
                spread_row(labels, here, columns, starts, tables, width, shares, place + first, first, 16)
            if width % 16:
                first = width - 8
                spread_row(labels, here, columns, starts, tables, width, shares, place + first, first, 8)


@kernel
def lead_rows(scores: Array, width: int, tops: Array, winners: Array, rows: int) -> None:
    """The largest score of each row, and which is the first that is as large."""
    if width == 4:
        for b in range(rows):
            tops[b], winners[b] = lead(scores, 4 * b, 4)
    elif width == 16:
        for b in range(rows):
            tops[b], winners[b] = lead(scores, 16 * b, 16)
    else:
        for b in range(rows):
            tops[b], winners[b] = lead(scores, b * width, 8)
            for first in range(8, width, 8):
                top, winner = lead(scores, b * width + first, 8)
                if top > tops[b]:
                    tops[b], winners[b] = top, first + winner


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
    confidence: Array,
    counts: Array,
    sizes: Array,
    start: int,
    stop: int,
) -> tuple[float, int]:
    """Give each row the cluster of highest score, the first of equals, -1 where it has no label.

    Where `confidence` is as long as `chosen`, it gets the winner's share among the exponentials of the scores (NaN
    without a label), and the sum of the logarithms of these sums is returned, less the rows that no cluster can have,
    with their number. Where `sizes` is as wide as the bias, the labels and rows of each cluster are counted.
    """
    width, columns = bias.shape[0], starts.shape[0]
    shares = np.empty(BLOCK * clusters)
    scores, tops, winners = np.empty(BLOCK * width), np.empty(BLOCK), np.empty(BLOCK, np.int64)
    lead_rows(bias, width, tops, winners, 1)
    lowest, default = tops[0], winners[0]
    likelihood, never = 0.0, 0
    for first in range(start, stop, BLOCK):
        rows, at = min(BLOCK, stop - first), first * columns
        score_rows(labels, at, columns, starts, tables, bias, scores, rows)
        lead_rows(scores, width, tops, winners, rows)
        for b in range(rows):
            if tops[b] == lowest and winners[b] == default and not any_known(labels, at + b * columns, columns):
                winners[b] = -1
            chosen[first + b] = winners[b]
        if sizes.shape[0]:
            count_block(labels, at, columns, starts, winners, rows, counts, sizes)
        if confidence.shape[0]:
            for b in range(rows):
                for c in range(clusters):
                    shares[b * clusters + c] = scores[b * width + c] - tops[b]
            exponentials(shares, rows * clusters)
            product = 1.0
            for b in range(rows):
                mass = 0.0
                for c in range(clusters):
                    mass += shares[b * clusters + c]
                confidence[first + b] = 1.0 / mass if winners[b] >= 0 else np.nan
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
