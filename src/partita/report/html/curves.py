"""Charts over k and over iterations: criteria, distributions, delta area, traces, numbers of clusters."""

from typing import Any, Final

import numpy as np

from partita.report.displays.cdf import CdfDisplay
from partita.report.displays.numbers import NumbersDisplay
from partita.report.displays.trace import TraceDisplay
from partita.report.html.colours import LINES_PER_DASH
from partita.report.html.elements import Numbered, figure, number, share
from partita.report.html.svg import Axes, Canvas, line, ticks

WIDTH, HEIGHT = 440.0, 250.0
MOST_LINES: Final = 24


def span(values: Any, room: float = 0.06) -> tuple[float, float]:
    """From the least to the most that is known, and a little room.

    >>> span([1.0, float("nan"), 2.0], 0.5)
    (0.5, 2.5)
    """
    known = np.asarray(values, float)
    known = known[np.isfinite(known)]
    if not len(known):
        return 0.0, 1.0
    low, high = float(known.min()), float(known.max())
    more = (high - low) * room or max(abs(high) * room, 0.5)
    return low - more, high + more


def spaced(ks: Any, k: int | None) -> list[int]:
    """Places of the ks that are drawn one by one: all, or some of many, and the one that was chosen.

    >>> spaced(range(2, 6), 3), len(spaced(range(2, 1000), 500))
    ([0, 1, 2, 3], 25)
    """
    step = -(-len(ks) // MOST_LINES)
    chosen = [list(ks).index(k)] if k in ks else []
    return sorted({*range(0, len(ks), step), *chosen})


def whole_ticks(ks: Any) -> list[float]:
    """Ticks at whole numbers, at most a dozen."""
    step = max(-(-len(ks) // 12), 1)
    return [float(k) for k in ks[::step]]


def criterion(ids: Numbered, ks: Any, curve: Any, chosen: int) -> str:
    """One criterion over k, with the k that it prefers and the one that was chosen."""
    canvas = Canvas(WIDTH, HEIGHT)
    spread = np.zeros(len(ks)) if curve.spread is None else np.nan_to_num(np.asarray(curve.spread, float))
    values = np.asarray(curve.values, float)
    low, high = span(np.concatenate([values - spread, values + spread]))
    axes = Axes(canvas, (ks[0] - 0.4, ks[-1] + 0.4), (low, high), left=58)
    axes.frame("number of clusters", curve.title, whole_ticks(ks))
    if curve.spread is not None and np.isfinite(values).all():
        axes.band(np.asarray(ks, float), values - spread, values + spread, "")
    axes.level(chosen, "mark", "")
    axes.curve(ks, values, "only")
    for k, value in zip(ks, values.tolist(), strict=True):
        if np.isfinite(value):
            best = k == curve.preferred
            canvas.dot(float(axes.at_x(k)), float(axes.at_y(value)), 5.5 if best else 3.5, "other" if best else "plain",
                       f"k = {k}: {number(value)}")  # fmt: skip
    told = f"{curve.title} for {ks[0]} to {ks[-1]} clusters; it prefers {curve.preferred}."
    title = curve.title[:1].upper() + curve.title[1:]
    words = f"{title}: it prefers k = {curve.preferred}{', and this criterion chose' if curve.chooses else ''}."
    return figure(canvas.shown(ids, curve.title, told), words)


def distributions(ids: Numbered, shown: CdfDisplay) -> str:
    """A curve a k: how often pairs are together in consensuses of halves of the clusterings."""
    canvas = Canvas(WIDTH, HEIGHT + 10)
    axes = Axes(canvas, (0, 1), (0, 1), right=44)
    axes.frame("share of halves that put a pair together", "share of pairs")
    drawn = spaced(shown.ks, shown.k)
    for place in drawn:
        k = shown.ks[place]
        strong = "thick" if k == shown.k else f"faint dash{place // LINES_PER_DASH % 4}"
        told = f"k = {k}: PAC {share(float(shown.pac[place]))}"
        axes.steps(shown.edges, shown.cdf[place], f"{line(place)} {strong}", told)
    _ends(canvas, axes, shown, drawn)
    words = "The flatter a curve's middle, the clearer that number of clusters; the numbers beside the curves are k."
    return figure(canvas.shown(ids, shown.title, shown.alt), words)


def _ends(canvas: Canvas, axes: Axes, shown: CdfDisplay, drawn: list[int]) -> None:
    """The k of each curve beside its middle height, moved apart where they would overlap."""
    middle = shown.cdf[:, len(shown.edges) // 2]
    lowest = -np.inf
    for place in sorted(drawn, key=lambda place: -middle[place]):
        y = max(float(axes.at_y(middle[place])) + 4, lowest + 12)
        if y > canvas.height - 4:
            break
        canvas.text(canvas.width - 40, y, f"k={shown.ks[place]}", "strong" if shown.ks[place] == shown.k else "soft")
        lowest = y


def delta_area(ids: Numbered, shown: CdfDisplay) -> str:
    """How much the area below the curve grows from k to k."""
    canvas = Canvas(WIDTH, HEIGHT + 10)
    values = np.asarray(shown.delta, float)
    low, high = span(np.append(values, 0.0))
    axes = Axes(canvas, (shown.ks[0] - 0.4, shown.ks[-1] + 0.4), (min(low, 0), high), left=52)
    axes.frame("number of clusters", "relative change of the area", whole_ticks(shown.ks))
    axes.curve(shown.ks, values, "only")
    for k, value in zip(shown.ks, values.tolist(), strict=True):
        if np.isfinite(value):
            kind = "other" if k == shown.k else "plain"
            canvas.dot(float(axes.at_x(k)), float(axes.at_y(value)), 4, kind, f"k = {k}: {number(value)}")
    told = "Delta area for each k: " + ", ".join(
        f"{k}: {number(v, 2)}" for k, v in zip(shown.ks, values.tolist(), strict=True)
    )
    words = (
        "Delta area: the area below the first curve, then by which share it grows from k to k. Once it is near 0, more "
        "clusters add little."
    )
    return figure(canvas.shown(ids, "Delta area", told), words)


def trace(ids: Numbered, shown: TraceDisplay) -> str:
    """The objective over the iterations, a line a chain."""
    canvas = Canvas(WIDTH, HEIGHT)
    axes = Axes(canvas, (1, max(float(shown.iterations[-1]), 2)), span(shown.values), left=64)
    axes.frame(f"{shown.step}", shown.what, [t for t in ticks(*axes.x, 6) if t.is_integer()])
    for chain, values in enumerate(shown.values):
        axes.curve(
            shown.iterations,
            values,
            f"{line(chain)} faint dash{chain // LINES_PER_DASH % 4}",
            f"chain {chain + 1}" if len(shown.values) > 1 else shown.what,
        )
    if shown.burn_in:
        axes.level(shown.burn_in, "mark", "kept from here")
    many = f", a line for each of {len(shown.values)} chains" if len(shown.values) > 1 else ""
    verdict = f" {shown.verdict[:1].upper()}{shown.verdict[1:]}." if shown.verdict else ""
    words = f"{shown.title}{many}.{verdict}"
    return figure(canvas.svg(ids, shown.title, shown.alt), words.replace("..", "."))


def numbers(ids: Numbered, shown: NumbersDisplay) -> str:
    """The number of clusters over the draws."""
    canvas = Canvas(WIDTH, HEIGHT)
    axes = Axes(
        canvas, (shown.clusters[0] - 0.6, shown.clusters[-1] + 0.6), (0, float(shown.shares.max()) * 1.08), left=52
    )
    axes.frame(
        "number of clusters", "share of the draws", whole_ticks(shown.clusters), ticks(0, float(shown.shares.max()), 5)
    )
    for k, part in zip(shown.clusters.tolist(), shown.shares.tolist(), strict=True):
        kind = "other" if k == shown.k else "plain"
        axes.bar(k - 0.4, k + 0.4, part, kind, f"{k} clusters: {share(part)} of {shown.draws:,} draws")
    return figure(canvas.shown(ids, shown.title, shown.alt), f"How many clusters the {shown.draws:,} draws have.")
