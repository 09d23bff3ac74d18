"""The rows that share most labels with a row, without a matrix of all pairs."""

import numpy as np

from partita.kernels.agreement import add_where_equal, clear
from partita.kernels.compiling import Array, kernel


@kernel
def count_from(shared: Array, least: int) -> int:
    """How many candidates share at least so much."""
    found = 0
    for c in range(shared.shape[0]):
        found += shared[c] >= least
    return found


@kernel
def border(shared: Array, wanted: int, total: int) -> int:
    """The largest amount, at least 1, that `wanted` candidates share; 1 when there is none."""
    low, high = 1, total + 1
    while high - low > 1:
        middle = (low + high) // 2
        if count_from(shared, middle) >= wanted:
            low = middle
        else:
            high = middle
    return low


@kernel
def strongest(labels: Array, first: int, columns: Array, candidates: Array, weights: Array, out: Array) -> None:
    """Write to `out[i]` the candidates that share most with row `first + i`, not itself; -1 where there are fewer.

    `labels` holds the rows from `first`, `columns` (r, candidates) the labels of the candidates, which rise, `weights`
    (r,) whole numbers of a type that holds their sum. Of equals at the border those are taken that come first after a
    place of the row's own, so that none is in everybody's list.
    """
    size, wanted = candidates.shape[0], out.shape[1]
    shared = np.empty(size, weights.dtype)
    total = 0
    for j in range(weights.shape[0]):
        total += weights[j]
    for i in range(labels.shape[0]):
        clear(shared)
        for j in range(labels.shape[1]):
            if labels[i, j] >= 0:
                add_where_equal(columns[j], labels[i, j], weights[j], shared)
        own = np.searchsorted(candidates, first + i)
        if own < size and candidates[own] == first + i:
            shared[own] = 0
        low = border(shared, wanted, total)
        ties = wanted - count_from(shared, low + 1)
        taken = 0
        place = (first + i) * 2654435761 % size
        for _ in range(size):
            near = shared[place] > low or (shared[place] == low and ties > 0)
            if near and taken < wanted:
                ties -= shared[place] == low
                out[i, taken] = candidates[place]
                taken += 1
            place = place + 1 if place + 1 < size else 0
        for rest in range(taken, wanted):
            out[i, rest] = -1


@kernel
def shared_weights(labels: Array, first: int, edges: Array, neighbours: Array, out: Array) -> None:
    """Write to `out[i, m]` the weight of the columns in which row `first + i` and its neighbour m agree."""
    for i in range(neighbours.shape[0]):
        for m in range(neighbours.shape[1]):
            other = neighbours[i, m]
            total = 0.0
            if other >= 0:
                for j in range(labels.shape[1]):
                    if labels[first + i, j] >= 0 and labels[first + i, j] == labels[other, j]:
                        total += edges[j]
            out[i, m] = total
