"""From integer label values to the codes 0, 1, 2, … in order of first appearance."""

import numpy as np

from partita.kernels.compiling import Array, kernel


@kernel
def value_ranges(values: Array, sentinel: int, low: Array, high: Array, start: int, stop: int) -> None:
    """Smallest and largest value of each column over `start..stop`, `sentinel` (a missing cell) left out."""
    for i in range(start, stop):
        for j in range(values.shape[1]):
            x = values[i, j]
            if x != sentinel:
                low[j] = min(low[j], x)
                high[j] = max(high[j], x)


@kernel
def first_codes(values: Array, sentinel: int, low: Array, offsets: Array, codes: Array, found: Array) -> None:
    """Number the values of each column by first appearance.

    `codes[offsets[j] + value - low[j]]` is the code of a value: -1 on entry for one not seen yet, -2 for one that
    means missing. `found[j]` counts the codes of column j. Ends when every value has its code.
    """
    left = 0
    for place in range(codes.shape[0]):
        left += codes[place] == -1
    for i in range(values.shape[0]):
        if left == 0:
            break
        for j in range(values.shape[1]):
            x = values[i, j]
            if x != sentinel:
                place = offsets[j] + x - low[j]
                if codes[place] == -1:
                    codes[place] = found[j]
                    found[j] += 1
                    left -= 1


@kernel
def number_rows_apart(values: Array, width: int, out: Array, start: int, stop: int) -> int:
    """Number the values 0 … width - 1 of each row by first appearance, below 0 all to -1; returns the most of a row."""
    codes = np.empty(width, np.int32)
    most = 0
    for s in range(start, stop):
        codes[:] = -1
        found = 0
        for i in range(values.shape[1]):
            x = values[s, i]
            if x < 0:
                out[s, i] = -1
                continue
            if codes[x] < 0:
                codes[x] = found
                found += 1
            out[s, i] = codes[x]
        most = max(most, found)
    return most


@kernel
def write_codes(
    values: Array, sentinel: int, low: Array, offsets: Array, codes: Array, out: Array, start: int, stop: int
) -> None:
    """Look every value up: `out` gets its code, or -1 where it is missing."""
    for i in range(start, stop):
        for j in range(values.shape[1]):
            x = values[i, j]
            code = -1
            if x != sentinel:
                code = max(codes[offsets[j] + x - low[j]], -1)
            out[i, j] = code
