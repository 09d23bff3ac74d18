"""ConsensusDisplay: the label table ordered by consensus, how sure each object is, how much each clustering agrees."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from partita.core.consensus import Consensus
from partita.core.ensemble import Ensemble
from partita.core.soft import SoftEnsemble
from partita.core.types import MISSING, FloatArray, IntArray
from partita.metrics import column_nmi, contingency
from partita.report import plots
from partita.report.displays.base import Display
from partita.report.displays.drawing import agreement_bars, cluster_name, name_runs, runs, spaced, tick_names
from partita.report.displays.matching import matches, renamed
from partita.report.displays.ordering import (
    MOST_BINS,
    MOST_ROWS,
    hard_column,
    most_and_least,
    ordered_bins,
)
from partita.report.displays.words import counted, listed, short_names
from partita.report.themes import Theme

MOST_COLUMNS: Final = 40
"""Clusterings shown; of more, those that agree most with the consensus, and least."""


@dataclass(frozen=True, eq=False, repr=False)
class ConsensusDisplay(Display):
    """The label table ordered by consensus, the confidence of each object, the agreement of each clustering."""

    title: str
    names: tuple[str, ...]
    """The clusterings shown, those that agree most first."""
    labels: IntArray
    """(rows, 1 + names) the consensus and every clustering, renamed to match it; MISSING where unobserved, from k
    upwards what matches no cluster. Of a bin the labels of one object, drawn with a fixed seed."""
    k: int
    sizes: FloatArray
    """(rows,) how many objects each stands for."""
    confidence: FloatArray
    """(rows,) their mean confidence; NaN where it is not defined."""
    agreement: FloatArray
    """(names,) NMI with the consensus."""
    left_out: int
    """Clusterings that are not shown."""

    @classmethod
    def from_consensus(
        cls,
        ensemble: Ensemble | SoftEnsemble,
        result: Consensus,
        title: str = "",
        *,
        most_rows: int = MOST_ROWS,
        bins: int = MOST_BINS,
    ) -> "ConsensusDisplay":
        """Order the objects by cluster and confidence and rename the labels of each clustering to match the consensus.

        Parameters
        ----------
        ensemble : Ensemble or SoftEnsemble
            The base clusterings.
        result : Consensus
            Their consensus, for the same objects in the same order.
        title : str, optional
        most_rows : int, default 2000
            Maximum number of objects that have a row of their own.
        bins : int, default 500
            Number of rows if there are more objects. A row is then a bin of objects of one cluster that are next to
            each other in order of confidence. It shows the labels of one of them, drawn at random with a fixed seed, so
            that labels are as frequent in the rows of a cluster as among its objects, and their mean confidence.

        Returns
        -------
        ConsensusDisplay

        Examples
        --------
        >>> import partita
        >>> from partita.report import ConsensusDisplay
        >>> ensemble = partita.Ensemble.from_labels([[0, 1], [0, 1], [1, 0], [1, 0], [1, 1]])
        >>> display = ConsensusDisplay.from_consensus(ensemble, partita.consensus(ensemble, "voting", 2))
        >>> display.labels.shape
        (5, 3)
        """
        sure = np.full(len(result), np.nan) if result.confidence is None else result.confidence
        order = ordered_bins(result.labels, sure, most_rows, bins)
        agreement = np.nan_to_num(column_nmi(ensemble, result.labels))
        columns = most_and_least(agreement, MOST_COLUMNS)
        objects = order.sample()
        shown = [order.clusters, *(_shown(hard_column(ensemble, j), result, objects) for j in columns)]
        return cls(
            title or f"{len(ensemble.names)} clusterings and their consensus",
            tuple(ensemble.names[j] for j in columns),
            np.stack(shown, axis=1).astype(np.int64),
            result.k,
            order.totals(ensemble.counts),
            order.means(sure, ensemble.counts),
            agreement[columns],
            len(agreement) - len(columns),
        )

    @property
    def alt(self) -> str:
        """What the picture shows, in words and numbers."""
        said = f"Labels of {counted(self.sizes.sum(), 'object')} in {counted(len(self.names), 'clustering')}"
        said += f" ordered by their consensus of {counted(self.k, 'cluster')}. Agreement with it (NMI): "
        names = short_names(self.names, 60)
        pairs = [f"{name} {value:.2f}" for name, value in zip(names, self.agreement, strict=True)]
        return said + listed(pairs if len(pairs) <= 8 else [*pairs[:4], "…", *pairs[-3:]]) + "."

    @property
    def caption(self) -> str:
        """What a row is, and what is not shown."""
        parts = []
        if (self.sizes > 1).any():
            many = f"{self.sizes.mean():,.0f}"
            parts.append(f"each row: labels of one object drawn from about {many} of a cluster, their mean confidence")
        if self.left_out:
            parts.append(f"{counted(self.left_out, 'clustering')} of medium agreement not shown")
        return "; ".join(parts)

    @property
    def inches(self) -> tuple[float, float]:
        """Width and height."""
        clusters = len(np.unique(self.labels[:, 0]))
        height = max(5.8, 0.2 * len(self.names), min(2.2 + 0.2 * clusters, 9.0))
        return float(np.clip(8.6 + 0.28 * len(self.names), 9.0, 15.0)), height

    def draw(self, axes: Any, theme: Theme) -> None:
        """Table, confidence, agreement."""
        at = plots.panels(axes, (5, 1.3, 3), (1,))
        self._draw_table(at(0, 0), theme)
        self._draw_confidence(at(0, 1), theme)
        agreement_bars(at(0, 2), self.names, self.agreement, theme)

    def _draw_table(self, axes: Any, theme: Theme) -> None:
        plots.label_image(axes, self.labels, self.k, theme)
        axes.axvline(0.5, color=theme.ground, linewidth=4)
        found = runs(self.labels[:, 0])
        for run in found[:-1]:
            axes.axhline(run.stop - 0.5, color=theme.ground, linewidth=1.5 if len(found) <= 30 else 0.5)
        if len(self.names) <= 24:
            for column, labels in enumerate(self.labels.T):
                name_runs(axes, column, labels, theme, self.k)
        axes.set_xticks(range(len(self.names) + 1), ["consensus", *tick_names(self.names)], rotation=40, ha="right")
        named = list(spaced(axes, found))
        axes.set_yticks([run.middle for run in named], [f"cluster {cluster_name(run.cluster)}" for run in named])
        plots.plain_axes(axes, theme)
        if len(self.names) > 20:
            axes.tick_params(axis="x", rotation=90, labelsize=6)
        plots.set_title(axes, theme, "objects by cluster; pale: no label, grey: matches none")

    def _draw_confidence(self, axes: Any, theme: Theme) -> None:
        edges = np.arange(len(self.confidence) + 1) - 0.5
        axes.stairs(
            np.nan_to_num(self.confidence), edges, orientation="horizontal", fill=True, color=theme.soft, linewidth=0
        )
        axes.set_xlim(0, 1)
        axes.set_xticks([0, 1])
        axes.set_ylim(len(self.confidence) - 0.5, -0.5)
        axes.set_yticks([])
        plots.plain_axes(axes, theme)
        plots.set_title(axes, theme, "confidence" if np.isfinite(self.confidence).any() else "no confidence")


def _shown(column: IntArray, consensus: Consensus, objects: IntArray) -> IntArray:
    """Return the labels of these objects, each as the number of the consensus cluster that it matches."""
    both = (column != MISSING) & (consensus.labels != MISSING)
    if not both.any():
        return np.full(len(objects), MISSING)
    target = matches(contingency(column, consensus.labels), consensus.k)
    beyond = int(column.max()) + 1 - len(target)
    whole = np.append(target, consensus.k + len(target) + np.arange(max(beyond, 0)))
    return renamed(column[objects], whole)
