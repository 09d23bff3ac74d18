"""A reproduction as Markdown: a page for each paper, one over all of them, or all in one."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from partita.core.records import ShownExhibit, ShownPaper, ShownRun
from partita.report.reproduction import (
    KEY,
    cuts_of,
    exhibit_table,
    facts,
    lines_of,
    orders_table,
    overview,
    title_of,
)
from partita.report.tables import TextTable

Figures: TypeAlias = Mapping[tuple[str, str], str]
"""By paper and exhibit, where the figure lies, seen from the page."""
LONG: Final = 16
"""Rows beyond which a table is folded up where a figure shows the same."""


def escaped(text: str) -> str:
    """Words that are to be read as they are.

    >>> escaped("a*b <c> d_e\\nf")
    'a\\\\*b &lt;c> d\\\\_e f'
    """
    flat = " ".join(text.split())
    return flat.replace("&", "&amp;").replace("<", "&lt;").replace("*", "\\*").replace("_", "\\_")


def table_text(table: TextTable) -> str:
    """A pipe table whose cells are read as they are."""
    rows = tuple(tuple(escaped(cell) if isinstance(cell, str) else cell for cell in row) for row in table.rows)
    return replace(table, columns=tuple(map(escaped, table.columns)), rows=rows).markdown()


def paper_page(paper: ShownPaper, run: ShownRun, figures: Figures) -> str:
    """One paper."""
    parts = [f"# {paper.key}: {escaped(paper.title)}", *_facts(run), KEY, *_body(paper, figures, 2)]
    return "\n\n".join(parts) + "\n"


def index_page(run: ShownRun, link: Callable[[str], str] = lambda key: f"{key}.md") -> str:
    """What was run, and what came out, paper by paper."""
    table = overview(run)
    rows = tuple((f"[{row[0]}]({link(row[0])})", *row[1:]) for row in table.rows)
    parts = ["# Reproduction", *_facts(run), replace(table, rows=rows).markdown().rstrip()]
    cuts = [f"- {escaped(line)}" for line in cuts_of(run)]
    if cuts:
        parts += ["## Where less is run than in the papers", "\n".join(cuts)]
    return "\n\n".join(parts) + "\n"


def whole_page(run: ShownRun, figures: Figures) -> str:
    """Everything on one page, for the documentation."""
    head = index_page(run, lambda key: f"#{key}").rstrip()
    parts = [head, KEY]
    for paper in run.papers:
        parts += [f'<a id="{paper.key}"></a>', f"## {paper.key}: {escaped(paper.title)}", *_body(paper, figures, 3)]
    return "\n\n".join(parts) + "\n"


def _facts(run: ShownRun) -> Iterator[str]:
    yield "\n".join(f"- {name}: {value}" for name, value in facts(run))


def _body(paper: ShownPaper, figures: Figures, level: int) -> Iterator[str]:
    for shown in paper.exhibits:
        yield f"{'#' * level} {escaped(title_of(shown))}"
        yield from _exhibit(shown, figures.get((paper.key, shown.key)))
    if paper.absent:
        yield f"{'#' * level} Not reproduced"
        yield "\n".join(f"- {escaped(line)}" for line in paper.absent)


def _exhibit(shown: ShownExhibit, figure: str | None) -> Iterator[str]:
    if figure is not None:
        yield f"![{escaped(title_of(shown))}]({figure})"
    table = table_text(exhibit_table(shown)).rstrip()
    yield from folded("The numbers", table) if figure is not None and len(shown.rows) > LONG else (table,)
    yield "\n".join(f"- {escaped(line)}" for line in lines_of(shown))
    if shown.orders:
        yield from folded("The paper's order and ours", table_text(orders_table(shown)).rstrip())


def folded(title: str, text: str) -> Sequence[str]:
    """Text that opens on demand, in MkDocs (md_in_html) and on GitHub alike."""
    return (f"<details markdown>\n<summary>{title}</summary>\n\n{text}\n\n</details>",)
