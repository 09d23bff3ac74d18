"""Weighted graphs into k balanced blocks that cut as little edge weight as possible."""

from collections.abc import Sequence

import numpy as np
from numpy.random import Generator

from partita.core.types import IntArray, frozen
from partita.partition import exact
from partita.partition.blocks import Limits, Partition, checked_blocks, pack, set_limits
from partita.partition.edges import Graph
from partita.partition.runs import ON_SAMPLE, GraphOptions, compared, notes_on, sample_note, sample_size

__all__ = ["Graph", "GraphOptions", "partition_graph"]


def partition_graph(
    graph: Graph, k: int, options: GraphOptions, rng: Generator, starts: Sequence[IntArray] = ()
) -> Partition:
    """Divide the vertices into k blocks of nearly equal weight so that little edge weight lies between blocks.

    Small graphs are solved exactly. Others are given to a partitioner several times, vertices shuffled from the seed,
    and what it returns, and the starts of the caller's, are made feasible and improved by single moves. Where the cuts
    do not agree a run may have collapsed, as METIS does on most bipartite graphs, and the other partitioners are asked
    as well. The lowest cut among the divisions within the capacity (see `blocks.set_limits`) is kept.
    """
    k = checked_blocks(k, len(graph))
    limits = set_limits(graph.vertex_weights, k, options.imbalance)
    if k in (1, len(graph)):
        found = [graph.found(np.arange(len(graph), dtype=np.int32) % k, limits, "only one")]
    elif len(graph.ends) == 0:
        found = [graph.found(pack(graph.vertex_weights, k, rng), limits, "packing")]
    elif exact.few_divisions(len(graph), k):
        found = [graph.found(_best_of_all(graph, limits, rng), limits, "exact")]
    else:
        found = compared(graph, limits, options, rng, starts)
    best = min(found, key=lambda one: one.rank)
    tries = tuple(one.as_try() for one in found)
    notes = limits.notes + notes_on(found, options)
    if best.name == ON_SAMPLE:
        notes += (sample_note(graph.left or 0, sample_size(k)),)
    return Partition(frozen(best.labels), best.cut, best.balance, best.name, tries, notes)


def _best_of_all(graph: Graph, limits: Limits, rng: Generator) -> IntArray:
    table = exact.all_divisions(len(graph), limits.k)
    sources = np.repeat(np.arange(len(graph)), np.diff(graph.starts))
    costs = np.zeros(len(table))
    for a, b, weight in zip(sources.tolist(), graph.ends.tolist(), graph.weights.tolist(), strict=True):
        if a < b:
            costs += weight * (table[:, a] != table[:, b])
    best = exact.best_division(table, costs, graph.vertex_weights, limits)
    return np.asarray(table[rng.choice(np.flatnonzero(best))], np.int32)
