"""Verdicts: what holds, what fails, what cannot be told."""

import numpy as np
import pytest
from scipy import stats

from partita.experiments.exhibit import Row
from partita.experiments.verdicts import above, at_least, compare, mean, not_below, pool_above, pool_not_above, together

A, B, GONE = Row("a"), Row("b", 3), Row("gone")


def samples(**rows):
    """By row: the draws of "ours" and of "theirs"."""
    return {
        name.replace("_", " "): dict(zip(("ours", "theirs"), map(np.array, pair), strict=True))
        for name, pair in rows.items()
    }


CLEAR = samples(a=([0.9, 0.8, 0.9] * 2, [0.5, 0.4, 0.6] * 2), b_3=([0.7] * 6, [0.6, 0.5, 0.6] * 2))
EQUAL = samples(a=([0.9, 0.5, 0.7] * 2, [0.8, 0.6, 0.7] * 2), b_3=([0.7] * 6, [0.6, 0.5, 0.6] * 2))
ONE = samples(a=([0.9], [0.5]), b_3=([0.7], [0.6]))


@pytest.mark.parametrize(
    "cells, first, second, is_above, is_not_below",
    [
        (CLEAR, "ours", "theirs", True, True),
        (CLEAR, "theirs", "ours", False, False),
        (EQUAL, "ours", "theirs", None, True),
        (EQUAL, "theirs", "ours", False, False),
        (ONE, "ours", "theirs", None, None),
        ({}, "ours", "theirs", None, None),
    ],
)
def test_verdicts(cells, first, second, is_above, is_not_below):
    assert above((A, B), first, second)(cells)[0] is is_above
    assert not_below((A, B), first, second)(cells)[0] is is_not_below


def test_a_margin():
    assert above((B,), "ours", "theirs", least=0.05)(CLEAR)[0] is True
    assert above((B,), "ours", "theirs", least=0.5)(CLEAR)[0] is False


def test_rows_that_were_not_run_are_left_out():
    answer, told = above((A, GONE), "ours", "theirs")(CLEAR)
    assert answer is True and told == "a: ours 0.867 against theirs 0.5 (1 of 2 rows)"


def test_compared_draw_by_draw():
    """The noise is that of the differences: draws that move together hide nothing."""
    steady = samples(a=([0.1, 0.5, 0.9], [0.0, 0.4, 0.8]))
    found = compare(steady, A, "ours", "theirs")
    assert found.gap == pytest.approx(0.1) and found.noise() == pytest.approx(0.0, abs=1e-12)
    gaps = samples(a=([0.1, np.nan, 0.9], [0.0, 0.4, 0.6]))
    found = compare(gaps, A, "ours", "theirs")
    assert found.told == "a: ours 0.5 against theirs 0.3" and found.gap == pytest.approx(0.2)
    assert found.noise() == pytest.approx(stats.t.ppf(0.975, 1) * np.std([0.1, 0.3], ddof=1) / np.sqrt(2))
    assert found.noise(0.01) == pytest.approx(stats.t.ppf(0.995, 1) * np.std([0.1, 0.3], ddof=1) / np.sqrt(2))
    assert compare(gaps, A, "ours", "nobody") is None


def test_mean():
    assert mean(samples(a=([1.0, np.nan, 3.0], [0.0] * 3)), A, "ours") == 2.0
    assert np.isnan(mean({}, A, "ours"))


def test_together():
    holds, fails = above((A, B), "ours", "theirs"), above((A, B), "theirs", "ours")
    assert together(holds, holds)(CLEAR)[0] is True
    assert together(holds, fails)(CLEAR)[0] is False
    gone = above((GONE,), "ours", "theirs")
    assert together(holds, gone)(CLEAR)[0] is None
    assert together(gone, gone)(CLEAR) == (None, "not measured")


def test_pools_of_rows():
    assert pool_above((A,), (B,), "ours")(CLEAR)[0] is True
    assert pool_above((B,), (A,), "ours")(CLEAR)[0] is False
    assert pool_above((A,), (B,), "theirs")(CLEAR)[0] is None
    assert pool_not_above((A,), (B,), "theirs")(CLEAR)[0] is True
    assert pool_not_above((A,), (B,), "ours")(CLEAR) == (False, "ours: 0.867 in a against 0.7 in b 3")
    assert pool_not_above((A,), (B,), "ours", most=0.2)(CLEAR)[0] is True
    for cells in (ONE, {}):
        assert pool_above((A,), (B,), "ours")(cells)[0] is None
        assert pool_not_above((A,), (B,), "ours")(cells)[0] is None


def test_rows_of_a_pool_count_the_same():
    """However many draws they have."""
    cells = samples(a=([1.0] * 9, [0.0] * 9), b_3=([0.0, 0.0], [0.0, 0.0]), c=([0.4, 0.4], [0.0, 0.0]))
    assert pool_above((A, B), (Row("c"),), "ours")(cells) == (True, "ours: 0.5 in 2 rows against 0.4 in c")


def test_at_least():
    assert at_least((A, B), "ours", 0.69)(CLEAR) == (True, "a: ours 0.867; b 3: ours 0.7")
    assert at_least((A,), "ours", 0.9)(CLEAR)[0] is None
    assert at_least((A, B), "ours", 0.8)(CLEAR)[0] is False
    assert at_least((GONE,), "ours", 0.8)(CLEAR)[0] is None
