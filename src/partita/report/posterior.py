"""What a summary of draws says, as tables and as plain values."""

from collections.abc import Mapping
from typing import Any

from partita.core.errors import note_records
from partita.io.summary import plain
from partita.posterior.ball import Bound
from partita.posterior.summary import Summary
from partita.report.tables import TextTable


def summary_tables(summary: Summary, pairs: Mapping[str, float]) -> list[TextTable]:
    """The clusters, the credible ball, the number of clusters and, if asked for, pairs of objects."""
    known = max(int(summary.sizes.sum()), 1)
    clusters = tuple(
        (cluster, size, f"{size / known:.0%}", float(summary.cluster_certainty[cluster]))
        for cluster, size in enumerate(summary.sizes.tolist())
    )
    counts = zip(summary.numbers.clusters.tolist(), summary.numbers.shares.tolist(), strict=True)
    tables = [
        TextTable("Clusters", ("cluster", "objects", "share", "certainty"), clusters),
        _ball_table(summary),
        TextTable("Number of clusters", ("clusters", "share of draws"), tuple(counts)),
    ]
    if pairs:
        tables.append(TextTable("Pairs", ("pair", "share of draws together"), tuple(pairs.items())))
    return tables


def _ball_table(summary: Summary) -> TextTable:
    ball = summary.ball
    bounds = (("vertical, upper", ball.upper), ("vertical, lower", ball.lower), ("horizontal", ball.horizontal))
    rows = tuple((name, bound.clusters, bound.distance, len(bound.draws)) for name, bound in bounds)
    columns = ("bound", "clusters", "distance", "draws that tie")
    return TextTable(f"Credible ball: {ball.share:.0%} of the draws within {ball.radius:.3f}", columns, rows)


def objects_table(summary: Summary, ids: Any = None) -> TextTable:
    """One row an object: its id if it has one, cluster, certainty, and its cluster in each bound of the ball."""
    ball = summary.ball
    columns: dict[str, list[Any]] = {} if ids is None else {"id": ids.tolist()}
    columns["consensus"] = summary.labels.tolist()
    columns["certainty"] = plain(summary.certainty)
    columns |= {
        "vertical upper": ball.upper.labels.tolist(),
        "vertical lower": ball.lower.labels.tolist(),
        "horizontal": ball.horizontal.labels.tolist(),
    }
    return TextTable("Objects", tuple(columns), tuple(zip(*columns.values(), strict=True)))


def as_record(summary: Summary, pairs: Mapping[str, float]) -> dict[str, Any]:
    """All but the objects, ready for JSON."""
    ball = summary.ball
    record: dict[str, Any] = {
        "objects": len(summary),
        "draws": summary.draws,
        "clusters": summary.k,
        "cluster sizes": summary.sizes.tolist(),
        "cluster certainty": summary.cluster_certainty.tolist(),
        "loss": summary.loss,
        "expected loss": summary.expected_loss,
        "every partition tried": summary.exact,
        "credible ball": {
            "level": ball.level,
            "radius": ball.radius,
            "share of draws": ball.share,
            "vertical upper": _bound(ball.upper),
            "vertical lower": _bound(ball.lower),
            "horizontal": _bound(ball.horizontal),
        },
        "number of clusters": dict(
            zip(map(str, summary.numbers.clusters.tolist()), summary.numbers.shares.tolist(), strict=True)
        ),
        "seed": summary.seed,
        "notes": note_records(summary.notes),
    }
    return record | ({"pairs": dict(pairs)} if pairs else {})


def _bound(bound: Bound) -> dict[str, Any]:
    return {"clusters": bound.clusters, "distance": bound.distance, "draws": (bound.draws + 1).tolist()}
