"""Auto: the rule as a table, and a result that is never below the best base clustering."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

import partita
from partita import Ensemble, registry
from partita.combine.auto import RULE, Facts, choose
from partita.core.prepare import prepare
from partita.graph.base import base_clusterings, complete
from partita.metrics import anmi
from tests.core.oracles import steady
from tests.graph.test_greedy import BEST, EXAMPLE, random_soft, random_table, seeds, slow_complete
from tests.samples import noisy, noisy_labels, noisy_soft

HARD = ("lwgp", "mcla", "hbgf")


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        (Facts(2_000, False, 0.0, 1e5), (*HARD, "voting", "cspa", "greedy")),
        (Facts(2_001, False, 0.5, 1e5), (*HARD, "voting", "cspa", "greedy")),
        (Facts(2_000, False, 0.51, 1e5), (*HARD, "cspa", "greedy")),
        (Facts(20_000, False, 0.1, 5e7), (*HARD, "voting", "cspa", "greedy")),
        (Facts(20_001, False, 0.1, 5.1e7), (*HARD, "voting")),
        (Facts(10**7, False, 0.9, 1e10), HARD),
        (Facts(2_000, True, 0.0, 1e5), ("shbgf", "smcla", "scspa", "greedy")),
        (Facts(2_001, True, 0.9, 1e5), ("shbgf", "smcla", "greedy")),
        (Facts(10**6, True, 0.9, 1e9), ("shbgf", "smcla")),
    ],
)
def test_the_rule(facts, expected):
    assert choose(facts) == expected


def test_the_rule_names_methods_that_are_there():
    named = {name for line in RULE for name in line.methods}
    assert named <= set(registry.METHODS) and not any(registry.get(name).combines for name in named)


def test_the_rule_is_the_one_in_the_documentation():
    page = (Path(__file__).parents[2] / "docs" / "design.md").read_text()
    for line in RULE:
        assert f"\n| {', '.join(line.methods)}" in page


def slow_best(ensemble):
    """The highest ANMI of a base clustering, its gaps filled by vote, counted on the prepared rows."""
    rows = prepare(ensemble).ensemble
    hard = rows if isinstance(rows, Ensemble) else rows.harden()
    fill = slow_complete if hard is rows else complete
    return max(anmi(rows, fill(rows, column)) for column in hard.labels.T.astype(np.int32))


@pytest.mark.parametrize("make", [random_table, random_soft])
@given(seed=seeds)
@steady
def test_never_below_the_best_base_clustering(make, seed):
    ensemble = make(seed)
    rows = len(prepare(ensemble).ensemble)
    for k in {None, min(2, rows), min(3, rows)} - {1}:
        result = partita.consensus(ensemble, "auto", k, seed=seed, fallback="best")
        assert result.scores["anmi"] >= slow_best(ensemble) - 1e-12
        assert result.scores["anmi"] >= max(row["anmi"] or 0 for row in result.detail["candidates"]) - 1e-12


@pytest.mark.parametrize("make", [random_table, random_soft])
@given(seed=seeds)
@steady
def test_k_asked_for_is_never_exceeded(make, seed):
    """By default, the best base clustering with at most k clusters is the measure, and k is kept."""
    ensemble = make(seed)
    rows = len(prepare(ensemble).ensemble)
    for k in {min(2, rows), min(3, rows)} - {1}:
        result = partita.consensus(ensemble, "auto", k, seed=seed)
        fitting = [base.anmi for base in base_clusterings(prepare(ensemble).ensemble) if base.k <= k]
        assert result.k <= k and result.scores["anmi"] >= max(fitting, default=0) - 1e-12
    whole = partita.consensus(ensemble, "auto", seed=seed)
    assert whole.scores["anmi"] >= slow_best(ensemble) - 1e-12


def test_the_papers_example():
    assert partita.consensus(EXAMPLE, "auto", 3).labels.tolist() == BEST


def test_k_of_the_best_base_clustering():
    ensemble = noisy()
    result = partita.consensus(ensemble, "auto")
    best = max(base_clusterings(prepare(ensemble).ensemble), key=lambda base: base.anmi)
    assert result.k == best.k == 4 and result.k_asked is None and result.recipe.k is None
    assert any(note.startswith("k was not given: 4 clusters, as in base clustering 'c") for note in result.notes)


def finer():
    """Three clusterings of eight clusters that agree: asked for two, no method can agree with them as one of them."""
    truth = np.arange(64) % 8
    return Ensemble.from_labels(np.stack([truth, truth[::-1], (truth + 3) % 8], axis=1))


def test_a_better_base_clustering_is_the_answer_and_says_so():
    result = partita.consensus(finer(), "auto", 2, fallback="best")
    assert result.k == 8 and result.k_asked == 2 and result.scores["anmi"] == pytest.approx(1)
    note = next(note for note in result.notes if "agrees better" in note)
    assert "8 clusters instead of 2" in note and "--set fallback=k" in note
    assert not any("has a higher ANMI" in note for note in result.notes)
    assert result.detail["chosen"].startswith("base clustering") == (result.detail["candidates"][-1]["k"] == 8)
    assert result.confidence.min() > 0.95
    polished = partita.polish(result, finer())
    assert polished.k == 8 and polished.recipe.polish


@pytest.mark.parametrize("fallback", ["k", "none"])
def test_k_can_be_insisted_on(fallback):
    result = partita.consensus(finer(), "auto", 2, fallback=fallback)
    assert result.k == 2 and not any("agrees better" in note for note in result.notes)
    told = [note for note in result.notes if "has a higher ANMI (1.0000" in note and "8 clusters" in note]
    assert len(told) == 1
    assert partita.consensus(finer(), "auto", fallback=fallback).k == 8
    assert partita.consensus(finer(), "auto", 1).k == 1


def test_detail_tells_the_rule_and_every_candidate():
    result = partita.consensus(noisy(missing=0.1), "auto", 4)
    names = [row["method"] for row in result.detail["candidates"]]
    assert names == [*HARD, "voting", "cspa", "greedy"] and result.detail["chosen"] in names
    assert result.detail["rule"][0] == "lwgp, mcla, hbgf: hard labels" and result.recipe.method == "auto"
    assert result.detail["polish"]["anmi"] == result.scores["anmi"]
    soft = partita.consensus(noisy_soft(), "auto", 3)
    assert [row["method"] for row in soft.detail["candidates"]] == ["shbgf", "smcla", "scspa", "greedy"]


def test_finds_the_truth():
    labels, truth = noisy_labels(n=300, r=10, k=5, noise=0.2, missing=0.2)
    result = partita.consensus(Ensemble.from_labels(labels, missing=-1), "auto")
    assert partita.evaluate(result, truth=truth)["nmi"] > 0.97
