"""All files of a reproduction's report, by name: pages as Markdown and HTML, figures as PNG."""

from collections.abc import Mapping

from partita.core.records import ShownRun
from partita.report.figures import has_figure, picture
from partita.report.reproduction_html import index_html, paper_html
from partita.report.reproduction_md import index_page, paper_page, whole_page

Pictures = Mapping[tuple[str, str], bytes]
"""By paper and exhibit."""


def pictures_of(run: ShownRun) -> dict[tuple[str, str], bytes]:
    """Every figure of a run; needs matplotlib."""
    return {
        (paper.key, shown.key): picture(shown) for paper in run.papers for shown in paper.exhibits if has_figure(shown)
    }


def pages_of(run: ShownRun, pictures: Pictures) -> dict[str, bytes]:
    """The files of an output folder: an index and a page for each paper, both ways, and the figures."""
    places = {key: f"figures/{file_name(*key)}" for key in pictures}
    files = {"index.md": index_page(run), "index.html": index_html(run)}
    for paper in run.papers:
        files[f"{paper.key}.md"] = paper_page(paper, run, places)
        files[f"{paper.key}.html"] = paper_html(paper, run, pictures)
    return {name: text.encode() for name, text in files.items()} | {places[key]: pictures[key] for key in pictures}


def document_of(run: ShownRun, pictures: Pictures, folder: str) -> tuple[bytes, dict[str, bytes]]:
    """One page for the documentation, and by name the figures that lie in `folder` beside it."""
    names = {key: file_name(*key) for key in pictures}
    page = whole_page(run, {key: f"{folder}/{name}" for key, name in names.items()})
    return page.encode(), {names[key]: pictures[key] for key in pictures}


def file_name(paper: str, exhibit: str) -> str:
    """What a figure's file is called.

    >>> file_name("wang2009", "figure-2")
    'wang2009-figure-2.png'
    """
    return f"{paper}-{exhibit}.png"
