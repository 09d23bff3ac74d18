"""Every case of the graph family on a tiny table, and the door to rivals in other environments."""

import dataclasses
import json
import os
import stat
import sys

import numpy as np
import pytest

from benchmarks import __main__ as command
from benchmarks import adapter, rivals, wide_tables
from benchmarks.cases import diagnostics, generating, graph, graph_quality, posterior, roofline, streaming
from benchmarks.data import noisy_labels, noisy_table
from benchmarks.harness import Case, Contestant, Measurement, perform, tabulate
from partita import Ensemble
from partita.datasets import Pool
from partita.metrics import nmi

FAKE = """
import numpy as np
def cluster_ensembles(table, k, solver, random_state):
    if solver == "hgpa":
        raise RuntimeError("no partitioner")
    return np.zeros(table.shape[1]) if solver == "mcla" else table[0]
"""


@pytest.fixture
def environment(tmp_path, monkeypatch):
    """An interpreter in whose environment one rival is installed."""
    (tmp_path / "ClusterEnsembles.py").write_text(FAKE)
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH="{tmp_path}" exec "{sys.executable}" "$@"\n')
    python.chmod(python.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv(rivals.VARIABLE, os.pathsep.join(["/nowhere/python", str(python)]))


def own(case):
    """The contestants that are not other people's packages."""
    return [contestant for contestant in case.contestants if contestant.name not in rivals.OFFERS]


@pytest.mark.parametrize("case", [graph.graph_case(name, 200) for name in ("mcla", "lwgp")], ids=lambda case: case.name)
def test_speed_cases(case):
    """Ours and the plain ways find the clusters of a tiny table."""
    for contestant in own(case):
        found = perform(dataclasses.replace(case, repeats=0), contestant)
        assert not found.failure
        assert found.wall > 0
        assert found.quality["NMI"] > 0.6, found
        assert 0 < found.quality["ANMI"] < 1


@pytest.mark.parametrize("run", [graph.scipy_linkage, graph.coclustering])
def test_peers(run):
    labels, truth = noisy_table(200, noise=0.1)
    assert nmi(truth, run((labels, truth))) > 0.7


def test_size_case():
    case = graph.size_case("small", 300, ("voting", "lwgp"), 1.0, 60)
    found = [perform(case, contestant) for contestant in (*case.contestants, case.floor)]
    table = tabulate(case, found)
    assert "peak MB (allowed 1)" in table.columns
    assert "time / ours" not in table.columns
    assert all("TOO MUCH" in row[3] for row in table.rows)


def test_noise_case():
    case = graph_quality.noise_case(draws=2, n=100)
    found = {contestant.name: perform(case, contestant) for contestant in case.contestants}
    assert found["mcla"].quality["noise 0.1"] > 0.95 > found["mcla"].quality["noise 0.5"]


def test_noise_replaces_the_share_it_says():
    labels, truth = graph_quality.noisy_copies(0.25, seed=3)
    assert np.bincount(truth).tolist() == [40] * 10
    changed = (labels != truth[:, None]).sum(axis=0)
    assert (changed <= 100).all()
    assert (changed > 75).all()


def test_soft_case():
    case = graph_quality.soft_case(draws=1, n=150)
    found = perform(case, next(each for each in case.contestants if each.name == "smcla : mcla"))
    assert not found.failure
    assert 0.5 < found.quality["GMR"] < 2


def test_pools(tmp_path, monkeypatch):
    case = next(case for case in graph_quality.CASES if case.name == "pools")
    monkeypatch.setenv(graph_quality.VARIABLE, str(tmp_path))
    assert "pd.npz: this pool is not there; set PARTITA_DATA" in case.lacking()
    (tmp_path / "pools").mkdir()
    for name in graph_quality.SETS:
        (tmp_path / "pools" / f"{name}.npz").touch()
    assert not case.lacking()
    labels, truth = noisy_table(150, r=12, k=4)
    made = Pool("made", Ensemble.from_labels(labels, transpose=False), truth)
    monkeypatch.setattr(graph_quality, "load_pool", lambda name: made)
    found = perform(case, next(each for each in case.contestants if each.name == "voting"))
    assert list(found.quality) == list(graph_quality.SETS)
    assert found.quality["pd"] > 0.9


def test_generating(monkeypatch):
    """Every contestant on small digits that need no data folder."""
    points = np.random.default_rng(0).normal(size=(300, 4))
    truth = np.arange(300) % 10
    points[:, 0] += 3 * truth
    case = generating.digits_case(lambda: (points, truth), members=3, repeats=0)
    for contestant in case.contestants:
        found = perform(case, contestant)
        assert not found.failure, found
        assert found.quality["NMI"] > 0.4, found
    monkeypatch.delenv(generating.VARIABLE, raising=False)
    assert "not set" in case.lacking()


def test_rival_of_another_environment(environment):
    """Its answer, time and memory come back; its failure is told; an absent one is named with the way out."""
    case = graph.graph_case("cspa", 200)
    labels, truth = case.make()
    found = perform(case, next(each for each in case.contestants if each.name == "ClusterEnsembles"))
    assert found.quality["NMI"] == pytest.approx(nmi(truth, labels[:, 0]))
    assert found.wall > 0
    assert found.memory >= 0
    assert perform(case, rivals.rivals_of("hgpa", 10)[0]).failure == "RuntimeError: no partitioner"
    absent = perform(case, rivals.rivals_of("lwgp", 10)[0]).failure
    assert absent.startswith("not installed here: No module named 'pce'")
    assert rivals.VARIABLE in absent


def test_slow_rival_is_stopped(environment, monkeypatch):
    monkeypatch.setattr(rivals, "SECONDS", 0.01)
    assert "did not finish" in rivals.outside("ClusterEnsembles", "cspa", 3, noisy_labels(60)).failure


def test_adapter_knows_every_rival():
    newer = {f"py-cluster-ensemble {name}" for name in adapter.NEWER + adapter.BY_KIND}
    assert set(adapter.RIVALS) == set(rivals.OFFERS) | newer
    assert set(adapter.MODULES) == set(rivals.OFFERS)


def test_table():
    case = Case("c", "about", list, (), lambda result, data: 0.0)
    ours = Measurement("ours", 1.0, 1.0, 10.0, {"quality": 0.5})
    slow = Measurement("slow", 4.0, 2.0, 30.0, {"quality": 0.5})
    gone = Measurement("gone", failure="not installed here")
    table = tabulate(case, [ours, slow, gone])
    assert [row[-2:] for row in table.rows] == [("1.00", "1.0"), ("4.00", "3.0"), (None, None)]
    assert table.rows[2][:2] == ("gone", "not installed here")
    assert tabulate(case, [gone, slow]).rows[1][-2:] == (None, None)


def test_failure_is_part_of_the_answer():
    case = Case("c", "about", list, (), lambda result, data: 0.0)
    assert perform(case, Contestant("bad", lambda data: data[0])).failure == "IndexError: list index out of range"


def test_cases_have_names_of_their_own(capsys):
    assert command.main(["--help"]) == 0
    out = capsys.readouterr().out
    asked = out.partition("On request")[2]
    assert all(name in asked for name in ("graph-large", "graph-huge", "pools"))
    assert all(name not in asked for name in ("cspa", "noise", "soft-gmr"))


@pytest.mark.parametrize("case", posterior.CASES[:2], ids=lambda case: case.name)
def test_posterior_cases(case):
    """The search is no worse than the best of the draws."""
    small = dataclasses.replace(case, make=lambda: posterior.posterior_draws(300, 60, k=4))
    search, draws = (perform(small, contestant) for contestant in case.contestants)
    assert not search.failure and not draws.failure
    assert search.quality["quality"] <= draws.quality["quality"]


@pytest.mark.parametrize("case", posterior.CASES[2:], ids=lambda case: case.name)
def test_salso_cases(case, monkeypatch):
    """Ours tells its loss; without R the rival is named with the way out."""
    monkeypatch.delenv(rivals.VARIABLE, raising=False)
    small = dataclasses.replace(case, make=lambda: (posterior.posterior_draws(60, 20, k=4),))
    search, salso = (perform(small, contestant) for contestant in case.contestants)
    assert search.quality["expected loss"] > 0
    assert salso.failure.startswith("not installed here: no Rscript to run salso") and rivals.VARIABLE in salso.failure


def test_diagnostics_agree_with_all_pairs():
    """Ours and the matrix of all pairs tell the same of a small table."""
    data = diagnostics.labels_and_consensus(400)
    assert diagnostics.ours(data) == pytest.approx(diagnostics.everything(data), rel=1e-5)
    guess = diagnostics.extrapolated((np.tile(data[0], (20, 1)), np.tile(data[1], 20)))
    assert guess.wall > 0 and guess.memory == pytest.approx(256.0)


def test_performance_page_is_made_from_the_results(monkeypatch):
    """The results are of the kernels and counts that the benchmark has now, and the page shows them all."""
    monkeypatch.syspath_prepend(str(roofline.RESULTS.parent))
    import hooks

    found = json.loads(roofline.RESULTS.read_text())
    told = [(each["kernel"], each["function"], each["operations"], each["near bytes"]) for each in found["kernels"]]
    assert told == [(loop.name, loop.place, loop.operations, loop.near) for loop in roofline.LOOPS]
    page = hooks.on_page_markdown((roofline.RESULTS.parent / "performance.md").read_text())
    assert hooks.performance_page() in page and "<!--" not in page
    for each in found["kernels"]:
        assert f"| {each['kernel']} (`{each['function']}`) | {each['unit']} | {each['ns']:.1f} |" in page


def test_roofline_runs_every_kernel():
    rates = roofline.Rates(1e10, 1e11, 1e10)
    for loop in roofline.LOOPS:
        found = roofline.measured(loop, rates, scale=1e-4)
        assert found["ns"] > 0 and set(found["shares"]) == set(rates._fields)


@pytest.mark.parametrize("contestant", streaming.CASES[0].contestants, ids=lambda contestant: contestant.name)
def test_assign_floor(contestant):
    """Every way gives the labels of the general one."""
    case = dataclasses.replace(streaming.CASES[0], make=lambda: streaming.placing_data(2000), repeats=0)
    found = perform(case, contestant)
    expected = perform(case, case.contestants[-1]).quality["sum of labels"]
    assert not found.failure and found.quality.get("sum of labels", expected) == expected


def test_wide_tables_prints_times_next_to_rivals(monkeypatch, capsys):
    monkeypatch.setattr(wide_tables, "SAMPLED_PAIRS", 3)
    monkeypatch.setattr("sys.argv", ["wide_tables", "--small"])
    wide_tables.main()
    text = capsys.readouterr().out
    assert text.count("| ratio |") == 4
    for words in ("pyarrow read_table, s", "scikit-learn, s (estimate)", "limit for 2,000 clusterings: 2.0 s"):
        assert words in text
