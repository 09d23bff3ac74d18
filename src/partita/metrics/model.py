"""Scores of one method against another over many ensembles."""

from typing import Any, Final

import numpy as np

from partita.core.errors import ParameterError
from partita.core.types import FloatArray

ZERO_SCORE: Final = 1e-5
"""What stands for a score of 0 in a ratio (Punera and Ghosh 2007)."""


def gmr(scores_a: Any, scores_b: Any) -> float:
    """Geometric mean of b / a over ensembles, eq 3 of Punera and Ghosh (2007): above 1, method b is better.

    A score of 0 counts as 1e-5.

    >>> round(gmr([0.5, 0.4], [1.0, 0.8]), 12)
    2.0
    """
    first, second = _scores(scores_a, "scores_a"), _scores(scores_b, "scores_b")
    if first.shape != second.shape:
        raise ParameterError(
            f"scores_a has {first.size} scores and scores_b {second.size}; give both for the same ensembles"
        )
    return float(np.exp((np.log(second) - np.log(first)).mean()))


def _scores(scores: Any, name: str) -> FloatArray:
    try:
        array = np.array(scores, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError(f"{name} holds values that are not numbers; give one score an ensemble") from None
    if array.ndim != 1 or not array.size:
        raise ParameterError(f"{name} has shape {array.shape}; give one score an ensemble")
    bad = ~(np.isfinite(array) & (array >= 0))
    if bad.any():
        raise ParameterError(
            f"{name}[{int(np.argmax(bad))}] is {array[np.argmax(bad)]}; a ratio needs finite scores >= 0"
        )
    array[array == 0] = ZERO_SCORE
    return array
