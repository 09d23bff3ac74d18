"""Other methods on the same table."""

from typing import Final

from partita.report.gathered import ReportData
from partita.report.html.elements import Column, Markup, Numbered, number, paragraph, safe, section, table

COLUMNS: Final = (
    Column("Method", "text"),
    Column("Clusters"),
    Column("Agreement with the clusterings (ANMI)"),
    Column("Mean confidence"),
    Column("Mean silhouette"),
    Column("Agreement with this consensus (ARI)"),
    Column("Remark", "text"),
)


def methods(data: ReportData, ids: Numbered) -> str:
    """The section on what other methods find with the same number of clusters."""
    if not data.rivals:
        return ""
    rows = (
        (
            Markup(f"<strong>{safe(one.method)}</strong>") if one.chosen else one.method,
            one.clusters or None, one.anmi, one.confidence, one.silhouette, one.agreement, one.remark,
        )
        for one in data.rivals
    )  # fmt: skip
    alike = [one.agreement for one in data.rivals if one.agreement is not None and not one.chosen]
    said = (
        "What other methods find in the same table with as many clusters. Where they agree with this consensus, it "
        "does not hang on the method."
    )
    if alike:
        low, high = number(min(alike), 2), number(max(alike), 2)
        span = f"is {low}" if low == high else f"goes from {low} to {high}"
        said += f" Their agreement with it (adjusted Rand index, 1 is the same) {span}."
    return section("methods", "Other methods", paragraph(said), table(ids, "Methods, side by side", COLUMNS, rows))
