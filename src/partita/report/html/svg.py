"""Drawing with SVG: a canvas, a pair of axes, and the marks on them. Colours are classes that the style sheet knows."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final, TypeAlias

import numpy as np

from partita.report.html.colours import CLUSTERS, LINES
from partita.report.html.elements import Numbered, cut, safe

Box: TypeAlias = tuple[float, float, float, float]
"""Left, top, width, height."""
GROWS: Final = 440.0
"""Charts at least so wide fill their column; smaller ones keep their size."""
MOST_TOLD: Final = 600
"""Lines that a list below a chart may have; what has more is in a table, or is too fine to be read."""


def short(value: float) -> str:
    """A coordinate in as few letters as a screen can show.

    >>> short(3.0), short(0.126), short(-0.001)
    ('3', '.13', '0')
    """
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    text = text.replace("-0.", "-.").removeprefix("0") if "." in text else text
    return "0" if text in ("-0", "", "-") else text


def ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Round numbers from low to high, at most so many.

    >>> ticks(0, 1, 6), ticks(0, 130, 4)
    ([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], [0.0, 50.0, 100.0])
    """
    span = high - low
    if not (math.isfinite(span) and span > 0):
        return [low]
    size = 10.0 ** math.floor(math.log10(span / most))
    step = next(m * size for m in (1, 2, 5, 10, 20) if span / (m * size) <= most + 1e-9)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [round(place * step, 12) for place in range(first, last + 1)]


def tick_text(value: float) -> str:
    """A tick's number, short.

    >>> tick_text(0.2), tick_text(20000.0), tick_text(-1.5e6)
    ('0.2', '20k', '-1.5M')
    """
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if abs(value) >= size:
            return f"{value / (1e3 if unit == 'k' else size):g}{unit}"
    return f"{value:g}"


@dataclass
class Canvas:
    """Marks gathered in drawing order; `svg` makes the picture of them."""

    width: float
    height: float
    marks: list[str] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    """What single marks tell when they are pointed at."""

    def text(self, x: float, y: float, words: Any, kind: str = "", most: int = 60, turn: float = 0) -> None:
        """Words at a point; `kind` says how they stand: "end", "middle", "strong", "soft"."""
        classes = f' class="{kind}"' if kind else ""
        turned = f' transform="rotate({short(turn)} {short(x)} {short(y)})"' if turn else ""
        self.marks.append(f'<text x="{short(x)}" y="{short(y)}"{classes}{turned}>{safe(cut(words, most))}</text>')

    def line(self, x1: float, y1: float, x2: float, y2: float, kind: str) -> None:
        """A straight line."""
        places = f'x1="{short(x1)}" y1="{short(y1)}" x2="{short(x2)}" y2="{short(y2)}"'
        self.marks.append(f'<line {places} class="{kind}"/>')

    def box(self, at: Box, kind: str, told: str = "", alpha: float = 1) -> None:
        """A rectangle that tells about itself when it is pointed at."""
        x, y, width, height = at
        places = f'x="{short(x)}" y="{short(y)}" width="{short(max(width, 0))}" height="{short(max(height, 0))}"'
        seen = f' fill-opacity="{short(alpha)}"' if alpha < 1 else ""
        self.marks.append(f'<rect {places} class="{kind}"{seen}>{self._telling(told)}</rect>')

    def path(self, d: str, kind: str, told: str = "") -> None:
        """A shape by SVG's path language."""
        self.marks.append(f'<path d="{d}" class="{kind}">{self._telling(told)}</path>')

    def dot(self, x: float, y: float, radius: float, kind: str, told: str = "", alpha: float = 1) -> None:
        """A small disc."""
        seen = f' fill-opacity="{short(alpha)}"' if alpha < 1 else ""
        places = f'cx="{short(x)}" cy="{short(y)}" r="{short(radius)}"'
        self.marks.append(f'<circle {places} class="{kind}"{seen}>{self._telling(told)}</circle>')

    def _telling(self, told: str) -> str:
        if not told:
            return ""
        self.told.append(told)
        return f"<title>{safe(told)}</title>"

    def image(self, at: Box, uri: str) -> None:
        """A picture of cells, stretched without smoothing."""
        x, y, width, height = at
        places = f'x="{short(x)}" y="{short(y)}" width="{short(width)}" height="{short(height)}"'
        self.marks.append(f'<image {places} href="{uri}" preserveAspectRatio="none" class="cells"/>')

    def svg(self, ids: Numbered, title: str, told: str, wide: bool = False) -> str:
        """The picture, with its title and what it shows in words for those who do not see it."""
        known = ids.id("chart")
        kind = "chart wide" if wide else "chart grow" if self.width >= GROWS else "chart"
        inside = "".join(self.marks)
        return (
            f'<svg class="{kind}" viewBox="0 0 {short(self.width)} {short(self.height)}" role="img" '
            f'aria-labelledby="{known} {known}-d" width="{short(self.width)}" height="{short(self.height)}">'
            f'<title id="{known}">{safe(title)}</title><desc id="{known}-d">{safe(told)}</desc>{inside}</svg>'
        )

    def spelled(self, title: str) -> str:
        """What the marks tell, as a list that opens: keyboards, fingers and screen readers cannot point at them."""
        lines = list(dict.fromkeys(self.told))
        if not 0 < len(lines) <= MOST_TOLD:
            return ""
        inside = "".join(f"<li>{safe(line)}</li>" for line in lines)
        head = f'<summary>In numbers<span class="unseen">: {safe(title)}</span></summary>'
        return f'<details class="told">{head}<ul tabindex="0">{inside}</ul></details>'

    def shown(self, ids: Numbered, title: str, told: str) -> str:
        """The picture and below it the list of what its marks tell."""
        return self.svg(ids, title, told) + self.spelled(title)


@dataclass
class Axes:
    """A rectangle of a canvas with a scale in each direction."""

    canvas: Canvas
    x: tuple[float, float]
    y: tuple[float, float]
    left: float = 44
    top: float = 10
    right: float = 12
    bottom: float = 40

    @property
    def inner(self) -> tuple[float, float]:
        """Width and height of the rectangle."""
        return self.canvas.width - self.left - self.right, self.canvas.height - self.top - self.bottom

    def at_x(self, value: Any) -> Any:
        """Where a value stands from the left."""
        low, high = self.x
        return self.left + (np.asarray(value, float) - low) / ((high - low) or 1) * self.inner[0]

    def at_y(self, value: Any) -> Any:
        """Where a value stands from the top."""
        low, high = self.y
        return self.top + (1 - (np.asarray(value, float) - low) / ((high - low) or 1)) * self.inner[1]

    def frame(
        self, across: str, up: str, x_ticks: Sequence[float] | None = None, y_ticks: Sequence[float] | None = None
    ) -> None:
        """Grid lines, numbers and what the two directions mean."""
        right, base = self.left + self.inner[0], self.top + self.inner[1]
        for value in ticks(*self.y) if y_ticks is None else y_ticks:
            y = float(self.at_y(value))
            self.canvas.line(self.left, y, right, y, "grid")
            self.canvas.text(self.left - 6, y + 4, tick_text(value), "end soft")
        for value in ticks(*self.x) if x_ticks is None else x_ticks:
            x = float(self.at_x(value))
            self.canvas.line(x, base, x, base + 4, "tick")
            self.canvas.text(x, base + 17, tick_text(value), "middle soft")
        self.canvas.line(self.left, base, right, base, "axis")
        self.canvas.text((self.left + right) / 2, base + 34, across, "middle", 70)
        self.canvas.text(12, self.top + self.inner[1] / 2, up, "middle", 60, turn=-90)

    def curve(self, x: Any, y: Any, kind: str, told: str = "") -> None:
        """A line through points; it breaks where a value is not known."""
        self.canvas.path(joined(self.at_x(x), self.at_y(y)), f"line {kind}", told)

    def steps(self, x: Any, y: Any, kind: str, told: str = "") -> None:
        """A line that stays level until the next point."""
        across, up = np.repeat(self.at_x(x), 2)[1:], np.repeat(self.at_y(y), 2)[:-1]
        self.canvas.path(joined(across, up), f"line {kind}", told)

    def band(self, x: Any, low: Any, high: Any, kind: str) -> None:
        """The room between two lines."""
        across = np.concatenate([self.at_x(x), self.at_x(x)[::-1]])
        up = np.concatenate([self.at_y(high), self.at_y(low)[::-1]])
        self.canvas.path(joined(across, up) + "Z", f"band {kind}")

    def bar(self, x1: float, x2: float, value: float, kind: str, told: str) -> None:
        """A bar from the base line up."""
        left, right, top = float(self.at_x(x1)), float(self.at_x(x2)), float(self.at_y(value))
        self.canvas.box((left, top, right - left, self.top + self.inner[1] - top), kind, told)

    def level(self, x: float, kind: str, words: str = "") -> None:
        """A line from bottom to top at one value, with a word beside it."""
        at = float(self.at_x(x))
        self.canvas.line(at, self.top, at, self.top + self.inner[1], kind)
        if words:
            self.canvas.text(at + 4, self.top + 11, words, "soft")


def joined(x: Iterable[float], y: Iterable[float]) -> str:
    """Points as a path; it is lifted where one is not known.

    >>> joined([0, 1, 2], [0, float("nan"), 4])
    'M0 0M2 4'
    """
    parts, pen = [], "M"
    for across, up in zip(x, y, strict=True):
        if math.isfinite(across) and math.isfinite(up):
            parts.append(f"{pen}{short(across)} {short(up)}")
            pen = "L"
        else:
            pen = "M"
    return "".join(parts)


def runs(values: Any) -> list[tuple[int, int, int]]:
    """Stretches of equal values: first, end, value.

    >>> runs(np.array([4, 4, 7]))
    [(0, 2, 4), (2, 3, 7)]
    """
    breaks = [0, *(np.flatnonzero(np.diff(values)) + 1).tolist(), len(values)]
    return [(a, b, int(values[a])) for a, b in pairwise(breaks) if b > a]


def colour(place: int) -> str:
    """The class that gives cluster number `place` its colour; one below 0 has none."""
    return f"c{place % CLUSTERS}" if place >= 0 else "none"


def edge(place: int) -> str:
    """The class that gives a point drawn as a line the colour of that cluster."""
    return f"e{place % CLUSTERS}"


def line(place: int) -> str:
    """The class that gives one of several lines its colour, which stands out from the ground."""
    return f"l{place % LINES}"


def ribbon(x1: float, x2: float, left: tuple[float, float], right: tuple[float, float]) -> str:
    """A band that flows from (top, bottom) at x1 to (top, bottom) at x2."""
    middle = short((x1 + x2) / 2)
    a, b, c, d = (short(value) for value in (left[0], right[0], right[1], left[1]))
    start, end = short(x1), short(x2)
    return f"M{start} {a}C{middle} {a} {middle} {b} {end} {b}L{end} {c}C{middle} {c} {middle} {d} {start} {d}Z"
