"""TraceDisplay: the objective over the iterations, a line a chain."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from partita.core.consensus import Consensus
from partita.core.errors import ParameterError
from partita.core.types import FloatArray, IntArray
from partita.report import plots
from partita.report.displays.base import Display
from partita.report.displays.words import counted, listed
from partita.report.themes import LINES, Theme, line_colour

MOST_POINTS: Final = 1000
"""Points of a line; of more iterations every so many-th is shown."""


@dataclass(frozen=True, eq=False, repr=False)
class TraceDisplay(Display):
    """How an iterative method came to its result: its objective, or the log joint of every chain of a sampler."""

    title: str
    what: str
    """What the lines show: "log joint" or "objective"."""
    step: str
    """What is counted: "sweep" or "iteration"."""
    iterations: IntArray
    """(points,) counted from 1."""
    values: FloatArray
    """(chains, points)."""
    clusters: IntArray | None
    """(chains, points) the number of clusters, where it changes on the way."""
    burn_in: int
    """So many first iterations were not kept; 0 where all count."""
    total: int
    """How many iterations there were."""
    converged: bool | None
    verdict: str
    """What the method says of its convergence."""

    @classmethod
    def from_consensus(cls, result: Consensus, title: str = "") -> "TraceDisplay":
        """Refused where the method does not iterate."""
        detail = result.detail
        traces = detail.get("log joint by sweep") or ((tuple(result.trace),) if result.trace else ())
        if not traces or not len(traces[0]):
            name = result.recipe.method if result.recipe else "this method"
            raise ParameterError(f"{name} has no trace: it does not iterate; there is nothing to draw")
        sampler = "log joint" in detail or "log joint by sweep" in detail
        values = np.array(traces, np.float64)
        total = values.shape[1]
        shown = np.arange(0, total, -(-total // MOST_POINTS))
        shown = shown if shown[-1] == total - 1 else np.append(shown, total - 1)
        numbers = detail.get("clusters by sweep")
        params = {} if result.recipe is None else result.recipe.params
        what = "log joint" if sampler else "objective"
        by = f" of {result.recipe.method}" if result.recipe else ""
        return cls(
            title or f"{what.capitalize()}{by}",
            what,
            "sweep" if sampler else "iteration",
            shown + 1,
            values[:, shown],
            None if numbers is None else np.array(numbers)[:, shown],
            min(int(params.get("burn_in", 0)), total) if sampler else 0,
            total,
            result.converged,
            str(detail.get("verdict", "")),
        )

    @property
    def alt(self) -> str:
        """What the picture shows, in words and numbers."""
        chains = counted(len(self.values), "chain") if self.step == "sweep" else "one line"
        said = f"{self.what.capitalize()} over {counted(self.total, self.step)}, {chains}: "
        ends = [f"{value:.6g}" for value in self.values[:, -1]]
        said += f"from {self.values[0, 0]:.6g} to {listed(ends[:8])}."
        if self.clusters is not None:
            low, high = int(self.clusters[:, -1].min()), int(self.clusters[:, -1].max())
            said += f" At the end there are {low if low == high else f'{low} to {high}'} clusters."
        return f"{said} {self.verdict[:1].upper()}{self.verdict[1:]}." if self.verdict else said

    @property
    def caption(self) -> str:
        """What the shade means and what the method says."""
        parts = []
        if self.burn_in:
            parts.append(f"shaded: the first {counted(self.burn_in, self.step)}, not kept")
        if len(self.iterations) < self.total:
            parts.append(f"every {-(-self.total // MOST_POINTS)}th {self.step} is drawn")
        return "; ".join([*parts, *([self.verdict] if self.verdict else [])])

    @property
    def inches(self) -> tuple[float, float]:
        """Width and height."""
        return 7.4, 3.8 if self.clusters is None else 5.4

    def draw(self, axes: Any, theme: Theme) -> None:
        """The objective, and below it the number of clusters where it changes."""
        if self.clusters is None:
            self._draw_lines(axes, theme, self.values, self.what)
            plots.axis_names(axes, theme, self.step, self.what)
            return
        at = plots.panels(axes, (1,), (3, 2))
        above, below = at(0, 0), at(1, 0)
        self._draw_lines(above, theme, self.values, self.what)
        self._draw_lines(below, theme, self.clusters, "clusters")
        plots.axis_names(above, theme, y=self.what)
        plots.axis_names(below, theme, self.step, "clusters")

    def _draw_lines(self, axes: Any, theme: Theme, values: FloatArray | IntArray, what: str) -> None:
        if self.burn_in:
            axes.axvspan(0.5, self.burn_in + 0.5, color=theme.line, alpha=0.5, linewidth=0)
        alone = len(values) == 1
        for chain, line in enumerate(values):
            look = {"color": theme.accent} if alone else {
                "color": line_colour(chain, theme), "linestyle": LINES[chain % len(LINES)]}  # fmt: skip
            marker = "o" if len(line) <= 30 else None
            axes.plot(self.iterations, line, label=f"chain {chain + 1}", linewidth=1.1, marker=marker, ms=3, **look)
        axes.set_xlim(0.5, self.total + 0.5)
        axes.margins(y=0.08)
        axes.locator_params(axis="x" if what == self.what else "both", integer=True)
        plots.framed_axes(axes, theme, "y")
        if not alone and what == self.what:
            plots.legend(axes, theme, columns=2)
