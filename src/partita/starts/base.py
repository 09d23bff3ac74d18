"""Base start: a base clustering drawn at random (by weight), cut or filled up to k clusters."""

import numpy as np
from numpy.random import Generator

from partita.core.ensemble import Ensemble
from partita.core.types import IntArray
from partita.starts.random import random_start


def base_start(ensemble: Ensemble, k: int, rng: Generator) -> IntArray:
    """(n,) labels of a drawn base clustering; its k largest clusters stay, other rows get a random label."""
    j = int(rng.choice(len(ensemble.names), p=ensemble.weights / ensemble.weights.sum()))
    column = ensemble.labels[:, j].astype(np.int64)
    known = column >= 0
    sizes = np.bincount(column[known], weights=ensemble.counts[known], minlength=ensemble.sizes[j])
    largest = np.argsort(-sizes, kind="stable")[:k]
    target = np.full(ensemble.sizes[j] + 1, -1, np.int32)
    target[largest] = np.arange(len(largest))
    labels: IntArray = target[column]
    spare = labels < 0
    if len(largest) < k:
        spare = spare | (rng.random(len(column)) < 1 - len(largest) / k)
    labels[spare] = random_start(ensemble, k, rng)[spare]
    return labels
