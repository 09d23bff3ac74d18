"""What a consensus says, as tables: its clusters, and the base clusterings behind it."""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from partita.core.consensus import Consensus
from partita.core.ensemble import Ensemble
from partita.core.soft import SoftEnsemble
from partita.io.summary import detail_of, plain, recipe_of
from partita.metrics import column_nmi
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


def clusterings_table(consensus: Consensus, ensemble: Ensemble | SoftEnsemble) -> TextTable:
    """One row a base clustering: labels, gaps, weight, agreement with the consensus."""
    agreement = column_nmi(ensemble, consensus.labels)
    rows = []
    for j, name in enumerate(ensemble.names):
        known = ensemble.labels[:, j] >= 0 if isinstance(ensemble, Ensemble) else ensemble.known[:, j]
        missing = f"{1 - np.mean(known):.0%}"
        rows.append((name, ensemble.sizes[j], missing, float(ensemble.weights[j]), float(agreement[j])))
    columns = ("clustering", "labels", "missing", "weight", "NMI with consensus")
    return TextTable("Base clusterings", columns, tuple(rows))


def candidates_table(consensus: Consensus) -> TextTable | None:
    """Return one row per candidate of a method that chooses among others, None for other methods."""
    tried = consensus.detail.get("candidates")
    if not tried:
        return None
    columns = ("method", "clusters", "ANMI", "covariance", "seconds", "outcome")
    rows = []
    for row in tried:
        remark = "chosen" if row["method"] == consensus.detail["chosen"] else row["refused"]
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
        "mean confidence": mean_confidence(consensus),
        **consensus.detail,
        "cluster sizes": consensus.sizes.tolist(),
        "notes": list(consensus.notes),
        "recipe": recipe_of(consensus),
    }


def mean_confidence(consensus: Consensus) -> float | None:
    """The mean over the objects where confidence is defined."""
    known = np.empty(0) if consensus.confidence is None else consensus.confidence[np.isfinite(consensus.confidence)]
    return float(known.mean()) if len(known) else None


def summary(consensus: Consensus) -> dict[str, Any]:
    """The result without its objects, ready for JSON."""
    return {
        "objects": len(consensus),
        "clusters": consensus.k,
        "clusters asked": consensus.k_asked,
        "k choice": None if consensus.k_choice is None else plain(consensus.k_choice.as_record()),
        "cluster sizes": consensus.sizes.tolist(),
        "objects without labels": consensus.unknown,
        "scores": dict(consensus.scores),
        "converged": consensus.converged,
        "iterations": len(consensus.trace),
        "mean confidence": mean_confidence(consensus),
        "detail": detail_of(consensus),
        "notes": list(consensus.notes),
        "recipe": recipe_of(consensus),
    }
