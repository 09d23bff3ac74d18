"""Hiding: the same ensemble with some of its known labels made missing, at random."""

from dataclasses import replace
from typing import TypeVar

import numpy as np
from numpy.random import Generator

from partita.core.ensemble import Ensemble
from partita.core.soft import SoftEnsemble
from partita.core.types import MISSING, BoolArray, frozen
from partita.generate.noise import check_share

E = TypeVar("E", Ensemble, SoftEnsemble)


def hide(ensemble: E, share: float, rng: Generator) -> E:
    """Exactly this share of the known labels (of all clusterings together), rounded, becomes missing.

    Codes, sizes and names stay, so that an ensemble and its gaps can be compared.
    """
    check_share(share)
    known = ensemble.labels != MISSING if isinstance(ensemble, Ensemble) else ensemble.known
    gaps = hidden(known, share, rng)
    if isinstance(ensemble, Ensemble):
        nothing = np.array(MISSING, ensemble.labels.dtype)
        return replace(ensemble, labels=frozen(np.where(gaps, nothing, ensemble.labels)))
    matrix = np.where(np.repeat(gaps, ensemble.sizes, axis=1), 0.0, ensemble.matrix)
    return replace(ensemble, matrix=frozen(matrix))


def hidden(known: BoolArray, share: float, rng: Generator) -> BoolArray:
    """(n, r) which of the known labels are hidden."""
    places = np.flatnonzero(known)
    gaps = np.zeros(known.size, bool)
    gaps[rng.choice(places, round(share * len(places)), replace=False)] = True
    return gaps.reshape(known.shape)
