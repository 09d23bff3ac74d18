"""Co-association of pairs of rows: of one row with many, a clustering at a time, and of chosen pairs."""

import math
from typing import NamedTuple

import numpy as np

from partita.kernels.agreement import BLOCK, add_where_equal, add_where_known, clear
from partita.kernels.compiling import Array, kernel
from partita.kernels.items import add_scaled

EDGES = 100
FUZZ = 1e-9
"""Co-association less far than this from an edge lies on it: 7 of 100 clusterings are not more than 0.07."""


class Columns(NamedTuple):
    """A table of labels or memberships by columns."""

    labels: Array
    """(r, n) labels, negative where unobserved; or (t, n) memberships."""
    known: Array
    """(r, n) 1 where something is known, for memberships; of length 0 for labels."""
    owners: Array
    """(t,) the clustering of each column of memberships; of length 0 for labels."""
    units: Array
    """(r,) weights of the clusterings: whole numbers that can be counted, or float64."""
    counts: Array
    """(n,) how many objects each row stands for."""


@kernel
def share_block(table: Columns, row: int, start: int, agree: Array, known: Array) -> None:
    """Write how much a row agrees with those from `start` on, and how much is known of both; `known` may be empty."""
    stop = start + agree.shape[0]
    clear(agree)
    clear(known)
    for j in range(table.labels.shape[0]):
        label = table.labels[j, row]
        if label >= 0:
            here = table.labels[j, start:stop]
            add_where_equal(here, label, table.units[j], agree)
            add_where_known(here, table.units[j], known)


@kernel
def share_members_block(table: Columns, row: int, start: int, agree: Array, known: Array) -> None:
    """The same for memberships."""
    stop = start + agree.shape[0]
    clear(agree)
    clear(known)
    for c in range(table.labels.shape[0]):
        if table.labels[c, row] > 0.0:
            factor = table.units[table.owners[c]] * table.labels[c, row]
            add_scaled(table.labels[c, start:stop], factor, agree)
    for j in range(table.known.shape[0]):
        if table.known[j, row]:
            add_scaled(table.known[j, start:stop], table.units[j], known)


@kernel
def count_shares(table: Columns, cells: Array, complete: bool, start: int, stop: int) -> None:
    """Add to cells[known, agree] the pairs of objects of rows start..stop with later rows; units are whole numbers.

    Where all is known, cells has one line.
    """
    rows = table.labels.shape[1]
    agree = np.empty(BLOCK, table.units.dtype)
    known = np.empty(0 if complete else BLOCK, table.units.dtype)
    for first in range(start, rows, BLOCK):
        last = min(first + BLOCK, rows)
        for i in range(start, min(stop, last)):
            begin = max(first, i + 1)
            size = last - begin
            share_block(table, i, begin, agree[:size], known[: 0 if complete else size])
            own = table.counts[i]
            if complete:
                line = cells[0]
                for c in range(size):
                    line[agree[c]] += own * table.counts[begin + c]
            else:
                for c in range(size):
                    cells[known[c], agree[c]] += own * table.counts[begin + c]


@kernel
def bin_of(value: float) -> int:
    """The first of the edges 0, 0.01, … 1 that a value is not above."""
    return min(max(math.ceil(EDGES * (value - FUZZ)), 0), EDGES)


@kernel
def tally(
    agree: Array, known: Array, own: float, counts: Array, low: float, high: float, bins: Array, sums: Array
) -> None:
    """Add pairs to the bins of their co-association, and to the sums: of it, of pairs between the limits, unseen."""
    for c in range(agree.shape[0]):
        amount = own * counts[c]
        if known[c] > 0.0:
            value = agree[c] / known[c]
            bins[bin_of(value)] += amount
            sums[0] += amount * value
            if low + FUZZ < value < high - FUZZ:
                sums[1] += amount
        else:
            sums[2] += amount


@kernel
def tally_shares(
    table: Columns, soft: bool, low: float, high: float, bins: Array, sums: Array, start: int, stop: int
) -> None:
    """Tally the pairs of objects of rows start..stop with later rows, for any weights and memberships."""
    rows = table.labels.shape[1]
    agree, known = np.empty(BLOCK), np.empty(BLOCK)
    for first in range(start, rows, BLOCK):
        last = min(first + BLOCK, rows)
        for i in range(start, min(stop, last)):
            begin = max(first, i + 1)
            size = last - begin
            if soft:
                share_members_block(table, i, begin, agree[:size], known[:size])
            else:
                share_block(table, i, begin, agree[:size], known[:size])
            tally(agree[:size], known[:size], table.counts[i], table.counts[begin:last], low, high, bins, sums)


@kernel
def pair_shares(labels: Array, weights: Array, first: Array, second: Array, out: Array, start: int, stop: int) -> None:
    """Write the co-association of the pairs start..stop of rows of labels (n, r); NaN where none is known of both."""
    for p in range(start, stop):
        agree, known = 0.0, 0.0
        for j in range(labels.shape[1]):
            a, b = labels[first[p], j], labels[second[p], j]
            both = (a >= 0) & (b >= 0)  # sums without branches: which pairs agree cannot be foretold
            known += weights[j] * both
            agree += weights[j] * (both & (a == b))
        out[p] = agree / known if known > 0.0 else np.nan


@kernel
def pair_member_shares(
    members: Array,
    seen: Array,
    places: Array,
    weights: Array,
    first: Array,
    second: Array,
    out: Array,
    start: int,
    stop: int,
) -> None:
    """The same for memberships (n, t), of which clustering j has those from places[j] on."""
    for p in range(start, stop):
        a, b = first[p], second[p]
        agree, known = 0.0, 0.0
        for j in range(seen.shape[1]):
            if seen[a, j] and seen[b, j]:
                known += weights[j]
                for c in range(places[j], places[j + 1]):
                    agree += weights[j] * members[a, c] * members[b, c]
        out[p] = agree / known if known > 0.0 else np.nan


@kernel
def share_matrix(table: Columns, soft: bool, out: Array, start: int, stop: int) -> None:
    """Write to out[i, c] the co-association of the rows i = start..stop with all others, NaN where none is known."""
    known = np.empty(out.shape[1])
    for i in range(start, stop):
        agree = out[i]
        if soft:
            share_members_block(table, i, 0, agree, known)
        else:
            share_block(table, i, 0, agree, known)
        for c in range(agree.shape[0]):
            agree[c] = agree[c] / known[c] if known[c] > 0.0 else np.nan
        agree[i] = 1.0 if known[i] > 0.0 else np.nan
