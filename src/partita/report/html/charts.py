"""Charts of confidence: histogram, spread within clusters, distribution over pairs, bars."""

from typing import Any, Final

import numpy as np

from partita.core.types import FloatArray, IntArray
from partita.metrics.coassociation import Coassociation
from partita.report.displays.items import ItemDisplay
from partita.report.displays.words import short_names
from partita.report.html.elements import Numbered, counted, cut, figure, number, share
from partita.report.html.svg import Axes, Canvas, colour, joined, runs, short, ticks

WIDTH: Final = 440.0
ROW: Final = 22.0


def histogram(ids: Numbered, heights: FloatArray, mean: float) -> str:
    """Objects by confidence."""
    canvas = Canvas(WIDTH, 250)
    total = max(float(heights.sum()), 1.0)
    axes = Axes(canvas, (0, 1), (0, float(heights.max(initial=1)) * 1.08), left=62)
    axes.frame("confidence", "objects")
    edges = np.linspace(0, 1, len(heights) + 1)
    for low, high, many in zip(edges[:-1], edges[1:], heights.tolist(), strict=True):
        told = f"confidence {low:.2f} to {high:.2f}: {counted(many, 'object')} ({share(many / total)})"
        axes.bar(low + 0.003, high - 0.003, many, "plain", told)
    if np.isfinite(mean):
        axes.level(mean, "mark")
        _beside(axes, mean, f"mean {mean:.2f}")
    low_share = float(heights[: len(heights) // 2].sum()) / total
    told = f"Histogram of confidence: mean {number(mean)}, {share(low_share)} of the objects below 0.5."
    told = told if np.isfinite(mean) else "Histogram of confidence: no object can be compared with another."
    return canvas.shown(ids, "Confidence of the objects", told)


def _beside(axes: Axes, x: float, words: str) -> None:
    """A word beside a level line, on the side where there is room."""
    at = float(axes.at_x(x))
    right = x < 0.75 * axes.x[1]
    axes.canvas.text(at + (5 if right else -5), axes.top + 10, words, "soft" if right else "soft end")


def pairs_cdf(ids: Numbered, pairs: Coassociation) -> str:
    """The share of pairs of objects that are together at most so often."""
    canvas = Canvas(WIDTH, 250)
    axes = Axes(canvas, (0, 1), (0, 1))
    low, high = pairs.limits
    left, right = float(axes.at_x(low)), float(axes.at_x(high))
    about = "pairs that are together neither often nor rarely"
    canvas.box((left, axes.top, right - left, axes.inner[1]), "none", about, 0.3)
    axes.frame("share of clusterings that put a pair together", "share of pairs")
    if pairs.error:
        axes.band(pairs.edges, np.clip(pairs.cdf - pairs.error, 0, 1), np.clip(pairs.cdf + pairs.error, 0, 1), "")
    axes.steps(pairs.edges, pairs.cdf, "only", f"{share(pairs.pac)} of the pairs lie in the shaded middle")
    told = "There is no pair of objects to look at."
    if np.isfinite(pairs.pac):
        begins, half = number(float(pairs.cdf[0]), 2), number(float(pairs.cdf[50]), 2)
        told = f"The curve begins at {begins}, passes {half} at one half and ends at 1. "
        told += f"{share(pairs.pac)} of the pairs lie between {low:g} and {high:g}."
    return canvas.svg(ids, "How often pairs of objects are together", told)


def cluster_spread(ids: Numbered, clusters: IntArray, spread: FloatArray, means: FloatArray) -> str:
    """A bar a cluster: from which to which confidence its objects reach, and the mean."""
    canvas = Canvas(WIDTH, 56 + ROW * len(clusters))
    axes = Axes(canvas, (0, 1), (0, 1), left=74, bottom=40)
    base = axes.top + axes.inner[1]
    for value in ticks(0, 1):
        x = float(axes.at_x(value))
        canvas.line(x, axes.top, x, base, "grid")
        canvas.text(x, base + 17, f"{value:g}", "middle soft")
    canvas.text((axes.left + canvas.width - axes.right) / 2, base + 34, "confidence of its objects", "middle")
    for place, cluster in enumerate(clusters.tolist()):
        y = axes.top + ROW * place
        canvas.text(axes.left - 8, y + 15, f"cluster {cluster}", "end")
        if not np.isfinite(spread[place]).all():
            canvas.text(axes.left + 4, y + 15, "nobody to compare with", "soft")
            continue
        a, b, middle, d, e = (float(value) for value in axes.at_x(spread[place]))
        five, low, half, high, most = spread[place].tolist()
        told = (
            f"cluster {cluster}: half of its objects from {low:.2f} to {high:.2f}, median {half:.2f}, "
            f"90% from {five:.2f} to {most:.2f}"
        )
        canvas.line(a, y + 11, e, y + 11, "axis")
        canvas.box((b, y + 4, max(d - b, 1.5), 14), colour(cluster), told)
        canvas.line(middle, y + 2, middle, y + 20, "axis")
        if np.isfinite(means[place]):
            canvas.dot(float(axes.at_x(means[place])), y + 11, 3, "dot", f"mean {means[place]:.3f}")
    medians = spread[np.isfinite(spread[:, 2]), 2]
    told = f"Confidence within {counted(len(clusters), 'cluster')}: "
    told += f"medians from {medians.min():.3f} to {medians.max():.3f}." if len(medians) else "nobody to compare with."
    return canvas.shown(ids, "Confidence within each cluster", told)


def sizes(ids: Numbered, clusters: IntArray, objects: FloatArray, total: float) -> str:
    """A bar a cluster: how many objects."""
    canvas = Canvas(WIDTH, 16 + ROW * len(clusters))
    most = float(objects.max(initial=1))
    for place, (cluster, many) in enumerate(zip(clusters.tolist(), objects.tolist(), strict=True)):
        y = 8 + ROW * place
        long = 255 * many / most
        told = f"cluster {cluster}: {counted(many, 'object')}, {share(many / total)}"
        canvas.text(66, y + 15, f"cluster {cluster}", "end")
        canvas.box((74, y + 3, max(long, 1), 16), colour(cluster), told)
        canvas.text(
            74 + long + 6,
            y + 15,
            f"{number(int(many) if float(many).is_integer() else many, 1)} · {share(many / total)}",
            "soft",
        )
    least = float(objects.min(initial=most))
    span = counted(most, "object") if least == most else f"{number(least, 0)} to {counted(most, 'object')}"
    told = f"{counted(len(clusters), 'cluster')} of {span}."
    return canvas.shown(ids, "Objects in each cluster", told)


def bars(ids: Numbered, title: str, names: Any, values: FloatArray, marks: FloatArray | None, told: str) -> str:
    """A bar a clustering from 0 to 1 and, if given, a mark for a second number."""
    canvas = Canvas(WIDTH, 34 + ROW * len(names))
    left, wide = 150.0, 232.0
    base = 6 + ROW * len(names)
    for value in (0, 0.5, 1):
        canvas.line(left + wide * value, 4, left + wide * value, base, "grid")
        canvas.text(left + wide * value, base + 16, f"{value:g}", "middle soft")
    for place, (called, value) in enumerate(zip(short_names(names, 18), values.tolist(), strict=True)):
        y = 6 + ROW * place
        canvas.text(left - 8, y + 15, called, "end")
        if not np.isfinite(value):
            canvas.text(left + 4, y + 15, "–", "soft")
            continue
        canvas.box((left, y + 3, wide * max(value, 0), 16), "plain", f"{cut(names[place], 80)}: {value:.3f}")
        canvas.text(left + wide * max(value, 0) + 6, y + 15, f"{value:.2f}", "soft")
        if marks is not None and np.isfinite(marks[place]):
            x = left + wide * float(marks[place])
            canvas.line(x, y + 1, x, y + 21, "axis")
    return canvas.shown(ids, title, told)


def profile(ids: Numbered, shown: ItemDisplay) -> str:
    """Item-consensus of the objects, cluster by cluster, the firmest first; the line is the next best cluster."""
    canvas = Canvas(WIDTH, 300)
    total = max(float(shown.sizes.sum()), 1.0)
    ends = np.concatenate([[0], np.cumsum(shown.sizes)])
    axes = Axes(canvas, (0, total), (0, 1), bottom=46)
    axes.frame("objects, by cluster", "item-consensus", [])
    base, last = axes.top + axes.inner[1], -np.inf
    for start, stop, cluster in runs(shown.clusters):
        x = np.repeat(axes.at_x(ends[start : stop + 1]), 2)[1:-1]
        own, other = (np.repeat(axes.at_y(np.nan_to_num(part[start:stop])), 2) for part in (shown.own, shown.other))
        whole = f"M{short(x[0])} {short(base)}L{joined(x, own)[1:]}L{short(x[-1])} {short(base)}Z"
        called = f"cluster {cluster}" if cluster >= 0 else "small clusters"
        mean = shown.cluster_consensus[cluster] if cluster >= 0 else float("nan")
        canvas.path(whole, f"area {colour(cluster)}", f"{called}: cluster-consensus {number(float(mean))}")
        if np.isfinite(shown.other[start:stop]).any():
            canvas.path(joined(x, other), "rim", f"{called}: with the next best cluster")
        middle = float(x[0] + x[-1]) / 2
        if middle - last >= 18:
            canvas.text(middle, base + 15, f"{cluster}" if cluster >= 0 else "…", "middle")
            last = middle
    words = (
        "Height: the share of clusterings that put an object with its own cluster; line: with the next best cluster. "
        "Where they meet, objects are torn between two clusters."
    )
    return figure(canvas.shown(ids, shown.title, shown.alt), words)
