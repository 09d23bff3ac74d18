"""The colours of clusters and lines on the page: those of the pictures, tried in grey and for colour-blind eyes."""

from typing import Final

from partita.report.themes import DARK, LIGHT, Theme, line_colour

LINES: Final = 5
"""Colours of lines, which must stand out from the ground more than areas."""


def palette_style() -> str:
    """A style sheet that names them: --c0 to --c7 of clusters, --l0 to --l4 of lines; light on paper."""
    light, dark = _named(LIGHT), _named(DARK)
    return (
        f":root {{ {light} }}\n"
        f':root[data-theme="dark"] {{ {dark} }}\n'
        f'@media screen and (prefers-color-scheme: dark) {{ :root:not([data-theme="light"]) {{ {dark} }} }}\n'
        f'@media print {{ :root, :root[data-theme="dark"] {{ {light} }} }}\n'
    )


def _named(theme: Theme) -> str:
    areas = [f"--c{place}: {colour};" for place, colour in enumerate(theme.palette)]
    lines = [f"--l{place}: {line_colour(place, theme)};" for place in range(LINES)]
    return " ".join(areas + lines).lower()
