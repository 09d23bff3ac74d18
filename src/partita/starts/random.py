"""Random start: every row gets any label with equal chance."""

import numpy as np
from numpy.random import Generator

from partita.core.ensemble import Ensemble
from partita.core.types import IntArray


def random_start(ensemble: Ensemble, k: int, rng: Generator) -> IntArray:
    """(n,) labels drawn uniformly, every one of the k at least once when there are rows enough."""
    labels = rng.integers(k, size=len(ensemble)).astype(np.int32)
    holders = rng.permutation(len(ensemble))[:k]
    labels[holders] = np.arange(len(holders))
    return labels
