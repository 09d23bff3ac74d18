"""ITK against divergences written out row by row."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import partita
from partita import Ensemble, SoftEnsemble
from partita.core.errors import ParameterError
from partita.core.prepare import prepare
from partita.models import itk, restarts
from tests.core.oracles import steady
from tests.samples import noisy_labels, noisy_soft, same_partition

seeds = st.integers(0, 2**32 - 1)


def run_from(space, k, labels, params):
    """Lloyd's iterations from the labels of a start."""
    return itk.one_run(space, itk.partition(space, labels, k, params.smoothing), params)


def sample(seed, n=10, r=3, zeros=0.3, missing=0.2):
    """Soft clusterings with zeros, gaps, weights and counts."""
    rng = np.random.default_rng(seed)
    blocks = []
    for _ in range(r):
        block = rng.dirichlet(np.ones(3), n) * (rng.random((n, 3)) > zeros)
        block[block.sum(axis=1) == 0] = [1, 0, 0]
        block /= block.sum(axis=1, keepdims=True)
        block[rng.random(n) < missing] = 0
        blocks.append(block)
    empty = ~np.concatenate(blocks, axis=1).any(axis=1)
    blocks[0][empty] = [0, 1, 0]
    soft = SoftEnsemble.from_memberships(blocks, weights=rng.random(r) + 0.2)
    return soft.with_counts(rng.integers(1, 4, n)), rng


def slow_means(soft, chosen, k, smoothing=0.0):
    """[c][j] the weighted mean of the known rows of cluster c, as `Space` scales them."""
    weights = soft.weights / soft.weights.mean()
    scale = [
        soft.counts[i] / sum(weights[j] for j in range(len(weights)) if soft.known[i, j]) for i in range(len(soft))
    ]
    means = []
    for c in range(k):
        row = []
        for j in range(len(weights)):
            overall = sum(scale[i] * soft.block(j)[i] for i in range(len(soft)))
            overall = overall / overall.sum()
            total = smoothing / len(weights) * overall
            for i in range(len(soft)):
                if chosen[i] == c and soft.known[i, j]:
                    total = total + scale[i] * soft.block(j)[i]
            row.append(total / total.sum() if total.sum() > 0 else overall)
        means.append(row)
    return means


def slow_divergence(soft, i, mean):
    """The divergence of a row from a centroid over its known clusterings, weights renormalised; may be infinite."""
    known = [j for j in range(len(soft.weights)) if soft.known[i, j]]
    total = sum(soft.weights[j] for j in known)
    value = 0.0
    for j in known:
        for p, q in zip(soft.block(j)[i], mean[j], strict=True):
            if p > 0:
                value += soft.weights[j] / total * (p * np.log(p / q) if q > 0 else np.inf)
    return value


def slow_total(soft, chosen, k):
    means = slow_means(soft, chosen, k)
    return sum(soft.counts[i] * slow_divergence(soft, i, means[chosen[i]]) for i in range(len(soft)))


@steady
@given(seeds, st.integers(1, 4))
def test_the_divergence_is_the_definition(seed, k):
    soft, rng = sample(seed)
    chosen = rng.integers(k, size=len(soft)).astype(np.int32)
    found = itk.partition(itk.describe(soft), chosen, k, 0.0)
    assert found.divergence == pytest.approx(slow_total(soft, chosen, k), abs=1e-10)


@steady
@given(seeds, st.integers(1, 4))
def test_one_step_takes_the_nearest_centroid(seed, k):
    """Every row goes to the centroid of least divergence; an infinite one is never chosen."""
    soft, _ = sample(seed)
    chosen = np.arange(len(soft), dtype=np.int32) % k
    run = run_from(itk.describe(soft), k, chosen, itk.Params(max_iter=1))
    means = slow_means(soft, chosen, k)
    costs = np.array([[slow_divergence(soft, i, mean) for mean in means] for i in range(len(soft))])
    after = run.state.chosen
    if len(set(costs.argmin(axis=1))) == k:  # no cluster lost its last row
        picked = costs[np.arange(len(soft)), after]
        assert np.isfinite(picked).all() and np.allclose(picked, costs.min(axis=1), atol=1e-9)


@steady
@given(seeds, st.integers(1, 5), st.sampled_from([0.0, 0.5]))
def test_the_divergence_never_rises(seed, k, smoothing):
    soft, rng = sample(seed, n=14)
    start = rng.integers(k, size=14).astype(np.int32)
    space, params = itk.describe(soft), itk.Params(smoothing=smoothing)
    run = run_from(space, k, start, params)
    trace = np.array([itk.partition(space, start, k, smoothing).divergence, *run.trace])
    assert np.isfinite(trace).all() and (np.diff(trace) <= 1e-9).all() and run.converged
    assert trace[-1] >= -1e-9


@steady
@given(seeds)
def test_smoothed_centroids_are_the_definition(seed):
    soft, rng = sample(seed)
    chosen = rng.integers(3, size=len(soft)).astype(np.int32)
    space = itk.describe(soft)
    found = itk.partition(space, chosen, 3, 2.0)
    means = slow_means(soft, chosen, 3, 2.0)
    logs = found.scores / space.weight[:, None]
    for c in range(3):
        assert np.allclose(np.exp(logs[:, c]), np.concatenate(means[c]), atol=1e-12)


@steady
@given(seeds, st.integers(1, 4), st.sampled_from([0.3, 2.0]))
def test_the_smoothed_divergence_is_that_of_imaginary_objects_too(seed, k, smoothing):
    """Each cluster has so many of them, spread like all objects, an even part in every clustering."""
    soft, rng = sample(seed)
    chosen = rng.integers(k, size=len(soft)).astype(np.int32)
    means, overall = slow_means(soft, chosen, k, smoothing), slow_means(soft, np.zeros(len(soft), np.int32), 1)[0]
    expected = sum(soft.counts[i] * slow_divergence(soft, i, means[chosen[i]]) for i in range(len(soft)))
    weights = soft.weights / soft.weights.mean()
    for mean in means:
        for j, weight in enumerate(weights):
            for p, q in zip(overall[j], mean[j], strict=True):
                expected += weight * smoothing / len(weights) * p * np.log(p / q) if p > 0 else 0.0
    found = itk.partition(itk.describe(soft), chosen, k, smoothing)
    assert found.divergence == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("smoothing", [0.0, 0.5])
@pytest.mark.parametrize("kind", ["hard", "soft"])
def test_a_clustering_of_which_a_sample_knows_nothing(kind, smoothing):
    """Warnings are errors here; its labels speak for no cluster, and the others are what they are without it."""
    rows = [[0, 0, -1], [0, 1, -1], [1, 1, -1], [1, 0, 0], [1, 0, 1], [1, 0, 2]]
    hard = Ensemble.from_labels(rows, missing=-1, transpose=False).rows([0, 1, 2])
    part, two = hard, hard.columns([0, 1])
    if kind == "soft":
        part, two = SoftEnsemble.from_hard(part), SoftEnsemble.from_hard(two)
    space, start = itk.describe(part), np.array([0, 0, 1], np.int32)
    assert space.overall == pytest.approx([2 / 3, 1 / 3, 1 / 3, 2 / 3, 1 / 3, 1 / 3, 1 / 3])
    found = itk.partition(space, start, 2, smoothing)
    assert np.allclose(found.scores[4:], np.log(1 / 3)) and np.isfinite(found.scores).all()
    without = itk.partition(itk.describe(two), start, 2, smoothing * 2 / 3)
    assert np.allclose(found.scores[:4], without.scores) and found.divergence == pytest.approx(without.divergence)


@pytest.mark.parametrize("smoothing", [0.0, 0.5])
def test_many_rows_with_a_sparse_clustering(smoothing, monkeypatch):
    """Only two rows have a label in the last clustering; most samples of the starts have neither of them."""
    monkeypatch.setattr(restarts, "SAMPLE", 400)
    labels, truth = noisy_labels(n=3000, r=10, k=4, noise=0.3)
    sparse = np.full(3000, -1)
    sparse[:2] = 0, 1
    table = Ensemble.from_labels(np.column_stack([labels, sparse]), missing=-1)
    assert len(prepare(table).ensemble) > 1500
    for seed in range(6):
        result = partita.consensus(table, "itk", 4, seed=seed, smoothing=smoothing)
        assert np.isfinite(result.trace).all() and all(np.isfinite(part).all() for part in result.model.tables)
        assert partita.evaluate(result, truth=truth)["nmi"] > 0.9


def test_smoothing_has_a_limit():
    with pytest.raises(ParameterError, match=r"smoothing=1e\+100 is out of range; give float >= 0 and <= 1000000"):
        partita.consensus(noisy_soft(), "itk", 3, smoothing=1e100)
    assert np.isfinite(partita.consensus(noisy_soft(), "itk", 3, smoothing=1e6).trace).all()


@pytest.mark.parametrize("seed", range(6))
def test_restarts_reach_the_best_of_all_partitions(seed):
    """Seven rows in two clusters: all 63 divisions are tried."""
    soft, _ = sample(seed, n=7, zeros=0.0, missing=0.1)
    best = min(
        slow_total(soft, chosen, 2)
        for chosen in itertools.product(range(2), repeat=7)
        if chosen[0] == 0 and any(chosen)
    )
    result = partita.consensus(soft, "itk", 2, init="random", restarts=40)
    assert result.detail["objective"] == pytest.approx(best, abs=1e-9)
    assert slow_total(soft, result.labels, 2) == pytest.approx(best, abs=1e-9)


def test_hard_rows_are_one_hot_memberships():
    labels, _ = noisy_labels(missing=0.2)
    hard = prepare(Ensemble.from_labels(labels, missing=-1)).ensemble
    start = (np.arange(len(hard)) % 4).astype(np.int32)
    one, two = (
        run_from(itk.describe(rows), 4, start.copy(), itk.Params()) for rows in (hard, SoftEnsemble.from_hard(hard))
    )
    assert np.array_equal(one.state.chosen, two.state.chosen) and np.allclose(one.trace, two.trace, rtol=1e-12)


def test_an_emptied_cluster_takes_the_worst_fitted_row():
    soft = SoftEnsemble.from_memberships([[[0.9, 0.1], [0.9, 0.1], [0.88, 0.12], [0.1, 0.9]]] * 2)
    run = run_from(itk.describe(soft), 2, np.zeros(4, np.int32), itk.Params())
    assert same_partition(run.state.chosen, [0, 0, 0, 1])


def test_the_worst_fitted_row_is_that_of_largest_divergence_per_known_clustering():
    """Of two clusterings a row knows one; added up, the divergence of the row that knows both is larger."""
    rows = [[0, 0]] * 8 + [[0, 1], [1, -1]]
    hard = Ensemble.from_labels(rows, missing=-1, transpose=False)
    soft, start = SoftEnsemble.from_hard(hard), np.zeros(10, np.int32)
    means = slow_means(soft, start, 1)
    each = [slow_divergence(soft, i, means[0]) for i in range(10)]
    assert np.argmax(each) == 9 and 2 * each[8] > each[9]
    run = run_from(itk.describe(hard), 2, start, itk.Params(max_iter=1))
    assert run.state.chosen.tolist() == [0] * 9 + [1]


def test_soft_rows_carry_more_than_their_labels():
    """Rows that harden to the same labels are told apart by how sure they are."""
    sure, torn = [[0.98, 0.02]] * 20, [[0.52, 0.48]] * 20
    result = partita.consensus(SoftEnsemble.from_memberships([sure + torn] * 3), "itk", 2, init="random", restarts=5)
    assert same_partition(result.labels, [0] * 20 + [1] * 20)


def test_new_rows_go_where_they_diverge_least():
    soft = noisy_soft()
    result = partita.consensus(soft, "itk", 3)
    hard = soft.harden()
    means = slow_means(soft, result.labels, 3)
    rows = SoftEnsemble.from_hard(hard)
    expected = [min(range(3), key=lambda c: slow_divergence(rows, i, means[c])) for i in range(len(soft))]
    assert result.predict(hard.labels.tolist()).tolist() == expected
