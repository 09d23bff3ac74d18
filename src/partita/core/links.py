"""How the scores of clusters become memberships."""

from collections.abc import Callable
from functools import partial
from typing import Final, Literal, TypeAlias

import numpy as np

from partita.core.threads import map_chunks
from partita.core.types import FloatArray
from partita.kernels.mixture import share_out

Link: TypeAlias = Literal["share", "softmax", "best"]
"""Scores divided by their sum, logarithms of unscaled chances, or scores of which only the best is known."""


def as_shares(scores: FloatArray) -> FloatArray:
    """Scores divided by their sum, in place; equal shares where all are 0, since nothing speaks for any cluster."""
    scores[scores.sum(axis=1) == 0] = 1.0
    shares: FloatArray = np.divide(scores, scores.sum(axis=1, keepdims=True), out=scores)
    return shares


def as_chances(scores: FloatArray) -> FloatArray:
    """Exponentials of the scores divided by their sum, in place."""
    map_chunks(partial(share_out, scores, np.empty(len(scores))), len(scores))
    return scores


MEMBERSHIPS: Final[dict[str, Callable[[FloatArray], FloatArray]]] = {"share": as_shares, "softmax": as_chances}
