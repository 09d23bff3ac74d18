"""What a division into blocks is, how heavy a block may be, and which of two divisions is better."""

import heapq
import math
import numbers
import operator
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from partita.core.errors import ParameterError
from partita.core.types import FloatArray, IntArray, frozen

SLACK: Final = 1e-9
"""The relative excess over the capacity that is rounding and not weight."""


class Try(NamedTuple):
    """One of the divisions that were compared."""

    name: str
    cut: float
    balance: float


@dataclass(frozen=True, eq=False)
class Partition:
    """A division of n vertices into k blocks, none of them empty."""

    labels: IntArray
    """(n,) int32, the block of each vertex, 0..k-1 in no particular order."""
    cut: float
    """The objective, in the weights that were given."""
    balance: float
    """k times the heaviest block's share of all vertex weight: 1 is even."""
    kept: str
    """Name of the division that was kept, one of `tries`."""
    tries: tuple[Try, ...]
    """Every division that was compared, in the order of trying; the one kept is among them."""
    notes: tuple[str, ...] = ()
    """What the caller should know, in sentences."""


@dataclass(frozen=True, slots=True, eq=False)
class Limits:
    """How many blocks, which vertices fill one each, and what a block may weigh."""

    k: int
    capacity: float
    """What a block without a heavy vertex may weigh."""
    mean: float
    """What the blocks without a heavy vertex weigh when all are equal."""
    heavy: IntArray
    """The vertices that weigh as much as a fair block or more: they get one each."""
    heavy_capacities: FloatArray
    """What their blocks may weigh."""

    @property
    def imbalance(self) -> float:
        """How far the heaviest block without a heavy vertex may exceed the mean, as a share of it."""
        return self.capacity / self.mean - 1.0

    @property
    def rest(self) -> "Limits":
        """The limits of the other vertices, on their own in the other blocks."""
        none = np.empty(0, np.int64)
        return Limits(self.k - len(self.heavy), self.capacity, self.mean, none, np.empty(0))

    @property
    def notes(self) -> tuple[str, ...]:
        """What the caller should know of them."""
        count = len(self.heavy)
        return (f"{count} of the vertices weigh as much as a fair block and got one each",) if count else ()

    def loosened(self, by: float) -> "Limits":
        """The limits with room for so much more in every block."""
        return replace(self, capacity=self.capacity + by)

    def capacities(self, labels: IntArray) -> FloatArray:
        """(k,) what each block of a division may weigh."""
        found = np.full(self.k, self.capacity)
        np.maximum.at(found, labels[self.heavy], self.heavy_capacities)
        return found

    def excess(self, labels: IntArray, loads: FloatArray) -> float:
        """By how much a block exceeds its capacity, as a share of it; 0 when none does."""
        over = float((loads / self.capacities(labels)).max()) - 1.0
        return over if over > SLACK else 0.0


class Found(NamedTuple):
    """A division with its worth: of two, the smaller `rank` is better."""

    labels: IntArray
    cut: float
    loads: FloatArray
    excess: float
    name: str

    @property
    def rank(self) -> tuple[float, float, float, float]:
        """Within the capacity before beyond it, then the lower cut, then the more even blocks."""
        shares = self.loads / self.loads.sum()
        return self.excess, self.cut, float(self.loads.max()), float(shares @ shares)

    @property
    def balance(self) -> float:
        """The heaviest block's share of all weight, times k."""
        return float(self.loads.max() / self.loads.sum() * len(self.loads))

    def as_try(self) -> Try:
        """Its line in the record."""
        return Try(self.name, self.cut, self.balance)


def checked_blocks(k: Any, vertices: int) -> int:
    """The number of blocks, refused when it is not a whole number between 1 and the number of vertices."""
    try:
        blocks = operator.index(k)
    except TypeError:
        raise ParameterError(f"k={k!r} is not a whole number; give how many blocks you want") from None
    if not 1 <= blocks <= vertices:
        raise ParameterError(f"k={blocks} blocks cannot be made of {vertices} vertices; give 1 to {vertices}")
    return blocks


def checked_weights(values: Any, count: int, what: str, zero: bool) -> FloatArray:
    """(count,) weights as floats; `zero` says whether 0 is allowed, None stands for all equal to 1."""
    if values is None:
        return frozen(np.ones(count))
    try:
        weights = np.array(values, np.float64)
    except (TypeError, ValueError):
        raise ParameterError(f"the {what} are not numbers; give {count} weights") from None
    if weights.shape != (count,):
        raise ParameterError(f"the {what} have shape {weights.shape}; give {count} weights")
    bad = ~np.isfinite(weights) | (weights < 0 if zero else weights <= 0)
    if bad.any():
        place = int(np.argmax(bad))
        least = ">= 0" if zero else "> 0"
        raise ParameterError(f"{what}, place {place}: {weights[place]} is not a finite number {least}")
    check_sum(weights, what)
    return frozen(weights)


def check_sum(weights: FloatArray, what: str) -> None:
    """Refuse weights whose sum is beyond floating-point numbers."""
    with np.errstate(over="ignore"):
        total = float(weights.sum())
    if not np.isfinite(total):
        raise ParameterError(f"the {what} add up to infinity; divide them all by their largest, {weights.max():g}")


def checked_options(options: Any, choices: dict[str, tuple[str, ...]], least_tries: int = 1) -> None:
    """Refuse an imbalance, a number of tries or a choice that is not allowed."""
    for name, allowed in choices.items():
        if getattr(options, name) not in allowed:
            raise ParameterError(f"{name}={getattr(options, name)!r} is not allowed; give {', '.join(allowed)}")
    imbalance, tries = options.imbalance, options.tries
    number = isinstance(imbalance, numbers.Real) and not isinstance(imbalance, bool)
    if not number or not 0.0 <= imbalance < math.inf:
        raise ParameterError(f"imbalance={imbalance!r} is not allowed; give a share >= 0, such as 0.05")
    if isinstance(tries, bool) or not isinstance(tries, numbers.Integral) or int(tries) < least_tries:
        raise ParameterError(f"tries={tries!r} is not a whole number >= {least_tries}; give how many runs you want")


def set_limits(weights: FloatArray, k: int, imbalance: float) -> Limits:
    """A block may weigh (1 + imbalance) W / k, or as much as the heaviest block of an even packing if that is more.

    With unit weights that is max(⌈n/k⌉, ⌊(1 + imbalance) n/k⌋), so 7 objects in 3 blocks are feasible. A vertex that
    weighs as much as a fair block gets one that may exceed the vertex by the same share, and W and k are those of the
    others: one row that stands for half of all objects leaves the rest as balanced as if it were not there.
    """
    order = np.argsort(weights, kind="stable")
    sums = np.cumsum(weights[order])
    taken, last = 0, len(weights) - 1
    while taken < k - 1 and weights[order[last - taken]] >= sums[last - taken] / (k - taken):
        taken += 1
    heavy = np.sort(order[len(order) - taken :])
    rest = weights[order[: len(order) - taken]]
    mean = float(sums[last - taken]) / (k - taken)
    capacity = (1.0 + imbalance) * mean
    if mean + float(rest[-1]) > capacity:
        capacity = max(capacity, float(loads_of(pack(rest, k - taken), rest, k - taken).max()))
    return Limits(k, min(capacity, float(sums[last - taken])), mean, heavy, weights[heavy] * (1.0 + imbalance))


def loads_of(labels: IntArray, weights: FloatArray, k: int) -> FloatArray:
    """(k,) the weight of each block."""
    return np.bincount(labels, weights=weights, minlength=k).astype(np.float64)


def pack(weights: FloatArray, k: int, rng: Generator | None = None) -> IntArray:
    """(n,) blocks of nearly equal weight: the heaviest vertex first, each into the lightest block; equals at random."""
    ties = np.arange(len(weights)) if rng is None else rng.permutation(len(weights))
    labels = np.empty(len(weights), np.int32)
    heap = [(0.0, block) for block in range(k)]
    for vertex in np.lexsort((ties, -weights)).tolist():
        load, block = heap[0]
        labels[vertex] = block
        heapq.heapreplace(heap, (load + float(weights[vertex]), block))
    return labels


def pack_within(weights: FloatArray, limits: Limits, rng: Generator) -> IntArray:
    """(n,) a packing that keeps the limits: heavy vertices alone, the others packed."""
    labels = np.empty(len(weights), np.int32)
    others = np.setdiff1d(np.arange(len(weights)), limits.heavy)
    labels[others] = pack(weights[others], limits.rest.k, rng)
    labels[limits.heavy] = np.arange(limits.rest.k, limits.k)
    return labels


def whole_weights(weights: FloatArray, most: int) -> NDArray[np.int64]:
    """Weights as whole numbers that sum to at most `most` plus one each; no positive weight becomes 0.

    Whole numbers that fit stay as they are; others are scaled so that they use the range.

    >>> whole_weights(np.array([0.5, 0.25, 1e-9]), 300).tolist()
    [200, 100, 1]
    """
    largest = float(weights.max(initial=0.0))
    if largest == 0.0:
        return np.zeros(len(weights), np.int64)
    shares = weights / largest
    total = float(shares.sum())
    if largest * total <= most and bool((weights == np.floor(weights)).all()):
        return weights.astype(np.int64)
    scaled = np.rint(shares * (most / total)).astype(np.int64)
    return np.where(weights > 0, np.maximum(scaled, 1), 0)
