"""Charts of cells: agreement between clusterings, how often objects are together, confusion with known classes."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from partita.core.types import FloatArray
from partita.report.displays.agreement import AgreementDisplay
from partita.report.displays.confusion import ConfusionDisplay
from partita.report.displays.heatmap import HeatmapDisplay
from partita.report.displays.words import short_names
from partita.report.html.elements import Numbered, figure, number, share
from partita.report.html.png import data_uri, shrunk, strength_png
from partita.report.html.svg import Canvas, joined

STRONGEST: Final = 0.75
"""Of the colour of a full cell, so that its number can be read on it in light and in dark."""
MOST_PIXELS: Final = 400
"""Rows and columns of a picture; no screen shows more there."""
TREE: Final = 60.0
"""Width of a dendrogram."""
MOST_CELLS: Final = 24
"""Maximum number of clusterings whose cells are drawn one by one, with their numbers; more are one image."""
MOST_CLASSES: Final = 36
"""Maximum number of classes, and of clusters, whose cells are drawn one by one."""
MOST_LINED: Final = 24
"""Maximum number of clusters with lines between them; more lines would hide the cells."""
LINE: Final = 13.0
"""Height of a line of text."""


def agreement(ids: Numbered, shown: AgreementDisplay) -> str:
    """Each clustering against each, those that agree beside each other, and the tree that ordered them."""
    if len(shown.names) > MOST_CELLS:
        return picture(ids, shown.title, shown.matrix, shown.alt, tree=shown)
    return cells(ids, (shown.title, shown.alt), (shown.names, shown.names), shown.matrix, tree=shown)


def _tree(canvas: Canvas, shown: AgreementDisplay, left: float, top: float, step: float) -> None:
    """The dendrogram beside the rows, leaves at the left; all joins are one path."""
    highest = float(np.max(shown.heights, initial=0.0)) or 1.0
    if not 1 < len(shown.names) <= MOST_PIXELS:
        return
    joins = zip(left + TREE * shown.heights / highest, top + step * (shown.across + 0.5), strict=True)
    canvas.path("".join(joined(x, y) for x, y in joins), "tree")


def cells(
    ids: Numbered,
    words: tuple[str, str],
    names: tuple[Sequence[Any], Sequence[Any]],
    values: FloatArray,
    *,
    texts: Any = None,
    tree: AgreementDisplay | None = None,
) -> str:
    """A square a pair, strong where the value is near 1, with its number where there is room.

    `words` are the title and what it shows.
    """
    rows, columns = (short_names(called, 18) for called in names)
    left, top = 142.0, 106.0
    size = float(np.clip(420 / max(len(columns), 1), 16, 46))
    right = left + size * len(columns) + 6
    canvas = Canvas(right + (TREE + 4 if tree else 34), top + size * len(rows) + 8)
    if tree is not None:
        _tree(canvas, tree, right, top, size)
    for place, called in enumerate(columns):
        x = left + size * (place + 0.5)
        canvas.text(x + 3, top - 8, called, turn=-45)
    for i, called in enumerate(rows):
        y = top + size * i
        canvas.text(left - 8, y + size / 2 + 4, called, "end")
        for j, other in enumerate(columns):
            value = float(values[i, j])
            known = np.isfinite(value)
            shown = (f"{value:.2f}" if known else "no object in common") if texts is None else f"{texts[i][j]}"
            about = f"{called} and {other}: {shown}" if shown else ""
            at = (left + size * j + 0.5, y + 0.5, size - 1, size - 1)
            strength = max(STRONGEST * min(max(value, 0), 1), 0.02) if known else 1
            canvas.box(at, "strength" if known else "none", about, strength)
            if size >= 30 and known:
                inside = shown.removeprefix("0") if texts is None else shown
                canvas.text(left + size * (j + 0.5), y + size / 2 + 4, inside, "middle small")
    return canvas.shown(ids, *words)


def picture(
    ids: Numbered,
    title: str,
    values: FloatArray,
    told: str,
    *,
    marks: Sequence[tuple[float, str]] = (),
    tree: AgreementDisplay | None = None,
) -> str:
    """Many cells as one picture; `marks` name stretches by where they end, as a share of the side."""
    side, left = 400.0, 4.0 if not marks else 70.0
    canvas = Canvas(left + side + 4 + (TREE + 6 if tree else 0), side + 8)
    if tree is not None:
        _tree(canvas, tree, left + side + 6, 4, side / len(values))
    canvas.image((left, 4, side, side), data_uri(strength_png(shrunk(values, MOST_PIXELS))))
    canvas.box((left, 4, side, side), "frame")
    start, last = 0.0, -LINE
    for end, words in marks:
        middle = side * (start + end) / 2
        if middle - last >= LINE:
            canvas.text(left - 6, 8 + middle, words, "end", 10)
            last = middle
        if end < 1 and len(marks) <= MOST_LINED:
            canvas.line(left, 4 + side * end, left + side, 4 + side * end, "cutline")
            canvas.line(left + side * end, 4, left + side * end, 4 + side, "cutline")
        start = end
    return canvas.svg(ids, title, told)


def heatmap(ids: Numbered, shown: HeatmapDisplay) -> str:
    """Heat map of how often objects are together, ordered by cluster, then item consensus."""
    many = float(shown.sizes.sum())
    ends = np.flatnonzero(np.diff(shown.clusters)) + 1
    marks = [(float(end) / len(shown.clusters), f"{shown.clusters[end - 1]}") for end in (*ends, len(shown.clusters))]
    drawn = picture(ids, shown.title, shown.matrix, shown.alt, marks=marks)
    mean = many / max(len(shown.sizes), 1)
    each = f" A row stands for about {mean:,.{1 if mean < 10 else 0}f} objects." if shown.binned else ""
    words = (
        "Each object against each, by cluster and within a cluster by item consensus: strong where the clusterings put "
        f"the two together. Strong blocks on a pale ground are clear clusters.{each}"
    )
    return figure(drawn, words)


def confusion(ids: Numbered, shown: ConfusionDisplay) -> str:
    """Known classes (rows) against clusters."""
    if max(len(shown.classes), len(shown.clusters)) > MOST_CLASSES:
        drawn = picture(ids, shown.title, shown.shares, shown.alt)
    else:
        texts = [[number(int(value)) if value else "" for value in row] for row in shown.counts.tolist()]
        heads = [name if name.startswith("other") else f"cluster {name}" for name in shown.clusters]
        drawn = cells(ids, (shown.title, shown.alt), (shown.classes, heads), shown.shares, texts=texts)
    words = (
        f"Objects of each known class (rows) in each cluster (columns), strong where they are much of the class. "
        f"{share(shown.misassigned)} lie outside the best one-to-one match."
    )
    return figure(drawn, words, "full" if len(shown.clusters) > MOST_CELLS else "")
