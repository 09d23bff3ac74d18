"""A reproduction as HTML pages that need nothing else: no network, light and dark, fit to print."""

from base64 import b64encode
from collections.abc import Iterator, Mapping
from html import escape
from typing import Final

from partita.core.records import Cell, ClaimVerdict, Finding, ShownExhibit, ShownPaper, ShownRun
from partita.report.reproduction import (
    KEY,
    by_place,
    cuts_of,
    digits,
    draws_text,
    facts,
    failed,
    figure,
    heads,
    orders_table,
    overview,
    pair_text,
    remarks_of,
    title_of,
)
from partita.report.reproduction_style import STYLE
from partita.report.tables import shown as shown_value

MARKS: Final = {
    "better": ("▲", "ours is better than printed"),
    "worse": ("▼", "ours is worse than printed"),
}
SIGNS: Final[dict[ClaimVerdict, str]] = {"holds": "✓", "not contradicted": "~", "does not hold": "✗", "not tested": "?"}


def paper_html(paper: ShownPaper, run: ShownRun, pictures: Mapping[tuple[str, str], bytes]) -> str:
    """One paper; figures by paper and exhibit, embedded."""
    parts = ['<p><a href="index.html">All papers</a></p>', f"<h1>{escape(paper.title)}</h1>", *_facts(run)]
    parts.append(f"<p class='key'>{escape(KEY)}</p>")
    links = "".join(f'<li><a href="#{_id(each.key)}">{escape(title_of(each))}</a></li>' for each in paper.exhibits)
    parts.append(f"<nav><ul>{links}</ul></nav>")
    for shown in paper.exhibits:
        parts += _exhibit(shown, pictures.get((paper.key, shown.key)))
    if paper.absent:
        parts += ["<h2>Not reproduced</h2>", _list(paper.absent)]
    return _page(f"{paper.key}: {paper.title}", parts)


def index_html(run: ShownRun) -> str:
    """What was run, and what came out, paper by paper."""
    parts = ["<h1>Reproduction</h1>", *_facts(run)]
    titles = {paper.key: paper.title for paper in run.papers}
    rows = [(f'<a href="{escape(row[0])}.html" title="{escape(titles[row[0]])}">{escape(row[0])}</a>', *row[1:])
            for row in overview(run).rows]  # fmt: skip
    parts.append(_table(overview(run).columns, [[str(cell) for cell in row] for row in rows]))
    cuts = cuts_of(run)
    if cuts:
        parts += ["<h2>Where less is run than in the papers</h2>", _list(cuts)]
    return _page("Reproduction", parts)


def _page(title: str, parts: list[str]) -> str:
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
    head += f"<title>{escape(title)}</title><style>{STYLE}</style>"
    return (
        f'<!doctype html>\n<html lang="en"><head>{head}</head><body><main>\n'
        + "\n".join(parts)
        + "\n</main></body></html>\n"
    )


def _facts(run: ShownRun) -> Iterator[str]:
    rows = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value.strip('`'))}</dd>" for name, value in facts(run))
    yield f"<dl>{rows}</dl>"


def _exhibit(shown: ShownExhibit, picture: bytes | None) -> Iterator[str]:
    yield f'<section><h2 id="{_id(shown.key)}">{escape(title_of(shown))}</h2>'
    if picture is not None:
        source = f"data:image/png;base64,{b64encode(picture).decode()}"
        yield f'<figure><img alt="{escape(title_of(shown))}" src="{source}"></figure>'
    yield _cells(shown)
    yield f"<p>{escape(draws_text(shown))}</p>"
    if shown.ranking:
        yield f"<p><strong>Ranking.</strong> {escape(shown.ranking)}</p>"
    yield from _ranking(shown)
    if shown.findings:
        claims = [_claim(each) for each in shown.findings]
        yield f"<h3>What the paper says of it</h3><ul>{''.join(f'<li>{claim}</li>' for claim in claims)}</ul>"
    yield from _remarks(shown)
    yield "</section>"


def _claim(finding: Finding) -> str:
    verdict = f"<span class='sign'>{SIGNS[finding.verdict]}</span> <strong>{finding.verdict}</strong>"
    return f"{verdict}: “{escape(finding.text)}” {escape(finding.figures)}"


def _ranking(shown: ShownExhibit) -> Iterator[str]:
    """Orders of the rows, and the pairs, on demand."""
    if shown.orders:
        table = orders_table(shown)
        rows = [[escape(shown_value(cell)) for cell in row] for row in table.rows]
        yield f"<details><summary>The paper's order and ours</summary>{_table(table.columns, rows)}</details>"
    if shown.pairs:
        lines = [f"{pair.verdict}: {pair_text(pair)}" for pair in shown.pairs]
        yield f"<details><summary>Every pair</summary>{_list(lines)}</details>"


def _remarks(shown: ShownExhibit) -> Iterator[str]:
    printed = [f"{where}: {said}" for said, where in remarks_of(shown).items()]
    kinds = {
        "On the printed numbers": (*shown.remarks, *printed),
        "Where less is run than in the paper": shown.cuts,
        "Not worked out": shown.notes,
        "Skipped, since the data is not here": tuple(f"{each.row}: {each.reason}" for each in shown.absences),
        "Failed": tuple(f"{where}: {error}" for where, error in failed(shown)),
    }
    for title, lines in kinds.items():
        if lines:
            yield f"<h3>{title}</h3>{_list(lines)}"


def _cells(shown: ShownExhibit) -> str:
    """The exhibit as a table; each cell has ours above what is printed."""
    cells, places = by_place(shown), digits(shown)
    columns = heads(shown)
    rows = [
        [
            escape(row.name),
            *(_cell(cells.get((row.name, column, statistic)), places) for _, column, statistic in columns),
        ]
        for row in shown.rows
    ]
    return _table((shown.x_label, *(head for head, _, _ in columns)), rows)


def _cell(cell: Cell | None, places: int) -> str:
    if cell is None:
        return ""
    text = f"<span class='ours'>{figure(cell.ours, places)}</span>"
    if cell.spread is not None and cell.statistic == "mean":
        text += f" <span class='spread'>± {figure(cell.spread, places)}</span>"
    if cell.verdict in MARKS:
        sign, said = MARKS[cell.verdict]
        text += f" <span class='{cell.verdict}' title='{said}'>{sign}<span class='unseen'> {said}</span></span>"
    if cell.published is not None:
        where = f"printed, {cell.place}" if cell.place else "printed"
        text += f"<br><span class='printed' title='{escape(where, quote=True)}'>[{figure(cell.published, places)}]"
        text += f"{'*' if cell.remark else ''}</span>"
    return text


def _table(columns: tuple[str, ...], rows: list[list[str]]) -> str:
    """A table of cells that are HTML already; the first of each row is its name."""
    head = "".join(f"<th scope='col'>{escape(name)}</th>" for name in columns)
    body = "".join(
        f"<tr><th scope='row'>{row[0]}</th>{''.join(f'<td>{cell}</td>' for cell in row[1:])}</tr>" for row in rows
    )
    return f"<div class='wide'><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"


def _list(lines: tuple[str, ...] | list[str]) -> str:
    return f"<ul>{''.join(f'<li>{escape(line)}</li>' for line in lines)}</ul>"


def _id(key: str) -> str:
    return escape(key, quote=True)
