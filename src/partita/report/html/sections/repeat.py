"""How to make this page again."""

from partita.report.gathered import ReportData
from partita.report.html.elements import code, facts, paragraph, part, section


def repeat(data: ReportData) -> str:
    """The section with the command, the recipe and the versions."""
    found = data.repeat
    return section(
        "repeat", "How to repeat it",
        paragraph("The same command on the same data with the same versions gives this file again, byte for byte."),
        code(found.command), part("Recipe", facts(found.recipe, "facts long")), part("Versions", facts(found.versions)),
    )  # fmt: skip
