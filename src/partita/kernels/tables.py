"""Counting which labels stand together: pairs of labels, and one labelling against every column of a label matrix.

A label's place is its value less the lowest one. An unobserved label has a place of its own, which the caller drops
afterwards, so that the loops need not ask. One table is enough: four interleaved ones, against the wait of an
increment for the store before it, were no faster for small tables and five times slower for large ones.
"""

import numpy as np

from partita.kernels.canonical import mix
from partita.kernels.compiling import Array, kernel


@kernel
def count_pairs(
    a: Array, b: Array, low_a: int, low_b: int, width_a: int, width_b: int, table: Array, start: int, stop: int
) -> bool:
    """Count the pairs of places into a flat table; False, and an unfinished table, when one lies outside."""
    for i in range(start, stop):
        row, col = np.uint64(np.int64(a[i]) - low_a), np.uint64(np.int64(b[i]) - low_b)
        if row >= np.uint64(width_a) or col >= np.uint64(width_b):
            return False
        table[row * np.uint64(width_b) + col] += 1
    return True


@kernel
def weigh_pairs(
    a: Array,
    b: Array,
    weights: Array,
    low_a: int,
    low_b: int,
    width_a: int,
    width_b: int,
    table: Array,
    start: int,
    stop: int,
) -> bool:
    """The same, each pair counting as much as its weight."""
    for i in range(start, stop):
        row, col = np.uint64(np.int64(a[i]) - low_a), np.uint64(np.int64(b[i]) - low_b)
        if row >= np.uint64(width_a) or col >= np.uint64(width_b):
            return False
        table[row * np.uint64(width_b) + col] += weights[i]
    return True


@kernel
def hash_pairs(
    a: Array, b: Array, weights: Array, low_a: int, low_b: int, width: int, keys: Array, sums: Array
) -> None:
    """The same for tables too large to lay out: `keys` (a power of two, filled with -1) and `sums` are a hash table."""
    mask = np.uint64(keys.shape[0] - 1)
    for i in range(a.shape[0]):
        key = (np.int64(a[i]) - low_a) * width + (np.int64(b[i]) - low_b)
        slot = mix(key) & mask  # type: ignore[arg-type]  # an int to mypy only outside the kernel
        while keys[slot] >= 0 and keys[slot] != key:
            slot = (slot + np.uint64(1)) & mask
        keys[slot] = key
        sums[slot] += weights[i]


@kernel
def count_columns(codes: Array, labels: Array, first: int, places: Array, table: Array, start: int, stop: int) -> None:
    """Count each row's code with its labels in the columns from `first` on; label y of column j is at places[j] + y."""
    for i in range(start, stop):
        row = codes[i]
        for j in range(first, labels.shape[1]):
            table[row, np.uint64(places[j] + labels[i, j])] += 1


@kernel
def weigh_columns(
    codes: Array, labels: Array, counts: Array, first: int, places: Array, table: Array, start: int, stop: int
) -> None:
    """The same, each row counting as many objects as it stands for."""
    for i in range(start, stop):
        row = codes[i]
        for j in range(first, labels.shape[1]):
            table[row, np.uint64(places[j] + labels[i, j])] += counts[i]


@kernel
def weigh_members(codes: Array, members: Array, counts: Array, table: Array, start: int, stop: int) -> None:
    """Hard labels against soft clusterings: add each row's memberships to the table row of its code."""
    for i in range(start, stop):
        for c in range(members.shape[1]):
            table[codes[i], c] += counts[i] * members[i, c]


@kernel
def spread_columns(
    shares: Array, labels: Array, counts: Array, places: Array, table: Array, start: int, stop: int
) -> None:
    """A soft labelling against hard clusterings, transposed: add each row's shares to the table rows of its labels."""
    for i in range(start, stop):
        for j in range(labels.shape[1]):
            cell = places[j] + labels[i, j]
            for a in range(shares.shape[1]):
                table[cell, a] += counts[i] * shares[i, a]


@kernel
def spread_members(shares: Array, members: Array, counts: Array, table: Array, start: int, stop: int) -> None:
    """A soft labelling against soft clusterings: add the products of each row's shares and memberships."""
    for i in range(start, stop):
        for a in range(shares.shape[1]):
            share = counts[i] * shares[i, a]
            if share > 0.0:
                for c in range(members.shape[1]):
                    table[a, c] += share * members[i, c]
