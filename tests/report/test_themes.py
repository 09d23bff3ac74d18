"""Colors stay distinct in grey and for color-blind readers, and text is readable in both themes."""

import numpy as np
import pytest

from partita.core.errors import ParameterError
from partita.report.themes import (
    DARK,
    HATCHES,
    LIGHT,
    MARKERS,
    colour_of,
    contrast,
    hatch_of,
    line_colour,
    marker_of,
    text_on,
    theme_of,
)

# Machado, Oliveira and Fernandes (2009), severity 1, on linear RGB
SIGHT = {
    "all colours": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
    "grey": np.tile([0.2126, 0.7152, 0.0722], (3, 1)),
}
XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)


def lab(colour, sight):
    """CIE L*a*b* of a colour as somebody sees it."""
    rgb = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    xyz = XYZ @ np.clip(SIGHT[sight] @ linear, 0, 1) / np.array([0.95047, 1, 1.08883])
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def distance(one, other, sight):
    return float(np.linalg.norm(lab(one, sight) - lab(other, sight)))


def test_the_simulation_itself():
    """Red and green of equal lightness are one to deuteranopes; blue and yellow are not."""
    assert distance("#FF0000", "#00B000", "all colours") > 100
    assert distance("#C05000", "#808000", "deuteranopia") < 0.5 * distance("#C05000", "#808000", "all colours")
    assert distance("#0000FF", "#FFFF00", "deuteranopia") > 100
    assert lab("#777777", "grey")[1:] == pytest.approx([0, 0], abs=0.5)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
@pytest.mark.parametrize("sight", SIGHT)
def test_neighbouring_colours_are_apart(theme, sight):
    least = 14 if sight == "grey" else 25
    for c in range(len(theme.palette)):
        assert distance(colour_of(c, theme), colour_of(c + 1, theme), sight) >= least, (c, sight)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
@pytest.mark.parametrize("sight", SIGHT)
def test_all_colours_are_apart(theme, sight):
    """The first 8 colors; 2.3 is a just noticeable difference."""
    least = 6 if sight == "grey" else 20
    pairs = [(a, b) for i, a in enumerate(theme.palette[:8]) for b in theme.palette[:i]]
    assert min(distance(a, b, sight) for a, b in pairs) >= least


def ciede2000(one, other):
    """CIE DE2000 distance of two L*a*b* colors (Sharma, Wu and Dalal, 2005)."""
    (l1, a1, b1), (l2, a2, b2) = one, other
    mean = (np.hypot(a1, b1) + np.hypot(a2, b2)) / 2
    stretch = 1.5 - 0.5 * np.sqrt(mean**7 / (mean**7 + 25**7))
    a1, a2 = stretch * a1, stretch * a2
    c1, c2 = np.hypot(a1, b1), np.hypot(a2, b2)
    h1, h2 = (np.degrees(np.arctan2(b, a)) % 360 for a, b in ((a1, b1), (a2, b2)))
    turn = 0 if c1 * c2 == 0 else (h2 - h1 + 180) % 360 - 180
    hue = h1 + h2 if c1 * c2 == 0 else (h1 + turn / 2) % 360
    light, chroma = (l1 + l2) / 2, (c1 + c2) / 2
    waves = ((-0.17, 1, -30), (0.24, 2, 0), (0.32, 3, 6), (-0.2, 4, -63))
    t = 1 + sum(height * np.cos(np.radians(times * hue + shift)) for height, times, shift in waves)
    s_light = 1 + 0.015 * (light - 50) ** 2 / np.sqrt(20 + (light - 50) ** 2)
    parts = (
        (l2 - l1) / s_light,
        (c2 - c1) / (1 + 0.045 * chroma),
        2 * np.sqrt(c1 * c2) * np.sin(np.radians(turn / 2)) / (1 + 0.015 * chroma * t),
    )
    around = 60 * np.exp(-(((hue - 275) / 25) ** 2))
    cross = -2 * np.sqrt(chroma**7 / (chroma**7 + 25**7)) * np.sin(np.radians(around))
    return float(np.sqrt(sum(part**2 for part in parts) + cross * parts[1] * parts[2]))


@pytest.mark.parametrize(
    "one, other, published",
    [
        ((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425),
        ((50, 2.5, 0), (50, 0, -2.5), 4.3065),
        ((50, 2.49, -0.001), (50, -2.49, 0.0011), 7.2195),
        ((50, 2.5, 0), (73, 25, -18), 27.1492),
        ((22.7233, 20.0904, -46.694), (23.0331, 14.973, -42.5619), 2.0373),
        ((2.0776, 0.0795, -1.135), (0.9033, -0.0636, -0.5514), 0.9082),
    ],
)
def test_ciede2000_has_the_published_values(one, other, published):
    """Pairs of Sharma, Wu and Dalal (2005), Table 1."""
    assert ciede2000(one, other) == pytest.approx(published, abs=1e-4)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_thirty_clusters_have_distinct_colors(theme):
    """The least CIEDE2000 distance is 12 for normal vision and 6 for color-blind readers; 2 is just noticeable."""
    colors = [colour_of(cluster, theme) for cluster in range(30)]
    for sight, least in (("all colours", 12), ("protanopia", 6), ("deuteranopia", 6), ("tritanopia", 8)):
        seen = [lab(color, sight) for color in colors]
        assert min(ciede2000(a, b) for i, a in enumerate(seen) for b in seen[:i]) >= least, sight
    other = [lab(color, "all colours") for color in (*theme.unpaired, theme.missing, theme.ground)]
    assert min(ciede2000(lab(a, "all colours"), b) for a in colors for b in other) >= 12
    assert min(contrast(color, theme.ground) for color in colors) >= 1.4


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_text_can_be_read(theme):
    assert contrast(theme.ink, theme.ground) >= 7
    assert contrast(theme.soft, theme.ground) >= 4.5
    for colour in (*theme.palette, *theme.unpaired, *theme.ramp, theme.missing):
        assert contrast(text_on(colour), colour) >= 4.5
    assert all(contrast(line_colour(place, theme), theme.ground) >= 3 for place in range(12))
    assert contrast(theme.accent, theme.ground) >= 3 and contrast(theme.mark, theme.ground) >= 3


def test_black_or_white_is_always_read():
    for value in range(256):
        grey = f"#{value:02X}{value:02X}{value:02X}"
        assert contrast(text_on(grey), grey) >= 4.5


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_ramp_leaves_the_ground_evenly(theme):
    """Numbers can be read off the lightness alone."""
    lightness = np.array([lab(colour, "grey")[0] for colour in theme.ramp])
    steps = np.diff(lightness) * (1 if theme.name == "dark" else -1)
    assert theme.ramp[0] == theme.ground and (steps > 7).all() and steps.max() < 3 * steps.min()


def test_looks_of_sixty_clusters_differ():
    """Colour and hatch, and colour and marker, are no two clusters' alike."""
    for other in (hatch_of, marker_of):
        assert len({(colour_of(c, LIGHT), other(c)) for c in range(60)}) == 60
    assert len(set(HATCHES)) == len(set(MARKERS)) == 8


def test_unknown_theme():
    with pytest.raises(ParameterError, match="theme='pink' is not known; choose one of light, dark"):
        theme_of("pink")
    assert theme_of("dark") is DARK and theme_of(LIGHT) is LIGHT
