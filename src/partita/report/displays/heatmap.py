"""HeatmapDisplay: how often objects are together, ordered by consensus, then item consensus."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from partita.core.consensus import Consensus
from partita.core.ensemble import Ensemble
from partita.core.soft import SoftEnsemble
from partita.core.types import MISSING, FloatArray, IntArray
from partita.metrics import ItemConsensus, block_matrix, consensus_matrix, item_consensus
from partita.report import plots
from partita.report.displays.base import Display
from partita.report.displays.drawing import cluster_strip, runs
from partita.report.displays.ordering import MOST_BINS, MOST_ROWS, Bins, ordered_bins
from partita.report.displays.words import counted
from partita.report.themes import Theme

MOST_LINED: Final = 20
"""Clusters whose borders run through the whole picture."""


@dataclass(frozen=True, eq=False, repr=False)
class HeatmapDisplay(Display):
    """The consensus matrix: the share of the clusterings that put two objects together."""

    title: str
    matrix: FloatArray
    """(bins, bins) mean co-association of the objects of two bins; NaN where no clustering labels both."""
    clusters: IntArray
    """(bins,) the consensus cluster of each bin, rising; MISSING, at the end, where small clusters share bins."""
    sizes: FloatArray
    """(bins,) how many objects each stands for."""
    item_consensus: FloatArray
    """(bins,) their mean item consensus, highest first in each cluster; NaN where it is not defined."""
    k: int
    within: float
    """Mean item-consensus of all objects shown."""
    unknown: int
    """Objects that carry no consensus label and are not shown."""

    @classmethod
    def from_consensus(
        cls,
        ensemble: Ensemble | SoftEnsemble,
        result: Consensus,
        title: str = "",
        *,
        items: ItemConsensus | None = None,
        most_rows: int = MOST_ROWS,
        bins: int = MOST_BINS,
    ) -> "HeatmapDisplay":
        """Compute the co-association of the objects, ordered by cluster and item consensus.

        Parameters
        ----------
        ensemble : Ensemble or SoftEnsemble
            The base clusterings.
        result : Consensus
            Their consensus, for the same objects in the same order.
        title : str, optional
        items : ItemConsensus, optional
            `partita.metrics.item_consensus(ensemble, result)`, if it is already computed.
        most_rows : int, default 2000
            Maximum number of objects that have a row of their own.
        bins : int, default 500
            Number of rows if there are more objects; a row is then a bin of objects of one cluster.

        Returns
        -------
        HeatmapDisplay
        """
        found = item_consensus(ensemble, result) if items is None else items
        order = ordered_bins(result.labels, found.own, most_rows, bins)
        matrix = _matrix(ensemble, order)
        sizes = order.totals(ensemble.counts)
        known = np.isfinite(found.own)
        within = float(np.average(found.own[known], weights=ensemble.counts[known])) if known.any() else np.nan
        wanted = title or f"How often objects are together in {counted(len(ensemble.names), 'clustering')}"
        own = order.means(found.own, ensemble.counts)
        return cls(wanted, matrix, order.clusters, sizes, own, result.k, within, result.unknown)

    @property
    def binned(self) -> bool:
        """Whether a row stands for several objects."""
        return bool((self.sizes > 1).any())

    @property
    def alt(self) -> str:
        """What the picture shows, in words and numbers."""
        shape = f"{len(self.matrix)} bins of {counted(self.sizes.sum(), 'object')}" if self.binned else ""
        who = shape or counted(self.sizes.sum(), "object")
        between = _between(self.matrix, self.clusters, self.sizes)
        own = "" if np.isnan(self.within) else f"with its cluster {self.within:.0%} of the time"
        other = "" if np.isnan(between) else f"with other clusters {between:.0%}"
        together = ", and ".join(part for part in (own, other) if part)
        said = f"Heatmap of co-association: {who} in {counted(self.k, 'cluster')}, ordered by cluster."
        return f"{said} An object is together {together}." if together else said

    @property
    def caption(self) -> str:
        """How objects are binned, and who is not shown."""
        parts = []
        if self.binned:
            parts.append(f"each row: mean of about {self.sizes.sum() / len(self.sizes):,.0f} objects of a cluster")
        if (self.clusters == MISSING).any():
            parts.append("small: the smallest clusters together")
        if self.unknown:
            parts.append(f"{counted(self.unknown, 'object')} without a label not shown")
        return "; ".join(parts)

    @property
    def inches(self) -> tuple[float, float]:
        """Width and height."""
        return 7.4, 6.2

    def draw(self, axes: Any, theme: Theme) -> None:
        """Clusters, matrix, item consensus and the key of colours, side by side."""
        at = plots.panels(axes, (0.35, 8, 1.1, 0.28), (1,))
        cluster_strip(at(0, 0), self.clusters, theme)
        matrix = at(0, 1)
        image = plots.ramp_image(matrix, self.matrix, theme)
        self._draw_borders(matrix, theme)
        matrix.set_xticks([])
        matrix.set_yticks([])
        plots.plain_axes(matrix, theme)
        sure = at(0, 2)
        edges = np.arange(len(self.item_consensus) + 1) - 0.5
        sure.stairs(
            np.nan_to_num(self.item_consensus),
            edges,
            orientation="horizontal",
            fill=True,
            color=theme.soft,
            linewidth=0,
        )
        sure.set_xlim(0, 1)
        sure.set_xticks([0, 1])
        sure.set_ylim(len(self.item_consensus) - 0.5, -0.5)
        sure.set_yticks([])
        plots.plain_axes(sure, theme)
        plots.set_title(sure, theme, "item consensus")
        plots.ramp_bar(axes.figure, image, at(0, 3), theme, "together, share of clusterings")

    def _draw_borders(self, axes: Any, theme: Theme) -> None:
        """Lines between clusters; a frame around each where they are many, so that the lines do not hide the rest."""
        found = runs(self.clusters)
        if len(found) <= MOST_LINED:
            for run in found[:-1]:
                axes.axhline(run.stop - 0.5, color=theme.soft, linewidth=1.0)
                axes.axvline(run.stop - 0.5, color=theme.soft, linewidth=1.0)
            return
        for run in found:
            low, high = run.start - 0.5, run.stop - 0.5
            box = [low, high, high, low, low], [low, low, high, high, low]
            axes.plot(*box, color=theme.soft, linewidth=0.5, scalex=False, scaley=False)


def _matrix(ensemble: Ensemble | SoftEnsemble, order: Bins) -> FloatArray:
    """Mean co-association of bins; a bin of one object is wholly with itself."""
    if not len(order):
        return np.zeros((0, 0))
    if len(order) == len(order.rows):
        return np.array(consensus_matrix(ensemble, order.rows))
    matrix = np.array(block_matrix(ensemble, order.places(len(ensemble))))
    alone = np.flatnonzero((order.lengths == 1) & np.isnan(np.diag(matrix)))
    matrix[alone, alone] = 1.0
    return matrix


def _between(matrix: FloatArray, clusters: IntArray, sizes: FloatArray) -> float:
    """Mean co-association of objects of different clusters; NaN where there is one cluster."""
    apart = (clusters[:, None] != clusters[None, :]) & np.isfinite(matrix)
    pairs = np.outer(sizes, sizes)[apart]
    return float(np.average(matrix[apart], weights=pairs)) if pairs.sum() else np.nan
