"""The papers' small worked examples, as ensembles, with the answers they print."""

from typing import Final

import numpy as np

from partita.core.ensemble import Ensemble
from partita.core.soft import SoftEnsemble

SEVEN: Final = (
    (1, 2, 1, 1),
    (1, 2, 1, 2),
    (1, 2, 2, None),
    (2, 3, 2, 1),
    (2, 3, 3, 2),
    (3, 1, 3, None),
    (3, 1, 3, None),
)
"""Table 1 of strehl2002: seven objects, four clusterings, the last with gaps."""

SEVEN_ANSWER: Final = (0, 0, 0, 1, 1, 2, 2)
"""The labelling in three clusters with the highest ANMI."""

TWELVE: Final = ("2BXb", "2AXa", "2AYb", "2BXb", "1AXb", "2AYb", "2BYa", "1BYa", "1BYb", "1AYa", "2BYa", "1BYa")
"""Table 1 of topchy2004: twelve objects, a letter for each of four clusterings."""

TWELVE_PRINTED: Final = (0.999, 0.997, 0.943, 0.999, 0.999, 0.943, 0.124, 0.019, 0.260, 0.115, 0.124, 0.019)
"""The paper's membership in the first cluster after six rounds of EM, not yet converged."""

TWELVE_ANSWER: Final = (0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1)

SOFT: Final = (
    (0.7, 0.2, 0.1, 0.1, 0.7, 0.2, 0.6, 0.3, 0.1),
    (0.9, 0.1, 0.0, 0.0, 0.8, 0.2, 0.8, 0.2, 0.0),
    (0.9, 0.0, 0.1, 0.1, 0.4, 0.5, 0.5, 0.5, 0.0),
    (0.2, 0.6, 0.2, 0.1, 0.2, 0.7, 0.2, 0.7, 0.1),
    (0.1, 0.9, 0.0, 0.0, 0.1, 0.9, 0.0, 0.5, 0.5),
    (0.0, 0.2, 0.8, 0.8, 0.1, 0.1, 0.1, 0.2, 0.7),
    (0.1, 0.2, 0.7, 0.7, 0.1, 0.2, 0.1, 0.3, 0.6),
)
"""Table II of punera2007: memberships of seven objects, three clusters in each of three clusterings side by side."""


def seven_objects() -> Ensemble:
    """The example of strehl2002 §3.1.

    >>> import partita
    >>> partita.consensus(seven_objects(), "mcla", 3).labels.tolist() == list(SEVEN_ANSWER)
    True
    """
    return Ensemble.from_labels(np.array(SEVEN, dtype=object), transpose=False)


def twelve_points() -> Ensemble:
    """The example of topchy2004 §4.

    >>> import partita
    >>> partita.consensus(twelve_points(), "mm", 2).labels.tolist() == list(TWELVE_ANSWER)
    True
    """
    return Ensemble.from_labels([list(row) for row in TWELVE], transpose=False)


def soft_objects() -> SoftEnsemble:
    """The soft ensemble of punera2007 §III.

    >>> soft_objects().sizes
    (3, 3, 3)
    """
    return SoftEnsemble.from_memberships(np.split(np.array(SOFT), 3, axis=1))
