"""How far an ensemble agrees with a labelling, and with itself."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from partita.core.ensemble import Ensemble
from partita.core.errors import ParameterError
from partita.core.soft import SoftEnsemble
from partita.core.threads import map_chunks
from partita.core.types import MISSING, FloatArray, IntArray
from partita.kernels.tables import mean_of_columns, mean_of_members
from partita.metrics.contingency import Contingency, ensemble_tables
from partita.metrics.information import nmi_of
from partita.metrics.joint import (
    Joint,
    as_span,
    column_span,
    hard_joint,
    hard_tables,
    is_membership,
    members_joint,
    padded_codes,
)
from partita.metrics.labelling import Span
from partita.metrics.pairs import ari_of


def anmi(ensemble: Ensemble | SoftEnsemble, labels: Any) -> float:
    """Average normalised mutual information of a labelling with the clusterings, Strehl and Ghosh (2002), eqs 4 and 6.

    sum_j w_j |L_j| NMI_j / sum_j w_j |L_j|, where L_j holds the objects known in clustering j and in `labels`, NMI_j is
    taken over them and w_j is the clustering's weight. For memberships, of the ensemble or as `labels` (n, k), NMI is
    that of the joint p(a, b) = (1/n) sum_i s_ia u_ib. NaN when no clustering that counts knows a labelled object.

    >>> ensemble = Ensemble.from_labels([[0, 0], [0, 0], [1, 0], [1, None]])
    >>> round(anmi(ensemble, ["x", "x", "y", "y"]), 4)
    0.5714
    """
    return anmi_of(ensemble_tables(ensemble, labels), ensemble.weights)


def anmi_of(tables: Sequence[Contingency], weights: FloatArray) -> float:
    """ANMI from the tables of `ensemble_tables` and the weights of the clusterings."""
    totals = weights * np.array([float(table.total) for table in tables])
    if not totals.any():
        return float("nan")
    scores = [total * nmi_of(table) for total, table in zip(totals, tables, strict=True) if total > 0]
    return float(np.sum(scores) / totals.sum())


def column_nmi(ensemble: Ensemble | SoftEnsemble, labels: Any) -> FloatArray:
    """(r,) NMI of a labelling with each clustering, over the objects known in both; NaN where there are none."""
    return np.array([nmi_of(table) for table in ensemble_tables(ensemble, labels)])


def pairwise_nmi(ensemble: Ensemble) -> FloatArray:
    """(r, r) NMI of each two clusterings, over the objects known in both; NaN where there are none."""
    return _pairwise(ensemble, nmi_of)


def pairwise_ari(ensemble: Ensemble) -> FloatArray:
    """(r, r) adjusted Rand index of each two clusterings, over the objects known in both; NaN where there are none."""
    return _pairwise(ensemble, ari_of)


def _pairwise(ensemble: Ensemble, measure: Callable[[Contingency], float]) -> FloatArray:
    """A symmetric measure of each two clusterings, counted over the distinct rows."""
    part = _compressed(ensemble)
    r = len(part.names)
    agreement = np.empty((r, r))
    for j in range(r):
        row = [measure(table) for table in hard_tables(part, column_span(part, j), first=j)]
        agreement[j, j:] = agreement[j:, j] = row
    return agreement


def _compressed(ensemble: Ensemble) -> Ensemble:
    first, inverse = ensemble.distinct
    if len(first) == len(ensemble):
        return ensemble
    counts = np.bincount(inverse, weights=ensemble.multiplicity, minlength=len(first))
    return ensemble.rows(first).with_counts(counts)


def agreement_confidence(ensemble: Ensemble | SoftEnsemble, labels: Any) -> FloatArray:
    """(n,) how far each object's base clusters bear out its label, between 0 and 1.

    The weighted mean, over the clusterings that know the object, of the share of its base cluster's labelled members
    that carry the object's label; a soft clustering gives the mean over its clusters by membership. NaN where the
    object has no label, or no clustering that counts knows it.

    >>> ensemble = Ensemble.from_labels([[0, 0], [0, 1], [0, 1]])
    >>> agreement_confidence(ensemble, [0, 0, 1]).round(3).tolist()
    [0.833, 0.583, 0.417]
    """
    if is_membership(labels):
        raise ParameterError("confidence is that of one label an object; give labels, not memberships")
    span = as_span(ensemble, labels)
    if isinstance(ensemble, SoftEnsemble):
        means = _mean_of_members(ensemble, span)
    else:
        joint = hard_joint(ensemble, span)
        means = _mean_by_column(ensemble, span) if joint is None else _mean_of_joint(ensemble, span, joint)
    means[span.values == MISSING] = np.nan
    return means


def _shares(joint: Joint) -> FloatArray:
    """For each label and base cluster, the share of the cluster's labelled members with that label; row 0 is empty."""
    sums = joint.table.sum(axis=0)
    return np.pad(joint.table / np.where(sums > 0, sums, 1), ((1, 0), (0, 0)))


def _mean_of_joint(ensemble: Ensemble, span: Span, joint: Joint) -> FloatArray:
    shares, rows, means = _shares(joint), padded_codes(span), np.empty(len(ensemble))

    def part(start: int, stop: int) -> None:
        mean_of_columns(rows, ensemble.labels, joint.places, shares, ensemble.weights, means, start, stop)

    map_chunks(part, len(rows))
    return means


def _mean_of_members(ensemble: SoftEnsemble, span: Span) -> FloatArray:
    shares, rows, means = _shares(members_joint(ensemble, span)), padded_codes(span), np.empty(len(ensemble))
    weights = np.repeat(ensemble.weights, ensemble.sizes)

    def part(start: int, stop: int) -> None:
        mean_of_members(rows, ensemble.matrix, shares, weights, means, start, stop)

    map_chunks(part, len(rows))
    return means


def _mean_by_column(ensemble: Ensemble, span: Span) -> FloatArray:
    """The same one clustering at a time, by sorting, for labellings with very many clusters."""
    counts = ensemble.counts
    totals, weights = np.zeros(len(counts)), np.zeros(len(counts))
    for j, weight in enumerate(ensemble.weights):
        rows = np.flatnonzero((span.values != MISSING) & (ensemble.labels[:, j] != MISSING))
        clusters: IntArray = ensemble.labels[rows, j]
        pairs = span.values[rows].astype(np.int64) * ensemble.sizes[j] + clusters
        _, cells = np.unique(pairs, return_inverse=True)
        together = np.bincount(cells, weights=counts[rows])[cells]
        totals[rows] += weight * together / np.bincount(clusters, weights=counts[rows])[clusters]
        weights[rows] += weight
    means: FloatArray = np.divide(totals, weights, out=np.full(len(counts), np.nan), where=weights > 0)
    return means
