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
from partita.kernels.partitions import (
    ALONE,
    Problem,
    Tally,
    chain,
    merge_all,
    pivot,
    put_back,
    sweep,
    take_out,
    try_all,
)
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
LARGE_ROWS: Final = 2_500
"""Rows above which the search under Binder's loss has narrow tables (`LARGE_SWEEP_WORK`) and a limit of work."""
LARGE_SWEEP_WORK: Final = 100_000_000
"""`SWEEP_WORK` of such a search; rows that are best off by themselves stay outside the tables."""
LARGE_CELLS: Final = 10_000_000
"""`MOST_CELLS` of such a search."""
LARGE_WORK: Final = 2_000_000_000
"""Cells that one such search may read, unless `LEAST_SWEEPS` sweeps over the clusters of the finest draw take more."""
LEAST_SWEEPS: Final = 10
PIVOT_WORK: Final = 3e8
"""Comparisons of labels that one division by pivots may make."""
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


def set_up(draws: Draws, loss: Loss, max_clusters: int | None = None) -> Setup:
    """Return the problem of the draws, for partitions of at most `max_clusters` clusters."""
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
    large = is_large(len(rows), loss)
    most = min(len(rows), max_clusters or len(rows))
    width = min(most, _table_width(rows.size, sizes, large))
    work = max(LARGE_WORK, LEAST_SWEEPS * rows.size * min(width, int(sizes.max()))) if large else np.inf
    problem = Problem(
        sealed(rows),
        sealed(np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)),
        sealed(2.0 * weights / weights.sum()),
        sealed(np.bincount(same.inverse).astype(np.int64)),
        sealed(terms),
        sealed(np.append(np.diff(terms), 0.0)),
        width,
        most - width if large else 0,
        float(work),
    )
    _check_memory(problem)
    return Setup(problem, known, same.inverse, same.first)


def is_large(rows: int, loss: Loss) -> bool:
    """Return True if the search has narrow tables and a limit of work."""
    return loss == "binder" and rows > LARGE_ROWS


def _table_width(entries: int, sizes: IntArray, large: bool) -> int:
    """Return the maximum number of clusters in the tables, for the number of labels and the clusters of each draw.

    It is limited by memory and time, but is at least twice the number of clusters of the finest draw; the memory limit
    comes first in a large search.
    """
    labels, finest = int(sizes.sum()), 2 * int(sizes.max())
    if large:
        return max(1, min(LARGE_CELLS // labels, max(LARGE_SWEEP_WORK // entries, finest)))
    return max(min(MOST_CELLS // labels, SWEEP_WORK // entries), finest)


def _check_memory(problem: Problem) -> None:
    """Refuse draws if the tables do not fit into memory; each search that runs at a time has its own."""
    finest, labels = int(np.diff(problem.offsets).max()), int(problem.offsets[-1])
    clusters = min(finest + SPARE, problem.width) if problem.alone else finest + SPARE
    what = f"the search among {len(problem.shares)} different draws of up to {finest} clusters"
    check_memory(
        CELL_BYTES * clusters * labels * current(), what, "give fewer draws (every tenth), or use fewer threads"
    )


def _terms(objects: int, loss: Loss) -> FloatArray:
    """The terms of 0 … objects: m log m for VI, m squared for Binder's loss."""
    m = np.arange(objects + 1, dtype=np.float64)
    return np.asarray(m * np.log(np.maximum(m, 1.0)) if loss == "vi" else m * m)


def most_clusters(problem: Problem) -> int:
    """Return the maximum number of clusters of a partition, in the tables and outside."""
    return problem.width + problem.alone


def every_partition(problem: Problem) -> IntArray:
    """(rows,) the best of all partitions of few rows."""
    best = np.zeros(len(problem.rows), np.int64)
    try_all(problem, _empty(problem, problem.width), best)
    return best


class Start(NamedTuple):
    """Where a search begins."""

    labels: IntArray
    """(rows,) clusters 0, 1, …; MISSING for rows that are to be placed one after another in a random order."""
    keep: bool = False
    """Whether rows first move between these clusters alone, until they settle."""


def search(problem: Problem, start: Start, rng: Generator) -> IntArray:
    """(rows,) a partition that no single move improves, nor a merge or a cluster dealt out anew that was tried.

    A search with a limit of work (`problem.work`) ends when it has read so many cells of its tables.
    """
    tally = _begun(problem, start, rng)
    for _ in range(MOST_ROUNDS):
        tally = _settled(problem, _gathered(problem, tally, rng), rng)
        tally, better = _dealt_anew(problem, tally, rng)
        if not better and len(problem.rows) <= CHAIN_ROWS:
            tally = _kept(problem, tally, SPARE)
            better = chain(problem, tally) < 0.0
        if not better or tally.read[0] > problem.work:
            break
    else:
        tally = _settled(problem, tally, rng)
    labels = np.array(tally.labels)
    alone = np.flatnonzero(labels == ALONE)
    labels[alone] = len(tally.sizes) + np.arange(len(alone))
    return labels


def pivot_start(problem: Problem, rng: Generator) -> IntArray:
    """(rows,) clusters around random pivots, in time linear in rows per cluster; MISSING for rows without one."""
    labels = np.full(len(problem.rows), MISSING, np.int64)
    order = rng.permutation(len(labels))
    pivot(problem, order, problem.width, ALONE, PIVOT_WORK, labels)
    labels[labels == ALONE] = MISSING
    return labels


def _begun(problem: Problem, start: Start, rng: Generator) -> Tally:
    """All rows in clusters; if the start has too many, the largest are kept and the other rows are placed again."""
    labels = start.labels
    width = int(labels.max()) + 1
    if width > problem.width:
        sizes = np.bincount(labels[labels != MISSING], problem.amounts[labels != MISSING], width)
        number = np.full(width + 1, MISSING, np.int64)
        number[np.argsort(-sizes, kind="stable")[: problem.width]] = np.arange(problem.width)
        labels, width = number[labels], problem.width
    tally = _empty(problem, min(width if start.keep else width + SPARE, problem.width))
    placed = np.flatnonzero(labels != MISSING)
    put_back(problem, tally, placed, labels[placed].astype(np.int64))
    if len(placed) < len(labels):
        waiting = rng.permutation(np.flatnonzero(labels == MISSING))
        tally = _swept(problem, tally, waiting).tally
    for _ in range(MOST_SWEEPS if start.keep else 0):
        if not sweep(problem, tally, rng.permutation(len(labels)), 0, width, False, True)[2]:
            break
    return tally


def _gathered(problem: Problem, tally: Tally, rng: Generator) -> Tally:
    """Divide the rows outside the tables by pivots into clusters in the tables, as many as there is room for."""
    outside = np.flatnonzero(tally.labels == ALONE)
    room = problem.width - int(np.count_nonzero(tally.sizes))
    if not len(outside) or not room:
        return tally
    found = np.full(len(problem.rows), MISSING, np.int64)
    new = pivot(problem, rng.permutation(outside), room, ALONE, PIVOT_WORK, found)
    tally = _kept(problem, tally, new)
    members = np.flatnonzero(found >= 0)
    put_back(problem, tally, members, len(tally.sizes) - new + found[members])
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
    return Tally(none, np.zeros(width, np.int64), np.zeros((labels, width), np.int32), gains, np.zeros(1))


def _kept(problem: Problem, tally: Tally, spare: int) -> Tally:
    """Return the same partition without empty clusters, with `spare` empty ones behind the others.

    If the tables have no room for these, clusters of one row leave the tables, as far as rows may be outside.
    """
    labels = tally.labels
    full = np.flatnonzero(tally.sizes)
    room = problem.alone - np.count_nonzero(labels == ALONE)
    if len(full) + spare > problem.width and room > 0:
        members = np.bincount(labels[labels >= 0], minlength=len(tally.sizes))
        single = np.flatnonzero(members == 1)[:room]
        labels = np.where(np.isin(labels, single), ALONE, labels)
        full = np.setdiff1d(full, single)
    number = np.full(len(tally.sizes) + 2, MISSING, np.int64)
    number[ALONE] = ALONE
    number[full] = np.arange(len(full))
    return _copied(problem, tally._replace(labels=number[labels]), full, spare)


def _copied(problem: Problem, tally: Tally, columns: IntArray, spare: int) -> Tally:
    """Some columns of the tables and so many empty ones."""
    copy = _empty(problem, min(len(columns) + spare, problem.width))
    copy.labels[:] = tally.labels
    copy.read[:] = tally.read
    for new, old in ((copy.sizes, tally.sizes), (copy.counts, tally.counts), (copy.gains, tally.gains)):
        new[..., : len(columns)] = old[..., columns]
    return copy


def _swept(problem: Problem, tally: Tally, order: IntArray) -> Swept:
    """One sweep over the rows of `order`, the tables made wider where clusters are many; numbers stay."""
    place, moves, change = 0, 0, 0.0
    width = int(np.flatnonzero(tally.sizes).max(initial=0)) + 1
    while True:
        grows = len(tally.sizes) < problem.width
        place, width, more, fell = sweep(problem, tally, order, place, width, grows, False)
        moves, change = moves + more, change + fell
        if place == len(order):
            return Swept(tally, moves, change)
        tally = _copied(problem, tally, np.arange(len(tally.sizes)), SPARE + len(tally.sizes) // 2)


def _settled(problem: Problem, tally: Tally, rng: Generator) -> Tally:
    """Merges and sweeps until neither does anything."""
    for _ in range(MOST_SWEEPS):
        tally = _kept(problem, tally, SPARE)
        merges, cells = 0, len(tally.sizes) ** 2 * int(problem.offsets[-1])
        if cells <= min(MERGE_WORK, problem.work - tally.read[0]):
            merges = merge_all(problem, tally)
            tally.read[0] += cells
        tally, moves, _ = _swept(problem, tally, rng.permutation(len(problem.rows)))
        if (not moves and not merges) or tally.read[0] > problem.work:
            break
    return tally


def _dealt_anew(problem: Problem, tally: Tally, rng: Generator) -> tuple[Tally, bool]:
    """Take out each cluster's members in turn and place them one by one; keep what improves; whether any did."""
    better = False
    for cluster in rng.permutation(np.flatnonzero(tally.sizes)):
        members = rng.permutation(np.flatnonzero(tally.labels == cluster))
        if len(members) < 2:
            continue
        if tally.read[0] > problem.work:
            break
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
