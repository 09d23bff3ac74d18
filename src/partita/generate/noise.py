"""Noise: copies of one labelling, each with some labels replaced at random (strehl2002 §3.6)."""

from typing import Any

import numpy as np
from numpy.random import Generator

from partita.core.checks import MADE
from partita.core.columns import code_labels
from partita.core.ensemble import Ensemble
from partita.core.errors import ParameterError


def noisy(labels: Any, members: int, share: float, rng: Generator) -> Ensemble:
    """`members` copies of a labelling; in each, a share of the labels is drawn anew and the labels are renamed.

    A new label is any of the k with equal chance, so it may be the old one; objects without a label stay so.

    >>> noisy([0, 0, 1, 1], 3, 0.0, np.random.default_rng(0)).sizes
    (2, 2, 2)
    """
    check_share(share)
    codes = code_labels(labels, "labels")
    known = np.flatnonzero(codes >= 0)
    k = int(codes.max(initial=0)) + 1
    copies = []
    for own in rng.spawn(members):
        copy = np.append(own.permutation(k), -1)[codes]
        copy[own.choice(known, round(share * len(known)), replace=False)] = own.integers(
            k, size=round(share * len(known))
        )
        copies.append(copy)
    names = [f"noisy_{place}" for place in range(1, members + 1)]
    return Ensemble.from_labels(np.stack(copies, axis=1), names, missing=-1, transpose=False, allow=MADE)


def check_share(share: float) -> None:
    """Refuse what is no share."""
    if not 0 <= share <= 1:
        raise ParameterError(f"share={share!r} is no share; give a number between 0 and 1")
