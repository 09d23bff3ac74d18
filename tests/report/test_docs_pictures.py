"""The page of pictures: every display is on it, every picture is there and small, and its lines make them."""

import importlib.util
import re
from pathlib import Path

import pytest

from partita import report

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "plots.md").read_text()
SHOWN = dict(re.findall(r"!\[(.*?)\]\(plots/(.*?)\)", PAGE))


def test_every_display_is_on_the_page():
    assert all(f"report.{name}." in PAGE for name in report.__all__)


def test_pictures_are_there_small_and_told():
    assert set(SHOWN.values()) == {path.name for path in (DOCS / "plots").iterdir()}
    assert all(len(words) > 20 for words in SHOWN)
    assert all(path.stat().st_size < 60_000 for path in (DOCS / "plots").iterdir())


@pytest.mark.slow
def test_the_lines_of_the_page_make_them(tmp_path):
    place = importlib.util.spec_from_file_location("pictures", DOCS / "pictures.py")
    pictures = importlib.util.module_from_spec(place)
    place.loader.exec_module(pictures)
    pictures.make(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == set(SHOWN.values())
