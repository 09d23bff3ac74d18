"""How well a model that gives probabilities foretells labels."""

from typing import NamedTuple

import numpy as np

from partita.core.errors import ParameterError


def perplexity(log_likelihood: float, known_labels: float) -> float:
    """exp(-log p(Y) / number of known labels), eq 12 of Wang, Domeniconi and Laskey (2010); lower is better.

    Labels are discrete, so p(Y) <= 1 and perplexity is at least 1; infinite for a model that excludes what was seen.

    >>> round(perplexity(4 * np.log(0.5), 4), 12)
    2.0
    """
    if not known_labels > 0:
        raise ParameterError(f"known_labels={known_labels!r}; perplexity needs at least one known label")
    if np.isnan(log_likelihood):
        raise ParameterError("log_likelihood is NaN; give the log probability of the known labels")
    with np.errstate(over="ignore"):
        return float(np.exp(-np.float64(log_likelihood) / known_labels))


class Likelihood(NamedTuple):
    """What a model makes of some rows."""

    total: float
    """The logarithm of the probability of all known labels, -inf where the model excludes one of the rows."""
    labels: float
    """How many labels are known, each counting with the weight of its clustering."""
    excluded: int
    """Rows to which the model gives probability 0."""

    @property
    def perplexity(self) -> float:
        """See `perplexity`."""
        return perplexity(self.total, self.labels)

    @property
    def note(self) -> str | None:
        """What the user should know of excluded rows."""
        if not self.excluded:
            return None
        who = "1 object carries" if self.excluded == 1 else f"{self.excluded} objects carry"
        return (
            f"{who} labels to which the model gives probability 0, so the log-likelihood is -inf and the perplexity "
            "inf; fit with smoothing above 0"
        )
