"""Every registered paper: its numbers fit its exhibits, its keys are its own, and each trial runs where its data is."""

import os

import pytest

from partita.datasets import names
from partita.experiments.measuring import measure
from partita.experiments.papers import PAPERS, csv_of, get
from partita.experiments.published import read_published
from partita.experiments.units import Settings, Unit, measured, rows_of

EXHIBITS = [(name, exhibit.key) for name in PAPERS for exhibit in get(name).exhibits if exhibit.trial is not None]


@pytest.mark.parametrize("name", PAPERS)
def test_published_numbers_fit(name):
    paper = get(name)
    found = read_published(csv_of(name), paper)
    assert found and all(each.place for each in found), "each number stands with its place in the paper"
    odd = ("impossible", "not eq 12", "not a ratio", "20 categories")
    assert all(each.comparable != any(word in each.remark for word in odd) for each in found)


@pytest.mark.parametrize("name", PAPERS)
def test_exhibits_are_whole(name):
    paper = get(name)
    keys = [exhibit.key for exhibit in paper.exhibits]
    assert paper.key == name and paper.title and len(set(keys)) == len(keys)
    for exhibit in paper.exhibits:
        kind, _, number = exhibit.key.partition("-")
        assert kind in ("table", "figure", "section") and number, (
            "partita reproduce finds it as --table, --figure or --section"
        )
        assert exhibit.title and exhibit.score and exhibit.rows and exhibit.columns
        for rows in (exhibit.rows, exhibit.quick_rows or ()):
            assert len({row.name for row in rows}) == len(rows)
        source = measured(paper, exhibit)
        assert source.trial is not None and source.draws >= source.quick_draws >= 0
        assert (exhibit.trial is None) == bool(exhibit.of)
        assert set(exhibit.data) <= set(names())


@pytest.mark.slow
@pytest.mark.parametrize(("name", "key"), EXHIBITS)
def test_each_trial_runs(name, key):
    """The first quick row, once; the data folder is the one PARTITA_DATA names."""
    exhibit = next(each for each in get(name).exhibits if each.key == key)
    absent = ""
    for row in rows_of(exhibit, quick=True):
        outcome = measure(Unit(PAPERS[name], name, key, row.name, 0), Settings(quick=True))
        assert not outcome.error, outcome.error
        absent = outcome.absent
        if not absent:
            assert set(outcome.values) == set(exhibit.columns)
            return
    pytest.skip(f"no row has its data (PARTITA_DATA={os.environ.get('PARTITA_DATA', '')}): {absent}")
