"""What every method is given: the informative rows and columns, distinct rows once, in an order of their own.

The order of rows, columns and label codes is made from the partitions alone (`kernels.canonical`), so a method, even a
random one, gives the same answer however the table was sorted and whatever the labels are called.
"""

from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partita.core.coding import MissingRule, code_integers
from partita.core.distinct import Distinct, distinct_rows
from partita.core.ensemble import Ensemble
from partita.core.errors import TableError
from partita.core.soft import SoftEnsemble
from partita.core.threads import map_chunks
from partita.core.types import MISSING, FloatArray, IntArray, frozen
from partita.kernels.canonical import gather_hard, gather_soft, mix_all, scatter_hard, scatter_soft

ROUNDS, ROWS = 3, 1 << 14
FIXED_POINT, FINE_COUNT, FINE_WEIGHT = 2.0**32, 2.0**16, 2.0**40


class Keys(NamedTuple):
    """Order-free hashes of rows and of clusters."""

    rows: NDArray[np.uint64]
    clusters: NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Prepared:
    """The table a method works on, and the way back to the user's."""

    ensemble: Any
    """Ensemble or SoftEnsemble: informative rows and columns, with multiplicities, in canonical order."""
    inverse: IntArray
    """(n,) for each of the user's rows its row here, MISSING where nothing is known of it."""
    columns: tuple[int, ...]
    """For each column here, the user's column."""
    codes: tuple[IntArray, ...]
    """For each column here and each of the user's labels, the label here, MISSING where it does not occur."""

    def expand(self, values: NDArray[Any], fill: Any, columns: IntArray | None = None) -> NDArray[Any]:
        """Per-row values (some columns of them) as per-object values, `fill` where nothing is known of the object."""
        expanded = taken(values, self.inverse, columns)
        expanded[self.inverse == MISSING] = fill
        return expanded

    def seen(self, columns: int) -> tuple[IntArray, ...]:
        """For each of the user's columns the labels that occur here; none in a column that took no part."""
        found = [np.empty(0, np.int64)] * columns
        for column, codes in zip(self.columns, self.codes, strict=True):
            found[column] = np.flatnonzero(codes != MISSING)
        return tuple(found)

    def expand_tables(self, tables: tuple[FloatArray, ...], columns: int) -> tuple[FloatArray, ...]:
        """Per-column tables (k, labels here) as tables for the user's columns and those of their labels that occur."""
        restored = [np.empty((tables[0].shape[0], 0))] * columns
        for table, column, codes in zip(tables, self.columns, self.codes, strict=True):
            restored[column] = table[:, codes[codes != MISSING]]
        return tuple(restored)

    def expand_columns(self, values: FloatArray, columns: int) -> FloatArray:
        """Per-column values as values for the user's columns, 0 where a column took no part."""
        restored = np.zeros(columns)
        restored[list(self.columns)] = values
        return restored


def taken(values: NDArray[Any], rows: IntArray, columns: IntArray | None = None) -> NDArray[Any]:
    """`values[rows][:, columns]`, some rows at a time: whole rows are copied at once, and moved about while near."""
    width = values.shape[1:] if columns is None else (len(columns),)
    found = np.empty((len(rows), *width), values.dtype)

    def part(start: int, stop: int) -> None:
        some = np.take(values, rows[start:stop], axis=0)
        found[start:stop] = some if columns is None else np.take(some, columns, axis=1)

    map_chunks(part, len(rows), ROWS)
    return found


def prepare(ensemble: Ensemble | SoftEnsemble, compress: bool = True) -> Prepared:
    """Return the table that a method works on; `compress=False` keeps one row per object.

    The canonical order of a soft ensemble with one-hot rows is that of its hard ensemble, so that a soft method and its
    hard form get the same rows and clusters in the same order.
    """
    if isinstance(ensemble, SoftEnsemble) and ensemble.is_one_hot:
        hard = prepare(ensemble.harden(), compress)
        work = SoftEnsemble.from_hard(hard.ensemble)
        _remember_distinct(work, compress)
        return replace(hard, ensemble=work)
    informative = [j for j in range(len(ensemble.names)) if ensemble.weights[j] > 0 and _has_label(ensemble, j)]
    if not informative:
        raise TableError("no object has a label in a clustering that counts; check the missing values and the weights")
    if isinstance(ensemble, Ensemble):
        return _prepare_hard(ensemble, informative, compress)
    return _prepare_soft(ensemble, informative, compress)


def _has_label(ensemble: Ensemble | SoftEnsemble, j: int) -> bool:
    if isinstance(ensemble, Ensemble):
        return bool((ensemble.labels[:, j] != MISSING).any())
    return bool(ensemble.known[:, j].any())


def _rows_and_counts(
    ensemble: Ensemble | SoftEnsemble, matrix: NDArray[Any], compress: bool
) -> tuple[IntArray, IntArray, FloatArray]:
    """One index a row to keep, the way back, and how many objects each kept row stands for."""
    if not compress:
        everything = np.arange(len(ensemble))
        return everything, everything, ensemble.counts
    whole = ensemble.labels if isinstance(ensemble, Ensemble) else ensemble.matrix
    found = ensemble.distinct if matrix.shape == whole.shape else distinct_rows(matrix)
    counts = np.bincount(found.inverse, weights=ensemble.multiplicity, minlength=len(found.first)).astype(np.float64)
    return found.first, found.inverse, counts


def _order(keys: Keys, known: NDArray[np.bool_]) -> tuple[IntArray, IntArray]:
    """The kept rows in canonical order, and for each candidate row its place there (MISSING where nothing is known)."""
    order = np.argsort(keys.rows, kind="stable")
    order = order[known[order]]
    place: IntArray = np.full(len(known), MISSING, np.int32 if len(known) < 2**31 else np.int64)
    place[order] = np.arange(len(order))
    return order, place


def _prepare_hard(ensemble: Ensemble, informative: list[int], compress: bool) -> Prepared:
    part = ensemble if len(informative) == len(ensemble.names) else ensemble.columns(informative)
    first, inverse, counts = _rows_and_counts(ensemble, part.labels, compress)
    labels = taken(part.labels, first)
    offsets = part.offsets
    keys = _hard_keys(labels, offsets, counts, part.weights)
    order, place = _order(keys, (labels != MISSING).any(axis=1))
    column_keys = np.array([keys.clusters[start:stop].sum() for start, stop in pairwise(offsets)])
    columns = np.lexsort((np.array(part.names), column_keys))
    names = tuple(part.names[j] for j in columns)
    rule = MissingRule(said=True)
    coded, classes = code_integers(taken(labels, order, columns), MISSING, names, rule)
    codes = tuple(_inverted(picks, part.sizes[j]) for picks, j in zip(classes, columns, strict=True))
    values = tuple(tuple(part.classes[j][pick] for pick in picks) for picks, j in zip(classes, columns, strict=True))
    work = replace(
        ensemble,
        labels=frozen(coded),
        sizes=tuple(len(picks) for picks in classes),
        names=names,
        classes=values,
        weights=frozen(_scaled(part.weights[columns])),
        ids=None,
        multiplicity=frozen(counts[order]),
    )
    _remember_distinct(work, compress)
    return Prepared(work, place[inverse], tuple(informative[j] for j in columns), codes)


def _remember_distinct(work: Ensemble | SoftEnsemble, compress: bool) -> None:
    """Compressed rows are distinct, which need not be found out again."""
    if compress:
        places: IntArray = frozen(np.arange(len(work)).astype(np.int32 if len(work) < 2**31 else np.int64))
        vars(work)["distinct"] = Distinct(places, places)


def _inverted(picks: tuple[int, ...], size: int) -> IntArray:
    codes = np.full(size, MISSING, np.int64)
    codes[list(picks)] = np.arange(len(picks))
    return codes


def _amounts(counts: FloatArray) -> NDArray[np.uint64]:
    """Multiplicities in fixed point: a row for three objects weighs as three rows for one."""
    return np.rint(counts * FINE_COUNT).astype(np.uint64)


def _scaled(weights: FloatArray) -> FloatArray:
    """Weights of which the largest is 1: only their ratios matter, and none so far from 1 that products overflow."""
    return np.asarray(weights / weights.max())


def _weight_keys(weights: FloatArray) -> NDArray[np.uint64]:
    """What the weights say, whatever their scale."""
    return np.asarray(np.rint(_scaled(weights) * FINE_WEIGHT), np.uint64)


def _hard_keys(labels: IntArray, offsets: IntArray, counts: FloatArray, weights: FloatArray) -> Keys:
    rows, amounts = np.ones(len(labels), np.uint64), _amounts(counts)
    starts = np.repeat(_weight_keys(weights), np.diff(offsets))
    clusters = starts
    for _ in range(ROUNDS):
        clusters = starts.copy()
        for part in map_chunks(partial(_gather_hard, labels, offsets, rows, amounts), len(labels)):
            clusters += part
        mix_all(clusters)
        map_chunks(partial(scatter_hard, labels, offsets, clusters, rows), len(labels))
    return Keys(rows, clusters)


def _gather_hard(
    labels: IntArray, offsets: IntArray, rows: Any, amounts: Any, start: int, stop: int
) -> NDArray[np.uint64]:
    clusters = np.zeros(int(offsets[-1]), np.uint64)
    gather_hard(labels, offsets, rows, amounts, clusters, start, stop)
    return clusters


def _prepare_soft(ensemble: SoftEnsemble, informative: list[int], compress: bool) -> Prepared:
    spans = [np.arange(ensemble.offsets[j], ensemble.offsets[j + 1]) for j in informative]
    part = ensemble.matrix if len(informative) == len(ensemble.names) else ensemble.matrix[:, np.concatenate(spans)]
    first, inverse, counts = _rows_and_counts(ensemble, part, compress)
    matrix = np.ascontiguousarray(ensemble.matrix[first])
    starts = np.repeat(_weight_keys(ensemble.weights), ensemble.sizes)
    used_clusters = np.concatenate(spans)
    keys = _soft_keys(matrix[:, used_clusters], counts, starts[used_clusters])
    order, place = _order(keys, np.asarray(matrix[:, used_clusters].any(axis=1)))
    cluster_keys = np.zeros(len(starts), np.uint64)
    cluster_keys[used_clusters] = keys.clusters
    spans = [span[np.argsort(cluster_keys[span], kind="stable")] for span in spans]
    columns = sorted(
        range(len(spans)), key=lambda p: (int(cluster_keys[spans[p]].sum()), ensemble.names[informative[p]])
    )
    picks = [spans[p] for p in columns]
    used = [informative[p] for p in columns]
    inner = [span - ensemble.offsets[j] for span, j in zip(picks, used, strict=True)]
    work = replace(
        ensemble,
        matrix=frozen(np.ascontiguousarray(matrix[order][:, np.concatenate(picks)])),
        sizes=tuple(len(span) for span in picks),
        names=tuple(ensemble.names[j] for j in used),
        classes=tuple(tuple(ensemble.classes[j][c] for c in span) for span, j in zip(inner, used, strict=True)),
        weights=frozen(_scaled(ensemble.weights[used])),
        ids=None,
        multiplicity=frozen(counts[order]),
    )
    codes = tuple(_inverted(tuple(span.tolist()), len(span)) for span in inner)
    _remember_distinct(work, compress)
    return Prepared(work, place[inverse], tuple(used), codes)


def _soft_keys(matrix: FloatArray, counts: FloatArray, starts: NDArray[np.uint64]) -> Keys:
    parts = np.rint(matrix * FIXED_POINT).astype(np.uint64, order="C")
    mix_all(parts.reshape(-1))  # times 2^32 a key would lose half its bits, and clusters would look alike
    rows, amounts = np.ones(len(parts), np.uint64), _amounts(counts)
    clusters = starts
    for _ in range(ROUNDS):
        clusters = starts.copy()
        gather_soft(parts, rows, amounts, clusters, 0, len(parts))
        mix_all(clusters)
        scatter_soft(parts, clusters, rows, 0, len(parts))
    return Keys(rows, clusters)
