"""Greedy against brute force: every partition of the paper's example, every move of a row, ANMI counted anew."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import partita
from partita import Ensemble, SoftEnsemble
from partita.core.prepare import prepare
from partita.datasets.examples import SEVEN_ANSWER, seven_objects
from partita.graph.base import best_base, complete
from partita.graph.greedy import climb, sweep
from partita.metrics import anmi
from tests.core.oracles import steady
from tests.graph.test_voting import slow_anmi
from tests.samples import noisy, noisy_labels, noisy_soft, same_partition

seeds = st.integers(0, 2**32 - 1)
EXAMPLE = seven_objects()
BEST = list(SEVEN_ANSWER)


def random_table(seed, missing=0.2):
    """A small table with gaps, weights and counts, sometimes with constant or empty clusterings."""
    rng = np.random.default_rng(seed)
    n, r = int(rng.integers(4, 14)), int(rng.integers(2, 5))
    labels = np.stack([rng.integers(0, rng.integers(1, 5), n) for _ in range(r)], axis=1)
    labels[rng.random(labels.shape) < missing * rng.random()] = -1
    labels[rng.integers(n), rng.integers(r)] = 0
    ensemble = Ensemble.from_labels(labels, missing=-1, weights=rng.integers(1, 9, r) / 4)
    return ensemble.with_counts(rng.integers(1, 5, n)) if seed % 2 else ensemble


def random_soft(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 12))
    blocks = [rng.dirichlet(np.full(size, 0.3), n) for size in rng.integers(1, 4, 3)]
    for block in blocks:
        block[rng.random(n) < 0.1] = 0
    return SoftEnsemble.from_memberships(blocks, weights=rng.integers(1, 9, 3) / 4)


def prepared(ensemble):
    return prepare(ensemble).ensemble


def partitions(n, k):
    """Every partition of n objects into k clusters, numbered by first appearance."""
    for labels in itertools.product(range(k), repeat=n):
        first = [labels.index(c) for c in range(k) if c in labels]
        if len(first) == k and first == sorted(first):
            yield labels


def best_move(ensemble, labels, k, keep):
    """The most that moving one row adds to ANMI."""
    before, gains = anmi(ensemble, labels), [0.0]
    for i, c in itertools.product(range(len(labels)), range(k)):
        if not (keep and (labels == labels[i]).sum() == 1):
            moved = labels.copy()
            moved[i] = c
            gains.append(anmi(ensemble, moved) - before)
    return max(gains)


def test_the_papers_example():
    """Of the 301 partitions into three clusters {1,2,3}, {4,5}, {6,7} has the highest ANMI, and greedy finds it."""
    scores = {labels: anmi(EXAMPLE, np.array(labels)) for labels in partitions(7, 3)}
    first, second = sorted(scores, key=scores.get, reverse=True)[:2]
    assert len(scores) == 301 and list(first) == BEST
    assert scores[first] == pytest.approx(0.71782, abs=5e-6) and scores[second] == pytest.approx(0.71589, abs=5e-6)
    result = partita.consensus(EXAMPLE, "greedy", 3)
    assert result.labels.tolist() == BEST and result.scores["anmi"] == pytest.approx(scores[first], abs=1e-12)
    found = [climb(prepared(EXAMPLE), np.array(start)[order_of(EXAMPLE)], 3) for start in itertools.islice(scores, 60)]
    assert max(run.trace[-1] for run in found) == pytest.approx(scores[first], abs=1e-12)


def order_of(ensemble):
    """For each row of the prepared ensemble, a row of the user's."""
    inverse = prepare(ensemble).inverse
    return np.array([int(np.flatnonzero(inverse == row)[0]) for row in range(inverse.max() + 1)])


@given(seed=seeds, k=st.integers(1, 4))
@steady
def test_greedy_never_lowers_anmi_and_ends_where_no_move_raises_it(seed, k):
    ensemble = prepared(random_table(seed))
    start = np.random.default_rng(seed).integers(0, k, len(ensemble)).astype(np.int32)
    for asked in (k, None):
        run = climb(ensemble, start, asked)
        assert run.converged and len(run.trace) == len(run.moves) + 1 and run.moves[-1] == 0
        assert run.trace[0] == pytest.approx(anmi(ensemble, start), abs=1e-14) and (np.diff(run.trace) >= 0).all()
        assert run.trace[-1] == pytest.approx(slow_anmi(ensemble, run.labels), abs=1e-9)
        assert best_move(ensemble, run.labels, k if asked else len(set(start)), keep=asked is not None) <= 1e-12
        if asked:
            assert len(set(start)) <= len(set(run.labels)) <= k


@given(seed=seeds)
@steady
def test_soft_ensembles_end_where_no_move_raises_anmi(seed):
    ensemble = prepared(random_soft(seed))
    start = np.random.default_rng(seed).integers(0, 3, len(ensemble)).astype(np.int32)
    run = climb(ensemble, start, 3)
    assert run.trace[0] == pytest.approx(anmi(ensemble, start), abs=1e-14) and (np.diff(run.trace) >= 0).all()
    assert best_move(ensemble, run.labels, 3, keep=True) <= 1e-12


@pytest.mark.parametrize("make", [random_table, random_soft])
@given(seed=seeds)
@steady
def test_kept_up_tables_equal_counted_ones(make, seed):
    ensemble = prepared(make(seed))
    labels = np.random.default_rng(seed).integers(0, 3, len(ensemble)).astype(np.int32)
    for _ in range(4):
        _, kept = sweep(ensemble, labels, 3, keep=False)
        assert kept == pytest.approx(anmi(ensemble, labels), abs=1e-12)


def test_kept_up_tables_do_not_drift_in_a_long_sweep():
    ensemble = prepared(noisy(n=4000, r=12, k=8, noise=0.5, missing=0.1))
    labels = np.random.default_rng(0).integers(0, 8, len(ensemble)).astype(np.int32)
    moves, kept = sweep(ensemble, labels, 8, keep=True)
    assert moves > 2000 and abs(kept - anmi(ensemble, labels)) < 1e-12


def test_slices_change_nothing(monkeypatch):
    ensemble = noisy(n=200, missing=0.1)
    whole = partita.consensus(ensemble, "greedy", 4)
    monkeypatch.setattr("partita.graph.greedy.SLICE", 1000)
    assert np.array_equal(partita.consensus(ensemble, "greedy", 4).labels, whole.labels)


def test_names_of_the_clusters_change_nothing():
    ensemble = prepared(noisy(noise=0.5))
    start = np.random.default_rng(1).integers(0, 4, len(ensemble)).astype(np.int32)
    runs = [climb(ensemble, names[start], 4).labels for names in (np.arange(4), np.array([2, 0, 3, 1]))]
    assert np.array_equal(*runs)


def test_noise_goes_in_well_under_a_second():
    """400 objects, 10 clusters, 8 noisy copies: an hour in 2002 (here with the kernels compiled)."""
    labels, truth = noisy_labels(n=400, r=8, k=10, noise=0.25)
    result = partita.consensus(labels, "greedy", 10)
    assert partita.evaluate(result, truth=truth)["nmi"] > 0.98
    assert result.detail["start anmi"] == result.trace[0] < result.trace[-1] == result.scores["anmi"]


def test_without_k_a_cluster_may_dissolve_and_with_k_none_does():
    labels = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    strange = np.array([0, 0, 0, 2, 1, 1, 1, 1])
    ensemble = prepared(Ensemble.from_labels(np.stack([labels, labels, labels, strange], axis=1)))
    start = np.unique(ensemble.labels, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int32)
    assert len(set(climb(ensemble, start, None).labels)) == 2
    assert len(set(climb(ensemble, start, 3).labels)) == 3


def test_empty_clusters_may_be_filled():
    truth = np.arange(12) % 3
    ensemble = Ensemble.from_labels(np.stack([truth, truth, np.minimum(truth, 1)], axis=1))
    run = climb(prepared(ensemble), np.zeros(3, np.int32), 3)
    assert len(set(run.labels)) == 3


def slow_complete(ensemble, labels):
    """Each base label votes for clusters as its labelled members are split."""
    whole = labels.copy()
    clusters = range(labels.max() + 1)
    for i in np.flatnonzero(labels == -1):
        votes = np.zeros(len(clusters))
        for j, label in enumerate(ensemble.labels[i]):
            members = (ensemble.labels[:, j] == label) & (labels >= 0) & (label >= 0)
            split = np.array([ensemble.counts[members & (labels == c)].sum() for c in clusters])
            votes += ensemble.weights[j] * split / max(split.sum(), 1e-300)
        sizes = np.array([ensemble.counts[labels == c].sum() for c in clusters])
        whole[i] = max(clusters, key=lambda c, votes=votes, sizes=sizes: (round(votes[c], 9), sizes[c], -c))
    return whole


@given(seed=seeds)
@steady
def test_gaps_are_filled_by_vote(seed):
    ensemble = prepared(random_table(seed, missing=0.6))
    for column in ensemble.labels.T.astype(np.int32):
        assert np.array_equal(complete(ensemble, column), slow_complete(ensemble, column))
    soft = SoftEnsemble.from_hard(ensemble)
    assert np.array_equal(complete(soft, column), complete(ensemble, column))


@given(seed=seeds)
@steady
def test_the_best_base_clustering_is_the_best(seed):
    ensemble = prepared(random_table(seed, missing=0.6))
    found = best_base(ensemble)
    scores = [anmi(ensemble, slow_complete(ensemble, column)) for column in ensemble.labels.T.astype(np.int32)]
    assert found.anmi == anmi(ensemble, found.labels) == pytest.approx(max(scores), abs=1e-12)
    for k in (1, 2):
        assert best_base(ensemble, k).k <= k


def test_soft_base_clusterings_are_hardened():
    soft = prepared(noisy_soft())
    found = best_base(soft)
    assert same_partition(found.labels, soft.harden().labels[:, found.column])
    assert found.anmi == pytest.approx(anmi(soft, found.labels), abs=1e-12)
