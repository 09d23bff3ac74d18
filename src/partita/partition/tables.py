"""Graphs that follow from a table of labels, divided without writing them out.

`MemberGraph` joins every row to the clusters it is in, `PairGraph` every two rows by the labels they share.
"""

from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np
from numpy.random import Generator
from scipy import sparse

from partita.core.ensemble import Ensemble
from partita.core.sampling import draw_sample
from partita.core.threads import map_chunks
from partita.core.types import MISSING, FloatArray, IntArray, frozen
from partita.kernels.scores import assign_rows
from partita.partition.blocks import Found, Limits, Partition, checked_blocks, loads_of, pack_within, set_limits
from partita.partition.edges import Graph
from partita.partition.graph import partition_graph
from partita.partition.improve import LEAST, blocks_of, improve
from partita.partition.moves import Blocks
from partita.partition.runs import AGREEMENT, SAME, GraphOptions, agree, notes_on, sample_note, sample_size
from partita.partition.table_moves import Table, count_shares, put_row, table_losses, table_sweep

MORE_TRIES: Final = 2
MOST_ROWS: Final = 400_000
"""Rows over all runs that are compared beyond those needed to agree."""


@dataclass(frozen=True, slots=True)
class TableMover:
    """A divided graph of a table; see `improve.Mover`."""

    table: Table
    blocks: Blocks
    total: float

    def sweep(self, order: IntArray, capacities: FloatArray) -> int:
        """See `Mover`."""
        return table_sweep(self.table, self.blocks, order, capacities, LEAST * self.total)

    def losses(self, block: int, capacities: FloatArray) -> FloatArray:
        """See `Mover`."""
        found = np.empty(len(self.blocks.labels))
        table_losses(self.table, self.blocks, block, capacities, found)
        return found

    def put(self, vertex: int, block: int) -> None:
        """See `Mover`."""
        put_row(self.table, self.blocks, vertex, block)


@dataclass(frozen=True, slots=True)
class TableGraph:
    """A graph that an ensemble implies; a label of clustering j weighs edges[j]."""

    ensemble: Ensemble
    edges: FloatArray
    pairs: bool
    """Rows joined to rows by shared labels; otherwise rows joined to clusters, which come after them."""

    @property
    def vertex_weights(self) -> FloatArray:
        """How many objects a row stands for; 1 for a cluster."""
        counts = self.ensemble.counts
        return counts if self.pairs else np.concatenate([counts, np.ones(int(self.ensemble.offsets[-1]))])

    def table(self, labels: IntArray, k: int) -> Table:
        """The table with the shares of a division."""
        part = self.ensemble
        shares = np.zeros((int(part.offsets[-1]), k))
        table = Table(part.labels, part.offsets, self.edges, part.counts, shares, self.pairs)
        count_shares(table, labels)
        return table

    def cut(self, labels: IntArray, shares: FloatArray) -> float:
        """The weight of the edges between different blocks."""
        edges = np.repeat(self.edges, self.ensemble.sizes)
        totals = shares.sum(axis=1)
        if self.pairs:
            return float(edges @ (totals**2 - (shares**2).sum(axis=1))) / 2.0
        own = labels[len(self.ensemble) :]
        return float(edges @ (totals - shares[np.arange(len(own)), own]))

    def improved(self, labels: IntArray, limits: Limits, name: str, rng: Generator) -> Found:
        """The labels made feasible and swept, with their worth."""
        blocks = blocks_of(labels, self.vertex_weights, limits.k)
        table = self.table(labels, limits.k)
        improve(TableMover(table, blocks, float(self.edges.sum() * self.ensemble.counts.sum())), limits, rng)
        cut = self.cut(blocks.labels, self.table(blocks.labels, limits.k).shares)
        loads = loads_of(blocks.labels, blocks.vertex_weights, limits.k)
        return Found(blocks.labels, cut, loads, limits.excess(blocks.labels, loads), name)


def partition_members(
    ensemble: Ensemble, edges: FloatArray, k: int, options: GraphOptions, rng: Generator
) -> Partition:
    """Divide rows and clusters together so that little membership lies between blocks; rows come first.

    A small graph is written out. In a large one a sample of the rows divides the clusters, every row follows the
    clusters it is in, and single moves improve the whole.
    """
    graph = TableGraph(ensemble, edges, pairs=False)
    k = checked_blocks(k, len(graph.vertex_weights))
    everyone = np.arange(len(ensemble))
    if len(ensemble) <= 2 * sample_size(k):
        whole = bipartite(ensemble, edges, everyone, ensemble.counts)
        return partition_graph(whole, k, options, rng)
    limits = set_limits(graph.vertex_weights, k, options.imbalance)
    runs = max(options.tries, min(options.runs, MOST_ROWS // len(ensemble)))
    found: list[Found] = []
    for run in range(runs + MORE_TRIES):
        tool = options.partitioner if options.partitioner != "auto" else "metis" if run else "kahip"
        start = by_sample(graph, limits, GraphOptions(tool, options.imbalance, tries=1), rng)
        found.append(graph.improved(start, limits, f"{tool} on a sample", rng))
        if agree(found, options.tries, AGREEMENT if run + 1 >= runs else SAME):
            break
    if all(one.excess > 0.0 for one in found):
        found.append(graph.improved(pack_within(graph.vertex_weights, limits, rng), limits, "packing", rng))
    best = min(found, key=lambda one: one.rank)
    tries = tuple(one.as_try() for one in found)
    notes = limits.notes + notes_on(found, options)
    if best.name != "packing":
        notes += (sample_note(len(ensemble), sample_size(k)),)
    return Partition(frozen(best.labels), best.cut, best.balance, best.name, tries, notes)


def bipartite(ensemble: Ensemble, edges: FloatArray, rows: IntArray, weights: FloatArray) -> Graph:
    """The graph of some rows, which weigh so much, and all clusters."""
    labels = ensemble.labels[rows]
    known = labels != MISSING
    columns = (labels + ensemble.offsets[:-1])[known]
    starts = np.concatenate([[0], np.cumsum(known.sum(axis=1))])
    data = (weights[:, None] * edges)[known]
    clusters = int(ensemble.offsets[-1])
    return Graph.from_bipartite(sparse.csr_array((data, columns, starts), shape=(len(rows), clusters)), weights)


def by_sample(graph: TableGraph, limits: Limits, options: GraphOptions, rng: Generator) -> IntArray:
    """Blocks of all vertices: clusters by a sample of the rows, rows by the clusters they are in.

    A row that fills a block alone is always in the sample and keeps the block it has there.
    """
    ensemble, k = graph.ensemble, limits.k
    sample, scale = draw_sample(ensemble.counts, sample_size(k), rng)
    small = bipartite(ensemble, graph.edges, sample, ensemble.counts[sample] * scale)
    divided = partition_graph(small, k, options, rng).labels
    clusters = divided[len(sample) :]
    tables = np.zeros((len(clusters), k))
    tables[np.arange(len(clusters)), clusters] = np.repeat(graph.edges, ensemble.sizes)
    labels, best = np.empty(len(ensemble), np.int32), np.empty(len(ensemble))
    work = partial(assign_rows, ensemble.labels, ensemble.offsets, tables, np.zeros(k), labels, best)
    map_chunks(work, len(ensemble))
    labels[limits.heavy] = divided[np.searchsorted(sample, limits.heavy)]
    return np.concatenate([labels, clusters])


def improve_pairs(
    ensemble: Ensemble, edges: FloatArray, found: Partition, imbalance: float, rng: Generator
) -> Partition:
    """A division of the rows improved by single moves on the graph of shared labels, all pairs counted."""
    k = int(found.labels.max()) + 1
    limits = set_limits(ensemble.counts, k, imbalance)
    best = TableGraph(ensemble, edges, pairs=True).improved(found.labels, limits, "all pairs", rng)
    return Partition(frozen(best.labels), best.cut, best.balance, best.name, (*found.tries, best.as_try()), found.notes)
