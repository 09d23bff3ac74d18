"""Parts that several pictures have: strips of clusters, ticks that do not overlap, words on fields."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from partita.core.types import MISSING, FloatArray, IntArray
from partita.report import plots
from partita.report.displays.words import short_names
from partita.report.themes import Theme, colour_of


class Run(NamedTuple):
    """Equal numbers one after another."""

    cluster: int
    start: int
    stop: int

    @property
    def middle(self) -> float:
        """Where its name stands, in rows of an image."""
        return (self.start + self.stop - 1) / 2


def runs(clusters: IntArray) -> list[Run]:
    """The runs of equal numbers.

    >>> [tuple(run) for run in runs(np.array([0, 0, 2]))]
    [(0, 0, 2), (2, 2, 3)]
    """
    if not len(clusters):
        return []
    starts = np.concatenate([[0], np.flatnonzero(np.diff(clusters)) + 1])
    stops = np.append(starts[1:], len(clusters))
    return [Run(int(clusters[a]), int(a), int(b)) for a, b in zip(starts, stops, strict=True)]


def spaced(axes: Any, found: Sequence[Run], across: bool = False) -> Iterator[Run]:
    """Yield the runs whose names do not overlap, in rows of the axes or, if `across`, in columns."""
    total = found[-1].stop if found else 0
    least = plots.share_of_line(axes, 1.3 if across else 1.0)[0 if across else 1]
    last = -np.inf
    for run in found:
        if run.middle - last >= least * total:
            last = run.middle
            yield run


def cluster_name(cluster: int) -> str:
    """What stands beside a cluster."""
    return "small" if cluster == MISSING else str(cluster)


def cluster_strip(axes: Any, clusters: IntArray, theme: Theme) -> None:
    """A block for every cluster, from the top down, with its number at the left where there is room."""
    found = runs(clusters)
    for run in found:
        look = plots.look_of(run.cluster, theme)
        axes.barh(run.middle, 1.0, height=run.stop - run.start, left=0.0, **look)
    named = list(spaced(axes, found))
    axes.set_yticks([run.middle for run in named], [cluster_name(run.cluster) for run in named])
    axes.set_xticks([])
    axes.set_xlim(0, 1)
    axes.set_ylim(len(clusters) - 0.5, -0.5)
    plots.plain_axes(axes, theme)
    plots.axis_names(axes, theme, y="cluster")


def name_runs(axes: Any, column: float, labels: IntArray, theme: Theme, k: int | None) -> None:
    """The numbers of clusters in a column of an image, on runs that are long enough."""
    least = plots.share_of_line(axes)[1]
    for run in runs(labels):
        if run.stop - run.start >= least * len(labels) and run.cluster != MISSING:
            matched = k is None or run.cluster < k
            name = str(run.cluster) if matched else "–"
            plots.number_on(axes, column, run.middle, name, colour_of(run.cluster, theme, k))


def agreement_bars(axes: Any, names: Sequence[str], agreement: FloatArray, theme: Theme, rows: int = 0) -> None:
    """Draw the agreement (NMI) of each clustering with the consensus as a bar with its number; "–" if not defined.

    The bars are at most as high as if there were `rows` clusterings.
    """
    places = np.arange(len(names))
    size = plots.SMALL if len(names) <= 24 else plots.TINY
    axes.barh(places, np.nan_to_num(agreement), color=theme.accent)
    for place, value in zip(places, agreement, strict=True):
        words = "–" if np.isnan(value) else f"{value:.2f}"
        axes.text(np.nan_to_num(value) + 0.02, place, words, va="center", fontsize=size, color=theme.ink)
    axes.set_yticks(places, tick_names(names))
    axes.set_ylim(max(len(names), rows) - 0.5, -0.6)
    axes.set_xlim(0, 1.14)
    axes.set_xticks([0, 0.5, 1])
    plots.plain_axes(axes, theme)
    axes.tick_params(axis="y", labelsize=size)
    plots.set_title(axes, theme, "agreement with the consensus (NMI)")


def some_ticks(many: int, most: int) -> IntArray:
    """Places of at most so many of the ticks, evenly.

    >>> some_ticks(5, 10).tolist(), some_ticks(10, 4).tolist()
    ([0, 1, 2, 3, 4], [0, 3, 6, 9])
    """
    return np.arange(0, many, max(-(-many // most), 1))


def tick_names(names: Sequence[str], most: int = 24) -> list[str]:
    """Return names as they are drawn: short, distinct, without formulas."""
    return [plots.safe(name) for name in short_names(names, most, plots.drawable)]
