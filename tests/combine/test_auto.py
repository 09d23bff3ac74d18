"""Auto: the rule that chooses among candidates, and what the result guarantees."""

import numpy as np
import pytest
from hypothesis import given

import partita
from partita import Ensemble, SoftEnsemble
from partita.combine.auto import NEAR_BEST, best_base_clustering
from partita.core.errors import MethodError
from partita.core.prepare import prepare
from partita.graph.base import base_clusterings
from partita.metrics import anmi
from tests.core.oracles import steady
from tests.graph.test_greedy import random_soft, random_table, seeds
from tests.models.test_lwea import slow_covariance, slow_weights
from tests.samples import noisy, noisy_labels, noisy_soft

HARD = ["voting", "mm", "lwea"]


def slow_choice(ensemble, labels, k):
    """The rule of SPEC 2c, from covariances over all pairs of objects; `labels` by name, of the prepared rows."""
    scores = {name: anmi(ensemble, found) for name, found in labels.items()}
    highest = max(scores.values())
    if 2 * sum(size == k for size in ensemble.sizes) >= len(ensemble.sizes):
        return next(name for name in labels if scores[name] >= highest - 1e-12)
    weights = slow_weights(ensemble, 0.3)
    near = [name for name in labels if scores[name] >= 0.98 * highest]
    values = {name: slow_covariance(ensemble, labels[name], weights) for name in near}
    return next(name for name in near if values[name] >= max(values.values()) - 1e-12)


@pytest.mark.parametrize("make", [random_table, random_soft])
@given(seed=seeds)
@steady
def test_guarantees(make, seed):
    """At most k clusters; ANMI within 2 % of every candidate and of every base clustering with at most k."""
    ensemble = make(seed)
    work = prepare(ensemble)
    for k in {1, min(2, len(work.ensemble)), min(3, len(work.ensemble))}:
        result = partita.consensus(ensemble, "auto", k, seed=seed, candidate_labels=True)
        rows = result.candidates
        assert result.k <= k
        fitting = [base.anmi for base in base_clusterings(work.ensemble) if base.k <= k]
        assert result.scores["anmi"] >= NEAR_BEST * max([*fitting, *(row["anmi"] for row in rows)]) - 1e-12
        assert set(result.candidate_labels) == {row["method"] for row in rows}
        assert np.array_equal(result.labels, result.candidate_labels[result.detail["chosen"]])


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("k", [3, 4])
def test_the_rule(seed, k):
    ensemble = noisy(n=40, r=6, k=4, noise=0.3, missing=0.1 * (seed % 2), seed=seed)
    if seed % 4 > 1:  # base clusterings with different numbers of clusters
        labels = ensemble.labels.copy()
        labels[:, ::2] = np.minimum(labels[:, ::2], 2)
        ensemble = Ensemble.from_labels(labels, missing=-1)
    work = prepare(ensemble)
    result = partita.consensus(ensemble, "auto", k, candidate_labels=True)
    first = [int(np.flatnonzero(work.inverse == i)[0]) for i in range(len(work.ensemble))]
    labels = {name: found[first] for name, found in result.candidate_labels.items()}
    assert result.detail["chosen"] == slow_choice(work.ensemble, labels, k)
    weights = slow_weights(work.ensemble, 0.3)
    for row in result.candidates:
        assert row["covariance"] == pytest.approx(slow_covariance(work.ensemble, labels[row["method"]], weights))
    same_k = 2 * sum(size == k for size in work.ensemble.sizes) >= len(work.ensemble.sizes)
    assert result.detail["rule"].startswith("highest ANMI" if same_k else "largest weighted covariance")


def test_candidates_by_default_and_by_name():
    ensemble = noisy(missing=0.1)
    names = [row["method"] for row in partita.consensus(ensemble, "auto", 4).candidates]
    assert names[:3] == HARD
    soft = partita.consensus(noisy_soft(), "auto", 3)
    assert [row["method"] for row in soft.candidates][:2] == ["mm", "lwea"]
    result = partita.consensus(ensemble, "auto", 4, candidates=("mcla", "qmi"))
    assert [row["method"] for row in result.candidates][:2] == ["mcla", "qmi"]
    assert not result.candidate_labels
    with pytest.raises(MethodError, match="supra"):
        partita.consensus(ensemble, "auto", 4, candidates=("supra",))
    with pytest.raises(MethodError, match="lwae"):
        partita.consensus(ensemble, "auto", 4, candidates=("lwae",))


def test_much_finer_base_clusterings_leave_lwea_alone():
    rng = np.random.default_rng(0)
    truth = np.arange(200) % 2
    labels = np.stack([truth * 5 + rng.integers(0, 5, 200) for _ in range(6)], axis=1)  # 10 clusters each
    for k, names in ((2, ["lwea"]), (4, HARD)):
        result = partita.consensus(labels, "auto", k)
        assert [row["method"] for row in result.candidates][: len(HARD)] == names


def test_labels_of_candidates_are_written_and_survive_polishing(tmp_path):
    ensemble = noisy(n=60)
    result = partita.consensus(ensemble, "auto", 4, candidate_labels=True, polish=True)
    assert set(result.candidate_labels) >= set(HARD)
    partita.write(result, tmp_path / "labels.csv")
    header, first = (tmp_path / "labels.csv").read_text().splitlines()[:2]
    columns = dict(zip(header.split(","), first.split(","), strict=True))
    assert [int(columns[f"candidate {name}"]) for name in HARD] == [result.candidate_labels[name][0] for name in HARD]


def test_other_candidates_change_no_candidate():
    ensemble = noisy(n=200, noise=0.4)
    alone = partita.consensus(ensemble, "auto", 4, candidates=("lwea",), candidate_labels=True)
    among = partita.consensus(ensemble, "auto", 4, candidate_labels=True)
    assert np.array_equal(alone.candidate_labels["lwea"], among.candidate_labels["lwea"])


def test_a_base_clustering_is_a_candidate_if_its_anmi_is_the_highest():
    """Three copies of one clustering, and a finer one: with k = 3, no labeling has a higher ANMI than a copy."""
    truth = np.arange(90) % 3
    ensemble = Ensemble.from_labels(
        np.stack([truth, truth, truth, np.where(truth == 0, np.arange(90) % 2, truth + 2)], 1)
    )
    result = partita.consensus(ensemble, "auto", 3, candidates=("hgpa",))
    base = best_base_clustering(prepare(ensemble).ensemble, 3)
    assert result.scores["anmi"] >= NEAR_BEST * base.anmi
    assert best_base_clustering(prepare(ensemble).ensemble, 2) is None


def test_finds_the_truth():
    labels, truth = noisy_labels(n=300, r=10, k=5, noise=0.2, missing=0.2)
    result = partita.consensus(Ensemble.from_labels(labels, missing=-1), "auto", 5)
    assert partita.evaluate(result, truth=truth)["nmi"] > 0.97


def test_hard_rows_as_one_hot_rows_give_the_same_partition():
    ensemble = noisy(n=100, r=8, k=4)
    soft = partita.consensus(SoftEnsemble.from_hard(ensemble), "auto", 4)
    assert partita.metrics.ari(soft.labels, partita.consensus(ensemble, "auto", 4).labels) > 0.95
