"""Methods side by side, as a table and as plain values."""

from dataclasses import asdict
from typing import Any, Final

from partita.comparing import Compared, Comparison
from partita.comparing.records import SHOWN
from partita.core.errors import note_records
from partita.report.tables import TextTable

COLUMNS: Final = {**SHOWN, "memory": "memory MB"}
OVER_K: Final = "ANMI is not corrected for the number of clusters: it cannot choose between different k"


def comparison_table(comparison: Comparison, notes: bool = True) -> TextTable:
    """One row a fit; the last column marks the best of each k by ANMI, and tells what failed and what fits noted.

    Without `notes`, what fits noted is left to `note_lines`.
    """
    best = [comparison.best_at(k) for k in comparison.ks]
    rows = tuple(
        (*(getattr(row, name) for name in COLUMNS), _remark(row, any(row is each for each in best), comparison, notes))
        for row in comparison.rows
    )
    return TextTable("Methods", (*COLUMNS.values(), "remark"), rows)


def _remark(row: Compared, best: bool, comparison: Comparison, notes: bool) -> str:
    if row.failed:
        return f"failed: {row.failed}"
    first: tuple[str, ...] = ()
    if best:
        by_rule = comparison.k_choice is not None and comparison.k_choice.k == row.k
        where = f"best at k = {row.k}{', the k of the default rule' if by_rule else ''}"
        first = (where if row.k is not None else "best of those that infer k",)
    return "; ".join((*first, *(row.notes if notes else ())))


def note_lines(comparison: Comparison) -> list[str]:
    """Return the notes of the fits, each once with the fits that have it.

    Notes on the table, which `comparison.notes` has, and on other numbers of clusters than requested, which are a
    column of the table, are omitted.
    """
    told: dict[str, dict[str, list[str]]] = {}
    for row in comparison.rows:
        for note in row.notes:
            if note not in comparison.notes and note != f"requested {row.k} clusters, found {row.clusters}":
                told.setdefault(note, {}).setdefault(row.method, []).append("found" if row.k is None else str(row.k))
    fits = sum(not row.failed for row in comparison.rows)
    return [f"{note} ({_who(by, fits)})" for note, by in told.items()]


def _who(by: dict[str, list[str]], fits: int) -> str:
    if sum(map(len, by.values())) == fits:
        return "all fits"
    return "; ".join(f"{method}, k = {', '.join(ks)}" for method, ks in by.items())


def verdict(comparison: Comparison) -> list[str]:
    """What the table says, in lines for people."""
    best, surest = comparison.best(), comparison.best("confidence")
    if best is None:
        return ["no method has an ANMI; the remarks tell why"]
    lines = [f"highest ANMI: {best.anmi:.4f} by {best.method}, {_at(best)}"]
    if surest is not None and surest is not best:
        lines.append(f"highest confidence: {surest.confidence:.4f} by {surest.method}, {_at(surest)}")
    if comparison.k_choice is not None:
        lines.append(f"k of the default rule: {comparison.k_choice.k}; {comparison.k_choice.reason}")
    if len(comparison.ks) > 1:
        lines.append(OVER_K)
    return lines


def _at(row: Compared) -> str:
    return f"k = {row.k}" if row.k is not None else f"with {row.clusters} clusters of its own choice"


def left_out(comparison: Comparison) -> list[str]:
    """Methods that were left out, those with the same reason in one line."""
    reasons: dict[str, list[str]] = {}
    for name, reason in comparison.left_out.items():
        reasons.setdefault(reason, []).append(name)
    return [f"left out: {', '.join(names)} ({reason})" for reason, names in reasons.items()]


def as_record(comparison: Comparison) -> dict[str, Any]:
    """All of a comparison, ready for JSON."""
    best = {"all": comparison.best()} | {str(k or "found"): comparison.best_at(k) for k in comparison.ks}
    return {
        "rows": [asdict(row) | {"notes": note_records(row.notes)} for row in comparison.rows],
        "best": {k: None if row is None else row.method for k, row in best.items()},
        "left out": dict(comparison.left_out),
        "notes": note_records(comparison.notes),
        "seed": comparison.seed,
        "workers": comparison.workers,
        "threads": comparison.threads,
        "interrupted": comparison.interrupted,
        "k_choice": None if comparison.k_choice is None else comparison.k_choice.as_record(),
    }
