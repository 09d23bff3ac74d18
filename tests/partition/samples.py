"""Graphs and hypergraphs that the tests share, and the slow obvious ways to judge a division of them."""

from itertools import product

import numpy as np
from scipy import sparse

from partita.datasets.examples import SEVEN


def matrix(vertices, edges):
    """A symmetric matrix of (a, b, weight) triples."""
    table = np.zeros((vertices, vertices))
    for a, b, weight in edges:
        table[a, b] += weight
        table[b, a] += weight
    return sparse.csr_array(table)


def two_cliques(size, bridge=1.0):
    inside = [(a + s, b + s, 1.0) for s in (0, size) for a in range(size) for b in range(a)]
    return matrix(2 * size, [*inside, (0, size, bridge)])


def ring(size):
    return matrix(size, [(i, (i + 1) % size, 1.0) for i in range(size)])


def planted(objects, columns, k, noise, seed=0):
    """Objects x clusters membership of noisy copies of k clusters, and the planted block of every vertex."""
    rng = np.random.default_rng(seed)
    truth = rng.permutation(np.arange(objects) % k)
    labels = [np.where(rng.random(objects) < noise, rng.integers(k, size=objects), truth) for _ in range(columns)]
    places = np.stack(labels, axis=1) + np.arange(columns) * k
    starts = np.arange(0, places.size + 1, columns)
    table = sparse.csr_array((np.ones(places.size), places.ravel(), starts), shape=(objects, columns * k))
    return table, np.concatenate([truth, np.tile(np.arange(k), columns)])


def seven_hyperedges():
    """The hyperedges of strehl2002's example: one a cluster, 11 in all."""
    return [
        [i for i, label in enumerate(column) if label == value]
        for column in zip(*SEVEN, strict=True)
        for value in sorted({label for label in column if label is not None})
    ]


def slow_cut(table, labels):
    dense = table.toarray() if sparse.issparse(table) else table
    size = range(len(dense))
    return sum(dense[a, b] for a in size for b in size if a < b and labels[a] != labels[b])


def slow_objective(edges, weights, labels, objective):
    touched = [len({labels[v] for v in edge}) for edge in edges]
    return sum(w * (t - 1 if objective == "km1" else t > 1) for t, w in zip(touched, weights, strict=True) if t)


def slow_balance(labels, weights, k):
    loads = [sum(w for label, w in zip(labels, weights, strict=True) if label == b) for b in range(k)]
    return k * max(loads) / sum(loads)


def slow_optimum(cost, weights, k, capacity):
    """The least cost of all divisions into k non-empty blocks within the capacity."""
    best = np.inf
    for labels in product(range(k), repeat=len(weights)):
        loads = np.bincount(labels, weights=weights, minlength=k)
        if len(set(labels)) == k and loads.max() <= capacity + 1e-9:
            best = min(best, cost(labels))
    return best
