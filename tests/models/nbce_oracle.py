"""Nonparametric Bayesian cluster ensembles by enumeration: every assignment of few objects to K clusters, term by term.

Slow and obvious: nothing here is shared with the package. Labels are (n, r) whole numbers, -1 where unobserved; sizes
are the numbers of labels of the clusterings; a label of clustering j counts weights[j].
"""

from collections.abc import Sequence
from itertools import product
from math import exp, lgamma, log

import numpy as np


def log_prior(z: Sequence[int], clusters: int, alpha: float, prior: str) -> float:
    """log p(Z), the stick lengths or shares integrated out; clusters are 0 … clusters - 1."""
    n = [sum(1 for c in z if c == k) for k in range(clusters)]
    if prior == "fsd":
        whole = lgamma(alpha) - lgamma(alpha + len(z))
        return whole + sum(lgamma(alpha / clusters + m) - lgamma(alpha / clusters) for m in n)
    assert prior == "tsb"
    total = 0.0
    for k in range(clusters - 1):
        beyond = sum(n[k + 1 :])
        total += log(alpha) + lgamma(1 + n[k]) + lgamma(alpha + beyond) - lgamma(1 + alpha + n[k] + beyond)
    return total


def log_labels(labels, sizes, z, clusters, beta, weights=None) -> float:
    """log p(Y | Z), every cluster's label chances integrated out under a symmetric Dirichlet(beta)."""
    weights = [1.0] * len(sizes) if weights is None else weights
    total = 0.0
    for j, size in enumerate(sizes):
        for k in range(clusters):
            seen = [labels[i][j] for i in range(len(z)) if z[i] == k and labels[i][j] >= 0]
            counts = [weights[j] * sum(1 for y in seen if y == label) for label in range(size)]
            total += lgamma(size * beta) - lgamma(size * beta + sum(counts))
            total += sum(lgamma(beta + count) - lgamma(beta) for count in counts)
    return total


class Exact:
    """The posterior over all assignments of the objects of a small table."""

    def __init__(self, labels, sizes, clusters, alpha, beta, prior, weights=None) -> None:
        self.n, self.clusters = len(labels), clusters
        self.assignments = list(product(range(clusters), repeat=self.n))
        self.log_joints = np.array(
            [
                log_prior(z, clusters, alpha, prior) + log_labels(labels, sizes, z, clusters, beta, weights)
                for z in self.assignments
            ]
        )
        top = self.log_joints.max()
        self.log_evidence = float(top + np.log(np.exp(self.log_joints - top).sum()))
        self.chances = np.exp(self.log_joints - self.log_evidence)

    def co_clustering(self) -> np.ndarray:
        """(n, n) the posterior chance that two objects are together."""
        together = np.zeros((self.n, self.n))
        for chance, z in zip(self.chances, self.assignments, strict=True):
            together += chance * np.equal.outer(z, z)
        return together

    def numbers(self) -> np.ndarray:
        """(clusters + 1,) the posterior chance of each number of clusters that hold an object."""
        found = np.zeros(self.clusters + 1)
        for chance, z in zip(self.chances, self.assignments, strict=True):
            found[len(set(z))] += chance
        return found

    def collapsed_bound(self, gamma: np.ndarray) -> float:
        """E_q[log p(Y, Z)] + H(q) for q(Z) = prod_i gamma[i, z_i]."""
        total = 0.0
        for joint, z in zip(self.log_joints, self.assignments, strict=True):
            chance = float(np.prod([gamma[i, c] for i, c in enumerate(z)]))
            total += chance * (joint - log(chance)) if chance > 0 else 0.0
        return total


def prior_mass(n: int, clusters: int, alpha: float, prior: str) -> float:
    """The sum of p(Z) over all assignments: 1."""
    return sum(exp(log_prior(z, clusters, alpha, prior)) for z in product(range(clusters), repeat=n))
