"""How far an ensemble agrees with a labelling, and with itself."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from partita.core.ensemble import Ensemble
from partita.core.soft import SoftEnsemble
from partita.core.types import FloatArray
from partita.metrics.contingency import Contingency, ensemble_tables
from partita.metrics.information import nmi_of
from partita.metrics.joint import (
    column_span,
    hard_tables,
)
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
