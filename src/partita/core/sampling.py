"""Some of many weighted items that stand for all."""

from typing import TypeVar, cast

import numpy as np
from numpy.random import Generator

from partita.core.ensemble import Ensemble
from partita.core.soft import SoftEnsemble
from partita.core.types import FloatArray, IntArray

E = TypeVar("E", bound=Ensemble | SoftEnsemble)


def collapsed(ensemble: E) -> tuple[E, IntArray]:
    """Every different row once, standing for the objects of all its copies, and for each row its place among them.

    What is drawn or divided among these is the same whether a table was compressed before or not.
    """
    first, inverse = ensemble.distinct
    if len(first) == len(ensemble):
        return ensemble, inverse
    counts = np.bincount(inverse, weights=ensemble.counts, minlength=len(first))
    return cast(E, ensemble.rows(first).with_counts(counts)), inverse


def draw_sample(weights: FloatArray, size: int, rng: Generator) -> tuple[IntArray, FloatArray]:
    """The places of `size` items or a few more, in rising order, and the factors by which each stands for others.

    Items heavier than an even share of all weight come along as they are; the rest are drawn alike.
    """
    large = weights > weights.sum() / size
    small = np.flatnonzero(~large)
    drawn = rng.choice(small, min(size, len(small)), replace=False)
    sample = np.sort(np.concatenate([np.flatnonzero(large), drawn]))
    factor = weights[small].sum() / weights[drawn].sum() if len(small) else 1.0
    return sample, np.where(large[sample], 1.0, factor)
