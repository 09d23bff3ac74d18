"""Synthetic label tables: noisy, renamed copies of one clustering."""

import numpy as np


def noisy_table(n: int, r: int = 20, k: int = 10, noise: float = 0.05, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """(n, r) int8 labels and the clustering they copy; a cell is a random label with probability `noise`."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(k, size=n)
    labels = np.empty((n, r), np.int8)
    for j in range(r):
        renamed = rng.permutation(k)[truth]
        wrong = rng.random(n) < noise
        renamed[wrong] = rng.integers(k, size=int(wrong.sum()))
        labels[:, j] = renamed
    return labels, truth


def noisy_labels(n: int, r: int = 20, k: int = 10, noise: float = 0.05, seed: int = 0) -> np.ndarray:
    """The labels of `noisy_table` alone."""
    return noisy_table(n, r, k, noise, seed)[0]
