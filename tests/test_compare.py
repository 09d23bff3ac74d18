"""compare(): its figures against partita.consensus and evaluate by hand, its choices, and fits that fail."""

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from typer.testing import CliRunner

import partita
from partita import registry
from partita.cli.main import app
from partita.comparing import Compared, Comparison, comparing, measuring
from partita.comparing.measuring import Bench, Task, mean_known
from partita.comparing.sharing import shared
from partita.comparing.working import fit_held
from partita.core.errors import MethodError, ParameterError, TableError
from partita.core.progress import reporting
from partita.report.comparison import as_record, comparison_table, left_out, note_lines, verdict

from .metrics.test_confidence import slow_confidence
from .samples import noisy, noisy_labels, noisy_soft

QUICK = ["mcla", "mm", "voting"]


def figures(comparison):
    """All that must not depend on how the fits were spread."""
    return [(r.method, r.k, r.clusters, r.anmi, r.confidence, r.silhouette, r.failed, r.notes) for r in comparison.rows]


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_rows_are_what_consensus_and_evaluate_give(missing):
    ensemble = noisy(missing=missing)
    found = partita.compare(ensemble, [4, 2], QUICK, seed=3)
    assert [(row.k, row.method) for row in found.rows] == [(k, name) for k in (2, 4) for name in QUICK]
    for row in found.rows:
        by_hand = partita.consensus(ensemble, row.method, row.k, seed=3)
        assert row.clusters == by_hand.k and row.notes == by_hand.notes and not row.failed
        assert row.anmi == pytest.approx(partita.evaluate(by_hand, ensemble=ensemble)["anmi"], abs=1e-12)
        assert row.confidence == pytest.approx(np.nanmean(slow_confidence(ensemble, by_hand.labels)), abs=1e-12)
        assert -1 <= row.silhouette <= 1 and row.seconds > 0 and row.memory is not None and row.memory >= 0
    assert found.seed == 3 and found.workers == 1 and not found.interrupted and not found.left_out


def test_rows_with_counts_are_objects():
    """Distinct rows with multiplicities give the figures of the table written out."""
    labels, _ = noisy_labels(n=30)
    counts = np.random.default_rng(1).integers(1, 4, 30)
    few = partita.Ensemble.from_labels(labels).with_counts(counts)
    whole = partita.Ensemble.from_labels(np.repeat(labels, counts, axis=0))
    for a, b in zip(*(partita.compare(each, [3], QUICK).rows for each in (few, whole)), strict=True):
        assert (a.anmi, a.confidence, a.silhouette) == pytest.approx((b.anmi, b.confidence, b.silhouette), abs=1e-12)


def test_names_of_labels_change_nothing():
    labels, _ = noisy_labels()
    renamed = np.array(["<b>", "zwölf", "", "x" * 300])[labels]
    renamed[renamed == ""] = "0"
    assert figures(partita.compare(labels, [3], QUICK)) == figures(partita.compare(renamed, [3], QUICK))


def test_best():
    rows = (
        Compared("a", 2, 2, anmi=0.5, confidence=0.9),
        Compared("b", 2, 2, anmi=0.5, confidence=0.95),
        Compared("a", 3, failed="no"),
        Compared("b", None, 5, anmi=0.7),
    )
    found = Comparison(rows)
    assert found.best() is rows[3] and found.best("confidence") is rows[1] and found.best("silhouette") is None
    assert found.best_at(2) is rows[0], "the first of equals"
    assert found.best_at(3) is None and found.best_at(None) is rows[3]
    assert found.methods == ("a", "b") and found.ks == (2, 3, None)
    assert "highest ANMI 0.700 by b at 5 clusters, its own choice" in repr(found)
    told = [row[-1] for row in comparison_table(found).rows]
    assert told == ["best at k = 2", "", "failed: no", "best of those that infer k"]
    assert verdict(Comparison(rows[2:3])) == ["no method has an ANMI; the remarks tell why"]


def test_notes_are_told_once():
    few, all_ = "requested 3 clusters, found 2", "1 object has no label"
    rows = (Compared("a", 2, 2, notes=(all_, "odd")), Compared("a", 3, 2, notes=(few, all_, "odd")))
    rows += (Compared("b", None, 2, notes=(all_,)), Compared("b", 2, failed="no"))
    found = Comparison(rows)
    assert note_lines(found) == ["1 object has no label (all fits)", "odd (a, k = 2, 3)"]
    assert [row[-1] for row in comparison_table(found).rows][:2] == [f"{all_}; odd", f"{few}; {all_}; odd"]
    assert [row[-1] for row in comparison_table(found, notes=False).rows] == ["", "", "", "failed: no"]


def test_methods_that_suit_the_table():
    hard = comparing.chosen_methods(None, noisy(), 3).left_out
    assert {"auto", "supra", "bce-gibbs", "nbce-gibbs", "scspa", "smcla", "shbgf"} == set(hard)
    soft = comparing.chosen_methods(None, noisy_soft(), 3)
    assert {"mm", "itk", "smcla", "scspa", "greedy"} <= set(soft.names) and "memberships" in soft.left_out["mcla"]
    assert set(soft.names) | set(soft.left_out) == set(registry.METHODS)
    told = left_out(Comparison((), soft.left_out))
    assert told[0] == "left out: auto, supra (made of other methods)"


def test_chosen_methods_run():
    found = partita.compare(noisy_soft(n=20, r=3), [2])
    assert len(found.methods) + len(found.left_out) == len(registry.METHODS)
    assert not any(row.failed for row in found.rows)


def test_methods_too_slow_for_the_table_are_left_out():
    big = np.random.default_rng(0).integers(40, size=(30_000, 8))
    chosen = comparing.chosen_methods(None, partita.Ensemble.from_labels(big), most=300)
    assert "cspa" not in chosen.names and "at most 20000 distinct rows" in chosen.left_out["cspa"]
    assert "greedy" in chosen.left_out and "mcla" in chosen.names


@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        ("mm", ["mm"]),
        ("mm, mcla", ["mm", "mcla"]),
        (["nbce-*", "mm,mm"], ["nbce-cvb", "nbce-gibbs", "nbce-vb", "mm"]),
        ("all", list(registry.METHODS)),
    ],
)
def test_names_and_patterns(wanted, names):
    assert list(comparing.chosen_methods(wanted, noisy(), 2).names) == names


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"methods": "mclaa"}, MethodError, "did you mean 'mcla'"),
        ({"methods": "x*"}, MethodError, "no method matches 'x\\*'"),
        ({"methods": [3]}, MethodError, "3 is not the name"),
        ({"methods": 3}, ParameterError, "methods=3 is not a list"),
        ({"methods": " , "}, ParameterError, "methods is empty"),
        ({"k": [0]}, ParameterError, "k=0 is less than 1"),
        ({"k": [61]}, ParameterError, "k=61 is more than the"),
        ({"k": []}, ParameterError, "no k is left"),
        ({"k": "2"}, ParameterError, "not a list of numbers"),
        ({"k": [], "methods": "mm", "find_k": True}, MethodError, "none of mm infers"),
        ({"workers": 0}, ParameterError, "workers=0"),
        ({"workers": True}, ParameterError, "workers=True"),
        ({"seed": -1}, ParameterError, "seed=-1"),
    ],
)
def test_wrong_arguments(options, error, said):
    with pytest.raises(error, match=said):
        partita.compare(noisy(), **{"k": [2], "methods": QUICK, **options})


def test_one_clustering():
    with pytest.raises(TableError, match="one clustering is no ensemble"):
        partita.compare(noisy().columns([0]), [2])


def test_ranges_end_at_the_distinct_rows():
    table = [[0, 0], [0, 1], [1, 1], [1, 1]]
    found = partita.compare(table, range(1, 9), "mcla")
    assert found.ks == (1, 2, 3) and found.notes == ("k = 4 to 8 omitted: the table has only 3 unique rows",)


def test_methods_that_find_k():
    ensemble = noisy()
    found = partita.compare(ensemble, [2], "nbce-vb, mm, nbce-cvb", find_k=True)
    assert [(row.method, row.k) for row in found.rows] == [
        ("nbce-vb", 2), ("mm", 2), ("nbce-cvb", 2), ("nbce-vb", None), ("nbce-cvb", None)]  # fmt: skip
    assert found.rows[3].clusters == partita.consensus(ensemble, "nbce-vb").k
    assert found.notes == ("not run without k, which they do not infer: mm",)
    alone = partita.compare(ensemble, [], "nbce-cvb", find_k=True)
    assert figures(alone) == figures(found)[-1:] and alone.k_choice is None


def test_the_k_of_the_default_rule_is_marked():
    ensemble = noisy()
    found = partita.compare(ensemble, [3, 4], "mcla, voting", workers=1)
    remarks = [row[-1] for row in comparison_table(found).rows if row[-1]]
    assert found.k_choice.k == 4 and [" the k of the default rule" in remark for remark in remarks] == [False, True]
    assert f"k of the default rule: 4; {found.k_choice.reason}" in verdict(found)
    assert as_record(found)["k_choice"]["k"] == 4
    default = partita.compare(ensemble, methods="voting", workers=1)
    assert default.ks == (4,) and default.k_choice == partita.consensus(ensemble).k_choice


def test_a_failing_method_is_a_row(monkeypatch):
    usual = measuring.consensus

    def failing(ensemble, method, k, **options):
        if (method, k) == ("mm", 3):
            raise ArithmeticError("a sum\nwent wrong")
        if method == "voting":
            raise MemoryError
        return usual(ensemble, method, k, **options)

    monkeypatch.setattr(measuring, "consensus", failing)
    found = partita.compare(noisy_soft(), [2, 3], [*QUICK, "itk"])
    by = {(row.method, row.k): row.failed for row in found.rows}
    assert by["mm", 2] == "" and by["mm", 3].startswith("ArithmeticError: a sum went wrong (test_compare.py:")
    assert "takes hard labels" in by["mcla", 2] and "out of memory" in by["voting", 2] and by["itk", 3] == ""
    assert all(row.anmi is None and row.seconds is None and row.clusters == 0 for row in found.rows if row.failed)


def test_a_fit_in_which_kernels_are_compiled_is_timed_again(monkeypatch):
    fits, compiled = [], iter([0, 1, 1, 1, 1, 1])
    usual = measuring.consensus
    monkeypatch.setattr(measuring, "compilations", lambda: next(compiled))
    monkeypatch.setattr(
        measuring, "consensus", lambda ensemble, *args, **kw: fits.append(len(ensemble)) or usual(ensemble, *args, **kw)
    )
    monkeypatch.setattr(measuring, "SHORT", 0.0)
    measuring._warm.clear()
    bench = Bench(noisy(n=100), 0, 1)
    assert not bench.measure(Task("mm", 2)).failed
    assert fits == [60, 100, 100], "warmed up by a few rows, then timed twice"
    assert not bench.measure(Task("mm", 3)).failed and fits[3:] == [100]


def test_a_short_fit_is_timed_without_what_only_the_first_loads(monkeypatch):
    usual, seen, clock = measuring.consensus, set(), [0.0]

    def loading(ensemble, method, k, **params):
        first = k not in seen and len(ensemble) == 100
        clock[0] += 0.2 if first else 0.01  # as code for this k that is loaded from disk
        if first:
            seen.add(k)
        return usual(ensemble, method, k, **params)

    monkeypatch.setattr(measuring, "consensus", loading)
    monkeypatch.setattr(measuring, "time", SimpleNamespace(perf_counter=lambda: clock[0]))
    rows = partita.compare(noisy(n=100), [2, 3], "mm", workers=1).rows
    assert seen == {2, 3} and [row.seconds for row in rows] == pytest.approx([0.01, 0.01])


def test_a_wrong_name_is_told_before_the_table_is_read():
    done = CliRunner().invoke(app, ["compare", "nowhere.csv", "--methods", "mcla,foo"])
    assert done.exit_code == 1 and "no method is called 'foo'" in str(done.exception)


def test_progress_is_told():
    heard = []
    with reporting(lambda *told: heard.append(told)):
        partita.compare(noisy(), [2, 3], ["mm"])
    assert [each for each in heard if each[0] == "comparing"] == [("comparing", 1, 2), ("comparing", 2, 2)]


def test_an_interrupt_keeps_what_is_finished(monkeypatch):
    usual = measuring.consensus

    def pressing(ensemble, method, k, **options):
        if (method, k) == ("voting", 2):
            os.kill(os.getpid(), signal.SIGINT)
        return usual(ensemble, method, k, **options)

    monkeypatch.setattr(measuring, "consensus", pressing)
    found = partita.compare(noisy(), [2, 3], QUICK)
    assert [(row.method, row.k) for row in found.rows] == [("mcla", 2), ("mm", 2)] and found.interrupted
    assert found.notes == ("interrupted: 4 of 6 fits not finished (k = 2, 3)",)
    with pytest.raises(KeyboardInterrupt):
        partita.compare(noisy(), [2, 3], ["voting"])


def test_means_over_known_values():
    values, counts = np.array([1.0, np.nan, 0.0]), np.array([3.0, 5.0, 1.0])
    assert mean_known(values, counts) == 0.75 and mean_known(np.full(2, np.nan), counts[:2]) is None


@pytest.mark.parametrize("ensemble", [noisy(missing=0.1).with_counts(np.arange(60) + 1), noisy_soft()])
def test_a_shared_table_is_the_same_and_goes_away(ensemble):
    with shared(ensemble) as kept:
        there = kept.opened()
        assert there.fingerprint == ensemble.fingerprint and there.names == ensemble.names
        table = there.labels if hasattr(there, "labels") else there.matrix
        assert not table.flags.writeable and not table.flags.owndata and type(table) is np.ndarray
        assert Path(kept.folder).exists()
        del there, table
    assert not Path(kept.folder).exists()
    with pytest.raises(KeyboardInterrupt), shared(ensemble) as kept:
        raise KeyboardInterrupt
    assert not Path(kept.folder).exists()


def test_workers_change_no_figure():
    ensemble = noisy(n=200, missing=0.1)
    one = partita.compare(ensemble, [2, 3], QUICK, workers=1)
    two = partita.compare(ensemble, [2, 3], QUICK, workers=2, threads=2)
    assert figures(one) == figures(two) and two.workers == 2 and two.threads == 1
    assert all(row.seconds > 0 and row.memory is not None for row in two.rows)


def fit_or_die(task):
    """What a worker does in the next test."""
    if task == ("mm", 2):
        os.kill(os.getpid(), signal.SIGKILL)
    return fit_held(task)


@pytest.mark.slow
def test_a_worker_that_is_killed_is_a_row(monkeypatch):
    ensemble = noisy(n=200)
    whole = figures(partita.compare(ensemble, [2, 3], QUICK, workers=1))
    monkeypatch.setattr(comparing, "fit_held", fit_or_die)
    found = partita.compare(ensemble, [2, 3], QUICK, workers=2)
    assert [row.failed for row in found.rows if row.failed] == [measuring.LOST]
    rest = [row for row in whole if row[:2] != ("mm", 2)]
    assert [row for row in figures(found) if row[:2] != ("mm", 2)] == rest and not found.interrupted


@pytest.fixture
def folder(tmp_path):
    labels, _ = noisy_labels(n=40, r=4)
    np.savetxt(tmp_path / "labels.csv", labels, "%d", delimiter=",", header="a,b,c,d", comments="")
    return tmp_path


def run(folder, *words):
    return CliRunner().invoke(app, ["compare", str(folder / "labels.csv"), *map(str, words)])


def test_command(folder):
    done = run(folder, "--k", "2..3", "--methods", "mcla,mm", "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    by_hand = partita.compare(partita.read(folder / "labels.csv"), [2, 3], ["mcla", "mm"])
    assert [row["anmi"] for row in found["rows"]] == [row.anmi for row in by_hand.rows]
    assert list(found["rows"][0]) == list(Compared.__slots__) and found["interrupted"] is False
    assert set(found["best"]) == {"all", "2", "3"} and found["best"]["3"] == by_hand.best_at(3).method
    assert "highest ANMI" in done.stderr


def test_command_writes_files(folder):
    done = run(folder, "--k", "2", "-m", "mcla", "-m", "scspa,cspa", "-o", folder / "out.csv", "-q")
    assert done.exit_code == 0 and done.output == "", done.output
    rows = list(csv.DictReader((folder / "out.csv").read_text().splitlines()))
    assert [(row["method"], row["k"]) for row in rows] == [("mcla", "2"), ("scspa", "2"), ("cspa", "2")]
    assert list(rows[0])[3:] == ["ANMI", "confidence", "silhouette", "seconds", "memory MB", "remark"]
    assert run(folder, "--k", "2", "-m", "eac", "-o", folder / "out.json", "-q").exit_code == 0
    assert json.loads((folder / "out.json").read_text())["rows"][0]["method"] == "eac"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-o", "x.txt"], ".csv or .json"),
        (["--k", "two"], "expected a number"),
        (["--methods", "nobody"], "no method is called 'nobody'"),
        (["--k", "3..2"], "ends before it begins"),
    ],
)
def test_command_mistakes(folder, words, said):
    done = run(folder, *words)
    assert done.exit_code == 1 and said in str(done.exception)


@pytest.mark.slow
@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGKILL])
def test_command_that_is_stopped(tmp_path, stop):
    """Ctrl-C: what is finished is told. Killed: nothing can be told, but no worker and no file is left."""
    np.save(tmp_path / "labels.npy", np.random.default_rng(0).integers(6, size=(20_000, 10)))
    (tmp_path / "temporary").mkdir()
    words = ["compare", "labels.npy", "--k", "2..30", "-m", "mcla,bce-vb", "--workers", "2", "-o", "out.csv"]
    process = subprocess.Popen(
        [sys.executable, "-m", "partita", *words],
        cwd=tmp_path,
        env={**os.environ, "TMPDIR": str(tmp_path / "temporary")},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    with process:
        try:
            for _ in range(600):
                if list((tmp_path / "temporary").glob("partita-compare-*")):
                    break
                time.sleep(0.1)
            time.sleep(25)
            os.killpg(process.pid, stop) if stop == signal.SIGINT else process.kill()
            told = process.communicate(timeout=60)[1]
        finally:
            process.kill()
    for _ in range(100):
        if not list((tmp_path / "temporary").glob("partita-compare-*")):
            break
        time.sleep(0.1)
    assert not list((tmp_path / "temporary").glob("partita-compare-*"))
    if stop == signal.SIGINT:
        assert process.returncode == 130 and "Traceback" not in told, told
        rows = list(csv.DictReader((tmp_path / "out.csv").read_text().splitlines()))
        assert 0 < len(rows) < 58 and "fits not finished" in told


def test_command_where_all_fail(folder, monkeypatch):
    def failing(*_, **__):
        raise MemoryError

    monkeypatch.setattr(measuring, "consensus", failing)
    done = run(folder, "--k", "2", "--methods", "mm")
    assert done.exit_code == 1 and "failed: out of memory" in done.stdout
