"""Worked examples, panels, sections and settings: each runs in quick form on few rows and small data, and resumes."""

from dataclasses import replace

import numpy as np
import pytest

from partita.core.errors import MethodError, ParameterError
from partita.datasets.base import Dataset
from partita.experiments.exhibit import Row
from partita.experiments.papers import exhibit, strehl2002, topchy2004, wang2009, wang2010
from partita.experiments.papers import strehl2002_trials as trials
from partita.experiments.papers.wang2009_trials import SETS, applies, growing
from partita.experiments.reproducing import Reproduction, reproduce
from partita.experiments.runner import Results
from partita.experiments.showing import Asked, show
from partita.experiments.units import Chosen, Settings, measured
from partita.metrics import misassignment
from partita.report.figures import has_figure, picture
from partita.report.reproduction_md import paper_page
from tests.experiments.blobs import blobs, published, trial

PNG = b"\x89PNG"


def five_groups(rng):
    """As 8D5K, with 120 objects."""
    centers = rng.random((5, 8))
    labels = np.repeat(np.arange(5), 24)
    return Dataset("8d5k", centers[labels] + 0.1 * rng.normal(size=(120, 8)), labels, tuple("abcde"))


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setitem(trials.CASES, "8D5K", trials.CASES["8D5K"]._replace(make=five_groups))


def run_quick(module, key, rows, folder, monkeypatch, draws=1):
    """The exhibit as `partita reproduce --quick` shows it, measured on these rows only; and how many trials ran."""
    source = measured(module.PAPER, exhibit(module.PAPER, key)).key
    reduced = [replace(each, quick_rows=rows) if each.key == source else each for each in module.PAPER.exhibits]
    monkeypatch.setattr(module, "PAPER", replace(module.PAPER, exhibits=tuple(reduced)))
    wanted = Reproduction((module.PAPER.key,), (key,), Settings(quick=True), draws)
    run, results = reproduce(wanted, folder)
    assert not results.failures and not results.absences
    again = reproduce(wanted, folder)[1]
    assert results.resumed == 0 and again.resumed == len(rows) * draws and again.records == results.records
    (shown,) = run.papers[0].exhibits
    assert f"{draws} draw" in paper_page(run.papers[0], run, {})
    assert all("made from its description" in note for note in shown.notes)
    if shown.form != "table":
        assert has_figure(shown) and picture(shown).startswith(PNG)
    return shown


def values(shown):
    return {(cell.row, cell.column): cell.ours for cell in shown.cells}


def test_similarity_matrices(tmp_path, monkeypatch):
    """strehl2002 Figure 2: entries of the four matrices by hand, and the combined one is their mean."""
    rows = strehl2002.FIGURE_2.rows
    found = values(run_quick(strehl2002, "figure-2", rows, tmp_path, monkeypatch))
    matrices = np.array([found[row.name, column] for row in rows for column in trials.POINTS]).reshape(5, 7, 7)
    for q in range(4):
        labels = np.array(trials.SEVEN)[:, q]
        agree = (labels[:, None] == labels) & (labels[:, None] >= 0)
        assert (matrices[q] == agree).all()
    assert matrices[4] == pytest.approx(matrices[:4].mean(axis=0))


def test_the_least_cut_of_the_example(tmp_path, monkeypatch):
    """strehl2002 Figure 3 and MISPRINTS 42: 4 hyperedges with at most 3 objects per cluster, 3 with sizes 5, 1, 1."""
    shown = run_quick(strehl2002, "figure-3", strehl2002.FIGURE_3.rows, tmp_path, monkeypatch)
    found = {row: [cell for (r, _), cell in values(shown).items() if r == row.name] for row in strehl2002.FIGURE_3.rows}
    assert found[trials.PRINTED][:2] == [4, 3] and found[trials.FITTED][:2] == [4, 3]
    assert found[trials.BALANCED][0] == 4 and found[trials.ANY_SIZES][:2] == [3, 5]
    assert [finding.verdict for finding in shown.findings] == ["holds"]


def test_cut_hyperedges():
    ensemble = trials.seven_ensemble()
    assert trials.cut_hyperedges(ensemble, np.zeros(7, int)) == 0
    assert trials.cut_hyperedges(ensemble, np.arange(7)) == 11, "each hyperedge has two objects or more"


def test_panels_of_views(tmp_path, monkeypatch, small):
    """strehl2002 Figure 7: the panels show the trial whose numbers stand in the table."""
    shown = run_quick(strehl2002, "figure-7", (Row("8D5K"),), tmp_path, monkeypatch)
    found = values(shown)
    assert len(shown.panels) == 12 and {len(panel.points) for panel in shown.panels} == {120}
    classes, consensus = shown.panels[0].groups, shown.panels[1].groups
    assert 120 * misassignment(consensus, classes) == pytest.approx(found["8D5K", "supra"])
    assert 120 * (consensus != classes).mean() == pytest.approx(found["8D5K", "supra"]), "clusters have class numbers"
    for view in range(5):
        by_features, by_components = shown.panels[2 + 2 * view : 4 + 2 * view]
        assert (by_features.groups == by_components.groups).all()
        assert 120 * misassignment(by_features.groups, classes) == pytest.approx(found["8D5K", f"view {view + 1}"])
        assert all(label.startswith("feature ") for label in by_features.labels)


def test_speed_of_parts(tmp_path, monkeypatch, small):
    """strehl2002 section 4.4: with a processor for each part no slower, and without the consensus faster."""
    found = values(run_quick(strehl2002, "section-4.4", (Row("8D5K", 4),), tmp_path, monkeypatch))
    speed = {column: found["8D5K 4", column] for column in trials.SPEEDS}
    assert 0 < speed["sequential"] <= speed["parallel"] < speed["parallel, parts alone"]
    assert speed["sequential"] < speed["sequential, parts alone"] < speed["parallel, parts alone"]


def test_printed_speeds_are_the_formulas():
    """p / v^2 and p^2 / v^2 with v = 2."""
    lines = [line for line in published("strehl2002") if line.exhibit == "section-4.4"]
    assert len(lines) == 22
    for line in lines:
        p = int(line.row.split()[1])
        assert line.value == (p / 4 if line.column == "sequential" else p**2 / 4)


EXPERIMENTS = (Row("FDC", "8D5K"), Row("ODC", "8D5K 4"), Row("RCC", "8D5K 100"), Row("noise", 0.5))


def test_correlation_and_search(tmp_path, monkeypatch, small):
    """strehl2002 section 6, twice from the same draws."""
    monkeypatch.setattr(strehl2002, "EXPERIMENTS", EXPERIMENTS)
    shown = run_quick(strehl2002, "section-6", EXPERIMENTS, tmp_path, monkeypatch)
    found = values(shown)
    assert -1 <= found["all experiments", "correlation"] <= 1 and ("noise", "correlation") in found
    assert shown.columns == ("correlation",)
    assert [len(panel.points) for panel in shown.panels] == [12, 12]
    wanted = Reproduction(("strehl2002",), ("section-6-polish",), Settings(quick=True), 1)
    run, results = reproduce(wanted, tmp_path)
    assert results.resumed == len(EXPERIMENTS)
    moved = values(run.papers[0].exhibits[0])
    assert {column for _, column in moved} == set(trials.POLISHED)
    assert all(0 <= moved[row.name, "labels moved %"] < 60 for row in EXPERIMENTS)
    assert all(moved[row.name, "ANMI gain, hundredths"] >= -1e-9 for row in EXPERIMENTS), "the search cannot lose ANMI"


def made_up(slope, noise, draws=5):
    """Draws in which NMI is a line in ANMI, with noise."""
    rng = np.random.default_rng(3)
    samples = {}
    for row in strehl2002.EXPERIMENTS:
        x = {anmi: rng.random(draws) for _, anmi, _ in trials.PAIRS}
        y = {nmi: slope * x[anmi] + noise * rng.normal(size=draws) for _, anmi, nmi in trials.PAIRS}
        samples[row.name] = x | y
    return samples


def test_the_correlation_is_pearsons_over_all_points():
    samples = made_up(1.0, 0.11)
    x, y = (
        np.concatenate([samples[row.name][column] for row in strehl2002.EXPERIMENTS for column in columns])
        for columns in ([f"{measure} {name}" for name in trials.THREE] for measure in ("ANMI", "NMI"))
    )
    found = strehl2002.correlations(samples)["all experiments", "correlation"]
    assert found == pytest.approx(np.corrcoef(x, y)[0, 1]) and 0.9 < found < 0.96
    claim = exhibit(strehl2002.PAPER, "section-6").claims[0]
    assert claim.judge(samples)[0] == "holds"
    assert claim.judge(made_up(1.0, 0.4))[0] == "does not hold"
    assert claim.judge(made_up(1.0, 0.11, draws=1))[0] == "not tested"


def test_claims_on_the_search():
    rows = strehl2002.MOVED_ROWS
    few = {row.name: {"labels moved %": np.array([0.0, 2.0, 5.0])} for row in rows}
    moved, improved = exhibit(strehl2002.PAPER, "section-6-polish").claims
    assert moved.judge(few)[0] == "not contradicted", "with three draws 5 % is within the noise of 2 %"
    assert moved.judge({row: {"labels moved %": np.array([1.9, 2.0, 2.1])} for row in few})[0] == "holds"
    many = few | {rows[0].name: {"labels moved %": np.array([30.0, 30.1, 29.9])}}
    assert moved.judge(many)[0] == "does not hold" and improved.judge(many)[0] == "not tested"


def test_the_partitions_of_the_example(tmp_path, monkeypatch):
    """topchy2004 Figure 1: Table 1's labels, numbered as in the consensus."""
    rows = topchy2004.FIGURE_1.rows[:1] + topchy2004.FIGURE_1.rows[-1:]
    found = values(run_quick(topchy2004, "figure-1", rows, tmp_path, monkeypatch))
    assert [found["points y1", column] for column in topchy2004.NUMBERED] == [1, 2, 1, 1, 1]
    assert [found["points y12", column] for column in topchy2004.NUMBERED] == [2, 2, 2, 2, 2]


def test_the_artificial_data_sets(tmp_path, monkeypatch):
    """topchy2004 Figure 2: all points, and Table 2's error of k-means."""
    shown = run_quick(topchy2004, "figure-2", topchy2004.TABLE_2.rows[:2], tmp_path, monkeypatch, draws=2)
    assert [np.bincount(panel.groups).tolist() for panel in shown.panels] == [[100, 100], [100, 300]]
    assert values(shown)["half-rings", "kmeans"] == pytest.approx(25.5, abs=2)
    assert shown.findings[0].verdict == "holds"


def test_applicability(tmp_path, monkeypatch):
    """wang2009 Table 2."""
    found = values(run_quick(wang2009, "table-2", (Row("cspa"), Row("bce")), tmp_path, monkeypatch))
    assert [found["cspa", task] for task in wang2009.TASKS] == [1, 1, 1, 0, 0]
    assert [found["bce", task] for task in wang2009.TASKS] == [1, 1, 1, 1, 1]


def test_only_refusals_count_as_not_applicable():

    def refused():
        raise MethodError("needs all rows")

    assert applies(lambda: 1) and not applies(refused)
    with pytest.raises(ZeroDivisionError):
        applies(lambda: 1 / 0)


def test_versatile():
    claim = exhibit(wang2009.PAPER, "table-2").claims[0]
    all_of = {row.name: {task: np.array([1.0]) for task in wang2009.TASKS} for row in wang2009.PAPER.exhibits[0].rows}
    assert claim.judge(all_of)[0] == "holds"
    all_of["bce"]["by rows"] = np.array([0.0])
    assert claim.judge(all_of)[0] == "does not hold" and claim.judge({})[0] == "not tested"


def test_synthetic_outliers(tmp_path, monkeypatch):
    """wang2010 Figure 3: noise of the row in the clusters, about half of the labels of outliers."""
    shown = run_quick(wang2010, "figure-3", wang2010.FLIPPED, tmp_path, monkeypatch, draws=3)
    found = values(shown)
    for row in wang2010.FLIPPED:
        assert found[row.name, "clusters"] == pytest.approx(float(row.panel.split()[0]), abs=3)
        assert 35 < found[row.name, "outliers"] < 65
    for panel in shown.panels:
        assert np.bincount(panel.groups).tolist()[2] == 10 and len(panel.points) == 200


def test_large_data_have_no_cspa_in_any_figure():
    found = growing(trial(Row("magic04", 3), data=lambda name: replace(blobs("magic04"), name="magic04")))
    assert np.isnan(found["cspa"]) and np.isfinite(found["mcla"])


def test_figures_of_wang2009_show_all_data_sets():
    for key in ("figure-2", "figure-3", "figure-4", "figure-5"):
        shown = exhibit(wang2009.PAPER, key)
        assert {row.panel for row in shown.rows} == set(SETS) == set(shown.data)


def test_points_that_cannot_be_drawn_are_a_note(tmp_path, monkeypatch):
    def broken(samples, first):
        raise RuntimeError(f"no picture of {first(Row('5 %')).row.name}")

    reduced = [replace(each, points=broken) if each.key == "figure-3" else each for each in wang2010.PAPER.exhibits]
    monkeypatch.setattr(wang2010, "PAPER", replace(wang2010.PAPER, exhibits=tuple(reduced)))
    run, _ = reproduce(Reproduction(("wang2010",), ("figure-3",), Settings(quick=True), 1), tmp_path)
    (shown,) = run.papers[0].exhibits
    assert len(shown.notes) == 1 and "cannot be drawn (RuntimeError: no picture of 5 %" in shown.notes[0]
    assert shown.cells and not has_figure(shown)


@pytest.mark.parametrize(
    ("module", "key"),
    [(strehl2002, "figure-1"), (wang2009, "figure-1"), (wang2010, "figure-1"), (wang2010, "figure-2")],
)
def test_drawings_are_named_and_not_measured(module, key):
    text = module.PAPER.drawings[key]
    assert "nothing is computed in it" in text and key not in {each.key for each in module.PAPER.exhibits}
    with pytest.raises(ParameterError, match=f"{key} cannot be measured: .*nothing is computed"):
        exhibit(module.PAPER, key)
    shown = show(Chosen(module.__name__, module.PAPER, ()), Results((), (), (), 0.0, False, 0), Asked(quick=True))
    assert any(line.startswith(key.replace("-", " ").capitalize()) for line in shown.absent)
