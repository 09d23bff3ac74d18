"""Supra: the best of its candidates, whatever their order, each as if it ran alone."""

import dataclasses
import json

import numpy as np
import pytest

import partita
from partita import registry
from partita.combine.supra import Params, fit
from partita.core.errors import MethodError, ParameterError
from partita.core.prepare import prepare
from partita.metrics import anmi
from tests.graph.test_greedy import BEST, EXAMPLE
from tests.samples import noisy, noisy_soft

NAMES = ("lwgp", "voting", "qmi", "greedy")


def run(ensemble, k=4, methods=NAMES, **options):
    return partita.consensus(ensemble, "supra", k, methods=methods, **options)


def candidates(result):
    return {row["method"]: row for row in result.candidates}


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_the_best_candidate_is_kept(missing):
    for seed in range(4):
        ensemble = noisy(noise=0.6, missing=missing, seed=seed)
        result = run(ensemble)
        scores = {name: row["anmi"] for name, row in candidates(result).items()}
        assert list(scores) == list(NAMES)
        assert result.scores["anmi"] == pytest.approx(max(scores.values()), abs=1e-12)
        assert anmi(ensemble, result.labels) == pytest.approx(max(scores.values()), abs=1e-12)
        assert scores[result.detail["chosen"]] == pytest.approx(max(scores.values()), abs=1e-12)
        assert all(
            row["seconds"] >= 0 and 1 <= row["k"] <= 4 and not row["refused"] for row in candidates(result).values()
        )
        for name in ("voting", "greedy"):
            assert scores[name] == pytest.approx(partita.consensus(ensemble, name, 4).scores["anmi"], abs=1e-12)


def test_the_papers_example():
    assert run(EXAMPLE, 3).labels.tolist() == BEST
    assert partita.consensus(EXAMPLE, "supra", 3, methods="lwgp", polish=True).labels.tolist() == BEST


def test_a_candidate_does_not_feel_the_others():
    ensemble = noisy(noise=0.7)
    forward, backward = run(ensemble), run(ensemble, methods=NAMES[::-1])
    alone = [run(ensemble, methods=(name,)) for name in NAMES]
    for name, single in zip(NAMES, alone, strict=True):
        assert candidates(forward)[name]["anmi"] == candidates(backward)[name]["anmi"] == single.scores["anmi"]


def test_one_after_another_gives_the_same(monkeypatch):
    ensemble = noisy(noise=0.6)
    together = run(ensemble)
    monkeypatch.setattr("partita.combine.candidates.MOST_PARALLEL", 1)
    apart = run(ensemble)
    assert np.array_equal(together.labels, apart.labels)
    for name in NAMES:
        assert candidates(together)[name]["anmi"] == candidates(apart)[name]["anmi"]


def test_the_first_of_equals_wins():
    truth = np.arange(30) % 3
    ensemble = np.stack([truth, truth, truth], axis=1)
    for names in (("voting", "lwgp"), ("lwgp", "voting")):
        assert run(ensemble, 3, names).detail["chosen"] == names[0]


def test_lists_and_words():
    ensemble = noisy()
    for words in ("voting, lwgp", ["voting", "lwgp"], ("voting", "lwgp", "voting")):
        assert list(candidates(run(ensemble, methods=words))) == ["voting", "lwgp"]


@pytest.mark.parametrize(
    ("methods", "words"),
    [
        ("votign", "did you mean 'voting'"),
        ("supra", "supra cannot run supra"),
        ("voting,supra", "supra cannot run supra"),
        ((), "methods is empty"),
        ("", "methods is empty"),
        (5, r"give list of str \| none"),
        ([5], r"give list of str \| none"),
    ],
)
def test_refused_lists(methods, words):
    with pytest.raises(ParameterError, match=words):
        run(noisy(), methods=methods)


def test_candidates_get_the_k_that_was_chosen():
    result = run(noisy(), None, ("voting", "nbce-vb"))
    assert result.k_asked == result.k_choice.k == 4
    assert all(row["k"] == 4 for row in result.candidates)


def test_candidates_that_refuse_are_recorded():
    result = run(noisy_soft(), 3)
    assert result.detail["chosen"] == "greedy"
    assert "takes hard labels" in candidates(result)["voting"]["refused"]
    assert candidates(result)["voting"]["anmi"] is None and candidates(result)["voting"]["k"] is None
    with pytest.raises(MethodError, match="no candidate can take this ensemble; voting: voting takes hard"):
        run(noisy_soft(), 3, ("voting", "lwgp"))


def test_a_candidate_without_compression_is_refused_on_rows_that_stand_for_several():
    def find(name):
        return dataclasses.replace(registry.get(name), compresses=name != "voting")

    rows = prepare(noisy(n=20).rows(np.repeat(np.arange(20), 2))).ensemble
    result = fit(find, rows, 4, Params(("voting", "greedy")), np.random.default_rng(0))
    assert "one row an object" in candidates(result)["voting"]["refused"] and result.detail["chosen"] == "greedy"


def test_the_default_is_the_papers_three_and_their_soft_forms():
    for default in (None, "none"):
        assert list(candidates(run(noisy(), methods=default))) == ["cspa", "hgpa", "mcla"]
        assert list(candidates(run(noisy_soft(), 3, default))) == ["scspa", "smcla", "shbgf"]


def test_the_record_is_written(tmp_path):
    partita.write(run(noisy()), tmp_path / "out.json")
    rows = json.loads((tmp_path / "out.json").read_text())["candidates"]
    assert [row["method"] for row in rows] == list(NAMES) and all(row["seconds"] >= 0 for row in rows)


def test_one_clustering_that_counts_is_enough():
    """Two were given, one of them with weight 0: every candidate runs as it does alone."""
    ensemble = partita.Ensemble.from_labels([[0, 1], [0, 2], [1, 1], [1, 2]], weights=[1, 0])
    assert run(ensemble, 2).labels.tolist() == [0, 0, 1, 1]
