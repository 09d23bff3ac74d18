import math

import numpy as np
import pytest
from scipy import integrate, optimize
from scipy.stats import chi2, norm

from partita.core.counting import label_columns, unit_weights
from partita.core.ensemble import Ensemble
from partita.core.errors import FederatedError, ParameterError
from partita.core.soft import SoftEnsemble
from partita.core.types import MISSING
from partita.federated import privacy
from partita.models.mixture import Mixture, at_site


def ensemble_of(columns, weights=None):
    return Ensemble.from_labels(np.stack(columns, axis=1), weights=weights, missing=MISSING)


def drawn(ensemble, epsilon, seed):
    lots = np.random.default_rng(seed).random((len(ensemble), len(ensemble.names), 2))
    return privacy.randomise(ensemble, epsilon, lots)


def reported(size, count, epsilon, seed):
    """(size, size) how often each true label (rows) was reported as each label."""
    true = np.arange(size).repeat(count)
    found = drawn(ensemble_of([true]), epsilon, seed).labels[:, 0]
    return np.bincount(true * size + found, minlength=size**2).reshape(size, size)


@pytest.mark.parametrize(("size", "epsilon"), [(2, 0.3), (2, 2.0), (5, 1.0), (7, 3.0), (200, 4.0)])
def test_randomised_response_frequencies(size, epsilon):
    count = 40_000 if size < 10 else 4_000
    table = reported(size, count, epsilon, 1)
    kept = math.exp(epsilon) / (math.exp(epsilon) + size - 1)
    expected = np.full((size, size), count * (1 - kept) / (size - 1))
    np.fill_diagonal(expected, count * kept)
    statistic = ((table - expected) ** 2 / expected).sum()
    assert 1e-4 < chi2.sf(statistic, size * (size - 1)) < 1 - 1e-4


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 2.5])
def test_randomised_response_ratio(epsilon):
    """No report is much more than e^epsilon times likelier under one label than under another, and some reach it."""
    count = 200_000
    chances = reported(4, count, epsilon, 2) / count
    error = 5 * np.sqrt(1 / (count * chances.min()))
    ratios = chances.max(axis=0) / chances.min(axis=0)
    assert np.all(ratios <= math.exp(epsilon) * (1 + error))
    assert np.all(ratios >= math.exp(epsilon) * (1 - error))


def test_columns_and_rows_are_randomised_independently():
    same = np.random.default_rng(3).integers(0, 2, 50_000)
    ensemble = ensemble_of([same, same])
    changed = drawn(ensemble, 0.5, 4).labels != ensemble.labels
    assert abs(np.corrcoef(changed[:, 0], changed[:, 1])[0, 1]) < 0.02
    assert abs(np.corrcoef(changed[:-1, 0], changed[1:, 0])[0, 1]) < 0.02


@pytest.mark.parametrize("size", [3, 128, 129, 300])
def test_types_missing_labels_and_shapes_stay(size):
    rng = np.random.default_rng(5)
    labels = rng.integers(0, size, (2000, 3))
    labels[:size] = np.arange(size)[:, None]
    labels[:, 2] = 0
    labels[rng.random(labels.shape) < 0.2] = MISSING
    labels[:size, 0] = np.arange(size)
    before = Ensemble.from_labels(labels, missing=MISSING, ids=[f"o{i}" for i in range(2000)], weights=[1, 2, 3])
    kept = before.labels.copy()
    after = drawn(before, 0.1, 6)
    assert np.array_equal(before.labels, kept)
    assert after.labels.dtype == before.labels.dtype
    assert not after.labels.flags.writeable
    assert np.array_equal(after.labels == MISSING, before.labels == MISSING)
    assert np.array_equal(after.labels[:, 2], before.labels[:, 2])
    assert after.labels[:, :2].max() < size and after.labels.min() == MISSING
    assert (after.labels[:, 0] != before.labels[:, 0]).mean() > 0.5
    assert (after.sizes, after.classes, after.names) == (before.sizes, before.classes, before.names)
    assert np.array_equal(after.ids, before.ids) and np.array_equal(after.weights, before.weights)


def test_labels_that_do_not_occur_at_a_site_are_reported():
    """The sizes agreed on count, not the labels that a site happens to have."""
    part = ensemble_of([np.arange(4).repeat(500)]).rows(slice(0, 500))
    found = drawn(part, 0.5, 7).labels
    assert set(np.unique(found)) == {0, 1, 2, 3}


def test_much_and_little_privacy():
    ensemble = ensemble_of([np.arange(5).repeat(2000)])
    assert np.array_equal(drawn(ensemble, 900.0, 8).labels, ensemble.labels)
    again = [drawn(ensemble, 1.0, 9).labels for _ in range(2)]
    assert np.array_equal(*again)


def test_refusals():
    ensemble = ensemble_of([np.array([0, 1, 1])])
    for epsilon in (0, -1, math.inf, math.nan):
        with pytest.raises(ParameterError, match="epsilon"):
            drawn(ensemble, epsilon, 0)
    with pytest.raises(FederatedError, match="every object a row"):
        drawn(ensemble.with_counts([1, 2, 1]), 1.0, 0)
    with pytest.raises(ParameterError, match="rho"):
        privacy.noise_scale(1.0, 3, 0.0)
    with pytest.raises(ParameterError, match="rounds"):
        privacy.noise_scale(1.0, 0, 1.0)
    with pytest.raises(ParameterError, match="delta"):
        privacy.epsilon_of(1.0, 0.0)


def test_costs_add_up():
    cost = privacy.randomise_cost(0.5, 8)
    assert cost == (0.5, 4.0)
    assert "epsilon = 0.5 for each label, 4 for all labels of an object" in cost.told()


def renyi(alpha, shift, sigma):
    """Divergence of order alpha between N(0, sigma^2) and N(shift, sigma^2), by integration."""

    def integrand(x):
        return math.exp(alpha * norm.logpdf(x, 0, sigma) + (1 - alpha) * norm.logpdf(x, shift, sigma))

    span = 12 * sigma + alpha * shift
    value, _ = integrate.quad(integrand, -span, span, limit=400, epsabs=0, epsrel=1e-11)
    return math.log(value) / (alpha - 1)


@pytest.mark.parametrize("alpha", [1.1, 2.0, 5.0, 20.0])
@pytest.mark.parametrize(("sensitivity", "rounds", "rho"), [(1.0, 1, 0.5), (3.0, 30, 0.2), (2.5, 7, 2.0)])
def test_noise_keeps_the_budget_exactly(alpha, sensitivity, rounds, rho):
    sigma = privacy.noise_scale(sensitivity, rounds, rho)
    assert rounds * renyi(alpha, sensitivity, sigma) == pytest.approx(rho * alpha, rel=1e-6)


@pytest.mark.parametrize(("rho", "delta"), [(0.01, 1e-6), (0.5, 1e-5), (3.0, 1e-9)])
def test_epsilon(rho, delta):
    """The best that follows from the divergences of all orders, and more than the Gaussian mechanism needs."""
    best = optimize.minimize_scalar(
        lambda log_order: rho * (1 + math.exp(log_order)) + math.log(1 / delta) / math.exp(log_order),
        bounds=(-10, 20),
        method="bounded",
        options={"xatol": 1e-10},
    )
    epsilon = privacy.epsilon_of(rho, delta)
    assert epsilon == pytest.approx(best.fun, rel=1e-8)
    shift = math.sqrt(2 * rho)  # in standard deviations
    spent = norm.cdf(shift / 2 - epsilon / shift) - math.exp(epsilon) * norm.cdf(-shift / 2 - epsilon / shift)
    assert 0 < spent <= delta


def test_noise_has_its_variance():
    arrays = {"labels": np.full((400, 250), 3.0), "sizes": np.arange(5.0)}
    found = privacy.add_noise(arrays, 2.5, np.random.default_rng(10))
    assert list(found) == ["labels", "sizes"] and found["sizes"].shape == (5,)
    noise = found["labels"] - 3
    count = noise.size
    assert abs(noise.mean()) < 5 * 2.5 / math.sqrt(count)
    assert 1e-4 < chi2.cdf((noise**2).sum() / 2.5**2, count) < 1 - 1e-4
    assert abs((np.abs(noise) < 2.5).mean() - 0.6827) < 0.01
    assert np.all(found["sizes"] != arrays["sizes"])
    assert np.all(arrays["labels"] == 3)


def test_budget():
    budget = privacy.Budget(0.5, 1e-6, 50, 3.0)
    assert budget.sigma == pytest.approx(3 * math.sqrt(50))
    assert budget.epsilon == pytest.approx(0.5 + 2 * math.sqrt(0.5 * math.log(1e6)))
    line = budget.told()
    assert "21.21" in line and "rho = 0.5" in line and "50 rounds" in line and "epsilon = 5.757" in line
    assert "delta = 1e-06" in line and "\n" not in line


def moved(params, ensemble, scales):
    """For every object, how far label counts and sizes move when it is left out."""

    def sent(part):
        counts = at_site(params, part)
        return np.concatenate([(counts.labels * scales[:, None]).ravel(), counts.weights])

    whole = sent(ensemble)
    rest = [np.delete(np.arange(len(ensemble)), i) for i in range(len(ensemble))]
    return np.array([np.linalg.norm(whole - sent(ensemble.rows(keep))) for keep in rest])


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("weighted", [True, False])
def test_sensitivity_bounds_what_an_object_moves(seed, weighted):
    rng = np.random.default_rng(seed)
    n, r, k = int(rng.integers(3, 12)), int(rng.integers(1, 6)), int(rng.integers(1, 5))
    labels = rng.integers(0, 3, (n, r))
    labels[rng.random((n, r)) < 0.15] = MISSING
    labels[0] = 0
    ensemble = Ensemble.from_labels(labels, missing=MISSING, weights=rng.uniform(0.1, 3, r) if weighted else None)
    tables = np.log(rng.dirichlet(np.full(k, 0.3), int(ensemble.offsets[-1])) + 1e-12)
    params = Mixture(np.log(rng.dirichlet(np.ones(k))), tables)
    weights = unit_weights(ensemble)
    scales = weights[label_columns(ensemble.offsets)]
    lengths = moved(params, ensemble, scales)
    assert lengths.max() <= privacy.sensitivity_of(weights) * (1 + 1e-9)
    assert moved(params, ensemble, np.ones(len(scales))).max() <= privacy.sensitivity_of(np.ones(r)) * (1 + 1e-9)


def test_sensitivity_is_reached():
    """By an object that has every label and is wholly in one cluster."""
    ensemble = Ensemble.from_labels([[0, 0, 1], [0, 1, 0], [1, 1, 1]], weights=[1.0, 2.0, 3.0])
    params = Mixture(np.log([0.5, 0.5]), np.tile(np.log([1 - 1e-15, 1e-15]), (6, 1)))
    weights = unit_weights(ensemble)
    lengths = moved(params, ensemble, weights[label_columns(ensemble.offsets)])
    assert lengths == pytest.approx(privacy.sensitivity_of(weights))
    assert privacy.sensitivity_of([1.0, 2.0, 3.0]) == pytest.approx(math.sqrt(15))


def test_suppression():
    counts = np.array([[0.0, 4.999, 5.0], [-4.0, -5.0, 90.0]])
    assert privacy.suppress(counts, 5).tolist() == [[0, 0, 5], [0, -5, 90]]
    assert np.array_equal(privacy.suppress(counts, 0), counts)
    assert counts[0, 1] == 4.999


def test_suppression_before_noise_would_break_the_budget():
    """One object moves a suppressed table by more than the sensitivity; why noise comes first."""
    ensemble = ensemble_of([np.zeros(5, int), np.zeros(5, int)])
    params = Mixture(np.zeros(1), np.zeros((2, 1)))
    tables = [privacy.suppress(at_site(params, part).labels, 5) for part in (ensemble, ensemble.rows(slice(0, 4)))]
    assert np.linalg.norm(tables[0] - tables[1]) > 2 * privacy.sensitivity_of([1, 1])


@pytest.mark.parametrize("seed", range(4))
def test_sensitivity_holds_for_memberships(seed):
    rng = np.random.default_rng(seed)
    soft = SoftEnsemble.from_memberships([rng.dirichlet(np.full(3, 0.2), 8) for _ in range(3)], weights=[1, 2, 3])
    params = Mixture(np.log(rng.dirichlet(np.ones(2))), np.log(rng.dirichlet(np.full(2, 0.2), 9) + 1e-12))
    weights = unit_weights(soft)
    lengths = moved(params, soft, weights[label_columns(soft.offsets)])
    assert 0 < lengths.max() <= privacy.sensitivity_of(weights) * (1 + 1e-9)


def test_a_clustering_without_labels():
    ensemble = ensemble_of([np.array([0, 1, 0]), np.full(3, MISSING)])
    found = drawn(ensemble, 1.0, 0)
    assert found.labels[:, 1].tolist() == [MISSING] * 3
