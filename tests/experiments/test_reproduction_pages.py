"""Pages and figures of a reproduction: whole, escaped, self-contained, and drawn."""

import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from partita.core.records import Absence, Cell, Failure
from partita.experiments.reproducing import Reproduction, reproduce
from partita.experiments.units import Settings
from partita.report.figures import has_figure, picture
from partita.report.pages import document_of, pages_of, pictures_of
from partita.report.reproduction import cell_text, cells_table, digits, exhibit_table, lines_of, records_table
from partita.report.reproduction_md import escaped

FAKE = "tests.experiments.fake_paper"
PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    wanted = Reproduction((FAKE,), ("table-1", "table-2", "table-4", "figure-1", "figure-2"), Settings(seed=3))
    return reproduce(wanted, tmp_path_factory.mktemp("made"))


@pytest.fixture(scope="module")
def pictures(made):
    return pictures_of(made[0])


@pytest.fixture(scope="module")
def pages(made, pictures):
    return pages_of(made[0], pictures)


def exhibit(made, key):
    return next(each for each in made[0].papers[0].exhibits if each.key == key)


def size_of(png):
    return int.from_bytes(png[16:20], "big"), int.from_bytes(png[20:24], "big")


def test_files(pages, pictures):
    assert set(pages) == {"index.md", "index.html", "fake.md", "fake.html", "figures/fake-figure-1.png",
                          "figures/fake-figure-2.png"}  # fmt: skip
    assert set(pictures) == {("fake", "figure-1"), ("fake", "figure-2")}


def test_figures_are_drawn(made, pictures):
    for png in pictures.values():
        assert png.startswith(PNG) and min(size_of(png)) > 250 and 5_000 < len(png) < 60_000
    assert not has_figure(exhibit(made, "table-1"))
    bare = replace(exhibit(made, "figure-1"), cells=())
    assert not has_figure(bare)
    one = replace(exhibit(made, "figure-1"), cells=exhibit(made, "figure-1").cells[:1])
    assert picture(one).startswith(PNG)
    words = tuple(replace(row, x=f"k={row.x}") for row in exhibit(made, "figure-1").rows)
    assert picture(replace(exhibit(made, "figure-1"), rows=words)).startswith(PNG)


def test_a_figure_shows_printed_points_and_spread(made):
    shown = exhibit(made, "figure-1")
    without = replace(shown, cells=tuple(replace(cell, published=None) for cell in shown.cells))
    flat = replace(shown, cells=tuple(replace(cell, spread=None) for cell in shown.cells))
    assert len({picture(shown), picture(without), picture(flat)}) == 3
    assert picture(shown) == picture(shown)


def test_markdown_tables_have_as_many_cells_as_heads(pages):
    text = pages["fake.md"].decode()
    tables = re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)
    assert len(tables) >= 6
    for table in tables:
        counts = {len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}
        assert len(counts) == 1, table
    assert "a\\|b &lt;c> | 0." in text and "<c>" not in text and "&lt;impossible>" in text
    assert "![Figure 1. Curves" in text and "(figures/fake-figure-1.png)" in text


def test_markdown_says_all_there_is_to_say(pages):
    text = pages["fake.md"].decode()
    for said in (
        "`partita reproduce tests.experiments.fake_paper --table 1 --table 2 --table 4 --figure 1 --figure 2 --seed 3`",
        "8 draws a row;",
        "Of 4 pairs of columns that the paper orders",
        "“b is ahead of a (p. 3)” holds",
        "“a works on yeast” not tested",
        "Cut: 8 draws, the paper has 100",
        "Printed wine c (mean): above 1 | cannot be",
        "Skipped gone: gone.csv is not here",
        "Failed bad, 3 draws (0, 1, 2): ValueError: this trial fails",
        "Table 9: no data",
        "Kendall's tau",
    ):
        assert said in text, said


class Checker(HTMLParser):
    """Every tag closed in its turn."""

    void = frozenset({"meta", "img", "br"})

    def __init__(self):
        super().__init__()
        self.open, self.images, self.links = [], [], []

    def handle_starttag(self, tag, attrs):
        if tag not in self.void:
            self.open.append(tag)
        self.images += [dict(attrs)["src"]] if tag == "img" else []
        self.links += [dict(attrs)["href"]] if tag == "a" else []

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.mark.parametrize("name", ["fake.html", "index.html"])
def test_html_is_well_formed_and_needs_no_network(pages, name):
    text = pages[name].decode()
    checker = Checker()
    checker.feed(text)
    assert not checker.open and "http" not in re.sub(r"base64,[^\"]*", "", text)
    assert all(source.startswith("data:image/png;base64,") for source in checker.images)
    assert len(checker.images) == (2 if name == "fake.html" else 0)
    anchors = {link for link in checker.links if link.startswith("#")}
    assert all(f'id="{anchor[1:]}"' in text for anchor in anchors)
    assert all(link in pages for link in checker.links if not link.startswith("#"))


def test_html_tables_are_escaped_and_marked(pages):
    text = pages["fake.html"].decode()
    assert "a|b &lt;c&gt;" in text and "<c>" not in text and "&lt;impossible&gt;" in text
    table = re.search(r"<table>.*?</table>", text, re.DOTALL).group()
    rows = ET.fromstring(table.replace("<br>", "<br/>")).findall(".//tr")
    assert {len(list(row)) for row in rows} == {7} and len(rows) == 4
    assert "▼" in table and "ours is worse than printed" in table, "not by colour alone"
    assert "prefers-color-scheme: dark" in text and "@media print" in text


def test_index_counts(made, pages):
    line = next(line for line in pages["index.md"].decode().splitlines() if line.startswith("| [fake]"))
    counts = [int(cell) for cell in line.strip("| ").split(" | ")[1:]]
    cells = [cell for shown in made[0].papers[0].exhibits for cell in shown.cells]
    assert counts[0] == 5 and counts[1] == sum(cell.verdict == "within" for cell in cells)
    assert counts[8:] == [1, 0, 0, 1, 1, 3] and "8 draws, the paper has 100" in pages["index.md"].decode()


def test_one_page_for_the_documentation(made, pictures):
    page, figures = document_of(made[0], pictures, "reproduction")
    text = page.decode()
    assert set(figures) == {"fake-figure-1.png", "fake-figure-2.png"} and "(reproduction/fake-figure-1.png)" in text
    assert "[fake](#fake)" in text and '<a id="fake"></a>' in text and "/tmp" not in text


def test_flat_tables(made):
    run, results = made
    assert len(records_table(results.records).rows) == len(results.records)
    table = cells_table(run)
    assert len(table.rows) == sum(len(shown.cells) for shown in run.papers[0].exhibits)
    assert table.csv().splitlines()[0].startswith("paper,exhibit,row,column,statistic,ours,spread")


def test_cell_texts():
    cell = Cell("iris", "a", "mean", 0.8123, 0.05, 4, 0.7, "p. 1", "", "better")
    assert cell_text(cell, 3) == "0.812 ± 0.050 [0.700] ▲" and cell_text(None, 3) == ""
    assert cell_text(replace(cell, ours=None, spread=None, verdict=""), 2) == "– [0.70]"
    assert cell_text(replace(cell, statistic="max", published=None, verdict=""), 2) == "0.81"


def test_what_is_not_measured_is_said(made):
    shown = replace(exhibit(made, "table-1"), draws=(0, 0), wanted=0)
    assert next(lines_of(shown)) == "Not measured in this run: printed numbers alone."
    shown = replace(shown, draws=(2, 5), wanted=8)
    assert next(lines_of(shown)).startswith("2 to 5 draws a row of 8 asked for")


def test_many_failures_are_told_shortly(made):
    many = tuple(Failure("fake", "table-1", "iris", draw, "oh") for draw in range(40))
    shown = replace(exhibit(made, "table-1"), failures=many, absences=(Absence("fake", "table-1", "wine", "gone"),))
    lines = list(lines_of(shown))
    assert lines[-1] == "Failed iris, 40 draws (0, 1, 2, 3, 4, 5, …): oh" and lines[-2] == "Skipped wine: gone"


def test_digits_follow_the_numbers(made):
    shown = exhibit(made, "figure-1")
    assert digits(shown) == 3
    assert digits(replace(shown, cells=tuple(replace(cell, ours=50 * np.e) for cell in shown.cells))) == 1
    assert len(exhibit_table(shown).columns) == 3


def test_escaping():
    assert escaped("a_b *c* <d> & \n e") == "a\\_b \\*c\\* &lt;d> &amp; e"
