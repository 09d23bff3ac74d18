"""How many clusters: what each criterion says of each k."""

from collections.abc import Sequence
from typing import Any

from partita.report.gathered import ReportData
from partita.report.html import curves, flows
from partita.report.html.elements import Column, Numbered, bullets, figures, paragraph, section, table
from partita.report.selection import others, trials_table


def choice(data: ReportData, ids: Numbered) -> str:
    """The section on k, where several were tried."""
    chosen, shown = data.selection, data.pictures
    if chosen is None:
        return ""
    drawn = []
    if shown.curves is not None:
        drawn += [curves.criterion(ids, shown.curves.ks, curve, chosen.k) for curve in shown.curves.curves]
    if shown.cdf is not None:
        drawn += [curves.distributions(ids, shown.cdf), curves.delta_area(ids, shown.cdf)]
    if shown.tracking is not None:
        drawn.append(flows.tracking(ids, shown.tracking))
    trials = trials_table(chosen)
    columns = [Column(title, "text" if title == "remark" else "number") for title in trials.columns]
    told = [
        f"Recommended: k = {chosen.k}; {chosen.reason}.".replace("..", "."),
        others(chosen),
        "The dashed line marks the recommended k, the orange dot what each criterion prefers.",
    ]
    caption = "Every number of clusters that was tried"
    return section(
        "k", "How many clusters", *(paragraph(_capital(line)) for line in told if line), bullets(chosen.notes),
        figures(*drawn), table(ids, caption, _moved(columns), map(_moved, trials.rows)),
    )  # fmt: skip


def _capital(line: str) -> str:
    whole = line[:1].upper() + line[1:]
    return whole if whole.endswith(".") else whole + "."


def _moved(row: Sequence[Any]) -> list[Any]:
    """The remark, which stands last, beside the k: on a narrow screen the rest may be out of sight."""
    first, *others, last = row
    return [first, last, *others]
