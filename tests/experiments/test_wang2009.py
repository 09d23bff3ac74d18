"""wang2009: printed numbers, trials and claims."""

from collections import Counter

import numpy as np
import pytest
from scipy import stats

from partita.datasets.base import Dataset
from partita.experiments.bases import kmeans_runs
from partita.experiments.exhibit import Row
from partita.experiments.papers import exhibit
from partita.experiments.papers.wang2009 import FIGURE_2, FIGURE_3, FIGURE_4, FIGURE_5, PAPER, TABLE_3, paired
from partita.experiments.papers.wang2009_trials import (
    MISSING_METHODS,
    SETS,
    SETTINGS,
    by_columns,
    by_rows,
    general,
    growing,
    matched,
    missing,
    objects_of,
)
from partita.metrics import micro_precision
from tests.experiments.blobs import published, trial

PRINTED = published("wang2009")
LARGEST = {"pima": 0.651, "bupa": 0.580, "wdbc": 0.627, "ionosphere": 0.641, "magic04": 0.648, "balance": 0.461}


def test_every_printed_number_is_there():
    """Table 3: 10 data sets, 8 methods, maximum and average, less CSPA on magic04."""
    counts = Counter(line.exhibit for line in PRINTED)
    assert counts == {"table-2": 30, "table-3": 158, "table-3-matched": 158, "table-4": 40}


def test_impossible_precisions_are_remarked():
    """No cluster's largest class is smaller than its share of the largest class of all (MISPRINTS 24)."""
    for line in PRINTED:
        if line.exhibit == "table-3":
            impossible = line.value < LARGEST.get(line.row, 0) - 5e-4
            assert bool(line.remark) == impossible, line


def test_contradictions_of_table_4_are_remarked():
    value = {
        (line.row, line.column): line.value
        for line in PRINTED
        if line.exhibit == "table-3" and line.statistic == "mean"
    }
    for line in PRINTED:
        if line.exhibit == "table-4" and line.column == "mean difference":
            off = abs(value[line.row, "mm"] - value[line.row, "bce-vb"] - line.value)
            assert bool(line.remark) == (off > 0.012), (line, off)


def test_shares_of_the_largest_class():
    rng = np.random.default_rng(0)
    classes = rng.permutation(np.arange(100) < 65)
    for _ in range(20):
        assert micro_precision(rng.integers(2, size=100), classes) >= 0.65


def test_base_clusterings_differ_and_repeat():
    X = np.random.default_rng(3).normal(size=(80, 2))
    first, again = (kmeans_runs(X, [4, 4, 5], np.random.default_rng(1)) for _ in range(2))
    assert first.sizes == (4, 4, 5)
    assert (first.labels == again.labels).all() and (first.labels[:, 0] != first.labels[:, 1]).any()


def test_segmentation_is_the_test_file_and_rows_are_mixed():
    many = Dataset("segmentation", np.arange(2310.0)[:, None], np.arange(2310) * 7 // 2310, tuple("abcdefg"))
    found = objects_of(trial(Row("segmentation"), data=lambda name: many))
    assert len(found) == 2100 and found.X.min() == 210 and (np.diff(found.X[:, 0]) != 1).any()


@pytest.mark.parametrize("measured", [general, matched])
def test_clear_clusters_are_found_by_all(measured):
    """By k-means from random objects they are not found every time; by the ensemble they are."""
    found = measured(trial(Row("iris")))
    assert set(found) == set(exhibit(PAPER, "table-3").columns)
    assert found["base best"] == 1 and 0.5 < found["base"] <= 1
    assert found["mcla"] == found["mm spectral"] == found["bce-vb spectral"] == 1


def test_the_large_set_is_spared_cspa():
    found = general(trial(Row("magic04")))
    assert np.isnan(found["cspa"]) and np.isfinite([found[name] for name in SETTINGS if name != "cspa"]).all()


def test_hidden_labels():
    found = missing(trial(Row("iris", 81)))
    assert set(found) == set(MISSING_METHODS)
    assert min(found["mm"], found["bce-vb"]) > 0.8


def test_one_column_is_its_own_consensus():
    found = growing(trial(Row("iris", 1)))
    assert len(set(found.values())) == 1
    assert set(growing(trial(Row("iris", 4)))) == set(SETTINGS)


@pytest.mark.slow
def test_rows_in_one_part_and_in_many():
    """The exact exchange does not depend on the parts; the draws of a row do not either."""
    few, many = by_rows(trial(Row("iris", 1))), by_rows(trial(Row("iris", 4)))
    assert set(few) == set(exhibit(PAPER, "figure-4").columns)
    assert few["bce-vb rows"] == many["bce-vb rows"]


def test_columns_are_timed():
    found = by_columns(trial(Row("iris", 6)))
    assert set(found) == set(exhibit(PAPER, "figure-5").columns)
    assert all(0 < seconds < 60 for seconds in found.values())


def samples_of(rows, **values):
    return {row.name: {name: np.asarray(value, float) for name, value in values.items()} for row in rows}


def test_the_paired_test_is_the_textbook_one():
    mm, bce = np.array([0.80, 0.85, 0.82]), np.array([0.84, 0.86, 0.85])
    found = paired(samples_of(TABLE_3[:1], **{"mm": mm, "bce-vb": bce}))
    gaps = mm - bce
    t = gaps.mean() / (gaps.std(ddof=1) / np.sqrt(3))
    assert found["iris", "mean difference"] == pytest.approx(-0.08 / 3)
    assert found["iris", "sd mm"] == pytest.approx(np.std(mm, ddof=1))
    assert found["iris", "p-value"] == pytest.approx(stats.t.cdf(t, 2))
    assert np.isnan(paired(samples_of(TABLE_3[:1], **{"mm": mm, "bce-vb": mm}))["iris", "p-value"])


def test_nine_of_ten():
    claim = exhibit(PAPER, "table-4").claims[0]
    ahead = samples_of(TABLE_3, **{"mm": [0.5, 0.5], "bce-vb": [0.6, 0.6]})
    assert claim.judge(ahead)[0] == "holds"
    ahead |= samples_of(TABLE_3[:1], **{"mm": [0.7, 0.7], "bce-vb": [0.6, 0.6]})
    assert claim.judge(ahead)[0] == "holds"
    ahead |= samples_of(TABLE_3[1:2], **{"mm": [0.7, 0.7], "bce-vb": [0.6, 0.6]})
    verdict, text = claim.judge(ahead)
    assert verdict == "does not hold" and "8 of 10" in text
    del ahead["iris"], ahead["bupa"]
    assert claim.judge(ahead)[0] == "not tested"


def test_which_is_steadier():
    claim = exhibit(PAPER, "table-4").claims[1]
    assert claim.judge(samples_of(TABLE_3, **{"mm": [0.5, 0.7], "bce-vb": [0.6, 0.6]}))[0] == "holds"
    assert claim.judge(samples_of(TABLE_3, **{"mm": [0.6, 0.6], "bce-vb": [0.5, 0.7]}))[0] == "does not hold"


def test_stable_until_seventy():
    claim = exhibit(PAPER, "figure-2").claims[0]
    level = {
        row.name: dict.fromkeys(MISSING_METHODS, np.full(2, 0.9 if float(row.x) < 70 else 0.5)) for row in FIGURE_2
    }
    assert claim.judge(level)[0] == "holds"
    falling = {row.name: dict.fromkeys(MISSING_METHODS, np.full(2, 0.9 - float(row.x) / 200)) for row in FIGURE_2}
    verdict, text = claim.judge(falling)
    assert verdict == "does not hold" and "shown for 0 of 60 curves" in text


def test_rising_then_resting():
    claim = exhibit(PAPER, "figure-3").claims[1]
    like = {row.name: dict.fromkeys(SETTINGS, np.full(2, min(float(row.x), 5) / 10)) for row in FIGURE_3}
    straight = {row.name: dict.fromkeys(SETTINGS, np.full(2, float(row.x) / 25)) for row in FIGURE_3}
    assert claim.judge(like)[0] == "holds" and claim.judge(straight)[0] == "does not hold"


def test_rows_against_kmeans():
    always, balance = exhibit(PAPER, "figure-4").claims
    ahead = samples_of(FIGURE_4, **{"bce-vb sequential": [0.8, 0.8], "qmi rows": [0.7, 0.7]})
    assert always.judge(ahead)[0] == "holds" and balance.judge(ahead)[0] == "does not hold"


def test_how_much_faster():
    faster, orders = exhibit(PAPER, "figure-5").claims
    some = samples_of(
        FIGURE_5, **{"general": [3.0, 3.3], "by columns": [2.0, 2.1], "by columns, median client": [1.0, 1.1]}
    )
    assert faster.judge(some)[0] == "holds" and orders.judge(some)[0] == "does not hold"


@pytest.mark.parametrize("claim", [claim for shown in PAPER.exhibits for claim in shown.claims], ids=lambda c: c.text)
def test_nothing_is_claimed_of_nothing(claim):
    assert claim.judge({})[0] == "not tested"


def test_quick_rows_are_rows():
    for shown in PAPER.exhibits:
        assert set(shown.quick_rows or ()) <= set(shown.rows)
    assert {row.panel for row in TABLE_3} == set(SETS)
