"""Pieces of the page: text made safe, numbers, charts that are well-formed, PNGs that a reader takes."""

import io
import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import numpy as np
import pytest
from PIL import Image

from partita.report.html.elements import Column, Numbered, code, name, safe, table
from partita.report.html.page import asset, policy
from partita.report.html.png import COLOUR, shrunk, strength_png
from partita.report.html.svg import Axes, Canvas, joined, runs, short, ticks

HOSTILE = [
    '<img src=x onerror="alert(1)">',
    "</script><script>alert(1)</script>",
    "a & b",
    "'\"`",
    "\x00\x1b[2J",
    "\u202eabc",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_of_a_user_becomes_markup(text):
    seen = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag, attrs):
            seen.append(tag)
            assert not any(key.startswith("on") for key, _ in attrs)

    html = table(Numbered(), text, [Column(text, "text")], [[text], [name(text)], [name(text * 50)]]) + code(text)
    Reader().feed(html)
    assert set(seen) == {"div", "table", "caption", "thead", "tr", "th", "tbody", "bdi", "pre", "code"}
    assert "\x00" not in html and "\x1b" not in html


def test_half_letters_can_be_written():
    assert safe("a\ud800b").encode() == b"a?b"


@pytest.mark.parametrize("low, high", [(0, 1), (-3.2, 18), (0, 1e7), (1e-7, 3e-7), (5, 5), (0.999, 1.001)])
@pytest.mark.parametrize("most", [3, 6])
def test_ticks_are_few_inside_and_even(low, high, most):
    found = np.array(ticks(low, high, most))
    assert 1 <= len(found) <= most + 1
    assert (found >= low - 1e-12).all() and (found <= high + 1e-12).all()
    if len(found) > 2:
        np.testing.assert_allclose(np.diff(found), np.diff(found)[0])


def test_coordinates_are_short_and_right():
    rng = np.random.default_rng(0)
    for value in rng.normal(scale=100, size=300):
        assert abs(float(short(value)) - value) <= 0.00501 and len(short(value)) <= 8


def test_a_path_is_lifted_where_nothing_is_known():
    assert joined([np.nan, 1, 2, 3], [0, 1, np.inf, 3]) == "M1 1M3 3"
    assert runs(np.array([], int)) == []


def test_chart_is_xml_and_tells_what_it_shows():
    canvas = Canvas(440, 100)
    axes = Axes(canvas, (0, 1), (0, 10))
    axes.frame("a < b", "c & d")
    axes.curve([0, 1], [0, 10], "e0", "<told>")
    axes.steps([0, 1], [0, 10], "e0")
    axes.band([0, 1], [0, 1], [2, 3], "")
    axes.bar(0, 1, 5, "plain", "five")
    drawn = ET.fromstring(canvas.svg(Numbered(), "<title>", "told & shown"))
    assert drawn.get("role") == "img"
    known = drawn.get("aria-labelledby").split()
    assert [drawn.find(f"*[@id='{one}']").text for one in known] == ["<title>", "told & shown"]
    assert drawn.find(".//path/title").text == "<told>"


def test_png_holds_the_values():
    values = np.array([[0.0, 0.5, 1.0], [np.nan, 2.0, -1.0]])
    picture = Image.open(io.BytesIO(strength_png(values))).convert("RGBA")
    pixels = np.asarray(picture)
    assert picture.size == (3, 2)
    np.testing.assert_array_equal(pixels[..., 3], [[0, 128, 255], [0, 255, 0]])
    assert (pixels[0, 2, :3] == COLOUR).all()


def test_style_and_script_ask_nothing_of_the_network():
    for text in (asset("style.css"), asset("script.js")):
        assert not re.search(r"https?:|//[a-z]+\.|@import|url\(|fetch\(|XMLHttp|WebSocket|innerHTML|eval\(", text)
        assert "</" not in text
    assert "unsafe" not in policy(asset("style.css"), asset("script.js"))


def test_a_picture_is_shrunk_by_means():
    values = np.random.default_rng(0).random((7, 10))
    small = shrunk(values, 3)
    assert small.shape == (3, 3)
    assert small[0, 2] == pytest.approx(values[:2, 6:].mean())
    np.testing.assert_array_equal(shrunk(values, 10), values)
