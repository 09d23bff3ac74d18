"""How good and how fast base clusterers are on the papers' data: U-SPEC ensembles, graph partitioning."""

import os
import time

import numpy as np
import pytest

import partita
from partita.datasets import load
from partita.generate.clusterers import get
from partita.metrics import nmi

pytestmark = pytest.mark.slow
SEEDS = range(10)


def data(name):
    """The features and classes of a data set, rows shuffled."""
    if not os.environ.get("PARTITA_DATA"):
        pytest.skip("set PARTITA_DATA to the folder of the papers' data to run this; the data are not ours to give")
    found = load(name)
    order = np.random.default_rng(0).permutation(len(found.X))
    return np.asarray(found.X, float)[order], np.asarray(found.labels)[order]


def test_uspec_ensembles_with_lwgp_on_pendigits():
    """Huang et al. (2020) print .853 for 20 members with 20 to 60 clusters; our bound is .84 and 60 s for each.

    Time is processor time, of all threads together, since a test cannot know who else is on the machine.
    """
    X, truth = data("pendigits")
    scores, times = [], []
    for seed in SEEDS:
        began = time.process_time()
        ensemble = partita.make_ensemble(X, "uspec", members=20, k=(20, 60), seed=seed)
        labels = partita.consensus(ensemble, "lwgp", 10, seed=seed).labels
        times.append(time.process_time() - began)
        scores.append(nmi(truth, labels))
    assert np.mean(scores) >= 0.84
    assert max(times) < 60


@pytest.mark.parametrize(("name", "k", "least"), [("2d2k", 2, 0.82), ("8d5k", 5, 0.99), ("pendigits", 10, 0.66)])
def test_graph_partitioning(name, k, least):
    """strehl2002 Table 3, graph partitioning of all features: .85, 1.00 and .68."""
    X, truth = data(name)
    clusterer = get("graph")
    found = [clusterer.fit(X, k, clusterer.Params(), np.random.default_rng(seed)).labels for seed in range(3)]
    assert np.mean([nmi(truth, labels) for labels in found]) >= least
