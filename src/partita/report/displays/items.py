"""ItemDisplay: how firmly each object and each cluster holds together."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from partita.core.consensus import Consensus
from partita.core.types import FloatArray, IntArray
from partita.metrics import ItemConsensus
from partita.report import plots
from partita.report.displays.base import Display
from partita.report.displays.drawing import cluster_name, runs, some_ticks, spaced
from partita.report.displays.ordering import MOST_BINS, MOST_ROWS, ordered_bins
from partita.report.displays.words import counted
from partita.report.themes import Theme

MOST_CLUSTERS: Final = 80
"""Clusters that have a bar, the largest."""
MOST_TOLD: Final = 40
"""Clusters whose number is written beside the bar."""


@dataclass(frozen=True, eq=False, repr=False)
class ItemDisplay(Display):
    """Item-consensus, a bar an object or bin, highest first in each cluster; beside it cluster-consensus."""

    title: str
    clusters: IntArray
    """(bins,) the consensus cluster of each bar, rising; MISSING, at the end, where small clusters share bins."""
    sizes: FloatArray
    """(bins,) how many objects each bar stands for."""
    own: FloatArray
    """(bins,) mean co-association with the other members of the cluster; NaN where there are none."""
    other: FloatArray
    """(bins,) with the nearest other cluster; NaN where there is none."""
    cluster_consensus: FloatArray
    """(k,) mean item-consensus of each cluster; NaN for one that has nobody to compare."""
    silhouettes: FloatArray
    """(k,) mean silhouette of each cluster."""
    cluster_sizes: FloatArray
    """(k,) objects in each cluster."""
    mean: float
    """Mean item-consensus of all objects."""
    nearer: float
    """Objects that are together more often with another cluster."""

    @classmethod
    def from_items(
        cls,
        items: ItemConsensus,
        labels: Consensus | Any,
        title: str = "",
        *,
        most_rows: int = MOST_ROWS,
        bins: int = MOST_BINS,
    ) -> "ItemDisplay":
        """What `item_consensus(ensemble, labels)` found; above `most_rows` objects a bar stands for several."""
        codes = np.asarray(labels.labels if isinstance(labels, Consensus) else labels)
        order = ordered_bins(codes, items.own, most_rows, bins)
        counts = np.ones(len(codes)) if items.counts is None else items.counts
        known = np.isfinite(items.own)
        return cls(
            title or "How firmly objects hold to their cluster",
            order.clusters,
            order.totals(counts),
            order.means(items.own, counts),
            order.means(items.other, counts),
            np.array(items.clusters),
            np.array(items.silhouettes),
            np.array(items.sizes, np.float64),
            float(np.average(items.own[known], weights=counts[known])) if known.any() else np.nan,
            float(counts[items.other > items.own].sum()),
        )

    @property
    def alt(self) -> str:
        """What the picture shows, in words and numbers."""
        said = f"Bars of item-consensus of {counted(self.sizes.sum(), 'object')}"
        said += f" in {counted(len(self.cluster_sizes), 'cluster')}"
        if not np.isfinite(self.cluster_consensus).any():
            return f"{said}: no cluster has two objects that were labelled together."
        said += f", mean {self.mean:.2f}; {counted(self.nearer, 'object')} nearer to another cluster."
        low, high = int(np.nanargmin(self.cluster_consensus)), int(np.nanargmax(self.cluster_consensus))
        return (
            f"{said} Cluster-consensus goes from {self.cluster_consensus[low]:.2f} (cluster {low}) "
            f"to {self.cluster_consensus[high]:.2f} (cluster {high})."
        )

    @property
    def caption(self) -> str:
        """What the lines mean."""
        said = "bars: mean co-association with the own cluster; line: with the nearest other"
        if (self.sizes > 1).any():
            said += f"; each bar: about {self.sizes.mean():,.0f} objects"
        if len(self.cluster_sizes) > MOST_CLUSTERS:
            said += f"; right: the {MOST_CLUSTERS} largest clusters"
        return said

    @property
    def inches(self) -> tuple[float, float]:
        """Width and height."""
        return 10.0, float(np.clip(2.4 + 0.16 * len(self.cluster_sizes), 3.6, 8.0))

    def draw(self, axes: Any, theme: Theme) -> None:
        """Objects at the left, clusters at the right."""
        at = plots.panels(axes, (6, 3.2), (1,))
        self._draw_objects(at(0, 0), theme)
        self._draw_clusters(at(0, 1), theme)

    def _draw_objects(self, axes: Any, theme: Theme) -> None:
        found = runs(self.clusters)
        for run in found:
            edges = np.arange(run.start, run.stop + 1) - 0.5
            values = np.nan_to_num(self.own[run.start : run.stop])
            axes.stairs(values, edges, fill=True, **plots.look_of(run.cluster, theme))
        edges = np.arange(len(self.other) + 1) - 0.5
        axes.stairs(self.other, edges, baseline=None, color=theme.ground, linewidth=2.4)  # seen on any colour
        axes.stairs(self.other, edges, baseline=None, color=theme.ink, linewidth=0.9)
        named = list(spaced(axes, found, across=True))
        axes.set_xticks([run.middle for run in named], [cluster_name(run.cluster) for run in named])
        axes.set_xlim(-0.5, len(self.clusters) - 0.5)
        axes.set_ylim(0, 1.02)
        plots.framed_axes(axes, theme, "y")
        plots.axis_names(axes, theme, "cluster", "item-consensus")
        plots.set_title(axes, theme, "objects")

    def _draw_clusters(self, axes: Any, theme: Theme) -> None:
        drawn = np.sort(np.argsort(-self.cluster_sizes, kind="stable")[:MOST_CLUSTERS])
        values, silhouettes = self.cluster_consensus[drawn], self.silhouettes[drawn]
        for place, (cluster, value) in enumerate(zip(drawn.tolist(), values, strict=True)):
            axes.barh(place, np.nan_to_num(value), height=0.85, **plots.look_of(cluster, theme))
            if len(drawn) <= MOST_TOLD:
                said = "–" if np.isnan(value) else f"{value:.2f}"
                axes.text(1.03, place, said, va="center", fontsize=plots.TINY, color=theme.ink)
        axes.plot(silhouettes, np.arange(len(drawn)), linestyle="none", marker="D", markersize=4, color=theme.ink,
                  markerfacecolor=theme.ground, clip_on=False, zorder=3)  # fmt: skip
        ticks = some_ticks(len(drawn), MOST_TOLD)
        axes.set_yticks(ticks, [str(drawn[place]) for place in ticks])
        axes.set_ylim(len(drawn) - 0.4, -0.6)
        axes.set_xlim(min(0.0, float(np.nanmin(silhouettes, initial=0.0))), 1.0)
        plots.framed_axes(axes, theme, "x")
        plots.axis_names(axes, theme, y="cluster")
        plots.set_title(axes, theme, "cluster-consensus; diamond: silhouette")
