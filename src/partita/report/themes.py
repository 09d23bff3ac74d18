"""How pictures look on light and on dark ground: colours as data, for matplotlib and for pages alike."""

from dataclasses import dataclass
from typing import Final

from partita.core.errors import ParameterError


@dataclass(frozen=True, slots=True)
class Theme:
    """Colours on one ground.

    No two colours of the palette are equally light, and neighbours differ by a quarter of the range or more, so that
    they stay apart in grey and for colour-blind eyes; beyond eight clusters hatches tell colours apart.
    """

    name: str
    ground: str
    """Behind everything."""
    ink: str
    """Text."""
    soft: str
    """Text that may be overlooked."""
    line: str
    """Grids and frames."""
    palette: tuple[str, ...]
    """Clusters 0 to 7."""
    unpaired: tuple[str, ...]
    """Labels that match no cluster."""
    missing: str
    """Where there is no label or no number."""
    mark: str
    """Frames around what is meant."""
    accent: str
    """The one line or bar of a picture that has one."""
    ramp: tuple[str, ...]
    """From none to all, evenly in lightness away from the ground."""


LIGHT: Final = Theme(
    name="light",
    ground="#FFFFFF",
    ink="#1D2125",
    soft="#5B6470",
    line="#D5D9DE",
    palette=("#0060CF", "#FF9FC7", "#284808", "#8F9700", "#704078", "#18AFFF", "#DF3860", "#B7DF8F"),
    unpaired=("#8A8A8A", "#B5B5B5", "#6A6A6A", "#CFCFCF"),
    missing="#F1F2F4",
    mark="#DF3860",
    accent="#0060CF",
    ramp=("#FFFFFF", "#D2E2F5", "#9CC1E8", "#5F9AD6", "#2670B8", "#08478C", "#04244C"),
)
DARK: Final = Theme(
    name="dark",
    ground="#16181B",
    ink="#E4E6E9",
    soft="#A3ABB5",
    line="#3B4149",
    palette=("#108F97", "#E7B740", "#8738A7", "#D7F7B7", "#EF7068", "#18EFE7", "#9F6000", "#BF97FF"),
    unpaired=("#8A8A8A", "#6A6A6A", "#B5B5B5", "#525252"),
    missing="#24272C",
    mark="#EF7068",
    accent="#5CB3FF",
    ramp=("#16181B", "#16304D", "#19507F", "#2F77AE", "#5F9FCF", "#9CC7E8", "#E3F1FC"),
)
LEAST_CONTRAST: Final = 3.0
"""What WCAG 2 wants of lines."""
THEMES: Final = {theme.name: theme for theme in (LIGHT, DARK)}
HATCHES: Final = ("", "////", "....", "xxxx", "\\\\\\\\", "++++", "oooo", "----")
MARKERS: Final = ("o", "s", "^", "D", "v", "P", "X", "*")
LINES: Final = ("-", (0, (5, 2)), (0, (1, 1)), (0, (5, 1, 1, 1)), (0, (8, 2)), (0, (3, 1, 1, 1, 1, 1)))


def theme_of(name: str | Theme) -> Theme:
    """A theme by its name."""
    if isinstance(name, Theme):
        return name
    if name not in THEMES:
        raise ParameterError(f"theme={name!r} is not known; choose one of {', '.join(THEMES)}")
    return THEMES[name]


def colour_of(cluster: int, theme: Theme, k: int | None = None) -> str:
    """The colour of a cluster: again from the first after eight, grey from k upwards, pale for no label.

    >>> colour_of(8, LIGHT) == LIGHT.palette[0], colour_of(-1, LIGHT) == LIGHT.missing
    (True, True)
    """
    if cluster < 0:
        return theme.missing
    if k is not None and cluster >= k:
        return theme.unpaired[(cluster - k) % len(theme.unpaired)]
    return theme.palette[cluster % len(theme.palette)]


def line_colour(place: int, theme: Theme) -> str:
    """The colour of one of several lines: those of the palette that stand out from the ground, again and again.

    >>> all(contrast(line_colour(place, theme), theme.ground) >= 3 for place in range(8) for theme in (LIGHT, DARK))
    True
    """
    seen = [colour for colour in theme.palette if contrast(colour, theme.ground) >= LEAST_CONTRAST]
    return seen[place % len(seen)]


def hatch_of(cluster: int, theme: Theme = LIGHT) -> str:
    """The hatch that tells a cluster from others of its colour; none for the first eight.

    >>> hatch_of(3), hatch_of(8), hatch_of(23)
    ('', '////', '....')
    """
    return "" if cluster < 0 else HATCHES[cluster // len(theme.palette) % len(HATCHES)]


def marker_of(cluster: int) -> str:
    """The marker of a cluster's points: beyond eight colours come again, but with another marker.

    >>> marker_of(0), marker_of(8)
    ('o', 's')
    """
    return MARKERS[(cluster + cluster // len(MARKERS)) % len(MARKERS)]


def luminance(colour: str) -> float:
    """Relative luminance of a colour #rrggbb, as WCAG 2 defines it.

    >>> luminance("#FFFFFF"), luminance("#000000")
    (1.0, 0.0)
    """
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """The contrast ratio of two colours by WCAG 2, between 1 and 21.

    >>> round(contrast("#FFFFFF", "#000000"), 1)
    21.0
    """
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def text_on(colour: str) -> str:
    """Black or white, whichever is read better on a colour; the contrast is 4.58 at least.

    >>> text_on("#FFFF00"), text_on("#000080")
    ('#000000', '#FFFFFF')
    """
    return max(("#000000", "#FFFFFF"), key=lambda ink: contrast(ink, colour))
