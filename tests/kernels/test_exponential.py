"""Exponentials against the system's."""

import numpy as np
import pytest

from partita.kernels.exponential import exponentials


def test_exponentials_are_exact_but_for_the_last_bit():
    rng = np.random.default_rng(0)
    values = np.concatenate([-np.geomspace(1e-300, 700, 5000), -700 * rng.random(20000), [0.0, -0.0]])
    found = values.copy()
    exponentials(found, len(found))
    assert np.abs(found / np.exp(values) - 1).max() <= 2 * np.finfo(float).eps
    assert (found[-2:] == 1).all()


def test_exponentials_of_very_low_numbers():
    values = np.array([-708.5, -730.0, -744.9, -745.14, -745.3, -1000.0, -1e8, -1e300, -np.inf])
    found = values.copy()
    exponentials(found, len(found))
    assert found == pytest.approx(np.exp(values), rel=1e-9, abs=5e-324)
    assert (found[4:] == 0).all()


def test_only_the_first_are_changed():
    values = np.full(5, -1.0)
    exponentials(values, 3)
    assert values.tolist() == [np.exp(-1.0)] * 3 + [-1.0] * 2
