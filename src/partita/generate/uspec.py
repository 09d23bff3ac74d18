"""Anchors: spectral clusterings by landmarks (U-SPEC), each with landmarks and a number of clusters of its own."""

from dataclasses import dataclass
from typing import Any

from partita.core.params import setting
from partita.generate.plans import Common, Way
from partita.generate.restarts import plan


@dataclass(frozen=True, slots=True)
class Params(Common):
    """Settings of uspec."""

    base: Any = setting("uspec", "the base clusterer")


WAY = Way(plan, Params, "huang2020")
