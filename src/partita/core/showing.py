"""Ensembles and results as notebooks show them."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from partita.core import notebook
from partita.core.notebook import FIRST_ROWS, MOST_COLUMNS, MOST_ROWS, Drawn
from partita.core.types import MISSING, FloatArray, IntArray

if TYPE_CHECKING:
    from partita.core.consensus import Consensus
    from partita.core.ensemble import Ensemble
    from partita.core.soft import SoftEnsemble


def ensemble_html(ensemble: "Ensemble | SoftEnsemble") -> str:
    """Sizes, the first clusterings with their gaps and weights, and the labels of the first objects."""
    standing = None if ensemble.multiplicity is None else f"{ensemble.counts.sum():g} objects"
    parts = [
        notebook.facts([("rows stand for", standing)]),
        notebook.table(
            "Clusterings",
            ("clustering", "clusters", "missing", "weight"),
            _clusterings(ensemble),
            len(ensemble.names),
            "clusterings",
        ),
        notebook.folded("First objects", _first_objects(ensemble)),
    ]
    return notebook.card(ensemble, parts)


def _clusterings(ensemble: "Ensemble | SoftEnsemble") -> Iterator[tuple[Any, ...]]:
    for j in range(min(len(ensemble.names), MOST_ROWS)):
        known = _column(ensemble, j)[0]
        missing = 1 - np.count_nonzero(known) / max(len(known), 1)
        yield ensemble.names[j], ensemble.sizes[j], f"{missing:.1%}", float(ensemble.weights[j])


def _column(ensemble: Any, j: int) -> tuple[NDArray[np.bool_], NDArray[Any]]:
    """Where a clustering has labels, and the memberships or codes."""
    if hasattr(ensemble, "labels"):
        return ensemble.labels[:, j] != MISSING, ensemble.labels[:, j]
    block = ensemble.block(j)
    return block.any(axis=1), block


def _first_objects(ensemble: "Ensemble | SoftEnsemble") -> str:
    few = ensemble.rows(slice(0, FIRST_ROWS))
    picks = range(min(len(few.names), MOST_COLUMNS))
    left = len(few.names) - len(picks)
    columns = ["object", *(few.names[j] for j in picks), *(["…"] if left else [])]
    cells = [_labels(few, j) for j in picks]
    ids = range(len(few)) if few.ids is None else few.ids.tolist()
    rows = [[str(name), *row, *(["…"] if left else [])] for name, *row in zip(ids, *cells, strict=True)]
    return notebook.table("", columns, rows, len(ensemble), "objects")


def _labels(few: "Ensemble | SoftEnsemble", j: int) -> list[str]:
    """The labels of a clustering as they were given; of memberships the largest, with its share."""
    known, values = _column(few, j)
    if values.ndim == 1:
        return [str(few.classes[j][code]) if there else "" for there, code in zip(known, values, strict=True)]
    best = values.argmax(axis=1) if values.shape[1] else np.zeros(len(values), int)
    return [
        f"{few.classes[j][code]} ({row[code]:.2f})" if there else ""
        for there, code, row in zip(known, best, values, strict=True)
    ]


def consensus_html(consensus: "Consensus") -> str:
    """Return the clusters with their sizes and confidence, and the notes."""
    from partita.core.consensus import headline

    facts = [
        ("converged", {True: "yes", False: "no"}.get(consensus.converged)),  # type: ignore[arg-type]  # None is neither
        ("objects without labels", consensus.unknown or None),
    ]
    parts = [notebook.facts(facts), clusters(consensus.labels, consensus.k, consensus.confidence, "confidence")]
    return notebook.card(consensus, [*parts, notebook.notes(consensus.notes)], headline(consensus))


def clusters(labels: IntArray, k: int, sure: FloatArray | None, what: str) -> str:
    """A table of clusters: objects, share, and the mean and least of a figure of each object."""
    known = labels != MISSING
    codes = labels[known]
    sizes = np.bincount(codes, minlength=k)
    columns = ["cluster", "objects", "share", ""]
    figures: list[FloatArray] = []
    if sure is not None:
        figures = _means(codes, k, sure[known])
        columns += [f"mean {what}", "lowest"]
    share = sizes / max(int(sizes.sum()), 1)
    rows = (
        [c, int(sizes[c]), f"{share[c]:.1%}", Drawn(notebook.bar(float(share[c]))), *(float(f[c]) for f in figures)]
        for c in range(k)
    )
    return notebook.table("Clusters", columns, rows, k, "clusters")


def _means(codes: IntArray, k: int, sure: FloatArray) -> list[FloatArray]:
    """Mean and minimum per cluster of the values that are not NaN; NaN where there are none."""
    known = np.isfinite(sure)
    codes, sure = codes[known], sure[known]
    least = np.full(k, np.inf)
    np.minimum.at(least, codes, sure)
    with np.errstate(invalid="ignore"):
        means = np.bincount(codes, weights=sure, minlength=k) / np.bincount(codes, minlength=k)
    return [means, np.where(np.isinf(least), np.nan, least)]
