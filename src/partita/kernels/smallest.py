"""The few smallest of many numbers."""

import numpy as np

from partita.kernels.compiling import Array, kernel


@kernel
def keep_smallest(table: Array, places: Array, values: Array) -> None:
    """Write the smallest entries of each row of the table, in rising order, the first of equals first."""
    count = places.shape[1]
    for i in range(table.shape[0]):
        for q in range(count):
            values[i, q] = np.inf
            places[i, q] = 0
        for c in range(table.shape[1]):
            value = table[i, c]
            if value < values[i, count - 1]:
                q = count - 1
                while q > 0 and values[i, q - 1] > value:
                    values[i, q] = values[i, q - 1]
                    places[i, q] = places[i, q - 1]
                    q -= 1
                values[i, q] = value
                places[i, q] = c
