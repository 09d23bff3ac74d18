"""Charts of objects on their way: between clusterings, from k to k, and where coordinates put them."""

from typing import Final

import numpy as np

from partita.core.types import MISSING
from partita.report.displays.alluvial import AlluvialDisplay, Stack
from partita.report.displays.scatter import ScatterDisplay
from partita.report.displays.tracking import TrackingDisplay
from partita.report.displays.words import short_names
from partita.report.html.curves import spaced
from partita.report.html.elements import Numbered, counted, cut, figure, number, safe, share
from partita.report.html.svg import Axes, Canvas, colour, edge, ribbon, runs, short

WIDTH, HEIGHT, BLOCK, TOP = 900.0, 380.0, 16.0, 46.0
BLOCK_LINE: Final = 17.0
"""Least height per block, so that most blocks have room for a name."""
LEVELS: Final = (0.35, 0.55, 0.75, 1.0)
"""Opacity of points, by quarters of confidence."""


def alluvial(ids: Numbered, shown: AlluvialDisplay, clusterings: int) -> str:
    """Clusterings side by side and the objects that flow between their clusters."""
    tall = max(HEIGHT, BLOCK_LINE * max(len(stack.labels) for stack in shown.stacks))
    canvas = Canvas(WIDTH, tall + TOP + 8)
    left, right = 92.0, WIDTH - 92.0
    gap = (right - left - BLOCK) / max(len(shown.stacks) - 1, 1)
    across = [left + gap * place for place in range(len(shown.stacks))]
    _ribbons(canvas, shown, across, tall)
    names = short_names([stack.name for stack in shown.stacks], 16)
    for place, (stack, name, x) in enumerate(zip(shown.stacks, names, across, strict=True)):
        _stack(canvas, stack, name, x, (place == 0, place == len(shown.stacks) - 1), tall)
    drawn = canvas.svg(ids, shown.title, shown.alt, wide=True)
    thin = f" Flows of {share(shown.thin)} of the objects are too thin to be drawn." if shown.thin else ""
    which = "All clusterings beside the consensus"
    if len(shown.stacks) <= clusterings:
        which = "The clusterings that agree most with the consensus, at its left, and those that agree least"
    told = (
        f"{which}; colours are those of its clusters. A band shows objects that are in both of the clusters it "
        f"joins.{thin}"
    )
    label = f'<div class="wider" tabindex="0" role="group" aria-label="{safe(shown.title)}">{drawn}</div>'
    return figure(label + canvas.spelled(shown.title), told, "full")


def _stack(canvas: Canvas, stack: Stack, name: str, x: float, ends: tuple[bool, bool], tall: float) -> None:
    """Draw one clustering: its name, and its blocks with their labels."""
    first, last = ends
    at, kind = (x, "") if first else (x + BLOCK, "end") if last else (x + BLOCK / 2, "middle")
    canvas.text(at, 16, name, f"{kind} strong")
    agreed = "" if stack.consensus else f"agreement {number(stack.agreement, 2)}"
    canvas.text(at, 32, agreed, f"{kind} soft")
    for block, label in enumerate(short_names(stack.labels, 12)):
        top, high = TOP + tall * stack.tops[block], tall * stack.heights[block]
        told = f"{_block(stack, block)}: {counted(float(stack.objects[block]), 'object')}"
        canvas.box((x, top, BLOCK, max(high, 0.6)), colour(int(stack.clusters[block])), told)
        if high >= 11:
            if first:
                canvas.text(x - 6, top + high / 2 + 4, label, "end")
            else:
                canvas.text(x + BLOCK + 5, top + high / 2 + 4, label)


def _block(stack: Stack, block: int) -> str:
    return f"{cut(stack.name, 60)}, {cut(stack.labels[block], 60)}"


def _ribbons(canvas: Canvas, shown: AlluvialDisplay, across: list[float], tall: float) -> None:
    for j, source, target, left, right, high, objects, cluster in zip(*shown.ribbons, strict=True):
        here, there = shown.stacks[j], shown.stacks[j + 1]
        x1, x2 = across[j] + BLOCK, across[j + 1]
        a, b, wide = TOP + tall * left, TOP + tall * right, tall * high
        told = f"{_block(here, source)} → {_block(there, target)}: {counted(float(objects), 'object')}"
        canvas.path(ribbon(x1, x2, (a, a + wide), (b, b + wide)), f"flow {colour(int(cluster))}", told)


def tracking(ids: Numbered, shown: TrackingDisplay) -> str:
    """The cluster of the objects for every k, a column a k."""
    left, top, high = 40.0, 26.0, float(np.clip(BLOCK_LINE * shown.clusters.max(), 300, 560))
    drawn = spaced(shown.ks, shown.k)
    wide = float(np.clip(400 / len(drawn), 18, 70))
    canvas = Canvas(left + wide * len(drawn) + 10, top + high + 26)
    ends = np.concatenate([[0], np.cumsum(shown.sizes)]) / max(shown.sizes.sum(), 1)
    canvas.text(14, top + high / 2, "objects", "middle", turn=-90)
    for column, place in enumerate(drawn):
        k, x = shown.ks[place], left + wide * column
        canvas.text(x + wide / 2 - 1, top - 8, f"{k}", "middle strong" if k == shown.k else "middle soft")
        for start, stop, cluster in runs(shown.colours[:, place]):
            a, b = ends[start], ends[stop]
            where = f"in cluster {cluster}" if cluster >= 0 else "without a label"
            told = f"k = {k}: {share(float(b - a))} of the objects {where}"
            canvas.box((x, top + high * a, wide - 2, high * (b - a)), colour(cluster), told)
            if high * (b - a) >= 14 and cluster >= 0:
                canvas.text(x + wide / 2 - 1, top + high * (a + b) / 2 + 5, f"{cluster}", "middle halo")
        if k == shown.k:
            canvas.box((x - 1.5, top - 2, wide + 1, high + 4), "outline")
    canvas.text(left + wide * len(drawn) / 2, top + high + 18, "number of clusters asked for", "middle")
    told = (
        "A line across is an object; a cluster keeps its number and colour from k to k. Clean breaks mean that "
        "clusters are only divided."
    )
    return figure(canvas.shown(ids, shown.title, shown.alt), told)


def scatter(ids: Numbered, shown: ScatterDisplay) -> str:
    """Objects where the coordinates put them, in the colour of their cluster, pale where it is unsure."""
    canvas = Canvas(620, 470)
    low, high = shown.points.min(axis=0), shown.points.max(axis=0)
    pad = np.where(high > low, (high - low) * 0.03, 1.0)
    axes = Axes(canvas, (low[0] - pad[0], high[0] + pad[0]), (low[1] - pad[1], high[1] + pad[1]), left=52)
    axes.frame(cut(shown.names[0], 40), cut(shown.names[1], 40))
    x, y = axes.at_x(shown.points[:, 0]), axes.at_y(shown.points[:, 1])
    level = np.clip((np.nan_to_num(shown.confidence) * len(LEVELS)).astype(int), 0, len(LEVELS) - 1)
    radius = "big" if len(x) <= 2000 else "tiny"
    for cluster in (MISSING, *range(shown.k)):
        mine = shown.clusters == cluster
        if not mine.any():
            continue
        name = (
            "no label" if cluster == MISSING else f"cluster {cluster}: {counted(int(shown.sizes[cluster]), 'object')}"
        )
        for place in range(len(LEVELS)):
            chosen = np.flatnonzero(mine & (level == place))
            if len(chosen):
                d = "".join(f"M{short(x[i])} {short(y[i])}h0" for i in chosen)
                canvas.path(d, f"points {radius} sure{place} {edge(max(cluster, 0)) if cluster >= 0 else 'lost'}", name)
    _names(canvas, axes, shown)
    told = "Each point is an object in the colour of its cluster; pale points have a low confidence."
    if shown.sampled:
        told += f" Shown are {len(x):,} of {shown.objects:,} objects, drawn at random."
    if shown.unplaced:
        told += f" {counted(shown.unplaced, 'object')} without coordinates not shown."
    return figure(canvas.shown(ids, shown.title, shown.alt), told, "full")


def _names(canvas: Canvas, axes: Axes, shown: ScatterDisplay) -> None:
    """The number of each cluster at the middle of its points, for eyes that do not tell the colours apart."""
    if shown.k > 30:
        return
    for cluster in range(shown.k):
        mine = shown.clusters == cluster
        if mine.any():
            x, y = np.median(shown.points[mine], axis=0)
            canvas.text(float(axes.at_x(x)), float(axes.at_y(y)) + 5, f"{cluster}", "middle strong halo")
