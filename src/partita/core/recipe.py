"""Recipe: how a result was made."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Recipe:
    """All that is needed to repeat a result."""

    method: str
    params: Mapping[str, Any]
    k: int | None
    seed: int
    version: str
    fingerprint: str
    compress: bool = True
    polish: bool = False
    made: Mapping[str, Any] | None = None
    """How the ensemble was made of features, if it was: way, params, seed, fingerprint of the features."""
