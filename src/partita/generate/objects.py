"""Object subsets: overlapping parts of the objects that together cover all of them (ODC)."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.random import Generator

from partita.core.errors import ParameterError
from partita.core.params import setting
from partita.core.types import IntArray
from partita.generate.plans import Common, Shape, View, Way, base_of, draw_k

USUAL: Final = 20
"""How many parts there are, where nothing is said."""


@dataclass(frozen=True, slots=True)
class Params(Common):
    """Settings of objects."""

    members: int | None = setting(  # type: ignore[assignment]  # none where parts says it
        None, "how many base clusterings are made, one for each part: the same as parts", low=1
    )
    parts: int | None = setting(None, f"how many parts, one a member; left out, {USUAL}", low=1)
    factor: float = setting(2.0, "how many times the objects all parts together hold", low=1)
    complete: bool = setting(False, "objects outside a part are placed by the base clusterer; else no label")

    def __post_init__(self) -> None:
        """Members and parts are one number."""
        if self.members is not None and self.parts is not None and self.members != self.parts:
            raise ParameterError(
                f"members={self.members} and parts={self.parts}: each part is one member; leave out one of the two"
            )


def plan(shape: Shape, params: Params, rng: Generator) -> list[View]:
    """Parts by the coordinated sampling of strehl2002 §4.4, all features."""
    base, parts = base_of(params), params.parts or params.members or USUAL
    if parts > shape.objects:
        raise ParameterError(f"parts={parts} is more than the {shape.objects} objects; give fewer parts")
    own_shares = np.array_split(rng.permutation(shape.objects), parts)
    size = min(shape.objects, round(shape.objects * params.factor / parts))

    def view(own: Generator, share: IntArray) -> View:
        rows = part(share, shape.objects, size, own)
        return View(own, draw_k(params, len(rows), own), base, rows=rows, complete=params.complete)

    return [view(own, share) for own, share in zip(rng.spawn(parts), own_shares, strict=True)]


def part(share: IntArray, objects: int, size: int, rng: Generator) -> IntArray:
    """An n/p share that no other part must hold, and as many of the other objects as make up the size."""
    others = np.delete(np.arange(objects), share)
    more = rng.choice(others, max(0, size - len(share)), replace=False)
    return np.sort(np.concatenate([share, more]))


WAY = Way(plan, Params, "strehl2002")
