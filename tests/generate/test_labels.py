"""Noise on a labelling, and hidden labels."""

import numpy as np
import pytest

from partita import Ensemble
from partita.core.errors import ParameterError
from partita.generate.hiding import hide
from partita.generate.noise import noisy
from tests.samples import noisy as noisy_sample
from tests.samples import noisy_soft, same_partition

TRUTH = np.arange(400) % 5


def test_no_noise_renames_only():
    found = noisy(TRUTH, 6, 0.0, np.random.default_rng(0))
    assert all(same_partition(column, TRUTH) for column in found.labels.T)
    values = [tuple(np.array(classes)[column]) for classes, column in zip(found.classes, found.labels.T, strict=True)]
    assert len(set(values)) > 1


@pytest.mark.parametrize("share", [0.1, 0.5, 1.0])
def test_so_many_labels_are_drawn_anew(share):
    """Of the labels drawn anew, one in k is the old one."""
    found = noisy(TRUTH, 40, share, np.random.default_rng(1))
    wrong = []
    for classes, column in zip(found.classes, found.labels.T, strict=True):
        labels = np.array(classes)[column]
        table = np.zeros((5, 5))
        np.add.at(table, (TRUTH, labels), 1)
        if share < 1:
            wrong.append(1 - table.max(axis=1).sum() / 400)
        assert set(labels.tolist()) == set(range(5))
    if share < 1:
        assert np.mean(wrong) == pytest.approx(share * 4 / 5, abs=0.02)


def test_gaps_stay_gaps():
    labels = np.where(np.arange(400) % 7, TRUTH, -1)
    found = noisy(labels, 3, 0.4, np.random.default_rng(2))
    assert np.array_equal(found.labels < 0, np.repeat((labels < 0)[:, None], 3, axis=1))


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_exactly_that_share_is_hidden(share):
    ensemble = noisy_sample(n=50, r=6, missing=0.2)
    known = ensemble.labels >= 0
    found = hide(ensemble, share, np.random.default_rng(3))
    left = found.labels >= 0
    assert left.sum() == known.sum() - round(share * known.sum())
    assert not (left & ~known).any() and np.array_equal(found.labels[left], ensemble.labels[left])
    assert (found.sizes, found.classes, found.names) == (ensemble.sizes, ensemble.classes, ensemble.names)
    assert found.labels.dtype == ensemble.labels.dtype and np.array_equal(ensemble.labels >= 0, known)


def test_hiding_is_even():
    counts = sum(hide(noisy_sample(), 0.25, np.random.default_rng(seed)).labels < 0 for seed in range(200))
    assert counts.min() > 20 and counts.max() < 85


def test_memberships_are_hidden_whole():
    soft = noisy_soft()
    found = hide(soft, 0.4, np.random.default_rng(4))
    assert found.known.sum() == soft.known.size - round(0.4 * soft.known.size)
    for j in range(5):
        rows = found.known[:, j]
        assert np.array_equal(found.block(j)[rows], soft.block(j)[rows]) and not found.block(j)[~rows].any()


def test_no_share():
    with pytest.raises(ParameterError, match=r"share=1\.5 is no share"):
        hide(Ensemble.from_labels([[0, 1], [1, 0]]), 1.5, np.random.default_rng(0))
    with pytest.raises(ParameterError, match="between 0 and 1"):
        noisy([0, 1], 2, -0.1, np.random.default_rng(0))
