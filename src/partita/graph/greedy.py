"""Greedy: move objects between clusters, one row at a time, while ANMI rises (Strehl and Ghosh 2002, §2.3)."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.random import Generator

from partita.core.consensus import Consensus, by_appearance, renumber_detail
from partita.core.counting import label_columns
from partita.core.ensemble import Ensemble
from partita.core.iterate import iterate
from partita.core.method import Method
from partita.core.params import setting
from partita.core.progress import report
from partita.core.soft import SoftEnsemble
from partita.core.types import MISSING, FloatArray, FrozenDict, IntArray
from partita.graph.base import best_base
from partita.kernels.greedy import TINY, Base, Rows, Tally, sweep_rows
from partita.metrics.contingency import ensemble_tables
from partita.metrics.ensemble import anmi
from partita.metrics.information import entropy

SLICE: Final = 1 << 21
"""Labels weighed (rows times clusterings times clusters) in one call: a fraction of a second between reports."""
ABOUT_THE_SEARCH: Final = ("rule", "chosen")
"""Details that stay true whatever becomes of the labels."""
MOST_SWEEPS: Final = 1000


@dataclass(frozen=True, slots=True)
class Params:
    """Settings of greedy."""

    max_sweeps: int = setting(MOST_SWEEPS, "most sweeps over the rows", low=1)


class Climb(NamedTuple):
    """Where the moves led."""

    labels: IntArray
    trace: tuple[float, ...]
    """ANMI of the start and after each sweep."""
    moves: tuple[int, ...]
    """Rows moved in each sweep."""
    converged: bool


class Step(NamedTuple):
    """A labelling on the way, its ANMI, and the rows each sweep moved; None before the first."""

    labels: IntArray
    anmi: float
    moves: tuple[int, ...] | None


def fit(ensemble: Ensemble | SoftEnsemble, k: int, params: Params, rng: Generator) -> Consensus:
    """From the base clustering with the highest ANMI, sweep over the rows until none moves.

    The base clustering is cut to k clusters where it has more, and completed where it does not know an object (see
    `best_base`). Each row goes to the cluster that raises ANMI most. Objects with the same labels are
    indistinguishable: they are one row and move together. Up to k clusters may be filled and none is emptied.
    The contingency tables with all clusterings change in O(r) a move; they are counted anew before every sweep.
    """
    start = best_base(ensemble, k)
    run = climb(ensemble, start.labels, k, params.max_sweeps)
    detail = {"start": ensemble.names[start.column], "start anmi": run.trace[0], "moves": run.moves}
    return Consensus.hard(run.labels, k_asked=k, trace=run.trace, converged=run.converged, detail=detail)


def polished(result: Consensus, ensemble: Ensemble | SoftEnsemble, k: int | None) -> Consensus:
    """A method's result for the rows of `ensemble`, its labels moved on while ANMI rises.

    Memberships, model and what else was said of objects described the method's own labels and are dropped;
    `detail["polish"]` tells what was done, and what the method told of its labels is in `detail["before polish"]`.
    """
    labels, order = by_appearance(result.labels, int(result.labels.max()) + 1)
    run = climb(ensemble, labels, k)
    done = {"anmi before": run.trace[0], "anmi": run.trace[-1], "sweeps": len(run.moves), "moves": sum(run.moves)}
    before = renumber_detail(result.detail, order)
    detail: dict[str, Any] = {name: value for name, value in before.items() if name in ABOUT_THE_SEARCH}
    if len(before) > len(detail):
        detail["before polish"] = FrozenDict({name: value for name, value in before.items() if name not in detail})
    detail["polish"] = done
    nothing: dict[str, Any] = {"membership": None, "model": None, "per_object": FrozenDict()}
    return replace(result, labels=run.labels, detail=FrozenDict(detail), **nothing)


def climb(ensemble: Ensemble | SoftEnsemble, start: IntArray, k: int | None, max_sweeps: int = MOST_SWEEPS) -> Climb:
    """Sweeps from a labelling of every row until none moves a row; ANMI never falls.

    What the clusters are called makes no difference: they are numbered by first appearance before the first sweep.
    """
    labels, _ = by_appearance(start, int(start.max()) + 1)
    clusters = max(int(labels.max()) + 1, k or 1)

    def step(before: Step) -> tuple[Step, float]:
        if before.moves is None:  # the trace begins with the start
            return before._replace(moves=()), before.anmi
        moved = before.labels.copy()
        moves, _ = sweep(ensemble, moved, clusters, keep=k is not None)
        after = anmi(ensemble, moved)
        if after <= before.anmi:
            return before._replace(moves=(*before.moves, 0)), before.anmi
        return Step(moved, after, (*before.moves, moves)), after

    run = iterate(step, Step(labels, anmi(ensemble, labels), None), tol=0.0, max_iter=max_sweeps + 1)
    return Climb(run.state.labels, run.trace, run.state.moves or (), run.converged)


def sweep(ensemble: Ensemble | SoftEnsemble, labels: IntArray, k: int, *, keep: bool) -> tuple[int, float]:
    """Move each row, in order, where ANMI rises most, in place; the number of moves and the ANMI it has led to."""
    base = describe(ensemble)
    tally = count(ensemble, base, labels, k)
    moves = 0
    for start, rows in slices(ensemble, k):
        moves += sweep_rows(rows, base, labels, tally, start, keep)
        report("greedy sweep", start + len(rows.starts) - 1, len(ensemble))
    return moves, total_agreement(base, tally)


def describe(ensemble: Ensemble | SoftEnsemble) -> Base:
    """What the base clusterings are, whatever the consensus."""
    totals = [table.col_sums for table in ensemble_tables(ensemble, np.zeros(len(ensemble), np.int32))]
    known = np.array([float(total.sum()) for total in totals])
    weight = ensemble.weights * known
    return Base(
        label_columns(ensemble.offsets),
        1.0 / known,
        weight / weight.sum(),
        np.array([entropy(np.arange(len(total)), total) for total in totals]),
        np.array([np.count_nonzero(total) for total in totals]),
    )


def count(ensemble: Ensemble | SoftEnsemble, base: Base, labels: IntArray, k: int) -> Tally:
    """The contingency tables of a labelling with every clustering, and their sums."""
    t, r = len(base.column), len(base.scale)
    tally = Tally(
        np.zeros((t, k)),
        np.zeros((t, k)),
        np.zeros((r, k)),
        np.zeros((r, k)),
        np.zeros((r, k), np.int64),
        np.zeros(k, np.int64),
        np.zeros(r),
        np.zeros(r),
        np.zeros(r, np.int64),
    )
    for start, rows in slices(ensemble, 1):
        add_rows(rows, base, labels[start : start + len(rows.starts) - 1], tally)
    sum_up(base, tally)
    return tally


def add_rows(rows: Rows, base: Base, labels: IntArray, tally: Tally) -> None:
    """Add rows, with their clusters, to the tables."""
    k = len(tally.members)
    row = np.repeat(np.arange(len(labels)), np.diff(rows.starts))
    column, cluster = base.column[rows.places], labels[row].astype(np.int64)
    first = np.ones(len(row), bool)
    first[1:] = (row[1:] != row[:-1]) | (column[1:] != column[:-1])
    for table, cells, amounts in (
        (tally.tables, rows.places * k + cluster, rows.masses),
        (tally.sizes, column * k + cluster, rows.masses),
        (tally.known, column * k + cluster, first),
    ):
        found = np.bincount(cells, weights=amounts, minlength=table.size)
        np.add(table, found.reshape(table.shape), out=table, casting="unsafe")
    tally.members[:] += np.bincount(labels, minlength=k)


def sum_up(base: Base, tally: Tally) -> None:
    """The sums that follow from the tables."""
    tally.spans[:] = surprises(tally.sizes * base.scale[:, None])
    tally.own[:] = tally.spans.sum(axis=1)
    tally.groups[:] = (tally.known > 0).sum(axis=1)
    tally.cells[:] = surprises(tally.tables * base.scale[base.column][:, None])
    tally.joint[:] = np.bincount(base.column, weights=tally.cells.sum(axis=1), minlength=len(base.scale))


def surprises(shares: FloatArray) -> FloatArray:
    """Each share times its logarithm, 0 for 0 and for what rounding left of it."""
    positive = np.where(shares > 0, shares, 1.0)
    return np.asarray(positive * np.log(positive))


def total_agreement(base: Base, tally: Tally) -> float:
    """ANMI as the sums have it, with the conventions of `partita.metrics.nmi`."""
    information, square = base.entropy - tally.own + tally.joint, base.entropy * -tally.own
    shared = (information > TINY) & (square > 0)
    found = np.where(shared, np.minimum(1.0, information / np.sqrt(np.where(shared, square, 1.0))), 0.0)
    constant = (base.labels == 1) | (tally.groups == 1)
    return float(base.weight @ np.where(constant, base.labels == tally.groups, found))


def slices(ensemble: Ensemble | SoftEnsemble, k: int) -> Iterator[tuple[int, Rows]]:
    """The rows in order as entries, a slice at a time, each with the number of its first row."""
    size = max(SLICE // (k * len(ensemble.names)), 1)
    for start in range(0, len(ensemble), size):
        stop = min(start + size, len(ensemble))
        if isinstance(ensemble, Ensemble):
            part = ensemble.labels[start:stop]
            i, j = np.nonzero(part != MISSING)
            places = ensemble.offsets[j] + part[i, j]
            masses = ensemble.counts[start + i]
        else:
            i, places = np.nonzero(ensemble.matrix[start:stop])
            masses = ensemble.counts[start + i] * ensemble.matrix[start + i, places]
        yield start, Rows(np.searchsorted(i, np.arange(stop - start + 1)), places, masses)


METHOD = Method(
    fit,
    Params,
    takes=Ensemble | SoftEnsemble,
    cite="strehl2002",
    handles_missing=True,
    chooses_k=False,
    deterministic=True,
    together=True,
    monotone="rises",
)
