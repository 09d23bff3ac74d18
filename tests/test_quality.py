"""How well methods recover what is behind the base clusterings: the papers' noise, and public pools."""

import os
from pathlib import Path

import numpy as np
import pytest

import partita
from partita import Ensemble
from tests.samples import noisy_labels

DRAWS = 10
POOLS = {
    "lwgp": {"pd": 0.78, "usps": 0.63, "lr": 0.41, "mnist": 0.64},
    "mcla": {"pd": 0.67, "usps": 0.52, "lr": 0.35, "mnist": 0.55},
    "hbgf": {"pd": 0.72, "usps": 0.57, "lr": 0.38, "mnist": 0.60},
    "mm": {"pd": 0.77, "usps": 0.62, "lr": 0.41, "mnist": 0.62},
    "bce-vb": {"pd": 0.74, "usps": 0.59, "lr": 0.38, "mnist": 0.59},
}


def nmi(result, truth):
    return partita.evaluate(result, truth=truth)["nmi"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "noise", "least"),
    [
        *(
            (method, *level)
            for method in ("cspa", "mcla", "hbgf")
            for level in ((0.1, 0.995), (0.25, 0.985), (0.5, 0.84))
        ),
        *(("mm", *level) for level in ((0.25, 0.985), (0.5, 0.78))),
        *(("bce-vb", *level) for level in ((0.25, 0.985), (0.5, 0.85))),
    ],
)
def test_noise_experiment(method, noise, least):
    """strehl2002 §4.2: 400 objects in 10 clusters, 8 copies with a share of the labels replaced."""
    tables = [noisy_labels(n=400, r=8, k=10, noise=noise, seed=seed) for seed in range(DRAWS)]
    found = [nmi(partita.consensus(labels, method, 10), truth) for labels, truth in tables]
    assert np.mean(found) >= least


def pools():
    """The folder of the public pools."""
    folder = os.environ.get("PARTITA_DATA")
    if not folder:
        pytest.skip("set PARTITA_DATA to the folder of the papers' data to run this; the data are not ours to give")
    return Path(folder) / "pools"


@pytest.mark.slow
def test_the_default_start_beats_random_ones():
    """MM reaches a higher likelihood than the best of 20 random starts on 11 of the 13 public pools."""
    rng, better = np.random.default_rng(0), 0
    paths = sorted(pools().glob("*.npz"))
    for path in paths:
        pool = np.load(path)
        labels = pool["labels"][:, rng.permutation(pool["labels"].shape[1])[:10]]
        k = len(np.unique(pool["reference"]))
        ours, random = (
            partita.consensus(labels, "mm", k, **start).detail["log likelihood"]
            for start in ({}, {"start": "random", "restarts": 20})
        )
        better += ours > random
    assert better >= len(paths) - 2 == 11


@pytest.mark.slow
@pytest.mark.parametrize("name", ["pd", "usps", "lr", "mnist"])
@pytest.mark.parametrize("method", sorted(POOLS))
def test_pools(method, name):
    """Ten random columns of a public pool, the true number of clusters, ten draws."""
    pool = np.load(pools() / f"{name}.npz")
    labels, classes = pool["labels"], pool["reference"]
    rng = np.random.default_rng(0)
    found = []
    for _ in range(DRAWS):
        ensemble = Ensemble.from_labels(labels[:, rng.choice(labels.shape[1], 10, replace=False)])
        found.append(nmi(partita.consensus(ensemble, method, len(np.unique(classes))), classes))
    assert np.mean(found) >= POOLS[method][name]
