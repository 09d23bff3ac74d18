"""Light and dark theme of the plots: colors as data, for matplotlib and for HTML."""

from dataclasses import dataclass
from typing import Final

from partita.core.errors import ParameterError


@dataclass(frozen=True, slots=True)
class Theme:
    """Colors on one background.

    The palette has 30 colors. The first 8 also differ in lightness, so that they stay distinct in grey and for
    color-blind readers, and consecutive colors differ in grey. The other 22 were chosen greedily: each maximizes the
    least CIEDE2000 distance to the colors before it, where distances under simulated color blindness count twice.
    The least distance of two of the 30 is 12.4 (about 2 is just noticeable). From cluster 8 on, hatches and markers
    are a second cue where a chart has them; from cluster 30 on, colors repeat with another hatch and marker.
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
    """Clusters 0 to 29."""
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


LIGHT_PALETTE: Final = (
    "#0060CF", "#FF9FC7", "#284808", "#8F9700", "#704078", "#18AFFF", "#DF3860", "#B7DF8F",
    "#607848", "#0030D8", "#907830", "#006048", "#9078C0", "#600090", "#C078A8", "#903030",
    "#6078FF", "#00F0FF", "#C000A8", "#00C078", "#F0D800", "#606000", "#609078", "#D8A830",
    "#9018FF", "#90C0A8", "#904860", "#F07860", "#187878", "#A8A8D8",
)  # fmt: skip
LIGHT: Final = Theme(
    name="light",
    ground="#FFFFFF",
    ink="#1D2125",
    soft="#5B6470",
    line="#D5D9DE",
    palette=LIGHT_PALETTE,
    unpaired=("#8A8A8A", "#B5B5B5", "#6A6A6A", "#CFCFCF"),
    missing="#F1F2F4",
    mark="#DF3860",
    accent="#0060CF",
    ramp=("#FFFFFF", "#D2E2F5", "#9CC1E8", "#5F9AD6", "#2670B8", "#08478C", "#04244C"),
)
DARK_PALETTE: Final = (
    "#108F97", "#E7B740", "#8738A7", "#D7F7B7", "#EF7068", "#18EFE7", "#9F6000", "#BF97FF",
    "#C06090", "#A8C0F0", "#484878", "#A87878", "#C0C078", "#786090", "#60C090", "#7878C0",
    "#604800", "#90A800", "#903060", "#FF00C0", "#0000FF", "#FF1878", "#FFC0D8", "#F00030",
    "#D890C0", "#787848", "#F0F000", "#306048", "#0078F0", "#A80030",
)  # fmt: skip
DARK: Final = Theme(
    name="dark",
    ground="#16181B",
    ink="#E4E6E9",
    soft="#A3ABB5",
    line="#3B4149",
    palette=DARK_PALETTE,
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
    """Return the color of a cluster; colors repeat from cluster 30 on.

    Labels from `k` on match no cluster and are grey; a negative label is missing and has the missing color.

    >>> colour_of(30, LIGHT) == LIGHT.palette[0], colour_of(-1, LIGHT) == LIGHT.missing
    (True, True)
    """
    if cluster < 0:
        return theme.missing
    if k is not None and cluster >= k:
        return theme.unpaired[(cluster - k) % len(theme.unpaired)]
    return theme.palette[cluster % len(theme.palette)]


def line_colour(place: int, theme: Theme) -> str:
    """Return the color of one of several lines: colors of the palette with enough contrast, repeated cyclically.

    >>> all(contrast(line_colour(place, theme), theme.ground) >= 3 for place in range(8) for theme in (LIGHT, DARK))
    True
    """
    seen = [colour for colour in theme.palette if contrast(colour, theme.ground) >= LEAST_CONTRAST]
    return seen[place % len(seen)]


def hatch_of(cluster: int) -> str:
    """Return the hatch of a cluster: none for the first 8, another one for every further 8.

    Clusters with the same color (30 apart) have different hatches up to cluster 59.

    >>> hatch_of(3), hatch_of(8), hatch_of(23)
    ('', '////', '....')
    """
    return "" if cluster < 0 else HATCHES[cluster // len(HATCHES) % len(HATCHES)]


def marker_of(cluster: int) -> str:
    """Return the marker of a cluster's points; clusters with the same color have different markers.

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
