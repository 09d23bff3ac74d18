"""Data sets made from their description; each maker takes a generator and returns a new draw.

`load` uses them with the fixed seed `SEED` where a data set's file is absent. That makes the very files of 2d2k, 8d5k
and two_spirals, to their last printed digit; halfrings and synthetic_control come out as other draws of the same kind.
"""

from typing import Final

import numpy as np
from numpy.random import Generator

from partita.core.types import FloatArray, IntArray
from partita.datasets.base import Dataset

SEED: Final = 2002
"""The seed of `load` where it makes a data set: the year of strehl2002, the first one tried."""

SPREAD: Final = 0.1
"""Standard deviation of 2D2K and 8D5K. The paper says variance, with which its own scores cannot be had."""

CHARTS: Final = ("normal", "cyclic", "increasing", "decreasing", "upward_shift", "downward_shift")


def make_2d2k(rng: Generator) -> Dataset:
    """2D2K of strehl2002 §4.1: 500 points around each of two centres in the plane, standard deviation 0.1."""
    centres = np.array([[-0.227, 0.077], [0.095, 0.323]])
    return _clouds("2d2k", centres, 500, rng)


def make_8d5k(rng: Generator) -> Dataset:
    """8D5K of strehl2002 §4.1: 200 points around each of five centres from the unit cube, standard deviation 0.1."""
    return _clouds("8d5k", rng.random((5, 8)), 200, rng)


def make_halfrings(rng: Generator) -> Dataset:
    """Half-rings of topchy2004 Fig 2 (Jain and Law): a thin arch of 100 points over a dense bowl of 300.

    The paper gives the sizes and a picture. Centres and radii are those of the points that go round under this name;
    angles and radii are uniform.
    """
    arch = _band(100, (0.3315, 0.262), (0.161, 0.336), rng)
    bowl = _band(300, (0.6657, 0.3347), (0.252, 0.336), rng, below=True)
    return _dataset("halfrings", np.concatenate([arch, bowl]), [100, 300], ("1", "2"))


def make_spirals(rng: Generator, noise: float = 0.0) -> Dataset:
    """Two spirals of topchy2004 Fig 2: 100 points each, one the other turned by half a circle.

    Point i = 1..100 lies at radius (8 + i) / 16 and angle pi/2 - i pi/32. `noise` is the standard deviation of what is
    added to each coordinate; the paper has none, and without it nothing is drawn from `rng`.
    """
    step = np.arange(1, 101)
    radius, angle = (8 + step) / 16, np.pi / 2 - step * np.pi / 32
    arm = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    points = np.concatenate([arm, -arm])
    if noise:
        points = points + noise * rng.standard_normal(points.shape)
    return _dataset("two_spirals", points, [100, 100], ("1", "2"))


def make_control_charts(rng: Generator, each: int = 100, length: int = 60) -> Dataset:
    """Control charts of Alcock and Manolopoulos (1999): six kinds of series, `each` of a kind.

    y(t) = m + r s with m = 30, s = 2 and r uniform in [-3, 3] at every step; to this add, with values drawn once for a
    series: cyclic a sin(2 pi t / T), a and T in [10, 15]; trends g t or -g t, g in [0.2, 0.5]; shifts x or -x, x in
    [7.5, 20], from a step t3 in [length/3, 2 length/3] on. Steps count from t = 0, as they do in the file at UCI.
    """
    t = np.arange(length)
    X = 30 + 2 * rng.uniform(-3, 3, (6, each, length))
    height, period = rng.uniform(10, 15, (2, each, 1))
    X[1] += height * np.sin(2 * np.pi * t / period)
    X[2:4] += np.array([1, -1])[:, None, None] * rng.uniform(0.2, 0.5, (2, each, 1)) * t
    later = t >= rng.uniform(length / 3, 2 * length / 3, (2, each, 1))
    X[4:6] += np.array([1, -1])[:, None, None] * rng.uniform(7.5, 20, (2, each, 1)) * later
    return _dataset("synthetic_control", X.reshape(6 * each, length), [each] * 6, CHARTS)


def make_outliers(rng: Generator, each: int = 100, outliers: int = 10) -> Dataset:
    """Two clusters with outliers, in the manner of wang2010 Fig 3: `each` points in a cluster, outliers around them.

    The paper gives a picture without numbers, so sizes and places are ours: standard deviation 1 around (-4, 0) and
    (4, 0), outliers uniform in the box [-10, 10] x [-10, 10] at least 4 away from both centres, as a third class.
    """
    centres = np.array([[-4.0, 0.0], [4.0, 0.0]])
    points = np.repeat(centres, each, axis=0) + rng.standard_normal((2 * each, 2))
    strays = np.empty((0, 2))
    while len(strays) < outliers:
        tried = rng.uniform(-10, 10, (4 * outliers, 2))
        away = np.linalg.norm(tried[:, None] - centres, axis=2).min(axis=1)
        strays = np.concatenate([strays, tried[away >= 4]])
    found = np.concatenate([points, strays[:outliers]])
    return _dataset("outliers", found, [each, each, outliers], ("left", "right", "outlier"))


def noise_labels(rng: Generator, n: int = 400, k: int = 10) -> IntArray:
    """The labelling whose noisy copies strehl2002 Fig 5 combines: n objects in k groups of equal size, mixed."""
    return rng.permutation(np.arange(n) % k)


def _clouds(name: str, centres: FloatArray, each: int, rng: Generator) -> Dataset:
    points = np.concatenate([centre + SPREAD * rng.standard_normal((each, len(centre))) for centre in centres])
    k = len(centres)
    return _dataset(name, points, [each] * k, tuple(str(c) for c in range(k)))


def _band(
    n: int, centre: tuple[float, float], radii: tuple[float, float], rng: Generator, below: bool = False
) -> FloatArray:
    """Points of half a ring above its centre, or below."""
    angle = rng.uniform(0, np.pi, n) * (-1 if below else 1)
    points: FloatArray = centre + rng.uniform(*radii, (n, 1)) * np.column_stack([np.cos(angle), np.sin(angle)])
    return points


def _dataset(name: str, points: FloatArray, counts: list[int], classes: tuple[str, ...]) -> Dataset:
    return Dataset(name, points, np.repeat(np.arange(len(counts)), counts), classes, "made from its description")
