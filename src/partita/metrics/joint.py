"""One labelling, hard or soft, against every clustering of an ensemble: r tables filled in one pass."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partita.core.ensemble import Ensemble
from partita.core.fields import check_length
from partita.core.soft import SoftEnsemble
from partita.core.types import FloatArray, IntArray, frozen
from partita.kernels.tables import count_columns, spread_columns, spread_members, weigh_columns, weigh_members
from partita.metrics.labelling import Span, as_integers, numbered, span_of
from partita.metrics.table import CHUNK, DENSE_CELLS, Contingency, add_up, from_cells, tabulate


class Joint(NamedTuple):
    """r tables side by side: that of clustering j is `table[:, places[j]:places[j] + sizes[j]]`."""

    table: NDArray[Any]
    places: NDArray[np.int64]
    sizes: tuple[int, ...]

    def tables(self) -> tuple[Contingency, ...]:
        """One contingency table a clustering."""
        spans = zip(self.places, self.sizes, strict=True)
        return tuple(from_cells(self.table[:, place : place + size]) for place, size in spans)


def is_membership(labels: Any) -> bool:
    """Whether a labelling is a matrix of shares and not one label an object."""
    shape = getattr(labels, "shape", None)
    if shape is not None:
        return len(shape) == 2
    return bool(isinstance(labels, (list, tuple)) and labels and isinstance(labels[0], (list, tuple, np.ndarray)))


def as_shares(ensemble: Ensemble | SoftEnsemble, labels: Any) -> FloatArray:
    """A soft labelling as checked shares (n, k), zero rows where nothing is known."""
    shares = SoftEnsemble.from_memberships([labels], names=["labels"]).matrix
    check_length("labels", len(shares), "the ensemble", len(ensemble))
    return shares


def as_span(ensemble: Ensemble | SoftEnsemble, labels: Any) -> Span:
    """A hard labelling of the objects of an ensemble, under codes."""
    values = as_integers(labels, "labels")
    check_length("labels", len(values), "the ensemble", len(ensemble))
    span = span_of(values)
    return span if span.codes and span.width <= max(1 << 10, len(values)) else numbered(span)


def column_span(ensemble: Ensemble, j: int) -> Span:
    """Clustering j of an ensemble as a labelling; its range needs no search."""
    return Span(frozen(np.ascontiguousarray(ensemble.labels[:, j])), -1, ensemble.sizes[j] + 1)


def padded_codes(span: Span) -> IntArray:
    """(n,) the labels as rows of a table in which row 0 is for unobserved ones."""
    rows: IntArray = np.add(span.values, 1, dtype=np.int32)
    return rows


def ensemble_joint(ensemble: Ensemble | SoftEnsemble, labels: Any) -> Joint | None:
    """Return the tables of a labeling with all clusterings; None if they are too large for one array."""
    if is_membership(labels):
        return shares_joint(ensemble, as_shares(ensemble, labels))
    span = as_span(ensemble, labels)
    return hard_joint(ensemble, span) if isinstance(ensemble, Ensemble) else members_joint(ensemble, span)


def hard_tables(ensemble: Ensemble, span: Span, first: int = 0) -> tuple[Contingency, ...]:
    """The tables of a labelling against the columns from `first` on."""
    joint = hard_joint(ensemble, span, first)
    if joint is not None:
        return joint.tables()
    columns = range(first, len(ensemble.names))
    return tuple(tabulate(span, column_span(ensemble, j), ensemble.multiplicity) for j in columns)


def hard_joint(ensemble: Ensemble, span: Span, first: int = 0) -> Joint | None:
    """Those tables side by side, None where they are too large to lay out."""
    sizes, height = ensemble.sizes[first:], span.low + span.width + 1
    columns = sum(sizes) + len(sizes)
    if height * columns > min(DENSE_CELLS, max(1 << 16, 4 * ensemble.labels.size)):
        return None
    places = np.zeros(len(ensemble.sizes), np.int64)
    places[first:] = _places(sizes)
    rows, counts = padded_codes(span), ensemble.multiplicity

    def fill(table: NDArray[Any], start: int, stop: int) -> None:
        if counts is None:
            count_columns(rows, ensemble.labels, first, places, table, start, stop)
        else:
            weigh_columns(rows, ensemble.labels, counts, first, places, table, start, stop)

    chunk = _chunk(height * columns, len(sizes))
    table = add_up(fill, (height, columns), len(rows), chunk, whole=counts is None)
    return Joint(table[1:], places[first:], sizes)


def members_joint(ensemble: SoftEnsemble, span: Span) -> Joint:
    """Hard labels against memberships."""
    height = span.low + span.width + 1
    rows, counts, members = padded_codes(span), ensemble.counts, ensemble.matrix

    def fill(table: NDArray[Any], start: int, stop: int) -> None:
        weigh_members(rows, members, counts, table, start, stop)

    table = add_up(fill, (height, members.shape[1]), len(rows), _chunk(height, 1), whole=False)
    return Joint(table[1:], ensemble.offsets[:-1], ensemble.sizes)


def shares_joint(ensemble: Ensemble | SoftEnsemble, shares: FloatArray) -> Joint:
    """Shares against labels or memberships."""
    counts, width = ensemble.counts, shares.shape[1]
    if isinstance(ensemble, SoftEnsemble):
        members = ensemble.matrix

        def fill(table: NDArray[Any], start: int, stop: int) -> None:
            spread_members(shares, members, counts, table, start, stop)

        table = add_up(fill, (width, members.shape[1]), len(shares), _chunk(width, 1), whole=False)
        return Joint(table, ensemble.offsets[:-1], ensemble.sizes)
    labels, sizes = ensemble.labels, ensemble.sizes
    places, columns = _places(sizes), sum(sizes) + len(sizes)

    def spread(table: NDArray[Any], start: int, stop: int) -> None:
        spread_columns(shares, labels, counts, places, table, start, stop)

    table = add_up(spread, (columns, width), len(shares), _chunk(columns, len(sizes)), whole=False)
    return Joint(table.T, places, sizes)


def _places(sizes: tuple[int, ...]) -> NDArray[np.int64]:
    """Where each clustering's labels begin, with one place before them for MISSING."""
    return 1 + np.cumsum([0, *(size + 1 for size in sizes[:-1])]).astype(np.int64)


def _chunk(cells: int, columns: int) -> int:
    """Rows a chunk: enough that its table is small beside what is counted into it."""
    return max(CHUNK // columns, 1 << 12, 4 * cells // columns)
