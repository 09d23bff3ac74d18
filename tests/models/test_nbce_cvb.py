"""NBCE-CVB: its sweeps against a double loop over objects, its solution against the exact evidence of tiny tables."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import polygamma

import partita
from partita import Ensemble, SoftEnsemble
from partita.core.counting import unit_weights
from partita.core.prepare import prepare
from partita.kernels.gammas import trigamma
from partita.kernels.nbce_cvb import mean_log, mean_rise
from partita.models.nbce_bound import Hyper
from partita.models.nbce_cvb import Params, moments_of, one_run, present, step, sweep
from partita.models.nbce_learn import alpha_parts, beta_parts, height
from partita.models.nbce_start import begin
from tests.models import nbce_slow as slow
from tests.models.nbce_oracle import Exact
from tests.models.test_nbce_vb import spread_gamma
from tests.samples import noisy

seeds = st.integers(0, 2**32 - 1)
priors = pytest.mark.parametrize("prior", ["tsb", "fsd"])
orders = pytest.mark.parametrize("order", [1, 2])


def slow_sweeps(ensemble, gamma, hyper, order, sweeps):
    """Object by object; all copies of a row take the chances found for one of them, the others being left in."""
    times = ensemble.counts.astype(int)
    objects = np.repeat(ensemble.labels, times, axis=0)
    rows = np.repeat(np.arange(len(ensemble)), times)
    weights = (ensemble.weights / ensemble.weights.mean()).tolist()
    for _ in range(sweeps):
        for i in range(len(ensemble)):
            whole = gamma[rows]
            one = int(np.flatnonzero(rows == i)[0])
            gamma[i] = slow.collapsed_row(objects, weights, ensemble.sizes, whole, one, hyper, order)
    return gamma


@priors
@orders
@pytest.mark.parametrize("weighted", [False, True])
def test_sweeps_are_those_of_a_double_loop(prior, order, weighted):
    for seed in range(3):
        ensemble, rng = slow.random_table(seed, n=8, r=4, missing=0.3, weighted=weighted)
        hyper = Hyper(prior, 4, 1.4, 0.35)
        first = rng.dirichlet(np.ones(4), len(ensemble))
        done, gamma, expected = 0, first.copy(), first.copy()
        for sweeps in (1, 2, 5):
            for _ in range(sweeps - done):
                moments = moments_of(ensemble, gamma)
                before = gamma.copy()
                moved, entropy = sweep(ensemble, gamma, np.ones(4), moments, hyper, order)
            slow_sweeps(ensemble, expected, hyper, order, sweeps - done)
            done = sweeps
            assert np.allclose(gamma, expected, atol=1e-10)
        assert moved == pytest.approx((ensemble.counts[:, None] * abs(gamma - before)).sum())
        assert entropy == pytest.approx(-(ensemble.counts[:, None] * gamma * np.log(gamma)).sum())
        for kept, anew in zip(moments, moments_of(ensemble, gamma), strict=True):
            assert np.allclose(kept, anew, atol=1e-10)


def slow_soft_row(ensemble, gamma, i, hyper, order):
    """(K,) the chances of one object of row i given all others, object by object; every count from scratch."""
    times = np.repeat(np.arange(len(ensemble)), ensemble.counts.astype(int))
    others = np.delete(times, int(np.flatnonzero(times == i)[0]))
    scores = np.zeros(gamma.shape[1])
    for c in range(gamma.shape[1]):
        lonely = np.full((len(times), 1), -1)  # the prior alone: no label is known
        place = int(np.flatnonzero(times == i)[0])
        scores[c] = math.log(slow.collapsed_row(lonely, [1.0], [1], gamma[times], place, hyper, order)[c])
        for j, weight, shares in slow.known_labels(ensemble, i):
            block = ensemble.block(j)
            known = [gamma[o, c] for o in others if block[o].any()]
            scores[c] -= gain(len(block[0]) * hyper.beta, weight, weight, known, [1.0] * len(known), order)
            for label, share in shares:
                held = [float(block[o, label]) for o in others]
                scores[c] += gain(hyper.beta, weight, weight * share, [gamma[o, c] for o in others], held, order)
    found = np.exp(scores - scores.max())
    return found / found.sum()


def gain(prior, weight, step, chances, shares, order):
    """E [ln Gamma(X + step) - ln Gamma(X)], X = prior + weight times the sum of shares of those that are there."""
    x = prior + weight * sum(p * s for p, s in zip(chances, shares, strict=True))
    variance = weight**2 * sum(p * (1 - p) * s**2 for p, s in zip(chances, shares, strict=True))
    bend = float(polygamma(1, x + step) - polygamma(1, x)) if order == 2 else 0.0
    return math.lgamma(x + step) - math.lgamma(x) + variance / 2 * bend


@priors
@orders
@pytest.mark.parametrize("weighted", [False, True])
def test_sweeps_of_memberships_are_those_of_a_double_loop(prior, order, weighted):
    ensemble, rng = slow.random_table(1, n=7, r=3, missing=0.3, weighted=weighted, soft=True)
    hyper = Hyper(prior, 3, 1.4, 0.35)
    gamma = rng.dirichlet(np.ones(3), len(ensemble))
    expected = gamma.copy()
    moments = moments_of(ensemble, gamma)
    for _ in range(2):
        before = gamma.copy()
        moved, entropy = sweep(ensemble, gamma, np.ones(3), moments, hyper, order)
        for i in range(len(ensemble)):
            expected[i] = slow_soft_row(ensemble, expected, i, hyper, order)
        assert np.allclose(gamma, expected, atol=1e-10)
    assert moved == pytest.approx((ensemble.counts[:, None] * abs(gamma - before)).sum())
    assert entropy == pytest.approx(-(ensemble.counts[:, None] * gamma * np.log(gamma)).sum())
    for kept, anew in zip(moments, moments_of(ensemble, gamma), strict=True):
        assert np.allclose(kept, anew, atol=1e-10)


@priors
@orders
@pytest.mark.parametrize("weighted", [False, True])
def test_one_hot_rows_sweep_as_labels(prior, order, weighted):
    """The kernels of memberships themselves, to rounding; `fit` takes one-hot rows for labels."""
    hard, rng = slow.random_table(3, n=9, r=4, missing=0.3, weighted=weighted)
    copies = np.array([1.0, 1.0, 3.0]) if prior == "fsd" else np.ones(3)
    first = rng.dirichlet(np.ones(3), len(hard))
    found = []
    for ensemble in (hard, SoftEnsemble.from_hard(hard)):
        gamma = first.copy()
        for _ in range(3):
            moments = moments_of(ensemble, gamma)
            moved = sweep(ensemble, gamma, copies, moments, Hyper(prior, 5, 0.8, 0.4), order)
        found.append((gamma, moved, present(ensemble, gamma, copies, moments)))
    assert np.allclose(found[0][0], found[1][0], atol=1e-10) and found[0][1] == pytest.approx(found[1][1], rel=1e-8)
    for one, other in zip(found[0][2][:4], found[1][2][:4], strict=True):
        assert np.allclose(one.counts, other.counts) and np.allclose(one.weights, other.weights)


@priors
@pytest.mark.parametrize("compress", [True, False])
def test_one_hot_rows_give_exactly_the_result_of_labels(prior, compress):
    hard = noisy(n=60, r=6, k=3, noise=0.3, missing=0.15)
    results = [
        partita.consensus(table, "nbce-cvb", prior=prior, compress=compress)
        for table in (hard, SoftEnsemble.from_hard(hard))
    ]
    for name in ("labels", "membership", "trace"):
        assert np.array_equal(getattr(results[0], name), getattr(results[1], name), equal_nan=True)
    assert results[0].detail == results[1].detail
    assert np.array_equal(results[0].model.stacked, results[1].model.stacked)


def test_columns_that_are_alike_share_memberships_evenly():
    """Under fsd one column of three copies is three columns of one."""
    ensemble, rng = slow.random_table(4, n=8, soft=True)
    first = rng.dirichlet(np.ones(2), 8)
    wide = np.column_stack([first[:, 0], *[first[:, 1] / 3] * 3])
    hyper = Hyper("fsd", 4, 1.2, 0.3)
    for gamma, copies in ((first, np.array([1.0, 3.0])), (wide, np.ones(4))):
        one = gamma.copy()
        sweep(ensemble, one, copies, moments_of(ensemble, gamma), hyper, 2)
        if len(copies) == 2:
            narrow = one
    assert np.allclose(narrow[:, 0], one[:, 0], atol=1e-10) and np.allclose(narrow[:, 1], one[:, 1:].sum(axis=1))


@priors
def test_memberships_say_more_than_their_hardest_labels(prior):
    """Clear labels in half of the cells and even ones in the others: planted clusters come out."""
    rng = np.random.default_rng(0)
    truth = rng.permutation(np.arange(90) % 3)
    blocks = []
    for _ in range(8):
        sure = rng.random(90) < 0.5
        block = np.where(sure[:, None], 0.94 * np.eye(3)[truth] + 0.02, 1 / 3 + 0.01 * rng.random((90, 3)))
        block /= block.sum(axis=1, keepdims=True)
        block[rng.random(90) < 0.1] = np.nan
        blocks.append(block)
    soft = SoftEnsemble.from_memberships([*blocks, truth], weights=[1] * 8 + [0.5])
    result = partita.consensus(soft, "nbce-cvb", prior=prior)
    assert result.k >= 3 and partita.evaluate(result, truth=truth)["nmi"] > 0.9
    assert np.array_equal(result.predict(soft), result.labels) and np.isfinite(result.trace).all()


@priors
def test_moments_are_means_and_variances_of_counts(prior):
    ensemble, rng = slow.random_table(2, n=7)
    gamma = rng.dirichlet(np.ones(3), 7)
    tables, totals, sizes, tails = moments_of(ensemble, gamma)
    times = np.repeat(np.arange(7), ensemble.counts.astype(int))

    def check(found, chances):
        mean, variance = slow.moments(chances)
        assert found[0] == pytest.approx(mean) and found[0] - found[1] == pytest.approx(variance)

    for c in range(3):
        check(sizes[:, c], gamma[times, c])
        check(tails[:, c], gamma[times, c:].sum(axis=1))
        for j in range(len(ensemble.sizes)):
            known = times[ensemble.labels[times, j] >= 0]
            check(totals[:, j, c], gamma[known, c])
            for label in range(ensemble.sizes[j]):
                same = times[ensemble.labels[times, j] == label]
                check(tables[:, ensemble.offsets[j] + label, c], gamma[same, c])


@orders
@given(seed=seeds)
def test_one_column_stands_exactly_for_components_that_are_alike(order, seed):
    """Under fsd: three components with the same chances, or one column for all of them."""
    ensemble, rng = slow.random_table(seed, n=10, weighted=bool(seed % 2))
    hyper = Hyper("fsd", 5, 1.1, 0.6)
    pooled = rng.dirichlet(np.ones(3), 10)
    copies = np.array([1.0, 1.0, 3.0])
    apart = spread_gamma(pooled, copies, 5)
    for _ in range(4):
        one = sweep(ensemble, pooled, copies, moments_of(ensemble, pooled), hyper, order)
        many = sweep(ensemble, apart, np.ones(5), moments_of(ensemble, apart), hyper, order)
        assert np.allclose(spread_gamma(pooled, copies, 5), apart, atol=1e-9)
        assert one == pytest.approx(many, abs=1e-8)


def test_components_beyond_the_last_column_hold_nothing():
    """Under tsb: empty components at the end change nothing, but that the last column is then not the last stick."""
    ensemble, rng = slow.random_table(4, n=8)
    gamma = rng.dirichlet(np.ones(2), 8)
    few, many = gamma.copy(), np.pad(gamma, ((0, 0), (0, 1)))
    hyper = Hyper("tsb", 6, 1.0, 0.5)
    sweep(ensemble, few, np.ones(2), moments_of(ensemble, few), hyper, 2)
    sweep(ensemble, many, np.ones(3), moments_of(ensemble, many), hyper, 2)
    assert (many[:, 2] > 0).any()
    first = many[0, :2] / many[0, :2].sum()
    assert np.allclose(few[0], first)


def test_second_order_brings_expected_logarithms_closer():
    rng = np.random.default_rng(0)
    chances = rng.random(30)
    draws = (rng.random((200_000, 30)) < chances).sum(axis=1)
    mean, variance = chances.sum(), (chances * (1 - chances)).sum()
    exact = np.log(0.5 + draws).mean()
    assert abs(mean_log(0.5 + mean, variance, 1.0) - exact) < 0.2 * abs(mean_log(0.5 + mean, variance, 0.0) - exact)
    weighted = np.mean([math.lgamma(0.5 + 0.7 * (d + 1)) - math.lgamma(0.5 + 0.7 * d) for d in draws[:20_000]])
    found = [mean_rise(0.5 + 0.7 * mean, 0.7, variance, order) for order in (0.0, 1.0)]
    assert abs(found[1] - weighted) < 0.3 * abs(found[0] - weighted)
    assert mean_rise(3.2, 1.0, 0.4, 1.0) == pytest.approx(mean_log(3.2, 0.4, 1.0))


def test_trigamma():
    for x in 10 ** np.linspace(-4, 8, 60):
        assert trigamma(x) == pytest.approx(float(polygamma(1, x)), rel=1e-13)


@priors
@orders
@pytest.mark.parametrize(("missing", "weighted"), [(0.0, False), (0.3, False), (0.3, True)])
def test_the_collapsed_bound_at_the_solution_stays_below_the_evidence(prior, order, missing, weighted):
    """And above the bound that is told, which has pi and theta apart."""
    for seed in range(4):
        ensemble, rng = slow.random_table(seed, n=6, missing=missing, weighted=weighted)
        ensemble = ensemble.with_counts(np.ones(6))
        hyper = Hyper(prior, 3, 1.3, 0.6)
        params = Params(prior=prior, order=order, alpha=1.3, beta=0.6, learn_alpha=False, learn_beta=False)
        run = one_run(ensemble, params, hyper, begin(ensemble, hyper, "kmeans++", rng))
        exact = Exact(ensemble.labels, ensemble.sizes, 3, 1.3, 0.6, prior, unit_weights(ensemble))
        whole = spread_gamma(run.state.gamma, run.state.copies, 3)
        assert run.trace[-1] - 1e-9 <= exact.collapsed_bound(whole) <= exact.log_evidence
        assert exact.log_evidence - exact.collapsed_bound(whole) < 4


@priors
def test_the_trace_is_the_variational_bound(prior):
    """Of q(Z) = gamma with the best q(pi) and q(theta), term by term."""
    ensemble, rng = slow.random_table(6, n=9)
    hyper = Hyper(prior, 3, 0.8, 0.9)
    run = one_run(
        ensemble,
        Params(learn_alpha=False, learn_beta=False, max_iter=3, tol=0.0),
        hyper,
        begin(ensemble, hyper, "random", rng),
    )
    gamma = spread_gamma(run.state.gamma, run.state.copies, 3)
    sizes, tables = slow.counts_of(ensemble, gamma)
    parameters, rho = slow.share_parameters(sizes, 0.8, prior), [0.9 + table for table in tables]
    expected = slow.whole_bound(ensemble, parameters, rho, gamma, 0.8, 0.9, prior)
    assert run.trace[-1] == pytest.approx(expected, abs=1e-9 * abs(expected))


@priors
def test_concentrations_are_fitted_to_the_expected_log_joint(prior):
    """Against the log joint of every assignment, weighted by its chance: the counts if there are any, and whether."""
    ensemble, rng = slow.random_table(8, n=5, k=2, r=2, weighted=False)
    gamma = rng.dirichlet([0.3, 0.2, 0.1], 5)
    exact = [Exact(ensemble.labels, ensemble.sizes, 3, alpha, 0.3, prior) for alpha in (0.05, 0.3)]
    chances = [float(np.prod([gamma[i, c] for i, c in enumerate(z)])) for z in exact[0].assignments]
    expected = np.diff([chances @ one.log_joints for one in exact])[0]
    found = present(ensemble, gamma, np.ones(3), moments_of(ensemble, gamma))
    parts = alpha_parts(found, Hyper(prior, 3, 1.0, 1.0))
    assert height(parts, 0.3) - height(parts, 0.05) == pytest.approx(expected, abs=0.1)
    exact = [Exact(ensemble.labels, ensemble.sizes, 3, 0.5, beta, prior) for beta in (0.05, 0.3)]
    expected = np.diff([chances @ one.log_joints for one in exact])[0]
    parts = beta_parts(found, ensemble.offsets)
    assert height(parts, 0.3) - height(parts, 0.05) == pytest.approx(expected, abs=0.3)


def test_presence_is_the_chance_of_any_count():
    ensemble, rng = slow.random_table(2, n=7)
    gamma = rng.dirichlet(np.ones(2), 7)
    gamma[0] = [1.0, 0.0]
    copies = np.array([1.0, 4.0])
    found = present(ensemble, gamma, copies, moments_of(ensemble, gamma))
    times = np.repeat(np.arange(7), ensemble.counts.astype(int))
    weights = ensemble.weights / ensemble.weights.mean()

    def check(terms, place, chances, weight, copies):
        some = 1 - np.prod([1 - p / copies for p in chances])
        assert terms.weights[place] == pytest.approx(copies * some)
        assert terms.counts[place] == pytest.approx(weight * sum(chances) / copies / some if some else 0.0)

    for c in range(2):
        check(found.sizes, c, gamma[times, c], 1.0, copies[c])
        for j in range(len(ensemble.sizes)):
            known = times[ensemble.labels[times, j] >= 0]
            check(found.known, (j, c), gamma[known, c], weights[j], copies[c])
            for label in range(ensemble.sizes[j]):
                same = times[ensemble.labels[times, j] == label]
                check(found.labels, (ensemble.offsets[j] + label, c), gamma[same, c], weights[j], copies[c])
    check(found.tails, 1, gamma[times, 1], 1.0, 1.0)
    assert found.tails.weights[0] == 1 and found.tails.counts[0] == found.objects == len(times)


@priors
def test_learning_raises_what_it_is_fitted_to(prior):
    ensemble = prepare(noisy(n=60, r=5, k=3, noise=0.4)).ensemble
    hyper = Hyper(prior, 10, 5.0, 3.0)
    first = begin(ensemble, hyper, "kmeans++", np.random.default_rng(0))
    state = one_run(ensemble, Params(learn_alpha=False, learn_beta=False, max_iter=5), hyper, first).state
    fitted = step(ensemble, 2, True, state)[0].hyper
    found = present(ensemble, state.gamma, state.copies, moments_of(ensemble, state.gamma))
    for parts, name in ((alpha_parts(found, hyper), "alpha"), (beta_parts(found, ensemble.offsets), "beta")):
        assert height(parts, getattr(fitted, name)) > height(parts, getattr(hyper, name))


@priors
@orders
def test_results_tell_clusters_and_perplexity(prior, order):
    ensemble = noisy(n=80, r=6, k=3, noise=0.3, missing=0.15)
    result = partita.consensus(ensemble, "nbce-cvb", prior=prior, order=order)
    assert result.k == result.detail["clusters found"] and result.converged
    assert result.k == 3 if order == 2 else 3 <= result.k <= 6  # to first order small clusters stay
    assert sorted(result.sizes)[-3] > 15
    assert result.detail["training perplexity"] == pytest.approx(result.perplexity(ensemble))
    assert result.detail["training perplexity"] < result.detail["perplexity of the bound"]
    if order == 2:
        assert (result.predict(ensemble) == result.labels).mean() > 0.95


def test_rows_that_stand_for_part_of_an_object():
    """Counts below 1 leave out no more than there is."""
    ensemble = noisy(n=30, r=4, k=3).with_counts(np.full(30, 0.5))
    result = partita.consensus(ensemble, "nbce-cvb")
    assert np.isfinite(result.trace).all() and np.isfinite(result.membership).all()


def test_copies_of_a_row_share_its_chances():
    labels = np.repeat([[0, 0, 0], [1, 1, 1], [0, 1, 0]], [5, 5, 1], axis=0)
    whole = partita.consensus(Ensemble.from_labels(labels), "nbce-cvb", compress=False)
    assert np.array_equal(whole.membership, partita.consensus(Ensemble.from_labels(labels), "nbce-cvb").membership)
