"""Verdicts: holds, does not hold, not contradicted, not tested; against the rule in docs/reproduce.md."""

import numpy as np
import pytest
from scipy import stats

from partita.experiments.exhibit import Row
from partita.experiments.verdicts import (
    Compared,
    Part,
    above,
    at_least,
    at_most,
    compare,
    mean,
    most,
    not_below,
    pool_above,
    pool_not_above,
    together,
    weakest,
)

A, B, GONE = Row("a"), Row("b", 3), Row("gone")


def samples(**rows):
    """By row: the draws of "ours" and of "theirs"."""
    return {
        name.replace("_", " "): dict(zip(("ours", "theirs"), map(np.array, pair), strict=True))
        for name, pair in rows.items()
    }


CLEAR = samples(a=([0.9, 0.8, 0.9] * 2, [0.5, 0.4, 0.6] * 2), b_3=([0.7] * 6, [0.6, 0.5, 0.6] * 2))
EQUAL = samples(a=([0.9, 0.5, 0.7] * 2, [0.8, 0.6, 0.7] * 2), b_3=([0.7] * 6, [0.6, 0.5, 0.6] * 2))
SAME = samples(a=([0.9, 0.8] * 3, [0.9, 0.8] * 3), b_3=([0.7] * 6, [0.6, 0.5, 0.6] * 2))
ONE = samples(a=([0.9], [0.5]), b_3=([0.7], [0.6]))


@pytest.mark.parametrize(
    "cells, first, second, is_above, is_not_below",
    [
        (CLEAR, "ours", "theirs", "holds", "holds"),
        (CLEAR, "theirs", "ours", "does not hold", "does not hold"),
        (EQUAL, "ours", "theirs", "not contradicted", "not contradicted"),
        (EQUAL, "theirs", "ours", "does not hold", "does not hold"),
        (SAME, "ours", "theirs", "not contradicted", "holds"),
        (ONE, "ours", "theirs", "not tested", "not tested"),
        ({}, "ours", "theirs", "not tested", "not tested"),
    ],
)
def test_verdicts(cells, first, second, is_above, is_not_below):
    assert above((A, B), first, second)(cells)[0] == is_above
    assert not_below((A, B), first, second)(cells)[0] == is_not_below


def test_a_margin_for_not_below():
    """A decrease is excluded only beyond the margin: by more than the noise."""
    cells = samples(a=([0.70, 0.72, 0.71] * 3, [0.72, 0.73, 0.72] * 3))
    assert not_below((A,), "ours", "theirs")(cells)[0] == "does not hold"
    assert not_below((A,), "ours", "theirs", margin=0.005)(cells)[0] == "does not hold"
    assert not_below((A,), "ours", "theirs", margin=0.014)(cells)[0] == "not contradicted"
    assert not_below((A,), "ours", "theirs", margin=0.03)(cells)[0] == "holds"


def test_a_margin():
    assert above((B,), "ours", "theirs", least=0.05)(CLEAR)[0] == "holds"
    assert above((B,), "ours", "theirs", least=0.5)(CLEAR)[0] == "does not hold"


def test_rows_that_were_not_run_are_left_out():
    verdict, text = above((A, GONE), "ours", "theirs")(CLEAR)
    assert verdict == "holds" and text == "a: ours 0.867 against theirs 0.5 (1 of 2 rows)"


def test_compared_draw_by_draw():
    """The noise is that of the differences: draws that move together hide nothing."""
    steady = samples(a=([0.1, 0.5, 0.9], [0.0, 0.4, 0.8]))
    found = compare(steady, A, "ours", "theirs")
    assert found.gap == pytest.approx(0.1) and found.noise() == pytest.approx(0.0, abs=1e-12)
    gaps = samples(a=([0.1, np.nan, 0.9], [0.0, 0.4, 0.6]))
    found = compare(gaps, A, "ours", "theirs")
    assert found.text == "a: ours 0.5 against theirs 0.3" and found.gap == pytest.approx(0.2)
    assert found.noise() == pytest.approx(stats.t.ppf(0.975, 1) * np.std([0.1, 0.3], ddof=1) / np.sqrt(2))
    assert found.noise(0.01) == pytest.approx(stats.t.ppf(0.995, 1) * np.std([0.1, 0.3], ddof=1) / np.sqrt(2))
    assert compare(gaps, A, "ours", "nobody") is None


def test_mean():
    assert mean(samples(a=([1.0, np.nan, 3.0], [0.0] * 3)), A, "ours") == 2.0
    assert np.isnan(mean({}, A, "ours"))


def test_together():
    holds, fails = above((A, B), "ours", "theirs"), above((A, B), "theirs", "ours")
    assert together(holds, holds)(CLEAR)[0] == "holds"
    assert together(holds, fails)(CLEAR)[0] == "does not hold"
    gone = above((GONE,), "ours", "theirs")
    assert together(holds, gone)(CLEAR)[0] == "not tested"
    assert together(gone, gone)(CLEAR) == ("not tested", "not measured")


def test_pools_of_rows():
    assert pool_above((A,), (B,), "ours")(CLEAR)[0] == "holds"
    assert pool_above((B,), (A,), "ours")(CLEAR)[0] == "does not hold"
    assert pool_above((A,), (B,), "theirs")(CLEAR)[0] == "not contradicted"
    assert pool_not_above((A,), (B,), "theirs")(CLEAR)[0] == "not contradicted"
    assert pool_not_above((A,), (B,), "ours")(CLEAR) == ("does not hold", "ours: 0.867 in a against 0.7 in b 3")
    assert pool_not_above((A,), (B,), "ours", margin=0.2)(CLEAR)[0] == "not contradicted"
    assert pool_not_above((A,), (B,), "ours", margin=0.3)(CLEAR)[0] == "holds"
    for cells in (ONE, {}):
        assert pool_above((A,), (B,), "ours")(cells)[0] == "not tested"
        assert pool_not_above((A,), (B,), "ours")(cells)[0] == "not tested"


def test_rows_of_a_pool_count_the_same():
    """However many draws they have."""
    cells = samples(a=([1.0] * 9, [0.0] * 9), b_3=([0.0, 0.0], [0.0, 0.0]), c=([0.4, 0.4], [0.0, 0.0]))
    assert pool_above((A, B), (Row("c"),), "ours")(cells) == ("holds", "ours: 0.5 in 2 rows against 0.4 in c")


def test_at_least():
    assert at_least((A, B), "ours", 0.69)(CLEAR) == ("holds", "a: ours 0.867; b 3: ours 0.7")
    assert at_least((B,), "ours", 0.7)(CLEAR)[0] == "holds"
    assert at_least((A,), "ours", 0.9)(CLEAR)[0] == "not contradicted"
    assert at_least((A, B), "ours", 0.8)(CLEAR)[0] == "does not hold"
    assert at_least((GONE,), "ours", 0.8)(CLEAR)[0] == "not tested"


def test_at_most():
    assert at_most((A, B), "ours", 0.95)(CLEAR)[0] == "holds"
    assert at_most((A,), "ours", 0.85)(CLEAR)[0] == "not contradicted"
    assert at_most((A, B), "ours", 0.75)(CLEAR)[0] == "does not hold"
    assert at_most((A,), "ours", 0.95)(ONE)[0] == "not tested"


def test_the_weakest_part_decides():
    assert weakest(["holds", "not contradicted", "holds"]) == "not contradicted"
    assert weakest(["holds", "not tested", "not contradicted"]) == "not tested"
    assert weakest(["not tested", "does not hold"]) == "does not hold"


def part(name, gap, error=0.0):
    return Part(name, [Compared(name, gap, error, 9, "")])


def test_most_parts():
    up, down, wide = (lambda i: part(f"up {i}", 1.0)), (lambda i: part(f"down {i}", -1.0)), part("wide", 0.1, 1.0)
    assert most([up(0), up(1), down(2)], "curves")[0] == "holds"
    assert most([up(0), down(1), down(2)], "curves")[0] == "does not hold"
    assert most([up(0), down(1), wide], "curves")[0] == "not contradicted"
    assert most([up(0), down(1)], "curves")[0] == "does not hold", "two halves are no majority"
    assert most([up(0), part("single draw", 1.0, np.inf)], "curves")[0] == "not tested"
    assert most([], "curves") == ("not tested", "not measured")
    assert most([up(0), up(1), down(2)], "curves")[1] == "shown for 2 of 3 curves, contradicted for 1 (down 2)"
