"""The credible ball around a partition (Wade and Ghahramani 2018): the draws nearest to it, and their extremes."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from partita.core.draws import Draws
from partita.core.errors import ParameterError
from partita.core.types import BoolArray, FloatArray, FrozenArrays, IntArray
from partita.posterior.losses import Loss, distances

SAME: float = 1e-12
"""Distances that differ by less are equal: the difference is rounding."""


@dataclass(frozen=True, eq=False)
class Bound(FrozenArrays):
    """A draw at the edge of a credible ball."""

    labels: IntArray
    """(n,) the first of the draws that tie."""
    clusters: int
    distance: float
    """From the centre."""
    draws: IntArray
    """Which draws tie, in order: as far, and for a vertical bound of as many clusters."""


@dataclass(frozen=True, eq=False)
class Ball(FrozenArrays):
    """The draws within a distance of a partition that hold at least `level` of the posterior, and their extremes."""

    level: float
    radius: float
    """The least distance within which at least `level` of the draws lie."""
    share: float
    """The share of the draws that do; more than `level` where distances tie or draws are few."""
    upper: Bound
    """Vertical: of those with fewest clusters, the farthest."""
    lower: Bound
    """Vertical: of those with most clusters, the farthest."""
    horizontal: Bound
    """The farthest of all."""


def check_level(level: Any) -> float:
    """A share of the posterior, above 0 and at most 1."""
    try:
        share = float(level)
    except (TypeError, ValueError):
        share = math.nan
    if not 0.0 < share <= 1.0:
        raise ParameterError(f"level={level!r} is no share of the draws; give one above 0 and at most 1, such as 0.95")
    return share


def credible_ball(draws: Draws, labels: Any, loss: Loss = "vi", level: float = 0.95) -> Ball:
    """The smallest ball around a partition that holds at least `level` of the draws, with its bounds.

    >>> draws = Draws.of([[0, 0, 1, 1], [0, 0, 0, 1], [0, 0, 0, 0], [0, 1, 2, 3]])
    >>> ball = credible_ball(draws, [0, 0, 1, 1], level=0.75)
    >>> round(ball.radius, 3), ball.upper.clusters, ball.lower.clusters
    (0.693, 1, 4)
    """
    share = check_level(level)
    far = distances(draws, labels, loss)
    needed = math.ceil(share * len(far) - 1e-9)  # 0.95 of 20 draws are 19, whatever the product rounds to
    radius = float(np.sort(far)[max(needed, 1) - 1])
    inside = far <= radius + SAME
    sizes = draws.sizes
    return Ball(
        share,
        radius,
        float(inside.mean()),
        _farthest(draws, far, inside & (sizes == sizes[inside].min())),
        _farthest(draws, far, inside & (sizes == sizes[inside].max())),
        _farthest(draws, far, inside),
    )


def _farthest(draws: Draws, far: FloatArray, among: BoolArray) -> Bound:
    most = far[among].max()
    ties = np.flatnonzero(among & (far >= most - SAME))
    labels = draws.labels[ties[0]].astype(np.int32)
    return Bound(labels, int(draws.sizes[ties[0]]), float(far[ties[0]]), ties)
