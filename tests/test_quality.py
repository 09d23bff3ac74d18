"""How well methods recover what is behind the base clusterings: the papers' noise, and public pools."""

import numpy as np
import pytest

import partita
from partita.core.errors import FileError
from partita.datasets import POOLS, load_pool
from tests.samples import noisy_labels

DRAWS = 10
LEAST = {
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


def pool(name):
    try:
        return load_pool(name)
    except FileError as error:
        pytest.skip(f"{error}; the data are not ours to give")


@pytest.mark.slow
def test_the_default_start_beats_random_ones():
    """MM reaches a higher likelihood than the best of 20 random starts on 11 of the 13 public pools."""
    rng, better = np.random.default_rng(0), 0
    for each in (pool(name) for name in sorted(POOLS)):
        ensemble = each.ensemble.columns(rng.permutation(100)[:10])
        ours, random = (
            partita.consensus(ensemble, "mm", each.k, **start).detail["log likelihood"]
            for start in ({}, {"init": "random", "restarts": 20})
        )
        better += ours > random
    assert better >= len(POOLS) - 2 == 11


@pytest.mark.slow
@pytest.mark.parametrize("name", ["pd", "usps", "lr", "mnist"])
@pytest.mark.parametrize("method", sorted(LEAST))
def test_pools(method, name):
    """Ten random columns of a public pool, the true number of clusters, ten draws."""
    drawn = pool(name)
    rng = np.random.default_rng(0)
    found = []
    for _ in range(DRAWS):
        ensemble = drawn.ensemble.columns(rng.choice(100, 10, replace=False))
        found.append(nmi(partita.consensus(ensemble, method, drawn.k), drawn.truth))
    assert np.mean(found) >= LEAST[method][name]
