"""CSPA and sCSPA against their definitions; the limited graph against a search of all pairs."""

import numpy as np
import pytest
from scipy.stats import entropy

import partita
from partita import Ensemble, SoftEnsemble
from partita.core.errors import MethodError, ParameterError
from partita.core.rng import generator
from partita.graph import cspa, neighbours, scspa
from partita.kernels.neighbours import shared_weights, strongest
from tests.samples import noisy, noisy_labels, noisy_soft


def slow_similarity(ensemble):
    """Share of the clusterings, by weight, in which two rows have the same known label."""
    same = (ensemble.labels[:, None] == ensemble.labels) & (ensemble.labels[:, None] >= 0)
    return (same * ensemble.weights).sum(axis=2) / ensemble.weights.sum()


def graph_given(monkeypatch, module, ensemble, params):
    """The dense graph that the method hands to the partitioner."""
    seen = []
    real = module.partition_graph
    monkeypatch.setattr(module, "partition_graph", lambda graph, *rest: seen.append(graph) or real(graph, *rest))
    module.fit(ensemble, 3, params, generator(0))
    size = len(seen[0])
    table = np.zeros((size, size))
    for v in range(size):
        places = slice(seen[0].starts[v], seen[0].starts[v + 1])
        table[v, seen[0].ends[places]] = seen[0].weights[places]
    return table, seen[0].vertex_weights


def weighted(seed=0):
    labels, _ = noisy_labels(n=40, r=5, k=3, noise=0.4, missing=0.2, seed=seed)
    return Ensemble.from_labels(labels, missing=-1, weights=[1, 2, 0.5, 1, 3], transpose=False)


def test_similarity_by_definition(monkeypatch):
    ensemble = weighted().with_counts(1 + np.arange(40) % 3)
    table, weights = graph_given(monkeypatch, cspa, ensemble, cspa.Params())
    expected = slow_similarity(ensemble) * np.outer(ensemble.counts, ensemble.counts)
    np.fill_diagonal(expected, 0)
    assert np.allclose(table, expected) and np.array_equal(weights, ensemble.counts)


def test_weight_two_is_a_clustering_given_twice(monkeypatch):
    labels, _ = noisy_labels(n=30, r=3)
    twice = Ensemble.from_labels(labels[:, [0, 0, 1, 2]], transpose=False)
    once = Ensemble.from_labels(labels, weights=[2, 1, 1], transpose=False)
    graphs = [graph_given(monkeypatch, cspa, ensemble, cspa.Params())[0] for ensemble in (twice, once)]
    assert np.allclose(*graphs)


def test_cut_is_the_similarity_between_clusters():
    ensemble = weighted()
    result = partita.consensus(ensemble, "cspa", 3)
    apart = result.labels[:, None] != result.labels
    assert result.detail["cut"] == pytest.approx((slow_similarity(ensemble) * apart).sum() / 2)
    assert result.detail["balance"] == pytest.approx(3 * max(result.sizes) / 40)
    assert result.detail["neighbours"] == "all"


def test_balance_can_be_loosened():
    truth = np.repeat([0, 1], [30, 10])
    labels = np.stack([truth, truth, truth, np.arange(40) % 5, np.arange(40) % 7], axis=1)
    assert np.array_equal(partita.consensus(labels, "cspa", 2, imbalance=0.6).labels, truth)
    assert max(partita.consensus(labels, "cspa", 2).sizes) <= 21


@pytest.mark.parametrize("weights", [[1, 1, 1, 1, 1, 1], [1, 2, 5, 1, 3, 1]])
@pytest.mark.parametrize("wanted", [1, 5, 30])
def test_strongest_neighbours_by_search(weights, wanted):
    labels, _ = noisy_labels(n=60, r=6, k=3, noise=0.5, missing=0.2)
    labels, weights = labels.astype(np.int8), np.array(weights, np.uint16)
    candidates = np.sort(np.random.default_rng(1).choice(60, 45, replace=False))
    found = np.empty((20, wanted), np.int32)
    strongest(labels[10:30], 10, np.ascontiguousarray(labels[candidates].T), candidates, weights, found)
    for i, chosen in enumerate(found, start=10):
        shared = {
            c: sum(w for a, b, w in zip(labels[i], labels[c], weights, strict=True) if a == b >= 0) for c in candidates
        }
        shared = {c: s for c, s in shared.items() if c != i and s > 0}
        mine = chosen[chosen >= 0].tolist()
        assert len(set(mine)) == len(mine) == min(wanted, len(shared)) and set(mine) <= set(shared)
        assert sorted((shared[c] for c in mine), reverse=True) == sorted(shared.values(), reverse=True)[:wanted]
    similar = np.empty(found.shape)
    shared_weights(labels, 10, weights.astype(float), found, similar)
    first = [
        sum(w for a, b, w in zip(labels[10], labels[c], weights, strict=True) if a == b >= 0)
        for c in found[0]
        if c >= 0
    ]
    assert similar[0, : len(first)].tolist() == first


def test_neighbour_limited(monkeypatch):
    """Above the size only the strongest neighbours are edges, symmetric, and the result says so."""
    monkeypatch.setattr(neighbours, "ALL_PAIRS", 100)
    labels, truth = noisy_labels(n=600, r=9, k=4, noise=0.3)
    result = partita.consensus(labels, "cspa", 4)
    assert result.detail["neighbours"] == neighbours.NEIGHBOURS
    assert any("strongest neighbours" in note for note in result.notes)
    assert partita.evaluate(result, truth=truth)["nmi"] > 0.97
    ensemble = Ensemble.from_labels(labels)
    apart = result.labels[:, None] != result.labels
    assert result.detail["cut"] == pytest.approx((slow_similarity(ensemble) * apart).sum() / 2)


def test_candidates_are_drawn_for_each_block(monkeypatch):
    monkeypatch.setattr(neighbours, "ALL_PAIRS", 100)
    monkeypatch.setattr(neighbours, "CANDIDATES", 64)
    monkeypatch.setattr(cspa, "HARD_BLOCK", 128)
    labels, truth = noisy_labels(n=900, r=9, k=4, noise=0.3)
    found = [partita.consensus(labels, "cspa", 4, threads=threads) for threads in (1, 2)]
    assert np.array_equal(found[0].labels, found[1].labels)
    assert partita.evaluate(found[0], truth=truth)["nmi"] > 0.97


def test_neighbours_can_be_set():
    ensemble = noisy(n=200, r=9, noise=0.2)
    assert partita.consensus(ensemble, "cspa", 4, neighbours=5).detail["neighbours"] == 5
    with pytest.raises(ParameterError, match="neighbours=0"):
        partita.consensus(ensemble, "cspa", 4, neighbours=0)


@pytest.mark.parametrize("method", ["cspa", "scspa"])
def test_refuses_what_does_not_fit(monkeypatch, method):
    monkeypatch.setattr(neighbours, "MOST_BYTES", 10**5)
    with pytest.raises(MethodError, match=rf"{method} on \d+ distinct rows .* GB; use hbgf, mcla or lwgp"):
        partita.consensus(noisy(n=200, noise=0.5), method, 4)


def slow_divergence(soft, a, b):
    """Symmetric Kullback-Leibler divergence over the clusterings known in both; inf if there is none."""
    total = weight = 0.0
    for j in range(len(soft.names)):
        p, q = soft.block(j)[a], soft.block(j)[b]
        if p.any() and q.any():
            weight += soft.weights[j]
            total += soft.weights[j] * (entropy(p, q) + entropy(q, p)) / 2
    return total / weight if weight else np.inf


@pytest.mark.parametrize("case", ["soft", "missing", "zeros", "hard"])
def test_similarity_by_divergence(monkeypatch, case):
    soft = noisy_soft(n=16)
    matrix = soft.matrix.copy()
    if case == "missing":
        for row, j in ((0, 0), (3, 1), (3, 2), (5, 4)):
            matrix[row, soft.offsets[j] : soft.offsets[j + 1]] = 0
        matrix[1, soft.offsets[1] :] = 0  # 0 and 1 have no clustering in common
    elif case == "zeros":
        matrix[::3, : soft.offsets[1]] = np.eye(3)[np.arange(16)[::3] % 3]
    if case == "missing":
        matrix[0, soft.offsets[0] : soft.offsets[1]] = 0
    weights = np.array([1.0, 2, 1, 0.5, 0.5])
    soft = SoftEnsemble(matrix, soft.sizes, soft.names, soft.classes, weights)
    soft = SoftEnsemble.from_hard(soft.harden()) if case == "hard" else soft
    table, _ = graph_given(monkeypatch, scspa, soft, scspa.Params(similarity="kl"))
    for a in range(16):
        for b in range(16):
            expected = np.exp(-slow_divergence(soft, a, b)) if a != b else 0
            assert table[a, b] == pytest.approx(expected, rel=1e-9, abs=1e-300)


@pytest.mark.parametrize("similarity", ["cosine", "kl"])
def test_other_similarities_find_the_planted_clusters(similarity):
    rng = np.random.default_rng(0)
    truth = rng.permutation(np.arange(90) % 3)
    blocks = [0.6 * np.eye(3)[rng.permutation(3)[truth]] + 0.4 * rng.dirichlet(np.ones(3), 90) for _ in range(6)]
    result = partita.consensus(SoftEnsemble.from_memberships(blocks), "scspa", 3, similarity=similarity)
    assert partita.evaluate(result, truth=truth)["ari"] == 1
    few = partita.consensus(SoftEnsemble.from_memberships(blocks), "scspa", 3, similarity=similarity, neighbours=10)
    assert partita.evaluate(few, truth=truth)["ari"] == 1


@pytest.mark.parametrize("similarity", ["gaussian", "inner", "cosine"])
def test_soft_similarity_by_definition(monkeypatch, similarity):
    soft = noisy_soft(n=20)
    soft = SoftEnsemble(soft.matrix, soft.sizes, soft.names, soft.classes, np.array([1.0, 2, 1, 0.5, 0.5]))
    table, _ = graph_given(monkeypatch, scspa, soft, scspa.Params(similarity=similarity))
    scale = np.sqrt(np.repeat(soft.weights / soft.weights.mean(), soft.sizes))
    points = soft.matrix * scale
    for a in range(20):
        for b in range(20):
            apart = ((points[a] - points[b]) ** 2).sum()
            inner = points[a] @ points[b]
            cosine = inner / np.sqrt((points[a] @ points[a]) * (points[b] @ points[b]))
            expected = {"gaussian": np.exp(-apart), "inner": inner / 5, "cosine": cosine}[similarity]
            assert table[a, b] == pytest.approx(0 if a == b else expected, rel=1e-4)


def test_inner_products_of_one_hot_rows_are_cspa():
    ensemble = noisy(missing=0.1)
    hard = cspa.fit(ensemble, 4, cspa.Params(), generator(3))
    soft = scspa.fit(SoftEnsemble.from_hard(ensemble), 4, scspa.Params(similarity="inner"), generator(3))
    assert np.array_equal(hard.labels, soft.labels)


def test_soft_neighbours_are_the_nearest(monkeypatch):
    monkeypatch.setattr(neighbours, "ALL_PAIRS", 10)
    monkeypatch.setattr(scspa, "SOFT_BLOCK", 16)
    soft = noisy_soft(n=60)
    result = partita.consensus(soft, "scspa", 3, neighbours=8)
    assert result.detail["neighbours"] == 8 and result.k == 3
    close = scspa_finder(soft, 8)
    squares = ((soft.matrix[:, None] - soft.matrix) ** 2).sum(axis=2)
    np.fill_diagonal(squares, np.inf)
    ends, weights = close(0, 60, np.arange(60))
    for i in range(60):
        assert np.allclose(np.sort(squares[i, ends[i]]), np.sort(squares[i])[:8], atol=1e-5)
        assert np.allclose(weights[i], np.exp(-squares[i, ends[i]]), rtol=1e-3)


def scspa_finder(soft, count):
    lengths = (soft.matrix**2).sum(axis=1)
    return neighbours.by_closeness(
        lambda rows, others: soft.matrix[rows] @ soft.matrix[others].T - lengths[others] / 2,
        lambda rows, close: np.exp(-(lengths[rows][:, None] - 2 * close)),
        count,
    )
