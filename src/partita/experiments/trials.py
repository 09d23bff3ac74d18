"""What trials of all papers share: rows in random order, a fit as the papers did it, the best by ANMI."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
from numpy.random import Generator

from partita.api import consensus
from partita.core.consensus import Consensus
from partita.datasets.base import Dataset
from partita.registry import get

PAPER_SETTINGS: Final[dict[str, dict[str, Any]]] = {"hgpa": {"objective": "cut"}}
"""Settings of `fitted` that differ from our defaults: the papers' HGPA minimizes the number of cut hyperedges."""


def seed_of(rng: Generator) -> int:
    """A seed for a public function, drawn from the trial's generator."""
    return int(rng.integers(2**32))


def shuffled(data: Dataset, rng: Generator, most: int | None = None) -> Dataset:
    """The objects in random order, or so many of them: files are often sorted by class."""
    order = rng.permutation(len(data))[:most]
    return replace(data, X=data.X[order], labels=data.labels[order])


def fitted(ensemble: Any, method: str, k: int | None, rng: Generator, **params: Any) -> Consensus:
    """Return a consensus with `PAPER_SETTINGS`, in one thread; methods that balance do so object by object."""
    whole_rows = not get(method).balanced  # all others give the same on distinct rows, sooner
    params = PAPER_SETTINGS.get(method, {}) | params
    return consensus(ensemble, method, k, seed=seed_of(rng), threads=1, compress=whole_rows, **params)


def best_by_anmi(results: Sequence[Consensus]) -> Consensus:
    """The result that agrees best with the base clusterings, the first of equals (strehl2002 §3.5).

    `consensus(method="supra")` does the same on distinct rows; reproductions balance object by object.
    """
    return results[int(np.argmax([result.scores["anmi"] for result in results]))]
