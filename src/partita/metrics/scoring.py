"""Agreement, confidence and a model that predicts, for the labels of any method."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from partita.core.consensus import Consensus, restore
from partita.core.counting import unit_weights
from partita.core.ensemble import Ensemble
from partita.core.model import ColumnModel
from partita.core.prepare import Prepared
from partita.core.soft import AnyEnsemble, SoftEnsemble
from partita.core.types import MISSING, FloatArray, FrozenDict
from partita.metrics.confidence import label_counts
from partita.metrics.contingency import Contingency, ensemble_tables
from partita.metrics.ensemble import anmi_of
from partita.metrics.information import nmi_of
from partita.metrics.items import item_consensus

PREDICT_AGREEMENT: Final = "predict agreement"
"""Key in `Consensus.detail`: share of the training objects to which `predict` gives their label."""
MAX_CELLS: Final = 1 << 26
"""Base labels times clusters above which no table of counts is stored: it would take 512 MB."""
LOW_AGREEMENT: Final = 0.9
"""A lower agreement is reported in a note."""


def scored(result: Consensus, ensemble: Ensemble | SoftEnsemble, by_estimate: bool = False) -> Consensus:
    """Add ANMI, confidence, second cluster and a model with training counts to a result for the rows of `ensemble`.

    A result without a model gets an approximate one (see `vote_model`). If the model may give training objects another
    label than the method did, because it is approximate or predicts `by_estimate`, the agreement is measured. Where the
    table of counts has more than `MAX_CELLS` cells it is not stored, and a note says so.
    """
    tables = ensemble_tables(ensemble, result.labels)
    found = label_counts(ensemble, tables, result.labels)
    width = result.model.width if result.model is not None else found.totals.shape[1]
    width = max(width, 0 if result.membership is None else result.membership.shape[1])
    detail, notes, model = dict(result.detail), result.notes, result.model
    if int(ensemble.offsets[-1]) * width > MAX_CELLS:
        what = "new objects cannot be predicted" if model is None else "predicted labels have no confidence"
        notes += (f"{ensemble.offsets[-1]} base labels times {width} clusters are too many to store: {what}",)
    else:
        padded = (np.pad(table.dense(), ((0, width - table.shape[0]), (0, 0))) for table in tables)
        counts = tuple(table.astype(np.float64) for table in padded)
        model = vote_model(counts, ensemble) if model is None else model
        weights = unit_weights(ensemble) if model.weights is None else model.weights
        model = replace(model, counts=counts, weights=weights)
    if model is not None and (model.approximate or by_estimate):
        same = model.assign(ensemble, membership=False).labels == result.labels
        agreement = float(np.average(same, weights=ensemble.counts))
        detail[PREDICT_AGREEMENT] = agreement
        notes += agreement_notes(agreement)
    items = item_consensus(ensemble, result.labels)
    return replace(
        result,
        agreement=agreement_of(tables, ensemble),
        second=items.nearest,
        second_item_consensus=items.other,
        confidence=found.confidence(ensemble, result.labels, counted=True),
        model=model,
        scores=FrozenDict({**result.scores, "anmi": anmi_of(tables, ensemble.weights)}),
        detail=FrozenDict(detail),
        notes=notes,
    )


def agreement_of(tables: Sequence[Contingency], ensemble: AnyEnsemble) -> tuple[Mapping[str, Any], ...]:
    """Return the rows of `Consensus.agreement` from the contingency tables of the labels with every clustering."""
    objects = float(ensemble.counts.sum())
    columns = ("clustering", "clusters", "missing", "weight", "nmi")
    rows = (
        (name, size, 1 - float(table.total) / objects, float(weight), nmi_of(table) if table.total else np.nan)
        for name, size, weight, table in zip(ensemble.names, ensemble.sizes, ensemble.weights, tables, strict=True)
    )
    return tuple(FrozenDict(zip(columns, row, strict=True)) for row in rows)


def restored(result: Consensus, prepared: Prepared, given: AnyEnsemble) -> Consensus:
    """Return the result for the rows of `prepared` as a result for the objects and clusterings of `given`."""
    result = restore(result, prepared, given)
    known = float(given.counts[prepared.inverse != MISSING].sum() / given.counts.sum())
    fitted = {row["clustering"]: {**row, "missing": 1 - known * (1 - row["missing"])} for row in result.agreement}
    # Clusterings of weight 0 and those without labels were not fitted.
    others = [name for name in given.names if name not in fitted]
    if others:
        part = replace(given, weights=np.ones(len(given.names))).columns(others)
        fitted |= {row["clustering"]: row for row in agreement_of(ensemble_tables(part, result.labels), part)}
    table = tuple(
        FrozenDict({**fitted[name], "clusters": size, "weight": float(weight)})
        for name, size, weight in zip(given.names, given.sizes, given.weights, strict=True)
    )
    return replace(result, agreement=table)


def agreement_notes(agreement: float) -> tuple[str, ...]:
    """The note on a model that gives many training objects another label."""
    if agreement >= LOW_AGREEMENT:
        return ()
    return (f"predict gives {agreement:.1%} of the training objects their label; its labels of new objects are rough",)


def vote_model(counts: tuple[FloatArray, ...], ensemble: Ensemble | SoftEnsemble) -> ColumnModel:
    """A model of labels from any source: a weighted vote of the base labels, marked as approximate.

    Label l of clustering j gives cluster h the share w_j N_j[h, l] / sum_g N_j[g, l] of its clustering's weight w_j,
    with N_j (k, labels) the `counts` of training objects. The cluster with the largest sum is predicted; ties go to the
    larger cluster.
    """
    tables = tuple(
        weight * table / np.maximum(table.sum(axis=0), 1e-300)
        for table, weight in zip(counts, unit_weights(ensemble), strict=True)
    )
    sizes = np.max([table.sum(axis=1) for table in counts], axis=0)
    return ColumnModel(np.zeros(len(sizes)), tables, "share", strength=sizes, approximate=True)
