"""Weak cuts: random directions, cut at random places into k cells; each member knows little, many know much."""

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from partita.core.params import setting
from partita.core.types import FloatArray, IntArray
from partita.generate.base import Clusterer, Fitted
from partita.generate.plans import Common, Shape, View, Way, draw_k
from partita.generate.projections import projection


@dataclass(frozen=True, slots=True)
class Params(Common):
    """Settings of cuts."""

    base: None = setting(None, "none: the cuts are the clustering")
    directions: int = setting(1, "along how many random directions a member cuts", low=1)


class Cut(NamedTuple):
    """One cut: objects of a cell beyond a threshold along a direction become a new cell."""

    cell: int
    direction: int
    threshold: float


def plan(shape: Shape, params: Params, rng: Generator) -> list[View]:
    """All objects along random directions."""

    def view(own: Generator) -> View:
        k = draw_k(params, shape.objects, own)
        return View(own, k, CUTTER, projection=projection(shape.features, params.directions, own))

    return [view(own) for own in rng.spawn(params.members)]


def fit(X: FloatArray, k: int, params: Any, rng: Generator) -> Fitted:
    """Make k cells, none of them empty; fewer where the objects do not differ enough.

    Each cut takes the cell of an object drawn at random and one of the directions, and parts the cell between two
    neighbouring values there, all ranks being equally likely.
    """
    cuts: list[Cut] = []
    labels = np.zeros(len(X), np.int32)
    whole = np.zeros(len(X), bool)  # cells that no direction parts
    while len(cuts) < k - 1 and not whole.all():
        cell = int(labels[rng.choice(np.flatnonzero(~whole))])
        inside = np.flatnonzero(labels == cell)
        cut = _cut(X[inside], cell, rng)
        if cut is None:
            whole[inside] = True
            continue
        cuts.append(cut)
        labels[inside[X[inside, cut.direction] > cut.threshold]] = len(cuts)
    return Fitted(labels, place=partial(_place, tuple(cuts)))


def _cut(inside: FloatArray, cell: int, rng: Generator) -> Cut | None:
    """A cut of these objects along a direction in which they differ, None where there is none."""
    able = np.flatnonzero(inside.max(axis=0) > inside.min(axis=0))
    if not len(able):
        return None
    direction = int(rng.choice(able))
    values = np.sort(inside[:, direction])
    places = np.flatnonzero(values[1:] > values[:-1])
    return Cut(cell, direction, float(values[rng.choice(places)]))


def _place(cuts: tuple[Cut, ...], X: FloatArray) -> IntArray:
    labels = np.zeros(len(X), np.int32)
    for number, cut in enumerate(cuts, 1):
        labels[(labels == cut.cell) & (X[:, cut.direction] > cut.threshold)] = number
    return labels


@dataclass(frozen=True, slots=True)
class NoSettings:
    """A cutter has none."""


CUTTER = Clusterer(fit, NoSettings, soft=False, places=True)
WAY = Way(plan, Params, "topchy2004", bases=lambda params: (CUTTER,))
