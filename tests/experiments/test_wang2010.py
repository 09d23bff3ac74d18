"""wang2010: printed numbers, trials and claims."""

from collections import Counter

import numpy as np
import pytest

from partita.datasets.base import Dataset
from partita.experiments.exhibit import Row
from partita.experiments.papers import exhibit, wang2010
from partita.experiments.papers.wang2010 import (
    FLIPPED,
    PAPER,
    REAL,
    accuracy,
    held_of,
    objects_of,
    perplexities,
    planted,
    singletons,
    synthetic,
)
from partita.experiments.trials import fitted
from tests.experiments.blobs import blobs, published, trial
from tests.models.test_bce_exact import factors_of, slow_log_prob

PRINTED = published("wang2010")


def overlapping(name):
    """Groups that touch, so that base clusterings differ."""
    rng = np.random.default_rng(5)
    labels = np.arange(160) % 4
    return Dataset(name, 2.5 * labels[:, None] + rng.normal(size=(160, 3)), labels, tuple("abcd"))


def test_every_printed_number_is_there():
    counts = Counter(line.exhibit for line in PRINTED)
    assert counts == {"table-2": 42, "table-3": 12, "table-4": 21, "table-5": 21, "table-6": 10, "table-7": 15}


def test_impossible_perplexities_are_remarked():
    """Below 1, or above the 2 labels of the synthetic data (MISPRINTS 9 and 10)."""
    for line in PRINTED:
        if exhibit(PAPER, line.exhibit).score == "perplexity":
            assert bool(line.remark) == (line.value < 1 or line.exhibit == "table-3"), line


def test_gibbs_stands_in_two_tables():
    value = {(line.exhibit, line.row, line.column): line.value for line in PRINTED}
    for row in exhibit(PAPER, "table-7").rows:
        assert value["table-7", row.name, "nbce-gibbs"] == value["table-4", row.name, "nbce-gibbs"]


def test_a_quarter_is_held_out():
    held = held_of(trial(Row("glass"), data=overlapping))
    assert (len(held.train), len(held.test), len(held.classes)) == (120, 40, 120)
    assert held.train.sizes == held.test.sizes == (2, 3, 4, 6, 8) * 2


def test_letters_are_700_of_the_first_ten():
    rng = np.random.default_rng(0)
    letters = Dataset(
        "letter", np.arange(3000.0)[:, None], rng.integers(26, size=3000), tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    )
    some = objects_of(letters, rng)
    assert len(some) == 700 and some.k == 10 and set(some.labels.tolist()) == set(range(10))
    assert (letters.labels[some.X[:, 0].astype(int)] == some.labels).all()


def test_clear_clusters_are_found():
    found = accuracy(trial(Row("glass"), data=lambda name: blobs(name, k=4)))
    assert set(found) == set(exhibit(PAPER, "table-2").columns)
    assert found["base best"] >= found["base"] and found["mcla"] > 0.85


def test_planted_labels_are_as_noisy_as_they_say():
    labels, truth, outlier = planted(0.1, np.random.default_rng(0))
    wrong = labels != truth[:, None]
    assert labels.shape == (200, 10) and outlier.sum() == 10 and truth.sum() == 100
    assert wrong[~outlier].mean() == pytest.approx(0.1, abs=0.02)
    assert 0.35 < wrong[outlier].mean() < 0.65


@pytest.mark.parametrize(("row", "low", "high"), [(FLIPPED[0], 1.28, 1.42), (FLIPPED[3], 1.7, 1.85)])
def test_perplexities_of_the_planted_clusters_are_possible(row, low, high):
    found = synthetic(trial(row))
    assert set(found) == set(exhibit(PAPER, "table-3").columns)
    assert all(low < value < high for value in found.values())


def test_perplexities_are_of_labels():
    """At least 1, and below that of guessing any label; what is not seen is harder to tell."""
    found = perplexities(trial(Row("glass"), data=overlapping))
    assert set(found) == set(exhibit(PAPER, "table-4").columns)
    assert all(1 <= value < 8 for value in found.values())
    assert found["nbce-gibbs, test"] > 0.95 * found["nbce-gibbs"]


def test_singletons_are_percentages():
    found = singletons(trial(Row("glass"), data=overlapping))
    assert set(found) == {"tsb", "fsd"} and all(0 <= value < 30 for value in found.values())


def test_orders_that_hold_and_that_do_not():
    for key, names in (
        ("table-4", ("nbce-gibbs", "mm")),
        ("table-5", ("nbce-gibbs, test", "mm, test")),
    ):
        claim = exhibit(PAPER, key).claims[1]
        rising = {row.name: {name: np.full(3, 1.0 + place) for place, name in enumerate(names)} for row in REAL}
        assert claim.judge(rising)[0] == "holds"
        rising["glass"] = {name: np.full(3, 2.0 - place) for place, name in enumerate(names)}
        assert claim.judge(rising)[0] == "does not hold"


def test_bce_is_ranked_by_its_exact_likelihood():
    for key, names in (
        ("table-4", ("nbce-gibbs", "bce-vb", "mm")),
        ("table-5", ("nbce-gibbs, test", "bce-vb, test", "mm, test")),
    ):
        shown = exhibit(PAPER, key)
        rising = {row.name: {name: np.full(3, 1.0 + place) for place, name in enumerate(names)} for row in REAL}
        assert shown.claims[0].judge(rising)[0] == "holds"
        assert not shown.apart and "exact likelihood" in " ".join(exhibit(PAPER, "table-4").remarks)


def test_perplexity_of_bce_is_that_of_its_likelihood(monkeypatch):
    """Of the first rows of the planted table, with the likelihood summed over all assignments."""
    fits = {}
    monkeypatch.setattr(wang2010, "fitted", lambda *args, **kept: fits.setdefault(args[1], fitted(*args, **kept)))
    monkeypatch.setattr(wang2010, "SWEEPS", {"chains": 1, "burn_in": 5, "draws": 5})
    found = synthetic(trial(Row("10 %")))
    model, ensemble = fits["bce-vb"].model, fits["bce-vb"].ensemble
    whole = [slow_log_prob(model.bias, factors_of(model.stacked, ensemble, i)) for i in range(5)]
    assert model.log_likelihood(ensemble.rows(slice(0, 5)), exact=True) == pytest.approx(sum(whole), rel=1e-10)
    assert found["bce-vb"] == fits["bce-vb"].perplexity(ensemble, exact=True) < fits["bce-vb"].perplexity(ensemble)


def test_the_best_of_each_data_set():
    claim = exhibit(PAPER, "table-2").claims[2]
    like = {
        row.name: {
            "cspa": np.full(3, 0.5),
            "hgpa": np.full(3, 0.4),
            "mcla": np.full(3, 0.6),
            "nbce-gibbs": np.full(3, 0.7),
        }
        for row in REAL
    }
    assert claim.judge(like)[0] == "holds"
    like["ecoli"]["mcla"] = np.full(3, 0.8)
    verdict, text = claim.judge(like)
    assert verdict == "does not hold" and "ecoli" in text and "6 of 7" in text


@pytest.mark.parametrize("claim", [claim for shown in PAPER.exhibits for claim in shown.claims], ids=lambda c: c.text)
def test_nothing_is_claimed_of_nothing(claim):
    assert claim.judge({})[0] == "not tested"
