"""The page: all sections in one file that needs nothing else, and stays below 5 MB."""

import base64
import hashlib
from functools import cache
from importlib.resources import files
from typing import Final

from partita.report.gathered import ReportData
from partita.report.html.colours import palette_style
from partita.report.html.elements import Numbered, cut, safe
from partita.report.html.packing import Packed, pack
from partita.report.html.sections.choice import choice
from partita.report.html.sections.clusterings import clusterings
from partita.report.html.sections.confidence import confidence
from partita.report.html.sections.going_in import going_in
from partita.report.html.sections.known import known, placed
from partita.report.html.sections.methods import methods
from partita.report.html.sections.objects import objects
from partita.report.html.sections.outcome import outcome
from partita.report.html.sections.repeat import repeat
from partita.report.html.sections.sampling import sampling
from partita.report.html.sections.summary import answer

LIMIT: Final = 5_000_000
"""Bytes that no page reaches."""
NO_LABELS: Final = Packed(0, 1, False, False, "")
PAGE: Final = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="generator" content="partita">
<title>{title}</title>
<link rel="icon" href="data:,">
<style>{style}</style>
</head>
<body>
<div class="page">
<a class="skip" href="#main">Skip to the report</a>
<header><div><h1>{title}</h1><p>{below}</p></div>
<button type="button" id="theme" class="js-only">Dark colours</button></header>
<nav aria-label="Sections"><ul>{links}</ul></nav>
<main id="main" tabindex="-1">
{answer}
{sections}
</main>
<footer>Made by Partita {version}. This file holds everything it shows and asks nothing of the network.</footer>
</div>
<script>{script}</script>
</body>
</html>
"""


def page(data: ReportData, limit: int = LIMIT) -> bytes:
    """The whole file. The labels of all objects travel in it as far as there is room below the limit."""
    bare = _page(data, NO_LABELS)
    room = limit - len(bare) - 2_000
    return _page(data, pack(data.consensus.labels, data.diagnostics.confidence, data.ids, room))


def _page(data: ReportData, packed: Packed) -> bytes:
    ids = Numbered()
    parts = {
        "Input": going_in(data, ids),
        "Clusters": outcome(data, ids),
        "Confidence": confidence(data, ids),
        "Clusterings": clusterings(data, ids),
        "Objects": objects(data, ids, packed),
        "How many clusters": choice(data, ids),
        "Other methods": methods(data, ids),
        "Known classes": known(data, ids),
        "Places": placed(data, ids),
        "Iterations": sampling(data, ids),
        "Repeat": repeat(data),
    }
    there = {title: text for title, text in parts.items() if text}
    links = "".join(f'<li><a href="#{_key(text)}">{title}</a></li>' for title, text in there.items())
    style, script = palette_style() + asset("style.css"), asset("script.js")
    return PAGE.format(
        policy=policy(style, script), title=safe(cut(data.title, 200)), below=safe(cut(data.below, 400)), style=style,
        links=links, answer=answer(data), sections="\n".join(there.values()), version=safe(data.version), script=script,
    ).encode("utf-8", "replace")  # fmt: skip


def _key(section: str) -> str:
    """Where a section's link leads."""
    return section.split('id="', 1)[1].split('"', 1)[0]


def policy(style: str, script: str) -> str:
    """What a browser may do with the page: this style, this script, pictures that are in it; nothing from elsewhere."""
    return (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@cache
def asset(name: str) -> str:
    """The style sheet or the script, which lie beside this module."""
    return (files("partita.report.html") / name).read_text(encoding="utf-8")
