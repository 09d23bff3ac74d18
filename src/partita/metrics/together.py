"""What the clusters of a labelling hold of each clustering: all that means over pairs of objects need to be linear."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partita.core.consensus import Consensus
from partita.core.ensemble import Ensemble
from partita.core.errors import ParameterError
from partita.core.soft import AnyEnsemble, SoftEnsemble
from partita.core.types import MISSING, FloatArray, IntArray, frozen
from partita.metrics.joint import as_span, hard_joint, hard_tables, is_membership, members_joint
from partita.metrics.labelling import Span

FEW_CLUSTERS = 64
"""So many clusters are added up faster side by side than by looking for those that are there."""
SPARSE_SHARE = 0.25


class Together(NamedTuple):
    """The objects of each cluster by label of each clustering."""

    codes: IntArray
    """(n,) the cluster of each row, MISSING for none."""
    cells: Any
    """(labels of all clusterings, k) objects: an array, or a SciPy matrix by rows where most cells are empty."""
    places: NDArray[np.int64]
    """(r + 1,) where each clustering's labels begin among the cells."""
    cell_weights: FloatArray
    """The weight of the clustering of each cell, 0 for cells of unobserved labels."""
    totals: FloatArray
    """(r, k) objects that the clustering knows."""
    sizes: FloatArray
    """(k,) objects."""

    @property
    def sparse(self) -> bool:
        """Whether empty cells are left out."""
        return not isinstance(self.cells, np.ndarray)

    def weighted_cells(self) -> Any:
        """The cells times the weight of their clustering; sparse ones without those of no weight."""
        if not self.sparse:
            return self.cells * self.cell_weights[:, None]
        from scipy import sparse

        scaled = sparse.csr_array(sparse.diags_array(self.cell_weights) @ self.cells)
        scaled.eliminate_zeros()
        return scaled


def labels_of(labels: Any) -> Any:
    """The labels of a consensus, or labels as they are; memberships are refused."""
    found = labels.labels if isinstance(labels, Consensus) else labels
    if is_membership(found):
        raise ParameterError("labels are memberships; give one label an object, such as consensus.labels")
    return found


def together(ensemble: AnyEnsemble, labels: Any) -> Together:
    """The tables of a labelling: MISSING, None and NaN are no cluster, and label a of numbered ones is column a."""
    span = as_span(ensemble, labels_of(labels))
    codes = frozen(np.asarray(span.values, np.int32))
    width = max(span.low + span.width, 0)
    labelled = codes != MISSING
    sizes = np.bincount(codes[labelled], ensemble.counts[labelled], minlength=width).astype(np.float64)
    if isinstance(ensemble, SoftEnsemble):
        joint = members_joint(ensemble, span)
        totals = np.stack([_known(codes, seen & labelled, ensemble.counts, width) for seen in ensemble.known.T])
        cells, places = np.ascontiguousarray(joint.table.T, np.float64), ensemble.offsets
    else:
        cells, places = _hard_cells(ensemble, span, width)
        totals = np.stack(
            [np.asarray(cells[places[j] : places[j] + size].sum(axis=0)) for j, size in enumerate(ensemble.sizes)]
        ).astype(np.float64)
    cell_weights = np.zeros(cells.shape[0])
    for j, size in enumerate(ensemble.sizes):
        cell_weights[places[j] : places[j] + size] = ensemble.weights[j]
    return Together(codes, cells, places, cell_weights, totals, sizes)


def _known(codes: IntArray, seen: Any, counts: FloatArray, width: int) -> FloatArray:
    return np.bincount(codes[seen], counts[seen], minlength=width).astype(np.float64)


def _hard_cells(ensemble: Ensemble, span: Span, width: int) -> tuple[Any, NDArray[np.int64]]:
    """Unweighted cells, dense or sparse, and their places."""
    joint = hard_joint(ensemble, span)
    if joint is None:
        return _sparse_cells(ensemble, span, width), ensemble.offsets
    from scipy import sparse

    places = np.append(joint.places, joint.table.shape[1])
    cells = np.ascontiguousarray(joint.table.T, np.float64)
    if width > FEW_CLUSTERS and np.count_nonzero(cells) < SPARSE_SHARE * cells.size:
        return sparse.csr_array(cells), places
    return cells, places


def _sparse_cells(ensemble: Ensemble, span: Span, width: int) -> Any:
    from scipy import sparse

    tables = hard_tables(ensemble, span)
    rows = np.concatenate([place + table.cols for place, table in zip(ensemble.offsets, tables, strict=False)])
    columns = np.concatenate([table.rows for table in tables])
    counts = np.concatenate([table.counts for table in tables]).astype(np.float64)
    return sparse.csr_array((counts, (rows, columns)), shape=(int(ensemble.offsets[-1]), width))
