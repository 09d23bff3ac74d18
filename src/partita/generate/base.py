"""What a base clusterer is: features and k in, a clustering and, where it can, a way to place new objects out."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from partita.core.types import FloatArray, IntArray

Placer: TypeAlias = Callable[[FloatArray], Any]
"""Takes (m, d) features of new objects; returns their (m,) labels, or (m, k) memberships where `soft` was made."""


class Fitted(NamedTuple):
    """One clustering of some objects."""

    labels: IntArray
    """(n,) 0..k-1; fewer than k may occur."""
    membership: FloatArray | None = None
    """(n, k) rows that sum to 1, where the clusterer has them."""
    place: Placer | None = None
    """(m, d) features of new objects to their (m,) labels; None where the clusterer cannot."""
    place_soft: Placer | None = None
    """The same to (m, k) memberships."""


@dataclass(frozen=True, slots=True)
class Clusterer:
    """A base clusterer with its parameters and claims; one file each in `generate/clusterers/`, as CLUSTERER."""

    fit: Callable[..., Fitted]
    """`fit(X, k, params, rng)`: (n, d) float64 features, k <= n clusters; one thread, no global state."""
    Params: type[Any]
    """A frozen dataclass of its settings, all with defaults (`core.params.setting`)."""
    soft: bool
    """Has memberships."""
    places: bool
    """Places new objects."""
    cite: str = ""
