"""What notebooks show: escaped, of bounded size, well-formed, with the numbers that repr tells."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

import partita
from partita import Consensus, Ensemble, SoftEnsemble
from partita.comparing import Compared, Comparison
from partita.core import notebook
from tests.samples import noisy, noisy_soft

EVIL = "<script>alert('x')</script>&\"\0\u202e" + "y" * 10_000
BOUND = 20_000


class Page(HTMLParser):
    """Checks the nesting; gathers tables and text."""

    def __init__(self, html):
        super().__init__()
        self.open, self.tables, self.texts = [], [], []
        self.feed(html)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        parents = {"td": "tr", "th": "tr", "tbody": "table", "thead": "table", "li": "ul", "summary": "details"}
        if tag in parents:
            assert self.open[-1] == parents[tag]
        assert tag in {"div", "b", "table", "span", "ul", "details", "tr", *parents}
        assert not [
            value for _, value in attrs if re.search(r"url|expression|#[0-9a-f]|background:(?!currentColor)", value)
        ]
        self.open.append(tag)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)
        if {"td", "th"} & set(self.open):
            self.tables[-1][-1][-1] += data

    @property
    def text(self):
        return "".join(self.texts)


def test_ensemble():
    table = Ensemble.from_labels(
        {"first": ["a", "a", None, "b"], "second": [1, 2, 3, 3]}, weights=[1, 0.5], ids=["w", "x", "y", "z"]
    )
    page = Page(table._repr_html_())
    assert repr(table).removeprefix("Ensemble(").removesuffix(")") in page.text
    assert page.tables[0][1:] == [["first", "2", "25.0%", "1.000"], ["second", "3", "0.0%", "0.500"]]
    assert page.tables[1] == [
        ["object", "first", "second"],
        ["w", "a", "1"],
        ["x", "a", "2"],
        ["y", "", "3"],
        ["z", "b", "3"],
    ]


def test_soft_ensemble():
    table = SoftEnsemble.from_memberships({"a": [[0.9, 0.1], [0.2, 0.8], [0, 0]], "b": ["x", None, "x"]})
    page = Page(table._repr_html_())
    assert repr(table).removeprefix("SoftEnsemble(").removesuffix(")") in page.text
    assert page.tables[0][1:] == [["a", "2", "33.3%", "1.000"], ["b", "1", "33.3%", "1.000"]]
    assert page.tables[1][1:] == [["0", "0 (0.90)", "x (1.00)"], ["1", "1 (0.80)", ""], ["2", "", "x (1.00)"]]
    assert Page(noisy_soft()._repr_html_()).tables[0][1][0] == "c0"


@pytest.mark.parametrize("method", ["auto", "mm", "hgpa"])
def test_consensus(method):
    result = partita.consensus(noisy(missing=0.1), method, 4)
    page = Page(result._repr_html_())
    assert all(line.removeprefix("note: ") in page.text for line in repr(result).splitlines())
    header, *rows = page.tables[0]
    assert [int(row[1]) for row in rows] == result.sizes.tolist()
    if result.confidence is not None:
        mean = [result.confidence[result.labels == cluster].mean() for cluster in range(result.k)]
        least = [result.confidence[result.labels == cluster].min() for cluster in range(result.k)]
        assert [row[header.index("mean confidence")] for row in rows] == [f"{value:.3f}" for value in mean]
        assert [row[header.index("lowest")] for row in rows] == [f"{value:.3f}" for value in least]
    assert f"method {method}" in page.text and "seed 0" in page.text
    assert all(note in page.text for note in result.notes)


def test_unknown_objects_and_empty_results():
    for labels in ([-1, -1], [0], [0, -1, 2]):
        page = Page(Consensus.hard(labels, confidence=np.where(np.array(labels) < 0, np.nan, 0.5))._repr_html_())
        assert len(page.tables[0]) == 1 + max(labels) + 1
    assert "objects without labels: 1" in page.text
    one = Ensemble.from_labels([["a"]])
    assert len(Page(one._repr_html_()).tables[0]) == 2
    assert "rows stand for: 7 objects" in Page(one.with_counts([7])._repr_html_()).text


def test_selection():
    ensemble = noisy(n=80)
    chosen = partita.select_k(ensemble, range(2, 5), repeats=0)
    page = Page(chosen._repr_html_())
    assert chosen.reason in page.text
    header, *rows = page.tables[0]
    assert [row[0] for row in rows] == ["2", "3", "4"]
    assert [row[1] for row in rows] == ["recommended" if str(chosen.k) == row[0] else "" for row in rows]
    assert rows[0][header.index("BIC")] == f"{chosen.trials[0].bic:.3f}"
    many = replace(
        chosen, trials=tuple(replace(chosen.trials[0], k=k) for k in range(2, 300)), k=200, notes=(EVIL,) * 50
    )
    html = many._repr_html_()
    assert len(html) < BOUND and "recommended" in html and "and 286 more numbers" in html


def test_summary():
    summary = partita.summarise(np.array([[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 1, 2]]))
    page = Page(summary._repr_html_())
    assert repr(summary).removeprefix("Summary(").removesuffix(")") in page.text
    assert [row[1] for row in page.tables[0][1:]] == [str(size) for size in summary.sizes]
    assert [row[4] for row in page.tables[0][1:]] == [f"{value:.3f}" for value in summary.cluster_certainty]
    assert "number of clusters in the draws: 2 (67%), 3 (33%)" in page.text


def test_comparison():
    rows = tuple(
        Compared(method, k, k, anmi=0.1 * k + 0.01 * (method == "mm")) for k in (2, 3) for method in ("mm", "cspa")
    )
    few = Comparison((*rows, Compared(EVIL, 3, failed=EVIL)), notes=(EVIL,))
    page = Page(few._repr_html_())
    assert [row[0] for row in page.tables[0][1:5]] == ["mm", "cspa", "mm", "cspa"] and len(page.tables[0]) == 6
    assert [row[-1] for row in page.tables[0][1:5]] == ["best", "", "best", ""]
    assert repr(few).removeprefix("Comparison(").removesuffix(")") in page.text
    many = Comparison(tuple(replace(row, k=k) for k in range(2, 99) for row in rows), notes=(EVIL,) * 50)
    page = Page(many._repr_html_())
    assert len(many._repr_html_()) < BOUND and [row[0] for row in page.tables[0][1:]] == ["mm"] * 12
    assert "and 85 more numbers of clusters" in page.text


def test_hostile_names():
    table = Ensemble.from_labels(
        [[EVIL, f"{EVIL}1"], [f"{EVIL}2", None]], names=[EVIL, f"<img src=x onerror=alert(1)>{EVIL}"], ids=[EVIL, 5]
    )
    soft = SoftEnsemble.from_hard(table)
    result = replace(partita.consensus(table, "voting", 2), notes=(EVIL,) * 20, detail={"confidence": EVIL})
    for thing in (table, soft, result):
        html = thing._repr_html_()
        assert "<script" not in html and "<img" not in html and "\0" not in html and "\u202e" not in html
        assert len(html) < BOUND
        Page(html)


@pytest.mark.parametrize("soft", [False, True])
def test_bounded(soft):
    """200 clusterings of 60 clusters with long names, of many rows: as small as ever."""
    rng = np.random.default_rng(0)
    names = [f"{'long name ' * 30}{j}" for j in range(200)]
    table = Ensemble.from_labels(rng.integers(60, size=(2_000, 200)), names, transpose=False)
    html = (SoftEnsemble.from_hard(table) if soft else table)._repr_html_()
    page = Page(html)
    assert len(html) < BOUND and "and 188 more clusterings" in page.text and "and 1995 more objects" in page.text
    assert len(page.tables[0]) == 1 + notebook.MOST_ROWS and len(page.tables[1][0]) == 2 + notebook.MOST_COLUMNS


def test_a_million_objects():
    labels = (np.arange(1_000_000) % 60).astype(np.int32)
    html = Consensus.hard(labels, confidence=np.full(len(labels), 0.25))._repr_html_()
    assert len(html) < BOUND and "and 48 more clusters" in html
    assert Page(html).tables[0][1][4:] == ["0.250", "0.250"]
    html = Ensemble.from_labels(np.stack([labels, labels // 2], axis=1))._repr_html_()
    assert len(html) < BOUND and "1000000 objects" in html
