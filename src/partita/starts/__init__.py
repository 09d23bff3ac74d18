"""Where iterative methods begin: each start gives every row of an ensemble one of k labels."""

from collections.abc import Callable
from functools import partial
from typing import Any, Final, Literal, TypeAlias

from numpy.random import Generator

from partita.core.types import IntArray
from partita.starts.base import base_start
from partita.starts.plusplus import plusplus_start
from partita.starts.random import random_start
from partita.starts.spectral import spectral_start
from partita.starts.transfer_cut import transfer_cut_start

Start: TypeAlias = Literal["spectral", "transfer-cut", "kmeans++", "base", "random"]

STARTS: Final[dict[str, Callable[[Any, int, Generator], IntArray]]] = {
    "spectral": partial(spectral_start, restarts=3),
    "transfer-cut": transfer_cut_start,
    "kmeans++": plusplus_start,
    "base": base_start,
    "random": random_start,
}
DISTRIBUTED: Final = frozenset({"transfer-cut"})
"""Initializations that sites use too: they take memberships as they are, and all rows instead of a sample."""

__all__ = [
    "DISTRIBUTED",
    "STARTS",
    "Start",
    "base_start",
    "plusplus_start",
    "random_start",
    "spectral_start",
    "transfer_cut_start",
]
