"""From what a partitioner returned to k blocks within the capacity, none empty, that no single move improves."""

from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np
from numpy.random import Generator
from scipy import sparse

from partita.core.types import FloatArray, IntArray
from partita.partition.blocks import SLACK, Limits, loads_of
from partita.partition.moves import Blocks, Links, Nets, link_sweep, net_losses, net_sweep, put, put_pins

MOST_SWEEPS: Final = 10
MOST_UNLOADINGS: Final = 5
LEAST: Final = 1e-12
"""A gain below this share of all weight is rounding."""


class Mover(Protocol):
    """A division of a graph or hypergraph whose vertices can be moved."""

    @property
    def blocks(self) -> Blocks:
        """The division; moves change it."""

    def sweep(self, order: IntArray, capacities: FloatArray) -> int:
        """Visit vertices in order, move those that gain or must; how many moved."""

    def losses(self, block: int, capacities: FloatArray) -> FloatArray:
        """(n,) the cost of moving each vertex to the block, or out of its overloaded block when that is -1."""

    def put(self, vertex: int, block: int) -> None:
        """Move one vertex."""


@dataclass(frozen=True, slots=True)
class LinkMover:
    """A divided graph."""

    links: Links
    blocks: Blocks
    total: float

    def sweep(self, order: IntArray, capacities: FloatArray) -> int:
        """See `Mover`."""
        return link_sweep(self.links, self.blocks, order, capacities, LEAST * self.total)

    def losses(self, block: int, capacities: FloatArray) -> FloatArray:
        """See `Mover`."""
        blocks, k = self.blocks, len(capacities)
        losses = np.full(len(blocks.labels), np.inf)
        full = blocks.loads[blocks.labels] > capacities[blocks.labels]
        rows = np.arange(len(losses)) if block >= 0 else np.flatnonzero(full)
        own = blocks.labels[rows]
        joined = self._joined(rows, k)
        changes = joined[np.arange(len(rows)), own][:, None] - joined
        if block >= 0:
            losses[rows] = changes[:, block]
            return losses
        room = np.maximum(1.0, (blocks.loads / capacities)[own] * (1.0 - 1e-9))
        fits = (blocks.loads + blocks.vertex_weights[rows][:, None]) / capacities <= room[:, None]
        fits[np.arange(len(rows)), own] = False
        losses[rows] = np.where(fits, changes, np.inf).min(axis=1)
        return losses

    def _joined(self, rows: IntArray, k: int) -> FloatArray:
        """(rows, k) the edge weight between some vertices and each block."""
        size = len(self.blocks.labels)
        table = sparse.csr_array((self.links.weights, self.links.ends, self.links.starts), shape=(size, size))
        blocks = sparse.csr_array((np.ones(size), self.blocks.labels, np.arange(size + 1)), shape=(size, k))
        return np.asarray((table[rows] @ blocks).toarray())

    def put(self, vertex: int, block: int) -> None:
        """See `Mover`."""
        put(self.blocks, vertex, block)


@dataclass(frozen=True, slots=True)
class NetMover:
    """A divided hypergraph."""

    nets: Nets
    blocks: Blocks
    total: float

    def sweep(self, order: IntArray, capacities: FloatArray) -> int:
        """See `Mover`."""
        return net_sweep(self.nets, self.blocks, order, capacities, LEAST * self.total)

    def losses(self, block: int, capacities: FloatArray) -> FloatArray:
        """See `Mover`."""
        found = np.empty(len(self.blocks.labels))
        net_losses(self.nets, self.blocks, block, capacities, found)
        return found

    def put(self, vertex: int, block: int) -> None:
        """See `Mover`."""
        put_pins(self.nets, self.blocks, vertex, block)


def blocks_of(labels: IntArray, vertex_weights: FloatArray, k: int) -> Blocks:
    """A division with its loads, to be changed; the labels are copied."""
    own = labels.astype(np.int32)
    return Blocks(own, loads_of(own, vertex_weights, k), np.bincount(own, minlength=k).astype(np.int64), vertex_weights)


def improve(mover: Mover, limits: Limits, rng: Generator) -> None:
    """Fill empty blocks, unload full ones, then sweep in random order until nothing moves; heavy vertices stay."""
    blocks = mover.blocks
    capacities = limits.capacities(blocks.labels) * (1.0 + SLACK)
    free = np.setdiff1d(np.arange(len(blocks.labels)), limits.heavy)
    _fill(mover, capacities, free)
    _make_room(mover, capacities, free)
    for _ in range(MOST_SWEEPS):
        if mover.sweep(rng.permutation(free), capacities) == 0:
            break


def _fill(mover: Mover, capacities: FloatArray, free: IntArray) -> None:
    """Give each empty block the vertex it costs least to move, out of blocks that keep another."""
    blocks = mover.blocks
    empty = np.flatnonzero(blocks.members == 0).tolist()
    if not empty:
        return
    losses = mover.losses(empty[-1], capacities)[free]
    for vertex in free[np.argsort(losses, kind="stable")].tolist():
        if blocks.members[blocks.labels[vertex]] > 1:
            mover.put(vertex, empty.pop())
            if not empty:
                return


def _make_room(mover: Mover, capacities: FloatArray, free: IntArray) -> None:
    """Unload; where no single vertex finds room, push a large one into the block of smallest grain and unload that."""
    blocks = mover.blocks
    for _ in range(2 * len(blocks.loads)):
        _unload(mover, capacities, free)
        worst = int(np.argmax(blocks.loads / capacities))
        inside = free[blocks.labels[free] == worst]
        if blocks.loads[worst] <= capacities[worst] or len(inside) < 2:
            return
        grain = np.zeros(len(blocks.loads))
        np.maximum.at(grain, blocks.labels, blocks.vertex_weights)
        grain[worst] = np.inf
        weights = blocks.vertex_weights[inside]
        enough = weights >= blocks.loads[worst] - capacities[worst]
        vertex = int(inside[np.argmin(np.where(enough, weights, np.inf)) if enough.any() else np.argmax(weights)])
        finest = int(np.argmin(grain))
        if blocks.vertex_weights[vertex] <= grain[finest]:
            return
        mover.put(vertex, finest)
        free = free[free != vertex]


def _unload(mover: Mover, capacities: FloatArray, free: IntArray) -> None:
    """Move vertices out of overloaded blocks, the least costly for their weight first."""
    blocks = mover.blocks
    for _ in range(MOST_UNLOADINGS):
        if (blocks.loads <= capacities).all():
            return
        losses = mover.losses(-1, capacities)
        movable = free[np.isfinite(losses[free])]
        order = movable[np.argsort(losses[movable] / blocks.vertex_weights[movable], kind="stable")]
        if len(order) == 0 or mover.sweep(order, capacities) == 0:
            return
