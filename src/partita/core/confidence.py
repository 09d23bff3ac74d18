"""Confidence of objects in their clusters, from how many members of each cluster have each label."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from partita.core.counting import column_scores
from partita.core.ensemble import Ensemble
from partita.core.padded import Padded, padded
from partita.core.soft import AnyEnsemble
from partita.core.threads import map_chunks
from partita.core.types import MISSING, FloatArray, FrozenArrays, IntArray, sealed
from partita.kernels.confidence import (
    FLOOR,
    confidence_of_blocks,
    confidence_of_labels,
    confidence_of_memberships,
    second_of_labels,
)

FEW_CLUSTERS: Final = 64
MAX_DENSE: Final = 1 << 22
"""Cells of the largest dense table."""


@dataclass(frozen=True, eq=False)
class LabelCounts(FrozenArrays):
    """The table of labels by cluster, without its empty cells: all that confidence depends on except the rows."""

    begins: NDArray[np.int64]
    """(t + 1,) first cell of each label of all clusterings."""
    clusters: NDArray[np.int64]
    """(m,) the cluster of each cell, ascending within a label."""
    counts: FloatArray
    """(m,) objects of the cluster with the label."""
    totals: FloatArray
    """(r, k) objects of each cluster that each clustering knows."""
    weights: FloatArray
    """(r,) of the clusterings; only their ratios matter."""
    offsets: NDArray[np.int64]
    """(r + 1,) first label of each clustering."""

    @classmethod
    def of(cls, tables: tuple[FloatArray, ...], weights: FloatArray) -> "LabelCounts":
        """From (k, labels) counts per clustering."""
        cells = np.concatenate(tables, axis=1).T
        labels, clusters = np.nonzero(cells)
        offsets = np.concatenate([[0], np.cumsum([table.shape[1] for table in tables])])
        totals = np.stack([table.sum(axis=1) for table in tables])
        return cls.of_cells(labels, clusters, cells[labels, clusters], totals, weights, offsets)

    @classmethod
    def of_cells(
        cls, labels: IntArray, clusters: IntArray, counts: Any, totals: Any, weights: FloatArray, offsets: IntArray
    ) -> "LabelCounts":
        """From cells that are ordered by label."""
        begins = np.searchsorted(labels, np.arange(offsets[-1] + 1)).astype(np.int64)
        return cls(
            begins,
            np.ascontiguousarray(clusters, np.int64),
            np.ascontiguousarray(counts, np.float64),
            np.ascontiguousarray(totals, np.float64),
            np.asarray(weights / weights.max(initial=1e-300), np.float64),
            np.asarray(offsets, np.int64),
        )

    def confidence(self, rows: AnyEnsemble, labels: IntArray, *, counted: bool) -> FloatArray:
        """(n,) confidence of rows, coded as in the table, in the clusters `labels`; see `partita.metrics.confidence`.

        `counted` says that the rows are among the objects of the table: each is then excluded from its own cluster.
        """
        out, codes = np.empty(len(rows)), sealed(np.ascontiguousarray(labels, np.int32))
        oneself = 1.0 if counted else 0.0
        weights = sealed(self.weights)
        company = sealed((self.totals - oneself > 0) & (weights[:, None] > 0))
        n_clusters = int((self.totals[self.weights > 0] > 0).any(axis=0).sum())
        gains, cells = self._gains(0.0), (sealed(self.offsets), sealed(self.begins), sealed(self.clusters))
        work: Callable[[int, int], None]
        if isinstance(rows, Ensemble) and self._few:
            flat = sealed(np.ascontiguousarray(rows.labels).reshape(-1))
            own = self._dense(1.0) if counted else np.empty((0, 0))
            wide = (self._padded.starts, self._padded.tables, self._padded.bias, company.shape[1], sealed(own))
            work = partial(confidence_of_blocks, flat, codes, sealed(self.offsets), *wide, company, out)
        elif isinstance(rows, Ensemble):
            own, known = self._gains(oneself) if counted else gains, sealed(np.ascontiguousarray(rows.labels))
            work = partial(confidence_of_labels, known, codes, *cells, gains, own, company, weights, n_clusters, out)
        else:
            counts = (sealed(self.counts), sealed(self.totals))
            soft = partial(confidence_of_memberships, rows.matrix, rows.known, codes, *cells, gains, *counts)
            work = partial(soft, oneself, company, weights, n_clusters, out)
        map_chunks(work, len(rows))
        return out

    def second(self, rows: AnyEnsemble, labels: IntArray) -> tuple[IntArray, FloatArray]:
        """Return the nearest other cluster of new rows, and their item consensus with it; see `metrics.item_consensus`.

            IC(i, h) = sum_j w_j sum_l s_ijl N_j[h, l] / sum_j w_j N_j[h]      over the clusterings j that know row i

        with s the memberships (one-hot for labels), N_j[h, l] the training objects of cluster h with label l, and
        N_j[h] those of cluster h that clustering j knows. MISSING and NaN if there is no other cluster.
        """
        nearest, best = np.full(len(rows), MISSING, np.int32), np.full(len(rows), np.nan)
        n_clusters = self.totals.shape[1]
        cells = np.zeros((int(self.offsets[-1]), n_clusters))
        cells[np.repeat(np.arange(len(cells)), np.diff(self.begins)), self.clusters] = self.counts
        cells *= self.weights[np.repeat(np.arange(len(self.weights)), np.diff(self.offsets))][:, None]

        totals = self.weights[:, None] * self.totals
        if isinstance(rows, Ensemble):
            table = (sealed(np.ascontiguousarray(rows.labels)), sealed(np.ascontiguousarray(labels, np.int32)))
            counts = (sealed(self.offsets), sealed(cells), sealed(totals))
            map_chunks(partial(second_of_labels, *table, *counts, nearest, best), len(rows))
            return nearest, best

        def part(start: int, stop: int) -> None:
            some = rows.rows(slice(start, stop))
            with np.errstate(invalid="ignore"):
                shares = column_scores(cells, some, np.zeros(n_clusters)) / (some.known @ totals)
            own = np.flatnonzero(labels[start:stop] != MISSING)
            shares[own, labels[start:stop][own]] = np.nan
            found = np.flatnonzero(np.isfinite(shares).any(axis=1) & (labels[start:stop] != MISSING))
            nearest[start + found] = np.nanargmax(shares[found], axis=1)
            best[start + found] = shares[found, nearest[start + found]]

        map_chunks(part, len(rows), max(1 << 10, (1 << 20) // max(n_clusters, 1)))
        return nearest, best

    @property
    def _few(self) -> bool:
        """True if a dense table is faster than the list of its cells."""
        cells = int(self.offsets[-1]) * self.totals.shape[1]
        return bool(cells <= MAX_DENSE and (self.totals.shape[1] <= FEW_CLUSTERS or 4 * len(self.counts) > cells))

    @cached_property
    def _padded(self) -> Padded:
        """The gains, with the weights of the clusterings in a further column, and -inf for clusters to ignore."""
        column = np.repeat(np.arange(len(self.weights)), np.diff(self.offsets))
        gains = np.column_stack([self._dense(0.0), self.weights[column]])
        present = (self.totals[self.weights > 0] > 0).any(axis=0)
        return padded(np.append(np.where(present, 0.0, -np.inf), 0.0), gains, self.offsets)

    def _dense(self, oneself: float) -> FloatArray:
        """(t, k) gains with those of empty cells, 0."""
        table = np.zeros((int(self.offsets[-1]), self.totals.shape[1]))
        table[np.repeat(np.arange(len(table)), np.diff(self.begins)), self.clusters] = self._gains(oneself)
        return table

    def _gains(self, oneself: float) -> FloatArray:
        """(m,) w_j log(1 + P / c) of every cell, of its other objects if `oneself` is 1."""
        column = self._columns
        others = self.totals[column, self.clusters] - oneself
        shares = np.maximum(self.counts - oneself, 0.0) / np.where(others > 0, others, np.inf)
        return sealed(self.weights[column] * np.log1p(shares / FLOOR))

    @cached_property
    def _columns(self) -> IntArray:
        """(m,) the clustering of each cell."""
        return np.repeat(np.arange(len(self.weights)), np.diff(self.begins[self.offsets]))
