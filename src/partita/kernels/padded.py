"""Blocks of rows on padded tables: scores, the best of them, and shares that go back to tables.

A padded table is one-dimensional. Its width, the number of clusters, is filled up to 4 or a multiple of 8, by a bias of
minus infinity, so that no filling can win; label x of column j has its row at `starts[j] + x * width`, and before each
column's first row stands one of zeros, which a missing label, -1, finds. `core.padded` makes such tables.
"""

from typing import Final

from partita.kernels.compiling import Array, kernel
from partita.kernels.vectors import lead, spread_row, sum_rows

BLOCK: Final = 32
"""Rows that are taken through every step together: few enough for their scores to stay in the nearest memory."""


@kernel
def score_rows(
    labels: Array, at: int, columns: int, starts: Array, tables: Array, bias: Array, k: int, out: Array, rows: int
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
    elif width == 16 and k <= 12:
        for b in range(0, paired, 2):
            sum_rows(labels, at + b * columns, columns, starts, tables, 16, bias, 0, out, 16 * b, 2, 12)
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
    labels: Array, at: int, columns: int, starts: Array, tables: Array, shares: Array, width: int, k: int, rows: int
) -> None:
    """Add each row's shares, one row behind the other in `shares`, to the table rows of its labels."""
    for b in range(rows):
        here, place = at + b * columns, b * width
        if width == 4:
            spread_row(labels, here, columns, starts, tables, 4, shares, place, 0, 4)
        elif width == 8:
            spread_row(labels, here, columns, starts, tables, 8, shares, place, 0, 8)
        elif width == 16 and k <= 12:
            spread_row(labels, here, columns, starts, tables, 16, shares, place, 0, 12)
        elif width == 16:
            spread_row(labels, here, columns, starts, tables, 16, shares, place, 0, 16)
        else:
            for first in range(0, width - 15, 16):
                spread_row(labels, here, columns, starts, tables, width, shares, place + first, first, 16)
            if width % 16:
                first = width - 8
                spread_row(labels, here, columns, starts, tables, width, shares, place + first, first, 8)


@kernel
def lead_rows(scores: Array, width: int, k: int, tops: Array, winners: Array, rows: int) -> None:
    """The largest score of each row, and which is the first that is as large."""
    if width == 4:
        for b in range(rows):
            tops[b], winners[b] = lead(scores, 4 * b, 4)
    elif width == 16 and k <= 12:
        for b in range(rows):
            tops[b], winners[b] = lead(scores, 16 * b, 12)
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
