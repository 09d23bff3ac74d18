"""LWEA against slow references: covariance over all pairs of objects, linkages that search all pairs in every step."""

import math
from itertools import combinations

import numpy as np
import pytest

import partita
from partita import Ensemble, SoftEnsemble
from partita.core.counting import label_counts
from partita.core.prepare import prepare
from partita.core.threads import thread_limit
from partita.models import lwea
from partita.models.lwea import (
    MicroClusters,
    best_linkage,
    group_counts,
    locally_weighted,
    merge,
    micro_clusters,
    similarity,
    weighted_covariance,
)
from tests.samples import noisy, noisy_labels, noisy_soft, same_partition


def prepared(seed=0, weights=None, **options):
    ensemble = noisy(seed=seed, **options)
    if weights is not None:
        ensemble = Ensemble.from_labels(ensemble.labels, missing=-1, weights=weights)
    return prepare(ensemble).ensemble


def memberships(ensemble):
    """(n, t) one-hot or soft rows."""
    return ensemble.matrix if isinstance(ensemble, SoftEnsemble) else SoftEnsemble.from_hard(ensemble).matrix


def slow_weights(ensemble, theta):
    """w_j exp(-H / theta), H the mean over clusterings, with their weights, of the entropy of the members' labels."""
    rows, found = memberships(ensemble), []
    blocks = [range(a, b) for a, b in zip(ensemble.offsets[:-1], ensemble.offsets[1:], strict=True)]
    for j, block in enumerate(blocks):
        for c in block:
            mean = 0.0
            for weight, other in zip(ensemble.weights, blocks, strict=True):
                shared = [sum(ensemble.counts * rows[:, c] * rows[:, d]) for d in other]
                shares = [value / sum(shared) for value in shared if value > 0]
                mean += weight * -sum(p * math.log2(p) for p in shares)
            found.append(ensemble.weights[j] * math.exp(-mean / ensemble.weights.sum() / theta))
    return np.array(found)


def slow_covariance(ensemble, labels, weights, gamma=1.0):
    """Per clustering, means over the pairs of objects known in it; objects are also paired with themselves."""
    rows, total, below = memberships(ensemble), 0.0, 0.0
    together = (labels[:, None] == labels[None, :]).astype(float)
    for a, b in zip(ensemble.offsets[:-1], ensemble.offsets[1:], strict=True):
        known = ensemble.counts * rows[:, a:b].sum(axis=1)
        pairs = np.outer(known, known)
        weighted = (rows[:, a:b] * weights[a:b]) @ rows[:, a:b].T * np.outer(ensemble.counts, ensemble.counts)
        mean = weighted.sum() / pairs.sum()
        total += (weighted * together).sum() / pairs.sum() - gamma * mean * (pairs * together).sum() / pairs.sum()
        below += mean
    return total / below


def slow_merge(similar, sizes, k, rho, tau):
    """SPEC 2c, step 2, with a search over all pairs of groups before every merge."""
    shared, pairs, sizes = similar.shared.copy(), similar.pairs.copy(), sizes.astype(float).copy()
    members = {a: [a] for a in range(len(sizes))}
    limit = tau * sizes.sum() / k

    def value(a, b):
        mean = shared[a, b] / pairs[a, b] if pairs[a, b] > 0 else 0.0
        return mean * (sizes[a] + sizes[b]) ** -rho if rho else mean

    def join(a, b):
        a, b = min(a, b), max(a, b)
        for matrix in (shared, pairs):
            matrix[a] += matrix[b]
            matrix[:, a] += matrix[:, b]
        sizes[a] += sizes[b]
        members[a] += members.pop(b)

    while len(members) > k:
        a, b = max(combinations(sorted(members), 2), key=lambda pair: value(*pair))
        if sum(sizes[c] >= limit for c in members) <= k and sizes[a] >= limit and sizes[b] >= limit:
            break
        join(a, b)
    while len(members) > k:
        smallest = min(sorted(members), key=lambda c: sizes[c])
        join(smallest, max((c for c in sorted(members) if c != smallest), key=lambda c: value(smallest, c)))
    groups = np.empty(len(sizes), int)
    for number, name in enumerate(sorted(members)):
        groups[members[name]] = number
    return groups


@pytest.mark.parametrize("weights", [None, [3, 1, 1, 2]])
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_cluster_weights_follow_their_definition(weights, missing):
    ensemble = prepared(n=40, r=4, k=3, missing=missing, weights=weights)
    assert np.allclose(locally_weighted(ensemble, 0.3), slow_weights(ensemble, 0.3), atol=1e-12)


def test_cluster_weights_of_soft_clusterings_follow_their_definition():
    ensemble = prepare(noisy_soft(n=25)).ensemble
    assert np.allclose(locally_weighted(ensemble, 0.3), slow_weights(ensemble, 0.3), atol=1e-12)


def test_cluster_weights_of_many_base_clusters_are_the_same(monkeypatch):
    for ensemble in (prepared(n=40, r=4, k=3, missing=0.2, weights=[3, 1, 1, 2]), prepare(noisy_soft(n=25)).ensemble):
        dense = locally_weighted(ensemble, 0.3)
        monkeypatch.setattr("partita.starts.spectral.MOST_DENSE", 1)
        assert np.allclose(locally_weighted(ensemble, 0.3), dense, atol=1e-12)
        monkeypatch.undo()


@pytest.mark.parametrize("gamma", [1.0, 0.5])
@pytest.mark.parametrize(
    "ensemble",
    [
        prepared(n=40, r=4, k=3),
        prepared(n=40, r=4, k=3, missing=0.3, weights=[3, 1, 1, 2]),
        prepare(noisy_soft(n=25)).ensemble,
    ],
)
def test_covariance_is_that_of_all_pairs_of_objects(ensemble, gamma):
    rng = np.random.default_rng(1)
    weights = rng.random(int(ensemble.offsets[-1]))
    labels = rng.integers(0, 3, len(ensemble)).astype(np.int32)
    counts, _ = label_counts(ensemble, labels, 3)
    found = weighted_covariance(counts.T, ensemble.offsets, weights, gamma)
    assert found == pytest.approx(slow_covariance(ensemble, labels, weights, gamma), abs=1e-12)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_merges_are_those_of_a_search_over_all_pairs(seed, missing):
    ensemble = prepared(seed=seed, n=50, r=6, k=4, noise=0.4, missing=missing)
    weights = locally_weighted(ensemble, 0.3)
    micro = micro_clusters(ensemble, weights, 14, 150, np.random.default_rng(0))
    similar = similarity(micro, ensemble, weights)
    for k in (1, 2, 3, 5):
        for rho in lwea.SIZE_EXPONENTS:
            for tau in lwea.MIN_SHARES:
                expected = slow_merge(similar, micro.sizes, k, rho, tau)
                assert same_partition(merge(similar, micro.sizes, k, rho, tau), expected)


def test_the_linkage_with_the_largest_covariance_is_kept():
    ensemble = prepared(n=60, r=6, k=4, noise=0.4)
    weights = locally_weighted(ensemble, 0.3)
    micro = micro_clusters(ensemble, weights, 14, 150, np.random.default_rng(0))
    best = best_linkage(micro, ensemble, weights, 3)
    scores = {}
    for rho in lwea.SIZE_EXPONENTS:
        for tau in lwea.MIN_SHARES:
            groups = slow_merge(similarity(micro, ensemble, weights), micro.sizes, 3, rho, tau)
            scores[rho, tau] = slow_covariance(ensemble, groups[micro.labels], weights)
    assert best.covariance == pytest.approx(max(scores.values()), abs=1e-12)
    assert scores[best.size_exponent, best.min_share] == pytest.approx(best.covariance, abs=1e-12)


def test_small_groups_do_not_use_up_clusters():
    """Two large groups that are merged last by similarity, and one object that no linkage would ever join to them."""
    counts = np.array([[50, 0, 50, 0, 0], [0, 49, 0, 49, 0], [0, 1, 0, 0, 1]], float)
    micro = MicroClusters(np.arange(3, dtype=np.int32), counts, np.array([50.0, 49.0, 1.0]))
    rows = Ensemble.from_labels([[0, 0], [1, 1], [1, 2]]).with_counts([50, 49, 1])
    groups = merge(similarity(micro, rows, np.ones(5)), micro.sizes, 2, 0.0, 0.1)
    assert groups.tolist() == [0, 1, 1]
    assert group_counts(micro, groups).sum(axis=1).tolist() == [100, 100]


def test_few_rows_are_their_own_micro_clusters():
    ensemble = prepared(n=40, r=4, k=3, noise=0.4)
    micro = micro_clusters(ensemble, locally_weighted(ensemble, 0.3), 13, 150, np.random.default_rng(0))
    assert micro.labels.tolist() == list(range(len(ensemble)))
    assert np.array_equal(micro.sizes, ensemble.counts)


@pytest.mark.parametrize("soft", [False, True])
def test_micro_clusters_count_every_object(soft):
    ensemble = prepared(n=800, r=8, k=4, noise=0.4)
    ensemble = SoftEnsemble.from_hard(ensemble) if soft else ensemble
    assert len(ensemble) > 200
    micro = micro_clusters(ensemble, locally_weighted(ensemble, 0.3), 14, 60, np.random.default_rng(0))
    assert 30 < len(micro.sizes) <= 60 and set(micro.labels) == set(range(len(micro.sizes)))
    rows = memberships(ensemble) * ensemble.counts[:, None]
    expected = np.stack([rows[micro.labels == a].sum(axis=0) for a in range(len(micro.sizes))])
    assert np.allclose(micro.counts, expected)
    assert np.allclose(micro.sizes, np.bincount(micro.labels, ensemble.counts))


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_planted_clusters_are_found(missing):
    labels, truth = noisy_labels(n=600, r=12, k=5, noise=0.3, missing=missing)
    result = partita.consensus(Ensemble.from_labels(labels, missing=-1), "lwea", 5)
    assert partita.evaluate(result, truth=truth)["ari"] > 0.95
    assert result.detail["linkage covariance"] > 0.3 and result.detail["micro-clusters"] == 150
    assert np.array_equal(result.predict(Ensemble.from_labels(labels, missing=-1)), result.labels)


def test_threads_change_no_bit():
    ensemble = noisy(n=3000, r=8, k=4, noise=0.4)
    one, two = (partita.consensus(ensemble, "lwea", 4, threads=threads) for threads in (1, 2))
    assert np.array_equal(one.membership, two.membership)


def test_hard_and_one_hot_rows_give_the_same_partition():
    ensemble = noisy(n=100, r=8, k=4, noise=0.3)
    with thread_limit(1):
        hard, soft = (partita.consensus(e, "lwea", 4) for e in (ensemble, SoftEnsemble.from_hard(ensemble)))
    assert same_partition(hard.labels, soft.labels)
