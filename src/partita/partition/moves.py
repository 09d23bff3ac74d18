"""The compiled loops that move single vertices between blocks, on graphs and on hypergraphs.

`changes[b]` is what the objective gains when a vertex goes to block b; a good move has a negative one.
"""

from typing import NamedTuple

import numpy as np

from partita.kernels.compiling import Array, kernel


class Links(NamedTuple):
    """A compressed sparse matrix: of vertex v the entries `starts[v]..starts[v+1]`."""

    starts: Array
    ends: Array
    weights: Array


class Blocks(NamedTuple):
    """A division that is being changed: each vertex's block, each block's weight and number of vertices."""

    labels: Array
    loads: Array
    members: Array
    vertex_weights: Array


class Nets(NamedTuple):
    """A hypergraph seen from its vertices: of v the hyperedges `edges[starts[v]..starts[v+1]]`."""

    starts: Array
    edges: Array
    weights: Array
    """(m,) of each hyperedge."""
    sizes: Array
    """(m,) pins of each hyperedge."""
    pins: Array
    """(m, k) pins of each hyperedge in each block; follows the moves."""
    connectivity: bool
    """Count the blocks a hyperedge touches beyond the first, instead of counting it once when it is cut."""


@kernel
def link_changes(links: Links, blocks: Blocks, vertex: int, changes: Array) -> None:
    """What each block would cost the vertex on a graph."""
    for b in range(changes.shape[0]):
        changes[b] = 0.0
    for e in range(links.starts[vertex], links.starts[vertex + 1]):
        changes[blocks.labels[links.ends[e]]] -= links.weights[e]
    stay = changes[blocks.labels[vertex]]
    for b in range(changes.shape[0]):
        changes[b] -= stay


@kernel
def net_changes(nets: Nets, blocks: Blocks, vertex: int, changes: Array) -> None:
    """What each block would cost the vertex on a hypergraph."""
    own = blocks.labels[vertex]
    for b in range(changes.shape[0]):
        changes[b] = 0.0
    leaving = 0.0
    for place in range(nets.starts[vertex], nets.starts[vertex + 1]):
        e = nets.edges[place]
        weight = nets.weights[e]
        if nets.connectivity:
            if nets.pins[e, own] == 1:
                leaving -= weight
            for b in range(changes.shape[0]):
                if nets.pins[e, b] == 0:
                    changes[b] += weight
        elif nets.pins[e, own] == nets.sizes[e]:
            leaving += weight
        elif nets.pins[e, own] == 1:
            for b in range(changes.shape[0]):
                if nets.pins[e, b] == nets.sizes[e] - 1:
                    changes[b] -= weight
    for b in range(changes.shape[0]):
        changes[b] += leaving
    changes[own] = 0.0


@kernel
def cheapest(changes: Array, blocks: Blocks, vertex: int, capacities: Array) -> int:
    """The block other than its own that costs the vertex least, the lighter of equals; -1 when none has room.

    A vertex of an overloaded block may also go where it makes a less overloaded one than the block it leaves.
    """
    own = blocks.labels[vertex]
    weight = blocks.vertex_weights[vertex]
    room = max(1.0, blocks.loads[own] / capacities[own] * (1.0 - 1e-9))
    best = -1
    for b in range(changes.shape[0]):
        if b != own and (blocks.loads[b] + weight) / capacities[b] <= room:
            level = best >= 0 and changes[b] == changes[best]
            if best < 0 or changes[b] < changes[best] or (level and blocks.loads[b] < blocks.loads[best]):
                best = b
    return best


@kernel
def put(blocks: Blocks, vertex: int, block: int) -> None:
    """Move a vertex and its weight."""
    own = blocks.labels[vertex]
    weight = blocks.vertex_weights[vertex]
    blocks.loads[own] -= weight
    blocks.loads[block] += weight
    blocks.members[own] -= 1
    blocks.members[block] += 1
    blocks.labels[vertex] = block


@kernel
def put_pins(nets: Nets, blocks: Blocks, vertex: int, block: int) -> None:
    """Move a vertex, its weight and its pins."""
    own = blocks.labels[vertex]
    for place in range(nets.starts[vertex], nets.starts[vertex + 1]):
        nets.pins[nets.edges[place], own] -= 1
        nets.pins[nets.edges[place], block] += 1
    put(blocks, vertex, block)


@kernel
def link_sweep(links: Links, blocks: Blocks, order: Array, capacities: Array, least: float) -> int:
    """Visit the vertices in order; move each that gains more than `least`, or whose block is overloaded."""
    changes = np.empty(blocks.loads.shape[0])
    moved = 0
    for i in range(order.shape[0]):
        own = blocks.labels[order[i]]
        if blocks.members[own] > 1:
            link_changes(links, blocks, order[i], changes)
            best = cheapest(changes, blocks, order[i], capacities)
            if best >= 0 and (changes[best] < -least or blocks.loads[own] > capacities[own]):
                put(blocks, order[i], best)
                moved += 1
    return moved


@kernel
def net_sweep(nets: Nets, blocks: Blocks, order: Array, capacities: Array, least: float) -> int:
    """The same on a hypergraph."""
    changes = np.empty(blocks.loads.shape[0])
    moved = 0
    for i in range(order.shape[0]):
        own = blocks.labels[order[i]]
        if blocks.members[own] > 1:
            net_changes(nets, blocks, order[i], changes)
            best = cheapest(changes, blocks, order[i], capacities)
            if best >= 0 and (changes[best] < -least or blocks.loads[own] > capacities[own]):
                put_pins(nets, blocks, order[i], best)
                moved += 1
    return moved


@kernel
def net_losses(nets: Nets, blocks: Blocks, block: int, capacities: Array, losses: Array) -> None:
    """What it costs to move each vertex to `block`, or, when that is -1, out of its overloaded block."""
    changes = np.empty(blocks.loads.shape[0])
    for v in range(losses.shape[0]):
        losses[v] = np.inf
        if block >= 0 or blocks.loads[blocks.labels[v]] > capacities[blocks.labels[v]]:
            net_changes(nets, blocks, v, changes)
            target = block if block >= 0 else cheapest(changes, blocks, v, capacities)
            if target >= 0:
                losses[v] = changes[target]


@kernel
def link_cut(links: Links, labels: Array) -> float:
    """The weight of all entries between different blocks; an edge has two."""
    total = 0.0
    for v in range(labels.shape[0]):
        own = labels[v]
        for e in range(links.starts[v], links.starts[v + 1]):
            if labels[links.ends[e]] != own:
                total += links.weights[e]
    return total
