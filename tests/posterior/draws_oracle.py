"""Draws of partitions the slow, obvious way: pair by pair, partition by partition. Nothing is the package's."""

from functools import cache
from itertools import combinations
from math import log

import numpy as np


def together(labels, i, j):
    return labels[i] == labels[j]


def binder(a, b):
    """2 / n^2 for every pair that is together in one only."""
    n = len(a)
    return 2 * sum(together(a, i, j) != together(b, i, j) for i, j in combinations(range(n), 2)) / n**2


def vi(a, b):
    """H(a | b) + H(b | a), in nats, object by object."""
    n, total = len(a), 0.0
    for i in range(n):
        in_a = sum(together(a, i, j) for j in range(n))
        in_b = sum(together(b, i, j) for j in range(n))
        in_both = sum(together(a, i, j) and together(b, i, j) for j in range(n))
        total += (log(in_a / in_both) + log(in_b / in_both)) / n
    return total


DISTANCES = {"vi": vi, "binder": binder}


@cache
def partitions(n):
    """(Bell(n), n) every partition of n objects."""
    if n == 1:
        return np.zeros((1, 1), np.int64)
    smaller = partitions(n - 1)
    rows = [[*row, new] for row in smaller.tolist() for new in range(max(row) + 2)]
    return np.array(rows)


def losses(table, draws, loss):
    """(partitions,) the mean distance of all draws from each partition of a table, whole tables at a time."""
    total, n = np.zeros(len(table)), table.shape[1]
    ours = table[:, :, None] == np.arange(n)
    for draw in draws:
        theirs = draw[:, None] == np.unique(draw)
        if loss == "binder":
            pairs = (table[:, :, None] == table[:, None, :]) != (draw[:, None] == draw)
            total += pairs.sum(axis=(1, 2)) / n**2
        else:
            cells = np.einsum("pic,il->pcl", ours.astype(float), theirs.astype(float)).reshape(len(table), -1) / n
            total += 2 * entropies(cells) - entropies(ours.mean(axis=1)) - entropies(theirs.mean(axis=0)[None])
    return total / len(draws)


def entropies(shares):
    return -(shares * np.log(np.where(shares > 0, shares, 1))).sum(axis=1)


def problems(count, seed, most=9):
    """Draws of 2 to `most` objects: noise, noisy copies of one partition, and noise of varied fineness."""
    rng = np.random.default_rng(seed)
    for turn in range(count):
        n, draws = int(rng.integers(2, most + 1)), int(rng.integers(1, 25))
        k = int(rng.integers(1, n + 1))
        noise = rng.integers(n, size=(draws, n))
        if turn % 3 == 0:
            yield rng.integers(k, size=(draws, n))
        elif turn % 3 == 1:
            yield np.where(rng.random((draws, n)) < 0.3, noise, rng.integers(k, size=n))
        else:
            yield np.stack([rng.integers(rng.integers(1, n + 1), size=n) for _ in range(draws)])
