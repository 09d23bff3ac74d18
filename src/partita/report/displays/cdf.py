"""CdfDisplay: how co-association is distributed for each k, and how much its area grows from k to k."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from partita.core.errors import ParameterError
from partita.core.types import FloatArray
from partita.metrics import Coassociation, delta_area
from partita.report import plots
from partita.report.displays.base import Display
from partita.report.themes import LINES, Theme, line_colour
from partita.selection import Selection


@dataclass(frozen=True, eq=False, repr=False)
class CdfDisplay(Display):
    """The cumulative distribution of co-association over pairs of objects, a curve a k, and the delta area."""

    title: str
    ks: tuple[int, ...]
    edges: FloatArray
    """(101,) co-association from 0 to 1."""
    cdf: FloatArray
    """(ks, 101) the share of pairs that are together at most so often."""
    errors: FloatArray
    """(ks,) how far the curve may be off; 0 where all pairs were looked at."""
    level: float
    """The chance that all of a curve lies within its error."""
    areas: FloatArray
    """(ks,) area under each curve."""
    delta: FloatArray
    """(ks,) the first area itself, then the relative change from the k before."""
    pac: FloatArray
    """(ks,) the share of pairs that are together neither nearly always nor nearly never: a flat middle is best."""
    limits: tuple[float, float]
    k: int | None
    """The k that was recommended."""

    @classmethod
    def from_selection(cls, selection: Selection, title: str = "") -> "CdfDisplay":
        """The ks of which halves of the clusterings were compared, with the recommended one."""
        found = {trial.k: trial.coassociation for trial in selection.trials if trial.coassociation is not None}
        if not found:
            raise ParameterError("no k has a distribution of co-association; call select_k with repeats >= 2")
        return cls.from_coassociations(found, title, selection.k)

    @classmethod
    def from_coassociations(
        cls, found: Mapping[int, Coassociation], title: str = "", k: int | None = None
    ) -> "CdfDisplay":
        """One curve for each k that there is."""
        if not found:
            raise ParameterError("no distribution of co-association; give at least one, by its k")
        ks = tuple(sorted(found))
        all_of = [found[each] for each in ks]
        if len({(one.limits, one.level) for one in all_of}) > 1:
            raise ParameterError("the distributions have different limits or levels; compute all with the same")
        areas = np.array([one.area for one in all_of])
        return cls(
            title or "Distribution of co-association over pairs of objects",
            ks,
            np.array(all_of[0].edges),
            np.stack([one.cdf for one in all_of]),
            np.array([one.error for one in all_of]),
            float(all_of[0].level),
            areas,
            np.array(delta_area(areas.tolist())),
            np.array([one.pac for one in all_of]),
            all_of[0].limits,
            k,
        )

    @property
    def alt(self) -> str:
        """What the picture shows, in words and numbers."""
        said = f"Curves of the distribution of co-association for k from {self.ks[0]} to {self.ks[-1]}."
        if not np.isfinite(self.pac).any():
            return f"{said} No two objects were labelled together."
        known = [(k, pac) for k, pac in zip(self.ks, self.pac, strict=True) if np.isfinite(pac)]
        shown = [f"{k}: {pac:.3f}" for k, pac in known]
        best = self.ks[int(np.nanargmin(self.pac))]
        areas = f" The area under them goes from {np.nanmin(self.areas):.3f} to {np.nanmax(self.areas):.3f}."
        pac = f" Share of ambiguous pairs by k: {', '.join(shown[:12])}; least at k = {best}."
        return said + areas + pac

    @property
    def caption(self) -> str:
        """What the lines mean, and how sure they are."""
        low, high = self.limits
        said = f"PAC: share of pairs together between {low:g} and {high:g} of the time, lower is better"
        if self.k is not None:
            said += f"; thick and filled: k = {self.k}, recommended"
        if self.errors.any():
            said += f"; sampled pairs: curves are right to ±{self.errors.max():.2g} with {self.level:.0%} confidence"
        return said

    @property
    def inches(self) -> tuple[float, float]:
        """Width and height."""
        return 10.0, 3.9

    def draw(self, axes: Any, theme: Theme) -> None:
        """The curves, the delta area and the ambiguous share."""
        at = plots.panels(axes, (4.6, 2.6, 2.6), (1,))
        self._draw_curves(at(0, 0), theme)
        delta, pac = at(0, 1), at(0, 2)
        self._draw_numbers(delta, theme, self.delta, "relative change of the area")
        delta.axhline(0, color=theme.line, linewidth=0.8)
        self._draw_numbers(pac, theme, self.pac, "ambiguous pairs (PAC)")
        if self.errors.any():
            error = 2 * self.errors
            pac.fill_between(self.ks, self.pac - error, self.pac + error, color=theme.soft, alpha=0.25, linewidth=0)
        pac.set_ylim(bottom=min(0.0, float(np.nanmin(self.pac - 2 * self.errors, initial=0.0))))

    def _draw_curves(self, axes: Any, theme: Theme) -> None:
        for place, k in enumerate(self.ks):
            look = {"color": line_colour(place, theme), "linestyle": LINES[place % len(LINES)]}
            width = 2.6 if k == self.k else 1.3
            axes.plot(self.edges, self.cdf[place], label=f"k = {k}", linewidth=width, **look)
        for limit in self.limits:
            axes.axvline(limit, color=theme.soft, linewidth=0.8, linestyle=(0, (1, 2)))
        plots.framed_axes(axes, theme, "y")
        axes.set_xlim(0, 1)
        axes.set_ylim(0, 1.02)
        plots.axis_names(axes, theme, "co-association", "share of pairs at most so often together")
        plots.set_title(axes, theme, "cumulative distribution")
        plots.legend(axes, theme, columns=1 if len(self.ks) <= 10 else 2)

    def _draw_numbers(self, axes: Any, theme: Theme, values: FloatArray, title: str) -> None:
        axes.plot(self.ks, values, color=theme.accent, linewidth=1.4, marker="o", markersize=4.5, mfc=theme.ground)
        if self.k in self.ks:
            chosen = self.ks.index(self.k)
            axes.plot(self.k, values[chosen], marker="o", markersize=7.5, color=theme.ink, linestyle="none")
        plots.number_ticks(axes, self.ks)
        plots.framed_axes(axes, theme, "y")
        plots.axis_names(axes, theme, "k")
        plots.set_title(axes, theme, title)
