"""Stability: how well consensuses of different halves of the clusterings agree."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from partita.core.checks import ALL
from partita.core.consensus import Consensus
from partita.core.ensemble import Ensemble
from partita.core.prepare import prepare
from partita.core.rng import named
from partita.core.types import MISSING, FloatArray, IntArray, frozen, smallest_type
from partita.fitting import Fitting
from partita.metrics import Coassociation, coassociation, pairwise_ari

MOST_PAIRS, DRAWN = 20_000_000, 500_000
"""Pairs of distinct rows that are all looked at for every k, in less than a second; of more, so many are drawn."""


class Stability(NamedTuple):
    """Agreement of each two of several consensuses."""

    mean: float
    spread: float


def half_subsets(clusterings: int, most: int, rng: Generator) -> list[tuple[int, ...]]:
    """Up to `most` different halves (rounded up) of the clusterings, in random order; none of fewer than three.

    >>> sorted(half_subsets(3, 10, np.random.default_rng(0)))
    [(0, 1), (0, 2), (1, 2)]
    """
    if clusterings < 3 or most < 2:
        return []
    size = (clusterings + 1) // 2
    wanted = min(most, math.comb(clusterings, size))
    found: dict[tuple[int, ...], None] = {}
    while len(found) < wanted:
        found[tuple(sorted(rng.choice(clusterings, size, replace=False).tolist()))] = None
    return list(found)


def subset_fit(fitting: Fitting, k: int, subset: Sequence[int], number: int) -> Consensus:
    """The consensus of some of the clusterings, for the prepared rows; MISSING where none of them knows a row.

    Each subset has a seed of its own, the same for every k. Where it has fewer than k different rows, each of them is
    a cluster.
    """
    asked, ensemble = fitting.asked, fitting.work.ensemble
    weights = np.zeros(len(ensemble.names))
    weights[list(subset)] = ensemble.weights[list(subset)]
    part = prepare(replace(ensemble, weights=frozen(weights)), asked.method.compresses)
    least = min(k, len(part.ensemble.distinct.first))
    result = asked.method.fit(part.ensemble, least, asked.options, named(asked.seed, f"subset {number}"))
    labels = part.expand(result.labels, MISSING).astype(smallest_type(least))
    return Consensus.hard(labels, detail=result.detail)


def agreement(labellings: Sequence[IntArray], counts: FloatArray) -> Stability | None:
    """Mean and standard deviation of the adjusted Rand index of each two labellings, over the objects known in both.

    The index is corrected for chance, so that it does not rise or fall with k by itself. Two labellings without any
    division agree on nothing: they count 0, not 1. None where no two labellings share objects.
    """
    scores = pairwise_ari(_as_ensemble(labellings, counts))
    whole = np.array([len(np.unique(labels[labels != MISSING])) < 2 for labels in labellings])
    scores[np.outer(whole, whole) & ~np.isnan(scores)] = 0.0
    pairs = scores[np.triu_indices(len(labellings), 1)]
    pairs = pairs[~np.isnan(pairs)]
    if not len(pairs):
        return None
    return Stability(float(pairs.mean()), float(pairs.std(ddof=1)) if len(pairs) > 1 else 0.0)


def together(labellings: Sequence[IntArray], counts: FloatArray, seed: int) -> Coassociation:
    """How co-association over the labellings is distributed over pairs of objects: Monti's consensus index.

    Where he clusters samples of the objects again and again, these are consensuses of samples of the clusterings.
    """
    ensemble = _as_ensemble(labellings, counts)
    rows = len(ensemble.distinct.first)
    few = rows * (rows - 1) // 2 <= MOST_PAIRS
    return coassociation(ensemble, pairs=MOST_PAIRS if few else DRAWN, seed=seed)


def _as_ensemble(labellings: Sequence[IntArray], counts: FloatArray) -> Ensemble:
    table = np.stack(labellings, axis=1)
    return Ensemble.from_labels(table, missing=MISSING, transpose=False, allow=ALL).with_counts(counts)
