"""Figures, axes and files in a theme; the only module that imports matplotlib.

Settings of matplotlib are changed only while a plot is drawn or written. Only `pyplot_figure` imports pyplot.
"""

import io
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from textwrap import wrap
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from partita.core.errors import FileError, MissingExtraError
from partita.io import replacing
from partita.io.source import checked_path
from partita.report.themes import LIGHT, Theme, colour_of, hatch_of, text_on

INK: Final = LIGHT.ink
FONT: Final = "DejaVu Sans"
SETTINGS: Final[dict[str, Any]] = {
    "font.family": [FONT],
    "text.usetex": False,
    "axes.grid": False,
    "axes.unicode_minus": True,
    "hatch.linewidth": 0.6,
    "path.sketch": None,
    "path.effects": [],
    "svg.fonttype": "path",
    "svg.hashsalt": "partita",
    "pdf.fonttype": 42,
}
"""What pictures count on, whatever a user's style says; the salt makes the names in an SVG the same every time."""
KINDS: Final[dict[str, dict[str, Any]]] = {
    "png": {},
    "svg": {"Date": None},
    "pdf": {"CreationDate": None},
}
"""File formats, and what keeps the date out of them: the same picture is the same file."""
TOLD_AS: Final = {"png": "Description", "svg": "Description", "pdf": "Subject"}
WITHOUT_SCREEN: Final = frozenset({"agg", "cairo", "pdf", "pgf", "ps", "svg", "template"})
"""Backends of matplotlib that show nothing."""
UNKNOWN_SIGN: Final = "\N{WHITE SQUARE}"
DOTS: Final = 150
SMALL: Final = 8
TINY: Final = 7
"""Sizes of text, in points."""
MAX_CAPTION_LINES: Final = 5
"""Lines of a caption above given axes."""
LABEL_ROOM: Final = 0.45
"""Inches for tick labels and the label of an axis below axes."""
PANEL_GAP: Final = 0.12
"""Inches between the labels of two panels."""


def check_drawing() -> None:
    """Refuse, before long work, to draw where matplotlib is not installed."""
    figure_classes()


def figure_classes() -> tuple[Any, Any]:
    """Figure and canvas, where matplotlib is installed."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("pictures need matplotlib; install it with: pip install 'partita[report]'") from None
    return Figure, FigureCanvasAgg


@contextmanager
def settings() -> Iterator[None]:
    """Draw as we do, and leave matplotlib as it was."""
    figure_classes()
    from matplotlib import rc_context

    with rc_context(cast(Any, SETTINGS)):
        yield


def pyplot_figure(**settings: Any) -> Any:
    """Return a new figure of pyplot, which `pyplot.show()` and notebooks show."""
    figure_classes()
    from matplotlib import pyplot

    return pyplot.figure(**settings)


def shown_by_pyplot(figure: Any) -> bool:
    """True if pyplot shows this figure: in a window, or in a notebook at the end of the cell."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    if figure is None or pyplot is None or pyplot.get_backend().lower() in WITHOUT_SCREEN:
        return False
    from matplotlib._pylab_helpers import Gcf

    return figure.canvas.manager in Gcf.get_all_fig_managers()


def new_figure(make: Callable[..., Any], inches: tuple[float, float], theme: Theme) -> Any:
    """Return an empty figure whose layout keeps its parts from overlapping."""
    figure = make(figsize=inches, layout="constrained", facecolor=theme.ground)
    figure.get_layout_engine().set(w_pad=0.08, h_pad=0.08)
    return figure


def finish(figure: Any, theme: Theme, title: str, caption: str) -> None:
    """Title above, caption below, both as wide as the figure and no wider."""
    width = figure.get_figwidth()
    if title:
        lines = wrap(safe(title), max(int(width * 11.5), 20))
        figure.suptitle("\n".join(lines[:4]), fontsize=11, color=theme.ink)
    if caption:
        lines = wrap(safe(caption), max(int(width * 15.5), 28))
        figure.supxlabel("\n".join(lines), fontsize=SMALL, color=theme.soft)


def set_title(axes: Any, theme: Theme, title: str, bold: bool = False) -> None:
    """A title of one of several panels."""
    axes.set_title(safe(title), fontsize=9, color=theme.ink, fontweight="bold" if bold else "normal")


def title_with_caption(axes: Any, theme: Theme, title: str, caption: str) -> None:
    """Set the title of axes with the caption in the lines below it.

    The caption is omitted if it needs more than `MAX_CAPTION_LINES` lines, or more than there is room for in a figure
    without a layout that makes room.
    """
    width = axes.get_position().width * axes.figure.bbox.width / axes.figure.dpi
    lines = wrap(caption, max(int(width * 13.5), 20))
    room = MAX_CAPTION_LINES if axes.figure.get_layout_engine() is not None else _lines_above(axes) - 1
    if len(lines) <= min(room, MAX_CAPTION_LINES):
        title = "\n".join([title, *lines])
    set_title(axes, theme, title)


def _lines_above(axes: Any) -> int:
    """Return how many lines of a title fit between axes and the labels of the axes above, or the edge of the figure."""
    box, height = axes.get_position(), axes.figure.bbox.height / axes.figure.dpi
    others = [other.get_position() for other in axes.figure.axes if other is not axes]
    above = [other.y0 for other in others if other.y0 >= box.y1 and other.x0 < box.x1 and box.x0 < other.x1]
    inches = (min([1.0, *above]) - box.y1) * height - (LABEL_ROOM if above else 0.0)
    return int((inches - 6 / 72) / (1.2 * 9 / 72))


def panels(axes: Any, widths: Sequence[float], heights: Sequence[float]) -> Callable[[int, int], Any]:
    """Divide the area of axes; return a function that creates the panel of a row and a column."""
    axes.set_axis_off()
    return _Panels(axes, np.asarray(widths, float), np.asarray(heights, float)).add


class _Panels:
    """Inset axes that fill the area of axes; gaps make room for their labels, in any layout of the figure."""

    def __init__(self, axes: Any, widths: NDArray[np.float64], heights: NDArray[np.float64]) -> None:
        self.axes, self.widths, self.heights = axes, widths, heights
        self.across, self.down = np.zeros(len(widths) + 1), np.zeros(len(heights) + 1)
        self.cells: list[tuple[Any, int, int]] = []
        self.measured = (0.0, 0.0)
        self.titles: dict[int, str] = {}

    def add(self, row: int, column: int) -> Any:
        panel = self.axes.inset_axes((0, 0, 1, 1))
        panel.set_axes_locator(partial(self._place, row, column))
        self.cells.append((panel, row, column))
        return panel

    def _place(self, row: int, column: int, _: Any, renderer: Any) -> Any:
        """Position of a panel in its figure; matplotlib calls this before it draws the panel."""
        from matplotlib.transforms import Bbox

        area, figure = self.axes.get_position(), self.axes.figure
        width, height = figure.bbox.width / figure.dpi, figure.bbox.height / figure.dpi
        size = area.width * width, area.height * height
        if renderer is not None and not np.allclose(size, self.measured):
            self.measured = size  # set first, because measuring a panel calls this function
            self._measure(renderer)
        x, wide = _shared(self.widths, self.across, size[0])
        y, high = _shared(self.heights, self.down, size[1])
        bottom = area.y1 - (y[row] + high[row]) / height
        return Bbox.from_bounds(area.x0 + x[column] / width, bottom, wide[column] / width, high[row] / height)

    def _measure(self, renderer: Any) -> None:
        """Set the gaps, in inches, to what the labels on both sides need, and wrap titles to their panels."""
        self.across[:], self.down[:] = 0, 0
        self._widen(self.across, "x0", "x1", renderer)
        sizes = _shared(self.widths, self.across, self.measured[0])[1]
        for place, (panel, _, column) in enumerate(self.cells):
            title = self.titles.setdefault(place, panel.get_title())
            room = sizes[column] + self.across[column : column + 2].min()
            panel.title.set_text("\n".join(wrap(title, max(int(12.5 * room), 10))))
        self._widen(self.down, "y1", "y0", renderer)

    def _widen(self, gaps: NDArray[np.float64], first: str, last: str, renderer: Any) -> None:
        """Add the labels before and after the panels of each column (or row), and a space between two panels."""
        before, after = np.zeros((2, len(gaps) - 1))
        for panel, row, column in self.cells:
            place = column if first == "x0" else row
            outer, inner = panel.get_tightbbox(renderer, for_layout_only=True), panel.get_window_extent(renderer)
            for most, side in ((before, first), (after, last)):
                beyond = (getattr(outer, side) - getattr(inner, side)) / self.axes.figure.dpi
                most[place] = max(most[place], beyond if side in ("x1", "y1") else -beyond)
        gaps[:-1] += before
        gaps[1:] += after
        gaps[1:-1] += PANEL_GAP


def _shared(
    parts: NDArray[np.float64], gaps: NDArray[np.float64], total: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Starts and sizes of parts of a length, with gaps around and between them that take at most two thirds.

    >>> [values.tolist() for values in _shared(np.array([1.0, 3.0]), np.array([0.0, 2.0, 0.0]), 10.0)]
    [[0.0, 4.0], [2.0, 6.0]]
    """
    gaps = gaps * min(1.0, 2 / 3 * total / max(float(gaps.sum()), 1e-9))
    sizes = parts / parts.sum() * (total - gaps.sum())
    return np.cumsum(gaps[:-1]) + np.cumsum(sizes) - sizes, sizes


def plain_axes(axes: Any, theme: Theme = LIGHT) -> None:
    """No frame, no ticks, small labels."""
    axes.set_facecolor(theme.ground)
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.tick_params(length=0, labelsize=SMALL, colors=theme.ink)


def framed_axes(axes: Any, theme: Theme, grid: str = "") -> None:
    """A line at the left and below, and lines across where `grid` is "x", "y" or "both"."""
    plain_axes(axes, theme)
    for side in ("left", "bottom"):
        axes.spines[side].set_visible(True)
        axes.spines[side].set_color(theme.line)
    if grid:
        axes.grid(axis=grid, color=theme.line, linewidth=0.6)
        axes.set_axisbelow(True)


def axis_names(axes: Any, theme: Theme, x: str = "", y: str = "") -> None:
    """What stands along the axes."""
    axes.set_xlabel(safe(x), fontsize=SMALL, color=theme.ink)
    axes.set_ylabel(safe(y), fontsize=SMALL, color=theme.ink)


def safe(text: str) -> str:
    """Text that is drawn as it is: no formulas between dollars, and a square for signs that the font lacks."""
    return drawable(text).replace("$", r"\$")


def drawable(text: str) -> str:
    """Text with a square for each sign that the font lacks."""
    signs = _signs()
    return "".join(c if c == "\n" or ord(c) in signs else UNKNOWN_SIGN for c in text)


@cache
def _signs() -> frozenset[int]:
    from matplotlib.font_manager import findfont, get_font

    return frozenset(get_font(findfont(FONT)).get_charmap())


def ramp_image(axes: Any, values: NDArray[np.float64], theme: Theme, low: float = 0.0) -> Any:
    """Numbers from `low` to 1 as an image, from the ground's colour to the strongest; the missing colour for NaN."""
    from matplotlib.colors import LinearSegmentedColormap

    colours = LinearSegmentedColormap.from_list(f"partita {theme.name}", theme.ramp).with_extremes(bad=theme.missing)
    shown = np.ma.masked_invalid(values)
    return axes.imshow(shown, cmap=colours, vmin=low, vmax=1.0, aspect="auto", interpolation="nearest")


def ramp_bar(figure: Any, image: Any, axes: Any, theme: Theme, name: str) -> None:
    """The key of such an image, on axes of its own."""
    bar = figure.colorbar(image, cax=axes)
    bar.outline.set_visible(False)
    axes.tick_params(length=2, labelsize=SMALL, colors=theme.ink, color=theme.line)
    axes.set_ylabel(safe(name), fontsize=SMALL, color=theme.ink)


def label_image(axes: Any, labels: NDArray[Any], k: int | None, theme: Theme) -> Any:
    """Cluster numbers as an image in their colours."""
    from matplotlib.colors import to_rgb

    names, places = np.unique(labels, return_inverse=True)
    colours = np.array([to_rgb(colour_of(int(name), theme, k)) for name in names]).reshape(-1, 3)
    return axes.imshow(colours[places.reshape(labels.shape)], aspect="auto", interpolation="nearest")


def look_of(cluster: int, theme: Theme, k: int | None = None) -> dict[str, Any]:
    """How a bar or block of a cluster is filled: colour, hatch, and a thin line around."""
    colour = colour_of(cluster, theme, k)
    look = {"facecolor": colour, "edgecolor": theme.ground, "linewidth": 0.5}
    hatch = hatch_of(cluster) if k is None or cluster < k else ""
    return look | ({"hatch": hatch, "edgecolor": text_on(colour)} if hatch else {})


def number_on(axes: Any, x: float, y: float, text: str, colour: str, size: float = TINY) -> None:
    """A word in the middle of a coloured field, in black or white, on a plate that keeps hatches away."""
    plate = {"facecolor": colour, "edgecolor": "none", "pad": 0.6}
    ink = text_on(colour)
    axes.text(x, y, safe(text), ha="center", va="center", fontsize=size, color=ink, clip_on=True, bbox=plate)


def numbers_in(axes: Any, values: NDArray[np.float64], words: Sequence[Sequence[str]]) -> None:
    """Words in the cells of an image made by `ramp_image`, each in black or white."""
    from matplotlib.colors import to_hex

    image = axes.images[-1]
    colours = image.cmap(image.norm(np.ma.masked_invalid(values)))
    size = TINY if max(values.shape) <= 14 else 5.5
    for row, line in enumerate(words):
        for column, word in enumerate(line):
            if word:
                number_on(axes, column, row, word, to_hex(colours[row, column]), size)


def frame(axes: Any, column: int, row: int, theme: Theme) -> None:
    """A line around a cell of an image."""
    x, y = column + np.array([-0.5, 0.5, 0.5, -0.5, -0.5]) * 0.96, row + np.array([-0.5, -0.5, 0.5, 0.5, -0.5]) * 0.96
    axes.plot(x, y, color=theme.mark, linewidth=1.6, scalex=False, scaley=False)


def boxed(axes: Any, x: float, y: float, text: str, theme: Theme) -> None:
    """A word on a small plate, over points."""
    plate = {"boxstyle": "round,pad=0.15", "facecolor": theme.ground, "edgecolor": theme.soft, "linewidth": 0.6}
    axes.text(x, y, safe(text), ha="center", va="center", fontsize=SMALL, color=theme.ink, bbox=plate, zorder=5)


def legend(axes: Any, theme: Theme, columns: int = 1) -> None:
    """The names of the lines, where they hide least."""
    axes.legend(
        ncols=columns, fontsize=TINY, labelcolor=theme.ink, facecolor=theme.ground, edgecolor=theme.line, framealpha=0.9
    )


def share_of_line(axes: Any, lines: float = 1.0) -> tuple[float, float]:
    """Return the height of a number of lines of small text, as shares of the width and of the height of axes."""
    locator, figure = axes.get_axes_locator(), axes.figure
    box = axes.get_position() if locator is None else locator(axes, None)
    inches = lines * 1.1 * SMALL / 72
    return inches * figure.dpi / (box.width * figure.bbox.width), inches * figure.dpi / (
        box.height * figure.bbox.height
    )


def number_ticks(axes: Any, numbers: Sequence[int], most: int = 12) -> None:
    """Ticks at some of these whole numbers."""
    axes.set_xticks(numbers if len(numbers) <= most else numbers[:: -(-len(numbers) // most)])


def save(figure: Any, path: Any, alt: str = "") -> None:
    """Write a figure: PNG, SVG or PDF by the suffix of a path, PNG to a file object."""
    if hasattr(path, "write"):
        _write(figure, path, "png", alt)
        return
    kind = file_kind(path)
    with replacing(Path(path)) as file:
        _write(figure, file, kind, alt)


def file_kind(path: Any) -> str:
    """The format that a file's name asks for."""
    kind = checked_path(path).suffix.lower().removeprefix(".")
    if kind not in KINDS:
        raise FileError(f"{path}: pictures are written as .png, .svg or .pdf; choose a name that ends so")
    return kind


def as_png(figure: Any, dots: int = DOTS) -> bytes:
    """A figure as PNG."""
    file = io.BytesIO()
    _write(figure, file, "png", "", dots)
    return file.getvalue()


def small_png(figure: Any, dots: int, colours: int = 64) -> bytes:
    """A figure as PNG in few colours, which charts do not miss and pages are lighter by."""
    from PIL import Image  # matplotlib brings it

    small = io.BytesIO()
    full = Image.open(io.BytesIO(as_png(figure, dots)))
    full.convert("RGB").quantize(colours).save(small, "png", optimize=True)
    return small.getvalue()


def _write(figure: Any, file: Any, kind: str, alt: str, dots: int = DOTS) -> None:
    told = KINDS[kind] | ({TOLD_AS[kind]: alt} if alt else {})
    with settings():
        figure.savefig(file, format=kind, dpi=dots, metadata=told, facecolor=figure.get_facecolor())
