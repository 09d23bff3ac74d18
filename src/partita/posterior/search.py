"""The search for the partition of least expected loss: a start, single moves, merges, clusters dealt out anew.

Objects that agree in every draw are one row. That loses nothing: let two of them be in clusters A and B, of sizes a and
b without them. Both in A and both in B cost, in sum, D_A + D_B more than twice what they cost apart, where D_A is f's
second difference at a, less the mean over draws of twice that at the cells of A. That difference is positive and never
rises, and no cell is larger than its cluster, so that D_A < 0, and so D_B: one of the two is better than being apart.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from partita.core.distinct import distinct_rows
from partita.core.draws import Draws
from partita.core.errors import ParameterError
from partita.core.memory import check_memory
from partita.core.threads import current
from partita.core.types import MISSING, FloatArray, IntArray, sealed
from partita.kernels.partitions import Problem, Tally, chain, merge_all, put_back, sweep, take_out, try_all
from partita.posterior.losses import Loss

FEW_ROWS: Final = 9
"""Up to so many different objects, every partition is tried (21147 of 9)."""
CELL_BYTES: Final = 12
MOST_CELLS: Final = 40_000_000
"""Cells of the tables of one search, unless twice the clusters of a draw take more; finer partitions are not seen."""
SWEEP_WORK: Final = 10_000_000_000
"""Different objects times draws times clusters of one sweep, with the same exception."""
MERGE_WORK: Final = 2_000_000_000
"""Cells that looking for merges may read, clusters squared times labels of the draws; beyond that they are left out."""
SPARE: Final = 8
"""Empty clusters that tables begin with."""
LEAST_CHANGE: Final = 1e-9
"""What dealing out a cluster must take off, relative to its own term: less may be rounding that adds up."""
CHAIN_ROWS: Final = 64
"""Up to so many rows, chains of moves are tried."""
MOST_SWEEPS: Final = 100
MOST_ROUNDS: Final = 10
MEMBER_SWEEPS: Final = 5


class Setup(NamedTuple):
    """The problem for different objects and different draws, and the way back."""

    problem: Problem
    known: NDArray[np.bool_]
    """(n,) the objects that have labels."""
    row: IntArray
    """(known objects,) the row of each."""
    first: IntArray
    """(rows,) an object of each among the known."""


def set_up(draws: Draws, loss: Loss) -> Setup:
    """The problem of the draws."""
    known = draws.labels[0] != MISSING
    if not known.any():
        raise ParameterError("no object has a label in the draws; give draws of at least one object")
    labels = draws.labels if known.all() else draws.labels[:, known]
    kept = distinct_rows(labels)
    weights = np.bincount(kept.inverse)
    sizes = draws.sizes[kept.first]
    kind = np.int16 if int(sizes.max()) <= np.iinfo(np.int16).max else np.int32
    columns = np.ascontiguousarray(labels[kept.first].T, dtype=kind)
    same = distinct_rows(columns)
    rows = columns if len(same.first) == len(columns) else np.ascontiguousarray(columns[same.first])
    terms = _terms(2 * len(columns), loss)
    problem = Problem(
        sealed(rows),
        sealed(np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)),
        sealed(2.0 * weights / weights.sum()),
        sealed(np.bincount(same.inverse).astype(np.int64)),
        sealed(terms),
        sealed(np.append(np.diff(terms), 0.0)),
    )
    _check_memory(problem)
    return Setup(problem, known, same.inverse, same.first)


def _check_memory(problem: Problem) -> None:
    """Refuse draws whose tables would not fit, one for each search that runs at a time."""
    clusters, labels = int(np.diff(problem.offsets).max()) + SPARE, int(problem.offsets[-1])
    what = f"the search among {len(problem.shares)} different draws of up to {clusters - SPARE} clusters"
    check_memory(
        CELL_BYTES * clusters * labels * current(), what, "give fewer draws (every tenth), or use fewer threads"
    )


def _terms(objects: int, loss: Loss) -> FloatArray:
    """The terms of 0 … objects: m log m for VI, m squared for Binder's loss."""
    m = np.arange(objects + 1, dtype=np.float64)
    return np.asarray(m * np.log(np.maximum(m, 1.0)) if loss == "vi" else m * m)


def most_clusters(problem: Problem) -> int:
    """How many clusters a search may have: as many as rows, or as memory and time set aside for it allow."""
    allowed = min(MOST_CELLS // int(problem.offsets[-1]), SWEEP_WORK // problem.rows.size)
    return min(len(problem.rows), max(allowed, 2 * int(np.diff(problem.offsets).max())))


def every_partition(problem: Problem) -> IntArray:
    """(rows,) the best of all partitions of few rows."""
    best = np.zeros(len(problem.rows), np.int64)
    try_all(problem, _empty(problem, len(best)), best)
    return best


class Start(NamedTuple):
    """Where a search begins."""

    labels: IntArray
    """(rows,) clusters 0, 1, …; MISSING for rows that are to be placed one after another in a random order."""
    keep: bool = False
    """Whether rows first move between these clusters alone, until they settle."""


def search(problem: Problem, start: Start, rng: Generator) -> IntArray:
    """(rows,) a partition that no single move improves, nor a merge or a cluster dealt out anew that was tried."""
    tally = _begun(problem, start, rng)
    for _ in range(MOST_ROUNDS):
        tally = _settled(problem, tally, rng)
        tally, better = _dealt_anew(problem, tally, rng)
        if not better and len(problem.rows) <= CHAIN_ROWS:
            tally = _kept(problem, tally, SPARE)
            better = chain(problem, tally) < 0.0
        if not better:
            break
    else:
        tally = _settled(problem, tally, rng)
    return np.asarray(tally.labels)


def _begun(problem: Problem, start: Start, rng: Generator) -> Tally:
    """All rows in clusters."""
    width = int(start.labels.max()) + 1
    tally = _empty(problem, min(width if start.keep else width + SPARE, most_clusters(problem)))
    placed = np.flatnonzero(start.labels != MISSING)
    put_back(problem, tally, placed, start.labels[placed].astype(np.int64))
    if len(placed) < len(start.labels):
        waiting = rng.permutation(np.flatnonzero(start.labels == MISSING))
        tally = _swept(problem, tally, waiting).tally
    for _ in range(MOST_SWEEPS if start.keep else 0):
        if not sweep(problem, tally, rng.permutation(len(start.labels)), 0, width, False, True)[2]:
            break
    return tally


class Swept(NamedTuple):
    """What a sweep did."""

    tally: Tally
    moves: int
    change: float


def _empty(problem: Problem, width: int) -> Tally:
    """Tables of so many clusters, and no row in any."""
    labels = int(problem.offsets[-1])
    alone = np.repeat(problem.shares * problem.steps[0], np.diff(problem.offsets))
    gains = np.repeat(alone, width).reshape(labels, width)
    none = np.full(len(problem.rows), MISSING, np.int64)
    return Tally(none, np.zeros(width, np.int64), np.zeros((labels, width), np.int32), gains)


def _kept(problem: Problem, tally: Tally, spare: int) -> Tally:
    """The same partition, empty clusters left out and so many behind the others."""
    full = np.flatnonzero(tally.sizes)
    number = np.full(len(tally.sizes) + 1, MISSING, np.int64)
    number[full] = np.arange(len(full))
    return _copied(problem, tally._replace(labels=number[tally.labels]), full, spare)


def _copied(problem: Problem, tally: Tally, columns: IntArray, spare: int) -> Tally:
    """Some columns of the tables and so many empty ones."""
    copy = _empty(problem, min(len(columns) + spare, most_clusters(problem)))
    copy.labels[:] = tally.labels
    for new, old in zip(copy[1:], tally[1:], strict=True):
        new[..., : len(columns)] = old[..., columns]
    return copy


def _swept(problem: Problem, tally: Tally, order: IntArray) -> Swept:
    """One sweep over the rows of `order`, the tables made wider where clusters are many; numbers stay."""
    place, moves, change = 0, 0, 0.0
    width = int(np.flatnonzero(tally.sizes).max(initial=0)) + 1
    while True:
        grows = len(tally.sizes) < most_clusters(problem)
        place, width, more, fell = sweep(problem, tally, order, place, width, grows, False)
        moves, change = moves + more, change + fell
        if place == len(order):
            return Swept(tally, moves, change)
        tally = _copied(problem, tally, np.arange(len(tally.sizes)), SPARE + len(tally.sizes) // 2)


def _settled(problem: Problem, tally: Tally, rng: Generator) -> Tally:
    """Merges and sweeps until neither does anything."""
    for _ in range(MOST_SWEEPS):
        tally = _kept(problem, tally, SPARE)
        merges = 0
        if len(tally.sizes) ** 2 * int(problem.offsets[-1]) <= MERGE_WORK:
            merges = merge_all(problem, tally)
        tally, moves, _ = _swept(problem, tally, rng.permutation(len(problem.rows)))
        if not moves and not merges:
            break
    return tally


def _dealt_anew(problem: Problem, tally: Tally, rng: Generator) -> tuple[Tally, bool]:
    """Take out each cluster's members in turn and place them one by one; keep what improves; whether any did."""
    better = False
    for cluster in rng.permutation(np.flatnonzero(tally.sizes)):
        members = rng.permutation(np.flatnonzero(tally.labels == cluster))
        if len(members) < 2:
            continue
        old = tally.labels[members]
        change = take_out(problem, tally, members)
        for _ in range(1 + MEMBER_SWEEPS):
            tally, moves, fell = _swept(problem, tally, members)
            change += fell
            if not moves:
                break
        if change < -LEAST_CHANGE * (1.0 + problem.terms[problem.amounts[members].sum()]):
            better = True
        else:
            put_back(problem, tally, members, old)
    return tally, better
