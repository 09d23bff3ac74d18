"""How the method came to its result: traces, and what a sampler drew."""

from partita.report.gathered import ReportData
from partita.report.html import curves
from partita.report.html.elements import Numbered, bullets, figures, section


def sampling(data: ReportData, ids: Numbered) -> str:
    """The section on iterations, for methods that have some."""
    shown = data.pictures
    drawn = []
    if shown.trace is not None:
        drawn.append(curves.trace(ids, shown.trace))
    if shown.numbers is not None:
        drawn.append(curves.numbers(ids, shown.numbers))
    return section("sampling", "How the method got there", bullets(data.told), figures(*drawn)) if drawn else ""
