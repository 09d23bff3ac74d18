"""The contract of the base clusterers: each claim of each name in the registry."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from partita.core.errors import MethodError
from partita.core.params import describe
from partita.generate.clusterers import CLUSTERERS, get
from partita.metrics import nmi

NAMES = sorted(CLUSTERERS)


def rng(seed=0):
    return np.random.default_rng(seed)


def run(name, X, k, seed=0, **params):
    clusterer = get(name)
    return clusterer.fit(X, k, clusterer.Params(**params), rng(seed))


@pytest.fixture(scope="module")
def blobs():
    """Three clusters apart in distance, direction and correlation alike."""
    centres = np.array([[9, 1, 1, 1, 1, 1], [1, 1, 9, 9, 1, 1], [1, 1, 1, 1, 1, 9.0]])
    return make_blobs([30, 31, 32], centers=centres, cluster_std=0.4, random_state=1)


@pytest.mark.parametrize("name", NAMES)
def test_separable_clusters_are_found(name, blobs):
    X, truth = blobs
    found = run(name, X, 3)
    assert found.labels.shape == truth.shape
    assert found.labels.dtype.kind == "i"
    assert nmi(truth, found.labels) > 0.999


@pytest.mark.parametrize("name", NAMES)
def test_same_seed_same_labels_and_input_untouched(name, blobs):
    X = blobs[0].copy()
    X.setflags(write=False)
    first, second = run(name, X, 5, seed=3), run(name, X, 5, seed=3)
    np.testing.assert_array_equal(first.labels, second.labels)
    np.testing.assert_array_equal(X, blobs[0])
    assert set(first.labels) <= set(range(5))


@pytest.mark.parametrize("name", NAMES)
def test_claims(name, blobs):
    """Placing and memberships where claimed, and only there; placing the training rows gives their labels."""
    X, claims = blobs[0], get(name)
    found = run(name, X, 4, seed=1)
    assert (found.place is not None) == claims.places
    assert (found.membership is not None) == (found.place_soft is not None) == claims.soft
    if found.place is not None:
        np.testing.assert_array_equal(found.place(X), found.labels)
        assert len(found.place(X[:0])) == 0
    if found.membership is not None and found.place_soft is not None:
        assert found.membership.shape == (len(X), 4)
        np.testing.assert_allclose(found.membership.sum(axis=1), 1)
        np.testing.assert_array_equal(found.membership.argmax(axis=1), found.labels)
        np.testing.assert_allclose(found.place_soft(X), found.membership)


DEGENERATE = {
    "k = 1": (rng(1).normal(size=(12, 3)), 1),
    "k = n": (rng(2).normal(size=(7, 3)), 7),
    "equal rows": (np.repeat(rng(3).normal(size=(2, 3)), 8, axis=0), 4),
    "all rows equal": (np.full((9, 2), 3.5), 3),
    "constant features": (np.column_stack([np.ones(20), rng(4).normal(size=20), np.zeros(20)]), 3),
    "one feature": (rng(5).normal(size=(25, 1)), 3),
    "zero rows": (np.vstack([np.zeros((5, 3)), rng(6).normal(size=(15, 3))]), 3),
    "one object": (np.ones((1, 2)), 1),
    "large values": (1e150 * rng(7).normal(size=(15, 2)), 2),
    "small values": (1e-150 * rng(8).normal(size=(15, 2)), 2),
    "negative counts": (-rng(9).integers(0, 3, size=(20, 4)).astype(float), 3),
}


@pytest.mark.parametrize("case", DEGENERATE)
@pytest.mark.parametrize("name", NAMES)
def test_degenerate_input(name, case):
    """No warning (pytest makes them errors), nothing undefined, labels in range."""
    X, k = DEGENERATE[case]
    found = run(name, X, k)
    assert found.labels.shape == (len(X),)
    assert found.labels.min() >= 0
    assert found.labels.max() < k
    if found.membership is not None:
        np.testing.assert_allclose(found.membership.sum(axis=1), 1)
    if found.place is not None:
        np.testing.assert_array_equal(found.place(X), found.labels)


@pytest.mark.parametrize("name", NAMES)
def test_settings_have_meanings_and_defaults(name):
    assert all(row["meaning"] for row in describe(get(name).Params))
    get(name).Params()


def test_unknown_name():
    with pytest.raises(MethodError, match="did you mean 'kmeans'"):
        get("kmean")
