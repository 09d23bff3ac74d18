"""Figures of a reproduction in the paper's form: curves or bars with the printed points, matrices, scatter plots."""

from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import Any, Final

import numpy as np

from partita.core.records import Cell, Place, ShownExhibit
from partita.report.plots import INK, figure_classes, plain_axes, small_png

# Okabe and Ito's colours without the yellow; marker, line and hatch differ too, for prints without colour.
COLOURS: Final = ("#0072B2", "#D55E00", "#009E73", "#222222", "#56B4E9", "#CC79A7", "#E69F00", "#332288")
MARKERS: Final = ("o", "s", "^", "D", "v", "P", "X", "*")
LINES: Final = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)), (0, (8, 2)))
HATCHES: Final = ("", "///", "...", "xxx", "\\\\\\", "+++", "ooo", "---")
PRINTED: Final = "printed"
DOTS: Final = 100
MOST_GROUPS: Final = 8


def has_figure(shown: ShownExhibit) -> bool:
    """Whether there is anything to draw."""
    if shown.form == "points":
        return bool(shown.panels)
    return shown.form != "table" and any(cell.ours is not None for cell in shown.cells)


def picture(shown: ShownExhibit) -> bytes:
    """The figure as PNG."""
    draw = {"curves": _curves, "bars": _bars, "matrices": _matrices, "points": _points}[shown.form]
    return small_png(draw(shown), DOTS)


def _cells(shown: ShownExhibit) -> Mapping[tuple[str, str], Cell]:
    """What is drawn: the first statistic."""
    return {(cell.row, cell.column): cell for cell in shown.cells if cell.statistic == shown.statistics[0]}


def _curves(shown: ShownExhibit) -> Any:
    figure_class, _ = figure_classes()
    panels = list(dict.fromkeys(row.panel for row in shown.rows))
    across = min(len(panels), 3)
    down = -(-len(panels) // across)
    width = max(3.6 * across, 5.2)
    figure = figure_class(figsize=(width, 2.9 * down + 0.9), layout="constrained", facecolor="white")
    cells = _cells(shown)
    for place, panel in enumerate(panels):
        axes = figure.add_subplot(down, across, place + 1)
        _panel(axes, [row for row in shown.rows if row.panel == panel], shown, cells)
        axes.set_title(panel, fontsize=9, color=INK)
        axes.set_xlabel(shown.x_label, fontsize=8, color=INK)
        if place % across == 0:
            axes.set_ylabel(shown.score, fontsize=8, color=INK)
    _legend(figure, figure.axes)
    return figure


def _panel(axes: Any, rows: Sequence[Place], shown: ShownExhibit, cells: Mapping[tuple[str, str], Cell]) -> None:
    numbers = all(not isinstance(row.x, str) for row in rows)
    x = np.array([row.x if numbers else place for place, row in enumerate(rows)], np.float64)
    order = np.argsort(x, kind="stable")
    log = bool(numbers and x.min() > 0 and x.max() >= 100 * x.min())
    for place, column in enumerate(shown.columns):
        found = [cells.get((rows[i].name, column)) for i in order]
        style = {"color": COLOURS[place % 8], "marker": MARKERS[_turn(place)], "markersize": 4.5}
        ours = _values(found, "ours")
        if np.isfinite(ours).any():
            spread = np.nan_to_num(_values(found, "spread"))
            beside = _beside(x[order], place - (len(shown.columns) - 1) / 2, log)
            axes.errorbar(beside, ours, spread, label=column, linestyle=LINES[_turn(place)], linewidth=1.3,
                          elinewidth=0.7, capsize=2, **style)  # fmt: skip
        printed = _values(found, "published")
        if np.isfinite(printed).any():
            style |= {"markersize": 8.5, "markerfacecolor": "none", "linestyle": "none"}
            axes.plot(x[order], printed, label=PRINTED, **style)
    if log:
        axes.set_xscale("log")
        axes.minorticks_off()
    ticks = range(0, len(x), 1 if len(x) <= 10 or not numbers else -(-len(x) // 8))
    turned = {} if numbers else {"rotation": 40, "ha": "right"}
    axes.set_xticks([x[order[i]] for i in ticks], [f"{rows[order[i]].x}" for i in ticks], **turned)
    _frame(axes)


def _beside(x: Any, place: float, log: bool) -> Any:
    """A little to the side: bars of spread at the same x would hide each other."""
    if log:
        return x * (x.max() / x.min()) ** (0.004 * place)
    return x + 0.004 * float(np.ptp(x)) * place


def _bars(shown: ShownExhibit) -> Any:
    figure_class, _ = figure_classes()
    cells = _cells(shown)
    lines = [shown.rows[start : start + MOST_GROUPS] for start in range(0, len(shown.rows), MOST_GROUPS)]
    width = min(max(0.28 * len(shown.columns) * len(lines[0]) + 1.6, 5.2), 11.0)
    figure = figure_class(figsize=(width, 2.7 * len(lines) + 0.9), layout="constrained", facecolor="white")
    for place, rows in enumerate(lines):
        axes = figure.add_subplot(len(lines), 1, place + 1)
        _groups(axes, rows, shown, cells)
        axes.set_xlim(-0.6, max(len(lines[0]), len(rows)) - 0.4)
        axes.set_ylabel(shown.score, fontsize=8, color=INK)
    figure.axes[-1].set_xlabel(shown.x_label, fontsize=8, color=INK)
    _legend(figure, figure.axes)
    return figure


def _groups(axes: Any, rows: Sequence[Place], shown: ShownExhibit, cells: Mapping[tuple[str, str], Cell]) -> None:
    wide = 0.84 / len(shown.columns)
    groups = np.arange(len(rows))
    for place, column in enumerate(shown.columns):
        found = [cells.get((row.name, column)) for row in rows]
        at = groups + wide * (place - (len(shown.columns) - 1) / 2)
        ours, spread, printed = (_values(found, name) for name in ("ours", "spread", "published"))
        axes.bar(at, np.nan_to_num(ours), wide * 0.92, label=column, facecolor=COLOURS[place % 8], alpha=0.75,
                 edgecolor=INK, linewidth=0.6, hatch=HATCHES[_turn(place)])  # fmt: skip
        known = np.isfinite(ours)
        axes.errorbar(at[known], ours[known], np.nan_to_num(spread)[known], linestyle="none", color=INK, elinewidth=0.8)
        if np.isfinite(printed).any():
            axes.plot(at, printed, label=PRINTED, linestyle="none", marker="D", markersize=4.5, color=INK, mfc="white")
    names = ["\n".join(wrap(row.name, 14)) for row in rows]
    axes.set_xticks(groups, names)
    _frame(axes)


def _matrices(shown: ShownExhibit) -> Any:
    """One grid of squares per panel, darker for higher values."""
    figure_class, _ = figure_classes()
    cells = _cells(shown)
    panels = list(dict.fromkeys(row.panel for row in shown.rows))
    most = max((cell.ours for cell in shown.cells if cell.ours is not None), default=1.0)
    tall = max(sum(row.panel == panel for row in shown.rows) for panel in panels)
    across = min(len(panels), 5)
    down = -(-len(panels) // across)
    size = (max(0.27 * len(shown.columns) + 0.6, 1.5) * across, (0.27 * tall + 0.8) * down)
    figure = figure_class(figsize=size, layout="constrained", facecolor="white")
    for place, panel in enumerate(panels):
        rows = [row for row in shown.rows if row.panel == panel]
        axes = figure.add_subplot(down, across, place + 1)
        values = np.array([_values([cells.get((row.name, c)) for c in shown.columns], "ours") for row in rows])
        axes.imshow(values, cmap="Greys", vmin=0.0, vmax=most, aspect="equal")
        axes.set_xticks(range(len(shown.columns)), shown.columns, fontsize=7, rotation=90)
        axes.set_yticks(range(len(rows)), [str(row.x) for row in rows], fontsize=7)
        axes.set_title(panel, fontsize=9, color=INK)
        axes.tick_params(length=0)
    return figure


def _points(shown: ShownExhibit) -> Any:
    """One scatter plot per panel; groups differ in color and marker."""
    figure_class, _ = figure_classes()
    across = min(len(shown.panels), 4)
    down = -(-len(shown.panels) // across)
    size = (max(2.7 * across, 5.2), 2.6 * down + 0.4)
    figure = figure_class(figsize=size, layout="constrained", facecolor="white")
    for place, panel in enumerate(shown.panels):
        axes = figure.add_subplot(down, across, place + 1)
        for group in np.unique(panel.groups):
            inside = panel.groups == group
            axes.plot(*panel.points[inside].T, linestyle="none", marker=MARKERS[_turn(int(group))],
                      markersize=3.0, markeredgewidth=0.0, alpha=0.7, color=COLOURS[int(group) % 8],
                      label=panel.names[int(group)] if panel.names else None)  # fmt: skip
        axes.set_title(panel.title, fontsize=9, color=INK)
        axes.set_xlabel(panel.labels[0], fontsize=8, color=INK)
        axes.set_ylabel(panel.labels[1], fontsize=8, color=INK)
        if panel.names:
            place_below = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.22), "ncols": 3, "columnspacing": 1.0}
            axes.legend(fontsize=7, frameon=False, markerscale=1.6, handletextpad=0.2, **place_below)
        _frame(axes)
    return figure


def _turn(place: int) -> int:
    """Beyond eight columns colours come again, but with another marker, line and hatch."""
    return (place + place // 8) % 8


def _values(cells: Sequence[Cell | None], name: str) -> Any:
    """One attribute of the cells, NaN where there is none."""
    found = [None if cell is None else getattr(cell, name) for cell in cells]
    return np.array([np.nan if value is None else value for value in found], np.float64)


def _frame(axes: Any) -> None:
    plain_axes(axes)
    axes.grid(axis="y", color="#E4E4E4", linewidth=0.6)
    axes.set_axisbelow(True)
    for side in ("left", "bottom"):
        axes.spines[side].set_visible(True)
        axes.spines[side].set_color("#BBBBBB")


def _legend(figure: Any, panels: Sequence[Any]) -> None:
    """Every column once, and one sign for all printed points."""
    found: dict[str, Any] = {}
    for axes in panels:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    printed = found.pop(PRINTED, None)
    if printed is not None:
        found["hollow: printed"] = printed
    inches = 0.65 + 0.075 * max(map(len, found), default=0)  # of one entry at this size
    columns = max(min(len(found), int(figure.get_figwidth() / inches)), 1)
    figure.set_figheight(figure.get_figheight() + 0.18 * (-(-len(found) // columns) - 1))
    figure.legend(
        list(found.values()), list(found), loc="outside lower center", ncols=columns, fontsize=8, frameon=False
    )
