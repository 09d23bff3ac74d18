"""Scaling: features as they are, or standardised, for the objects at hand and for new ones alike."""

from typing import NamedTuple

import numpy as np

from partita.core.types import FloatArray


class Scaling(NamedTuple):
    """What is taken from each feature, and what it is then divided by; nothing where None."""

    centre: FloatArray | None = None
    deviation: FloatArray | None = None

    @classmethod
    def of(cls, X: FloatArray, kind: str) -> "Scaling":
        """The scaling of that kind for these objects; a feature that does not vary becomes 0."""
        if kind == "none":
            return cls()
        centre, deviation = X.mean(axis=0), X.std(axis=0)
        flat = deviation <= 1e-12 * np.abs(centre)  # rounding alone; a feature in small units is not flat
        return cls(centre, np.where(flat, 1.0, deviation))

    def applied(self, X: FloatArray) -> FloatArray:
        """The features of these or of new objects, scaled."""
        return X if self.centre is None or self.deviation is None else (X - self.centre) / self.deviation
