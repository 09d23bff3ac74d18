"""Restarts: the same base clusterer from different starts, with the same or a varied number of clusters."""

from dataclasses import dataclass

from numpy.random import Generator

from partita.generate.plans import Common, Shape, View, Way, base_of, draw_k


@dataclass(frozen=True, slots=True)
class Params(Common):
    """Settings of restarts."""


def plan(shape: Shape, params: Params, rng: Generator) -> list[View]:
    """Every member sees everything."""
    base = base_of(params)
    return [View(own, draw_k(params, shape.objects, own), base) for own in rng.spawn(params.members)]


WAY = Way(plan, Params, "topchy2004")
