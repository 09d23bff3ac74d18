"""Contingency tables of labellings of any kind, and of a labelling against a whole ensemble."""

from typing import Any

import numpy as np

from partita.core.ensemble import Ensemble
from partita.core.errors import ParameterError
from partita.core.fields import check_length
from partita.core.soft import SoftEnsemble
from partita.metrics.joint import as_span, ensemble_joint, hard_tables
from partita.metrics.labelling import as_integers, check_object_weights, sampled_span
from partita.metrics.table import Contingency, from_cells, tabulate

__all__ = ["Contingency", "contingency", "ensemble_tables", "from_cells", "from_dense"]


def contingency(a: Any, b: Any, weights: Any = None) -> Contingency:
    """The table of two labellings of the same objects, as sparse as they make it.

    An object counts where both labels are known: None, NaN and -1 as a number mean unobserved. `weights` says how many
    objects each row stands for. Labels that are numbers of clusters (0, 1, 2, … below 65,536 or the number of objects)
    keep them, so row a is label a even where some label does not occur; other labels that occur are numbered, integers
    in order of value.

    >>> contingency(["x", "x", "y", None], [7, 7, -3, 7]).dense().tolist()
    [[0, 2], [1, 0]]
    """
    first, second = as_integers(a, "a"), as_integers(b, "b")
    check_length("a", len(first), "b", len(second))
    return tabulate(sampled_span(first), sampled_span(second), check_object_weights(weights, len(first)))


def from_dense(table: Any) -> Contingency:
    """From a table of counts or of shared probability, with its empty cells.

    >>> from_dense([[2, 0], [0, 3]])
    Contingency(2 x 2 clusters, 2 cells, 5 objects)
    """
    array = np.asarray(table)
    if array.ndim != 2 or array.dtype.kind not in "biuf":
        raise ParameterError(f"a table is a matrix of numbers; this has shape {array.shape} and type {array.dtype}")
    if not (np.isfinite(array) & (array >= 0)).all():
        raise ParameterError("a contingency table holds finite counts >= 0; this one has others")
    return from_cells(array.astype(np.float64 if array.dtype.kind == "f" else np.int64))


def ensemble_tables(ensemble: Ensemble | SoftEnsemble, labels: Any) -> tuple[Contingency, ...]:
    """The table of a labelling (rows) against each clustering (columns), over the objects known in both.

    `labels` has one label an object, or is an (n, k) membership matrix. A soft table holds sum_i s_ia u_ib, the counts
    to expect when both labels are drawn from the memberships. Rows of an ensemble with multiplicities count that many
    times. Row a is label a, as in `contingency`, in every table; column y is label code y of the clustering.
    """
    joint = ensemble_joint(ensemble, labels)
    if joint is None:
        assert isinstance(ensemble, Ensemble)
        return hard_tables(ensemble, as_span(ensemble, labels))
    return joint.tables()
