"""Moving rows between clusters one at a time, the agreement with every clustering kept up to date.

A row is a few entries: the places of its labels among the t labels of all clusterings, in order, and how many objects
stand there (shares of them where memberships are soft). With q a cell's share of the objects known in its clustering,
mutual information and entropy are sums of q log q, of which a move changes two terms a label.
"""

import math
from typing import NamedTuple

import numpy as np

from partita.kernels.compiling import Array, kernel

TINY = float(np.finfo(np.float64).eps)
LEAST_GAIN = 1e-13
"""What a move must add to ANMI: less may be rounding."""


class Rows(NamedTuple):
    """Some rows: the entries of row i are at starts[i] … starts[i + 1]."""

    starts: Array
    places: Array
    masses: Array


class Base(NamedTuple):
    """What a move does not change."""

    column: Array  # (t,) the clustering of each label
    scale: Array  # (r,) 1 / objects known in the clustering
    weight: Array  # (r,) the clustering's share in ANMI
    entropy: Array  # (r,) the clustering's own
    labels: Array  # (r,) how many labels it has


class Tally(NamedTuple):
    """What a move changes."""

    tables: Array  # (t, k) objects with each label in each cluster
    cells: Array  # (t, k) q log q of them
    sizes: Array  # (r, k) objects of each cluster known in each clustering
    spans: Array  # (r, k) q log q of them
    known: Array  # (r, k) rows of each cluster known in each clustering
    members: Array  # (k,) rows of each cluster
    joint: Array  # (r,) sum of cells
    own: Array  # (r,) sum of spans
    groups: Array  # (r,) clusters that are not empty, seen from each clustering


@kernel
def surprise(q: float) -> float:
    """Share times logarithm of the share, 0 for 0 and for what rounding left of it."""
    return q * math.log(q) if q > 0.0 else 0.0


@kernel
def agreement(joint: float, own: float, groups: int, entropy: float, labels: int) -> float:
    """NMI from the sums over the cells and over the clusters, with the conventions of `partita.metrics.nmi`."""
    if labels == 1 or groups == 1:
        return 1.0 if labels == groups else 0.0
    information, square = entropy - own + joint, entropy * -own
    if information <= TINY or square <= 0.0:
        return 0.0
    return min(1.0, information / math.sqrt(square))


@kernel
def shift_row(rows: Rows, i: int, c: int, sign: int, base: Base, tally: Tally) -> None:
    """Add a row to a cluster (sign 1) or take it out (sign -1)."""
    tally.members[c] += sign
    e = rows.starts[i]
    while e < rows.starts[i + 1]:
        j = base.column[rows.places[e]]
        while e < rows.starts[i + 1] and base.column[rows.places[e]] == j:
            p = rows.places[e]
            tally.tables[p, c] += sign * rows.masses[e]
            tally.sizes[j, c] += sign * rows.masses[e]
            cell = surprise(tally.tables[p, c] * base.scale[j])
            tally.joint[j] += cell - tally.cells[p, c]
            tally.cells[p, c] = cell
            e += 1
        before = tally.known[j, c] > 0
        tally.known[j, c] += sign
        tally.groups[j] += (tally.known[j, c] > 0) - before
        if tally.known[j, c] == 0:
            tally.sizes[j, c] = 0.0
        span = surprise(tally.sizes[j, c] * base.scale[j])
        tally.own[j] += span - tally.spans[j, c]
        tally.spans[j, c] = span


@kernel
def weigh_moves(rows: Rows, i: int, a: int, base: Base, tally: Tally, added: Array, values: Array) -> None:
    """What ANMI would be, less what this row cannot change, if row i moved from cluster a to each cluster."""
    for c in range(values.shape[0]):
        values[c] = 0.0
    e = rows.starts[i]
    while e < rows.starts[i + 1]:
        j = base.column[rows.places[e]]
        scale = base.scale[j]
        entropy, labels = base.entropy[j], base.labels[j]
        for c in range(values.shape[0]):
            added[c] = 0.0
        mass = 0.0
        left = tally.joint[j]
        while e < rows.starts[i + 1] and base.column[rows.places[e]] == j:
            p, more = rows.places[e], rows.masses[e]
            mass += more
            left += surprise((tally.tables[p, a] - more) * scale) - tally.cells[p, a]
            for c in range(values.shape[0]):
                added[c] += surprise((tally.tables[p, c] + more) * scale) - tally.cells[p, c]
            e += 1
        own = tally.own[j] + surprise((tally.sizes[j, a] - mass) * scale) - tally.spans[j, a]
        groups = tally.groups[j] - (tally.known[j, a] == 1)
        for c in range(values.shape[0]):
            if c == a:
                found = agreement(tally.joint[j], tally.own[j], tally.groups[j], entropy, labels)
            else:
                span = surprise((tally.sizes[j, c] + mass) * scale) - tally.spans[j, c]
                found = agreement(left + added[c], own + span, groups + (tally.known[j, c] == 0), entropy, labels)
            values[c] += base.weight[j] * found


@kernel
def sweep_rows(rows: Rows, base: Base, chosen: Array, tally: Tally, start: int, keep: bool) -> int:
    """Move each row where ANMI rises most, the first of equals; `keep` never empties a cluster. Returns the moves."""
    added = np.empty(tally.members.shape[0])
    values = np.empty(tally.members.shape[0])
    moves = 0
    for i in range(rows.starts.shape[0] - 1):
        a = start * 0 + chosen[start + i]  # as wide as the loop's own numbers: one kind of move to compile
        if keep and tally.members[a] == 1:
            continue
        weigh_moves(rows, i, a, base, tally, added, values)
        best = a
        for c in range(values.shape[0]):
            if values[c] > values[best] + LEAST_GAIN:
                best = c
        if best != a:
            for sign in range(-1, 2, 2):
                shift_row(rows, i, a if sign < 0 else best, sign, base, tally)
            chosen[start + i] = best
            moves += 1
    return moves
