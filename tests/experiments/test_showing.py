"""Records beside published numbers: cells, orders, paired tests and claims, against cases worked out by hand."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from partita.core.errors import FileError
from partita.core.records import Absence, Failure, Record
from partita.experiments.deriving import derived_of
from partita.experiments.published import COLUMNS, read_published
from partita.experiments.ranking import holm, orders_of, paired, pairs_of, sentence
from partita.experiments.runner import Results
from partita.experiments.showing import Asked, samples_of, show
from partita.experiments.units import Chosen
from partita.report.reproduction import draws_text
from tests.experiments import fake_paper

FAKE = "tests.experiments.fake_paper"
IRIS = {"a": [0.8, 0.9, 0.7], "b": [0.75, 0.85, 0.65], "c": [0.5, 0.6, 0.4]}
WINE = {"a": [0.2, 0.4, np.nan], "b": [0.5, 0.5, 0.5], "c": [0.3, 0.1, 0.8]}


def records(rows, exhibit="table-1"):
    return tuple(
        Record("fake", exhibit, row, column, draw, value, 2.0)
        for row, columns in rows.items()
        for column, values in columns.items()
        for draw, value in enumerate(values)
    )


def shown(rows, *exhibits, quick=False, failures=(), absences=()):
    results = Results(records(rows), failures, absences, 1.0, False, 0)
    wanted = tuple(e for e in fake_paper.PAPER.exhibits if e.key in exhibits)
    return show(Chosen(FAKE, fake_paper.PAPER, wanted), results, Asked(quick)).exhibits


def cells(exhibit):
    return {(cell.row, cell.column, cell.statistic): cell for cell in exhibit.cells}


def test_cells():
    (table,) = shown({"iris": IRIS, "wine": WINE}, "table-1")
    found = cells(table)
    a = found["iris", "a", "mean"]
    assert a.ours == pytest.approx(0.8) and a.spread == pytest.approx(0.1) and a.draws == 3
    assert a.error == pytest.approx(0.1 / 3**0.5)
    assert (a.published, a.place, a.verdict) == (0.80, "p. 3", "within")
    assert found["iris", "a", "max"].ours == 0.9 and found["iris", "a", "max"].published == 0.91
    assert found["wine", "a", "mean"].ours == pytest.approx(0.3) and found["wine", "a", "mean"].draws == 2
    assert found["wine", "c", "mean"].verdict == "worse" and "cannot be" in found["wine", "c", "mean"].remark
    assert found["iris", "b", "mean"].verdict == "within"
    assert table.draws == (3, 3) and table.wanted == 8 and table.seconds == 12.0
    assert table.cuts == ("8 draws, the paper has 100",)
    (table,) = shown({"iris": IRIS}, "table-1", quick=True)
    assert [row.name for row in table.rows] == ["iris", "wine"] and table.cuts[-1] == "two of three rows"
    assert cells(table)["wine", "a", "mean"].ours is None and cells(table)["wine", "a", "mean"].verdict == ""


@pytest.mark.parametrize(("better", "verdict"), [("higher", "better"), ("lower", "worse")])
def test_verdicts_know_which_way_is_better(monkeypatch, better, verdict):
    paper = replace(
        fake_paper.PAPER, exhibits=(replace(fake_paper.PLAIN, better=better), *fake_paper.PAPER.exhibits[1:])
    )
    monkeypatch.setattr(fake_paper, "PAPER", paper)
    (table,) = shown({"iris": {"a": [0.94, 0.95, 0.96], "b": [0.7, np.nan, np.nan], "c": [0.5] * 3}}, "table-1")
    found = cells(table)
    assert found["iris", "a", "mean"].verdict == verdict
    assert found["iris", "b", "mean"].verdict == "", "one draw has no spread"
    assert found["iris", "c", "mean"].verdict == "within", "no spread, but within the paper's rounding"


def test_derived_exhibits_and_those_that_show_others_draws():
    table, bars = shown({"iris": IRIS, "wine": WINE | {"a": [0.2, 0.4, 0.3]}}, "table-2", "figure-2")
    found = cells(table)
    assert found["a", "b", "mean"].ours == pytest.approx((0.8 + 0.3) / (0.75 + 0.5))
    assert found["a", "b", "mean"].published == 0.95 and found["a", "b", "mean"].draws == 0
    assert ("a", "a", "mean") not in found and not table.pairs and not table.orders
    assert cells(bars)["iris", "a", "mean"].ours == pytest.approx(0.8) and bars.seconds == 12.0
    (table,) = shown({}, "table-2")
    assert cells(table)["a", "b", "mean"].ours is None and not table.notes


def test_derived_numbers_have_a_standard_error():
    """That of a mean is known: the standard deviation by the root of the draws."""
    rng = np.random.default_rng(1)
    samples = {"iris": {"a": rng.normal(0, 1, 100)}, "wine": {"a": rng.normal(0, 1, 100)}}
    exhibit = replace(fake_paper.RATIOS, derive=lambda s: {(row, "a"): float(s[row]["a"].mean()) for row in s})
    found, notes = derived_of(exhibit, samples)
    value, error = found["iris", "a"]
    assert value == samples["iris"]["a"].mean() and error == pytest.approx(0.1, rel=0.3) and not notes
    few, _ = derived_of(exhibit, {"iris": {"a": np.ones(2)}})
    assert few["iris", "a"] == (1.0, None)


def test_columns_are_resampled_together():
    samples = {"iris": {"a": np.arange(20.0), "b": np.arange(20.0) + 1}}
    exhibit = replace(fake_paper.RATIOS, derive=lambda s: {("b", "a"): float((s["iris"]["b"] - s["iris"]["a"]).mean())})
    found, _ = derived_of(exhibit, samples)
    assert found["b", "a"] == (1.0, 0.0)


def test_columns_that_do_not_compete_have_no_order(monkeypatch):
    alone = replace(fake_paper.PLAIN, compete=False)
    monkeypatch.setattr(
        fake_paper, "PAPER", replace(fake_paper.PAPER, exhibits=(alone, *fake_paper.PAPER.exhibits[1:]))
    )
    (table,) = shown({"iris": IRIS}, "table-1")
    assert not table.pairs and not table.orders and not table.ranking


def test_two_draws_test_nothing():
    (table,) = shown({"iris": {c: values[:2] for c, values in IRIS.items()}}, "table-1")
    assert "cannot be tested with fewer than 3 draws" in table.ranking and {p.verdict for p in table.pairs} == {"open"}


def test_a_derivation_that_cannot_be_made_is_told(monkeypatch):
    bad = replace(fake_paper.RATIOS, derive=lambda samples: samples["yeast"])
    monkeypatch.setattr(fake_paper, "PAPER", replace(fake_paper.PAPER, exhibits=(fake_paper.PLAIN, bad)))
    monkeypatch.setattr("partita.experiments.showing.read_published", lambda path, paper: ())
    (table,) = shown({"iris": IRIS}, "table-2")
    assert table.notes == ("cannot be worked out from these draws (KeyError: 'yeast')",) and not table.cells


def test_claims():
    (table,) = shown({"iris": IRIS}, "table-1")
    first, second = table.findings
    assert (first.verdict, first.figures) == ("does not hold", "-0.050")
    assert second.verdict == "not tested" and "KeyError" in second.figures
    (table,) = shown({}, "table-1")
    assert {finding.verdict for finding in table.findings} == {"not tested"}


def test_what_failed_or_was_skipped_stands_with_its_exhibit():
    failure, absence = Failure("fake", "table-1", "iris", 0, "oh"), Absence("fake", "table-1", "wine", "gone")
    table, ratios, slow = shown({}, "table-1", "table-2", "table-3", failures=(failure,), absences=(absence,))
    assert table.failures == ratios.failures == (failure,) and ratios.absences == (absence,) and not slow.failures


def test_samples_come_in_the_order_of_draws():
    mixed = list(records({"iris": IRIS}))[::-1]
    found = samples_of([*mixed, *records({"iris": WINE}, "table-3")], "fake", "table-1")
    assert {c: v.tolist() for c, v in found["iris"].items()} == {c: IRIS[c] for c in "cba"}


def test_paired_is_the_paired_t_test():
    rng = np.random.default_rng(0)
    first, second = rng.normal(0.3, 1, 12), rng.normal(0, 1, 12)
    lead, p = paired(first, second)
    assert lead == pytest.approx((first - second).mean()) and p == pytest.approx(stats.ttest_rel(first, second).pvalue)
    assert paired(np.append(first, np.nan), np.append(second, 1.0)) == (lead, p)


def test_paired_where_there_is_no_noise_or_no_draws():
    ones, nothing = np.ones(5), np.full(5, np.nan)
    assert paired(ones, ones) == (0.0, 1.0) and paired(2 * ones, ones) == (1.0, 0.0)
    assert paired(ones, nothing) == (None, 1.0) and paired(2 * ones[:2], ones[:2]) == (1.0, 1.0)


def test_holm_by_hand():
    p = [0.04, 0.01, 0.9, 0.02]
    np.testing.assert_allclose(holm(p), [0.08, 0.04, 0.9, 0.06])
    assert holm([0.6, 0.7]).tolist() == [1.0, 1.0] and len(holm([])) == 0


def test_ranking_by_hand():
    """Paper: a > b > c. Ours has b ahead of a in every draw, c far behind, and d anywhere about a."""
    a = np.array([0.50, 0.60, 0.55, 0.52, 0.58])
    b, c, d = np.array([0.10, 0.11, 0.09, 0.10, 0.10]), np.array([0.30, 0.31, 0.29, 0.30, 0.32]), np.arange(-2, 3) / 10
    samples = {"iris": {"a": a, "b": a + b, "c": a - c, "d": a + d}}
    published = {"iris": {"a": 0.9, "b": 0.8, "c": 0.7, "d": 0.9}, "wine": {"a": 0.1, "b": 0.2}}
    pairs = {(pair.better, pair.worse): pair for pair in pairs_of(published, samples, 1)}
    assert set(pairs) == {("a", "b"), ("a", "c"), ("b", "c"), ("d", "b"), ("d", "c")}, "a and d are not ordered"
    verdicts = {key: pair.verdict for key, pair in pairs.items()}
    assert verdicts == {("a", "b"): "reversed", ("a", "c"): "holds", ("b", "c"): "holds", ("d", "b"): "open",
                        ("d", "c"): "holds"}  # fmt: skip
    assert pairs["a", "b"].lead == pytest.approx(-0.1)
    raw = {key: stats.ttest_rel(samples["iris"][key[0]], samples["iris"][key[1]]).pvalue for key in pairs}
    np.testing.assert_allclose([pairs[key].p for key in pairs], holm(list(raw.values())))
    assert "Of 5 pairs" in sentence(tuple(pairs.values())) and sentence(()) == ""
    assert "3 hold, 1 is reversed and 1 stays open" in sentence(tuple(pairs.values()))
    lower = {(pair.better, pair.worse): pair.verdict for pair in pairs_of(published, samples, -1)}
    assert lower["b", "a"] == "reversed" and lower["c", "a"] == "holds"


def test_orders_by_hand():
    """Of the six pairs of a, b, c, d, ours turns one: tau = (5 - 1) / 6."""
    published = {"iris": {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0}, "wine": {"a": 1.0}, "glass": {"a": 1.0, "b": 1.0}}
    ours = {"iris": {"a": 0.4, "b": 0.2, "c": 0.3, "d": 0.1}, "wine": {"a": 1.0}, "glass": {"a": 2.0, "b": np.nan}}
    (order,) = orders_of(published, ours, 1)
    assert order.paper == (("a",), ("b",), ("c",), ("d",)) and order.ours == (("a",), ("c",), ("b",), ("d",))
    assert order.tau == pytest.approx(4 / 6)
    (order,) = orders_of(published, ours, -1)
    assert order.paper == (("d",), ("c",), ("b",), ("a",)) and order.tau == pytest.approx(4 / 6)
    (order,) = orders_of({"glass": {"a": 1.0, "b": 1.0}}, {"glass": {"a": 2.0, "b": 3.0}}, 1)
    assert order.tau is None


GOOD = "table-1,iris,a,mean,0.80,p. 3,,"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("table-9,iris,a,mean,1,p. 1,,", "no exhibit 'table-9'; there are table-1"),
        ("table-1,irsi,a,mean,1,p. 1,,", "no row 'irsi'; there are iris, wine"),
        ("table-1,iris,z,mean,1,p. 1,,", "no column 'z'; there are a, b, c"),
        ("table-1,iris,b,median,1,p. 1,,", "no statistic 'median'; there are mean, max"),
        ("table-1,iris,b,mean,n/a,p. 1,,", "'n/a' is not a number"),
        ("table-1,iris,b,mean,inf,p. 1,,", "'inf' is not a finite number"),
        ("table-1,iris,b,mean,1,p. 1,", "has not 8 cells"),
        ("table-1,iris,b,mean,1,p. 1,x,,y", "has not 8 cells"),
        ("table-1,iris,b,mean,1,p. 1,odd,yes", "comparable is 'yes'"),
        ("table-1,iris,b,mean,1,p. 1,,no", "say no and why"),
        (GOOD, "stands twice"),
    ],
)
def test_published_numbers_that_fit_nothing(tmp_path, line, said):
    path = tmp_path / "fake.csv"
    path.write_text("\n".join([",".join(COLUMNS), GOOD, line]) + "\n")
    with pytest.raises(FileError, match=said) as caught:
        read_published(path, fake_paper.PAPER)
    assert "line 3" in str(caught.value)


def test_published_files_that_are_none(tmp_path):
    with pytest.raises(FileError, match="cannot be read"):
        read_published(tmp_path / "none.csv", fake_paper.PAPER)
    (tmp_path / "odd.csv").write_text("a,b\n1,2\n")
    with pytest.raises(FileError, match="the first line is not exhibit,row"):
        read_published(tmp_path / "odd.csv", fake_paper.PAPER)


def test_rounding_orders_nothing():
    """Sums taken in another order differ in their last digit, the same in every draw: that is no lead."""
    ours = {"bupa": {"mcla": np.full(5, 0.58), "base": np.full(5, 0.58) + 1.2e-16}}
    printed = {"bupa": {"mcla": 0.57, "base": 0.45}}
    assert [pair.verdict for pair in pairs_of(printed, ours, 1)] == ["open"]
    means = {row: {column: float(values.mean()) for column, values in cells.items()} for row, cells in ours.items()}
    assert orders_of(printed, means, 1)[0].tau is None


def test_equals_stand_together_in_orders():
    (order,) = orders_of({"x": {"a": 1.0, "b": 3.0, "c": 1.0}}, {"x": {"a": 0.2, "b": 0.2, "c": 0.5}}, 1)
    assert order.paper == (("b",), ("a", "c")) and order.ours == (("c",), ("a", "b"))


def test_what_cannot_be_right_is_neither_met_nor_missed(monkeypatch, tmp_path):
    """No mark, and no part in the order; a column that stands apart is marked, but not ordered."""
    path = tmp_path / "fake.csv"
    lines = ["table-1,iris,a,mean,9,p. 3,above 1: impossible,no", *(f"table-1,iris,{c},mean,9,p. 3,," for c in "bc")]
    path.write_text("\n".join([",".join(COLUMNS), *lines]).replace("c,mean,9", "c,mean,8") + "\n")
    monkeypatch.setattr("partita.experiments.papers.csv_of", lambda name: path)
    (table,) = shown({"iris": IRIS}, "table-1")
    verdicts = {column: cells(table)["iris", column, "mean"].verdict for column in "abc"}
    assert verdicts == {"a": "incomparable", "b": "worse", "c": "worse"}
    assert [(pair.better, pair.worse) for pair in table.pairs] == [("b", "c")]
    assert len(table.orders) == 1 and not any("a" in group for group in table.orders[0].paper)
    alone = replace(fake_paper.PLAIN, apart=("c",))
    monkeypatch.setattr(
        fake_paper, "PAPER", replace(fake_paper.PAPER, exhibits=(alone, *fake_paper.PAPER.exhibits[1:]))
    )
    (table,) = shown({"iris": IRIS}, "table-1")
    assert not table.pairs and cells(table)["iris", "c", "mean"].verdict == "worse"


def test_data_from_elsewhere_are_named(monkeypatch, tmp_path):
    other = replace(fake_paper.PLAIN, data=("iris", "2d2k"))
    changed = replace(fake_paper.PAPER, exhibits=(other, *fake_paper.PAPER.exhibits[1:]))
    monkeypatch.setattr(fake_paper, "PAPER", changed)
    monkeypatch.setenv("PARTITA_DATA", str(tmp_path))
    (table,) = shown({"iris": IRIS}, "table-1")
    assert table.notes == ("the data set 2d2k is made from its description, not the catalogue's file",)


def test_dates_and_versions_of_an_exhibit():
    rows = records({"iris": IRIS})
    dated = tuple(replace(r, date=f"2026-11-1{r.draw}", version="0.1.0") for r in rows)
    for made, dates, versions in ((dated, ("2026-11-10", "2026-11-12"), ("0.1.0",)), (rows, (), ())):
        results = Results(made, (), (), 1.0, False, 0)
        (table,) = show(Chosen(FAKE, fake_paper.PAPER, (fake_paper.PLAIN,)), results, Asked(False)).exhibits
        assert (table.dates, table.versions) == (dates, versions)
        said = "; measured 2026-11-10 to 2026-11-12 with Partita 0.1.0." if dates else " of work."
        assert draws_text(table).endswith(said)
