"""Portfolio: different base clusterers on the same data (RCC)."""

from dataclasses import dataclass
from typing import Any, Final

from numpy.random import Generator

from partita.core.errors import ParameterError
from partita.core.params import setting
from partita.generate.plans import Common, Shape, View, Way, draw_k

TEN: Final = (
    "som",
    "hypergraph",
    "graph",
    "graph-cosine",
    "graph-correlation",
    "graph-jaccard",
    "kmeans",
    "kmeans-cosine",
    "kmeans-correlation",
    "kmeans-jaccard",
)
"""The ten clusterers of strehl2002 §4.5."""


@dataclass(frozen=True, slots=True)
class Params(Common):
    """Settings of the portfolio."""

    members: int | None = setting(  # type: ignore[assignment]  # here none is a number, too: one of each
        None, "how many base clusterings are made, the clusterers taking turns; left out, one of each", low=1
    )
    base: Any = setting(None, "the clusterers, a list; left out, the ten of the paper")


def plan(shape: Shape, params: Params, rng: Generator) -> list[View]:
    """All objects and features, one clusterer after the other."""
    bases = listed(params.base)
    members = params.members or len(bases)

    def view(place: int, own: Generator) -> View:
        base = bases[place % len(bases)]
        title = base if isinstance(base, str) else type(base).__name__
        return View(own, draw_k(params, shape.objects, own), base, title=title)

    return [view(place, own) for place, own in enumerate(rng.spawn(members))]


def listed(base: Any) -> tuple[Any, ...]:
    """The clusterers asked for."""
    if base is None:
        return TEN
    if isinstance(base, str):
        base = [name.strip() for name in base.split(",") if name.strip()]
    found = tuple(base) if isinstance(base, (list, tuple)) else (base,)
    if not found:
        raise ParameterError("base=[] names no clusterer; give at least one, or leave it out")
    return found


WAY = Way(plan, Params, "strehl2002", bases=lambda params: listed(params.base))
