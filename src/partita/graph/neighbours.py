"""Graphs of similar rows: all pairs where there are few rows, the strongest neighbours of each where there are many."""

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy import sparse

from partita.core.blas import one_thread
from partita.core.ensemble import Ensemble
from partita.core.errors import MethodError
from partita.core.threads import map_threads
from partita.core.types import FloatArray, IntArray
from partita.graph.incidence import blocks
from partita.kernels.neighbours import shared_weights, strongest

ALL_PAIRS: Final = 2000
"""Distinct rows up to which every pair is an edge."""
CANDIDATES: Final = 4096
"""Rows among which the neighbours of a row are looked for; drawn anew for every block of rows."""
NEIGHBOURS: Final = 20
HARD_BLOCK, SOFT_BLOCK = 2048, 512
"""Rows whose neighbours are looked for at a time."""
BYTES_PER_EDGE: Final = 120
MOST_BYTES: Final = 4 * 10**9
LEVELS: Final = 2000

Finder = Callable[[int, int, IntArray], tuple[IntArray, FloatArray]]
"""Rows from start to stop and the candidates in, their neighbours (-1 for none) and similarities out."""

Closeness = Callable[[IntArray, IntArray], NDArray[Any]]
"""(rows, candidates) numbers that rise with similarity, within a row."""


def edges_per_row(rows: int, asked: int | None, name: str) -> int | None:
    """How many neighbours each row keeps, None for all; a graph that would not fit is refused before it is built."""
    count = asked if asked is not None else NEIGHBOURS if rows > ALL_PAIRS else rows
    needed = rows * min(count, rows) * BYTES_PER_EDGE
    if needed > MOST_BYTES:
        raise MethodError(
            f"{name} on {rows} distinct rows with {min(count, rows)} neighbours each would need about "
            f"{needed / 1e9:.0f} GB; use hbgf, mcla or lwgp, or fewer neighbours"
        )
    return None if count >= min(rows - 1, CANDIDATES) else count


def neighbour_graph(counts: FloatArray, find: Finder, block: int, rng: Generator) -> sparse.csr_array:
    """(m, m) similarities of each row and its neighbours, times how many objects the two stand for."""
    rows = len(counts)
    parts = list(blocks(rows, block))
    children = rng.spawn(len(parts))

    def part(place: int) -> tuple[IntArray, FloatArray]:
        everyone = rows <= CANDIDATES
        drawn = np.arange(rows) if everyone else np.sort(children[place].choice(rows, CANDIDATES, replace=False))
        return find(*parts[place], drawn)

    with one_thread():
        found = map_threads(part, range(len(parts)), "neighbours of rows")
    neighbours = np.concatenate([ends for ends, _ in found])
    there = neighbours >= 0
    sources = np.repeat(np.arange(rows, dtype=np.int32), there.sum(axis=1))
    ends = neighbours[there]
    data = np.concatenate([weights for _, weights in found])[there] * counts[sources] * counts[ends]
    graph = sparse.csr_array((data, (sources, ends)), shape=(rows, rows))
    return graph.maximum(graph.T.tocsr())


def by_shared_labels(ensemble: Ensemble, edges: FloatArray, neighbours: int) -> Finder:
    """Neighbours by the weight of the clusterings in which two rows have the same label."""
    levels = np.rint(edges / edges.max() * max(1, LEVELS // len(edges))) if np.ptp(edges) > 0 else np.ones(len(edges))
    whole = np.maximum(levels, 1).astype(np.uint8 if np.maximum(levels, 1).sum() < 255 else np.uint16)

    def find(start: int, stop: int, candidates: IntArray) -> tuple[IntArray, FloatArray]:
        found = np.empty((stop - start, neighbours), np.int32)
        similar = np.empty(found.shape)
        columns = np.ascontiguousarray(ensemble.labels[candidates].T)
        strongest(ensemble.labels[start:stop], start, columns, candidates, whole, found)
        shared_weights(ensemble.labels, start, edges, found, similar)
        return found, similar

    return find


def by_closeness(closeness: Closeness, weigh: Callable[[IntArray, FloatArray], FloatArray], neighbours: int) -> Finder:
    """Neighbours by a function of rows and candidates; `weigh` makes similarities of the closeness of those chosen."""

    def find(start: int, stop: int, candidates: IntArray) -> tuple[IntArray, FloatArray]:
        rows = np.arange(start, stop)
        close = closeness(rows, candidates)
        close[rows[:, None] == candidates] = -np.inf
        places = np.argpartition(close, -neighbours, axis=1)[:, -neighbours:]
        best = weigh(rows, np.take_along_axis(close, places, axis=1))
        return np.where(best > 0, candidates[places], -1).astype(np.int32), best

    return find
