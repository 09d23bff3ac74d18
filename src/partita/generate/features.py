"""Feature subsets: every member sees some of the features, drawn at random (FDC)."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from partita.core.errors import ParameterError
from partita.core.params import setting
from partita.core.types import IntArray
from partita.generate.plans import Common, Shape, View, Way, base_of, draw_k, share_of


@dataclass(frozen=True, slots=True)
class Params(Common):
    """Settings of features."""

    size: int | None = setting(None, "how many features a member sees; left out, a share of them", low=1)
    share: float = setting(0.5, "which share of the features a member sees", low=0, high=1)


def plan(shape: Shape, params: Params, rng: Generator) -> list[View]:
    """All objects, some features."""
    base, size = base_of(params), features_seen(params, shape.features)

    def view(own: Generator) -> View:
        return View(own, draw_k(params, shape.objects, own), base, features=some_features(shape, size, own))

    return [view(own) for own in rng.spawn(params.members)]


def features_seen(params: Params, features: int) -> int:
    """How many features a member sees."""
    if params.size is not None and params.size > features:
        raise ParameterError(f"size={params.size} is more than the {features} features there are; give a smaller size")
    return params.size or share_of(params.share, features)


def some_features(shape: Shape, size: int, rng: Generator) -> IntArray:
    """Some of the features, in the order of the table."""
    return np.sort(rng.choice(shape.features, size, replace=False))


WAY = Way(plan, Params, "strehl2002")
