"""Gaussian mixture by EM from a k-means start, with memberships."""

from dataclasses import dataclass
from functools import partial
from typing import Literal, NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.linalg import solve_triangular

from partita.core.iterate import iterate
from partita.core.params import setting
from partita.core.types import FloatArray, IntArray
from partita.generate.base import Clusterer, Fitted
from partita.generate.clusterers import kmeans
from partita.generate.clusterers.similarity import scatter


@dataclass(frozen=True, slots=True)
class Params:
    """Settings of the Gaussian mixture."""

    covariance: Literal["diag", "full"] = setting("diag", "variances alone, or whole covariance matrices")
    reg: float = setting(1e-6, "added to every variance, as a share of the mean variance of the features", low=1e-12)
    n_init: int = setting(1, "how many k-means starts are compared", low=1)
    max_iter: int = setting(100, "most iterations", low=1)
    tol: float = setting(1e-4, "how little the mean log-likelihood may still rise when EM ends", low=0)


class Mixture(NamedTuple):
    """k Gaussians."""

    log_weights: FloatArray
    """(k,)"""
    means: FloatArray
    """(k, d)"""
    roots: FloatArray
    """(k, d) standard deviations, or (k, d, d) lower Cholesky factors of the covariances."""


def fit(X: FloatArray, k: int, params: Params, rng: Generator) -> Fitted:
    """EM from the clusters of k-means."""
    started = kmeans.fit(X, k, kmeans.Params(n_init=params.n_init), rng)
    floor = params.reg * (float(X.var(axis=0).mean()) or 1.0)
    full = params.covariance == "full"

    def step(state: Mixture) -> tuple[Mixture, float]:
        resp, log_likelihood = expected(state, X)
        return maximised(X, resp, floor, full), float(log_likelihood.mean())

    resp = np.eye(k)[started.labels]
    run = iterate(step, maximised(X, resp, floor, full), tol=params.tol, max_iter=params.max_iter)
    soft = expected(run.state, X)[0]
    labels = soft.argmax(axis=1).astype(np.int32)
    return Fitted(labels, soft, partial(_place, run.state), partial(_place_soft, run.state))


def maximised(X: FloatArray, resp: FloatArray, floor: float, full: bool) -> Mixture:
    """The mixture of greatest likelihood given (n, k) responsibilities, `floor` added to the variances."""
    mass = resp.sum(axis=0) + 10 * np.finfo(float).eps
    means = (resp.T @ X) / mass[:, None]
    roots = np.empty((len(mass), *X.shape[1:] * (2 if full else 1)))
    for c, mean in enumerate(means):
        apart = X - mean
        if full:
            spread = (apart * resp[:, c, None]).T @ apart / mass[c]
            roots[c] = np.linalg.cholesky(spread + floor * np.eye(X.shape[1]))
        else:
            roots[c] = np.sqrt(resp[:, c] @ apart**2 / mass[c] + floor)
    return Mixture(np.log(mass / mass.sum()), means, roots)


def expected(mixture: Mixture, X: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(n, k) how probable each component is for each row, and (n,) the log-likelihood of each row."""
    scores = np.empty((len(X), len(mixture.means)))
    for c, (mean, root) in enumerate(zip(mixture.means, mixture.roots, strict=True)):
        if root.ndim == 2:
            apart, size = solve_triangular(root, (X - mean).T, lower=True).T, np.diagonal(root)
        else:
            apart, size = (X - mean) / root, root
        scores[:, c] = mixture.log_weights[c] - 0.5 * scatter(apart) - np.log(size).sum()
    top = scores.max(axis=1, keepdims=True)
    shares = np.exp(scores - top)
    total = shares.sum(axis=1, keepdims=True)
    constant = 0.5 * X.shape[1] * np.log(2 * np.pi)
    return shares / total, (np.log(total) + top)[:, 0] - constant


def _place_soft(mixture: Mixture, X: FloatArray) -> FloatArray:
    return expected(mixture, X)[0]


def _place(mixture: Mixture, X: FloatArray) -> IntArray:
    return np.asarray(expected(mixture, X)[0].argmax(axis=1).astype(np.int32))


CLUSTERER = Clusterer(fit, Params, soft=True, places=True)
