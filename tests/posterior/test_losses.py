"""Expected losses against pair-by-pair sums and against the package's own measures."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from partita.core.draws import Draws
from partita.core.errors import ParameterError
from partita.core.threads import thread_limit
from partita.metrics import rand, variation_of_information
from partita.posterior.losses import distances, expected_loss
from tests.posterior.draws_oracle import DISTANCES, losses, partitions


@st.composite
def tables(draw, most=8):
    n, rows = draw(st.integers(1, most)), draw(st.integers(1, 5))
    return np.array(draw(st.lists(st.lists(st.integers(0, n), min_size=n, max_size=n), min_size=rows, max_size=rows)))


@given(tables())
def test_distances_are_sums_over_pairs(table):
    for loss, distance in DISTANCES.items():
        wanted = [distance(table[0], draw) for draw in table]
        assert distances(Draws.of(table), table[0], loss) == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize("loss", ["vi", "binder"])
def test_the_oracle_of_all_partitions_agrees(loss):
    table = np.random.default_rng(0).integers(3, size=(4, 5))
    wanted = [np.mean([DISTANCES[loss](row, draw) for draw in table]) for row in partitions(5)]
    assert losses(partitions(5), table, loss) == pytest.approx(wanted, abs=1e-12)


def test_large_tables_agree_with_the_measures():
    rng = np.random.default_rng(1)
    table, labels = rng.integers(300, size=(5, 2000)), rng.integers(7, size=2000)
    draws = Draws.of(table)
    assert distances(draws, labels) == pytest.approx([variation_of_information(labels, row) for row in table])
    wanted = [(1 - rand(labels, row)) * 1999 / 2000 for row in table]
    assert distances(draws, labels, "binder") == pytest.approx(wanted)
    with thread_limit(1):
        alone = distances(draws, labels)
    assert np.array_equal(alone, distances(draws, labels))


def test_missing_objects_are_left_out():
    table = np.array([[0, 0, -1, 1, 1], [0, 1, -1, 1, 1]])
    known = [0, 1, 3, 4]
    labels = np.array(["a", "a", "b", "c", "c"])
    for loss in ("vi", "binder"):
        wanted = expected_loss(Draws.of(table[:, known]), labels[known], loss)
        assert expected_loss(Draws.of(table), labels, loss) == pytest.approx(wanted)
    partly = expected_loss(Draws.of(table), [0, 0, 5, -1, 1])
    assert partly == pytest.approx(expected_loss(Draws.of(table[:, [0, 1, 4]]), [0, 0, 1]))


def test_mistakes_are_named():
    draws = Draws.of([[0, 1, 1]])
    with pytest.raises(ParameterError, match="loss='l2'"):
        distances(draws, [0, 1, 1], "l2")
    with pytest.raises(ParameterError, match="labels of 2 objects and draws of 3"):
        distances(draws, [0, 1])
    with pytest.raises(ParameterError, match="no object has a label"):
        distances(draws, [-1, -1, -1])
