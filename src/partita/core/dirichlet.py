"""Bayesian cluster ensembles on rows: what an object's labels say of its shares of the clusters.

The fit (`models.bce`) and the placing of new rows (`core.links`) share it. See `models.bce` for the story.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from scipy.special import gammaln

from partita.core.counting import assigned, label_columns
from partita.core.soft import AnyEnsemble, SoftEnsemble
from partita.core.threads import map_chunks
from partita.core.types import BoolArray, FloatArray, IntArray, sealed
from partita.kernels.dirichlet import infer_memberships, infer_rows

ROWS: Final = 1 << 11
"""Rows worth a call of the compiled pass."""
SHARE: Final = 0.9
"""How much of a row a start gives to the cluster it says."""


class Bce(NamedTuple):
    """Parameters."""

    alpha: FloatArray  # (k,) concentration of the objects' shares
    log_probs: FloatArray  # (t, k) log beta, one row for each label of all columns


class Sums(NamedTuple):
    """What the rows of a part add to the next parameters."""

    labels: FloatArray  # (t, k) expected label counts, times the weights of the clusterings
    pulls: FloatArray  # (k,) expected logarithms of the objects' shares
    objects: float
    bound: float
    """The lower bound of the log-likelihood."""


class Inner(NamedTuple):
    """When the iterations on one row end."""

    tol: float
    """They end when no element of gamma moves by more."""
    most: int


SETTLE: Final = Inner(1e-10, 1000)
MARGIN: Final = 1e-7
"""Bounds of an object that differ by less, relative to 1 plus their size, are equal."""


def infer(params: Bce, rows: AnyEnsemble, weights: FloatArray, inner: Inner = SETTLE) -> tuple[FloatArray, FloatArray]:
    """(n, k) gamma of rows, and the (n,) bounds of their log-probabilities.

    Each row begins twice, with its labels shared out evenly and with nearly all of them in the cluster that gives them
    the highest chance, and keeps the higher bound; so it depends on its labels and the parameters alone. `weights` (r,)
    are 1 on average in training.
    """
    gamma, bounds = even_gamma(rows, weights, params.alpha), np.empty(len(rows))
    expect(params, rows, weights, gamma, bounds, inner)
    scores = params.log_probs * weights[label_columns(rows.offsets)][:, None]
    likeliest, _ = assigned(rows, scores, np.zeros(len(params.alpha)))
    other, others = leaning_gamma(rows, weights, params.alpha, likeliest), np.empty(len(rows))
    expect(params, rows, weights, other, others, inner)
    better = clearly_better(others, bounds)
    gamma[better], bounds[better] = other[better], others[better]
    return gamma, bounds


def clearly_better(bounds: FloatArray, others: FloatArray) -> BoolArray:
    """Return where `bounds` exceed `others` by more than the rounding of sums, also of sums in fixed point.

    Two starts often end at the same point. Without a margin rounding would choose between them.
    """
    size = np.abs(np.where(np.isfinite(others), others, 0.0))  # a bound is -inf where no cluster gives a label
    return np.asarray(bounds > others + MARGIN * (1 + size))


def expect(
    params: Bce, part: AnyEnsemble, weights: FloatArray, gamma: FloatArray, bounds: FloatArray, inner: Inner
) -> Sums:
    """One pass over the rows, which moves their `gamma` (n, k) on, writes their `bounds` (n,) and adds up the rest."""
    alpha, log_probs, weights = sealed(params.alpha), sealed(params.log_probs), sealed(weights)
    base = float(gammaln(alpha.sum()) - gammaln(alpha).sum())
    tops = log_probs.max(axis=1)
    chances = sealed(np.exp(log_probs - tops[:, None]))

    def chunk(start: int, stop: int) -> Sums:
        labels, pulls = np.zeros(log_probs.shape), np.zeros(len(alpha))
        rest = (alpha, base, part.counts, inner.tol, inner.most, gamma, bounds, labels, pulls, start, stop)
        if isinstance(part, SoftEnsemble):
            bound = infer_memberships(part.matrix, part.offsets, weights, log_probs, *rest)
        else:
            bound = infer_rows(part.labels, part.offsets, weights, chances, tops, *rest)
        return Sums(labels, pulls, float(part.counts[start:stop].sum()), bound)

    return add_sums(map_chunks(chunk, len(part), ROWS) or [chunk(0, 0)])


def add_sums(parts: Sequence[Sums]) -> Sums:
    """Sums of several parts together, added in their order."""
    labels, pulls = parts[0].labels.copy(), parts[0].pulls.copy()
    for part in parts[1:]:
        labels += part.labels
        pulls += part.pulls
    return Sums(labels, pulls, sum(part.objects for part in parts), sum(part.bound for part in parts))


def even_gamma(part: AnyEnsemble, weights: FloatArray, alpha: FloatArray) -> FloatArray:
    """(n, k) gamma where each row's labels are shared out evenly."""
    return np.asarray(alpha + known_weight(part, weights)[:, None] / len(alpha))


def leaning_gamma(part: AnyEnsemble, weights: FloatArray, alpha: FloatArray, labels: IntArray) -> FloatArray:
    """(n, k) gamma where each row gives its own cluster SHARE of its labels and all others the rest, evenly."""
    k = len(alpha)
    shares = np.full((len(labels), k), (1 - SHARE) / (k - 1) if k > 1 else 1.0)
    shares[np.arange(len(labels)), labels] = SHARE if k > 1 else 1.0
    return np.asarray(alpha + known_weight(part, weights)[:, None] * shares)


def known_weight(part: AnyEnsemble, weights: FloatArray) -> FloatArray:
    """(n,) the weights of the clusterings in which a row is known, together."""
    known = part.known if isinstance(part, SoftEnsemble) else part.labels >= 0
    if (weights == 1).all():  # counting is cheaper than a product
        return np.asarray(np.count_nonzero(known, axis=1), np.float64)
    return np.asarray(known @ weights)
