"""leave_one_out() against doing it by hand with partita.consensus on the other columns."""

import os
import signal
import time

import numpy as np
import pytest

import partita
from partita.core.errors import ParameterError, TableError
from partita.core.progress import reporting
from partita.metrics import ari, nmi
from partita.selection import leaving

from .samples import noisy, noisy_labels, noisy_soft


def by_hand(ensemble, k, method, seed):
    """NMI, ARI and ANMI, clustering by clustering."""
    whole = partita.consensus(ensemble, method, k, seed=seed)
    rows = []
    for j in range(len(ensemble.names)):
        others = [each for each in range(len(ensemble.names)) if each != j]
        labels = partita.consensus(ensemble.columns(others), method, k, seed=seed).labels
        both = (labels != -1) & (whole.labels != -1)
        same = labels[both], whole.labels[both]
        rows.append((nmi(*same), ari(*same), partita.evaluate(labels, ensemble=ensemble)["anmi"]))
    return np.array(rows).T


@pytest.mark.parametrize(
    ("ensemble", "method", "k"),
    [
        (noisy(r=5), "mm", 4),
        (noisy(r=4, missing=0.4), "mcla", 3),
        (noisy_soft(r=4), "mm", 3),
        (noisy(r=4), "eac", None),
        (noisy(r=4), "mm", 1),
    ],
)
def test_by_hand(ensemble, method, k):
    found = partita.leave_one_out(ensemble, k, method, seed=5)
    np.testing.assert_allclose([found.nmi, found.ari, found.without], by_hand(ensemble, k, method, 5), atol=1e-12)
    whole = partita.consensus(ensemble, method, k, seed=5)
    assert (found.consensus.labels == whole.labels).all() and found.anmi == whole.scores["anmi"]
    assert found.names == ensemble.names and found.failed == ("",) * len(found.names) and not found.notes


def test_the_clustering_that_decides_comes_first():
    """Two clusterings say one thing, two another; a fifth sides with the first."""
    rng = np.random.default_rng(0)
    one, two = rng.integers(3, size=200), rng.integers(3, size=200)
    table = np.stack([one, one, two, two, one], axis=1)
    weights = [1, 1, 1, 1, 0.5]
    found = partita.leave_one_out(partita.Ensemble.from_labels(table, weights=weights), 3, "greedy")
    assert set(found.order[:2]) == {0, 1} and found.nmi[0] < 0.1 and found.nmi[3] == pytest.approx(1)
    assert "'c0' moves it most" in repr(found)


def test_a_clustering_of_weight_nothing_changes_nothing():
    labels, _ = noisy_labels(r=4)
    found = partita.leave_one_out(partita.Ensemble.from_labels(labels, weights=[1, 1, 1, 0]), 4, "mm")
    assert found.nmi[3] == pytest.approx(1) and found.without[3] == pytest.approx(found.anmi)


def test_counts_are_objects():
    labels, _ = noisy_labels(n=30, r=4, noise=0.4)
    counts = np.random.default_rng(1).integers(1, 4, 30)
    few = partita.leave_one_out(partita.Ensemble.from_labels(labels).with_counts(counts), 4, "mm")
    whole = partita.leave_one_out(np.repeat(labels, counts, axis=0), 4, "mm")
    np.testing.assert_allclose([few.nmi, few.ari, few.without], [whole.nmi, whole.ari, whole.without], atol=1e-12)


def test_threads_and_progress():
    ensemble, heard = noisy(r=6, noise=0.4), []
    one = partita.leave_one_out(ensemble, 4, "mm", threads=1)
    with reporting(lambda *told: heard.append(told)):
        two = partita.leave_one_out(ensemble, 4, "mm", threads=2)
    assert (one.nmi == two.nmi).all() and (one.without == two.without).all()
    assert [each for each in heard if each[0] == "leaving out"] == [("leaving out", done, 6) for done in range(1, 7)]


def test_a_fit_that_fails_is_told():
    """Without the last clustering there are two different rows, and no three clusters."""
    table = [[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]]
    found = partita.leave_one_out(table, 3, "mcla")
    assert np.isnan(found.nmi[2]) and not np.isnan(found.nmi[:2]).any() and found.order[-1] == 2
    assert "k=3 is more than the 2 distinct rows" in found.failed[2] and found.notes[0].startswith("without 'c2': ")


def test_objects_that_only_one_clustering_knows():
    table = [[0, 0, 0], [0, 0, 0], [1, 1, 1], [1, 1, 1], [1, None, None]]
    found = partita.leave_one_out(table, 2, "mcla")
    assert found.nmi.tolist() == pytest.approx([1, 1, 1])


@pytest.mark.parametrize("threads", [1, 2])
def test_an_interrupt_keeps_what_is_finished(monkeypatch, threads):
    usual = leaving._Leaving.without

    def pressing(self, place):
        if place == 2:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.2)
        return usual(self, place)

    monkeypatch.setattr(leaving._Leaving, "without", pressing)
    found = partita.leave_one_out(noisy(r=5), 3, "mcla", threads=threads)
    assert found.interrupted and "interrupted: not fitted without" in found.notes[-1]
    assert not np.isnan(found.nmi[0]) and np.isnan(found.nmi).any()


def test_wrong_arguments():
    with pytest.raises(TableError, match="2 clusterings are too few"):
        partita.leave_one_out([[0, 1], [1, 0]], 2)
    with pytest.raises(ParameterError, match="k=0"):
        partita.leave_one_out(noisy(), 0, "mm")
