"""Co-clustering probabilities: of chosen pairs of objects, between blocks of objects, of all pairs worth keeping."""

from collections.abc import Callable
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from partita.core.draws import Draws
from partita.core.errors import ParameterError
from partita.core.threads import map_chunks
from partita.core.types import MISSING, FloatArray, IntArray, sealed
from partita.kernels.draws import count_row, count_together
from partita.posterior.losses import coded

MOST_OBJECTS: Final = 20_000
"""Objects whose pairs are all looked at."""
MOST_PAIRS: Final = 20_000_000
"""Pairs that are kept, 24 bytes each."""
MOST_BLOCKS: Final = 2_000
PARTS: Final = 8


class PairTable(NamedTuple):
    """Pairs of objects and how probable it is that they are together; pairs that are not here are less so."""

    first: IntArray
    second: IntArray
    probability: FloatArray


def pair_probabilities(draws: Draws, pairs: Any) -> FloatArray:
    """(pairs,) the share of draws in which two objects, given by place from 0, are together; NaN where one is MISSING.

    >>> pair_probabilities(Draws.of([[0, 0, 1], [0, 1, 1]]), [(0, 1), (0, 2)]).tolist()
    [0.5, 0.0]
    """
    places = _checked(pairs, draws.labels.shape[1])
    objects, inverse = np.unique(places, return_inverse=True)
    rows = np.ascontiguousarray(draws.labels[:, objects].T)
    first, second = np.ascontiguousarray(inverse.reshape(places.shape).T)
    counts = np.empty(len(places), np.int64)
    map_chunks(partial(count_together, sealed(rows), sealed(first), sealed(second), counts), len(places), 64)
    unknown = (draws.labels[0, places] == MISSING).any(axis=1)
    return np.asarray(np.where(unknown, np.nan, counts / len(draws)))


def _checked(pairs: Any, objects: int) -> NDArray[np.int64]:
    places = np.asarray(pairs)
    if not places.size:
        return np.empty((0, 2), np.int64)
    if places.dtype.kind not in "iu":
        raise ParameterError(f"pairs of type {places.dtype}; give places of objects as whole numbers, from 0")
    if places.ndim != 2 or places.shape[1] != 2:
        raise ParameterError(f"pairs of shape {places.shape}; give two places of objects, from 0, a pair")
    wrong = (places < 0) | (places >= objects)
    if wrong.any():
        raise ParameterError(f"there is no object {places[wrong][0]}; the places are 0 to {objects - 1}")
    return places.astype(np.int64)


def block_probabilities(draws: Draws, labels: Any) -> FloatArray:
    """(k, k) the mean probability that an object of one block and another of the other are together.

    Blocks are numbered as they appear in `labels`, such as the clusters of a partition; MISSING objects are in none. On
    the diagonal, pairs are of different objects: NaN for a block of one.

    >>> block_probabilities(Draws.of([[0, 0, 1], [0, 1, 1]]), ["a", "a", "b"]).tolist()
    [[0.5, 0.25], [0.25, nan]]
    """
    codes = coded(labels, draws)
    known = np.flatnonzero(codes != MISSING)
    k = int(codes.max(initial=MISSING)) + 1
    if k > MOST_BLOCKS:
        raise ParameterError(f"{k} blocks make a table of {k} x {k}; give labels of at most {MOST_BLOCKS} blocks")
    blocks, sizes = codes[known], np.bincount(codes[known], minlength=k)

    def part(start: int, stop: int) -> FloatArray:
        together = np.zeros((k, k))
        for names in draws.labels[start:stop]:
            cells = (np.ones(len(known)), (blocks, names[known]))
            table = sparse.coo_array(cells, shape=(k, int(names.max()) + 1)).tocsr()
            together += (table @ table.T).toarray()
        return together

    total = sum(map_chunks(part, len(draws), -(-len(draws) // PARTS)), np.zeros((k, k)))
    own = np.diag(sizes)
    ways = np.outer(sizes, sizes) - own
    with np.errstate(invalid="ignore"):
        return np.asarray((total - len(draws) * own) / (len(draws) * ways))


def pairs_above(draws: Draws, least: float = 0.5) -> PairTable:
    """All pairs of objects that are together with at least this probability, which must be above 0, first < second.

    Every pair is looked at, so that objects may number at most 20 000 and kept pairs 20 million; else it raises.
    """
    if not isinstance(least, (int, float)) or not 0.0 < least <= 1.0:
        raise ParameterError(f"least={least!r} keeps every pair or none; give a probability above 0 and at most 1")
    needed = least * len(draws) - 1e-9

    def strong(i: int, counts: IntArray) -> IntArray:
        return i + 1 + np.flatnonzero(counts[i + 1 :] >= needed)

    return _table(draws, strong, above=True)


def nearest_pairs(draws: Draws, k: int) -> PairTable:
    """For every object the k others with which it is most probably together, most probable first, then in order.

    Every pair is looked at, so that objects may number at most 20 000 and kept pairs 20 million; else it raises.
    """
    objects = int(np.count_nonzero(draws.labels[0] != MISSING))
    if not isinstance(k, (int, np.integer)) or not 1 <= k < objects:
        raise ParameterError(f"k={k!r} neighbours of {objects} objects; give a number from 1 to {objects - 1}")

    def nearest(i: int, counts: IntArray) -> IntArray:
        counts[i] = -1
        return np.argsort(-counts, kind="stable")[:k]

    return _table(draws, nearest, above=False)


def _table(draws: Draws, choose: Callable[[int, IntArray], IntArray], above: bool) -> PairTable:
    """The pairs that `choose(object, counts)` keeps; `above` counts only those with later objects."""
    known = np.flatnonzero(draws.labels[0] != MISSING)
    if len(known) > MOST_OBJECTS:
        raise ParameterError(
            f"{len(known)} objects have too many pairs to look at all; ask for pairs or blocks, or give draws of at "
            f"most {MOST_OBJECTS} objects"
        )
    rows = sealed(np.ascontiguousarray(draws.labels[:, known].T))
    held: dict[int, int] = {}

    def part(start: int, stop: int) -> PairTable:
        found, counts, held[start] = [], np.zeros(len(known), np.int64), 0
        for i in range(start, stop):
            count_row(rows, i, i + 1 if above else 0, counts)
            kept = choose(i, counts)
            found.append(PairTable(np.full(len(kept), known[i]), known[kept], counts[kept] / len(draws)))
            held[start] += len(kept)
            if sum(list(held.values())) > MOST_PAIRS:
                raise ParameterError(f"more than {MOST_PAIRS} pairs would be kept; ask for more probable or fewer ones")
        return _joined(found)

    return _joined(map_chunks(part, len(known), 64))


def _joined(parts: list[PairTable]) -> PairTable:
    if not parts:
        return PairTable(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
    return PairTable(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))
