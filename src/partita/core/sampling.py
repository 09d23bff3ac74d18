"""Some of many weighted items that stand for all."""

import numpy as np
from numpy.random import Generator

from partita.core.types import FloatArray, IntArray


def draw_sample(weights: FloatArray, size: int, rng: Generator) -> tuple[IntArray, FloatArray]:
    """The places of `size` items or a few more, in rising order, and the factors by which each stands for others.

    Items heavier than an even share of all weight come along as they are; the rest are drawn alike.
    """
    large = weights > weights.sum() / size
    small = np.flatnonzero(~large)
    drawn = rng.choice(small, min(size, len(small)), replace=False)
    sample = np.sort(np.concatenate([np.flatnonzero(large), drawn]))
    factor = weights[small].sum() / weights[drawn].sum()
    return sample, np.where(large[sample], 1.0, factor)
