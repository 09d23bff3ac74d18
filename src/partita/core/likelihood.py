"""How well a model that gives probabilities foretells labels."""

from typing import Final, NamedTuple

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


FAINT: Final = 1e-6
"""A chance so small that, without smoothing, it tells when the fit stopped rather than how likely a label is."""


class Likelihood(NamedTuple):
    """What a model makes of some rows."""

    total: float
    """Log-probability of all known labels, -inf where the model excludes one of the rows; see `is_bound`."""
    labels: float
    """How many labels are known, each counting with the weight of its clustering."""
    excluded: int
    """Rows to which the model gives probability 0."""
    faint: int = 0
    """Rows with a label that the cluster where they belong hardly ever gives, by a model fitted without smoothing."""
    is_bound: bool = False
    """True if `total` is a lower bound of the log-likelihood, so that `perplexity` is an upper bound."""

    @property
    def perplexity(self) -> float:
        """See `perplexity`."""
        return perplexity(self.total, self.labels)

    @property
    def record(self) -> dict[str, float]:
        """Log-likelihood and perplexity by name; the names of bounds say so."""
        bound = " bound" if self.is_bound else ""
        return {f"log likelihood{bound}": self.total, f"perplexity{bound}": self.perplexity}

    @property
    def note(self) -> str | None:
        """What the user should know of rows that are excluded, or nearly."""
        if self.excluded:
            return (
                f"{_carry(self.excluded)} labels to which the model gives probability 0, so the log-likelihood is -inf "
                "and the perplexity inf; fit with smoothing above 0"
            )
        if self.faint:
            return (
                f"{_carry(self.faint)} labels that were hardly ever seen in training where they belong (probability "
                f"below {FAINT:g}), so log-likelihood and perplexity hang on when the fit stopped; fit with smoothing "
                "above 0"
            )
        return None


def _carry(objects: int) -> str:
    return "1 object carries" if objects == 1 else f"{objects} objects carry"
