"""Nonparametric Bayesian cluster ensembles with expected counts: their log joint, their bound, their concentrations.

Of K components, component k has share pi_k of the objects and, per clustering j, label chances theta_kj ~ Dir(beta)
(Wang, Domeniconi and Laskey 2010). The shares are pi ~ Dir(alpha / K) ("fsd") or sticks v_k ~ Beta(1, alpha), v_K = 1,
broken off one after the other ("tsb"). With pi and theta integrated out, the log joint of counts is `log_sizes` plus
`log_labels`; at expected counts it is the variational bound of those counts, but for the entropy of the assignments.

Components come in columns. Under fsd a column may stand for several empty components that are alike, its counts being
those of all of them. Under tsb every column is one component, and components beyond the last column hold nothing.
"""

from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from scipy.special import gammaln, psi

from partita.core.counting import label_columns, sum_by_column
from partita.core.types import FloatArray, IntArray
from partita.models.mixture import Mixture

Prior: TypeAlias = Literal["tsb", "fsd"]


class Hyper(NamedTuple):
    """The prior and its concentrations."""

    prior: Prior
    truncation: int
    alpha: float
    beta: float
    learn_alpha: bool = True
    """Whether alpha may be fitted."""
    learn_beta: bool = True


class Columns(NamedTuple):
    """Expected counts of the components."""

    sizes: FloatArray  # (m,) objects
    labels: FloatArray  # (t, m) labels, each counting the weight of its clustering
    copies: FloatArray  # (m,) how many components a column stands for


def log_sizes(columns: Columns, hyper: Hyper) -> float:
    """What the sizes of the components add to the log joint: log p(Z), where they are whole."""
    alpha, sizes = hyper.alpha, columns.sizes
    if hyper.prior == "fsd":
        even = alpha / hyper.truncation
        parts = columns.copies * (gammaln(even + sizes / columns.copies) - gammaln(even))
        return float(gammaln(alpha) - gammaln(alpha + sizes.sum()) + parts.sum())
    own, beyond = sticks(columns, hyper)
    terms = np.log(alpha) + gammaln(1 + own) + gammaln(alpha + beyond) - gammaln(1 + alpha + own + beyond)
    return float(terms.sum())


def sticks(columns: Columns, hyper: Hyper) -> tuple[FloatArray, FloatArray]:
    """Of every stick that is broken (the last of all components has none): its own objects, and those beyond it."""
    own = columns.sizes[: hyper.truncation - 1]
    beyond = np.cumsum(columns.sizes[::-1])[::-1] - columns.sizes
    return own, beyond[: hyper.truncation - 1]


def log_labels(columns: Columns, offsets: IntArray, beta: float) -> float:
    """What the labels add to the log joint: log p(Y | Z), where the counts are whole."""
    each = columns.labels / columns.copies
    whole = np.add.reduceat(each, offsets[:-1], axis=0)
    prior = beta * np.diff(offsets)[:, None]
    above = (gammaln(beta + each) - gammaln(beta)).sum(axis=0)
    below = (gammaln(prior + whole) - gammaln(prior)).sum(axis=0)
    return float(columns.copies @ (above - below))


def log_joint(columns: Columns, offsets: IntArray, hyper: Hyper) -> float:
    """Both together."""
    return log_sizes(columns, hyper) + log_labels(columns, offsets, hyper.beta)


def expectations(columns: Columns, offsets: IntArray, hyper: Hyper) -> Mixture:
    """E log pi, of all components of a column together, and E log theta under the best q(pi) and q(theta)."""
    each = columns.labels / columns.copies
    prior = hyper.beta * np.diff(offsets)[label_columns(offsets)][:, None]
    log_probs = psi(hyper.beta + each) - psi(prior + sum_by_column(each, offsets))
    return Mixture(log_shares(columns, hyper) + np.log(columns.copies), log_probs)


def log_shares(columns: Columns, hyper: Hyper) -> FloatArray:
    """(m,) E log pi of one component of each column."""
    if hyper.prior == "fsd":
        even = hyper.alpha / hyper.truncation
        return np.asarray(psi(even + columns.sizes / columns.copies) - psi(hyper.alpha + columns.sizes.sum()))
    own, beyond = sticks(columns, hyper)
    whole = psi(1 + hyper.alpha + own + beyond)
    return _broken(psi(1 + own) - whole, psi(hyper.alpha + beyond) - whole, len(columns.sizes))


def mean_shares(columns: Columns, hyper: Hyper) -> FloatArray:
    """(m + 1,) the posterior mean of each column's share, and of the share of all components beyond."""
    if hyper.prior == "fsd":
        even = columns.copies * hyper.alpha / hyper.truncation
        return np.append((even + columns.sizes) / (hyper.alpha + columns.sizes.sum()), 0.0)
    own, beyond = sticks(columns, hyper)
    whole = np.log(1 + hyper.alpha + own + beyond)
    kept, left = np.log1p(own) - whole, np.log(hyper.alpha + beyond) - whole
    shares = np.exp(_broken(kept, left, len(columns.sizes)))
    rest = float(np.exp(left.sum())) if len(columns.sizes) < hyper.truncation else 0.0
    return np.append(shares, rest)


def _broken(kept: FloatArray, left: FloatArray, components: int) -> FloatArray:
    """Logarithms of what is broken off a stick in turn; the last of all components takes what is left."""
    before = np.concatenate([[0.0], np.cumsum(left)])
    return np.asarray(before[:components] + np.append(kept, 0.0)[:components])


def mean_chances(columns: Columns, offsets: IntArray, beta: float) -> FloatArray:
    """(t, m) the posterior mean of theta."""
    each = beta + columns.labels / columns.copies
    return np.asarray(each / sum_by_column(each, offsets))


def bound(likelihood: float, mixture: Mixture, columns: Columns, offsets: IntArray, hyper: Hyper) -> float:
    """The lower bound of the log evidence, the assignments of the objects being the best ones.

    `mixture` holds the expectations under q(pi) and q(theta) as `columns` give them, `likelihood` the logarithm of the
    mass of every row under them, summed: less the Kullback-Leibler divergences of both from their priors, it is the
    bound with all of its terms and entropies.
    """
    shares = mixture.log_weights - np.log(columns.copies)
    spent = columns.sizes @ shares + float((columns.labels * mixture.log_probs).sum())
    return float(likelihood - spent + log_joint(columns, offsets, hyper))


def pair_gains(columns: Columns, offsets: IntArray, hyper: Hyper) -> FloatArray:
    """(m, m) below the diagonal what joining two columns adds to the log joint; -inf elsewhere."""
    sizes, labels = columns.sizes, np.ascontiguousarray(columns.labels.T)
    own = cluster_heights(offsets, hyper, sizes, labels)
    gains = np.full((len(sizes), len(sizes)), -np.inf)
    for a in range(1, len(sizes)):
        both = cluster_heights(offsets, hyper, sizes[a] + sizes[:a], labels[a] + labels[:a])
        gains[a, :a] = both - own[a] - own[:a]
    return gains


def cluster_heights(offsets: IntArray, hyper: Hyper, sizes: FloatArray, labels: FloatArray) -> FloatArray:
    """(m,) what each of m clusters of given sizes and (m, t) labels adds to the log joint."""
    whole, many = np.add.reduceat(labels, offsets[:-1], axis=1), hyper.beta * np.diff(offsets)
    inside = (gammaln(hyper.beta + labels) - gammaln(hyper.beta)).sum(axis=1)
    outside = (gammaln(many + whole) - gammaln(many)).sum(axis=1)
    even = hyper.alpha / hyper.truncation
    return np.asarray(gammaln(even + sizes) - gammaln(even) + inside - outside)
