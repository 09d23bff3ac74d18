"""Which objects are doubtful: a table to search and sort, and the labels of all objects to take along."""

from typing import Final

from partita.core.types import MISSING
from partita.report.gathered import DoubtfulObject, ReportData
from partita.report.html.elements import (
    Column,
    Markup,
    Numbered,
    code,
    counted,
    name,
    number,
    paragraph,
    part,
    safe,
    section,
    table,
)
from partita.report.html.packing import Packed
from partita.report.html.sections.outcome import key

COLUMNS: Final = (
    Column("Cluster"),
    Column("Confidence"),
    Column("Item consensus"),
    Column("Next best cluster"),
    Column("Item consensus there"),
    Column("Margin"),
    Column("Remark", "text"),
)
TOOLS: Final = """<div class="tools js-only">
<div><label for="find">Search the table</label>
<input id="find" type="search" autocomplete="off" spellcheck="false"></div>
<div><label for="rows">Rows at a time</label>
<select id="rows"><option>25</option><option>100</option><option>1000</option></select></div>
<div><button type="button" id="back">Previous</button> <button type="button" id="on">Next</button></div>
<p id="found" role="status" aria-live="polite"></p>
</div>"""


def objects(data: ReportData, ids: Numbered, packed: Packed) -> str:
    """The section on single objects."""
    many = len(data.doubtful)
    title = "Object" if data.input.named else "Row"
    columns = (Column(title, "text" if data.input.named else "number"), *COLUMNS)
    least = "All objects" if many == data.input.rows else f"The {many:,} least clear of {data.input.rows:,} objects"
    lines = [
        f"{least}, by ascending margin. Item consensus is the mean share of clusterings that put the object together "
        "with the members of a cluster. The margin is its value for the own cluster minus that for the next best; "
        "below 0 the other cluster fits better.",
        "An outlier is far below the others of its cluster and fits no other cluster either.",
    ]
    rows = (_line(one, data.input.named) for one in data.doubtful)
    return section(
        "objects", "Which objects are doubtful", *map(paragraph, lines), TOOLS,
        table(ids, f"{least}, by margin", columns, rows, "paged"), _download(data, packed),
    )  # fmt: skip


def _line(one: DoubtfulObject, named: bool) -> tuple[object, ...]:
    first = name(one.called) if named else Markup(str(one.called))
    cluster = key(one.cluster) if one.cluster != MISSING else None
    nearest = key(one.nearest) if one.nearest != MISSING else None
    return (first, cluster, one.confidence, one.own, nearest, one.other, one.margin, one.remark)


def _download(data: ReportData, packed: Packed) -> str:
    told = [_what(data, packed)]
    button = ""
    if packed.data:
        button = (
            '<p class="js-only"><button type="button" class="main" id="save">Save the labels of '
            f'{_all(packed.rows)} (CSV)</button></p><p id="saved" role="status" class="soft"></p>'
            f"{_block(data, packed)}"
        )
    last = "This command writes them too, with memberships where there are any:"
    return part("All labels", *map(paragraph, told), button, paragraph(last), code(data.repeat.labels_command))


def _all(rows: int) -> str:
    return "the one object" if rows == 1 else f"all {counted(rows, 'object')}"


def _what(data: ReportData, packed: Packed) -> str:
    if not packed.data:
        return f"The labels of {number(packed.rows)} objects are too many for this file, which stays below 5 MB."
    held = "the consensus label" + (" and the confidence" if packed.has_confidence else "")
    said = f"This file holds {held} of every object."
    if data.input.named and not packed.has_ids:
        said += " The ids are too many to fit below 5 MB: objects are called by their row, counted from 1."
    return said


def _block(data: ReportData, packed: Packed) -> str:
    flags = "".join(
        f' data-{what}="yes"'
        for what, there in (("confidence", packed.has_confidence), ("ids", packed.has_ids))
        if there
    )
    return (
        f'<script type="text/plain" id="labels" data-rows="{packed.rows}" data-width="{packed.width}"{flags} '
        f'data-id-name="{safe(data.input.id_name)}" data-file="{safe(data.file_name)}">{packed.data}</script>'
    )
