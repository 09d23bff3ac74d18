"""ResultDisplay: sizes and confidence of the clusters and agreement of the base clusterings, without the ensemble."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from partita.core.consensus import Consensus
from partita.core.types import FloatArray, IntArray
from partita.report import plots
from partita.report.displays.base import Display
from partita.report.displays.drawing import agreement_bars, some_ticks
from partita.report.displays.ordering import confidence_quantiles, most_and_least
from partita.report.displays.words import amount, counted, listed, short_names
from partita.report.themes import Theme

MAX_CLUSTERS: Final = 60
"""Clusters shown: the largest."""
MAX_COLUMNS: Final = 40
"""Clusterings shown: those that agree most with the consensus, and least."""
MAX_NAMED_SIZES: Final = 30
"""Clusters whose size is written next to the bar."""


@dataclass(frozen=True, eq=False, repr=False)
class ResultDisplay(Display):
    """Cluster sizes, confidence within each cluster, and agreement of each base clustering with the consensus."""

    title: str
    clusters: IntArray
    """(shown,) cluster numbers, ascending."""
    sizes: IntArray
    """(shown,) number of objects in each."""
    confidence: FloatArray
    """(shown, 5) quantiles 5 %, 25 %, 50 %, 75 % and 95 % of the confidence of its objects; NaN if not defined."""
    names: tuple[str, ...]
    """Base clusterings, in descending order of agreement; empty if the result does not contain it."""
    agreement: FloatArray
    """(names,) NMI with the consensus."""
    k: int
    objects: int
    unlabelled: int
    """Number of objects without a consensus label."""
    clusterings: int
    """Number of base clusterings, shown or not."""

    @classmethod
    def from_result(cls, result: Consensus, title: str = "") -> "ResultDisplay":
        """Summarize a consensus.

        Parameters
        ----------
        result : Consensus
            Sizes and confidence come from its labels, agreement from `result.agreement`.
        title : str, optional

        Returns
        -------
        ResultDisplay

        Examples
        --------
        >>> import partita
        >>> from partita.report import ResultDisplay
        >>> result = partita.consensus([[0, 0, 1], [0, 0, 1], [1, 1, 0], [1, 1, 1]], "voting", 2)
        >>> ResultDisplay.from_result(result).save("result.png")  # doctest: +SKIP
        """
        sizes = result.sizes
        shown = np.sort(np.argsort(-sizes, kind="stable")[:MAX_CLUSTERS])
        confidence = np.full(len(result), np.nan) if result.confidence is None else result.confidence
        rows = result.agreement
        agreement = np.array([np.nan if row["nmi"] is None else row["nmi"] for row in rows], float)
        columns = most_and_least(agreement, MAX_COLUMNS)
        return cls(
            title or f"Consensus of {counted(len(result), 'object')} in {counted(result.k, 'cluster')}",
            shown,
            sizes[shown],
            confidence_quantiles(result.labels, confidence, np.ones(len(result)), result.k)[shown],
            tuple(str(rows[j]["clustering"]) for j in columns),
            agreement[columns],
            result.k,
            len(result),
            result.unknown,
            len(rows),
        )

    @property
    def alt(self) -> str:
        """Description of the plot in words and numbers, as alternative text for screen readers."""
        text = f"{counted(self.objects, 'object')} in {counted(self.k, 'cluster')}"
        if len(self.sizes):
            text += f" of {amount(self.sizes.min())} to {counted(self.sizes.max(), 'object')}"
        medians = self.confidence[:, 2]
        if np.isfinite(medians).any():
            low, high = int(np.nanargmin(medians)), int(np.nanargmax(medians))
            text += f". Median confidence is lowest in cluster {self.clusters[low]} ({medians[low]:.2f})"
            text += f" and highest in cluster {self.clusters[high]} ({medians[high]:.2f})"
        names = short_names(self.names, 60)
        pairs = [f"{names[j]} {self.agreement[j]:.2f}" for j in np.flatnonzero(np.isfinite(self.agreement))]
        if pairs:
            pairs = pairs if len(pairs) <= 8 else [*pairs[:4], "…", *pairs[-3:]]
            text += f". Agreement with the base clusterings (NMI): {listed(pairs)}"
        return f"{text}."

    @property
    def caption(self) -> str:
        """Text below the plot."""
        parts = []
        if np.isfinite(self.confidence).any():
            parts.append("confidence: box 25 % to 75 % of the objects, line 5 % to 95 %, dot median")
        if self.k > len(self.clusters):
            parts.append(f"the {len(self.clusters)} largest of {self.k:,} clusters")
        if self.unlabelled:
            parts.append(f"{counted(self.unlabelled, 'object')} without a label not shown")
        if self.clusterings > len(self.names):
            parts.append(f"{counted(self.clusterings - len(self.names), 'clustering')} of medium agreement not shown")
        return "; ".join(parts)

    @property
    def inches(self) -> tuple[float, float]:
        """Width and height of the figure if no axes are given."""
        rows = max(len(self.clusters), len(self.names))
        return 11.0 if self.names else 7.0, float(np.clip(1.8 + 0.21 * rows, 3.6, 11.0))

    def draw(self, axes: Any, theme: Theme) -> None:
        """Draw two panels, and a third one if the agreement is known."""
        at = plots.panels(axes, (3, 3, 3) if self.names else (3, 3), (1,))
        self._draw_sizes(at(0, 0), theme)
        self._draw_confidence(at(0, 1), theme)
        if self.names:
            agreement_bars(at(0, 2), self.names, self.agreement, theme, len(self.clusters) // 2)

    def _draw_sizes(self, axes: Any, theme: Theme) -> None:
        largest = int(self.sizes.max(initial=1))
        for row, (cluster, size) in enumerate(zip(self.clusters.tolist(), self.sizes.tolist(), strict=True)):
            axes.barh(row, size, height=0.8, **plots.look_of(cluster, theme))
            if len(self.clusters) <= MAX_NAMED_SIZES:
                number = f"{size:,}"
                axes.text(size + 0.02 * largest, row, number, va="center", fontsize=plots.TINY, color=theme.ink)
        axes.set_xlim(0, 1.25 * largest)
        axes.locator_params(axis="x", nbins=4, integer=True)
        axes.xaxis.set_major_formatter(lambda value, _: amount(value))
        self._name_clusters(axes, theme)
        plots.axis_names(axes, theme, y="cluster")
        plots.set_title(axes, theme, "objects per cluster")

    def _draw_confidence(self, axes: Any, theme: Theme) -> None:
        for row, (cluster, values) in enumerate(zip(self.clusters.tolist(), self.confidence, strict=True)):
            if np.isnan(values).any():
                axes.text(0.02, row, "–", va="center", fontsize=plots.TINY, color=theme.soft)
                continue
            lowest, low, median, high, highest = values.tolist()
            axes.plot((lowest, highest), (row, row), color=theme.soft, linewidth=1.0, zorder=1)
            axes.barh(row, max(high - low, 0.006), left=low, height=0.8, **plots.look_of(cluster, theme))
            axes.plot(median, row, marker="o", markersize=4, color=theme.ink, markerfacecolor=theme.ground)
        axes.set_xlim(-0.01, 1.01)
        axes.set_xticks([0, 0.5, 1])
        self._name_clusters(axes, theme)
        defined = np.isfinite(self.confidence).any()
        plots.set_title(axes, theme, "confidence per cluster" if defined else "no confidence")

    def _name_clusters(self, axes: Any, theme: Theme) -> None:
        ticks = some_ticks(len(self.clusters), int(1 / plots.share_of_line(axes)[1]))
        axes.set_yticks(ticks, [str(self.clusters[row]) for row in ticks])
        axes.set_ylim(len(self.clusters) - 0.4, -0.6)
        plots.framed_axes(axes, theme, "x")
        axes.tick_params(axis="y", labelsize=plots.SMALL if len(self.clusters) <= 40 else plots.TINY)
