"""The first thing on the page: the answer in a few sentences, and its key figures."""

import numpy as np

from partita.report.gathered import ReportData
from partita.report.html.elements import bullets, counted, cut, listed, number, safe, share


def answer(data: ReportData) -> str:
    """The box of sentences, the tiles of figures, and what the user should know."""
    sentences = "".join(f"<p>{safe(line)}</p>" for line in _sentences(data))
    tiles = "".join(f"<li><strong>{safe(value)}</strong><span>{safe(what)}</span></li>" for value, what in _tiles(data))
    notes = bullets(data.notes, "notes")
    told = f'<h2 class="minor" id="notes-title">What to know</h2>{notes}' if notes else ""
    return f'<div class="answer">{sentences}</div><ul class="tiles">{tiles}</ul>{told}'


def _sentences(data: ReportData) -> list[str]:
    sizes, objects = data.numbers.objects, data.input.objects
    least, most = float(sizes.min(initial=objects)), float(sizes.max(initial=0))
    span = counted(most, "object") if least == most else f"{number(least, 0)} to {counted(most, 'object')}"
    span = f"{span} each" if least == most and len(sizes) > 1 else span
    lost = objects - float(sizes.sum())
    placed = "falls" if objects == 1 else "fall"
    apart = f", {counted(lost, 'object')} without any label apart," if lost > 0 else ""
    lines = [
        f"{counted(objects, 'object')}, labelled by {counted(len(data.input.clusterings), 'clustering')}{apart or ','} "
        f"{placed} into {counted(len(sizes), 'cluster')} of {span}. {data.how_k}"
    ]
    lines += [line for line in (_agreement(data), _doubt(data)) if line]
    return lines


def _agreement(data: ReportData) -> str:
    found = data.diagnostics.influence
    if not np.isfinite(found.nmi).any():
        return ""
    best, worst = int(np.nanargmax(found.nmi)), int(np.nanargmin(found.nmi))
    said = f"The consensus agrees with the clusterings to {number(found.anmi, 2)} on average, where 1 is full agreement"
    if best == worst:
        return f"{said}."
    return (
        f"{said}: most with “{cut(found.names[best], 60)}” ({number(found.nmi[best], 2)}), least with "
        f"“{cut(found.names[worst], 60)}” ({number(found.nmi[worst], 2)})."
    )


def _doubt(data: ReportData) -> str:
    mean = data.numbers.item_consensus
    if not np.isfinite(mean):
        return ""
    by = f"{share(mean)} of the clusterings on average"
    said = f"An object is put together with the others of its cluster by {by}"
    many = [
        f"{counted(count, 'object')} {words}"
        for count, words in (
            (data.numbers.misplaced, "would fit better into another cluster"),
            (data.numbers.outliers, "fit nowhere well" if data.numbers.outliers != 1 else "fits nowhere well"),
        )
        if count
    ]
    return f"{said}; {listed(many)}." if many else f"{said}; no single object stands out as doubtful."


def _tiles(data: ReportData) -> list[tuple[str, str]]:
    pairs = data.diagnostics.coassociation
    doubtful = data.numbers.misplaced + data.numbers.outliers
    return [
        _one(data.consensus.k, "cluster"),
        _one(data.input.objects, "object"),
        _one(len(data.input.clusterings), "clustering", " went in"),
        (number(data.diagnostics.influence.anmi, 2), "mean agreement with them (ANMI, 0 to 1)"),
        (number(data.numbers.confidence, 2), "mean confidence (0 to 1)"),
        (share(pairs.pac) + _plus_minus(pairs.pac_error), "pairs of objects in doubt (PAC)"),
        _one(doubtful, "doubtful object"),
    ]


def _one(many: float, what: str, more: str = "") -> tuple[str, str]:
    """A tile's number and what is counted."""
    shown, words = counted(many, what).split(" ", 1)
    return shown, words + more


def _plus_minus(error: float) -> str:
    return f" ± {100 * error:.1g}" if error else ""
