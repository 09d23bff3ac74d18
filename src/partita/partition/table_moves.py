"""The compiled loops that move vertices of graphs which are never written out, but follow from a table of labels.

Two graphs: every row joined to the clusters it is in (vertices: the rows, then the clusters), and every two rows joined
by the labels they share (vertices: the rows).
"""

from typing import NamedTuple

import numpy as np

from partita.kernels.compiling import Array, kernel
from partita.partition.moves import Blocks, cheapest, put


class Table(NamedTuple):
    """Rows of labels, and the rows' weight in each cluster and block; follows the moves."""

    labels: Array
    """(m, r), below 0 where unknown."""
    offsets: Array
    """(r + 1,) where each column's clusters begin among all."""
    edges: Array
    """(r,) what a label of each column weighs."""
    counts: Array
    """(m,) what each row weighs."""
    shares: Array
    """(t, k) the weight of the rows of each cluster in each block."""
    pairs: bool
    """Rows joined to rows, not to clusters."""


@kernel
def count_shares(table: Table, labels: Array) -> None:
    """Fill the shares for a division."""
    for i in range(table.labels.shape[0]):
        for j in range(table.labels.shape[1]):
            if table.labels[i, j] >= 0:
                table.shares[table.offsets[j] + table.labels[i, j], labels[i]] += table.counts[i]


@kernel
def row_changes(table: Table, blocks: Blocks, row: int, changes: Array) -> None:
    """What each block would cost a row."""
    rows, weight = table.labels.shape[0], table.counts[row]
    for b in range(changes.shape[0]):
        changes[b] = 0.0
    for j in range(table.labels.shape[1]):
        if table.labels[row, j] >= 0:
            cluster = table.offsets[j] + table.labels[row, j]
            if table.pairs:
                for b in range(changes.shape[0]):
                    changes[b] -= table.edges[j] * table.shares[cluster, b]
                changes[blocks.labels[row]] += table.edges[j] * weight
            else:
                changes[blocks.labels[rows + cluster]] -= table.edges[j]
    stay = changes[blocks.labels[row]]
    for b in range(changes.shape[0]):
        changes[b] = (changes[b] - stay) * weight


@kernel
def table_changes(table: Table, blocks: Blocks, vertex: int, changes: Array) -> None:
    """What each block would cost a row or a cluster."""
    if vertex < table.labels.shape[0]:
        row_changes(table, blocks, vertex, changes)
        return
    cluster = vertex - table.labels.shape[0]
    column = np.searchsorted(table.offsets, cluster, side="right") - 1
    stay = table.shares[cluster, blocks.labels[vertex]]
    for b in range(changes.shape[0]):
        changes[b] = (stay - table.shares[cluster, b]) * table.edges[column]


@kernel
def put_row(table: Table, blocks: Blocks, vertex: int, block: int) -> None:
    """Move a row or a cluster."""
    if vertex < table.labels.shape[0]:
        own, weight = blocks.labels[vertex], table.counts[vertex]
        for j in range(table.labels.shape[1]):
            if table.labels[vertex, j] >= 0:
                cluster = table.offsets[j] + table.labels[vertex, j]
                table.shares[cluster, own] -= weight
                table.shares[cluster, block] += weight
    put(blocks, vertex, block)


@kernel
def table_sweep(table: Table, blocks: Blocks, order: Array, capacities: Array, least: float) -> int:
    """Visit the vertices in order; move each that gains more than `least`, or whose block is overloaded."""
    changes = np.empty(blocks.loads.shape[0])
    moved = 0
    for i in range(order.shape[0]):
        own = blocks.labels[order[i]]
        if blocks.members[own] > 1:
            table_changes(table, blocks, order[i], changes)
            best = cheapest(changes, blocks, order[i], capacities)
            if best >= 0 and (changes[best] < -least or blocks.loads[own] > capacities[own]):
                put_row(table, blocks, order[i], best)
                moved += 1
    return moved


@kernel
def table_losses(table: Table, blocks: Blocks, block: int, capacities: Array, losses: Array) -> None:
    """What it costs to move each vertex to a block; for -1, out of its overloaded block to the cheapest with room."""
    changes = np.empty(blocks.loads.shape[0])
    for v in range(losses.shape[0]):
        losses[v] = np.inf
        own = blocks.labels[v]
        if block >= 0 or blocks.loads[own] > capacities[own]:
            table_changes(table, blocks, v, changes)
            best = block if block >= 0 else cheapest(changes, blocks, v, capacities)
            if best >= 0:
                losses[v] = changes[best]
