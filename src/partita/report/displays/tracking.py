"""TrackingDisplay: where objects go as the number of clusters grows."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from partita.core.consensus import Consensus
from partita.core.distinct import distinct_rows
from partita.core.errors import ParameterError
from partita.core.types import MISSING, FloatArray, IntArray
from partita.metrics import contingency
from partita.report import plots
from partita.report.displays.base import Display
from partita.report.displays.drawing import name_runs, some_ticks
from partita.report.displays.matching import matches, renamed
from partita.report.displays.ordering import MOST_BINS, MOST_ROWS, most_frequent
from partita.report.displays.words import counted
from partita.report.themes import Theme
from partita.selection import Selection


@dataclass(frozen=True, eq=False, repr=False)
class TrackingDisplay(Display):
    """The cluster of every object for every k; a cluster keeps its number and colour from one k to the next."""

    title: str
    ks: tuple[int, ...]
    colours: IntArray
    """(rows, ks) the cluster by a number that it keeps; of a bin the most frequent one, MISSING for no label."""
    shares: FloatArray
    """(rows, ks) the share of the bin's objects that are in it."""
    sizes: IntArray
    """(rows,) how many objects each row stands for."""
    clusters: IntArray
    """(ks,) how many clusters there are."""
    moved: FloatArray
    """(ks - 1,) the share of the objects that change their number on the way to the next k."""
    k: int | None
    """The k that was recommended."""

    @classmethod
    def from_selection(cls, selection: Selection, title: str = "", **bounds: int) -> "TrackingDisplay":
        """The consensuses of every k that was tried, with the recommended one; `bounds` as in `from_labels`."""
        return cls.from_labels(selection.labels, title, selection.k, **bounds)

    @classmethod
    def from_labels(
        cls,
        labels: Mapping[int, Any],
        title: str = "",
        k: int | None = None,
        *,
        most_rows: int = MOST_ROWS,
        bins: int = MOST_BINS,
    ) -> "TrackingDisplay":
        """Labels or a `Consensus` for each k; -1 where there is none. Above `most_rows` objects are binned."""
        ks, table = _table(labels)
        kept = np.stack(_keeping(table), axis=1)
        moved = [_moved(kept[:, j], kept[:, j + 1]) for j in range(len(ks) - 1)]
        counts = [len(np.unique(column[column != MISSING])) for column in table]
        rows = _tree_order(kept)
        many = len(rows) if len(rows) <= most_rows else bins
        starts = np.arange(many) * len(rows) // many
        sizes = np.diff(np.append(starts, len(rows)))
        shown = [most_frequent(column[rows], sizes) for column in kept.T]
        colours, shares = (np.stack(parts, axis=1) for parts in zip(*shown, strict=True))
        wanted = title or "Clusters of the objects as k grows"
        return cls(wanted, ks, colours, shares, sizes, np.array(counts), np.array(moved), k)

    @property
    def alt(self) -> str:
        """What the picture shows, in words and numbers."""
        ways = [f"{a} to {b}: {share:.0%}" for a, b, share in zip(self.ks, self.ks[1:], self.moved, strict=False)]
        said = f"Clusters of {counted(int(self.sizes.sum()), 'object')} for k from {self.ks[0]} to {self.ks[-1]}."
        return said + (f" Share that changes its cluster from k to k: {', '.join(ways[:12])}." if ways else "")

    @property
    def caption(self) -> str:
        """What a row is."""
        said = "objects in rows, a cluster keeps its number and colour from k to k"
        if (self.sizes > 1).any():
            said += f"; each row: about {self.sizes.mean():,.0f} objects, the most frequent cluster"
        return said + (f"; bold: k = {self.k}, recommended" if self.k is not None else "")

    @property
    def inches(self) -> tuple[float, float]:
        """Width and height."""
        return float(np.clip(1.4 + 0.62 * len(self.ks), 4.2, 12.0)), 5.6

    def draw(self, axes: Any, theme: Theme) -> None:
        """A column a k."""
        plots.label_image(axes, self.colours, None, theme)
        for column in range(1, len(self.ks)):
            axes.axvline(column - 0.5, color=theme.ground, linewidth=3)
        for column, labels in enumerate(self.colours.T):
            name_runs(axes, column, labels, theme, None)
        shown = some_ticks(len(self.ks), 24)
        axes.set_xticks(shown, [str(self.ks[place]) for place in shown])
        for tick, place in zip(axes.get_xticklabels(), shown, strict=True):
            tick.set_fontweight("bold" if self.ks[place] == self.k else "normal")
        axes.set_yticks([])
        plots.plain_axes(axes, theme)
        plots.axis_names(axes, theme, "k", "objects")


def _table(labels: Mapping[int, Any]) -> tuple[tuple[int, ...], list[IntArray]]:
    """The ks in order and the labels of each, as whole numbers."""
    if not labels:
        raise ParameterError("no labels to follow; give those of at least one k")
    ks = tuple(sorted(labels))
    columns = [np.asarray(one.labels if isinstance(one, Consensus) else one) for one in (labels[k] for k in ks)]
    for k, column in zip(ks, columns, strict=True):
        if column.ndim != 1 or column.dtype.kind not in "iu" or len(column) != len(columns[0]) or not len(column):
            raise ParameterError(
                f"labels of k = {k} have shape {column.shape} and type {column.dtype}; "
                f"give {len(columns[0])} whole numbers, one an object, -1 where unknown"
            )
    return ks, [np.where(column < 0, MISSING, column).astype(np.int64) for column in columns]


def _keeping(columns: list[IntArray]) -> list[IntArray]:
    """Every column's clusters under the numbers of those of the column before that they match; others get new ones."""
    kept: list[IntArray] = []
    used = 0
    for column in columns:
        if (column == MISSING).all():
            kept.append(column)
            continue
        if kept and (known := kept[-1] != MISSING).any() and (known & (column != MISSING)).any():
            target = matches(contingency(column, kept[-1]), used)
        else:
            target = used + np.arange(int(column.max()) + 1)
        whole = np.append(target, used + len(target) + np.arange(int(column.max()) + 1 - len(target)))
        kept.append(renamed(column, whole))
        used = max(used, int(kept[-1].max()) + 1)
    return kept


def _moved(before: IntArray, after: IntArray) -> float:
    known = (before != MISSING) & (after != MISSING)
    return float(np.mean(before[known] != after[known])) if known.any() else 0.0


def _tree_order(kept: IntArray) -> IntArray:
    """Objects by their cluster at the first k, those alike by the second, and so on; no label last."""
    first, inverse = distinct_rows(kept)
    keys = np.where(kept[first] == MISSING, np.iinfo(np.int64).max, kept[first])
    place = np.empty(len(first), np.int64)
    place[np.lexsort(keys.T[::-1])] = np.arange(len(first))
    return np.argsort(place[inverse], kind="stable")
