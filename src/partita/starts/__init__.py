"""Where iterative methods begin: each start gives every row of an ensemble one of k labels."""

from collections.abc import Callable
from functools import partial
from typing import Final, Literal, TypeAlias

from numpy.random import Generator

from partita.core.ensemble import Ensemble
from partita.core.types import IntArray
from partita.starts.base import base_start
from partita.starts.plusplus import plusplus_start
from partita.starts.random import random_start
from partita.starts.spectral import spectral_start

Start: TypeAlias = Literal["spectral", "kmeans++", "base", "random"]

STARTS: Final[dict[str, Callable[[Ensemble, int, Generator], IntArray]]] = {
    "spectral": partial(spectral_start, restarts=3),
    "kmeans++": plusplus_start,
    "base": base_start,
    "random": random_start,
}

__all__ = ["STARTS", "Start", "base_start", "plusplus_start", "random_start", "spectral_start"]
