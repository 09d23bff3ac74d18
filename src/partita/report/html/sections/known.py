"""Known classes, and coordinates, where they were given."""

from partita.report.gathered import ReportData
from partita.report.html import flows, grids
from partita.report.html.elements import Column, Numbered, counted, figures, paragraph, section, table


def known(data: ReportData, ids: Numbered) -> str:
    """The section on known classes."""
    found, shown = data.truth, data.pictures.confusion
    if found is None:
        return ""
    columns = (Column("Measure", "text"), Column("Value"), Column("What it says", "text"))
    rows = ((name, value, found.meanings.get(name, "")) for name, value in found.scores.items())
    drawn = figures(grids.confusion(ids, shown)) if shown is not None else ""
    said = f"Compared with the known classes of {counted(found.compared, 'object')}, which the consensus has not seen."
    return section("known", "Known classes", paragraph(said), drawn, table(ids, "Measures of agreement", columns, rows))


def placed(data: ReportData, ids: Numbered) -> str:
    """The section on the coordinates."""
    shown = data.pictures.scatter
    return "" if shown is None else section("places", "Where the clusters lie", flows.scatter(ids, shown))
