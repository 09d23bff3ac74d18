"""Distinct rows of a matrix of machine words, exactly, by one hash table."""

import numpy as np

from partita.kernels.compiling import Array, kernel


@kernel
def hash_rows(words: Array, hashes: Array, start: int, stop: int) -> None:
    """Write a 64-bit hash of each row in `start..stop`; equal rows get equal hashes."""
    for i in range(start, stop):
        x = np.uint64(0x9E3779B97F4A7C15)
        for j in range(words.shape[1]):
            x = (x ^ np.uint64(words[i, j])) * np.uint64(0xFF51AFD7ED558CCD)
            x ^= x >> np.uint64(32)
        hashes[i] = x


@kernel
def number_rows(words: Array, hashes: Array, table: Array, first: Array, inverse: Array) -> int:
    """Number the distinct rows by first appearance; returns how many there are.

    `table` is an open-addressing hash table (a power of two, filled with -1). Rows whose hashes agree are compared
    word by word, so a collision costs time and never merges two rows.
    """
    mask = np.uint64(table.shape[0] - 1)
    found = 0
    for i in range(words.shape[0]):
        slot = hashes[i] & mask
        while True:
            number = table[slot]
            if number < 0:
                table[slot] = found
                first[found] = i
                inverse[i] = found
                found += 1
                break
            other = first[number]
            same = hashes[other] == hashes[i]
            if same:
                for j in range(words.shape[1]):
                    if words[other, j] != words[i, j]:
                        same = False
                        break
            if same:
                inverse[i] = number
                break
            slot = (slot + np.uint64(1)) & mask
    return found
