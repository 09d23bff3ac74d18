"""Ensembles that tests share; every seed is a constant."""

import numpy as np

from partita import Ensemble, SoftEnsemble

SHORT_CHAINS = {"bce-gibbs": {"burn_in": 2, "draws": 6}, "nbce-gibbs": {"burn_in": 2, "draws": 6}}
"""Parameters of the samplers for tests that do not depend on convergence."""


def noisy_labels(n=60, r=7, k=4, noise=0.2, missing=0.0, seed=0):
    """r noisy, renamed copies of k clusters; returns (labels with -1 where missing, truth)."""
    rng = np.random.default_rng(seed)
    truth = rng.permutation(np.arange(n) % k)
    columns = []
    for _ in range(r):
        wrong = rng.random(n) < noise
        columns.append(np.where(wrong, rng.integers(k, size=n), rng.permutation(k)[truth]))
    labels = np.stack(columns, axis=1)
    labels[rng.random(labels.shape) < missing] = -1
    return labels, truth


def noisy(**options):
    labels, _ = noisy_labels(**options)
    return Ensemble.from_labels(labels, missing=-1, transpose=False)


def noisy_soft(n=40, r=5, k=3, seed=0):
    """Soft memberships around a common truth."""
    rng = np.random.default_rng(seed)
    truth = rng.permutation(np.arange(n) % k)
    blocks = []
    for _ in range(r):
        names = rng.permutation(k)
        blocks.append(rng.dirichlet(np.ones(k) * 0.5, n) * 0.4 + 0.6 * np.eye(k)[names[truth]])
    return SoftEnsemble.from_memberships(blocks)


def same_partition(a, b):
    """Whether two labellings are the same up to names (-1 must stand in the same places)."""
    a, b = np.asarray(a), np.asarray(b)
    pairs = set(zip(a.tolist(), b.tolist(), strict=True))
    return len(pairs) == len(set(a.tolist())) == len(set(b.tolist())) and all((x == -1) == (y == -1) for x, y in pairs)
