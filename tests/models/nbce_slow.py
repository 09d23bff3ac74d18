"""Variational Bayes for nonparametric cluster ensembles, slow and obvious: one object, one component, one label a time.

Nothing here is shared with the package but the ensembles. There are always K components, empty ones too.
"""

import math

import numpy as np
from scipy.special import digamma
from scipy.stats import beta as beta_distribution
from scipy.stats import dirichlet

from partita import Ensemble, SoftEnsemble


def random_table(seed, n=9, r=3, k=3, missing=0.3, soft=False, weighted=True):
    """A random ensemble with gaps, weights and counts, each row and label known somewhere."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, k, size=(n, r))
    labels[rng.random((n, r)) < missing] = -1
    labels[(labels == -1).all(axis=1), 0] = 0
    labels[:k] = np.arange(k)[:, None]
    weights = rng.random(r) + 0.2 if weighted else np.ones(r)
    counts = rng.integers(1, 4, n) if weighted else np.ones(n)
    if not soft:
        return Ensemble.from_labels(labels, missing=-1, weights=weights, transpose=False).with_counts(counts), rng
    blocks = []
    for column in labels.T:
        block = rng.dirichlet(np.full(k, 0.3), n)
        block[column == -1] = np.nan
        blocks.append(block)
    return SoftEnsemble.from_memberships(blocks, weights=weights).with_counts(counts), rng


def known_labels(ensemble, i):
    """(clustering, weight, [(label, share), ...]) of every clustering in which row i is known."""
    weights = ensemble.weights / ensemble.weights.mean()
    found = []
    for j in range(len(ensemble.sizes)):
        if isinstance(ensemble, Ensemble):
            shares = [(int(ensemble.labels[i, j]), 1.0)] if ensemble.labels[i, j] >= 0 else []
        else:
            shares = [(label, share) for label, share in enumerate(ensemble.block(j)[i]) if share > 0]
        if shares:
            found.append((j, float(weights[j]), shares))
    return found


def counts_of(ensemble, gamma):
    """Expected sizes (K,), and per clustering (K, labels) expected weighted label counts."""
    sizes = np.zeros(gamma.shape[1])
    tables = [np.zeros((gamma.shape[1], size)) for size in ensemble.sizes]
    for i in range(len(ensemble)):
        for k in range(gamma.shape[1]):
            sizes[k] += ensemble.counts[i] * gamma[i, k]
            for j, weight, shares in known_labels(ensemble, i):
                for label, share in shares:
                    tables[j][k, label] += ensemble.counts[i] * weight * share * gamma[i, k]
    return sizes, tables


def share_parameters(sizes, alpha, prior):
    """q(pi): the (K,) parameters of a Dirichlet, or the (K - 1, 2) parameters of the sticks' Beta distributions."""
    if prior == "fsd":
        return alpha / len(sizes) + sizes
    return np.array([[1 + sizes[k], alpha + sizes[k + 1 :].sum()] for k in range(len(sizes) - 1)]).reshape(-1, 2)


def expected_shares(parameters, prior):
    """(K,) E log pi."""
    if prior == "fsd":
        return digamma(parameters) - digamma(parameters.sum())
    found, left = [], 0.0
    for a, b in parameters:
        found.append(left + digamma(a) - digamma(a + b))
        left += digamma(b) - digamma(a + b)
    return np.array([*found, left])


def expected_labels(rho):
    """Per clustering (K, labels): E log theta."""
    return [digamma(table) - digamma(table.sum(axis=1, keepdims=True)) for table in rho]


def best_gamma(ensemble, parameters, rho, prior):
    """(n, K) the assignments that q(pi) and q(theta) call for."""
    log_pi, log_theta = expected_shares(parameters, prior), expected_labels(rho)
    gamma = np.zeros((len(ensemble), len(log_pi)))
    for i in range(len(ensemble)):
        scores = log_pi.copy()
        for j, weight, shares in known_labels(ensemble, i):
            for label, share in shares:
                scores += weight * share * log_theta[j][:, label]
        gamma[i] = np.exp(scores - scores.max())
        gamma[i] /= gamma[i].sum()
    return gamma


def whole_bound(ensemble, parameters, rho, gamma, alpha, beta, prior):
    """E_q[log p(Y, Z, theta, pi)] + H(q), every term and entropy on its own."""
    log_pi, log_theta = expected_shares(parameters, prior), expected_labels(rho)
    total = 0.0
    for i in range(len(ensemble)):
        for k in range(gamma.shape[1]):
            if gamma[i, k] > 0:
                said = log_pi[k] - math.log(gamma[i, k])
                for j, weight, shares in known_labels(ensemble, i):
                    said += weight * sum(share * log_theta[j][k, label] for label, share in shares)
                total += ensemble.counts[i] * gamma[i, k] * said
    if prior == "fsd":
        k = len(parameters)
        total += math.lgamma(alpha) - k * math.lgamma(alpha / k) + (alpha / k - 1) * log_pi.sum()
        total += dirichlet(parameters).entropy() if k > 1 else 0.0
    else:
        for a, b in parameters:
            total += math.log(alpha) + (alpha - 1) * (digamma(b) - digamma(a + b)) + beta_distribution(a, b).entropy()
    for j, size in enumerate(ensemble.sizes):
        for k in range(gamma.shape[1]):
            total += math.lgamma(size * beta) - size * math.lgamma(beta) + (beta - 1) * log_theta[j][k].sum()
            total += dirichlet(rho[j][k]).entropy() if size > 1 else 0.0
    return total


# Collapsed: the counts of all other objects, their means and variances from scratch for every row.


def mean_rise(prior, weight, mean, variance, order):
    """E [ln Gamma(prior + w N + w) - ln Gamma(prior + w N)] to first or second order; log(prior + N) for w = 1."""

    def rise(x):
        return math.lgamma(prior + weight * (x + 1)) - math.lgamma(prior + weight * x)

    if weight == 1:
        x = prior + mean
        return math.log(x) - (variance / (2 * x * x) if order == 2 else 0.0)
    if order == 1:
        return rise(mean)
    from scipy.special import polygamma

    x = prior + weight * mean
    return rise(mean) + variance / 2 * weight**2 * float(polygamma(1, x + weight) - polygamma(1, x))


def moments(chances):
    """Mean and variance of a sum of independent yes-or-no variables."""
    return sum(chances), sum(p * (1 - p) for p in chances)


def collapsed_row(objects, weights, sizes, gamma, i, hyper, order):
    """(K,) the chances of object i given the chances of all others; `objects` are rows of labels, -1 where unknown."""
    others = [o for o in range(len(objects)) if o != i]
    clusters = gamma.shape[1]
    scores = []
    for k in range(clusters):
        if hyper.prior == "fsd":
            score = mean_rise(hyper.alpha / clusters, 1, *moments([gamma[o, k] for o in others]), order)
        else:
            score = 0.0
            for h in range(min(k + 1, clusters - 1)):
                whole = mean_rise(1 + hyper.alpha, 1, *moments([gamma[o, h:].sum() for o in others]), order)
                if h < k:
                    score += mean_rise(hyper.alpha, 1, *moments([gamma[o, h + 1 :].sum() for o in others]), order)
                else:
                    score += mean_rise(1, 1, *moments([gamma[o, h] for o in others]), order)
                score -= whole
        for j, weight in enumerate(weights):
            if objects[i][j] < 0:
                continue
            same = [gamma[o, k] for o in others if objects[o][j] == objects[i][j]]
            known = [gamma[o, k] for o in others if objects[o][j] >= 0]
            score += mean_rise(hyper.beta, weight, *moments(same), order)
            score -= mean_rise(sizes[j] * hyper.beta, weight, *moments(known), order)
        scores.append(score)
    found = np.exp(np.array(scores) - max(scores))
    return found / found.sum()
