"""What sampled partitions say of one partition: distances, company, pairs; time linear in objects times draws.

A partition comes as `members`, the objects cluster after cluster, and `starts`, where each cluster begins among them.
A cluster's line of the table with a draw is counted in a scratch line and cleared again, so that no table is ever held.
"""

import math

import numpy as np

from partita.kernels.compiling import Array, kernel


@kernel
def term(count: int, information: bool) -> float:
    """What a count adds to a loss: m log m, or the square."""
    return count * math.log(count) if information else float(count) * count


@kernel
def measure_draws(
    labels: Array, members: Array, starts: Array, information: bool, out: Array, start: int, stop: int
) -> None:
    """Write the distance of each draw start..stop: the terms of both partitions' sizes, less twice the cells'."""
    width, own = labels.shape[1], 0.0
    for c in range(starts.shape[0] - 1):
        own += term(starts[c + 1] - starts[c], information)
    cells, sizes = np.zeros(width, np.int64), np.zeros(width, np.int64)
    for s in range(start, stop):
        joint, other, top = 0.0, 0.0, -1
        for c in range(starts.shape[0] - 1):
            for j in range(starts[c], starts[c + 1]):
                label = labels[s, members[j]]
                cells[label] += 1
                top = max(top, label)
            for j in range(starts[c], starts[c + 1]):
                label = labels[s, members[j]]
                if cells[label] > 0:
                    joint += term(cells[label], information)
                    sizes[label] += cells[label]
                    cells[label] = 0
        for label in range(top + 1):
            if sizes[label] > 0:
                other += term(sizes[label], information)
                sizes[label] = 0
        out[s] = own + other - 2.0 * joint


@kernel
def add_company(labels: Array, members: Array, starts: Array, out: Array, start: int, stop: int) -> None:
    """Add, over the draws start..stop, the other members of its cluster that an object has with it in the draw.

    An object that is a cluster by itself adds 1 for every draw in which it is one too.
    """
    width = labels.shape[1]
    cells, sizes = np.zeros(width, np.int64), np.zeros(width, np.int64)
    for s in range(start, stop):
        for i in members:
            sizes[labels[s, i]] += 1
        for c in range(starts.shape[0] - 1):
            if starts[c + 1] - starts[c] == 1:
                out[members[starts[c]]] += sizes[labels[s, members[starts[c]]]] == 1
                continue
            for j in range(starts[c], starts[c + 1]):
                cells[labels[s, members[j]]] += 1
            for j in range(starts[c], starts[c + 1]):
                out[members[j]] += cells[labels[s, members[j]]] - 1
            for j in range(starts[c], starts[c + 1]):
                cells[labels[s, members[j]]] = 0
        for i in members:
            sizes[labels[s, i]] = 0


@kernel
def count_together(rows: Array, first: Array, second: Array, out: Array, start: int, stop: int) -> None:
    """Write in how many draws the objects of each pair start..stop are together; rows are (n, draws)."""
    for pair in range(start, stop):
        out[pair] = agreeing(rows, first[pair], second[pair])


@kernel
def agreeing(rows: Array, a: int, b: int) -> int:
    """In how many columns two rows agree."""
    total = 0
    for s in range(rows.shape[1]):
        total += rows[a, s] == rows[b, s]
    return total


@kernel
def count_row(rows: Array, i: int, first: int, out: Array) -> None:
    """Write in how many draws object i is with each object from `first` on."""
    for j in range(first, rows.shape[0]):
        out[j] = agreeing(rows, i, j)
