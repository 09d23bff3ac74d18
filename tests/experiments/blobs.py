"""Small data with clear clusters, in place of the papers' data sets."""

import numpy as np

from partita.datasets.base import Dataset
from partita.experiments.exhibit import Trial


def blobs(name: str, n: int = 60, d: int = 12, k: int = 3) -> Dataset:
    """k groups far apart in every feature, in order."""
    rng = np.random.default_rng(5)
    labels = np.arange(n) * k // n
    return Dataset(name, 10.0 * labels[:, None] + rng.normal(size=(n, d)), labels, tuple("abcdefghijklm"[:k]))


def trial(row, seed=0, data=blobs):
    return Trial(row, np.random.default_rng(seed), True, data)


def published(paper):
    from partita.experiments.papers import csv_of, get
    from partita.experiments.published import read_published

    return read_published(csv_of(paper), get(paper))
