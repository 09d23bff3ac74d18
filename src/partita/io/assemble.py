"""From what a file held to an ensemble, through the checks of the core types."""

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from partita.core.checks import SHAPE, allowed, check_clustering_names, check_columns, check_shape
from partita.core.coding import Label, MissingRule, code_indexed, code_integers, refuse_minus_one
from partita.core.ensemble import Ensemble
from partita.core.errors import TableError
from partita.core.fields import check_ids, check_weights
from partita.core.soft import SoftEnsemble
from partita.core.tables import Table, as_table, code_table
from partita.core.types import FloatArray, IntArray, frozen
from partita.io.options import ReadOptions
from partita.io.raw import Raw, as_list, check_several, clusterings, is_soft, select
from partita.io.values import index_text, memberships

FEW_ROWS = 50_000


def assemble(raw: Raw, options: ReadOptions) -> Ensemble | SoftEnsemble:
    """The ensemble of a file's columns."""
    if options.transpose:
        if raw.ids is None and raw.matrix is None:
            check_clustering_names(raw.names, map(as_list, raw.columns), allowed(options.allow))
        raw = raw.turned()
        raw = raw.pick(select(raw.names, range(len(raw.names)), options))
        check_several(raw.names, options)
    blocks, allow = clusterings(raw.names), allowed(options.allow)
    weights = check_weights(options.weights, list(blocks))
    notes = check_shape(raw.rows, int((weights > 0).sum()), options.transpose, allow)
    ids = id_array(whole_ids(raw.ids) if raw.text else raw.ids, raw.rows)
    hard = [j for j, name in enumerate(raw.names) if not is_soft(name)]
    soft_names = [name for name in blocks if is_soft(raw.names[blocks[name][0]])]
    if len(hard) == len(raw.names):
        ensemble = _hard(raw, options, weights, ids, allow)
        return replace(ensemble, notes=(*notes, *ensemble.notes), id_name=raw.id_name)
    weight_of = dict(zip(blocks, weights, strict=True))
    soft = SoftEnsemble.from_memberships(
        {name: _block(raw, blocks[name]) for name in soft_names},
        weights={name: weight_of[name] for name in soft_names},
        allow=allow | SHAPE,  # the shape of the whole table has been checked
    )
    notes += soft.notes
    if not hard:
        return replace(soft, weights=weights, ids=ids, notes=tuple(notes), id_name=raw.id_name)
    picked = raw.pick(hard)
    own = np.array([weight_of[name] for name in picked.names])
    labels = _hard(picked, options, own, None, allow)
    mixed = _mixed(SoftEnsemble.from_hard(labels), soft, tuple(blocks), weights, ids)
    return replace(mixed, notes=(*notes, *labels.notes), id_name=raw.id_name)


def whole_ids(ids: Any) -> Any:
    """Return the ids of a text file as integers if all are written as pandas would write integers, else as they are."""
    array = ids.combine_chunks() if isinstance(ids, pa.ChunkedArray) else ids
    if not isinstance(array, pa.Array) or not len(array) or array.null_count:
        return ids
    if not (pa.types.is_string(array.type) or pa.types.is_large_string(array.type)):
        return ids
    whole = pc.all(pc.match_substring_regex(array, r"^(0|-?[1-9][0-9]{0,17})$")).as_py()
    return array.cast(pa.int64()) if whole else ids


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


def _hard(raw: Raw, options: ReadOptions, weights: FloatArray, ids: Any, allow: frozenset[str]) -> Ensemble:
    rule = MissingRule.of(options.missing)
    labels, classes = code(raw, rule)
    notes = check_columns(raw.names, labels, classes, weights, allow)
    for j, (name, values) in enumerate(zip(raw.names, classes, strict=True)):
        if not rule.said and "-1" in values:
            raise refuse_minus_one(name, int(np.argmax(labels[:, j] == values.index("-1"))))
    sizes = tuple(len(values) for values in classes)
    return Ensemble(labels, sizes, raw.names, classes, weights, ids, missing=rule, notes=tuple(notes))


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
