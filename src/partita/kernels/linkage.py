"""Hierarchical clustering of co-associations without their matrix: the loops over pairs of rows.

Average and complete linkage go by the nearest-neighbour chain. What a lone row shares with the others is counted from
the labels whenever it is needed; only clusters of two rows and more, of which there are never more than n/2, keep a row
of similarities. A kept row is not changed when others merge: merges are written to a log, and the row catches up with
the log when it is next read, so that all memory is read and written in its order.
"""

from typing import NamedTuple

import numpy as np

from partita.kernels.agreement import Table, first_largest, share_labels
from partita.kernels.compiling import Array, kernel

MERGES, LENGTH, FREE, TURN = 0, 1, 2, 3
"""Places in `Chain.state`: merges made, elements in the chain, free slots, the scratch row to use next."""
SCRATCH = 2
"""Rows of `Chain.rows` that hold lone rows, for as long as nothing else needs them."""


class Chain(NamedTuple):
    """The state of the nearest-neighbour chain between two slices of work."""

    counts: Array
    """(n,) float32: objects each row stands for (1 each for complete linkage)."""
    masses: Array
    """(n,) float32: objects in each cluster (1 each for complete linkage); a cluster goes by one of its rows."""
    rows: Array
    """(slots, n) float32: sums (average) or minima (complete) of similarities to each cluster, negative where none."""
    slots: Array
    """(n,) the row of `rows` that belongs to a cluster, -1 where there is none."""
    stamps: Array
    """(slots,) how much of the log of merges each of `rows` has seen."""
    owners: Array
    """(SCRATCH,) whose row each scratch row is, -1 for nobody's."""
    free: Array
    """(slots,) a stack of slots that belong to nobody."""
    chain: Array
    """(n,) each element is the nearest cluster of the one before."""
    linked: Array
    """(n,) whether a cluster is in the chain."""
    means: Array
    """(n,) float32 scratch: similarity to each cluster, up to a common factor."""
    bits: Array
    """The same memory as int32, in the same order for values from 0, negative for negative values."""
    gone: Array
    """(n - 1,) the log: clusters that were merged into another."""
    kept: Array
    """(n - 1,) the log: clusters they were merged into."""
    similar: Array
    """(n - 1,) float64: the similarity at each merge."""
    state: Array
    """(4,) counters."""


class Tree(NamedTuple):
    """The state of a growing tree of strongest links between two slices of work."""

    nearness: Array
    """(n,) float32: how much each row outside is like the one in the tree that it is most like."""
    bits: Array
    """The same memory as int32, in the same order for values from 0."""
    links: Array
    """(n,) which one that is."""
    names: Array
    """(n,) the number of the row that stands at each place of the table."""
    shared: Array
    """(n,) float32 scratch."""
    ones: Array
    """(n,) float32 ones."""
    gone: Array
    """(n - 1,) rows in the order in which they were added, the first left out."""
    kept: Array
    """(n - 1,) the row in the tree that each was added to."""
    similar: Array
    """(n - 1,) float64: the similarity of the two."""
    state: Array
    """(1,) how many were added."""


@kernel
def catch_up(row: Array, gone: Array, kept: Array, start: int, stop: int, average: bool) -> None:
    """Apply merges of others to a row."""
    if average:
        for t in range(start, stop):
            row[kept[t]] += row[gone[t]]
            row[gone[t]] = -1.0
    else:
        for t in range(start, stop):
            row[kept[t]] = min(row[kept[t]], row[gone[t]])
            row[gone[t]] = -1.0


@kernel
def divide(row: Array, masses: Array, out: Array) -> None:
    """Sums as means."""
    for c in range(out.shape[0]):
        out[c] = row[c] / masses[c]


@kernel
def current_row(table: Table, chain: Chain, cluster: int, average: bool) -> int:
    """The slot of a cluster's row, counted anew or brought up to date."""
    merges = chain.state[MERGES]
    slot: int = chain.slots[cluster]
    if slot < 0:
        slot = chain.state[TURN]
        if chain.owners[slot] >= 0:
            chain.slots[chain.owners[slot]] = -1
        chain.owners[slot] = cluster
        chain.slots[cluster] = slot
        chain.stamps[slot] = 0
        share_labels(table, cluster, chain.counts, chain.rows[slot], chain.counts.shape[0])
        chain.rows[slot, cluster] = -1.0
    catch_up(chain.rows[slot], chain.gone, chain.kept, chain.stamps[slot], merges, average)
    chain.stamps[slot] = merges
    if slot < SCRATCH:
        chain.state[TURN] = 1 - slot
    return slot


@kernel
def copy(row: Array, out: Array) -> None:
    """The same values elsewhere."""
    for c in range(row.shape[0]):
        out[c] = row[c]


@kernel
def unite(into: Array, other: Array, average: bool) -> None:
    """What the union of two clusters shares with each other cluster."""
    if average:
        for c in range(into.shape[0]):
            into[c] += other[c]
    else:
        for c in range(into.shape[0]):
            into[c] = min(into[c], other[c])


@kernel
def unite_rows(chain: Chain, kept: int, gone: int, average: bool) -> None:
    """Give `kept` the row of the union, in a slot of its own."""
    a, b = chain.slots[kept], chain.slots[gone]
    if a < SCRATCH:
        a, b = b, a
    target = a
    if a < SCRATCH:
        chain.state[FREE] -= 1
        target = chain.free[chain.state[FREE]]
        copy(chain.rows[a], chain.rows[target])
    into = chain.rows[target]
    unite(into, chain.rows[b], average)
    for slot in (a, b):
        if slot < SCRATCH:
            chain.owners[slot] = -1
        elif slot != target:
            chain.free[chain.state[FREE]] = slot
            chain.state[FREE] += 1
    into[kept] = into[gone] = -1.0
    chain.slots[kept], chain.slots[gone] = target, -1


@kernel
def merge_top(table: Table, chain: Chain, average: bool) -> None:
    """Merge the last two elements of the chain, which are nearest to each other, and log it."""
    state = chain.state
    state[LENGTH] -= 2
    x, y = chain.chain[state[LENGTH]], chain.chain[state[LENGTH] + 1]
    chain.linked[x] = chain.linked[y] = False
    kept, gone = min(x, y), max(x, y)
    slot = current_row(table, chain, kept, average)
    current_row(table, chain, gone, average)
    merge = state[MERGES]
    masses = chain.masses
    chain.similar[merge] = chain.rows[slot, gone] / (np.float64(masses[kept]) * np.float64(masses[gone]))
    unite_rows(chain, kept, gone, average)
    chain.gone[merge], chain.kept[merge] = gone, kept
    state[MERGES] += 1
    chain.stamps[chain.slots[kept]] = state[MERGES]
    if average:
        masses[kept] += masses[gone]


@kernel
def grow_chain(table: Table, chain: Chain, average: bool, scans: int) -> None:
    """Read so many rows, each to find what is nearest to the end of the chain, and merge the pairs found.

    The first of equally near clusters wins, but the one before in the chain wins over all. Rounding may make one
    further down the chain look nearer than the one before; it is as near, so the one before is taken.
    """
    state, links, means, masses = chain.state, chain.chain, chain.means, chain.masses
    size = means.shape[0]
    for _ in range(scans):
        if state[MERGES] == size - 1:
            return
        if state[LENGTH] == 0:
            links[0] = chain.kept[state[MERGES] - 1] if state[MERGES] > 0 else 0
            chain.linked[links[0]] = True
            state[LENGTH] = 1
        tip = links[state[LENGTH] - 1]
        divide(chain.rows[current_row(table, chain, tip, average)], masses, means)
        nearest = first_largest(chain.bits, size)
        if state[LENGTH] > 1:
            before = links[state[LENGTH] - 2]
            if means[before] == means[nearest] or chain.linked[nearest]:
                nearest = before
            if nearest == before:
                merge_top(table, chain, average)
                continue
        links[state[LENGTH]] = nearest
        chain.linked[nearest] = True
        state[LENGTH] += 1


@kernel
def take_nearer(shared: Array, name: int, nearness: Array, links: Array) -> None:
    """Link each row outside the tree to `name` where it is more like that than what it is linked to."""
    for c in range(shared.shape[0]):
        if shared[c] > nearness[c]:
            nearness[c] = shared[c]
            links[c] = name


@kernel
def grow_tree(table: Table, tree: Tree, steps: int) -> None:
    """Add so many rows to the tree of strongest links: each time the row most like one that is in it.

    Rows outside the tree stand at the beginning of the table, followed by the one that was added last.
    """
    labels, nearness, links, names, state = table.labels, tree.nearness, tree.links, tree.names, tree.state
    for _ in range(steps):
        merge = state[MERGES]
        outside = labels.shape[1] - 1 - merge
        if outside == 0:
            return
        share_labels(table, outside, tree.ones, tree.shared, outside)
        take_nearer(tree.shared[:outside], names[outside], nearness[:outside], links[:outside])
        found, last = first_largest(tree.bits, outside), outside - 1
        tree.gone[merge], tree.kept[merge], tree.similar[merge] = names[found], links[found], nearness[found]
        for j in range(labels.shape[0]):
            labels[j, found], labels[j, last] = labels[j, last], labels[j, found]
        names[found], names[last] = names[last], names[found]
        nearness[found], links[found] = nearness[last], links[last]
        state[MERGES] += 1


@kernel
def settle_heights(heights: Array, kept: Array, gone: Array, latest: Array) -> None:
    """Lift each merge of a log to the heights of the two clusters it merges, where rounding left it below.

    `latest` holds -1 for each row.
    """
    for t in range(heights.shape[0]):
        for cluster in (kept[t], gone[t]):
            if latest[cluster] >= 0:
                heights[t] = max(heights[t], heights[latest[cluster]])
        latest[kept[t]] = t


@kernel
def root_of(parents: Array, element: int) -> int:
    """The first of an element's set, with the way there halved."""
    while parents[element] != element:
        parents[element] = parents[parents[element]]
        element = parents[element]
    return element


@kernel
def join_pairs(first: Array, second: Array, parents: Array) -> None:
    """Unite the sets of each pair; `parents` leads each element towards the first of its set."""
    for t in range(first.shape[0]):
        a, b = root_of(parents, first[t]), root_of(parents, second[t])
        parents[max(a, b)] = min(a, b)
    for i in range(parents.shape[0]):
        parents[i] = root_of(parents, i)
