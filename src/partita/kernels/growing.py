"""A hash table of different rows that grows row by row, for tables that are never in memory as a whole."""

import numpy as np

from partita.kernels.compiling import Array, kernel


@kernel
def mark_values(values: Array, low: int, seen: Array) -> None:
    """Mark which of the values `low`, `low + 1`, … occur."""
    for i in range(values.shape[0]):
        seen[values[i] - low] = True


@kernel
def translate(values: Array, low: int, codes: Array, column: Array) -> None:
    """Write to `column` the code of each value, `codes[value - low]`."""
    for i in range(values.shape[0]):
        column[i] = codes[values[i] - low]


@kernel
def hash_codes(codes: Array, hashes: Array) -> None:
    """Write a 64-bit hash of each row; the same codes get the same hash in whatever type they come."""
    for i in range(codes.shape[0]):
        x = np.uint64(0x9E3779B97F4A7C15)
        for j in range(codes.shape[1]):
            x = (x ^ np.uint64(codes[i, j] + 1)) * np.uint64(0xFF51AFD7ED558CCD)
            x ^= x >> np.uint64(32)
        hashes[i] = x


@kernel
def same_row(kept: Array, number: int, codes: Array, i: int) -> bool:
    """Whether row `number` of one table is row `i` of the other."""
    j = 0
    while j < codes.shape[1] and kept[number, j] == codes[i, j]:
        j += 1
    return j == codes.shape[1]  # type: ignore[no-any-return]  # a truth value to the machine


@kernel
def add_rows(codes: Array, counts: Array, hashes: Array, slots: Array, kept: Array, totals: Array, found: int) -> int:
    """Add rows, each standing for `counts[i]` objects, to the `found` different ones in `kept`.

    `slots` is an open-addressing table (a power of two, -1 where empty), `hashes` those of `codes`. Returns how many
    different rows there are now; there must be room for all of them.
    """
    mask = np.uint64(slots.shape[0] - 1)
    for i in range(codes.shape[0]):
        slot = hashes[i] & mask
        while True:
            number = slots[slot]
            if number < 0:
                slots[slot] = found
                for j in range(codes.shape[1]):
                    kept[found, j] = codes[i, j]
                totals[found] = counts[i]
                found += 1
                break
            if same_row(kept, number, codes, i):
                totals[number] += counts[i]
                break
            slot = (slot + np.uint64(1)) & mask
    return found


@kernel
def place_slots(hashes: Array, slots: Array) -> None:
    """Enter the different rows 0, 1, … with these hashes into an empty table."""
    mask = np.uint64(slots.shape[0] - 1)
    for number in range(hashes.shape[0]):
        slot = hashes[number] & mask
        while slots[slot] >= 0:
            slot = (slot + np.uint64(1)) & mask
        slots[slot] = number


@kernel
def find_rows(codes: Array, hashes: Array, slots: Array, kept: Array, numbers: Array) -> None:
    """Write the number of each row among those kept, -1 for one that is not there."""
    mask = np.uint64(slots.shape[0] - 1)
    for i in range(codes.shape[0]):
        slot = hashes[i] & mask
        numbers[i] = -1
        while slots[slot] >= 0:
            number = slots[slot]
            if same_row(kept, number, codes, i):
                numbers[i] = number
                break
            slot = (slot + np.uint64(1)) & mask
