"""Colours stay apart in grey and for colour-blind eyes, and text can be read on both grounds."""

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
    """2.3 is a just noticeable difference."""
    least = 6 if sight == "grey" else 20
    pairs = [(a, b) for i, a in enumerate(theme.palette) for b in theme.palette[:i]]
    assert min(distance(a, b, sight) for a, b in pairs) >= least


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
