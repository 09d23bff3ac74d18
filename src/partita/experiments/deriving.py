"""Numbers that a paper derives from many cells, such as ratios of means, and how far other draws would move them."""

from collections.abc import Callable, Mapping
from typing import TypeAlias

import numpy as np
from numpy.random import Generator

from partita.core.rng import keyed
from partita.experiments.exhibit import Exhibit, Samples

Derived: TypeAlias = Mapping[tuple[str, str], tuple[float, float | None]]
"""By row and column, the number and its standard error, None where there are too few draws."""
Derive: TypeAlias = Callable[[Samples], Mapping[tuple[str, str], float]]
RESAMPLES = 50
LEAST_DRAWS = 3


def derived_of(exhibit: Exhibit, samples: Samples) -> tuple[Derived | None, tuple[str, ...]]:
    """What the exhibit makes of its draws, or why nothing can be made; None where it shows the draws themselves."""
    if exhibit.derive is None:
        return None, ()
    if not samples:
        return {}, ()
    try:
        found = exhibit.derive(samples)
    except Exception as error:  # a report of what is there must not fail for what is not
        return {}, (f"cannot be worked out from these draws ({type(error).__name__}: {error})",)
    errors = _errors(exhibit.derive, samples, keyed(0, "bootstrap", exhibit.key))
    return {place: (value, errors.get(place)) for place, value in found.items()}, ()


def _errors(derive: Derive, samples: Samples, rng: Generator) -> dict[tuple[str, str], float]:
    """Bootstrap over draws, row by row and all columns alike, since columns share their draws."""
    draws = [len(values) for columns in samples.values() for values in columns.values()]
    if min(draws, default=0) < LEAST_DRAWS:
        return {}
    try:
        made = [derive(_resampled(samples, rng)) for _ in range(RESAMPLES)]
    except Exception:  # what can be worked out from all draws is shown, if without an error
        return {}
    tables = {place: np.array([each.get(place, np.nan) for each in made]) for place in made[0]}
    return {place: float(values.std(ddof=1)) for place, values in tables.items() if np.isfinite(values).all()}


def _resampled(samples: Samples, rng: Generator) -> Samples:
    found = {}
    for row, columns in samples.items():
        draws = len(next(iter(columns.values())))
        chosen = rng.integers(draws, size=draws)
        found[row] = {column: values[chosen] for column, values in columns.items()}
    return found
