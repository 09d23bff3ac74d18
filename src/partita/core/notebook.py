"""Small HTML for notebooks: escaped, of bounded size, in the colours of whatever surrounds it."""

import html
import math
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any, Final

MOST_ROWS: Final = 12
"""Rows of a table; what is left out is counted."""
MOST_COLUMNS: Final = 8
FIRST_ROWS: Final = 5
"""Objects of which labels are shown."""
MOST_NOTES: Final = 6
MOST_LETTERS: Final = 60
MOST_WORDS: Final = 400
"""Letters of a sentence."""
_CELL: Final = "padding:.15em .6em;border-bottom:1px solid rgba(128,128,128,.35);text-align:"


def card(thing: Any, parts: Iterable[str], lines: Sequence[str] = ()) -> str:
    """Return the parts under a heading: the given lines, or `repr` of the thing."""
    name, _, said = repr(thing).partition("(")
    head = f"<div><b>{text(name)}</b>: {text(said.removesuffix(')'), MOST_WORDS)}</div>"
    if lines:
        head = "".join(f"<div>{text(line, MOST_WORDS)}</div>" for line in lines)
    return f'<div style="line-height:1.4">{head}{"".join(parts)}</div>'


def text(value: Any, most: int = MOST_LETTERS) -> str:
    """Anything as escaped text, cut where it is long.

    >>> text("<b>"), text("a" * 9, 5), text(None), text(0.5), text("a\\0b")
    ('&lt;b&gt;', 'aaaa…', '', '0.500', 'a�b')
    """
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.3f}" if math.isfinite(value) else ""
    plain = str(value) if not isinstance(value, (str, bytes)) or len(value) <= most else str(value[: most + 1])
    plain = "".join(letter if letter.isprintable() else "�" for letter in plain[: most + 1])
    return html.escape(plain if len(plain) <= most else plain[: most - 1] + "…")


def bar(share: float) -> str:
    """A share as the length of a bar, which a table shows as it is."""
    length = min(max(share, 0.0), 1.0) * 8
    style = f"display:inline-block;height:.7em;width:{length:.2f}em;background:currentColor;opacity:.45"
    return f'<span aria-hidden="true" style="{style}"></span>'


class Drawn(str):
    """HTML that is put into a table as it is."""

    __slots__ = ()


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]], total: int, what: str) -> str:
    """The first rows as a table under a title, and how many of `what` there are beyond them."""
    shown = list(islice(rows, MOST_ROWS))
    sides = ["right" if shown and all(_numeric(row[j]) for row in shown) else "left" for j in range(len(columns))]
    head = "".join(_cell("th", name, side) for name, side in zip(columns, sides, strict=True))
    body = "".join(
        "<tr>" + "".join(_cell("td", value, side) for value, side in zip(row, sides, strict=True)) + "</tr>"
        for row in shown
    )
    left = total - len(shown)
    more = f"<div>and {left} more {text(what)}</div>" if left > 0 else ""
    caption = f'<div style="margin-top:.6em">{text(title)}</div>'
    style = "border-collapse:collapse;margin:.2em 0"
    return f'{caption}<table style="{style}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}'


def _numeric(value: Any) -> bool:
    percent = isinstance(value, str) and value[:1].isdigit() and value.endswith("%")
    return percent or isinstance(value, (int, float, type(None)))


def _cell(kind: str, value: Any, side: str) -> str:
    return f'<{kind} style="{_CELL}{side}">{value if isinstance(value, Drawn) else text(value)}</{kind}>'


def facts(pairs: Iterable[tuple[str, Any]]) -> str:
    """Named values on a line; those that are None are left out."""
    told = [f"{text(name)}: {text(value, MOST_WORDS)}" for name, value in pairs if value is not None]
    return f"<div>{' · '.join(told)}</div>" if told else ""


def notes(sentences: Sequence[str]) -> str:
    """What the user should know, as a list."""
    if not sentences:
        return ""
    said = "".join(f"<li>{text(sentence, MOST_WORDS)}</li>" for sentence in sentences[:MOST_NOTES])
    left = len(sentences) - MOST_NOTES
    more = f"<li>and {left} more</li>" if left > 0 else ""
    return f'<ul style="margin:.4em 0 0 1.2em;padding:0">{said}{more}</ul>'


def folded(title: str, inside: str) -> str:
    """A part that opens on a click."""
    return f'<details style="margin-top:.4em"><summary>{text(title)}</summary>{inside}</details>'
