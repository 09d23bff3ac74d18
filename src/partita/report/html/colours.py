"""Style sheet of the colors of clusters and lines: the HTML report uses the palette of the displays."""

from typing import Final

from partita.report.themes import DARK, LIGHT, Theme, colour_of, line_colour

CLUSTERS: Final = len(LIGHT.palette)
"""Number of cluster colors; further clusters repeat them."""
LINES: Final = 20
"""Number of line colors, all with a contrast of at least 3 on both backgrounds."""
LINES_PER_DASH: Final = 6
"""Consecutive lines with the same dash pattern; a repeated color has another one."""


def palette_style() -> str:
    """Return the style sheet of cluster colors (fill `.c0`, stroke `.e0`) and lines (`.line.l0`); print is light."""
    light, dark = _named(LIGHT), _named(DARK)
    return (
        f":root {{ {light} }}\n"
        f':root[data-theme="dark"] {{ {dark} }}\n'
        f'@media screen and (prefers-color-scheme: dark) {{ :root:not([data-theme="light"]) {{ {dark} }} }}\n'
        f'@media print {{ :root, :root[data-theme="dark"] {{ {light} }} }}\n'
        f"{_classes()}\n"
    )


def _classes() -> str:
    areas = [f".c{c} {{ fill: var(--c{c}); }} .e{c} {{ stroke: var(--c{c}); }}" for c in range(CLUSTERS)]
    return " ".join([*areas, *(f".line.l{c} {{ stroke: var(--l{c}); }}" for c in range(LINES))])


def _named(theme: Theme) -> str:
    areas = [f"--c{cluster}: {colour_of(cluster, theme)};" for cluster in range(CLUSTERS)]
    lines = [f"--l{place}: {line_colour(place, theme)};" for place in range(LINES)]
    return " ".join(areas + lines).lower()
