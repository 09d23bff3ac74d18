"""HGPA: its objectives, its balance, that a partitioner always runs, and that it finds what the issue's data allow."""

import numpy as np
import pytest

import partita
from partita import Ensemble
from partita.generate.noise import noisy as noisy_copies
from partita.graph import hgpa
from partita.metrics import column_nmi, nmi
from tests.samples import noisy_labels, same_partition


def slow_objective(ensemble, labels, objective):
    total = 0.0
    for j, size in enumerate(ensemble.sizes):
        for label in range(size):
            touched = len(set(labels[ensemble.labels[:, j] == label].tolist()))
            total += (
                ensemble.weights[j] / ensemble.weights.mean() * (touched - 1 if objective == "km1" else touched > 1)
            )
    return total


@pytest.mark.parametrize("mode", ["bisection", "direct"])
@pytest.mark.parametrize("objective", ["cut", "km1"])
def test_detail_has_both_objectives_by_definition(objective, mode):
    labels, _ = noisy_labels(n=80, r=6, k=5, noise=0.2, missing=0.1)
    ensemble = Ensemble.from_labels(labels, missing=-1, weights=[1, 2, 0.5, 1, 3, 1], transpose=False)
    result = partita.consensus(ensemble, "hgpa", 5, objective=objective, mode=mode)
    for name in ("cut", "km1"):
        assert result.detail[name] == pytest.approx(slow_objective(ensemble, result.labels, name))
    assert max(result.sizes) <= 16 and result.k == 5
    assert result.detail["partition"].startswith(f"{mode}, run ")
    assert result.detail["partition"] in result.detail["divisions"]


def uniform_copies(seed, noise):
    """The data of the issue: 8 noisy copies of a labelling of 400 objects, drawn uniformly from 10 clusters."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(10, size=400)
    return noisy_copies(truth, 8, noise, rng), truth


def check_noisy_copies(seeds, noise, least):
    truths, nearest = [], []
    for seed in seeds:
        ensemble, truth = uniform_copies(seed, noise)
        result = partita.consensus(ensemble, "hgpa", 10, compress=False)
        assert max(result.sizes) <= 42
        assert not any(same_partition(result.labels, column) for column in ensemble.labels.T)
        truths.append(nmi(truth, result.labels))
        nearest.append(column_nmi(ensemble, result.labels).max())
    assert np.mean(truths) >= least and np.mean(nearest) < 0.9


@pytest.mark.slow
@pytest.mark.parametrize(("noise", "least"), [(0.1, 0.57), (0.2, 0.49), (0.3, 0.39), (0.5, 0.26)])
def test_noisy_copies(noise, least):
    check_noisy_copies(range(10), noise, least)


@pytest.mark.parametrize(("noise", "least"), [(0.1, 0.57), (0.3, 0.39)])
def test_noisy_copies_of_three_seeds(noise, least):
    check_noisy_copies(range(3), noise, least)


def test_base_clusterings_are_starts_only_on_request():
    """With noise a base clustering, balanced, cuts fewer hyperedges than what the partitioner returns."""
    labels, _ = noisy_labels(n=400, r=8, k=10, noise=0.25, seed=3)
    alone = partita.consensus(labels, "hgpa", 10, objective="cut")
    started = partita.consensus(labels, "hgpa", 10, objective="cut", init="base")
    assert not any("base" in name for name in alone.detail["divisions"])
    assert started.detail["divisions"][:3] == alone.detail["divisions"]
    assert started.detail["partition"].startswith("base clustering 'c")
    assert started.detail["cut"] < alone.detail["cut"]
    assert any("is nearly (NMI" in note and "clustering 'c" in note for note in started.notes)
    balanced = [slow_objective(Ensemble.from_labels(labels), column, "cut") for column in labels.T]
    sizes = [np.bincount(column).max() for column in labels.T]
    assert all(started.detail["cut"] <= cut for cut, size in zip(balanced, sizes, strict=True) if size <= 42)


def test_tiny_tables_are_solved_exactly():
    labels, _ = noisy_labels(n=9, r=4, k=2, noise=0.3)
    assert partita.consensus(labels, "hgpa", 2).detail["partition"] == "exact"


def test_large_tables_are_contracted(monkeypatch):
    """The result stays balanced and comes from the partitioner; `notes` reports the contraction."""
    labels, truth = noisy_labels(n=1200, r=8, k=6, noise=0.1)
    whole = partita.consensus(labels, "hgpa", 6, compress=False)
    monkeypatch.setattr(hgpa, "MAX_ROWS", 400)
    contracted = partita.consensus(labels, "hgpa", 6, compress=False)
    assert contracted.detail["divisions"] == ("bisection, run 1",)
    assert any("1200 rows were contracted to " in note for note in contracted.notes)
    assert not any("contracted" in note for note in whole.notes)
    assert contracted.k == 6 and max(contracted.sizes) <= 210
    assert contracted.detail["km1"] == slow_objective(Ensemble.from_labels(labels), contracted.labels, "km1")
    assert partita.evaluate(contracted, truth=truth)["nmi"] > 0.3
    assert contracted.labels.tolist() == partita.consensus(labels, "hgpa", 6, compress=False).labels.tolist()


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_contracted_rows_agree_and_stay_small(missing):
    labels, _ = noisy_labels(n=2000, r=7, k=4, noise=0.2, missing=missing)
    ensemble = Ensemble.from_labels(labels, missing=-1, transpose=False).with_counts(np.r_[50.0, np.ones(1999)])
    groups, agree = hgpa.contract_rows(ensemble, 600, 10.0, np.random.default_rng(0))
    assert sorted(set(groups.tolist())) == list(range(groups.max() + 1)) and 100 < groups.max() < 600
    assert 2 <= agree < 7
    for group in range(groups.max() + 1):
        rows = np.flatnonzero(groups == group)
        equal = (ensemble.labels[rows] == ensemble.labels[rows[0]]).all(axis=0)
        assert np.count_nonzero(equal) >= agree and len(rows) <= 10
        assert ensemble.counts[rows].sum() <= 10 + ensemble.counts[rows].max()


def test_ids_as_labels_can_be_contracted():
    """No clustering can be selected if each has more labels than there may be groups."""
    rng = np.random.default_rng(0)
    labels = np.stack([rng.permutation(1000) for _ in range(3)], axis=1)
    ensemble = Ensemble.from_labels(labels, transpose=False, allow=["id-like-column", "looks-like-features"])
    groups, agree = hgpa.contract_rows(ensemble, 90, 100.0, np.random.default_rng(0))
    assert agree == 0 and groups.max() < 90 and np.bincount(groups).max() <= 34


def test_large_tables_report_that_the_objective_says_little(monkeypatch):
    monkeypatch.setattr(hgpa, "MEANINGFUL_ROWS", 300)
    labels, _ = noisy_labels(n=400, r=8, k=10, noise=0.25)
    result = partita.consensus(labels, "hgpa", 10)
    assert any("are cut, so with" in note and "mcla" in note for note in result.notes)


def test_runs_are_compared():
    labels, _ = noisy_labels(n=200, r=6, k=5, noise=0.3)
    one, four = (partita.consensus(labels, "hgpa", 5, runs=runs) for runs in (1, 4))
    assert len(four.detail["divisions"]) == 4 and four.detail["km1"] <= one.detail["km1"]
