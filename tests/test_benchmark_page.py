"""The benchmark page and what makes it: the runner's ways to fail and to go on, and the page from its results."""

import json
import os
import stat
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks import __main__ as command
from benchmarks import gathering, grid, notes, page, paging, quality, rivals, standing
from benchmarks.contestants import LOSSES, Entry, entries, quality_entries
from benchmarks.data import noisy_table
from benchmarks.harness import Reported
from benchmarks.records import Log, tidy
from benchmarks.rivals import Bounds
from partita import Ensemble, registry
from partita.datasets import Pool

MCLA, RIVAL = Entry("mcla", "partita"), Entry("mcla", "ClusterEnsembles")
FAKE = """
import os, time
import numpy as np
def cluster_ensembles(table, k, solver, random_state):
    if table.shape[1] == 30:
        os._exit(3)
    if table.shape[1] == 40:
        time.sleep(60)
    if table.shape[1] == 50:
        raise ValueError("fifty")
    return table[0]
"""


@pytest.fixture
def environment(tmp_path, monkeypatch):
    """An interpreter in whose environment one rival is installed."""
    (tmp_path / "ClusterEnsembles.py").write_text(FAKE)
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH="{tmp_path}" exec "{sys.executable}" "$@"\n')
    python.chmod(python.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv(rivals.VARIABLE, os.pathsep.join(["/nowhere/python", "/nowhere/Rscript", str(python)]))


@pytest.fixture(scope="module")
def results():
    """The committed results."""
    return json.loads(paging.RESULTS.read_text())


def answering(seconds=1.0, fails=(), asked=None):
    """A stand-in for a contestant's process: the first column, in time proportional to the objects."""

    def ask(program, method, k, labels, bounds):
        if asked is not None:
            asked.append((program, len(labels)))
        if (program, len(labels)) in fails:
            return Reported(failure="died in /home/someone/secret place")
        if program == "absent":
            raise ImportError("no module named absent")
        return Reported(labels[:, 0], seconds * len(labels) / 100, 1.0, 5.0, versions={"version": "1"})

    return ask


def test_the_page_is_what_the_results_make(results):
    assert paging.PAGE.read_text() == page.render(results)


def test_every_method_and_every_rival_is_on_the_page(results):
    text = paging.PAGE.read_text()
    for method in (*registry.METHODS, *LOSSES):
        assert f"### {method}\n" in text
        assert any(run["method"] == method and run["program"].startswith("partita") for run in results["grid"])
    for entry in quality_entries():
        assert entry.program in text
        assert any((run["method"], run["program"]) == (entry.method, entry.program) for run in results["pools"])
    for entry in entries():
        assert {run["n"] for run in results["grid"] if run["program"] == entry.program} == set(grid.SIZES), entry


def test_every_rival_has_run_or_a_reason(results):
    programs = {entry.program.partition(" ")[0] for entry in entries() if entry.program not in rivals.OWN}
    assert programs == set(notes.NEEDS)
    for program, why in (notes.NEEDS | notes.SKIPPED).items():
        assert len(why) > 20, program
    for run in results["grid"] + results["pools"]:
        assert "wall" in run or run.get("scores") or run.get("failure") or run.get("failures") or run.get("left"), run


def test_every_pair_that_falls_short_has_a_reason_and_no_other(results):
    needed = {(entry.method, entry.program) for entry in standing.short(standing.by_key(results))}
    assert needed == set(notes.REASONS)


def test_a_pair_without_reason_stops_the_page(monkeypatch):
    monkeypatch.setattr(notes, "REASONS", {})
    run = {"n": standing.CLAIM, "processor": 1.0, "memory": 1.0, "anmi": 0.5, "nmi": 0.5}
    near = [run | {"method": "mm", "program": "partita", "wall": 1.0}, run | {"method": "mm", "program": "StepMix"}]
    for wall, agreement, short in ((20.0, 0.5, False), (5.0, 0.5, True), (20.0, 0.6, True)):
        made = {"grid": [near[0], near[1] | {"wall": wall, "anmi": agreement}]}
        if short:
            with pytest.raises(LookupError, match="mm / StepMix"):
                page.claims(made)
        else:
            assert "| yes |" in page.claims(made)
    (pair,) = standing.pairs(standing.by_key(made), standing.CLAIM)
    assert pair.shown_ratio == "20 (processor 1)"
    assert standing.ahead(pair) == ["ANMI +0.100"]


def test_a_rival_that_finishes_where_ours_does_not_is_told():
    stopped = {"method": "mm", "program": "partita", "n": 100, "failure": "did not finish in 60 s"}
    made = {"grid": [stopped, {"method": "mm", "program": "StepMix", "n": 100, "wall": 1.0}]}
    assert "| `mm` | StepMix | 10² | ours: did not finish in 60 s |" in page.losses(made)
    at_claim = {"grid": [run | {"n": standing.CLAIM} for run in made["grid"]]}
    with pytest.raises(LookupError, match="mm / StepMix"):
        page.claims(at_claim)


def test_failed_contestants_are_not_tried_on_larger_tables(tmp_path):
    log, asked = Log(tmp_path / "deep" / "runs.jsonl"), []
    some = [MCLA, RIVAL, Entry("mcla", "absent"), Entry("mcla", "small", largest=100)]
    table = grid.Grid(log, some, (100, 400, 200), bounds=Bounds(5.0, 1.0, 0.0))
    grid.run(table, answering(fails={("ClusterEnsembles", 200)}, asked=asked))
    runs = {(run["program"], run["n"]): run for run in log}
    assert asked == [
        *((name, 100) for name in ("partita", "ClusterEnsembles", "absent", "small")),
        *((name, 200) for name in ("partita", "ClusterEnsembles")),
        ("partita", 400),
    ]
    assert runs["ClusterEnsembles", 200]["failure"] == "died in … place"
    assert runs["ClusterEnsembles", 400]["failure"].startswith("not tried: failed at 200")
    assert runs["absent", 100]["absent"] and "not installed here" in runs["absent", 100]["failure"]
    assert runs["small", 200]["failure"] == "not tried above 100 objects"
    assert runs["partita", 400]["wall"] == 4.0 and 0 < runs["partita", 400]["anmi"] < 1


def test_no_run_begins_when_the_time_is_over(tmp_path):
    log = Log(tmp_path / "runs.jsonl")
    grid.run(grid.Grid(log, [MCLA], (100,), minutes=-1.0), answering())
    assert [run["failure"] for run in log] == ["not tried: the time for the whole table was over"]


def test_hopeless_sizes_are_not_tried():
    before = [{"method": "mcla", "program": "partita", "n": 100, "wall": 2.0}]
    assert grid.refusal(MCLA, 200, before, 3.0) == ""
    assert grid.refusal(MCLA, 1000, before, 3.0) == "not tried: 2 s at 100 objects, and at best 20 s here"


def test_a_killed_run_goes_on(tmp_path):
    log, asked = Log(tmp_path / "runs.jsonl"), []
    grid.run(grid.Grid(log, [MCLA], (100,)), answering())
    with log.path.open("a") as file:
        file.write('{"part": "grid", "meth')
    grid.run(grid.Grid(log, [MCLA, RIVAL], (100,)), answering(asked=asked))
    assert asked == [("ClusterEnsembles", 100)]
    assert [run["program"] for run in log] == ["partita", "ClusterEnsembles"]


def test_runs_are_tidy():
    assert tidy({"a": [0.123456, float("nan")], "b": "in /tmp/x/y.py", "c": 3}) == {
        "a": [0.1235, None],
        "b": "in …",
        "c": 3,
    }


def test_answers_of_a_rival_that_dies_and_fails(environment):
    """Each table has an answer or a reason, whatever became of the one before."""
    tables = [(noisy_table(n, r=3, k=3)[0], 3) for n in (20, 30, 50, 60)]
    found = list(rivals.answers("ClusterEnsembles", "cspa", tables, 100.0, 100.0))
    assert [each.failure for each in found] == ["", "died with exit code 3: silent", "ValueError: fifty", ""]
    assert np.array_equal(found[3].value, tables[3][0][:, 0])


def test_a_rival_that_dies_is_not_absent(environment):
    """The interpreters before it have said that they have not got it."""
    found = rivals.outside("ClusterEnsembles", "cspa", 3, noisy_table(30, r=3, k=3)[0])
    assert found.failure == "died with exit code 3: silent"


def test_answers_that_do_not_come(environment):
    """A table that takes too long fails; when the time is over the rest is left out; an absent rival is named."""
    slow = [(noisy_table(40, r=3, k=3)[0], 3)]
    (found,) = rivals.answers("ClusterEnsembles", "cspa", slow, 0.3, 100.0)
    assert found.failure == "did not finish in 0 s"
    assert list(rivals.answers("ClusterEnsembles", "cspa", slow, 100.0, 0.3)) == []
    with pytest.raises(ImportError, match="No module named 'pce'"):
        list(rivals.answers("py-cluster-ensemble", "lwgp", slow, 100.0, 100.0))
    with pytest.raises(ImportError, match="Rscript"):
        list(rivals.answers("clue DWH", "voting", slow, 100.0, 100.0))


def test_ours_and_recipes_run_in_the_worker():
    labels, truth = noisy_table(120, r=5, k=3, noise=0.1)
    for program, method in (("NumPy/SciPy transfer cut", "lwgp"), ("partita search", "vi")):
        found = rivals.outside(program, method, 3, labels, Bounds(120.0, 0.0, 0.0))
        assert not found.failure and found.value.shape == truth.shape
        assert found.wall > 0 and found.versions["version"]


def test_pools_and_audit():
    """An answer that leans on the order of the rows is caught; one that does not is not."""
    labels, truth = noisy_table(80, r=20, k=4)
    due = quality.tables(2, ["made"], lambda name: Pool(name, Ensemble.from_labels(labels, transpose=False), truth))
    assert [(table.draw, table.way) for table in due] == [
        (0, quality.SHUFFLED),
        (0, quality.FILE),
        (0, quality.SORTED),
        (1, quality.SHUFFLED),
    ]
    assert all(table.labels.shape == (80, quality.COLUMNS) and table.k == 4 for table in due)
    assert np.array_equal(due[2].truth, np.sort(truth))

    def first_column(program, method, tables, *limits):
        yield from (Reported(labels[:, 0]) for labels, _ in tables)

    def row_number(program, method, tables, *limits):
        yield from (Reported(np.arange(len(labels)) * k // len(labels)) for labels, k in tables)

    steady = quality.judged(MCLA, due, (1.0, 1.0), first_column)
    assert steady["audit"] == {"made": [0.0, pytest.approx(0, abs=1e-12), pytest.approx(0, abs=1e-12)]}
    assert len(steady["scores"]["made"]) == 2 and not steady["failures"] and not steady["left"]
    leaning = quality.judged(MCLA, due, (1.0, 1.0), row_number)
    changed, in_file, by_class = leaning["audit"]["made"]
    assert changed > 0.5 and by_class > 0.5 and abs(in_file) < 0.3

    def slow(program, method, tables, *limits):
        yield Reported(failure="did not finish in 1 s")

    assert quality.judged(MCLA, due, (1.0, 1.0), slow)["failures"] == {"did not finish in 1 s": 1}
    assert quality.judged(MCLA, due, (1.0, 1.0), slow)["left"] == 3

    def absent(program, method, tables, *limits):
        raise ImportError("not there")

    assert quality.judged(MCLA, due, (1.0, 1.0), absent)["absent"]


def test_gathering(tmp_path):
    """Of two runs of the same the later counts; commands and versions are kept."""
    log = Log(tmp_path / "runs.jsonl")
    log.add({"part": "command", "command": "python -m benchmarks table", "date": "2026-01-01", "commit": "abc"})
    for wall in (1.0, 2.0):
        log.add(
            {"part": "grid", "method": "mm", "program": "StepMix", "n": 10, "wall": wall, "versions": {"version": "3"}}
        )
    found = json.loads(gathering.as_text(gathering.gathered([log])))
    assert [run["wall"] for run in found["grid"]] == [2.0]
    assert found["versions"] == {"StepMix": {"version": "3"}}
    assert found["commands"][0]["commit"] == "abc" and found["pools"] == []
    assert found["machine"]["cores"] == str(os.cpu_count())


def test_commands(tmp_path, monkeypatch, results):
    """Gathering and the page by the command line, and the choice of contestants."""
    monkeypatch.setattr(paging, "PAGE", tmp_path / "page.md")
    assert command.main(["page"]) == 0
    assert (tmp_path / "page.md").read_text() == Path(paging.RESULTS).with_suffix(".md").read_text()
    monkeypatch.setattr(paging, "RESULTS", tmp_path / "all.json")
    assert command.main(["gather", "--runs", str(tmp_path / "runs.jsonl")]) == 0
    assert json.loads((tmp_path / "all.json").read_text())["grid"] == []
    assert {entry.program for entry in paging.chosen(["qmi"], "ours")} == {"partita"}
    assert "py-cluster-ensemble" in {entry.program for entry in paging.chosen(["qmi"], "others")}
    assert len(paging.chosen([], "all")) == len(quality_entries())
