"""NBCE-VB: its bound against its definition, against the exact evidence of tiny tables, and at its fixed point."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

import partita
from partita import Ensemble
from partita.core.counting import unit_weights
from partita.core.iterate import Interrupted
from partita.core.prepare import prepare
from partita.metrics import nmi
from partita.models import nbce_start, nbce_steps
from partita.models.mixture import memberships
from partita.models.nbce_bound import Columns, Hyper, expectations, log_joint, log_sizes, mean_shares
from partita.models.nbce_learn import (
    HIGHEST,
    LOWEST,
    alpha_parts,
    beta_parts,
    climbed,
    counted,
    height,
    learned,
    slopes,
)
from partita.models.nbce_result import folded, mean_mixture
from partita.models.nbce_start import begin, merged
from partita.models.nbce_steps import arranged, first_state, next_columns, passed, step, with_empty
from partita.models.nbce_vb import Params, one_run
from tests.models import nbce_slow as slow
from tests.models.nbce_oracle import Exact
from tests.samples import noisy, noisy_labels

seeds = st.integers(0, 2**32 - 1)
priors = pytest.mark.parametrize("prior", ["tsb", "fsd"])


def settled_run(ensemble, hyper, rng, learn=False, tol=0.0, max_iter=3000):
    """VB from a start, to where nothing moves any more."""
    params = Params(
        prior=hyper.prior,
        alpha=hyper.alpha,
        beta=hyper.beta,
        learn_alpha=learn,
        learn_beta=learn,
        tol=tol,
        max_iter=max_iter,
    )
    return one_run(ensemble, params, hyper, begin(ensemble, hyper, "kmeans++", rng))


def spread(columns, truncation):
    """Columns as one column for each of K components: copies apart, those beyond empty."""
    times = columns.copies.astype(int)
    sizes = np.repeat(columns.sizes / columns.copies, times)
    labels = np.repeat(columns.labels / columns.copies, times, axis=1)
    more = truncation - len(sizes)
    return np.pad(sizes, (0, more)), np.pad(labels, ((0, 0), (0, more)))


def spread_gamma(gamma, copies, truncation):
    """Chances of columns as chances of all K components."""
    whole = np.repeat(gamma / copies, copies.astype(int), axis=1)
    return np.pad(whole, ((0, 0), (0, truncation - whole.shape[1])))


def slow_posterior(ensemble, columns, hyper):
    """q(pi) and q(theta) of all K components, as the slow version has them."""
    sizes, labels = spread(columns, hyper.truncation)
    rho = [hyper.beta + block.T for block in np.split(labels, ensemble.offsets[1:-1], axis=0)]
    return slow.share_parameters(sizes, hyper.alpha, hyper.prior), rho


@priors
@pytest.mark.parametrize("soft", [False, True])
@given(seed=seeds)
def test_bound_and_assignments_are_those_of_the_definition(prior, soft, seed):
    ensemble, rng = slow.random_table(seed, soft=soft)
    hyper = Hyper(prior, 5, float(rng.uniform(0.2, 3)), float(rng.uniform(0.1, 2)))
    state = first_state(begin(ensemble, hyper, "random", rng), hyper)
    for learn in (False, False, True):
        state, height = step(ensemble, learn, state)
        parameters, rho = slow_posterior(ensemble, state.columns, state.hyper)
        gamma, _ = memberships(state.mixture, ensemble)
        whole = spread_gamma(gamma, state.columns.copies, 5)
        expected = slow.best_gamma(ensemble, parameters, rho, prior)
        expected[:, int(state.columns.copies.sum()) :] = 0.0  # components beyond hold nothing
        assert np.allclose(whole, expected / expected.sum(axis=1, keepdims=True), atol=1e-9)
        concentrations = (state.hyper.alpha, state.hyper.beta, prior)
        assert height == pytest.approx(
            slow.whole_bound(ensemble, parameters, rho, whole, *concentrations), abs=1e-9 * max(1, abs(height))
        )
        sizes, tables = slow.counts_of(ensemble, gamma)
        found = nbce_steps.columns_of(state.counts, ensemble)
        assert np.allclose(found.sizes, sizes) and np.allclose(found.labels.T, np.concatenate(tables, axis=1))


@priors
@pytest.mark.parametrize("learn", [False, True])
@pytest.mark.parametrize("soft", [False, True])
@given(seed=seeds)
def test_the_bound_never_falls(prior, learn, soft, seed):
    ensemble, rng = slow.random_table(seed, n=20, r=4, k=4, soft=soft)
    hyper = Hyper(prior, int(rng.integers(1, 12)), float(rng.uniform(0.1, 5)), float(rng.uniform(0.05, 3)))
    run = settled_run(ensemble, hyper, rng, learn, 1e-10, 300)
    assert (np.diff(run.trace) >= -1e-9 * np.maximum(1, np.abs(run.trace[:-1]))).all()


@priors
@pytest.mark.parametrize(("missing", "weighted"), [(0.0, False), (0.3, False), (0.3, True)])
def test_the_bound_stays_below_the_evidence(prior, missing, weighted):
    for seed in range(6):
        ensemble, rng = slow.random_table(seed, n=6, missing=missing, weighted=weighted)
        ensemble = ensemble.with_counts(np.ones(6))
        hyper = Hyper(prior, 3, 1.3, 0.6)
        run = settled_run(ensemble, hyper, rng, tol=1e-12)
        exact = Exact(ensemble.labels, ensemble.sizes, 3, 1.3, 0.6, prior, unit_weights(ensemble))
        assert max(run.trace) < exact.log_evidence
        gamma, _ = memberships(run.state.mixture, ensemble)
        whole = spread_gamma(gamma, run.state.columns.copies, 3)
        assert run.trace[-1] <= exact.collapsed_bound(whole) + 1e-9
        assert exact.log_evidence - run.trace[-1] < 6


@priors
def test_the_gradient_vanishes_at_the_fixed_point(prior):
    """Over logarithms of all parameters of q(pi) and q(theta), and over logits of all assignments."""
    for seed in range(3):
        ensemble, rng = slow.random_table(seed, n=6)
        hyper = Hyper(prior, 3, 0.9, 0.7)
        run = settled_run(ensemble, hyper, rng)
        state = passed(ensemble, next_columns(ensemble, run.state), hyper)
        parameters, rho = slow_posterior(ensemble, state.columns, hyper)
        gamma = spread_gamma(memberships(state.mixture, ensemble)[0], state.columns.copies, 3)
        parts = [parameters, *rho, np.maximum(gamma, 1e-300)]
        sizes = np.cumsum([part.size for part in parts])[:-1]

        def height(logs, parts=parts, sizes=sizes, ensemble=ensemble, hyper=hyper):
            values = [
                np.exp(piece).reshape(part.shape) for piece, part in zip(np.split(logs, sizes), parts, strict=True)
            ]
            chances = values[-1] / values[-1].sum(axis=1, keepdims=True)
            return slow.whole_bound(ensemble, values[0], values[1:-1], chances, hyper.alpha, hyper.beta, prior)

        at = np.log(np.concatenate([part.ravel() for part in parts]))
        top = height(at)
        assert top == pytest.approx(state.height, abs=1e-7)
        for place in range(len(at)):
            nudge = np.zeros(len(at))
            nudge[place] = 1e-4
            assert abs(height(at + nudge) - height(at - nudge)) / 2e-4 < 2e-5
            assert height(at + 100 * nudge) < top + 1e-9


@given(seed=seeds)
def test_one_column_stands_exactly_for_all_empty_components(seed):
    """Under fsd, empty components carried one by one, or as one column, give the same."""
    ensemble, rng = slow.random_table(seed, n=14)
    hyper = Hyper("fsd", 8, 2.0, 0.8)
    first = begin(ensemble, hyper._replace(truncation=3), "random", rng)
    empty = 8 - len(first.sizes)
    apart = Columns(
        np.append(first.sizes, np.zeros(empty)),
        np.column_stack([first.labels, np.zeros((len(first.labels), empty))]),
        np.ones(8),
    )
    pooled = with_empty(first, hyper)
    for _ in range(6):
        one, many = passed(ensemble, pooled, hyper), passed(ensemble, apart, hyper)
        assert one.height == pytest.approx(many.height, abs=1e-9 * abs(many.height))
        pooled = nbce_steps.columns_of(one.counts, ensemble, pooled.copies)
        apart = nbce_steps.columns_of(many.counts, ensemble)
        assert np.allclose(spread(pooled, 8)[0], apart.sizes) and np.allclose(spread(pooled, 8)[1], apart.labels)


@given(seed=seeds)
def test_arranging_never_lowers_the_log_joint_of_sizes(seed):
    rng = np.random.default_rng(seed)
    width = int(rng.integers(1, 7))
    hyper = Hyper("tsb", int(rng.integers(width, 8)), float(rng.uniform(0.1, 6)), 1.0)
    columns = Columns(rng.gamma(0.5, 10, width), rng.random((3, width)), np.ones(width))
    found = arranged(columns, hyper)
    assert log_sizes(found, hyper) >= log_sizes(columns, hyper) - 1e-7
    assert found.sizes.sum() == pytest.approx(columns.sizes.sum(), abs=1e-6)


def test_sticks_are_put_in_order_of_size():
    hyper = Hyper("tsb", 10, 1.0, 1.0)
    found = arranged(Columns(np.array([1.0, 0.0, 30.0, 5.0]), np.diag([1.0, 0.0, 30.0, 5.0]), np.ones(4)), hyper)
    assert found.sizes.tolist() == [30, 5, 1, 0] and found.labels.sum(axis=0).tolist() == [30, 5, 1, 0]


@priors
def test_whole_counts_have_the_log_joint_of_the_enumeration(prior):
    ensemble, rng = slow.random_table(3, n=6, weighted=False)
    exact = Exact(ensemble.labels, ensemble.sizes, 3, 1.7, 0.4, prior)
    hyper = Hyper(prior, 3, 1.7, 0.4)
    for place in rng.integers(3**6, size=20):
        gamma = np.eye(3)[list(exact.assignments[place])]
        sizes, tables = slow.counts_of(ensemble, gamma)
        columns = Columns(sizes, np.concatenate(tables, axis=1).T, np.ones(3))
        assert log_joint(columns, ensemble.offsets, hyper) == pytest.approx(exact.log_joints[place], abs=1e-10)


@priors
@given(seed=seeds)
def test_concentrations_climb_to_a_maximum(prior, seed):
    ensemble, rng = slow.random_table(seed, n=30, r=4)
    hyper = Hyper(prior, 9, float(rng.uniform(0.01, 50)), float(rng.uniform(0.01, 50)))
    columns = with_empty(begin(ensemble, hyper, "random", rng), hyper)
    found = hyper
    for _ in range(30):
        before, found = found, learned(counted(columns, ensemble.offsets), ensemble.offsets, found)
        assert log_joint(columns, ensemble.offsets, found) >= log_joint(columns, ensemble.offsets, before) - 1e-10

    def rest(value, name):
        changed = found._replace(**{name: np.exp(value)})
        return -log_joint(columns, ensemble.offsets, changed)

    for name in ("alpha", "beta"):
        at = np.log(getattr(found, name))
        low, high = max(at - 1, np.log(LOWEST)), min(at + 1, np.log(HIGHEST))
        best = minimize_scalar(rest, bounds=(low, high), args=(name,), method="bounded", options={"xatol": 1e-9})
        assert rest(at, name) <= best.fun + 1e-6


@priors
def test_terms_are_those_of_the_log_joint(prior):
    """Their sum differs from the log joint by what does not depend on the concentration; slopes are derivatives."""
    ensemble, rng = slow.random_table(3, n=12)
    hyper = Hyper(prior, 9, 0.7, 0.3)
    columns = with_empty(begin(ensemble, hyper._replace(truncation=4), "random", rng), hyper)
    found = counted(columns, ensemble.offsets)
    both = {"alpha": alpha_parts(found, hyper), "beta": beta_parts(found, ensemble.offsets)}
    for name, parts in both.items():

        def rest(x, name=name):
            return log_joint(columns, ensemble.offsets, hyper._replace(**{name: x}))

        for x in (0.05, 2.0):
            assert height(parts, x) - height(parts, 0.4) == pytest.approx(rest(x) - rest(0.4), abs=1e-9)
            first, second = slopes(parts, x)
            step = 1e-4 * x
            assert first == pytest.approx((rest(x + step) - rest(x - step)) / (2 * step), rel=1e-5, abs=1e-6)
            bend = slopes(parts, x + step)[0] - slopes(parts, x - step)[0]
            assert second == pytest.approx(bend / (2 * step), rel=1e-5, abs=1e-6)


def test_climbing_stays_in_range_and_never_goes_down():
    assert climbed(lambda x: x, lambda x: (1.0, 0.0), 1.0) > 100
    for start in (0.002, 1.0, 900.0):
        found = start
        for _ in range(20):
            found = climbed(lambda x: -((np.log(x) - 2) ** 2), _parabola, found)
        assert found == pytest.approx(np.exp(2), rel=1e-5)


def _parabola(x):
    log = np.log(x)
    return -2 * (log - 2) / x, (-2 + 2 * (log - 2)) / x**2


def test_merging_is_greedy_by_the_log_joint():
    """The best pair first, while the log joint rises or there are too many."""
    ensemble, rng = slow.random_table(5, n=24, weighted=False)
    gamma = np.eye(6)[rng.integers(6, size=24)]
    sizes, tables = slow.counts_of(ensemble, gamma)
    for truncation in (6, 2):
        hyper = Hyper("fsd", truncation, 1.0, 0.7)
        groups = [[a] for a in range(6)]
        start = Columns(sizes, np.concatenate(tables, axis=1).T, np.ones(6))

        def joint(groups, start=start, hyper=hyper):
            sizes = np.array([start.sizes[g].sum() for g in groups])
            labels = np.stack([start.labels[:, g].sum(axis=1) for g in groups], axis=1)
            return log_joint(Columns(sizes, labels, np.ones(len(groups))), ensemble.offsets, hyper)

        while len(groups) > 1:
            options = [[*(g for g in groups if g not in (a, b)), a + b] for a in groups for b in groups if a < b]
            best = max(options, key=joint)
            if len(groups) <= truncation and joint(best) <= joint(groups):
                break
            groups = best
        found = merged(start, ensemble.offsets, hyper)
        assert sorted(found.sizes.tolist()) == sorted(start.sizes[g].sum() for g in groups)


@priors
def test_results_tell_clusters_model_and_perplexity(prior):
    ensemble = noisy(n=80, r=6, k=3, noise=0.3, missing=0.15)
    result = partita.consensus(ensemble, "nbce-vb", prior=prior)
    assert result.k == result.detail["clusters found"] == 3 and result.converged and result.k_asked is None
    assert result.detail["log likelihood"] == pytest.approx(result.log_likelihood(ensemble))
    assert result.detail["training perplexity"] == pytest.approx(result.perplexity(ensemble))
    known = np.count_nonzero(ensemble.labels >= 0)
    assert result.detail["perplexity of the bound"] == pytest.approx(np.exp(-result.detail["bound"] / known))
    assert result.detail["perplexity of the bound"] > result.detail["training perplexity"]
    assert result.detail["bound"] == result.trace[-1] and result.detail["outlier share"] == 0
    assert np.exp(result.model.bias).sum() == pytest.approx(1)
    for table in result.model.tables:
        assert np.allclose(np.exp(table).sum(axis=1), 1)
    assert (result.predict(ensemble) == result.labels).mean() > 0.95


@priors
def test_the_model_is_the_mixture_of_posterior_means(prior):
    """Component by component, empty ones too."""
    ensemble, rng = slow.random_table(1, n=30, weighted=False)
    ensemble = prepare(ensemble.with_counts(np.ones(30))).ensemble
    hyper = Hyper(prior, 7, 1.5, 0.5)
    state = settled_run(ensemble, hyper, rng, tol=1e-8).state
    sizes, labels = spread(state.columns, 7)
    parameters = slow.share_parameters(sizes, 1.5, prior)
    if prior == "fsd":
        shares = parameters / parameters.sum()
    else:
        broken = [*(a / (a + b) for a, b in parameters), 1.0]
        shares = [v * np.prod([1 - u for u in broken[:k]]) for k, v in enumerate(broken)]
    expected = []
    for i in range(len(ensemble)):
        chance = 0.0
        for k in range(7):
            product = shares[k]
            for j, _, ((label, _),) in slow.known_labels(ensemble, i):
                block = 0.5 + labels[ensemble.offsets[j] : ensemble.offsets[j + 1], k]
                product *= block[label] / block.sum()
            chance += product
        expected.append(np.log(chance))
    _, found = memberships(mean_mixture(state.columns, ensemble.offsets, hyper), ensemble)
    assert np.allclose(found, expected, atol=1e-9)


@priors
@given(seed=seeds)
def test_shares_are_posterior_means_of_all_components(prior, seed):
    """Those of each column's components together, and of all beyond the last column."""
    rng = np.random.default_rng(seed)
    width, truncation = int(rng.integers(1, 5)), int(rng.integers(5, 9))
    hyper = Hyper(prior, truncation, float(rng.uniform(0.2, 9)), 1.0)
    columns = Columns(rng.gamma(0.5, 4, width), np.ones((3, width)), np.ones(width))
    if prior == "fsd":
        columns = with_empty(columns, hyper)
    parameters = slow.share_parameters(spread(columns, truncation)[0], hyper.alpha, prior)
    if prior == "fsd":
        expected = parameters / parameters.sum()
    else:
        broken = np.array([*(a / (a + b) for a, b in parameters), 1.0])
        expected = broken * np.cumprod([1.0, *(1 - broken[:-1])])
    ends = np.cumsum(columns.copies).astype(int)
    together = [part.sum() for part in np.split(expected, ends)]
    found = mean_shares(columns, hyper)
    assert np.allclose(found, together, atol=1e-12) and found.sum() == pytest.approx(1)


def test_memberships_leave_out_components_without_rows():
    result = partita.consensus(
        noisy(n=40, r=3, k=3, noise=0.5, seed=4), "nbce-vb", learn_alpha=False, learn_beta=False, beta=1.0
    )
    assert result.membership.shape[1] == result.k and np.allclose(result.membership.sum(axis=1), 1)
    assert result.model.shares.shape == (len(result.model.bias), result.k)
    assert len(result.model.bias) > result.k and result.model.shares.sum() == result.k


def test_a_column_of_empty_components_is_used_as_one_of_them():
    """Where its chances are highest it is a cluster, with the share of one of its components."""
    ensemble, _ = slow.random_table(0, n=4, weighted=False)
    columns = Columns(np.array([2.0, 2.0]), np.ones((9, 2)), np.array([1.0, 4.0]))
    shares = np.array([[0.3, 0.7], [0.3, 0.7], [0.05, 0.95], [0.9, 0.1]])
    told = {"detail": {"objective": -20.0}}
    found = folded(ensemble, columns, Hyper("fsd", 5, 1.0, 1.0), shares, None, told)
    assert found.labels.tolist() == [0, 0, 1, 0]
    assert np.allclose(found.membership[0], [0.3 / 0.475, 0.175 / 0.475])
    assert found.model.shares.tolist() == [[1, 0], [0, 0.25]]


def test_outliers_are_counted():
    labels = np.vstack([np.repeat([[0] * 8, [1] * 8], 20, axis=0), [[2] * 8]])
    result = partita.consensus(Ensemble.from_labels(labels), "nbce-vb")
    assert result.k == 3 and result.detail["outlier share"] == pytest.approx(1 / 41)


@priors
def test_many_rows_start_from_a_sample(prior, monkeypatch):
    monkeypatch.setattr(nbce_start, "SAMPLE", 300)
    labels, truth = noisy_labels(n=2000, r=8, k=6, noise=0.3)
    result = partita.consensus(Ensemble.from_labels(labels), "nbce-vb", prior=prior)
    assert result.k == 6 and nmi(truth, result.labels) > 0.95
    assert (np.diff(result.trace) >= -1e-9 * np.abs(result.trace[:-1])).all()


@priors
def test_a_sample_starts_with_the_counts_of_all_objects(prior, monkeypatch):
    """But for what its faint components hold; rows that stand for many objects are in it as they are."""
    monkeypatch.setattr(nbce_start, "SAMPLE", 60)
    labels, _ = noisy_labels(n=800, r=8, k=4, noise=0.4)
    counts = np.where(np.arange(800) % 200 == 0, 150, 1 + np.arange(800) % 3)
    ensemble = Ensemble.from_labels(labels).with_counts(counts)
    found = begin(ensemble, Hyper(prior, 20, 1.0, 0.5), "kmeans++", np.random.default_rng(0))
    assert found.sizes.sum() == pytest.approx(counts.sum(), rel=1e-3)
    for block in np.split(found.labels, ensemble.offsets[1:-1]):
        assert np.allclose(block.sum(axis=0), found.sizes)


@priors
def test_components_that_share_a_cluster_are_joined(prior):
    """From a start that parts each cluster in two."""
    labels, _ = noisy_labels(n=120, r=8, k=3, noise=0.1)
    ensemble = prepare(Ensemble.from_labels(labels)).ensemble
    hyper = Hyper(prior, 20, 1.0, 0.5)
    rng = np.random.default_rng(0)
    halves = begin(ensemble, hyper, "kmeans++", rng)
    parted = Columns(
        np.concatenate([halves.sizes / 2, halves.sizes / 2]),
        np.concatenate([halves.labels * 0.6, halves.labels * 0.4], axis=1),
        np.ones(2 * len(halves.sizes)),
    )
    assert len(parted.sizes) == 6
    run = one_run(ensemble, Params(learn_alpha=False, learn_beta=False), hyper, parted)
    assert np.count_nonzero(run.state.columns.sizes > 1) == 3
    alone = first_state(parted, hyper)._replace(still=True)
    for _ in range(60):
        alone, _ = step(ensemble, False, alone)
    assert run.trace[-1] > alone.height + 1
    whole = one_run(ensemble, Params(learn_alpha=False, learn_beta=False), hyper, halves)
    assert run.trace[-1] == pytest.approx(whole.trace[-1], abs=1e-3)


def test_truncation_and_k_limit_the_clusters():
    ensemble = noisy(n=100, r=8, k=5, noise=0.1)
    assert partita.consensus(ensemble, "nbce-vb").k == 5
    assert partita.consensus(ensemble, "nbce-vb", truncation=3).k == 3
    assert partita.consensus(ensemble, "nbce-vb", 3).k == 3


def test_fixed_concentrations_stay():
    result = partita.consensus(noisy(), "nbce-vb", learn_alpha=False, learn_beta=False, alpha=2.0, beta=0.7)
    assert (result.detail["alpha"], result.detail["beta"]) == (2.0, 0.7)
    half = partita.consensus(noisy(), "nbce-vb", learn_beta=False, alpha=2.0, beta=0.7)
    assert half.detail["alpha"] != 2.0 and half.detail["beta"] == 0.7


def test_stopping_keeps_the_whole_trace():
    """Ctrl-C while concentrations are fitted leaves the iterations before them in the trace."""
    ensemble = prepare(noisy(n=80, r=5, noise=0.6)).ensemble
    hyper, rng = Hyper("tsb", 10, 1.0, 0.5), np.random.default_rng(0)
    first = begin(ensemble, hyper, "random", rng)
    whole = one_run(ensemble, Params(forming=2, tol=0.0, max_iter=5), hyper, first)

    def stop(iteration):
        if iteration == 4:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted) as stopped:
        one_run(ensemble, Params(forming=2, tol=0.0, max_iter=5), hyper, first, stop)
    assert stopped.value.run.trace == whole.trace[:4] and len(whole.trace) == 5


def test_expectations_of_all_components_have_mass_below_one():
    """exp E log pi sums to less than 1, by Jensen's inequality."""
    columns = with_empty(Columns(np.array([9.0, 4.0]), np.array([[9.0, 0.0], [0.0, 4.0]]), np.ones(2)), HYPER)
    assert np.exp(expectations(columns, np.array([0, 2]), HYPER).log_weights).sum() < 1


HYPER = Hyper("fsd", 30, 1.0, 0.5)
