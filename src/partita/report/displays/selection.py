"""SelectionDisplay: every criterion over the number of clusters, with the recommended one."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from partita.core.types import FloatArray
from partita.report import plots
from partita.report.displays.base import Display
from partita.report.displays.words import listed
from partita.report.themes import Theme
from partita.selection import CRITERIA, Selection


@dataclass(frozen=True, eq=False)
class Curve:
    """One criterion over k."""

    title: str
    values: FloatArray
    """NaN where it is not known."""
    spread: FloatArray | None
    preferred: int
    """The k this criterion would choose."""
    chooses: bool


@dataclass(frozen=True, eq=False, repr=False)
class SelectionDisplay(Display):
    """Every criterion over the number of clusters, with the recommended one."""

    title: str
    ks: tuple[int, ...]
    k: int
    curves: tuple[Curve, ...]

    @classmethod
    def from_selection(cls, selection: Selection, title: str = "") -> "SelectionDisplay":
        """One curve a criterion, the one that chose first."""
        names = sorted(selection.preferred, key=lambda name: name != selection.criterion)
        curves = []
        for name in names:
            rule = CRITERIA[name]
            values = np.array([rule.of(trial) for trial in selection.trials])
            spread = np.array([np.nan if t.spread is None else t.spread for t in selection.trials], np.float64)
            called = f"{rule.title.removeprefix('the ')} ({rule.better} is best)"
            own = spread if name == "stability" else None
            curves.append(Curve(called, values, own, selection.preferred[name], name == selection.criterion))
        wanted = title or f"recommended k = {selection.k}: {selection.reason}"
        return cls(wanted, tuple(trial.k for trial in selection.trials), selection.k, tuple(curves))

    @property
    def alt(self) -> str:
        """What the picture shows, in words and numbers."""
        told = []
        for curve in self.curves:
            value = curve.values[self.ks.index(curve.preferred)]
            told.append(f"{curve.title.partition(' (')[0]} prefers {curve.preferred} ({value:.6g})")
        return f"Criteria for k from {self.ks[0]} to {self.ks[-1]}: {listed(told)}. Recommended: k = {self.k}."

    @property
    def caption(self) -> str:
        """What the marks mean."""
        key = "dashed: recommended k;  filled: best by this criterion"
        shaded = any(curve.spread is not None for curve in self.curves)
        return key + (";  grey: ± 1 standard deviation" if shaded else "")

    @property
    def _shape(self) -> tuple[int, int]:
        across = 3 if len(self.curves) > 4 else min(len(self.curves), 2)
        return -(-len(self.curves) // across), across

    @property
    def inches(self) -> tuple[float, float]:
        """Width and height."""
        down, across = self._shape
        return 3.6 * across, 2.5 * down + 0.7

    def draw(self, axes: Any, theme: Theme) -> None:
        """A panel for each criterion."""
        down, across = self._shape
        at = plots.panels(axes, (1,) * across, (1,) * down)
        for place, curve in enumerate(self.curves):
            self._draw_curve(at(*divmod(place, across)), curve, theme)

    def _draw_curve(self, axes: Any, curve: Curve, theme: Theme) -> None:
        axes.axvline(self.k, color=theme.soft, linewidth=1.2, linestyle=(0, (4, 3)), zorder=0)
        if curve.spread is not None:
            low, high = curve.values - curve.spread, curve.values + curve.spread
            axes.fill_between(self.ks, low, high, color=theme.line, linewidth=0, zorder=1)
        axes.plot(self.ks, curve.values, color=theme.accent, linewidth=1.4, marker="o", markersize=4.5,
                  mfc=theme.ground)  # fmt: skip
        best = self.ks.index(curve.preferred)
        axes.plot(curve.preferred, curve.values[best], marker="o", markersize=7.5, color=theme.ink, linestyle="none")
        edge = 0.06 * (self.ks[-1] - self.ks[0]) or 0.5
        axes.set_xlim(self.ks[0] - edge, self.ks[-1] + edge)
        plots.number_ticks(axes, self.ks)
        axes.margins(y=0.12)
        plots.framed_axes(axes, theme)
        plots.axis_names(axes, theme, "k")
        plots.set_title(axes, theme, curve.title, bold=curve.chooses)
