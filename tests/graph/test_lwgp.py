"""LWGP places new objects: carried over by their labels, they go to the nearest centre."""

import numpy as np
import pytest

import partita
from partita.core.ensemble import Ensemble
from partita.core.errors import PartitaWarning
from tests.samples import noisy


def lies_at(model, labels):
    """Where one row of codes lies, the slow way."""
    total = np.zeros(model.tables[0].shape[0])
    for table, label in zip(model.tables, labels, strict=True):
        if label >= 0:
            total += table[:, label]
    return total / np.linalg.norm(total)


def test_the_nearest_centre_takes_an_object():
    ensemble = noisy(n=300, r=6, k=4, missing=0.2)
    found = partita.consensus(ensemble, "lwgp", 4)
    model = found.model
    rows = ensemble.labels[(ensemble.labels != -1).any(axis=1)]
    coded, unseen = model.coded(ensemble)
    assert not unseen
    for labels, got in zip(coded.labels, found.labels, strict=True):
        if got >= 0:
            distances = np.linalg.norm(lies_at(model, labels) - model.centers, axis=1)
            assert distances[got] <= distances.min() + 1e-9
    assert len(rows) == int((found.labels >= 0).sum())


def test_centres_are_means_of_their_members():
    """So that k-means has settled and new objects meet what the fit saw."""
    ensemble = noisy(n=400, r=8, k=3)
    found = partita.consensus(ensemble, "lwgp", 3)
    coded, _ = found.model.coded(ensemble)
    points = np.array([lies_at(found.model, labels) for labels in coded.labels])
    for cluster in range(3):
        assert np.allclose(points[found.labels == cluster].mean(axis=0), found.model.centers[cluster], atol=1e-3)


def test_held_out_objects_go_where_a_fit_with_them_puts_them():
    ensemble = noisy(n=2000, r=10, k=4)
    half = np.arange(0, 2000, 2)
    whole = partita.consensus(ensemble, "lwgp", 4)
    part = partita.consensus(ensemble.rows(half), "lwgp", 4)
    placed = part.predict(ensemble)
    assert partita.metrics.ari(placed, whole.labels) > 0.98


def test_nothing_known_nothing_said():
    found = partita.consensus([["a", 1], ["a", 1], ["b", 2], ["b", 2]], "lwgp", 2)
    with pytest.warns(PartitaWarning, match="2 labels were never seen"):
        assert found.predict([["c", 3], [None, 2]]).tolist() == [-1, 1]
    assert isinstance(found.model.coded([["b", 2]]).rows, Ensemble)
