"""ConfusionDisplay: clusters against known classes, matched."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from partita.core.columns import code_labels
from partita.core.consensus import Consensus
from partita.core.errors import ParameterError
from partita.core.types import MISSING, FloatArray, IntArray
from partita.metrics import ari_of, contingency, misassignment_of, nmi_of
from partita.metrics.table import Contingency
from partita.report import plots
from partita.report.displays.base import Display
from partita.report.displays.drawing import some_ticks, tick_names
from partita.report.displays.matching import matches
from partita.report.displays.words import amount, counted, listed, short_names
from partita.report.themes import Theme

MOST_SHOWN: Final = 60
"""Classes, and clusters, of which each has a row; the smallest of more share one."""
REST: Final = "other"


@dataclass(frozen=True, eq=False, repr=False)
class ConfusionDisplay(Display):
    """How many objects of each known class are in each cluster; the clusters in the order of the classes they match."""

    title: str
    classes: tuple[str, ...]
    """The rows; the last may be "other (…)"."""
    clusters: tuple[str, ...]
    """The columns."""
    counts: FloatArray
    """(classes, clusters) objects."""
    shares: FloatArray
    """(classes, clusters) of the class's objects."""
    matched: int
    """So many first rows and columns belong together."""
    nmi: float
    ari: float
    misassigned: float
    """The share of objects outside the best one-to-one match."""
    left_out: int
    """Rows without a label or without a class."""

    @classmethod
    def from_labels(
        cls, labels: Consensus | Any, truth: Any, title: str = "", weights: Any = None
    ) -> "ConfusionDisplay":
        """Labels or a `Consensus`, and the class of each object; None, NaN and -1 mean unknown.

        `weights` says how many objects each row stands for.
        """
        clusters = labels.labels if isinstance(labels, Consensus) else code_labels(labels, "labels")
        classes, names = _classes(truth)
        if len(classes) != len(clusters):
            raise ParameterError(f"{len(clusters)} labels and {len(classes)} classes; give one class an object")
        table = contingency(classes, clusters, weights)
        if not table.total:
            raise ParameterError("no object has both a label and a class; check that they are of the same objects")
        counts, rows, cols, matched = _arranged(table)
        return cls(
            title or "Known classes and clusters",
            tuple(names[row] for row in rows) + _rest(table.row_sums, rows),
            tuple(str(col) for col in cols) + _rest(table.col_sums, cols),
            counts,
            counts / np.maximum(counts.sum(axis=1, keepdims=True), 1),
            matched,
            float(nmi_of(table)),
            float(ari_of(table)),
            float(misassignment_of(table)),
            int(np.count_nonzero((classes == MISSING) | (clusters == MISSING))),
        )

    @property
    def alt(self) -> str:
        """What the picture shows, in words and numbers."""
        objects, many = counted(self.counts.sum(), "object"), counted(len(self.clusters), "cluster")
        said = f"Table of {objects} by {len(self.classes)} known classes and {many}: NMI {self.nmi:.2f}, "
        said += f"ARI {self.ari:.2f}, {self.misassigned:.1%} outside the best match."
        names = short_names(self.classes, 60)
        pairs = [f"{names[i]} in cluster {self.clusters[i]} ({self.shares[i, i]:.0%})" for i in range(self.matched)]
        return said + (f" Matched: {listed(pairs[:8])}." if pairs else "")

    @property
    def caption(self) -> str:
        """What is counted, and who is left out."""
        said = "numbers: objects; shade: share of the class; framed: class and cluster that match"
        return said + (f"; {counted(self.left_out, 'object')} without label or class left out" if self.left_out else "")

    @property
    def inches(self) -> tuple[float, float]:
        """Width and height."""
        rows, cols = self.counts.shape
        return float(np.clip(3.2 + 0.5 * cols, 4.6, 12.0)), float(np.clip(2.2 + 0.36 * rows, 3.4, 11.0))

    def draw(self, axes: Any, theme: Theme) -> None:
        """Classes in rows, clusters in columns."""
        rows, cols = self.counts.shape
        at = plots.panels(axes, (8, 0.28), (1,))
        table = at(0, 0)
        image = plots.ramp_image(table, self.shares, theme)
        if cols <= 24:
            said = [[amount(value) if value else "" for value in row] for row in self.counts]
            plots.numbers_in(table, self.shares, said)
        for edge in range(1, rows):
            table.axhline(edge - 0.5, color=theme.line, linewidth=0.6)
        for edge in range(1, cols):
            table.axvline(edge - 0.5, color=theme.line, linewidth=0.6)
        for place in range(self.matched):
            plots.frame(table, place, place, theme)
        across, down = some_ticks(cols, 60), some_ticks(rows, 60)
        table.set_xticks(across, [tick_names(self.clusters, 12)[place] for place in across])
        table.set_yticks(down, [tick_names(self.classes)[place] for place in down])
        if any(len(name) > 4 for name in self.clusters) and cols > 8:
            table.tick_params(axis="x", rotation=90)
        plots.plain_axes(table, theme)
        table.tick_params(labelsize=plots.SMALL if max(rows, cols) <= 30 else 6)
        plots.axis_names(table, theme, "cluster", "known class")
        plots.ramp_bar(axes.figure, image, at(0, 1), theme, "share of the class")


def _classes(truth: Any) -> tuple[IntArray, list[str]]:
    """Codes of the classes by first appearance, and what each is called."""
    codes = code_labels(truth, "truth")
    values = np.asarray(truth, object) if not hasattr(truth, "to_list") else np.array(truth.to_list(), object)
    first = np.unique(codes[codes != MISSING], return_index=True)[1]
    return codes, [str(value) for value in values[np.flatnonzero(codes != MISSING)[first]]]


def _arranged(table: Contingency) -> tuple[FloatArray, IntArray, IntArray, int]:
    """The counts with matched classes and clusters first, the largest class first, and what is shown of each."""
    target = matches(table, table.shape[1])
    there = [row for row in np.argsort(-table.row_sums, kind="stable") if table.row_sums[row]]
    pairs = [(row, target[row]) for row in there if target[row] < table.shape[1]][: MOST_SHOWN - 1]
    rows = [row for row, _ in pairs] + [row for row in there if target[row] >= table.shape[1]]
    cols = [col for _, col in pairs]
    cols += [col for col in np.argsort(-table.col_sums, kind="stable") if table.col_sums[col] and col not in cols]
    shown_rows, shown_cols = (np.array(_most(found)) for found in (rows, cols))
    counts = _cells(table, shown_rows, shown_cols)
    return counts, shown_rows, shown_cols, len(pairs)


def _most(found: list[int]) -> list[int]:
    """Those that have a row of their own: all, or all but at least two."""
    return found if len(found) <= MOST_SHOWN else found[: MOST_SHOWN - 1]


def _cells(table: Contingency, rows: IntArray, cols: IntArray) -> FloatArray:
    """The cells of these rows and columns, and one more of each for the rest if there is any."""
    more = [
        int(np.count_nonzero(sums)) > len(picked) for sums, picked in ((table.row_sums, rows), (table.col_sums, cols))
    ]
    at_row, at_col = np.full(table.shape[0], len(rows)), np.full(table.shape[1], len(cols))
    at_row[rows], at_col[cols] = np.arange(len(rows)), np.arange(len(cols))
    counts = np.zeros((len(rows) + 1, len(cols) + 1))
    np.add.at(counts, (at_row[table.rows], at_col[table.cols]), table.counts)
    return counts[: len(rows) + more[0], : len(cols) + more[1]]


def _rest(sums: Any, picked: IntArray) -> tuple[str, ...]:
    rest = int(np.count_nonzero(sums)) - len(picked)
    return (f"{REST} ({rest})",) if rest else ()
