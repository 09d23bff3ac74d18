"""What trials share: order, fits, the choice by ANMI."""

import numpy as np
import pytest

from partita.core.ensemble import Ensemble
from partita.datasets.base import Dataset
from partita.experiments import trials
from partita.experiments.exhibit import Row, Trial
from partita.experiments.papers import strehl2002_trials
from partita.experiments.trials import best_by_anmi, fitted, shuffled
from partita.metrics import anmi
from tests.samples import noisy


@pytest.fixture
def rng():
    return np.random.default_rng(7)


@pytest.fixture
def data():
    return Dataset("lines", np.arange(20.0).reshape(10, 2), np.repeat([0, 1], 5), ("a", "b"))


def test_rows_stay_with_their_class(data, rng):
    mixed = shuffled(data, rng)
    assert sorted(mixed.X[:, 0]) == sorted(data.X[:, 0])
    assert mixed.X[:, 0].tolist() != data.X[:, 0].tolist()
    assert (mixed.labels == (mixed.X[:, 0] >= 10)).all()


def test_some_of_the_rows(data, rng):
    some = shuffled(data, rng, 4)
    assert len(some) == 4 and len(np.unique(some.X[:, 0])) == 4


def test_fits_balance_objects(rng):
    """Seven of eight objects are alike: whole rows make 7 + 1, objects 4 + 4."""
    table = np.zeros((8, 3), dtype=int)
    table[7] = 1
    assert sorted(fitted(table, "cspa", 2, rng).sizes) == [4, 4]


def test_best_by_anmi(rng):
    table = rng.integers(3, size=(40, 4))
    table[:, 1:3] = table[:, :1]
    results = [fitted(table, name, 3, rng) for name in ("hgpa", "cspa", "mcla")]
    best = best_by_anmi(results)
    assert best.scores["anmi"] == max(result.scores["anmi"] for result in results)
    assert best.scores["anmi"] == pytest.approx(anmi(Ensemble.from_labels(table), best.labels))


def test_the_papers_hgpa_minimizes_the_cut(monkeypatch):
    """Their HGPA counts cut hyperedges; our default objective is km1. Every trial fits by `fitted`."""
    used, real = [], trials.consensus

    def recorded(table, name, k, **params):
        used.append((name, params))
        return real(table, name, k, **params)

    monkeypatch.setattr(trials, "consensus", recorded)
    strehl2002_trials.noise_trial(Trial(Row("NMI", 0.3), np.random.default_rng(0), True, lambda name: None))
    objectives = {name: params.get("objective") for name, params in used}
    assert objectives["hgpa"] == "cut" and objectives["cspa"] is None
    assert fitted(noisy(n=20), "hgpa", 2, np.random.default_rng(0), objective="km1").recipe.params["objective"] == "km1"
