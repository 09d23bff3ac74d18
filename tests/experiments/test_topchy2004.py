"""topchy2004: the example, the ensembles, the trials and the printed numbers."""

import csv
from collections import Counter

import numpy as np
import pytest

from partita import consensus
from partita.core.consensus import Consensus
from partita.core.errors import AbsentDataError
from partita.datasets import load
from partita.experiments.exhibit import Row, Trial
from partita.experiments.papers import csv_of, topchy2004
from partita.experiments.papers.topchy2004 import EXAMPLE_ROWS, IRIS, PAPER, SPIRALS, completed, error, kmeans_labels

CONVERGED = [1.0, 1.0, 0.950, 1.0, 1.0, 0.950, 0.110, 0.018, 0.278, 0.115, 0.110, 0.018]
"""E[z1] at the maximum of the likelihood, from an independent calculation."""


def trial(row, seed=0):
    return Trial(row, np.random.default_rng(seed), True, load)


@pytest.fixture(scope="module")
def printed():
    with csv_of("topchy2004").open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def example_values():
    return {row.name: topchy2004.example_trial(trial(row)) for row in EXAMPLE_ROWS}


def test_printed_numbers_have_their_place(printed):
    exhibits = {exhibit.key: exhibit for exhibit in PAPER.exhibits}
    for line in printed:
        exhibit = exhibits[line["exhibit"]]
        assert line["row"] in {row.name for row in exhibit.rows}, line
        assert line["column"] in exhibit.columns, line
        assert line["place"].startswith("p. ")


def test_printed_numbers_are_all_there(printed):
    """Two rows each of Tables 4 and 8 cannot be read; of Table 2 the sets that were found."""
    counts = Counter(line["exhibit"] for line in printed)
    rows = {exhibit.key: len(exhibit.rows) for exhibit in PAPER.exhibits}
    assert counts["table-1"] == 12 and counts["table-2"] == 3
    assert counts["table-3"] == rows["table-3"] * 4 == 18 * 4
    assert counts["table-4"] == (rows["table-4"] - 2) * 3 == 18 * 3
    assert (counts["table-5"], counts["table-6"], counts["table-7"]) == (8 * 5, 15 * 5, 7 * 5)
    assert counts["table-8"] == (rows["table-8"] - 2) * 2 == 56


def test_printed_errors_are_possible(printed):
    """At most one half with two classes; with three, two thirds."""
    for line in printed:
        if line["exhibit"] != "table-1":
            assert 5 < float(line["value"]) <= 50, line


def test_the_example_at_its_maximum(example_values, printed):
    result = consensus(topchy2004.example(), "mm", 2, init="random", restarts=30)
    assert result.detail["log likelihood"] == pytest.approx(-29.9917, abs=1e-4)
    found = [example_values[row.name]["z1"] for row in EXAMPLE_ROWS]
    assert found == pytest.approx(CONVERGED, abs=6e-4)
    for line in printed:
        if line["exhibit"] == "table-1":
            assert example_values[line["row"]][line["column"]] == pytest.approx(float(line["value"]), abs=0.02), line


def test_the_claim_about_the_example(example_values):
    samples = {row: {c: np.array([v]) for c, v in cells.items()} for row, cells in example_values.items()}
    claim = topchy2004.TABLE_1.claims[0]
    assert claim.judge(samples)[0] == "holds"
    samples["y7"]["z1"] = np.array([0.6])
    assert claim.judge(samples)[0] == "does not hold"
    assert claim.judge({})[0] == "not tested"


def test_base_clusterings_differ_and_repeat():
    X = load("iris").X
    first, again = (kmeans_labels(X, 6, 3, np.random.default_rng(4)) for _ in range(2))
    assert (first == again).all() and first.shape == (150, 6)
    assert len({tuple(column) for column in first.T}) > 1


def test_error_is_per_cent_outside_the_match():
    assert error([1, 1, 0, 0], np.array([0, 0, 1, 1])) == 0
    assert error([1, 0, 0, 0], np.array([0, 0, 1, 1])) == 25


def test_objects_without_labels_go_to_the_largest():
    assert completed(Consensus.hard([0, 1, 1, -1, 0, 1])).tolist() == [0, 1, 1, 1, 0, 1]


@pytest.mark.parametrize("key", ["table-2", "table-5", "table-6", "table-7", "figure-4"])
def test_a_trial_measures_every_column(key):
    exhibit = next(exhibit for exhibit in PAPER.exhibits if exhibit.key == key)
    row = (exhibit.quick_rows or exhibit.rows)[0]
    found, again = exhibit.trial(trial(row)), exhibit.trial(trial(row))
    assert tuple(sorted(found)) == tuple(sorted(exhibit.columns))
    assert found == again
    assert all(0 <= value <= 67 for value in found.values())


def test_base_is_told_only_where_k_fits():
    found = topchy2004.error_trial(trial(Row("2-spirals", "H=5 k=3")))
    assert np.isnan(found["base"]) and not np.isnan(found["mm"])


def test_nothing_hidden_is_the_whole_table():
    """Without missing labels Figure 4 is Table 7's ensemble of five, drawn elsewhere: errors of the same kind."""
    found = topchy2004.missing_trial(trial(Row("iris", 0)))
    much = [topchy2004.missing_trial(trial(Row("iris", 50), seed))["mm spectral"] for seed in range(4)]
    assert found["mm spectral"] < 20 and np.mean(much) > found["mm spectral"]


def test_absent_data_is_told():
    with pytest.raises(AbsentDataError, match="Galaxy"):
        topchy2004.TABLE_3.trial(trial(topchy2004.TABLE_3.rows[0]))


def test_no_winner():
    rows = list(SPIRALS)[:2]
    names = ("mm", "qmi", "cspa", "hgpa", "mcla")
    one = {row.name: {name: np.full(2, float(place)) for place, name in enumerate(names)} for row in rows}
    two = one | {rows[1].name: {name: np.full(2, -float(place)) for place, name in enumerate(names)}}
    tied = one | {rows[1].name: {name: np.full(2, 1.0) for name in names}}
    holds = topchy2004.no_winner(rows)
    assert holds(one)[0] == "does not hold" and holds(tied)[0] == "not contradicted"
    verdict, text = holds(two)
    assert verdict == "holds" and "mm, qmi, cspa, hgpa, mcla" in text
    noisy = {row: {name: np.array([0.0, 5.0, place]) for place, name in enumerate(names)} for row in two}
    assert holds(noisy)[0] == "not contradicted"
    assert holds({})[0] == "not tested"


def test_rows_by_size():
    assert [row.name for row in topchy2004.of_size(IRIS, least=21)] == [
        "iris H=30 k=3",
        "iris H=40 k=3",
        "iris H=50 k=3",
    ]
    assert len(topchy2004.of_size(SPIRALS, most=5, k=2)) == 1
