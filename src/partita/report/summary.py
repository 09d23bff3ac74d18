"""What a consensus says, as tables: its clusters, and the base clusterings behind it."""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from partita.core.consensus import Consensus
from partita.core.errors import note_records
from partita.io.summary import detail_of, plain, recipe_of
from partita.report.tables import TextTable
from partita.streaming.result import Streamed

MOST_NUMBERS: Final = 5
"""Numbers of clusters that are named, the likeliest first."""


def clusters_table(consensus: Consensus) -> TextTable:
    """One row per cluster: objects, share, mean and lowest confidence."""
    known = max(len(consensus) - consensus.unknown, 1)
    rows = []
    for cluster, size in enumerate(consensus.sizes.tolist()):
        members = consensus.labels == cluster
        sure = np.empty(0) if consensus.confidence is None else consensus.confidence[members]
        sure = sure[np.isfinite(sure)]
        mean, least = (float(sure.mean()), float(sure.min())) if len(sure) else (None, None)
        rows.append((cluster, size, f"{size / known:.0%}", mean, least))
    return TextTable("Clusters", ("cluster", "objects", "share", "mean confidence", "lowest"), tuple(rows))


def stream_table(result: Streamed) -> TextTable:
    """One row a cluster of a table that was read in blocks: objects and share."""
    known = max(result.rows - result.unknown, 1)
    rows = [(cluster, int(size), f"{size / known:.0%}") for cluster, size in enumerate(result.sizes)]
    return TextTable("Clusters", ("cluster", "objects", "share"), tuple(rows))


def clusterings_table(consensus: Consensus) -> TextTable:
    """Return one row per base clustering: clusters, share of missing labels, weight, agreement with the consensus."""
    rows = [
        (row["clustering"], row["clusters"], f"{row['missing']:.0%}", row["weight"], plain(row["nmi"]))
        for row in consensus.agreement
    ]
    return TextTable(
        "Base clusterings", ("clustering", "labels", "missing", "weight", "NMI with consensus"), tuple(rows)
    )


def candidates_table(consensus: Consensus) -> TextTable | None:
    """Return one row per candidate of a method that chooses among others, None for other methods."""
    if not consensus.candidates:
        return None
    columns = ("method", "clusters", "ANMI", "covariance", "seconds", "outcome")
    rows = []
    for row in consensus.candidates:
        remark = "chosen" if row["chosen"] else row["refused"]
        rows.append((row["method"], row["k"], row["anmi"], row["covariance"], row["seconds"], remark))
    return TextTable("Candidates", columns, tuple(rows))


def told(consensus: Consensus) -> list[str]:
    """Return sentences on the choice among candidates, on the posterior of a sampler, and on polishing."""
    chosen = (
        [f"{consensus.detail['chosen']} was chosen: {consensus.detail['rule']}"] if "rule" in consensus.detail else []
    )
    return chosen + _posterior(consensus.detail) + _polished(consensus.detail.get("polish"))


def _posterior(detail: Mapping[str, Any]) -> list[str]:
    said = []
    if isinstance(detail.get("clusters"), Mapping):
        likeliest = sorted(detail["clusters"].items(), key=lambda item: -item[1])[:MOST_NUMBERS]
        numbers = ", ".join(f"{size} ({share:.0%})" for size, share in likeliest)
        said.append(f"number of clusters in the draws: {numbers}")
    if "training perplexity" in detail:
        said.append(f"training perplexity {detail['training perplexity']:.4f}: {detail['perplexity by']}")
    if detail.get("outlier share"):
        said.append(f"outliers: {detail['outlier share']:.2%} of the objects are alone in their cluster")
    if "verdict" in detail and "not mixed" not in detail["verdict"]:
        said.append(str(detail["verdict"]))
    return said


def _polished(done: Mapping[str, Any] | None) -> list[str]:
    if done is None:
        return []
    if not done["moves"]:
        return [f"polished: no move raises ANMI above {done['anmi']:.4f}"]
    moves, sweeps = _counted(done["moves"], "move"), _counted(done["sweeps"], "sweep")
    return [f"polished: ANMI {done['anmi before']:.4f} became {done['anmi']:.4f} by {moves} in {sweeps}"]


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def prediction(consensus: Consensus) -> dict[str, Any]:
    """What is to be said of new objects that a model has placed, ready for JSON."""
    return {
        "objects": len(consensus),
        "objects without labels": consensus.unknown,
        "mean confidence": consensus.mean_confidence,
        **consensus.detail,
        "cluster sizes": consensus.sizes.tolist(),
        "notes": note_records(consensus.notes),
        "recipe": recipe_of(consensus),
    }


def summary(consensus: Consensus) -> dict[str, Any]:
    """The result without its objects, ready for JSON."""
    return {
        "objects": len(consensus),
        "clusters": consensus.k,
        "clusters requested": consensus.k_asked,
        "k choice": None if consensus.k_choice is None else plain(consensus.k_choice.as_record()),
        "cluster sizes": consensus.sizes.tolist(),
        "objects without labels": consensus.unknown,
        "scores": dict(consensus.scores),
        "converged": consensus.converged,
        "iterations": len(consensus.trace),
        "mean confidence": consensus.mean_confidence,
        "detail": detail_of(consensus),
        "agreement": plain(consensus.agreement),
        "candidates": plain(consensus.candidates),
        "notes": note_records(consensus.notes),
        "recipe": recipe_of(consensus),
    }
