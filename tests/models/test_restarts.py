"""Starts from a sample of many rows, and the best of several runs."""

import numpy as np
import pytest

import partita
from partita import Ensemble
from partita.core.iterate import Interrupted, Run
from partita.core.prepare import prepare
from partita.models import mm, restarts
from partita.models.restarts import best_of, sample_of, start_counts
from tests.samples import noisy, noisy_labels


@pytest.mark.parametrize("method", ["mm", "qmi", "itk", "bce-vb"])
def test_a_sample_is_enough_to_start_from(method, monkeypatch):
    """Five hundred of two thousand rows, in which some labels do not occur."""
    monkeypatch.setattr(restarts, "SAMPLE", 500)
    labels, truth = noisy_labels(n=2000, r=9, k=4, noise=0.3, missing=0.1)
    labels[::400, 0] = 4 + np.arange(5)
    result = partita.consensus(Ensemble.from_labels(labels, missing=-1), method, 4)
    assert partita.evaluate(result, truth=truth)["nmi"] > 0.95
    assert np.isfinite(result.trace).all()


def test_labels_that_a_sample_lacks_are_possible_from_the_start(monkeypatch):
    """Forty labels on one row each, of which a sample sees some: the others begin with a little in every cluster."""
    monkeypatch.setattr(restarts, "SAMPLE", 500)
    labels, _ = noisy_labels(n=2000, r=9, k=4, noise=0.3)
    labels[::50, 0] = 4 + np.arange(40)
    ensemble = prepare(Ensemble.from_labels(labels, missing=-1)).ensemble
    part = sample_of(ensemble, "spectral", 4, np.random.default_rng(0))
    assert len(part) < len(ensemble) and any(len(np.unique(part.labels[:, j])) < 40 for j in range(9))
    counts = start_counts(ensemble, "spectral", 4, np.random.default_rng(0))
    assert counts.labels.min() > 0
    run = mm.one_run(ensemble, mm.Params(max_iter=1), counts)
    assert run.trace[0] > -100 * len(ensemble)  # an impossible label alone would cost 1e8


def test_a_sample_stands_for_all(monkeypatch):
    monkeypatch.setattr(restarts, "SAMPLE", 100)
    ensemble = noisy(n=1000, noise=1).with_counts(np.where(np.arange(1000) == 7, 500.0, 1.0))
    few = sample_of(ensemble, "spectral", 3, np.random.default_rng(0))
    assert 300 <= len(few) <= 310 and few.counts.max() >= 500
    assert few.counts.sum() == pytest.approx(1499)
    assert len(few.distinct.first) == len(few)
    assert sample_of(noisy(n=600), "spectral", 3, np.random.default_rng(0)).multiplicity is None


@pytest.mark.parametrize("highest", [True, False])
def test_the_best_objective_wins(highest):
    values = [3.0, 1.0, 2.0]
    runs = best_of(
        lambda rng: values.pop(0),
        lambda value, tick: Run(value, (0.0, value), True),
        np.random.default_rng(0).spawn(3),
        what="tests",
        highest=highest,
    )
    assert runs.best.state == (3.0 if highest else 1.0) and len(runs.all) == 3 and not runs.interrupted


def test_an_interruption_keeps_the_finished_runs():
    states = iter([5.0, KeyboardInterrupt(), 9.0])

    def run(value, tick):
        if isinstance(value, KeyboardInterrupt):
            raise value
        return Run(value, (value,), True)

    runs = best_of(lambda rng: next(states), run, np.random.default_rng(0).spawn(3), what="tests", highest=True)
    assert runs.interrupted and runs.best.state == 5.0 and runs.told()["converged"] is False


def test_an_interrupted_run_counts_with_its_last_state():
    def run(value, tick):
        raise Interrupted(Run("half way", (1.0, 2.0), False))

    runs = best_of(lambda rng: 0, run, np.random.default_rng(0).spawn(2), what="tests", highest=True)
    assert runs.interrupted and runs.best.state == "half way" and runs.told()["detail"]["interrupted"]
