"""Randomness comes in by this door: seeds are turned into generators here and nowhere else."""

import json
import operator
from hashlib import sha256

import numpy as np
from numpy.random import Generator, SeedSequence

from partita.core.errors import ParameterError


def resolve_seed(seed: int | None) -> int:
    """The seed to use and to record: the one given, or a fresh one that can be given next time."""
    if seed is None:
        return int(np.random.default_rng().integers(2**32))
    try:
        value = operator.index(seed)
    except TypeError:
        raise ParameterError(
            f"seed={seed!r} is not a whole number; give an integer >= 0, or None for a new one"
        ) from None
    if value < 0:
        raise ParameterError(f"seed={value} is negative; give an integer >= 0, or None for a new one")
    return value


def generator(seed: int) -> Generator:
    """The generator of a resolved seed; parts and chains take `generator.spawn(m)`."""
    return np.random.default_rng(SeedSequence(seed))


def named(draw: int, name: str) -> Generator:
    """The generator that belongs to a name under one draw, whatever other names there are.

    >>> [int(named(7, name).integers(99)) for name in ("voting", "lwgp", "voting")]
    [5, 3, 5]
    """
    return np.random.default_rng(SeedSequence([draw, *name.encode()]))


def keyed(seed: int, *parts: str | int) -> Generator:
    """The generator that belongs to a place in an experiment, whatever else is run, in whatever order.

    >>> [int(keyed(0, "table-3", row, 7).integers(99)) for row in ("iris", "wine", "iris")]
    [89, 4, 89]
    """
    words = np.frombuffer(sha256(json.dumps(parts).encode()).digest(), "<u4")
    return np.random.default_rng(SeedSequence([seed, *words.tolist()]))
