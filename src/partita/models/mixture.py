"""The mixture of label distributions: parameters, scores that add over columns, counts that add over rows.

Component c has weight a_c and, per clustering j, a distribution theta_jc over labels (Topchy, Jain and Punch 2004).
`at_site` is all that touches rows, so that rows can lie anywhere; `maximise` sees sums alone.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from partita.core.counting import label_columns, label_counts, sum_by_column, unit_weights
from partita.core.dirichlet import SHARE
from partita.core.ensemble import Ensemble
from partita.core.links import ROWS, shared_out
from partita.core.padded import aligned, padded, taken_back
from partita.core.soft import AnyEnsemble, SoftEnsemble
from partita.core.threads import map_chunks
from partita.core.types import FloatArray, IntArray, sealed
from partita.kernels.mixture import expect_memberships, expect_rows, undecided
from partita.kernels.scores import IMPOSSIBLE


class Mixture(NamedTuple):
    """Parameters, as logarithms."""

    log_weights: FloatArray  # (k,)
    log_probs: FloatArray  # (t, k) one row for each label of all columns


class Counts(NamedTuple):
    """What the rows of a part add to the next parameters."""

    weights: FloatArray  # (k,) expected cluster sizes
    labels: FloatArray  # (t, k) expected label counts
    log_likelihood: float
    leaders: int
    """Fingerprint of which component leads in which row."""


class Elsewhere(NamedTuple):
    """Rows that lie at other places: what is known of them here, and a way to have them add up."""

    offsets: IntArray
    weights: FloatArray
    expect: Callable[[Any], Any]
    """One expectation pass with given parameters over all of them."""


Rows: TypeAlias = AnyEnsemble | Elsewhere


def free_labels(part: AnyEnsemble) -> int:
    """How many of the chances of a component's labels are free: one less than there are labels, in each column."""
    if isinstance(part, Ensemble):
        return sum(size - 1 for size in part.sizes)
    occurs = part.matrix.any(axis=0).astype(np.int64)
    return int(np.maximum(np.add.reduceat(occurs, part.offsets[:-1]) - 1, 0).sum())


def scores_of(params: Mixture, part: Rows) -> FloatArray:
    """(t, k) what each label adds to a row's scores: its log-probability times its clustering's weight."""
    scores = params.log_probs * unit_weights(part)[label_columns(part.offsets)][:, None]
    return np.ascontiguousarray(np.where(params.log_probs <= IMPOSSIBLE, IMPOSSIBLE, scores))


def at_site(params: Mixture, part: Rows) -> Counts:
    """One expectation pass over the rows of a part; adds up over parts."""
    if isinstance(part, Elsewhere):
        found: Counts = part.expect(params)
        return found
    return _at_soft(params, part) if isinstance(part, SoftEnsemble) else _at_hard(params, part)


def _at_hard(params: Mixture, part: Ensemble) -> Counts:
    k, wide = len(params.log_weights), padded(params.log_weights, scores_of(params, part), part.offsets)
    flat = sealed(np.ascontiguousarray(part.labels).reshape(-1))

    def chunk(start: int, stop: int) -> Counts:
        weights, labels = np.zeros(k), aligned(len(wide.tables))
        found = expect_rows(flat, wide.starts, wide.tables, wide.bias, k, part.counts, labels, weights, start, stop)
        return Counts(weights, labels, *found)

    found = add_counts(map_chunks(chunk, len(part), ROWS) or [chunk(0, 0)])
    return found._replace(labels=taken_back(found.labels, part.offsets, k))


def _at_soft(params: Mixture, part: SoftEnsemble) -> Counts:
    tables, bias = sealed(scores_of(params, part)), sealed(params.log_weights)

    def chunk(start: int, stop: int) -> Counts:
        weights, labels = np.zeros(len(bias)), np.zeros(tables.shape)
        found = expect_memberships(part.matrix, tables, bias, part.counts, labels, weights, start, stop)
        return Counts(weights, labels, *found)

    return add_counts(map_chunks(chunk, len(part), ROWS) or [chunk(0, 0)])


def add_counts(parts: Sequence[Counts]) -> Counts:
    """Counts of several parts together, summed in their order."""
    weights, labels = parts[0].weights.copy(), parts[0].labels.copy()
    for part in parts[1:]:
        weights += part.weights
        labels += part.labels
    leaders = sum(int(part.leaders) for part in parts) % 2**64
    return Counts(weights, labels, sum(part.log_likelihood for part in parts), leaders)


def softened(part: AnyEnsemble, labels: IntArray, k: int, share: float = SHARE) -> Counts:
    """The counts of responsibilities that give each row's own cluster `share` and all others the rest, evenly."""
    return soften(*label_counts(part, labels, k), share)


def soften(tables: FloatArray, sizes: FloatArray, share: float = SHARE) -> Counts:
    """The same from the (t, k) labels and (k,) sizes of the clusters."""
    k = len(sizes)
    rest = (1 - share) / (k - 1) if k > 1 else 0.0
    own = share - rest if k > 1 else 1.0
    return Counts(own * sizes + rest * sizes.sum(), own * tables + rest * tables.sum(axis=1, keepdims=True), np.nan, 0)


def maximise(counts: Counts, offsets: IntArray, smoothing: float, weights: FloatArray) -> Mixture:
    """The parameters that fit the counts best, given `smoothing` imaginary objects with each label in each component.

    A component without objects keeps even distributions and weight 0.
    """
    pseudo = counts.labels * weights[label_columns(offsets)][:, None] + smoothing
    with np.errstate(divide="ignore"):
        log_weights = np.maximum(np.log(counts.weights / counts.weights.sum()), IMPOSSIBLE)
    return Mixture(log_weights, log_chances(pseudo, offsets))


def log_chances(labels: FloatArray, offsets: IntArray) -> FloatArray:
    """(t, k) the logarithm of each label's share of the counts of its clustering, even where there are none."""
    known = sum_by_column(labels, offsets)
    even = 1 / np.diff(offsets)[label_columns(offsets)][:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        probs = np.where(known > 0, labels / known, even)
        return np.maximum(np.log(probs), IMPOSSIBLE)


def log_prior(params: Mixture, smoothing: float) -> float:
    """The logarithm of the Dirichlet prior that smoothing stands for, less a constant."""
    return smoothing * float(params.log_probs.sum()) if smoothing else 0.0


def memberships(params: Mixture, part: AnyEnsemble) -> tuple[FloatArray, FloatArray]:
    """(n, k) the components' shares of every row, and the (n,) logarithms of the rows' probabilities."""
    return shared_out(params.log_weights, scores_of(params, part), part)


def entropy(shares: FloatArray, counts: FloatArray) -> float:
    """How undecided the shares of the rows are, in nats, summed with multiplicities."""
    return sum(map_chunks(partial(undecided, sealed(shares), counts), len(shares), ROWS))
