"""Bootstrap: every member sees objects drawn with replacement; the others are placed by what it learnt."""

from dataclasses import dataclass

from numpy.random import Generator

from partita.core.params import setting
from partita.generate.plans import Common, Shape, View, Way, base_of, draw_k


@dataclass(frozen=True, slots=True)
class Params(Common):
    """Settings of the bootstrap."""

    share: float = setting(1.0, "how many objects are drawn, as a share of all", low=0)
    complete: bool | None = setting(
        None, "objects not drawn are placed; no: they have no label; left out, where the base clusterer can"
    )


def plan(shape: Shape, params: Params, rng: Generator) -> list[View]:
    """Objects drawn with replacement, all features."""
    base, size = base_of(params), max(1, round(params.share * shape.objects))

    def view(own: Generator) -> View:
        rows = own.integers(shape.objects, size=size)
        return View(own, draw_k(params, size, own), base, rows=rows, complete=params.complete is not False)

    return [view(own) for own in rng.spawn(params.members)]


WAY = Way(plan, Params)
