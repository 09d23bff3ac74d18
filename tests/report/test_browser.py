"""The page in a real browser: no errors, no requests, tables that sort and filter, a download, print, accessibility."""

import csv
import io
import shutil
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import partita
from tests.samples import noisy_labels

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")

NAMES = ["plain", "<b>bold</b>", "</script><script>alert(1)</script>", "a,\"b\"\n'c'", "\u202eשלום", "x" * 300, "&amp;"]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A page of 160 objects with odd names, and what it was made of."""
    labels, truth = noisy_labels(n=160, r=len(NAMES), k=4, noise=0.25, missing=0.1)
    ids = np.array([f'{i} <i>"{i % 7}"</i>, ${{x}}' for i in range(160)], object)
    ensemble = partita.Ensemble.from_labels(labels, NAMES, missing=-1, ids=ids)
    rng = np.random.default_rng(0)
    places = rng.normal(size=(160, 2)) + 4 * np.eye(4)[truth][:, :2]
    path = tmp_path_factory.mktemp("page") / "report <1>.html"
    data = partita.write_report(
        path, ensemble, range(2, 6), "mm", truth=[f"class <{c}>" for c in truth], coordinates=places, repeats=4,
        compare="voting,lwgp", source="<labels>.csv", id_name="who,\"is\"", title="Odd & <names>",
    )  # fmt: skip
    return path, data


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as running:
        started = running.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield started
        started.close()


class Seen:
    """A page that is open, offline, and all that it said and asked for."""

    def __init__(self, browser, path, **context):
        self.context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, "offline": True, **context})
        self.page = self.context.new_page()
        self.said, self.requests = [], []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("dialog", lambda dialog: self.said.append(f"dialog {dialog.message}"))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(path.as_uri())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.context.close()
        assert self.said == []
        assert len(self.requests) == 1 and self.requests[0].startswith("file:")


def column(page, place):
    rows = "table.paged tbody tr:not([hidden])"
    return page.eval_on_selector_all(rows, f"rows => rows.map(row => row.cells[{place}].textContent)")


def test_nothing_said_nothing_asked(browser, made):
    with Seen(browser, made[0]) as seen:
        page = seen.page
        assert page.title() == "Odd & <names>"
        assert page.locator("h1").count() == 1
        assert page.locator("b, i, td img").count() == 0
        levels = page.eval_on_selector_all("h1, h2, h3, h4", "heads => heads.map(head => Number(head.tagName[1]))")
        assert levels[0] == 1 and all(b - a <= 1 for a, b in pairwise(levels))
        for link in page.eval_on_selector_all("nav a", "links => links.map(link => link.getAttribute('href'))"):
            assert page.locator(link).count() == 1
        assert page.locator("svg.chart").count() >= 14
        ids = page.eval_on_selector_all("[id]", "found => found.map(one => one.id)")
        assert len(ids) == len(set(ids))


def test_tables_sort_by_click_and_keyboard(browser, made):
    with Seen(browser, made[0]) as seen:
        page = seen.page
        page.select_option("#rows", "1000")
        button = page.locator("table.paged thead button").nth(2)
        button.click()
        values = [float(text) for text in column(page, 2) if text != "–"]
        assert values == sorted(values) and len(set(values)) > 20
        head = page.locator("table.paged thead th").nth(2)
        assert head.get_attribute("aria-sort") == "ascending"
        button.focus()
        page.keyboard.press("Enter")
        assert head.get_attribute("aria-sort") == "descending"
        values = [float(text) for text in column(page, 2) if text != "–"]
        assert values == sorted(values, reverse=True)
        page.locator("table.paged thead button").first.press("Space")
        assert head.get_attribute("aria-sort") is None
        names = column(page, 0)
        assert names[:3] == [f'{i} <i>"{i % 7}"</i>, ${{x}}' for i in range(3)]


def test_tables_filter_and_turn_pages(browser, made):
    with Seen(browser, made[0]) as seen:
        page = seen.page
        first = column(page, 0)
        assert len(first) == 25 and page.locator("#found").inner_text() == "1 to 25 of 160 rows"
        page.get_by_role("button", name="Next", exact=True).click()
        assert not set(column(page, 0)) & set(first)
        page.get_by_label("Search the table").fill("17 <I>")
        assert sorted(column(page, 0)) == sorted(f'{i} <i>"{i % 7}"</i>, ${{x}}' for i in (17, 117))
        assert "2 of 160 rows" in page.locator("#found").inner_text()
        page.get_by_label("Search the table").fill("no such thing")
        assert column(page, 0) == [] and "No row" in page.locator("#found").inner_text()


def test_download_is_all_labels(browser, made):
    path, data = made
    with Seen(browser, path) as seen:
        with seen.page.expect_download() as waiting:
            seen.page.get_by_role("button", name="Save the labels").click()
        text = Path(waiting.value.path()).read_bytes().decode()
        seen.requests[:] = [url for url in seen.requests if not url.startswith("blob:")]
    rows = list(csv.DictReader(io.StringIO(text)))
    assert waiting.value.suggested_filename == "consensus.csv"
    assert [row['who,"is"'] for row in rows] == data.ids.tolist()
    assert [int(row["consensus"]) for row in rows] == data.consensus.labels.tolist()
    found = [float(row["confidence"] or "nan") for row in rows]
    np.testing.assert_allclose(found, data.diagnostics.confidence, atol=0.00051)


def test_readable_without_javascript(browser, made):
    with Seen(browser, made[0], java_script_enabled=False) as seen:
        page = seen.page
        assert page.locator("table.paged tbody tr:visible").count() == 160
        assert page.locator(".js-only:visible").count() == 0
        assert page.locator("svg.chart:visible").count() == page.locator("svg.chart").count()
        assert page.get_by_text("This command writes them too").is_visible()


def test_printed(browser, made):
    with Seen(browser, made[0], color_scheme="dark") as seen:
        page = seen.page
        page.emulate_media(media="print", color_scheme="dark")
        assert page.locator(".js-only:visible, nav:visible").count() == 0
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        assert page.evaluate("getComputedStyle(document.querySelector('h2')).color") == "rgb(0, 0, 0)"
        page.set_viewport_size({"width": 700, "height": 1000})
        assert page.evaluate("document.documentElement.scrollWidth") <= 700
        assert len(page.pdf()) > 20_000


def test_theme_button(browser, made):
    with Seen(browser, made[0], color_scheme="dark") as seen:
        page = seen.page
        background = "getComputedStyle(document.body).backgroundColor"
        dark = page.evaluate(background)
        page.get_by_role("button", name="Light colours").click()
        assert page.evaluate(background) == "rgb(255, 255, 255)" != dark
        page.get_by_role("button", name="Dark colours").click()
        assert page.evaluate(background) == dark


def test_keyboard_alone(browser, made):
    """Tab goes from the top down, what has the focus is seen, and lists of what marks tell open by a key."""
    with Seen(browser, made[0]) as seen:
        page = seen.page
        tops, kinds = [], []
        for _ in range(400):
            page.keyboard.press("Tab")
            found = page.evaluate(
                """() => { const one = document.activeElement, seen = getComputedStyle(one);
                return [one.tagName, one.getBoundingClientRect().top + scrollY, seen.outlineStyle, one.id]; }"""
            )
            if found[0] == "BODY":
                break
            assert found[2] != "none", found
            kinds.append(found[0])
            tops.append(found[1])
        assert {"A", "BUTTON", "INPUT", "SELECT", "SUMMARY", "PRE", "DIV"} == set(kinds)
        falls = sum(b < a - 700 for a, b in pairwise(tops))
        assert falls == 0 and tops[-1] > page.evaluate("document.body.scrollHeight") / 2
        opened = page.locator("details.told").first
        opened.locator("summary").focus()
        page.keyboard.press("Enter")
        assert opened.locator("li").first.is_visible()


@pytest.mark.parametrize(
    "width, scheme",
    [
        (1280, "light"),
        (390, "dark"),
        pytest.param(1280, "dark", marks=pytest.mark.slow),
        pytest.param(390, "light", marks=pytest.mark.slow),
    ],
)
def test_accessible(browser, made, width, scheme):
    size = {"width": width, "height": 844}
    with Seen(browser, made[0], viewport=size, color_scheme=scheme) as seen:
        seen.page.eval_on_selector_all("details", "found => found.forEach(one => { one.open = true; })")
        found = axe.Axe().run(seen.page).response
        assert [(one["id"], [node["html"][:150] for node in one["nodes"][:3]]) for one in found["violations"]] == []
        assert "color-contrast" in {one["id"] for one in found["passes"]}
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= width
