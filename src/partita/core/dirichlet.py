"""Bayesian cluster ensembles on rows: what an object's labels say of its shares of the clusters.

The fit (`models.bce`) and the placing of new rows (`core.links`) share it. See `models.bce` for the story.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from scipy.special import gammaln

from partita.core.ensemble import Ensemble
from partita.core.soft import SoftEnsemble
from partita.core.threads import map_chunks
from partita.core.types import FloatArray, sealed
from partita.kernels.dirichlet import infer_memberships, infer_rows

ROWS: Final = 1 << 11
"""Rows worth a call of the compiled pass."""
Table: TypeAlias = Ensemble | SoftEnsemble


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


def infer(params: Bce, rows: Table, weights: FloatArray, inner: Inner = SETTLE) -> tuple[FloatArray, FloatArray]:
    """(n, k) gamma of rows, each from the evenly spread start, and the (n,) bounds of their log-probabilities.

    What a row gets depends on its labels and the parameters alone. `weights` (r,) are 1 on average in training.
    """
    gamma = even_gamma(rows, weights, params.alpha)
    bounds = np.empty(len(rows))
    expect(params, rows, weights, gamma, bounds, inner)
    return gamma, bounds


def expect(params: Bce, part: Table, weights: FloatArray, gamma: FloatArray, bounds: FloatArray, inner: Inner) -> Sums:
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

    return add_sums(map_chunks(chunk, len(part), ROWS))


def add_sums(parts: Sequence[Sums]) -> Sums:
    """Sums of several parts together, added in their order."""
    labels, pulls = parts[0].labels.copy(), parts[0].pulls.copy()
    for part in parts[1:]:
        labels += part.labels
        pulls += part.pulls
    return Sums(labels, pulls, sum(part.objects for part in parts), sum(part.bound for part in parts))


def even_gamma(part: Table, weights: FloatArray, alpha: FloatArray) -> FloatArray:
    """(n, k) gamma where each row's labels are shared out evenly."""
    return np.asarray(alpha + known_weight(part, weights)[:, None] / len(alpha))


def known_weight(part: Table, weights: FloatArray) -> FloatArray:
    """(n,) the weights of the clusterings in which a row is known, together."""
    known = part.known if isinstance(part, SoftEnsemble) else part.labels >= 0
    return np.asarray(known @ weights)
