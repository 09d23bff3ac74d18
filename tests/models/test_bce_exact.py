"""The exact log-likelihood of Bayesian cluster ensembles against the sum over all assignments of labels."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import partita
from partita import Ensemble, SoftEnsemble
from partita.core import dirichlet
from partita.core.consensus import placed
from partita.core.dirichlet import Bce, exact_log_probs, infer
from partita.core.errors import MethodError, ParameterError
from tests.core.oracles import steady
from tests.samples import noisy, noisy_labels, noisy_soft

seeds = st.integers(0, 2**32 - 1)


def slow_log_prob(alpha, factors):
    """log p of one row: `factors[j][h]` is the probability of its j-th known label in cluster h.

    For each of the k^r assignments z: E[prod_j theta_{z_j}] under Dirichlet(alpha), from its moments, times the
    factors.
    """
    total, r = 0.0, len(factors)
    for z in itertools.product(range(len(alpha)), repeat=r):
        log = math.lgamma(sum(alpha)) - math.lgamma(sum(alpha) + r)
        for h, a in enumerate(alpha):
            log += math.lgamma(a + z.count(h)) - math.lgamma(a)
        total += math.exp(log) * math.prod(factors[j][h] for j, h in enumerate(z))
    return math.log(total) if total > 0 else -math.inf


def factors_of(log_probs, ensemble, i):
    """For every clustering in which row i is known, the probability of its label in each cluster."""
    found = []
    for j in range(len(ensemble.names)):
        table = log_probs[ensemble.offsets[j] : ensemble.offsets[j + 1]]
        if isinstance(ensemble, Ensemble):
            if ensemble.labels[i, j] >= 0:
                found.append(np.exp(table[ensemble.labels[i, j]]))
        elif ensemble.block(j)[i].any():
            shares = ensemble.block(j)[i]
            found.append([math.exp(sum(s * x for s, x in zip(shares, row, strict=True) if s > 0)) for row in table.T])
    return found


def parameters(rng, k, sizes, zeros=False):
    alpha = rng.choice([1e-4, 0.1, 1.0, 30.0], size=k) * rng.uniform(0.5, 2, k)
    blocks = [rng.dirichlet(np.full(size, 0.5), k).T for size in sizes]
    log_probs = np.log(np.maximum(np.concatenate(blocks), 1e-300))
    if zeros:
        log_probs[rng.random(log_probs.shape) < 0.4] = -1e8
    return Bce(alpha, log_probs)


@steady
@given(seeds, st.integers(1, 4), st.integers(2, 5), st.booleans(), st.booleans())
def test_equals_the_sum_over_all_assignments(seed, k, r, soft, zeros):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, size=(6, r))
    labels[rng.random(labels.shape) < 0.3] = -1
    labels[:3] = np.arange(3)[:, None]
    ensemble = Ensemble.from_labels(labels, missing=-1, transpose=False)
    if soft:
        blocks = []
        for column in labels.T:
            block = rng.dirichlet(np.ones(3), 6)
            block[rng.random((6, 3)) < 0.3] = 0.0
            block[:, 0] += block.sum(axis=1) == 0
            block /= block.sum(axis=1, keepdims=True)
            block[column == -1] = np.nan
            blocks.append(block)
        ensemble = SoftEnsemble.from_memberships(blocks)
    params = parameters(rng, k, ensemble.sizes, zeros)
    found = exact_log_probs(params, ensemble, np.ones(r))
    expected = [slow_log_prob(params.alpha, factors_of(params.log_probs, ensemble, i)) for i in range(6)]
    assert np.allclose(found, expected, rtol=1e-11, atol=1e-11)
    _, bounds = infer(params, ensemble, np.ones(r))
    assert (bounds <= found + 1e-9).all()


def test_probabilities_of_all_rows_sum_to_1():
    params = parameters(np.random.default_rng(3), 3, (2, 3, 2))
    rows = np.array(list(itertools.product(range(2), range(3), range(2))))
    found = exact_log_probs(params, Ensemble.from_labels(rows, transpose=False), np.ones(3))
    assert np.exp(found).sum() == pytest.approx(1, abs=1e-12)


def test_many_labels_of_tiny_probability_do_not_underflow():
    """Clusters that are alike: the probability is the product of those of the labels."""
    rows = Ensemble.from_labels(np.tile(np.arange(2)[:, None], (1, 300)), transpose=False)
    params = Bce(np.array([0.3, 2.0]), np.full((600, 2), -20.0))
    assert np.allclose(exact_log_probs(params, rows, np.ones(300)), -6000, rtol=1e-12)


def test_results_and_models_have_it_too(tmp_path):
    labels, _ = noisy_labels(n=60, r=6, k=3, missing=0.2, noise=0.3)
    labels[5] = -1
    result = partita.consensus(Ensemble.from_labels(labels, missing=-1), "bce-vb", 3)
    model, ensemble = result.model, result.ensemble
    alpha, log_probs = model.bias, model.stacked
    expected = sum(slow_log_prob(alpha, factors_of(log_probs, ensemble, i)) for i in range(60))
    bound, exact = result.log_likelihood(ensemble), result.log_likelihood(ensemble, exact=True)
    assert exact == pytest.approx(expected, rel=1e-10) and bound < exact
    known = np.count_nonzero(labels >= 0)
    assert result.perplexity(ensemble, exact=True) == pytest.approx(math.exp(-expected / known), rel=1e-10)
    assert result.model.likelihood_is_bound
    counted = ensemble.with_counts(np.arange(60) % 3 + 1)
    repeated = ensemble.rows(np.repeat(np.arange(60), np.arange(60) % 3 + 1))
    assert model.log_likelihood(counted, exact=True) == pytest.approx(model.log_likelihood(repeated, exact=True))
    partita.save_model(result, tmp_path / "model.npz")
    assert partita.load_model(tmp_path / "model.npz").log_likelihood(ensemble, exact=True) == exact
    bounds, exactly = placed(model, ensemble).detail, placed(model, ensemble, exact=True).detail
    assert bounds["log likelihood bound"] == bound and "log likelihood" not in bounds and "perplexity" not in bounds
    assert exactly["log likelihood"] == exact and "log likelihood bound" not in exactly
    assert exactly["perplexity"] < bounds["perplexity bound"]


def test_memberships_and_impossible_rows():
    soft = noisy_soft()
    result = partita.consensus(soft, "bce-vb", 3)
    assert result.log_likelihood(soft) < result.log_likelihood(soft, exact=True) < 0
    columns = np.repeat([0, 1], 10)
    certain = partita.consensus(np.stack([columns] * 3, axis=1), "bce-vb", 2)
    assert certain.model.likelihood_is_bound
    impossible = SoftEnsemble.from_memberships([[[1 - 1e-12, 1e-12]]] * 3)
    with pytest.warns(partita.PartitaWarning, match="smoothing"):
        assert certain.log_likelihood(impossible, exact=True) == -np.inf


def test_other_models_are_exact_already():
    ensemble = noisy()
    result = partita.consensus(ensemble, "mm", 3, smoothing=0.5)
    assert not result.model.likelihood_is_bound
    assert result.log_likelihood(ensemble, exact=True) == result.log_likelihood(ensemble)
    assert "log likelihood" in placed(result.model, ensemble).detail
    with pytest.raises(AttributeError, match="gives no probabilities"):
        partita.consensus(ensemble, "voting", 3).log_likelihood(ensemble, exact=True)


def test_unequal_weights_are_refused():
    ensemble = noisy(r=4)
    weighted = Ensemble.from_labels(ensemble.labels, weights=[1, 1, 2, 1], transpose=False)
    result = partita.consensus(weighted, "bce-vb", 3)
    with pytest.raises(ParameterError, match=r"equal weight, but 'c0' has the weight 0\.8 .*exact=False"):
        result.log_likelihood(weighted, exact=True)
    one_out = Ensemble.from_labels(ensemble.labels, weights=[3, 3, 0, 3], transpose=False)
    result = partita.consensus(one_out, "bce-vb", 3)
    rest = partita.consensus(one_out.columns([0, 1, 3]), "bce-vb", 3)
    expected = rest.log_likelihood(one_out.columns([0, 1, 3]), exact=True)
    assert result.log_likelihood(one_out, exact=True) == pytest.approx(expected, rel=1e-9)


def test_too_many_count_vectors_are_refused(monkeypatch):
    """56 vectors of counts for 5 labels and 4 clusters; a row with fewer labels needs fewer."""
    labels, _ = noisy_labels(r=5, k=4)
    result = partita.consensus(labels, "bce-vb", 4)
    monkeypatch.setattr(dirichlet, "MAX_COUNT_VECTORS", 56)
    assert np.isfinite(result.log_likelihood(labels, exact=True))
    monkeypatch.setattr(dirichlet, "MAX_COUNT_VECTORS", 55)
    with pytest.raises(ParameterError, match=r"56 count vectors for 5 known labels and 4 clusters.*55.*exact=False"):
        result.log_likelihood(labels, exact=True)
    assert np.isfinite(result.log_likelihood([[0, 1, None, 1, 1]], exact=True))
    assert result.log_likelihood([[None] * 5], exact=True) == 0
    monkeypatch.setattr("partita.core.memory.available_memory", lambda: 100)
    with pytest.raises(MethodError, match="exact=True may need"):
        result.log_likelihood([[0, 1, None, 1, 1]], exact=True)


def test_the_estimator_scores_exactly():
    labels, _ = noisy_labels(n=40, r=5, k=3)
    estimator = partita.ConsensusClustering("bce-gibbs", 3, params={"draws": 20, "burn_in": 20}).fit(labels)
    exact = estimator.consensus_.log_likelihood(labels, exact=True) / 40
    assert estimator.score(labels) < estimator.score(labels, exact=True) == pytest.approx(exact)
