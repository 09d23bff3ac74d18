"""Mixtures: memberships in Gaussian mixtures, each fitted to some of the features (soft)."""

from dataclasses import dataclass
from typing import Any

from partita.core.params import setting
from partita.generate import features
from partita.generate.plans import Way


@dataclass(frozen=True, slots=True)
class Params(features.Params):
    """Settings of mixtures."""

    base: Any = setting("gmm", "the base clusterer, which must have memberships")
    soft: bool = setting(True, "memberships, or only the likeliest labels")


WAY = Way(features.plan, Params, "punera2007")
