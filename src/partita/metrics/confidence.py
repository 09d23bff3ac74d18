"""Confidence of each object in its cluster: one definition for the labels of every method and of any other source."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from partita.core.confidence import LabelCounts
from partita.core.ensemble import Ensemble
from partita.core.soft import AnyEnsemble, as_ensemble
from partita.core.types import MISSING, FloatArray, IntArray
from partita.metrics.contingency import Contingency, ensemble_tables
from partita.metrics.joint import as_span
from partita.metrics.together import labels_of


def confidence(ensemble: Any, labels: Any) -> FloatArray:
    """Confidence of each object in its cluster, between 0 and 1.

    The confidence of object i in its cluster g is (G_i(g) G_i(g) / sum_h G_i(h))^(1/3), at most 1, with
    G_i(h) = exp(mean_j log(P_h[j, y_ij] + .01)) over the clusterings j in which i is known. P_h[j, l] is the share of
    label l among the other objects of cluster h that are known in j, and 0 if there are none. It combines two
    questions: how often the base clusterings put the object together with the other members of its cluster (a
    geometric item consensus), and how much more often than with the members of other clusters.

    The weights of the clusterings weigh the mean. A soft assignment s_ij enters by its expected logarithm,
    sum_l s_ijl log(P_h[j, l] + .01). A row with multiplicity c has c - 1 other objects equal to it.

    Confidence describes how far the base clusterings support a label. It cannot detect that they agree and are wrong
    together.

    Parameters
    ----------
    ensemble : Ensemble, SoftEnsemble or table
        The base clusterings, as for `partita.consensus`.
    labels : Consensus or array-like of shape (n,)
        One label per object; None, NaN and -1 mean no cluster.

    Returns
    -------
    ndarray of shape (n,)
        NaN for an object that has no label, is alone in its cluster, or was never labeled together with another member
        of its cluster.

    Notes
    -----
    Takes time O(n r k) at most and memory for the non-empty cells of the table of base labels by cluster.

    Examples
    --------
    >>> from partita import Ensemble
    >>> ensemble = Ensemble.from_labels([[0, 0], [0, 0], [0, 1], [1, 1], [1, 1]])
    >>> confidence(ensemble, [0, 0, 1, 1, 2]).round(3).tolist()
    [0.978, 0.978, 0.322, 0.208, nan]
    """
    base = as_ensemble(ensemble)
    codes: IntArray = np.asarray(as_span(base, labels_of(labels)).values, np.int32)
    return label_counts(base, ensemble_tables(base, codes), codes).confidence(base, codes, counted=True)


def label_counts(ensemble: AnyEnsemble, tables: Sequence[Contingency], codes: IntArray) -> LabelCounts:
    """The table of base labels by cluster from the contingency tables of the labels `codes` with every clustering."""
    labels = np.concatenate([start + table.cols for start, table in zip(ensemble.offsets, tables, strict=False)])
    clusters = np.concatenate([table.rows for table in tables])
    counts = np.concatenate([table.counts for table in tables])
    order = np.argsort(labels, kind="stable")  # rows of a contingency table ascend, so clusters ascend within a label
    totals = np.zeros((len(tables), int(codes.max(initial=MISSING)) + 1))
    for j, table in enumerate(tables):
        if isinstance(ensemble, Ensemble):
            totals[j, : len(table.row_sums)] = table.row_sums[: totals.shape[1]]
        else:
            known = ensemble.known[:, j] & (codes != MISSING)
            totals[j] = np.bincount(codes[known], ensemble.counts[known], minlength=totals.shape[1])
    cells = (labels[order], clusters[order], counts[order])
    return LabelCounts.of_cells(*cells, totals, ensemble.weights, ensemble.offsets)
