"""What a site remembers of a run between two asks: all of it can be written to a file and read back."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from partita.core.types import FrozenDict
from partita.federated.messages import Arrays, Share, Terms


@dataclass(frozen=True, slots=True)
class Secrets:
    """What other parties must not see; of the site's keys, those of one run."""

    private: bytes
    """The private X25519 key."""
    pairs: Mapping[str, bytes] = field(default_factory=FrozenDict)
    """With each other site a key that nobody else has."""
    group: bytes = b""
    """A key that all sites have and the coordinator has not."""


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """Where a site stands in a run."""

    terms: Terms
    round: int = -1
    """The last round it answered."""
    asked: bytes = b""
    """Digest of what it was asked then; the same ask again gets the same share, another one is refused."""
    share: Share | None = None
    """What it answered."""
    secrets: Secrets | None = None
    arrays: Arrays = field(default_factory=FrozenDict)
    """What the steps of the protocol left for the next ones."""
    notes: Mapping[str, Any] = field(default_factory=FrozenDict)
    """The same as numbers, texts and lists of them."""
