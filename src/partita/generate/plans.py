"""What a way to make ensembles is: settings in, one view of the data for each member out."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

import numpy as np
from numpy.random import Generator

from partita.core.errors import ParameterError
from partita.core.params import setting
from partita.core.types import FloatArray, IntArray

MOST_UNASKED: Final = 50
"""The largest k that a member draws where no k is given."""


class Shape(NamedTuple):
    """How many objects and features there are."""

    objects: int
    features: int


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """What one member sees of the data, and what it makes of it."""

    rng: Generator
    """Its own, so that the number of threads and of other members changes nothing."""
    k: int
    base: Any
    """A name from `CLUSTERERS`, a `Clusterer`, or a scikit-learn clusterer."""
    rows: IntArray | None = None
    """The objects it sees, perhaps some of them more than once; None: all."""
    features: IntArray | None = None
    """The features it sees; None: all."""
    projection: FloatArray | None = None
    """(features seen, dimensions) what they are multiplied by; None: nothing."""
    complete: bool = False
    """Whether objects it does not see are placed, where the base clusterer can; else they have no label."""
    title: str = ""
    """What the member is called; left out, it is called after the way."""

    def of(self, X: FloatArray) -> FloatArray:
        """Objects as this member sees them."""
        seen = X if self.features is None else X[:, self.features]
        seen = seen if self.projection is None else seen @ self.projection
        return np.ascontiguousarray(seen)


@dataclass(frozen=True, slots=True)
class Common:
    """Settings that every way has."""

    members: int = setting(20, "how many base clusterings are made", low=1)
    k: int | tuple[int, ...] | str | None = setting(
        None,
        "clusters of each member: a number, or a range low..high (in Python also a pair) from which each draws; left "
        f"out, 2..√n, at most {MOST_UNASKED}",
    )
    vary: bool = setting(False, "each member draws from 50 to 200 % of k instead of taking k itself")
    base: Any = setting(None, "the base clusterer: a name, or in Python any scikit-learn clusterer; left out, kmeans")
    soft: bool = setting(False, "memberships instead of labels; the base clusterer, if left out, is then gmm")
    scale: Literal["none", "standard"] = setting("none", "features as they are, or each with mean 0 and deviation 1")


def base_of(params: Common) -> Any:
    """The base clusterer asked for, or the usual one."""
    return params.base if params.base is not None else "gmm" if params.soft else "kmeans"


@dataclass(frozen=True, slots=True)
class Way:
    """A way to make ensembles; one file each in `generate/`, as WAY."""

    plan: Callable[[Shape, Any, Generator], list[View]]
    """`plan(shape, params, rng)`: one view for each member."""
    Params: type[Any]
    """A frozen dataclass of its settings: those of `Common` and its own."""
    cite: str = ""
    bases: Callable[[Any], tuple[Any, ...]] = lambda params: (base_of(params),)
    """The base clusterers that settings call for."""


def draw_k(params: Common, objects: int, rng: Generator) -> int:
    """How many clusters a member that sees so many objects makes."""
    low, high = k_range(params, objects)
    return int(rng.integers(low, high + 1))


def k_range(params: Common, objects: int) -> tuple[int, int]:
    """The least and the greatest number of clusters of a member that sees so many objects.

    >>> k_range(Common(k=5), 100), k_range(Common(k=5, vary=True), 100), k_range(Common(k="3..8"), 6)
    ((5, 5), (3, 10), (3, 6))
    """
    low, high = _asked(params.k, objects)
    if params.vary:
        low, high = max(1, math.ceil(low / 2)), 2 * high
    if not 1 <= low <= high:
        raise ParameterError(f"k={params.k!r} is no number of clusters; give a number >= 1, or a range such as 5..20")
    if low > objects:
        asked = params.k if isinstance(params.k, (int, str)) else f"{low}..{high}"
        raise ParameterError(f"k={asked} is more than the {objects} objects that a member sees; give a smaller k")
    return low, min(high, objects)


def _asked(k: Any, objects: int) -> tuple[int, int]:
    """What k says, before the number of objects limits it."""
    if k is None:
        return min(2, objects), min(max(2, math.isqrt(objects)), MOST_UNASKED)
    if isinstance(k, int):
        return k, k
    ends = k.split("..") if isinstance(k, str) else k
    try:
        low, high = (int(end) for end in ends)
    except ValueError:
        raise ParameterError(f"k={k!r} is no number of clusters; give a number, or a range such as 5..20") from None
    return low, high


def share_of(share: float, whole: int, least: int = 1) -> int:
    """So large a share of `whole` things, at least `least` of them."""
    return min(whole, max(least, round(share * whole)))
