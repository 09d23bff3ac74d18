"""The worked examples are those of the papers and have their answers."""

import numpy as np
import pytest

import partita
from partita.datasets import examples
from partita.metrics import anmi


def test_seven_objects():
    ensemble = examples.seven_objects()
    assert ensemble.sizes == (3, 3, 3, 2) and ensemble.missing_share == pytest.approx(3 / 28)
    assert anmi(ensemble, list(examples.SEVEN_ANSWER)) == pytest.approx(0.71782, abs=5e-6)


def test_twelve_points():
    """The printed memberships lie on the way to the maximum, within 0.02 of it (MISPRINTS 35)."""
    result = partita.consensus(examples.twelve_points(), "mm", 2, tol=1e-12, max_iter=5000)
    assert result.labels.tolist() == list(examples.TWELVE_ANSWER)
    assert np.allclose(result.membership[:, 0], examples.TWELVE_PRINTED, atol=0.02)


def test_soft_objects():
    """Table I of punera2007 is Table II hardened, ties to the last (MISPRINTS 31)."""
    table = np.array([[1, 2, 1], [1, 2, 1], [1, 3, 2], [2, 3, 2], [2, 3, 3], [3, 1, 3], [3, 1, 3]])
    blocks = np.split(np.array(examples.SOFT), 3, axis=1)
    assert np.allclose([block.sum(axis=1) for block in blocks], 1)
    assert np.array_equal(np.column_stack([3 - block[:, ::-1].argmax(axis=1) for block in blocks]), table)
    ensemble = examples.soft_objects()
    assert len(ensemble) == 7 and ensemble.sizes == (3, 3, 3)
