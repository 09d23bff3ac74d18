"""BCE-VB against double loops, its bound against its definition and against the exact likelihood of tiny tables."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize, root
from scipy.special import digamma as exact_digamma
from scipy.special import gammaln, polygamma

import partita
from partita import Ensemble, SoftEnsemble
from partita.core import threads
from partita.core.counting import unit_weights
from partita.core.dirichlet import Bce, Inner, add_sums, expect, infer, leaning_gamma
from partita.core.errors import ParameterError
from partita.core.prepare import prepare
from partita.core.threads import thread_limit
from partita.kernels.dirichlet import digamma
from partita.metrics import nmi
from partita.models.bce import HIGHEST, LOWEST, at_site, concentration, evidence, update
from partita.models.bce_vb import Params, one_run, state_of
from tests.core.oracles import steady
from tests.samples import noisy, noisy_labels, noisy_soft

seeds = st.integers(0, 2**32 - 1)


def run_from(ensemble, k, params, labels):
    """Variational EM from the labels of a start."""
    return one_run(ensemble, params, state_of(ensemble, k, params, labels))


def table(seed, n=14, r=4, k=3, missing=0.3, soft=False):
    """A random ensemble with gaps, weights and counts, each row and label known somewhere."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, k, size=(n, r))
    labels[rng.random((n, r)) < missing] = -1
    labels[(labels == -1).all(axis=1), 0] = 0
    labels[:k] = np.arange(k)[:, None]
    weights, counts = rng.random(r) + 0.1, rng.integers(1, 6, n)
    if not soft:
        return Ensemble.from_labels(labels, missing=-1, weights=weights).with_counts(counts), rng
    blocks = []
    for column in labels.T:
        block = rng.dirichlet(np.full(k, 0.3), n)
        block[block < 0.05] = 0.0
        block /= block.sum(axis=1, keepdims=True)
        block[column == -1] = np.nan
        blocks.append(block)
    return SoftEnsemble.from_memberships(blocks, weights=weights).with_counts(counts), rng


# The slow version: one object, one clustering, one cluster at a time.


def known_labels(ensemble, i):
    """(clustering, weight, [(label, share), ...]) of every clustering in which object i is known."""
    weights = ensemble.weights / ensemble.weights.mean()
    found = []
    for j in range(len(ensemble.sizes)):
        if isinstance(ensemble, Ensemble):
            shares = [(int(ensemble.labels[i, j]), 1.0)] if ensemble.labels[i, j] >= 0 else []
        else:
            shares = [(label, share) for label, share in enumerate(ensemble.block(j)[i]) if share > 0]
        if shares:
            found.append((j, weights[j], shares))
    return found


def slow_row(alpha, beta, gamma, known, tol, most):
    """phi and gamma in turn; beta[j] is (k, labels). Returns gamma before and after the last step, and phi."""
    k = len(alpha)
    for _ in range(most):
        before, phi = gamma, []
        for j, _, shares in known:
            scores = []
            for h in range(k):
                expected = 0.0
                for label, share in shares:
                    expected += share * (math.log(beta[j][h, label]) if beta[j][h, label] > 0 else -1e8)
                scores.append(exact_digamma(gamma[h]) + expected)
            chances = [math.exp(score - max(scores)) for score in scores]
            phi.append([chance / sum(chances) for chance in chances])
        gamma = np.array(
            [alpha[h] + sum(weight * phi[a][h] for a, (_, weight, _) in enumerate(known)) for h in range(k)]
        )
        if max(abs(gamma - before)) <= tol:
            break
    return gamma, phi


def slow_bound(alpha, beta, gamma, phi, known):
    """All terms of E_q[log p(theta, z, y)] + H(q) for one object, the label terms times their weights."""
    k = len(alpha)
    log_theta = [exact_digamma(gamma[h]) - exact_digamma(sum(gamma)) for h in range(k)]
    bound = gammaln(sum(alpha)) - sum(gammaln(a) for a in alpha) + sum((alpha[h] - 1) * log_theta[h] for h in range(k))
    for (j, weight, shares), row in zip(known, phi, strict=True):
        for h in range(k):
            if row[h] > 0:
                said = sum(share * math.log(max(beta[j][h, label], 1e-320)) for label, share in shares)
                bound += weight * row[h] * (log_theta[h] + said - math.log(row[h]))
    return (
        bound
        - gammaln(sum(gamma))
        + sum(gammaln(g) for g in gamma)
        - sum((gamma[h] - 1) * log_theta[h] for h in range(k))
    )


def slow_alpha(alpha, pulls, objects):
    """The best alpha in its range by a general optimiser, then to the last digit by a general root finder."""

    def gradient(x):
        return exact_digamma(x.sum()) - exact_digamma(x) + pulls / objects

    def hessian(x):
        return polygamma(1, x.sum()) - np.diag(polygamma(1, x))

    def fall(logs):
        x = np.exp(logs)
        return -evidence(x, pulls, objects), -gradient(x) * x

    limits = [(math.log(LOWEST), math.log(HIGHEST))] * len(alpha)
    options = {"ftol": 1e-15, "gtol": 1e-12, "maxiter": 10_000}
    rough = np.exp(minimize(fall, np.zeros(len(alpha)), jac=True, bounds=limits, options=options).x)
    inside = (rough > LOWEST * (1 + 1e-6)) & (rough < HIGHEST * (1 - 1e-6))
    rough = np.where(inside, rough, np.clip(rough.round(8), LOWEST, HIGHEST))
    if not inside.any():
        return rough

    def whole(part):
        x = rough.copy()
        x[inside] = part
        return x

    found = root(
        lambda part: gradient(whole(part))[inside],
        rough[inside],
        jac=lambda part: hessian(whole(part))[np.ix_(inside, inside)],
        tol=1e-15,
    )
    return whole(found.x)


def slow_shares(counts):
    """(k, labels) counts as distributions, even where there are none."""
    return np.array([row / row.sum() if row.sum() > 0 else np.full(len(row), 1 / len(row)) for row in counts])


def slow_start(ensemble, labels, alpha):
    """beta of responsibilities 0.9 on the given cluster, and the gamma that goes with them."""
    n, k = len(ensemble), len(alpha)
    resp = np.full((n, k), 0.1 / (k - 1))
    resp[np.arange(n), labels] = 0.9
    beta = [np.zeros((k, size)) for size in ensemble.sizes]
    gamma = np.zeros((n, k))
    for i in range(n):
        gamma[i] = alpha
        for j, weight, shares in known_labels(ensemble, i):
            gamma[i] += weight * resp[i]
            for label, share in shares:
                for h in range(k):
                    beta[j][h, label] += ensemble.counts[i] * share * resp[i, h]
    return [slow_shares(counts) for counts in beta], gamma


def slow_em(ensemble, labels, k, params, iterations):
    """The whole method in loops; returns alpha and beta of the last pass, gamma after it, and the trace."""
    alpha = np.full(k, params.alpha)
    beta, gamma = slow_start(ensemble, labels, alpha)
    expected, pulls, trace = [], np.zeros(k), []
    for iteration in range(iterations):
        if iteration:
            beta = [slow_shares(counts + params.smoothing) for counts in expected]
            alpha = slow_alpha(alpha, pulls, ensemble.counts.sum()) if params.learn_alpha else alpha
        expected = [np.zeros((k, size)) for size in ensemble.sizes]
        pulls, bound = np.zeros(k), 0.0
        for i in range(len(ensemble)):
            known = known_labels(ensemble, i)
            gamma[i], phi = slow_row(alpha, beta, gamma[i], known, params.inner_tol, params.max_inner)
            bound += ensemble.counts[i] * slow_bound(alpha, beta, gamma[i], phi, known)
            pulls += ensemble.counts[i] * (exact_digamma(gamma[i]) - exact_digamma(gamma[i].sum()))
            for a, (j, weight, shares) in enumerate(known):
                for label, share in shares:
                    for h in range(k):
                        expected[j][h, label] += ensemble.counts[i] * weight * share * phi[a][h]
        trace.append(bound)
    return alpha, np.concatenate(beta, axis=1).T, gamma, trace


@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("iterations", [1, 2, 5])
@pytest.mark.parametrize("learn", [False, True])
def test_equals_the_double_loop(soft, missing, iterations, learn):
    for seed in range(3):
        ensemble, rng = table(seed, soft=soft, missing=missing)
        labels = rng.integers(0, 3, len(ensemble)).astype(np.int32)
        params = Params(alpha=0.7, learn_alpha=learn, tol=0.0, max_iter=iterations, inner_tol=1e-4, max_inner=30)
        run = run_from(ensemble, 3, params, labels)
        alpha, beta, gamma, trace = slow_em(ensemble, labels, 3, params, iterations)
        assert np.allclose(run.state.params.alpha, alpha, rtol=1e-10, atol=1e-10)
        assert np.allclose(np.exp(run.state.params.log_probs), beta, rtol=0, atol=1e-10)
        assert np.allclose(run.state.gamma, gamma, rtol=0, atol=1e-9)
        assert run.trace == pytest.approx(trace, abs=1e-9)


def test_smoothing_equals_the_double_loop():
    ensemble, rng = table(5)
    labels = rng.integers(0, 3, len(ensemble)).astype(np.int32)
    params = Params(smoothing=0.5, tol=0.0, max_iter=2)
    run = run_from(ensemble, 3, params, labels)
    first = run_from(ensemble, 3, Params(smoothing=0.5, tol=0.0, max_iter=1), labels).state
    counts = np.split(first.sums.labels.T, ensemble.offsets[1:-1], axis=1)
    beta = np.concatenate([slow_shares(block + 0.5) for block in counts], axis=1).T
    assert np.allclose(np.exp(run.state.params.log_probs), beta, atol=1e-12)
    assert run.trace[-1] == pytest.approx(run.state.sums.bound + 0.5 * run.state.params.log_probs.sum(), abs=1e-9)


def exact_log_likelihood(alpha, beta, known):
    """ln of the integral over theta of Dirichlet(theta) times the product of sum_h theta_h beta_hj(y_j).

    The integrand is a polynomial in theta: its coefficients, by how many labels come from each cluster, are built label
    by label, and each monomial has a known mean.
    """
    k = len(alpha)
    ways = {(0,) * k: 1.0}
    for j, _, ((label, _),) in known:
        more: dict = {}
        for counts, chance in ways.items():
            for h in range(k):
                key = (*counts[:h], counts[h] + 1, *counts[h + 1 :])
                more[key] = more.get(key, 0.0) + chance * beta[j][h, label]
        ways = more
    total = 0.0
    for counts, chance in ways.items():
        mean = gammaln(sum(alpha)) - gammaln(sum(alpha) + sum(counts))
        mean += sum(gammaln(a + c) - gammaln(a) for a, c in zip(alpha, counts, strict=True))
        total += chance * math.exp(mean)
    return math.log(total)


@steady
@given(seeds, st.integers(2, 4), st.sampled_from([0.0, 0.3]))
def test_bound_is_below_the_exact_likelihood(seed, k, missing):
    ensemble, rng = table(seed, n=6, r=5, missing=missing)
    ensemble = Ensemble.from_labels(ensemble.labels, missing=-1, transpose=False)
    labels = rng.integers(0, k, 6).astype(np.int32)
    run = run_from(ensemble, k, Params(max_iter=int(rng.integers(1, 20)), alpha=float(rng.choice([0.1, 1, 5]))), labels)
    alpha, log_probs = run.state.params
    beta = np.split(np.exp(log_probs).T, ensemble.offsets[1:-1], axis=1)
    exact = [exact_log_likelihood(alpha, beta, known_labels(ensemble, i)) for i in range(6)]
    assert run.trace[-1] <= sum(exact) + 1e-9
    _, bounds = infer(run.state.params, ensemble, unit_weights(ensemble))
    assert (bounds <= np.array(exact) + 1e-9).all()


def test_one_cluster_makes_the_bound_exact():
    """With one cluster nothing is hidden: the bound is the weighted log-likelihood of the labels' frequencies."""
    ensemble, _ = table(3, missing=0.0)
    run = run_from(ensemble, 1, Params(), np.zeros(len(ensemble), np.int32))
    beta = np.split(np.exp(run.state.params.log_probs).T, ensemble.offsets[1:-1], axis=1)
    slow = sum(
        ensemble.counts[i] * sum(weight * math.log(beta[j][0, label]) for j, weight, ((label, _),) in known)
        for i in range(len(ensemble))
        for known in [known_labels(ensemble, i)]
    )
    assert run.trace[-1] == pytest.approx(slow, abs=1e-9) and run.converged


@steady
@given(seeds, st.integers(1, 6), st.booleans(), st.booleans(), st.sampled_from([1e-4, 0.01, 0.2, 1.0, 30.0]))
def test_bound_never_falls(seed, k, soft, learn, alpha):
    ensemble, rng = table(seed, soft=soft, n=20)
    labels = rng.integers(0, k, len(ensemble)).astype(np.int32)
    inner = {"inner_tol": float(rng.choice([1e-8, 1e-2, 1.0])), "max_inner": int(rng.choice([1, 3, 50]))}
    smoothing = float(rng.choice([0.0, 0.5]))
    settings = Params(alpha=alpha, learn_alpha=learn, smoothing=smoothing, tol=0.0, max_iter=40, **inner)
    run = run_from(ensemble, k, settings, labels)
    trace = np.array(run.trace)
    assert np.isfinite(trace).all() and np.isfinite(run.state.gamma).all() and (run.state.gamma > 0).all()
    assert (np.diff(trace) >= -1e-9 * np.maximum(1, np.abs(trace[:-1]))).all()
    assert ((run.state.params.alpha >= LOWEST) & (run.state.params.alpha <= HIGHEST)).all()


@steady
@given(seeds, st.booleans())
def test_compression_changes_nothing(seed, soft):
    """Rows with multiplicities give what the repeated rows give, from the same start."""
    ensemble, rng = table(seed, soft=soft, n=8)
    labels = rng.integers(0, 3, 8).astype(np.int32)
    again = np.repeat(np.arange(8), ensemble.counts.astype(int))
    whole = ensemble.rows(again).with_counts(np.ones(len(again)))
    ours, theirs = (
        run_from(part, 3, Params(max_iter=30), start) for part, start in ((ensemble, labels), (whole, labels[again]))
    )
    assert ours.trace == pytest.approx(theirs.trace, rel=1e-10)
    assert np.allclose(ours.state.gamma[again], theirs.state.gamma, rtol=1e-10, atol=1e-10)
    assert np.allclose(ours.state.params.alpha, theirs.state.params.alpha, rtol=1e-10)


@pytest.mark.parametrize("soft", [False, True])
def test_sites_add_up_to_the_whole(soft):
    """Any division of the rows gives the sums of all, and so the next parameters."""
    ensemble, rng = table(1, soft=soft, n=40)
    labels = rng.integers(0, 3, 40).astype(np.int32)
    params = run_from(ensemble, 3, Params(max_iter=3), labels).state.params
    inner, alpha = Inner(1e-4, 20), params.alpha
    gamma = leaning_gamma(ensemble, unit_weights(ensemble), alpha, labels)
    parts = np.array_split(rng.permutation(40), 3)
    before = gamma.copy()
    sites = [at_site(params, ensemble.rows(rows), gamma[rows], inner)[1] for rows in parts]
    together, whole = add_sums(sites), at_site(params, ensemble, gamma, inner)[1]
    assert np.array_equal(gamma, before)
    for theirs, ours in zip(together, whole, strict=True):
        assert np.allclose(theirs, ours, rtol=1e-12)
    next_ones = [update(sums, params, ensemble.offsets, 0.0, True) for sums in (together, whole)]
    assert np.allclose(next_ones[0].alpha, next_ones[1].alpha, rtol=1e-10)
    assert np.allclose(next_ones[0].log_probs, next_ones[1].log_probs, atol=1e-10)


@pytest.mark.parametrize("soft", [False, True])
def test_threads_change_no_bit(soft, monkeypatch):
    monkeypatch.setattr(threads, "CHUNK", 16)
    monkeypatch.setattr("partita.core.dirichlet.ROWS", 16)
    ensemble = prepare(noisy_soft(n=200) if soft else noisy(n=200, missing=0.2)).ensemble
    results = []
    for count in (1, 2):
        with thread_limit(count):
            results.append(partita.consensus(ensemble, "bce-vb", 3, threads=count))
    one, two = results
    assert one.trace == two.trace and np.array_equal(one.membership, two.membership)
    assert one.detail["alpha"] == two.detail["alpha"]


@steady
@given(seeds)
def test_one_hot_rows_are_hard_ones(seed):
    hard, rng = table(seed)
    labels = rng.integers(0, 3, len(hard)).astype(np.int32)
    ours, theirs = (
        run_from(ensemble, 3, Params(max_iter=8), labels) for ensemble in (hard, SoftEnsemble.from_hard(hard))
    )
    assert ours.trace == pytest.approx(theirs.trace, rel=1e-12)
    assert np.allclose(ours.state.gamma, theirs.state.gamma, atol=1e-10)
    assert np.allclose(ours.state.params.alpha, theirs.state.params.alpha, rtol=1e-10)


def test_hiding_nothing_changes_nothing():
    labels, _ = noisy_labels(n=80, noise=0.4)
    plain, marked = (Ensemble.from_labels(labels, missing=missing) for missing in ((), -1))
    ours, theirs = (partita.consensus(ensemble, "bce-vb", 4) for ensemble in (plain, marked))
    assert ours.trace == theirs.trace and np.array_equal(ours.membership, theirs.membership)


def test_an_unknown_row_and_a_weightless_column_add_nothing():
    ensemble, _ = table(2, missing=0.0)
    params = Bce(np.array([0.4, 1.5]), np.log(np.full((int(ensemble.offsets[-1]), 2), 1 / 3)))
    hidden = ensemble.labels.copy()
    hidden[0] = -1
    gamma, bounds = infer(params, Ensemble.from_labels(hidden, missing=-1), np.ones(4))
    assert np.allclose(gamma[0], params.alpha) and bounds[0] == pytest.approx(0, abs=1e-12)
    for part in (ensemble, SoftEnsemble.from_hard(ensemble)):
        gamma, bounds = infer(params, part, np.array([1.0, 0.0, 1.0, 1.0]))
        assert np.allclose(gamma.sum(axis=1), 1.9 + 3) and np.isfinite(bounds).all()


def test_labels_impossible_in_a_cluster_give_no_nan():
    """A row whose labels no single cluster can give is shared among those that can give each."""
    log_probs = np.log([[1.0, 1e-320], [1e-320, 1.0], [1.0, 1e-320], [1e-320, 1.0]])
    log_probs[log_probs < -700] = -1e8
    ensemble = Ensemble.from_labels([[0, 0], [1, 1], [0, 1]])
    gamma, bounds = infer(Bce(np.full(2, LOWEST), log_probs), ensemble, np.ones(2))
    assert np.allclose(gamma - LOWEST, [[2, 0], [0, 2], [1, 1]]) and np.isfinite(bounds).all()


@pytest.mark.parametrize("scale", [1e-250, 1e-30, 1.0])
def test_many_labels_of_tiny_chance_do_not_underflow(scale):
    labels = np.tile(np.arange(2)[:, None], (1, 400))
    tables = np.log(np.where(np.arange(800)[:, None] % 2 == np.arange(2), 0.5, 0.25)) + math.log(scale)
    gamma, bounds = infer(Bce(np.ones(2), tables), Ensemble.from_labels(labels, transpose=False), np.ones(400))
    assert np.isfinite(gamma).all() and np.isfinite(bounds).all()
    assert np.allclose(gamma, gamma[::-1, ::-1]) and (gamma.argmax(axis=1) == [0, 1]).all()


def test_digamma():
    x = np.concatenate([np.logspace(-8, 8, 4001), np.linspace(0.5, 12, 2001)])
    ours, theirs = np.array([digamma(value) for value in x]), exact_digamma(x)
    assert (np.abs(ours - theirs) <= 1e-13 * np.maximum(1, np.abs(theirs))).all()


@steady
@given(
    seeds, st.integers(2, 8), st.sampled_from([LOWEST, 0.3, 20.0, HIGHEST]), st.sampled_from([0.02, 0.5, 3.0, 200.0])
)
def test_newton_finds_the_best_alpha(seed, k, start, size):
    rng = np.random.default_rng(seed)
    truth = size * (0.2 + rng.random(k))
    drawn = np.log(np.maximum(rng.dirichlet(truth, 30), 1e-200))
    pulls, first = drawn.sum(axis=0), np.full(k, start)
    found, slow = concentration(first, pulls, 30.0), slow_alpha(first, pulls, 30.0)
    assert ((found >= LOWEST) & (found <= HIGHEST)).all()
    assert evidence(found, pulls, 30.0) >= max(evidence(slow, pulls, 30.0), evidence(first, pulls, 30.0)) - 1e-11
    gradient = exact_digamma(found.sum()) - exact_digamma(found) + pulls / 30
    low, high = found <= LOWEST, found >= HIGHEST
    assert (gradient[low] <= 1e-9).all() and (gradient[high] >= -1e-9).all()
    assert (np.abs(gradient[~low & ~high]) <= 1e-9).all()


def test_newton_from_mixed_extremes():
    for first in itertools.product([LOWEST, 1.0, HIGHEST], repeat=3):
        found = concentration(np.array(first), np.array([-30.0, -60.0, -45.0]), 20.0)
        assert np.allclose(found, concentration(np.ones(3), np.array([-30.0, -60.0, -45.0]), 20.0), rtol=1e-9)
    assert concentration(np.array([2.0]), np.zeros(1), 5.0).tolist() == [2.0]


def test_result_tells_what_it_found():
    labels, truth = noisy_labels(n=100, noise=0.3)
    result = partita.consensus(labels, "bce-vb", 4, restarts=3, init="base", seed=1)
    assert result.detail["objective"] == max(result.detail["restart objectives"]) == result.trace[-1]
    assert len(result.detail["alpha"]) == 4 and result.detail["free parameters"] == 4 + 4 * 7 * 3
    assert result.converged and nmi(result.labels, truth) > 0.9
    kept = partita.consensus(labels, "bce-vb", 4, alpha=0.5, learn_alpha=False)
    assert kept.detail["alpha"] == (0.5,) * 4
    short = partita.consensus(labels, "bce-vb", 4, max_iter=2)
    assert short.converged is False and any("max_iter" in note for note in short.notes)


@pytest.mark.parametrize("seed", range(4))
def test_alpha_is_in_the_order_of_the_clusters(seed):
    """At the solution the derivative of the bound by alpha is 0, given the memberships: nearly so for the alpha in the
    order of the memberships, and not for any other order."""
    rng = np.random.default_rng(seed)
    truth = rng.permutation(np.repeat(np.arange(4), [60, 25, 10, 5]))
    flips = rng.random((100, 8)) < 0.3
    ensemble = Ensemble.from_labels(np.where(flips, rng.integers(4, size=(100, 8)), truth[:, None]), transpose=False)
    result = partita.consensus(ensemble, "bce-vb", 4, tol=1e-13, inner_tol=1e-9, max_iter=3000, seed=seed)
    alpha = np.array(result.detail["alpha"])
    assert np.ptp(alpha) > 0.01 and (alpha > LOWEST).all()
    gamma = result.membership * (alpha.sum() + 8)
    pulls = (exact_digamma(gamma) - exact_digamma(gamma.sum(axis=1, keepdims=True))).mean(axis=0)

    def steepness(order):
        return np.abs((exact_digamma(alpha.sum()) - exact_digamma(alpha[order]) + pulls) * alpha[order]).max()

    orders = [np.array(order) for order in itertools.permutations(range(4))]
    best = sorted(orders, key=steepness)[:2]
    assert best[0].tolist() == [0, 1, 2, 3] and steepness(best[0]) < 0.02 < steepness(best[1])
    assert np.array_equal(alpha, result.model.bias)


def test_renumbering_permutes_alpha(tmp_path):
    labels, _ = noisy_labels(n=80, k=4, noise=0.4)
    result = partita.consensus(labels, "bce-vb", 4)
    result.save(tmp_path / "result.partita")
    for one in (result, partita.load(tmp_path / "result.partita")):
        for renumbered in (one.number_by_size(), one.match_to(3 - one.labels)):
            assert renumbered.detail["alpha"] == tuple(renumbered.model.bias.tolist())
        assert one.match_to(3 - one.labels).detail["alpha"] == result.detail["alpha"][::-1]


def test_polishing_keeps_alpha_with_its_cluster():
    """Numbers of clusters change where polishing moves the first objects of the table."""
    changed = 0
    for seed in range(40):
        labels, _ = noisy_labels(n=40, r=5, k=4, noise=0.45, seed=seed)
        plain = partita.consensus(labels, "bce-vb", 4, max_iter=30)
        polished = partita.polish(labels, plain)
        kept = polished.detail["before polish"]["alpha"]
        pairs = np.zeros((4, 4))
        np.add.at(pairs, (plain.labels, polished.labels), 1)
        number = pairs.argmax(axis=1)  # most objects stay in their cluster
        if len(set(number.tolist())) == 4:
            changed += not np.array_equal(number, np.arange(4))
            assert [kept[c] for c in number] == list(plain.detail["alpha"])
    assert changed >= 3


def test_a_noise_free_table_reaches_a_small_alpha():
    """-137.98 with the floor 0.01, -132.07 with 1e-4; above the log-likelihood -120 log 3 no bound can be."""
    assert LOWEST == 1e-4
    table = np.stack([np.arange(120) % 3] * 8, axis=1)
    result = partita.consensus(Ensemble.from_labels(table, transpose=False), "bce-vb", 3)
    assert -132.441 <= result.detail["bound"] < -120 * math.log(3)
    assert max(result.detail["alpha"]) < 0.001


def test_labels_that_only_clusters_of_tiny_gamma_give():
    """psi(1e-4) is -10^4: the mass of such a label underflows, and its phi comes from logarithms. Against the loops."""
    log_probs = np.log([[1.0, 1e-320, 1e-320], [1e-320, 0.7, 0.3], [0.5, 0.5, 0.5], [0.5, 0.5, 0.5]])
    log_probs[log_probs < -700] = -1e8
    alpha, weights = np.full(3, LOWEST), np.array([2e-5, 2 - 2e-5])
    ensemble = Ensemble.from_labels([[0, 0], [1, 1], [1, None], [0, None]], weights=weights)
    beta = [np.exp(log_probs[:2].T), np.exp(log_probs[2:].T)]
    for part in (ensemble, SoftEnsemble.from_hard(ensemble)):
        start = np.array([[1e-4, 2.0, 1e-4]] * 3 + [[1e-4, 1.9, 1e-4]])
        for most in (1, 2):
            gamma, bounds = start.copy(), np.empty(4)
            sums = expect(Bce(alpha, log_probs), part, weights, gamma, bounds, Inner(0.0, most))
            for i in range(4):
                known = known_labels(ensemble, i)
                slow, phi = slow_row(alpha, beta, start[i], known, 0.0, most)
                assert np.allclose(gamma[i], slow, rtol=1e-10, atol=1e-16)
                assert bounds[i] == pytest.approx(slow_bound(alpha, beta, slow, phi, known), rel=1e-9)
            assert np.isfinite(bounds).all() and sums.labels.sum() == pytest.approx(2 * weights[1] + 4 * weights[0])
        assert gamma[0, 0] == pytest.approx(LOWEST + 2e-5) and gamma[3, 0] == pytest.approx(LOWEST + 2e-5)


@pytest.mark.parametrize(("noise", "least"), [(0.25, 0.985), (0.5, 0.85)])
def test_sees_through_noise(noise, least):
    scores = []
    for seed in range(10):
        labels, truth = noisy_labels(n=400, r=8, k=10, noise=noise, seed=seed)
        scores.append(nmi(partita.consensus(labels, "bce-vb", 10).labels, truth))
    assert np.mean(scores) >= least


def test_the_bound_is_told_without_the_prior():
    """`select_k` compares bounds over k, so what smoothing adds to the objective is left out."""
    result = partita.consensus(noisy(n=80), "bce-vb", 3, smoothing=1.0)
    tables = np.concatenate(result.model.tables, axis=1)
    assert result.detail["objective"] == pytest.approx(result.detail["bound"] + tables.sum(), abs=1e-8)


@pytest.mark.parametrize("share", [1e-12, 1e-6, 0.5])
def test_a_soft_row_that_every_cluster_excludes_is_impossible(share):
    columns = np.repeat([0, 1], 10)
    result = partita.consensus(np.stack([columns] * 3, axis=1), "bce-vb", 2)
    assert result.log_likelihood(SoftEnsemble.from_memberships([[[1.0, 0.0]]] * 3)) > -10
    with pytest.warns(partita.PartitaWarning, match="smoothing"):
        assert result.log_likelihood(SoftEnsemble.from_memberships([[[1 - share, share]]] * 3)) == -np.inf


def test_placing_reaches_the_bound_of_the_fit():
    """A row's own two starts find what the fit found, also where k is too large and an even start is a poor one."""
    for seed in range(4):
        labels, _ = noisy_labels(n=100, r=8, k=3, noise=0.35, seed=seed)
        result = partita.consensus(labels, "bce-vb", 5)
        assert result.log_likelihood(labels) >= result.detail["bound"] - 0.01 * abs(result.detail["bound"])


def test_labels_that_never_occur_are_no_parameters():
    hard = noisy(n=40)
    wide = SoftEnsemble.from_memberships(
        [np.pad(SoftEnsemble.from_hard(hard).block(j), ((0, 0), (0, 3))) for j in range(7)]
    )
    for method in ("mm", "bce-vb"):
        counted = [partita.consensus(table, method, 3).detail["free parameters"] for table in (hard, wide)]
        assert counted[0] == counted[1]


def test_a_concentration_that_is_not_fitted_is_no_free_parameter():
    fitted, kept = (partita.consensus(noisy(), "bce-vb", 3, learn_alpha=learn) for learn in (True, False))
    assert fitted.detail["free parameters"] == 3 + 3 * 7 * 3 and kept.detail["free parameters"] == 3 * 7 * 3


def test_smoothing_has_a_limit():
    with pytest.raises(ParameterError, match=r"smoothing=1e\+100 is out of range; give float >= 0 and <= 1000000"):
        partita.consensus(noisy(), "bce-vb", 3, smoothing=1e100)
    assert np.isfinite(partita.consensus(noisy(), "bce-vb", 3, smoothing=1e6).trace).all()
