"""How far an ensemble agrees with a labelling, and with itself."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, Final

import numpy as np

from partita.core.ensemble import Ensemble
from partita.core.soft import SoftEnsemble
from partita.core.threads import map_threads
from partita.core.types import FloatArray
from partita.core.unique_clusterings import unique_clusterings
from partita.metrics.contingency import Contingency, ensemble_tables
from partita.metrics.information import joint_nmi, nmi_of
from partita.metrics.joint import Joint, column_span, ensemble_joint, hard_joint, hard_tables
from partita.metrics.pairs import ari_of

BLOCK_CELLS: Final = 1 << 15
"""Cells of the tables of one clustering with a block of others, which then stay in the cache."""


def anmi(ensemble: Ensemble | SoftEnsemble, labels: Any) -> float:
    """Average normalised mutual information of a labelling with the clusterings, Strehl and Ghosh (2002), eqs 4 and 6.

    sum_j w_j |L_j| NMI_j / sum_j w_j |L_j|, where L_j holds the objects known in clustering j and in `labels`, NMI_j is
    taken over them and w_j is the clustering's weight. For memberships, of the ensemble or as `labels` (n, k), NMI is
    that of the joint p(a, b) = (1/n) sum_i s_ia u_ib. NaN when no clustering that counts knows a labelled object.

    >>> ensemble = Ensemble.from_labels([[0, 0], [0, 0], [1, 0], [1, None]])
    >>> round(anmi(ensemble, ["x", "x", "y", "y"]), 4)
    0.5714
    """
    return mean_nmi(*nmi_and_objects(ensemble, labels), ensemble.weights)


def nmi_and_objects(ensemble: Ensemble | SoftEnsemble, labels: Any) -> tuple[FloatArray, FloatArray]:
    """Return the NMI of a labeling with each clustering, NaN if undefined, and the number of objects known in both."""
    joint = ensemble_joint(ensemble, labels)
    if joint is not None:
        return joint_nmi(joint)
    tables = ensemble_tables(ensemble, labels)
    return np.array([nmi_of(table) for table in tables]), np.array([float(table.total) for table in tables])


def mean_nmi(nmi: FloatArray, objects: FloatArray, weights: FloatArray) -> float:
    """Return ANMI from the NMI with each clustering, the number of objects known in both, and the weights."""
    amounts = weights * objects
    known = amounts > 0
    return float(np.sum(amounts[known] * nmi[known]) / amounts.sum()) if known.any() else float("nan")


def anmi_of(tables: Sequence[Contingency], weights: FloatArray) -> float:
    """ANMI from the tables of `ensemble_tables` and the weights of the clusterings."""
    totals = np.array([float(table.total) for table in tables])
    return mean_nmi(np.array([nmi_of(table) for table in tables]), totals, weights)


def column_nmi(ensemble: Ensemble | SoftEnsemble, labels: Any) -> FloatArray:
    """(r,) NMI of a labelling with each clustering, over the objects known in both; NaN where there are none."""
    return nmi_and_objects(ensemble, labels)[0]


def pairwise_nmi(ensemble: Ensemble) -> FloatArray:
    """(r, r) NMI of each two clusterings, over the objects known in both; NaN where there are none."""
    return _pairwise(ensemble, lambda joint: joint_nmi(joint)[0], nmi_of)


def pairwise_ari(ensemble: Ensemble) -> FloatArray:
    """(r, r) adjusted Rand index of each two clusterings, over the objects known in both; NaN where there are none."""
    return _pairwise(ensemble, lambda joint: [ari_of(table) for table in joint.tables()], ari_of)


def _pairwise(
    ensemble: Ensemble, joint_measure: Callable[[Joint], Any], measure: Callable[[Contingency], float]
) -> FloatArray:
    """Return a symmetric measure of each two clusterings, computed for unique rows and unique clusterings.

    `joint_measure` returns the values of `measure` for tables that are in one array.
    """
    unique = unique_clusterings(_compressed(ensemble))
    part, r = unique.ensemble, len(unique.first)
    repeats = r < len(ensemble.names)
    blocks = _column_blocks(part)

    def row(i: int) -> FloatArray:
        # The values of (a, b) and (b, a) differ in rounding. The result has (j, l) for j < l, and with equal
        # clusterings both orders of two unique ones can occur.
        values, start, span = np.zeros(r), 0 if repeats else i, column_span(part, i)
        for begin, block in blocks:
            stop, first = begin + len(block.names), max(start - begin, 0)
            if stop > start:
                joint = hard_joint(block, span, first)
                tables = hard_tables(block, span, first) if joint is None else ()
                values[begin + first : stop] = (
                    [measure(table) for table in tables] if joint is None else joint_measure(joint)
                )
        return values

    values = np.array(map_threads(row, range(r)))[unique.inverse][:, unique.inverse]
    return np.asarray(np.triu(values) + np.triu(values, 1).T)


def _column_blocks(ensemble: Ensemble) -> list[tuple[int, Ensemble]]:
    """Return consecutive clusterings with the position of the first.

    The tables of any clustering with those of a block have at most BLOCK_CELLS cells, or the block is one clustering.
    """
    most = max(BLOCK_CELLS // (max(ensemble.sizes) + 1), 1)
    ends, width = [0], 0
    for j, size in enumerate(ensemble.sizes):
        width += size + 1
        if width > most and j > ends[-1]:
            ends.append(j)
            width = size + 1
    ends.append(len(ensemble.sizes))
    if len(ends) == 2:
        return [(0, ensemble)]
    return [(start, ensemble.columns(list(range(start, stop)))) for start, stop in pairwise(ends)]


def _compressed(ensemble: Ensemble) -> Ensemble:
    first, inverse = ensemble.distinct
    if len(first) == len(ensemble):
        return ensemble
    counts = np.bincount(inverse, weights=ensemble.multiplicity, minlength=len(first))
    return ensemble.rows(first).with_counts(counts)
