"""punera2007: printed numbers, soft ensembles, ratios and claims."""

from collections import Counter

import numpy as np
import pytest

from partita.experiments.exhibit import Row
from partita.experiments.papers import exhibit, punera2007
from partita.experiments.papers.punera2007 import PAPER, matrix, ratio
from partita.experiments.papers.punera2007_trials import (
    ENSEMBLES,
    FIGURE_1,
    FIGURE_3,
    HARD,
    LARGE,
    METHODS,
    ON_LARGE,
    SEVEN,
    THREE,
    TOUGH_ROWS,
    on_ensemble,
    with_attributes,
    with_clusterings,
)
from tests.experiments.blobs import blobs, published, trial

PRINTED = published("punera2007")


def made_up(**factors):
    """Samples in which every method scores its factor times how easy the ensemble is."""
    easy = {row: 0.2 + 0.5 * place / len(ENSEMBLES) for place, row in enumerate(ENSEMBLES)}
    return {
        row.name: {
            name: np.full(2, np.nan if row.panel == LARGE and name not in ON_LARGE else factors.get(name, 1.0) * height)
            for name in METHODS
        }
        for row, height in easy.items()
    }


def test_every_printed_ratio_is_there():
    counts = Counter(line.exhibit for line in PRINTED)
    assert counts == {"table-5": 42, "table-6": 42, "table-7": 6, "table-8": 6, "table-9": 6, "table-10": 6}


def test_what_is_no_ratio_is_remarked():
    """A ratio times its mirror image is 1, to within the rounding of both: MISPRINTS 29 counts the failures."""
    value = {(line.exhibit, line.row, line.column): line.value for line in PRINTED}
    failing = Counter()
    for line in PRINTED:
        product = line.value * value[line.exhibit, line.column, line.row]
        assert bool(line.remark) == (abs(product - 1) > 0.05), line
        failing[line.exhibit] += bool(line.remark)
    assert failing["table-5"] == 2 * 6 and failing["table-6"] == 2 * 2
    assert sum(failing.values()) == 16


@pytest.mark.parametrize(
    ("measured", "row"),
    [(on_ensemble, ENSEMBLES[0]), (with_attributes, FIGURE_1[-1]), (with_clusterings, FIGURE_3[-1])],
    ids=["table", "attributes", "clusterings"],
)
def test_clear_clusters_are_found_by_all(measured, row):
    found = measured(trial(row))
    assert set(found) == set(METHODS)
    assert found == pytest.approx(dict.fromkeys(METHODS, 1.0))


def test_rows_say_how_ensembles_are_made(monkeypatch):
    asked = []

    def made(X, way, **params):
        asked.append((way, params["size"], params["members"], params["k"]))
        return make(X, way, **params)

    make = punera2007_trials().make_ensemble
    monkeypatch.setattr(punera2007_trials(), "make_ensemble", made)
    on_ensemble(trial(Row("glass", "5 attributes, 4 clusterings")))
    with_attributes(trial(Row("vowel, 5 clusterings", 7)))
    with_clusterings(trial(Row("vowel, 4 attributes", 2)))
    assert asked == [("mixtures", 5, 4, 3), ("mixtures", 7, 5, 3), ("mixtures", 4, 2, 3)]


def punera2007_trials():
    from partita.experiments.papers import punera2007_trials as module

    return module


def test_large_data_is_spared_the_slow_methods():
    found = on_ensemble(trial(Row(LARGE, "3 attributes, 2 clusterings")))
    assert {name for name, value in found.items() if np.isfinite(value)} == set(ON_LARGE)


def test_same_draw_same_values():
    row = ENSEMBLES[3]
    mixed = [on_ensemble(trial(row, seed, lambda name: blobs(name, n=40, d=8, k=4))) for seed in (1, 1)]
    assert mixed[0] == mixed[1]


def test_ratios_are_those_of_their_definition():
    samples = made_up(scspa=1.2, itk=2.0)
    samples[ENSEMBLES[0].name]["itk"] = np.array([0.0, 0.0])
    first = [samples[row.name]["cspa"].mean() for row in ENSEMBLES if row.panel != LARGE]
    second = [samples[row.name]["itk"].mean() for row in ENSEMBLES if row.panel != LARGE]
    second[0] = 1e-5
    by_hand = np.prod(np.array(second) / np.array(first)) ** (1 / len(first))
    assert ratio(samples, ENSEMBLES, "cspa", "itk") == pytest.approx(by_hand)
    table = matrix(samples, ENSEMBLES, SEVEN)
    assert table["cspa", "scspa"] == pytest.approx(1.2)
    for a in SEVEN:
        for b in SEVEN:
            assert table[a, b] * table[b, a] == pytest.approx(1.0)


def test_ratios_are_of_means_over_draws():
    """The paper: vectors of the average NMI values."""
    rows = ENSEMBLES[:1]
    samples = {rows[0].name: {"cspa": np.array([0.2, 0.4]), "itk": np.array([0.6, 0.3])}}
    assert ratio(samples, rows, "cspa", "itk") == pytest.approx(0.45 / 0.3)


def test_tough_ensembles():
    """2 to 4 clusterings on the fewest attributes of Table IV; all of them but pendigits' are measured."""
    assert len(TOUGH_ROWS) == 6 * 3
    assert {row.name for row in TOUGH_ROWS if row.panel != LARGE} <= {row.name for row in ENSEMBLES}
    assert Row("yeast", "2 attributes, 3 clusterings") in TOUGH_ROWS


def test_derived_tables_show_what_they_name():
    samples = made_up(itk=1.5)
    for key, methods in (("table-5", SEVEN), ("table-8", THREE)):
        shown = exhibit(PAPER, key)
        assert set(shown.derive(samples)) == {(a, b) for a in methods for b in methods}
        assert tuple(row.name for row in shown.rows) == shown.columns == methods


def test_claims_hold_where_the_papers_order_is_made_up():
    paper_like = made_up(scspa=1.1, smcla=1.9, mcla=0.5, shbgf=1.1, mm=0.8, itk=2.5)
    for key in ("table-5", "table-7", "table-10"):
        for claim in exhibit(PAPER, key).claims:
            assert claim.judge(paper_like)[0] == "holds", claim.text
    reverse = made_up(scspa=0.9, smcla=0.9, shbgf=0.9, mm=2.0, itk=0.5)
    for key in ("table-5", "table-7", "table-9", "table-10"):
        for claim in exhibit(PAPER, key).claims[:2]:
            assert claim.judge(reverse)[0] == "does not hold", claim.text
    assert exhibit(PAPER, "table-9").claims[0].judge(made_up(itk=1.03))[0] == "holds"


def test_gains_on_tough_ensembles_are_told_apart():
    samples = made_up()
    for row in TOUGH_ROWS:
        for soft in (*HARD.values(), "itk"):
            if row.name in samples:
                samples[row.name][soft] = samples[row.name][soft] * (1.3 if soft != "itk" else 1.6)
    easier = made_up()
    for row in set(ENSEMBLES) - set(TOUGH_ROWS):
        for soft in (*HARD.values(), "itk"):
            easier[row.name][soft] = easier[row.name][soft] * (1.3 if soft != "itk" else 1.6)
    for key in ("table-6", "table-8"):
        claim = exhibit(PAPER, key).claims[-1]
        assert claim.judge(samples)[0] == "holds"
        assert claim.judge(made_up(scspa=1.2, smcla=1.2, shbgf=1.2, itk=1.5))[0] == "not contradicted", (
            "the same gain on all"
        )
        assert claim.judge(easier)[0] == "does not hold"


def test_curves_that_fall_are_named():
    samples = {row.name: dict.fromkeys(METHODS, np.full(2, float(row.x))) for row in FIGURE_1}
    claim = exhibit(PAPER, "figure-1").claims[0]
    assert claim.judge(samples)[0] == "holds"
    samples[FIGURE_1[0].name] = dict.fromkeys(METHODS, np.full(2, 99.0))
    verdict, text = claim.judge(samples)
    assert verdict == "does not hold" and "pendigits" in text and "vowel" not in text


@pytest.mark.parametrize("claim", [claim for shown in PAPER.exhibits for claim in shown.claims], ids=lambda c: c.text)
def test_nothing_is_claimed_of_nothing(claim):
    assert claim.judge({})[0] == "not tested"


def test_the_paper_says_what_is_absent():
    assert "HyperSpectral" in punera2007.PAPER.absent[0]
