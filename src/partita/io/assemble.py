"""From what a file held to an ensemble, through the checks of the core types."""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from partita.core.coding import Label, MissingRule, code_indexed, code_integers, refuse_minus_one
from partita.core.ensemble import Ensemble
from partita.core.errors import LabelError, TableError
from partita.core.fields import check_ids, check_orientation, check_weights
from partita.core.soft import SoftEnsemble
from partita.core.tables import Table, as_table, code_table
from partita.core.types import FloatArray, IntArray, frozen
from partita.io.options import ReadOptions
from partita.io.raw import Raw, check_several, clusterings, is_soft, select
from partita.io.values import index_text, memberships

FEW_ROWS = 50_000
ALL_DIFFERENT_ROWS = 20
"""From this many rows on, a column of all different values is taken for ids, not for a clustering."""


def assemble(raw: Raw, options: ReadOptions) -> Ensemble | SoftEnsemble:
    """The ensemble of a file's columns."""
    if options.transpose:
        raw = raw.turned()
        raw = raw.pick(select(raw.names, range(len(raw.names)), options))
        check_several(raw.names, options)
    blocks = clusterings(raw.names)
    check_orientation(raw.rows, len(blocks), options.transpose)
    ids = id_array(raw.ids, raw.rows)
    hard = [j for j, name in enumerate(raw.names) if not is_soft(name)]
    if len(hard) == len(raw.names):
        return _hard(raw, options, check_weights(options.weights, raw.names), ids)
    weights = check_weights(options.weights, list(blocks))
    soft = SoftEnsemble.from_memberships(
        {name: _block(raw, blocks[name]) for name in blocks if blocks[name][0] not in hard}
    )
    if not hard:
        return SoftEnsemble(soft.matrix, soft.sizes, soft.names, soft.classes, weights, ids)
    picked = raw.pick(hard)
    labels = SoftEnsemble.from_hard(_hard(picked, options, check_weights(None, picked.names), None))
    return _mixed(labels, soft, tuple(blocks), weights, ids)


def id_array(ids: Any, rows: int) -> Any:
    """Checked ids of a file's rows; an empty cell is no id."""
    array = ids.combine_chunks() if isinstance(ids, pa.ChunkedArray) else ids
    if not isinstance(array, pa.Array) or not (pa.types.is_string(array.type) or pa.types.is_large_string(array.type)):
        return check_ids(array, rows)
    empty = pc.index(array, pa.scalar("", array.type)).as_py()
    if empty >= 0:
        raise TableError(f"row {empty + 1} has no id; give every object an id, or leave the ids out")
    if array.null_count or len(array.unique()) < rows:
        return check_ids(array, rows)  # raises, and names the rows
    if rows < FEW_ROWS:  # Arrow's own way is faster, but first imports pandas wherever that is installed
        return frozen(np.array(array.to_pylist(), dtype=object))
    return frozen(array.to_numpy(zero_copy_only=False))


def _hard(raw: Raw, options: ReadOptions, weights: FloatArray, ids: Any) -> Ensemble:
    rule = MissingRule.of(options.missing)
    labels, classes = code(raw, rule)
    for j, (name, values) in enumerate(zip(raw.names, classes, strict=True)):
        if len(values) == raw.rows >= ALL_DIFFERENT_ROWS:
            raise LabelError(
                f"column {name!r}: each of the {raw.rows} rows has another value, so these look like ids, not labels; "
                f"say id={name!r} (--id {name}) if they are, or leave the column out (--exclude {name})"
            )
        if not rule.said and "-1" in values:
            raise refuse_minus_one(name, int(np.argmax(labels[:, j] == values.index("-1"))))
    sizes = tuple(len(values) for values in classes)
    return Ensemble(labels, sizes, raw.names, classes, weights, ids, missing=rule)


def code(raw: Raw, rule: MissingRule) -> tuple[IntArray, tuple[tuple[Label, ...], ...]]:
    """The label codes (n, r) and each column's values in code order."""
    if raw.matrix is not None and raw.empty is not None:
        return code_integers(raw.matrix, raw.empty, raw.names, rule)
    if raw.matrix is not None:
        return code_table(as_table(raw.matrix, raw.names), rule)
    if raw.text:
        indexed = [index_text(column, name, rule) for column, name in zip(raw.columns, raw.names, strict=True)]
        return code_indexed(indexed, raw.names, rule)
    return code_table(Table(raw.names, raw.columns), rule)


def _block(raw: Raw, places: list[int]) -> FloatArray:
    """The memberships (n, k) of one soft clustering."""
    if raw.matrix is None:
        return np.stack([memberships(raw.columns[j], raw.names[j]) for j in places], axis=1)
    block = raw.matrix[:, places].astype(np.float64)
    if raw.empty is not None:
        block[raw.matrix[:, places] == raw.empty] = np.nan
    return block


def _mixed(
    hard: SoftEnsemble, soft: SoftEnsemble, order: tuple[str, ...], weights: FloatArray, ids: Any
) -> SoftEnsemble:
    """The clusterings of both, in the order of the file."""
    places = {name: (part, j) for part in (hard, soft) for j, name in enumerate(part.names)}
    parts = [places[name] for name in order]
    matrix = np.concatenate([part.block(j) for part, j in parts], axis=1)
    sizes = tuple(part.sizes[j] for part, j in parts)
    classes = tuple(part.classes[j] for part, j in parts)
    return SoftEnsemble(frozen(matrix), sizes, order, classes, weights, ids)
