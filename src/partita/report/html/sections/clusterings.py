"""Which clusterings disagree: agreement of each with each and with the consensus, and what goes where."""

from typing import Final

import numpy as np

from partita.core.types import IntArray
from partita.report.gathered import ReportData
from partita.report.html import charts, flows, grids
from partita.report.html.elements import Column, Numbered, cut, figure, figures, name, number, paragraph, section, table

MOST_ROWS, MOST_BARS = 400, 24
COLUMNS: Final = (
    Column("Clustering", "text"),
    Column("Agreement with the consensus (NMI)"),
    Column("ANMI with it"),
    Column("ANMI without it"),
    Column("Change when left out"),
    Column("Weight"),
)

MEANING: Final = (
    "ANMI is the mean agreement of the consensus with the clusterings. Where it rises when one is left out, that one "
    "disagrees with the rest."
)


def clusterings(data: ReportData, ids: Numbered) -> str:
    """The section on the clusterings that went in."""
    found, agreed = data.diagnostics.influence, data.diagnostics.agreement
    order = np.argsort(-np.nan_to_num(found.nmi, nan=-1.0), kind="stable")
    few, shown = _ends(order), order[:MOST_ROWS]
    drawn = [
        figure(
            charts.bars(
                ids, "Agreement with the consensus", [found.names[j] for j in few], found.nmi[few], None, _told(data)
            ),
            "Normalised mutual information of each clustering with the consensus: 1 is the same division, 0 has "
            "nothing in common with it." + _left_out(len(order) - len(few)),
        ),
        figure(
            grids.agreement(ids, data.pictures.agreement),
            f"{agreed.measure.upper()} of each clustering with each{_sampled(agreed.objects, data.input.rows)}. Those "
            "that agree stand beside each other, and the tree (average linkage) joins them first.",
        ),
    ]
    if data.pictures.alluvial is not None:
        drawn.append(flows.alluvial(ids, data.pictures.alluvial, len(found.names)))
    rows = (
        (
            name(found.names[j]),
            float(found.nmi[j]),
            float(found.anmi),
            float(found.without[j]),
            f"{found.without[j] - found.anmi:+.3f}" if np.isfinite(found.without[j]) else None,
            f"{found.weights[j]:g}",
        )
        for j in shown.tolist()
    )
    return section(
        "clusterings", "Which clusterings disagree", paragraph(_said(data)), figures(*drawn),
        table(ids, "Each clustering and the consensus: its influence", COLUMNS, rows),
        paragraph(MEANING, "soft"),
    )  # fmt: skip


def _ends(order: IntArray) -> IntArray:
    """The clusterings that agree most and least, where there are too many to show all."""
    half = MOST_BARS // 2
    return order if len(order) <= MOST_BARS else np.append(order[:half], order[-half:])


def _left_out(many: int) -> str:
    return f" Shown are those that agree most and least; {many} between them are in the table." if many else ""


def _sampled(objects: int, rows: int) -> str:
    return "" if objects >= rows else f", measured on {objects:,} objects drawn at random"


def _told(data: ReportData) -> str:
    found = data.diagnostics.influence
    return f"Agreement of {len(found.names)} clusterings with the consensus: mean {number(found.anmi, 2)}."


def _said(data: ReportData) -> str:
    found = data.diagnostics.influence
    change = found.without - found.anmi
    if not np.isfinite(change).any():
        return "There are too few clusterings to tell which disagrees."
    far = int(np.nanargmax(change))
    if change[far] <= 0.001:
        return "No clustering stands out: leaving any of them out does not raise the agreement of the others."
    return (
        f"“{cut(found.names[far], 60)}” disagrees most: without it the consensus agrees with the others to "
        f"{number(found.without[far], 3)} instead of {number(found.anmi, 3)}."
    )
