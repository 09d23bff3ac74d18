"""Pieces of HTML: text from anywhere made safe, tables, figures, sentences with numbers."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import count
from typing import Any, Final, Literal

import numpy as np

MOST_LETTERS: Final = 120
"""Letters of a name that a table shows; the rest is cut, so that no name can fill the file."""
MANY: Final = 1000
"""Numbers from which one decimal is enough."""
DASH: Final = "–"
_CONTROLS: Final = dict.fromkeys((*range(9), 11, 12, *range(14, 32), 127), "�")


@dataclass(frozen=True, slots=True)
class Markup:
    """HTML that is finished; anything else is text and gets escaped."""

    html: str


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table: what stands above it, and whether it holds numbers."""

    title: str
    kind: Literal["text", "number"] = "number"


class Numbered:
    """Hands out ids that no other element of the page has."""

    def __init__(self) -> None:
        self._next = count(1)

    def id(self, what: str) -> str:
        """The next id of that kind."""
        return f"{what}-{next(self._next)}"


def cut(text: Any, most: int = MOST_LETTERS) -> str:
    """At most so many letters; an ellipsis says that there were more.

    >>> cut("abcdef", 4)
    'abc…'
    """
    plain = text if isinstance(text, str) else str(text)
    return plain if len(plain) <= most else plain[: most - 1] + "…"


def safe(text: Any) -> str:
    """Text for HTML, also between quotes: nothing in it is a tag, a control character or half a letter.

    >>> safe('<b> & "c"')
    '&lt;b&gt; &amp; &quot;c&quot;'
    """
    whole = str(text).translate(_CONTROLS).encode("utf-8", "replace").decode()
    return escape(whole, quote=True)


def name(text: Any, most: int = MOST_LETTERS) -> Markup:
    """A name given by the user, kept from turning the text around it."""
    short = cut(text, most)
    full = f' title="{safe(cut(text, 200))}"' if short != str(text) else ""
    return Markup(f"<bdi{full}>{safe(short)}</bdi>")


def number(value: Any, digits: int = 3) -> str:
    """A number for people; a dash where there is none.

    >>> number(12345), number(0.5), number(float("nan")), number(None)
    ('12,345', '0.500', '–', '–')
    """
    if value is None:
        return DASH
    if isinstance(value, (int, np.integer)):
        return f"{value:,}"
    if not math.isfinite(value):
        return DASH
    return f"{float(value):,.{1 if abs(value) >= MANY and digits > 1 else digits}f}"


def share(value: Any) -> str:
    """A share as a percentage; one that is not quite nothing or all does not read as 0% or 100%.

    >>> share(0.25), share(0.0001), share(1.0)
    ('25.0%', '<0.1%', '100%')
    """
    if value is None or not math.isfinite(value):
        return DASH
    if 0 < value < 0.001:
        return "<0.1%"
    if 0.999 < value < 1:
        return ">99.9%"
    return f"{value:.0%}" if value in (0, 1) else f"{value:.1%}"


def counted(many: float, what: str, plural: str = "") -> str:
    """A number and what is counted.

    >>> counted(1, "object"), counted(2500, "object")
    ('1 object', '2,500 objects')
    """
    shown = f"{many:,.0f}" if float(many).is_integer() else f"{many:,.1f}"
    return f"{shown} {what if many == 1 else plural or what + 's'}"


def listed(words: Sequence[str]) -> str:
    """Words as in a sentence.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def cell(value: Any) -> str:
    """The inside of a table cell."""
    if isinstance(value, Markup):
        return value.html
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if value is None or isinstance(value, (int, float, np.number)):
        return number(value)
    return safe(cut(value))


def table(
    ids: Numbered, caption: str, columns: Sequence[Column], rows: Iterable[Sequence[Any]], extra: str = ""
) -> str:
    """A table that names its rows in the first column, scrolls by itself where it is wide, and sorts with JavaScript.

    `extra` is a class for the table, such as "paged".
    """
    known = ids.id("table")
    heads = "".join(f'<th scope="col" class="{column.kind}">{safe(column.title)}</th>' for column in columns)
    kinds = [f' class="{column.kind}"' if column.kind == "number" else "" for column in columns]
    lines = []
    for row in rows:
        first, *others = map(cell, row)
        cells = "".join(f"<td{kind}>{inside}</td>" for kind, inside in zip(kinds[1:], others, strict=True))
        lines.append(f'<tr><th scope="row"{kinds[0]}>{first}</th>{cells}</tr>')
    body = "\n".join(lines)
    box = "scroll paging" if extra == "paged" else "scroll"
    return (
        f'<div class="{box}" tabindex="0" role="region" aria-labelledby="{known}">'
        f'<table class="sortable {extra}"><caption id="{known}">{safe(caption)}</caption>'
        f"<thead><tr>{heads}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>"
    )


def facts(pairs: Iterable[tuple[str, Any]], kind: str = "facts") -> str:
    """Names and values, one pair a line."""
    inside = "".join(f"<div><dt>{safe(term)}</dt><dd>{cell(value)}</dd></div>" for term, value in pairs)
    return f'<dl class="{kind}">{inside}</dl>'


def paragraph(text: str, kind: str = "") -> str:
    """A sentence or several."""
    return f'<p class="{kind}">{safe(text)}</p>' if kind else f"<p>{safe(text)}</p>"


def bullets(lines: Iterable[str], kind: str = "") -> str:
    """A list of sentences."""
    inside = "".join(f"<li>{safe(cut(line, 600))}</li>" for line in lines)
    return f'<ul class="{kind}">{inside}</ul>' if inside else ""


def code(text: str) -> str:
    """A command or a piece of Python, to be copied; it scrolls where it is long."""
    return f'<pre tabindex="0" class="code"><code>{safe(text)}</code></pre>'


def section(key: str, title: str, *parts: str) -> str:
    """A section with its heading; the key is where links lead."""
    inside = "\n".join(part for part in parts if part)
    head = f'<h2 id="{key}-title">{safe(title)}</h2>'
    return f'<section id="{key}" aria-labelledby="{key}-title">\n{head}\n{inside}\n</section>'


def part(title: str, *parts: str) -> str:
    """A piece of a section under a smaller heading."""
    inside = "\n".join(part for part in parts if part)
    return f"<h3>{safe(title)}</h3>\n{inside}"


def figures(*drawn: str) -> str:
    """Figures beside each other where there is room."""
    inside = "\n".join(one for one in drawn if one)
    return f'<div class="figures">{inside}</div>' if inside else ""


def figure(picture: str, caption: str, kind: str = "") -> str:
    """A picture and the line below it."""
    return f'<figure class="{kind}">{picture}<figcaption>{safe(caption)}</figcaption></figure>'
