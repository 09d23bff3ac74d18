"""Base clusterings as the papers of Wang made them: k-means from k random objects, run until it settles."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.random import Generator

from partita.core.checks import ALL
from partita.core.ensemble import Ensemble
from partita.core.types import FloatArray
from partita.generate.clusterers import kmeans

PLAIN: Final = kmeans.Params(init="random")
"""k-means++ starts, our default, leave few different base clusterings on these small data sets."""


def kmeans_runs(X: FloatArray, ks: Sequence[int], rng: Generator) -> Ensemble:
    """One run of k-means for each k, on the features as they are."""
    runs = [kmeans.fit(X, k, PLAIN, own).labels for k, own in zip(ks, rng.spawn(len(ks)), strict=True)]
    return Ensemble.from_labels(np.stack(runs, axis=1), transpose=False, allow=ALL)
