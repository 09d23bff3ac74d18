"""The distribution of co-association over pairs of objects: how often two objects are in the same base cluster.

All pairs are looked at where distinct rows are few, else pairs drawn at random, with a bound on the error.
"""

import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from partita.core.ensemble import Ensemble
from partita.core.errors import ParameterError
from partita.core.rng import generator, resolve_seed
from partita.core.sampling import collapsed
from partita.core.soft import AnyEnsemble, SoftEnsemble
from partita.core.threads import map_chunks, map_threads
from partita.core.types import FloatArray, FrozenArrays, IntArray, sealed
from partita.kernels.coassociation import (
    EDGES,
    FUZZ,
    Columns,
    count_shares,
    pair_member_shares,
    pair_shares,
    tally_shares,
)

DRAWN: Final = 2_000_000
"""Pairs that are drawn where they are too many to look at all: the CDF is then right to 0.0012 at level 0.99."""
MOST_WORK: Final = 4e9
"""Nanoseconds of one processor that looking at all pairs may take, roughly."""
BATCH: Final = 1 << 18
MOST_COUNTED, MOST_TABULATED = 65_535, 255
"""Sums of whole weights up to which agreement is counted: with complete labels, and with missing ones."""
EXACT_CHUNK: Final = 64
MOST_LISTED: Final = 1 << 26
"""Objects whose rows are listed, 4 bytes each, to draw from."""
E = TypeVar("E", bound=AnyEnsemble)


@dataclass(frozen=True, eq=False)
class Coassociation(FrozenArrays):
    """Co-association over all pairs of different objects that some clustering knows both of."""

    edges: FloatArray
    """(101,) 0, 0.01, … 1."""
    cdf: FloatArray
    """(101,) the share of pairs whose co-association is at most the edge; NaN where there is no pair."""
    mean: float
    pac: float
    """The share of pairs strictly between the limits: ambiguously clustered (Şenbabaoğlu et al. 2014)."""
    limits: tuple[float, float]
    pairs: int
    """Pairs of objects that were looked at, never labelled together ones included."""
    exact: bool
    """Whether these are all pairs."""
    error: float
    """How far any value of `cdf` may be off, with probability `level`: Dvoretzky-Kiefer-Wolfowitz; 0 when exact."""
    level: float
    unseen: float
    """The share of pairs that were never labelled together, which are left out."""

    @property
    def area(self) -> float:
        """The area under the CDF, as ConsensusClusterPlus adds it up: 0.01 times the sum of cdf[1:]."""
        return float(self.cdf[1:].sum() / EDGES)

    @property
    def pac_error(self) -> float:
        """How far `pac` may be off, with probability `level`: it is a difference of two values of the CDF."""
        return min(1.0, 2 * self.error)

    def __repr__(self) -> str:
        told = "exact" if self.exact else f"± {self.pac_error:.2g}"
        return f"Coassociation(mean {self.mean:.3f}, PAC {self.pac:.4f} {told}, {self.pairs} pairs)"


class _Tally(NamedTuple):
    """Pairs of objects by co-association."""

    bins: FloatArray
    """(101,) pairs by the first edge that they are not above."""
    total: float
    """The sum of co-association."""
    between: float
    """Pairs strictly between the limits."""
    unseen: float

    def plus(self, more: "_Tally") -> "_Tally":
        sums = (self.total + more.total, self.between + more.between, self.unseen + more.unseen)
        return _Tally(self.bins + more.bins, *sums)


def coassociation(
    ensemble: AnyEnsemble,
    *,
    limits: tuple[float, float] = (0.1, 0.9),
    pairs: int | None = None,
    level: float = 0.99,
    seed: int | None = 0,
) -> Coassociation:
    """How co-association is distributed over pairs of different objects (Monti et al. 2003, consensus distribution).

    The co-association of a pair is the weight of the clusterings in which the two share a cluster, divided by the
    weight of those that know both; of memberships, the product of the two rows takes the place of sharing.

    Parameters
    ----------
    ensemble
        Base clusterings, or runs of one clusterer. Rows with multiplicities stand for so many objects.
    limits
        Between them co-association is ambiguous: `pac` is the share of pairs strictly inside.
    pairs
        Left out: all pairs where the distinct rows are few enough to take seconds, else 2 million drawn at random.
        A number: all pairs if the distinct rows have no more, else so many drawn.
    level
        The probability with which `error` holds.
    seed
        Fixes the pairs that are drawn, whatever the number of threads.

    >>> found = coassociation(Ensemble.from_labels([[0, 0], [0, 0], [0, 1], [1, 1]]))
    >>> found.pac, round(found.mean, 4), found.pairs, found.exact
    (0.5, 0.4167, 6, True)
    """
    (low, high), used = _checked_limits(limits), resolve_seed(seed)
    if not isinstance(level, (int, float)) or not 0 < level < 1:
        raise ParameterError(f"level={level!r} is not a probability; give one between 0 and 1, such as 0.99")
    most = None if pairs is None else _checked_pairs(pairs)
    part = _counting(collapsed(ensemble)[0])
    exact = _few(part, most)
    if exact:
        looked = part.counts.sum() * max(part.counts.sum() - 1, 0) / 2
        tally = _exact(part, low, high)
    else:
        looked = DRAWN if most is None else most
        tally = _sampled(part, int(looked), (low, high), generator(used))
    seen = tally.bins.sum()
    with np.errstate(invalid="ignore"):
        cdf = np.minimum(np.cumsum(tally.bins) / seen, 1.0)
    return Coassociation(
        np.arange(EDGES + 1) / EDGES,
        cdf,
        float(tally.total / seen) if seen else math.nan,
        float(tally.between / seen) if seen else math.nan,
        (low, high),
        round(looked),
        exact,
        0.0 if exact else dkw_error(seen, level),
        float(level),
        float(tally.unseen / (seen + tally.unseen)) if seen + tally.unseen else 0.0,
    )


def dkw_error(pairs: float, level: float) -> float:
    """How far an empirical distribution of so many draws may be off anywhere: sqrt(log(2 / (1 - level)) / (2 m)).

    >>> round(dkw_error(2_000_000, 0.99), 5)
    0.00115
    """
    return min(1.0, math.sqrt(math.log(2 / (1 - level)) / (2 * pairs))) if pairs else 1.0


def delta_area(areas: Sequence[float]) -> FloatArray:
    """(len,) the area under the CDF of the first k, then each relative change (a[i] - a[i-1]) / a[i-1] (Monti et al.).

    >>> delta_area([0.4, 0.6, 0.6]).round(3).tolist()
    [0.4, 0.5, 0.0]
    """
    values = np.array(areas, dtype=np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.concatenate([values[:1], np.diff(values) / values[:-1]])


def _checked_limits(limits: Any) -> tuple[float, float]:
    try:
        low, high = (float(limit) for limit in limits)
    except (TypeError, ValueError):
        raise ParameterError(f"limits={limits!r} are not two numbers; give them such as (0.1, 0.9)") from None
    if not 0 <= low < high <= 1:
        raise ParameterError(f"limits={limits!r}: give a lower and a higher share between 0 and 1, such as (0.1, 0.9)")
    return low, high


def _checked_pairs(pairs: Any) -> int:
    try:
        found = operator.index(pairs)
    except TypeError:
        found = 0
    if found < 1:
        raise ParameterError(f"pairs={pairs!r} is not a whole number >= 1; give how many pairs to look at")
    return found


def _counting(ensemble: E) -> E:
    """The clusterings that count."""
    counting = np.flatnonzero(ensemble.weights > 0)
    if len(counting) == len(ensemble.weights):
        return ensemble
    return ensemble.columns(counting)  # type: ignore[return-value]  # an ensemble's columns are of its own kind


def _units(weights: FloatArray) -> IntArray | None:
    """Weights as whole numbers in the same ratios, where there are such."""
    ratios = weights / weights.min()
    whole = np.rint(ratios)
    if (np.abs(ratios - whole) > 1e-12 * whole).any() or whole.sum() > MOST_COUNTED:
        return None
    units: IntArray = whole.astype(np.int64)
    return units


def _few(part: AnyEnsemble, most: int | None) -> bool:
    """Whether all pairs of the distinct rows can be looked at."""
    rows = len(part)
    pairs = rows * (rows - 1) / 2
    if most is not None:
        return bool(pairs <= most)
    if isinstance(part, SoftEnsemble):
        each = 15 + part.matrix.shape[1] / 2
    else:
        counted = _units(part.weights) is not None
        each = 3 + len(part.names) / 16 if counted else 15 + len(part.names) / 2
    return bool(pairs * each <= MOST_WORK)


def _exact(part: AnyEnsemble, low: float, high: float) -> _Tally:
    """All pairs: of different rows by the kernels, of objects that share a row by themselves."""
    units = None if isinstance(part, SoftEnsemble) else _units(part.weights)
    complete = part.missing_share == 0
    if isinstance(part, Ensemble) and units is not None and (complete or units.sum() <= MOST_TABULATED):
        apart = _counted(part, units, complete, low, high)
    else:
        apart = _tallied(part, low, high)
    twins = part.counts * np.maximum(part.counts - 1, 0) / 2
    there = np.flatnonzero(twins)
    return apart.plus(_tally_of(_pair_values(part, there, there), twins[there], low, high))


def _counted(part: Ensemble, units: IntArray, complete: bool, low: float, high: float) -> _Tally:
    """Pairs counted by how much they agree and how much is known; weights are whole numbers."""
    total = int(units.sum())
    kind = np.uint8 if total <= MOST_TABULATED else np.uint16
    columns = by_columns(part, units.astype(kind))
    shape = (1 if complete else total + 1, total + 1)

    def some(start: int, stop: int) -> FloatArray:
        cells = np.zeros(shape)
        count_shares(columns, cells, complete, start, stop)
        return cells

    cells = np.zeros(shape)
    for found in map_chunks(some, len(part), EXACT_CHUNK):
        cells += found
    known, agree = np.nonzero(cells)
    below = np.full(len(agree), total) if complete else known
    values = np.divide(agree, below, out=np.full(len(agree), np.nan), where=below > 0)
    return _tally_of(values, cells[known, agree], low, high)


def _tallied(part: AnyEnsemble, low: float, high: float) -> _Tally:
    """Pairs put in bins one by one, for any weights and memberships."""
    columns, soft = by_columns(part, part.weights), isinstance(part, SoftEnsemble)

    def some(start: int, stop: int) -> tuple[FloatArray, FloatArray]:
        bins, sums = np.zeros(EDGES + 1), np.zeros(3)
        tally_shares(columns, soft, low, high, bins, sums, start, stop)
        return bins, sums

    parts = map_chunks(some, len(part), EXACT_CHUNK)
    bins, sums = (np.sum(found, axis=0) for found in zip(*parts, strict=True))
    return _Tally(bins, *sums.tolist())


def by_columns(part: AnyEnsemble, units: NDArray[Any]) -> Columns:
    """The table by columns, for kernels that go through them one by one."""
    counts, units = sealed(part.counts), sealed(units)
    if isinstance(part, SoftEnsemble):
        members, known = np.ascontiguousarray(part.matrix.T), np.ascontiguousarray(part.known.T.astype(np.float64))
        owners = np.repeat(np.arange(len(part.sizes)), part.sizes)
        return Columns(sealed(members), sealed(known), sealed(owners), units, counts)
    labels = np.ascontiguousarray(part.labels.T)
    return Columns(sealed(labels), sealed(np.empty((0, 0))), sealed(np.empty(0, np.int64)), units, counts)


def _tally_of(values: FloatArray, amounts: FloatArray, low: float, high: float) -> _Tally:
    """Pairs with these values (NaN: never labelled together), each as often as its amount."""
    there = ~np.isnan(values)
    values, seen = values[there], amounts[there]
    places = np.clip(np.ceil(EDGES * (values - FUZZ)), 0, EDGES).astype(np.int64)
    between = (values > low + FUZZ) & (values < high - FUZZ)
    bins = np.bincount(places, seen, minlength=EDGES + 1).astype(np.float64)
    return _Tally(bins, float(seen @ values), float(seen[between].sum()), float(amounts[~there].sum()))


def _sampled(part: AnyEnsemble, pairs: int, limits: tuple[float, float], rng: Generator) -> _Tally:
    """Pairs of different objects drawn alike, in batches with generators of their own."""
    sizes = [min(BATCH, pairs - start) for start in range(0, pairs, BATCH)]
    owners = _owners(part.counts)
    ends = np.cumsum(part.counts)

    def batch(job: tuple[int, Generator]) -> _Tally:
        first, second = _drawn_objects(owners, *job) if len(owners) else _drawn_rows(part.counts, ends, *job)
        return _tally_of(_pair_values(part, first, second), np.ones(len(first)), *limits)

    found = map_threads(batch, zip(sizes, rng.spawn(len(sizes)), strict=True))
    total = found[0]
    for more in found[1:]:
        total = total.plus(more)
    return total


def _owners(counts: FloatArray) -> IntArray:
    """The row of each object; none where counts are not whole, or make too many objects to list."""
    whole = counts.astype(np.int64)
    if (whole != counts).any() or whole.sum() > MOST_LISTED:
        return np.empty(0, np.int32)
    return np.repeat(np.arange(len(counts), dtype=np.int32), whole)


def _drawn_objects(owners: IntArray, size: int, rng: Generator) -> tuple[IntArray, IntArray]:
    """The rows of pairs of different objects, each pair as likely."""
    first, second = rng.integers(len(owners), size=size), rng.integers(len(owners) - 1, size=size)
    second += second >= first
    return owners[first], owners[second]


def _drawn_rows(counts: FloatArray, ends: FloatArray, size: int, rng: Generator) -> tuple[IntArray, IntArray]:
    """The same for any counts; `ends` are the counts added up.

    Two objects drawn from one row with count c are the same object with probability 1 / c: then both are drawn anew.
    """
    first, second = np.empty(size, np.int64), np.empty(size, np.int64)
    filled = 0
    while filled < size:
        wanted = max(64, size - filled)
        a, b = (np.searchsorted(ends[:-1], rng.random(wanted) * ends[-1], side="right") for _ in range(2))
        kept = np.flatnonzero((a != b) | (rng.random(wanted) * counts[a] >= 1))[: size - filled]
        first[filled : filled + len(kept)], second[filled : filled + len(kept)] = a[kept], b[kept]
        filled += len(kept)
    return first, second


def _pair_values(part: AnyEnsemble, first: IntArray, second: IntArray) -> FloatArray:
    """The co-association of pairs of rows; NaN where no clustering knows both."""
    out = np.empty(len(first))
    rows = sealed(np.asarray(first, np.int64)), sealed(np.asarray(second, np.int64))
    if isinstance(part, SoftEnsemble):
        fixed = (part.matrix, part.known, sealed(part.offsets), part.weights, *rows)
        map_chunks(partial(pair_member_shares, *fixed, out), len(out))
    else:
        map_chunks(partial(pair_shares, part.labels, part.weights, *rows, out), len(out))
    return out
