"""What went in: the file, the objects, the clusterings."""

from typing import Final

from partita.report.gathered import ReportData
from partita.report.html.elements import Column, Numbered, counted, facts, name, paragraph, section, share, table

MOST_ROWS: Final = 400


def going_in(data: ReportData, ids: Numbered) -> str:
    """The section on what the consensus was made from."""
    found = data.input
    pairs = [
        ("File", name(found.source)),
        ("Objects", found.objects if not float(found.objects).is_integer() else int(found.objects)),
        ("Different rows of labels", found.distinct),
        ("Clusterings", len(found.clusterings)),
        ("Kind", "memberships" if found.soft else "labels"),
        ("Labels that are missing", share(found.missing)),
    ]
    if found.objects != found.rows:
        pairs.insert(2, ("Rows, each for several objects", found.rows))
    shown = found.clusterings[:MOST_ROWS]
    columns = (Column("Clustering", "text"), Column("Clusters"), Column("Missing"), Column("Weight"))
    rows = ((name(one.name), one.clusters, share(one.missing), f"{one.weight:g}") for one in shown)
    rest = len(found.clusterings) - len(shown)
    more = paragraph(f"{counted(rest, 'more clustering')} not shown.", "soft") if rest else ""
    weights = {one.weight for one in found.clusterings}
    equal = "All clusterings count the same." if len(weights) == 1 else "Clusterings with a higher weight count more."
    return section(
        "input", "What went in", facts(pairs), paragraph(equal), table(ids, "The clusterings", columns, rows), more
    )
