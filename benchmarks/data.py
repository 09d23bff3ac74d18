"""Synthetic label tables: noisy, renamed copies of equal clusters."""

import numpy as np


def noisy_labels(n: int, r: int = 20, k: int = 10, noise: float = 0.05, seed: int = 0) -> np.ndarray:
    """(n, r) int8 labels; each cell is replaced by a random label with probability `noise`."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(k, size=n)
    columns = []
    for _ in range(r):
        renamed = rng.permutation(k)[truth]
        wrong = rng.random(n) < noise
        renamed[wrong] = rng.integers(k, size=int(wrong.sum()))
        columns.append(renamed.astype(np.int8))
    return np.stack(columns, axis=1)
