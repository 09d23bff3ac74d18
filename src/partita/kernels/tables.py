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


@kernel
def table_shares(
    table: Array,
    places: Array,
    sizes: Array,
    ratios: Array,
    shares: Array,
    columns: Array,
    row_shares: Array,
    col_shares: Array,
    begins: Array,
    totals: Array,
) -> None:
    """Write the shares of which the mutual information and the entropies of r contingency tables are made.

        I_j = sum_ab p_ab (log(N_ab / N_a) - log p_b),  H_a = -sum_a p_a log p_a,  H_b = -sum_b p_b log p_b
        p_ab = N_ab / N,  p_a = N_a / N,  p_b = N_b / N,  over the cells, rows and columns of table j with N > 0

    The logarithms and the sums are taken by the caller, for all tables at once.

    ============  ============================  ==================================================================
    N_ab          table[a, places[j] + b]       (h, w) objects of cluster a with label b of clustering j, b < sizes[j]
    N_ab / N_a    ratios[c]                     per cell c that is not empty, in the order of rows, then columns
    p_ab          shares[c]                     the same
    b             columns[c]                    the position of the column's share in `col_shares`
    p_a           row_shares[x]                 per row that is not empty
    p_b           col_shares[y]                 per column that is not empty
    first c, x, y begins[0 | 1 | 2, j]          (3, r + 1) the first cell, row and column of table j
    N             totals[j]                     (r,)
    ============  ============================  ==================================================================
    """
    col_sums, position = np.zeros(sizes.max()), np.zeros(sizes.max(), np.int64)
    cells, rows, cols = 0, 0, 0
    for j in range(sizes.shape[0]):
        place, size, total = places[j], sizes[j], 0.0
        first_cell, first_row = cells, rows
        col_sums[:size] = 0.0
        # rows: sums of the whole row first, because each cell is divided by its row's sum
        for a in range(table.shape[0]):
            row_sum = 0.0
            for b in range(size):
                row_sum += table[a, place + b]
            if row_sum > 0:
                row_shares[rows] = row_sum
                rows += 1
                total += row_sum
                for b in range(size):
                    count = table[a, place + b]
                    if count > 0:
                        col_sums[b] += count
                        ratios[cells], shares[cells], columns[cells] = count / row_sum, count, b
                        cells += 1
        # columns: only those with objects get a position
        for b in range(size):
            if col_sums[b] > 0:
                position[b] = cols
                col_shares[cols] = col_sums[b] / total
                cols += 1
        # the total is known only now
        for c in range(first_cell, cells):
            columns[c] = position[columns[c]]
            shares[c] /= total
        for x in range(first_row, rows):
            row_shares[x] /= total
        totals[j] = total
        begins[0, j + 1], begins[1, j + 1], begins[2, j + 1] = cells, rows, cols


@kernel
def sum_as_numpy(values: Array, start: int, stop: int) -> float:
    """Return the sum of values[start:stop], added in the order of `numpy.sum`, so that both give the same bits.

    NumPy adds up to 128 numbers in eight interleaved sums, and halves longer arrays (pairwise summation).
    """
    n, total = stop - start, 0.0
    if n < 8:
        for i in range(start, stop):
            total += values[i]
    elif n <= 128:
        tail = stop - n % 8
        a, b, c, d = values[start], values[start + 1], values[start + 2], values[start + 3]
        e, f, g, h = values[start + 4], values[start + 5], values[start + 6], values[start + 7]
        for i in range(start + 8, tail, 8):
            a, b, c, d = a + values[i], b + values[i + 1], c + values[i + 2], d + values[i + 3]
            e, f, g, h = e + values[i + 4], f + values[i + 5], g + values[i + 6], h + values[i + 7]
        total = ((a + b) + (c + d)) + ((e + f) + (g + h))
        for i in range(tail, stop):
            total += values[i]
    else:
        half = start + n // 2 - (n // 2) % 8
        total = sum_as_numpy(values, start, half) + sum_as_numpy(values, half, stop)
    return total


@kernel
def segment_sums(values: Array, begins: Array, sums: Array) -> None:
    """Write the sum of each segment values[begins[j]:begins[j + 1]], equal to that of `numpy.sum` bit for bit."""
    for j in range(sums.shape[0]):
        sums[j] = sum_as_numpy(values, begins[j], begins[j + 1])
