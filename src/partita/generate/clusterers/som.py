"""Self-organising map: k units on a line or a grid, trained in batches while their neighbourhood shrinks (Kohonen)."""

import math
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
from numpy.random import Generator

from partita.core.params import setting
from partita.core.types import FloatArray, IntArray
from partita.generate.base import Clusterer, Fitted
from partita.generate.clusterers.nearest import nearest_centres
from partita.generate.clusterers.similarity import scatter
from partita.kernels.lloyd import add_points

LAST_RADIUS = 0.2
"""The neighbourhood at the end, in steps of the grid: a unit then hardly feels the next."""


@dataclass(frozen=True, slots=True)
class Params:
    """Settings of the self-organising map."""

    dimensions: Literal[1, 2] = setting(2, "units on a line, or on the squarest grid of k units")
    epochs: int = setting(30, "how often all objects are shown", low=1)


def fit(X: FloatArray, k: int, params: Params, rng: Generator) -> Fitted:
    """Units start at random objects; in each epoch they move to the mean of the objects of their neighbourhood."""
    units = X[rng.choice(len(X), k, replace=False)]
    steps = squared_steps(k, params.dimensions)
    first = max(math.sqrt(float(steps.max())) / 2, LAST_RADIUS)
    for radius in np.geomspace(first, LAST_RADIUS, params.epochs):
        units = moved(X, units, np.exp(-steps / (2 * radius**2)))
    return Fitted(_place(units, X), place=partial(_place, units))


def squared_steps(k: int, dimensions: int) -> FloatArray:
    """(k, k) squared distances of units on the grid; a prime number of units lie on a line in any case."""
    wide = k if dimensions == 1 else next(w for w in range(math.isqrt(k), 0, -1) if k % w == 0)
    places = np.array([divmod(unit, wide) for unit in range(k)], float)
    return scatter((places[:, None] - places).reshape(k * k, 2)).reshape(k, k)


def moved(X: FloatArray, units: FloatArray, near: FloatArray) -> FloatArray:
    """The units at the means of the objects, weighted by how near their units are; far from all, a unit stays."""
    sums, masses = np.zeros(units.shape), np.zeros(len(units))
    add_points(X, np.ones(len(X)), nearest_centres(X, units)[0], sums, masses, 0, len(X))
    weight = near @ masses
    felt = weight > 0
    return np.asarray(np.where(felt[:, None], (near @ sums) / np.where(felt, weight, 1.0)[:, None], units))


def _place(units: FloatArray, X: FloatArray) -> IntArray:
    return nearest_centres(X, units)[0]


CLUSTERER = Clusterer(fit, Params, soft=False, places=True, cite="strehl2002")
