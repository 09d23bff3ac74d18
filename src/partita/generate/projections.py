"""Projections: every member sees the features through a random Gaussian projection to few dimensions."""

import math
from dataclasses import dataclass

from numpy.random import Generator

from partita.core.params import setting
from partita.core.types import FloatArray
from partita.generate.plans import Common, Shape, View, Way, base_of, draw_k


@dataclass(frozen=True, slots=True)
class Params(Common):
    """Settings of projections."""

    dimensions: int | None = setting(None, "how many dimensions a member sees; left out, √features", low=1)


def plan(shape: Shape, params: Params, rng: Generator) -> list[View]:
    """All objects, random directions in feature space."""
    base = base_of(params)
    dimensions = params.dimensions or max(1, round(math.sqrt(shape.features)))

    def view(own: Generator) -> View:
        k = draw_k(params, shape.objects, own)
        return View(own, k, base, projection=projection(shape.features, dimensions, own))

    return [view(own) for own in rng.spawn(params.members)]


def projection(features: int, dimensions: int, rng: Generator) -> FloatArray:
    """Entries of variance 1 / dimensions, so that squared lengths are kept on average."""
    return rng.normal(scale=1 / math.sqrt(dimensions), size=(features, dimensions))


WAY = Way(plan, Params)
