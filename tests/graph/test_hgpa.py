"""HGPA: what it counts, and what its base-clustering starts are good for."""

import numpy as np
import pytest

import partita
from partita import Ensemble
from partita.graph import hgpa
from tests.samples import noisy_labels


def slow_objective(ensemble, labels, objective):
    total = 0.0
    for j, size in enumerate(ensemble.sizes):
        for label in range(size):
            touched = len(set(labels[ensemble.labels[:, j] == label].tolist()))
            total += (
                ensemble.weights[j] / ensemble.weights.mean() * (touched - 1 if objective == "km1" else touched > 1)
            )
    return total


@pytest.mark.parametrize("objective", ["cut", "km1"])
def test_objective_by_definition(objective):
    labels, _ = noisy_labels(n=80, r=6, k=4, noise=0.2, missing=0.1)
    ensemble = Ensemble.from_labels(labels, missing=-1, weights=[1, 2, 0.5, 1, 3, 1], transpose=False)
    result = partita.consensus(ensemble, "hgpa", 4, objective=objective)
    assert result.detail["cut"] == pytest.approx(slow_objective(ensemble, result.labels, objective))
    assert max(result.sizes) <= 21 and result.k == 4


def test_never_cuts_more_than_the_best_base_clustering():
    """With noise the partitioner alone cuts nearly every cluster; a base clustering leaves its own whole."""
    labels, _ = noisy_labels(n=400, r=8, k=10, noise=0.25, seed=3)
    result = partita.consensus(labels, "hgpa", 10)
    ensemble = Ensemble.from_labels(labels)
    balanced = [slow_objective(ensemble, column, "cut") for column in labels.T if np.bincount(column).max() <= 42]
    assert result.detail["cut"] < 80 and all(result.detail["cut"] <= cut for cut in balanced)


def test_sees_little_at_size_and_says_so(monkeypatch):
    monkeypatch.setattr(hgpa, "MEANINGFUL_ROWS", 100)
    monkeypatch.setattr(hgpa, "MOST_ROWS", {"cut": 100, "km1": 100})
    labels, _ = noisy_labels(n=400, r=8, k=10, noise=0.25)
    result = partita.consensus(labels, "hgpa", 10)
    assert "mtkahypar" not in result.detail["divisions"]
    assert any("says little" in note and "mcla" in note for note in result.notes)
    assert any("no partitioner was run" in note for note in result.notes)
    assert max(result.sizes) <= 42 and result.k == 10
    asked = partita.consensus(labels, "hgpa", 10, runs=2)
    assert asked.detail["divisions"].count("mtkahypar") == 2 and asked.detail["cut"] <= result.detail["cut"]
    assert any("is nearly (NMI" in note and "clustering 'c" in note for note in result.notes)
