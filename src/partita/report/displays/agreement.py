"""AgreementDisplay: how much base clusterings agree with each other, alike ones side by side."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from partita.core.types import FloatArray, IntArray
from partita.metrics import Agreement
from partita.report import plots
from partita.report.displays.base import Display
from partita.report.displays.drawing import some_ticks, tick_names
from partita.report.displays.words import counted, short_names
from partita.report.themes import Theme


@dataclass(frozen=True, eq=False, repr=False)
class AgreementDisplay(Display):
    """The matrix of agreement between clusterings in the order of a dendrogram, which is drawn above it."""

    title: str
    names: tuple[str, ...]
    """In the order shown."""
    matrix: FloatArray
    """(r, r) in the order shown."""
    measure: str
    """"nmi" or "ari"."""
    across: FloatArray
    """(r - 1, 4) where each join of the dendrogram runs: left foot, left top, right top, right foot, in columns."""
    heights: FloatArray
    """(r - 1, 4) how high, in 1 - agreement."""
    objects: int
    """How many were compared."""

    @classmethod
    def from_agreement(cls, agreement: Agreement, title: str = "") -> "AgreementDisplay":
        """What `clustering_agreement(ensemble)` found."""
        order = np.asarray(agreement.order)
        across, heights = _joins(np.asarray(agreement.linkage), order)
        return cls(
            title or f"Agreement between clusterings ({agreement.measure.upper()})",
            tuple(agreement.names[j] for j in order),
            np.array(agreement.matrix[np.ix_(order, order)]),
            agreement.measure,
            across,
            heights,
            int(agreement.objects),
        )

    @property
    def alt(self) -> str:
        """What the picture shows, in words and numbers."""
        many, called, names = len(self.names), self.measure.upper(), short_names(self.names, 60)
        if many < 2:
            return f"Agreement between clusterings: there is only one, {names[0]}."
        pairs = self.matrix.copy()
        np.fill_diagonal(pairs, np.nan)
        said = f"Heatmap of {called} between {many} clusterings"
        if not np.isfinite(pairs).any():
            return f"{said}: no two share objects."
        high, low = (np.unravel_index(int(which(pairs)), pairs.shape) for which in (np.nanargmax, np.nanargmin))
        known = np.isfinite(pairs)
        means = np.where(known, pairs, 0).sum(axis=1) / np.maximum(known.sum(axis=1), 1)
        least = np.argmin(np.where(known.any(axis=1), means, np.inf))
        return (
            f"{said}, mean {np.nanmean(pairs):.2f}. Most alike: {names[high[0]]} and {names[high[1]]} "
            f"({pairs[high]:.2f}); least: {names[low[0]]} and {names[low[1]]} ({pairs[low]:.2f}); "
            f"{names[int(least)]} agrees least with the others."
        )

    @property
    def caption(self) -> str:
        """How many objects were compared."""
        return f"{self.measure.upper()} over {counted(self.objects, 'object')}; lines: average linkage"

    @property
    def inches(self) -> tuple[float, float]:
        """Width and height."""
        side = float(np.clip(3.4 + 0.22 * len(self.names), 4.6, 10.5))
        return side + 1.0, side + 0.9

    def draw(self, axes: Any, theme: Theme) -> None:
        """The dendrogram over the matrix."""
        many = len(self.names)
        at = plots.panels(axes, (8, 0.28), (1.3 if many > 1 else 0.01, 8))
        tree, matrix = at(0, 0), at(1, 0)
        for across, heights in zip(self.across, self.heights, strict=True):
            tree.plot(across, heights, color=theme.soft, linewidth=1.0 if many <= 60 else 0.5)
        tree.set_xlim(-0.5, many - 0.5)
        tree.set_ylim(bottom=0)
        tree.set_axis_off()
        low = min(0.0, float(np.nanmin(self.matrix, initial=0.0)))
        image = plots.ramp_image(matrix, self.matrix, theme, low)
        shown = some_ticks(many, 48)
        names = tick_names(self.names)
        matrix.set_yticks(shown, [names[place] for place in shown])
        matrix.set_xticks(shown, [names[place] for place in shown], rotation=90)
        plots.plain_axes(matrix, theme)
        size = plots.SMALL if many <= 24 else 5.5
        matrix.tick_params(labelsize=size)
        if many <= 14:
            plots.numbers_in(matrix, self.matrix, [[f"{v:.2f}" if v == v else "" for v in row] for row in self.matrix])
        plots.ramp_bar(axes.figure, image, at(1, 1), theme, self.measure.upper())


def _joins(linkage: FloatArray, order: IntArray) -> tuple[FloatArray, FloatArray]:
    """The lines of a dendrogram whose leaves stand at 0, 1, 2, … in this order; linkage is in SciPy's form.

    >>> _joins(np.array([[0, 2, 0.1, 2], [1, 3, 0.5, 3]]), np.array([0, 2, 1]))[0].tolist()
    [[0.0, 0.0, 1.0, 1.0], [0.5, 0.5, 2.0, 2.0]]
    """
    leaves = len(order)
    place, height = np.zeros(2 * leaves - 1), np.zeros(2 * leaves - 1)
    place[order] = np.arange(leaves)
    across, heights = np.zeros((leaves - 1, 4)), np.zeros((leaves - 1, 4))
    for row, (first, second, top, _) in enumerate(linkage):
        left, right = sorted((int(first), int(second)), key=lambda node: place[node])
        across[row] = place[left], place[left], place[right], place[right]
        heights[row] = height[left], top, top, height[right]
        place[leaves + row], height[leaves + row] = (place[left] + place[right]) / 2, top
    return across, heights
