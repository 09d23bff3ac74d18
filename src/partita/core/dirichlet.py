"""Bayesian cluster ensembles on rows: what an object's labels say of its shares of the clusters.

The fit (`models.bce`) and the placing of new rows (`core.links`) share it. See `models.bce` for the story.
"""

import math
from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from partita.core.counting import assigned, label_columns
from partita.core.errors import ParameterError
from partita.core.memory import check_memory
from partita.core.sampling import collapsed
from partita.core.soft import AnyEnsemble, SoftEnsemble
from partita.core.threads import map_chunks
from partita.core.types import BoolArray, FloatArray, IntArray, sealed
from partita.kernels.dirichlet import infer_memberships, infer_rows
from partita.kernels.scores import IMPOSSIBLE
from partita.kernels.urn import fill_counts, urn_rows

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


MAX_COUNT_VECTORS: Final = 1_000_000
"""Largest number of count vectors for which the exact likelihood is computed, see `exact_log_probs`."""
EXACT_ROWS: Final = 64
"""Rows per call of the exact likelihood."""


class CountVectors(NamedTuple):
    """All counts of labels in k clusters, see `kernels.urn`."""

    counts: NDArray[np.int16]  # (vectors, k - 1)
    below: NDArray[np.int32]  # (vectors, k - 1)
    starts: NDArray[np.int64]


def exact_log_probs(params: Bce, rows: AnyEnsemble, weights: FloatArray) -> FloatArray:
    """(n,) log-probabilities of rows, the shares of every object integrated out.

    p(y_i) = sum over z of p(z) prod_j beta_{z_j, j}(y_ij), where p(z) depends only on the counts of the clusters in z:
    of m known labels and k clusters there are (m + k - 1 choose k - 1) count vectors, at most `MAX_COUNT_VECTORS`. The
    time per unique row is proportional to m k times that number. A row of memberships has the factor
    exp(sum_l s_ij(l) log beta_hj(l)) for a label, as in the bound. The model has no weights of clusterings: a label of
    weight w is no w labels, so that unequal weights are refused.
    """
    k = len(params.alpha)
    odd = [j for j, weight in enumerate(weights.tolist()) if weight > 0 and not math.isclose(weight, 1, rel_tol=1e-9)]
    if odd:
        raise ParameterError(
            f"exact=True needs clusterings of equal weight, but {rows.names[odd[0]]!r} has the weight "
            f"{weights[odd[0]]:.4g} (1 on average); use exact=False, which gives a lower bound of the log-likelihood"
        )
    unique, inverse = collapsed(rows)
    known = (unique.known if isinstance(unique, SoftEnsemble) else unique.labels >= 0) & (weights > 0)
    most = int(np.count_nonzero(known, axis=1).max(initial=0))
    vectors = math.comb(most + k - 1, k - 1)
    if vectors > MAX_COUNT_VECTORS:
        raise ParameterError(
            f"exact=True needs {vectors} count vectors for {most} known labels and {k} clusters, more than "
            f"{MAX_COUNT_VECTORS}; use exact=False, which gives a lower bound of the log-likelihood"
        )
    check_memory(6 * vectors * k, "exact=True", "use exact=False, which gives a lower bound of the log-likelihood")
    counts, below = np.zeros((vectors, k - 1), np.int16), np.zeros((vectors, k - 1), np.int32)
    starts = np.zeros(most + 2, np.int64)
    fill_counts(most, counts, below, starts)
    vectors_of_counts = CountVectors(sealed(counts), sealed(below), sealed(starts))
    logs = np.zeros(len(unique))
    map_chunks(partial(_exact_chunk, params, unique, sealed(known), vectors_of_counts, logs), len(unique), EXACT_ROWS)
    return np.asarray(logs[inverse])


def _exact_chunk(
    params: Bce,
    rows: AnyEnsemble,
    known: BoolArray,
    vectors: CountVectors,
    logs: FloatArray,
    start: int,
    stop: int,
) -> None:
    """Write the exact log-probabilities of some rows."""
    log_probs = params.log_probs
    scores = np.zeros((stop - start, len(rows.names), log_probs.shape[1]))
    for j, (first, last) in enumerate(pairwise(rows.offsets.tolist())):
        table_j = log_probs[first:last]
        if isinstance(rows, SoftEnsemble):
            shares, never = rows.matrix[start:stop, first:last], table_j <= IMPOSSIBLE
            scores[:, j] = shares @ np.where(never, 0.0, table_j) + IMPOSSIBLE * ((shares > 0) @ never)
        elif last > first:
            scores[:, j] = table_j[np.maximum(rows.labels[start:stop, j], 0)]
    tops = scores.max(axis=2)
    some, out = known[start:stop], np.zeros(stop - start)
    urn_rows(sealed(np.exp(scores - tops[:, :, None])), some, sealed(params.alpha), *vectors, out)
    out += np.where(some, tops, 0.0).sum(axis=1)
    out[(some & (tops <= IMPOSSIBLE)).any(axis=1)] = -np.inf
    logs[start:stop] = out


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
