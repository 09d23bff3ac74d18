"""The benchmark by kind of ensemble: its tables, its measures and its report, on data that need no file."""

import json
import time
from functools import partial

import numpy as np
import pytest

from benchmarks import kinds
from benchmarks import quality_by_kind as quality
from benchmarks.kinds import HALVES, KINDS, half_of, plan
from benchmarks.records import Log


@pytest.fixture
def tables(tmp_path, monkeypatch):
    """Two tables, one of each half, built into a folder and read again."""
    monkeypatch.setattr(kinds, "GAUSSIANS", ("gaussian00", "gaussian01"))
    kinds.build_all(tmp_path, kinds=["gaussian"])
    return kinds.read(tmp_path)


def test_every_table_of_the_plan_has_one_name_and_a_half():
    tasks = list(plan())
    assert len(set(tasks)) == len(tasks)
    assert {kind for kind, _, _ in tasks} == set(KINDS)
    for kind in KINDS:
        assert {half_of(dataset) for each, dataset, _ in tasks if each == kind} == set(HALVES)


def test_a_pool_is_in_the_half_of_its_data_set():
    assert half_of("pd") == half_of("pendigits")
    assert half_of("lr") == half_of("letter") != half_of("pd")


def test_tables_are_reproducible_and_absent_data_are_skipped(tables, tmp_path, monkeypatch, capsys):
    again = kinds.build("gaussian", "gaussian01", 0)
    assert np.array_equal(again.labels, tables[1].labels)
    assert [table.half for table in tables] == list(HALVES)
    monkeypatch.setattr(kinds, "POOLS", ("ls",))
    (tmp_path / "empty").mkdir()
    kinds.build_all(tmp_path, str(tmp_path / "empty"), ["gaussian", "pools"])
    assert "pools__ls__0: skipped" in capsys.readouterr().err
    assert len(json.loads((tmp_path / "index.json").read_text())) == 2


def test_missing_labels_hide_part_of_another_table():
    full = kinds.build("gaussian", "gaussian00", 0)
    part = kinds.build("missing", "gaussian00", kinds.HIDDEN.index("gaussian"))
    known = part.labels >= 0
    assert 0.5 < known.mean() < 0.8
    assert np.array_equal(part.labels[known], full.labels[known])


def test_report_has_both_halves_and_counts_failures(tables, tmp_path):
    log = Log(tmp_path / "results.jsonl")
    quality.measure(log, tables, quality.BASE, "base", partial(map, quality.base_record))
    for method in ("voting", "hbgf", "no such method"):
        quality.measure(log, tables, method, "1", partial(map, partial(quality.fit_record, method=method, seconds=60)))
    quality.measure(log, tables, "k", "1", partial(map, partial(quality.octaves_record, rule=lambda _: 8, seconds=60)))
    assert not quality.due(log, tables, "voting", "1")
    assert len(quality.due(log, tables, "voting", "2")) == 2
    found = quality.report(log, tables, "voting")
    scores = {half: found[half]["ARI"]["voting"]["gaussian"] for half in found}
    assert scores["all"] == pytest.approx(np.mean([scores[half] for half in HALVES]))
    assert scores["all"] > found["all"]["ARI"][quality.BASE]["mean"]
    assert found["all"]["Share of tables that failed"]["no such method"]["mean"] == 1
    assert found["all"]["Mean |log2(k / classes)|"]["k"]["mean"] == pytest.approx(
        np.mean([abs(np.log2(8 / table.k)) for table in tables]), abs=1e-3
    )
    assert "| voting |" in quality.markdown("ARI", found["all"]["ARI"])


def test_a_slow_fit_is_stopped():
    with pytest.raises(quality.TimeLimitError), quality.time_limit(0.05):
        time.sleep(5)


def test_score_quality_by_hand():
    event = np.array([False, True, True, True, True])
    score = np.array([0.05, 0.95, 0.95, 0.05, np.nan])
    auroc, error = quality.score_quality(score, event)
    assert auroc == pytest.approx((1 + 1 + 0.5) / 3)
    assert error == pytest.approx((2 * abs(0.5 - 0.05) + 2 * abs(1 - 0.95)) / 4)
    assert np.isnan(quality.score_quality(score[1:], event[1:])[0])


def test_majority_class_of_a_cluster():
    found = quality.is_majority(np.array([0, 0, 0, 1, 1]), np.array([0, 0, 1, 1, 1]))
    assert found.tolist() == [True, True, False, True, True]
