"""What the reproductions of strehl2002 and topchy2004 must show, by the exhibits' own trials and the runner's seeds."""

import numpy as np
import pytest

from partita.core.rng import keyed
from partita.datasets import load
from partita.experiments.exhibit import Row, Trial
from partita.experiments.papers import exhibit, get

pytestmark = pytest.mark.slow
DRAWS = 10


def draws_of(paper, key, row, draws=DRAWS):
    """By column, the values that `partita reproduce` finds in its first draws of a row."""
    shown = exhibit(get(paper), key)
    found = [shown.trial(Trial(row, keyed(0, paper, key, row.name, draw), False, load)) for draw in range(draws)]
    return {column: np.array([values[column] for values in found]) for column in shown.columns}


@pytest.fixture(scope="module")
def iris():
    rows = exhibit(get("topchy2004"), "table-7").rows
    return {row.name: draws_of("topchy2004", "table-7", row) for row in rows}


def test_em_on_iris(iris):
    """topchy2004 Table 7: 10.8 to 12.8 % error over all numbers of clusterings, each with ten draws.

    Of three random starts the likeliest now and then is a bad one (error near 45 %), and of five clusterings three may
    be: one such draw moves the mean of its row by 3.4, so single rows are held to their median.
    """
    for start in ("mm", "mm spectral"):
        assert 10.8 <= np.mean([cells[start] for cells in iris.values()]) <= 12.8
        for name, cells in iris.items():
            assert 10.6 <= np.median(cells[start]) <= 12.8, name


def test_em_on_iris_from_our_start(iris):
    """From ten clusterings on the mean of every row is in the range."""
    for name, cells in iris.items():
        if name != "iris H=5 k=3":
            assert 10.8 <= cells["mm spectral"].mean() <= 12.8, name


def test_mcla_on_iris(iris):
    """About 11 % from ten clusterings on."""
    for name, cells in iris.items():
        if name != "iris H=5 k=3":
            assert cells["mcla"].mean() == pytest.approx(11, abs=0.6), name


def test_consensus_of_views_beats_the_best_view():
    """strehl2002 Table 3, 8D5K."""
    cells = draws_of("strehl2002", "table-3", Row("8D5K"))
    assert (cells["supra"] > cells["max subspace"]).sum() >= 9


@pytest.mark.parametrize("panel", ["2D2K", "8D5K"])
def test_sixteen_parts_keep_the_quality(panel):
    """strehl2002 Figure 8: p = 16, v = 2 keeps at least 85 % of the full quality."""
    assert draws_of("strehl2002", "figure-8", Row(panel, 16))["supra"].mean() >= 0.85
