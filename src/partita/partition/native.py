"""The native partitioners: one call each, quiet, one at a time, with whole weights that cannot overflow.

None of them is known to be safe in several threads at once, and two keep one random state a process; a lock, renewed in
a forked child, makes every call as if it were the only one.
"""

import os
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import repeat
from typing import Any, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partita.core.types import IntArray

METIS_SUM: Final = 1 << 48
"""METIS counts in 64 bits; this leaves room for products with the number of blocks."""
KAHIP_SUM: Final = 1 << 30
"""KaHIP counts in 32 bits; all entries together, both directions, must fit even when each is rounded up."""
MOST_KAHIP_ENTRIES: Final = 1 << 30
HYPERGRAPH_SUM: Final = 1 << 30
"""Mt-KaHyPar counts in 32 bits and does not say when they are too few."""
HYPERGRAPH_THREADS: Final = 1
"""More were no faster on 200 hyperedges, and one has no workers that a forked child would miss."""

_lock = threading.Lock()


def _renew_lock() -> None:
    """In a forked child: whoever held the lock is not there."""
    global _lock
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)


class WholeGraph(NamedTuple):
    """A graph in compressed rows with whole weights; None where all are equal."""

    starts: IntArray
    ends: IntArray
    weights: NDArray[np.int64] | None
    vertex_weights: NDArray[np.int64] | None


@dataclass(frozen=True, slots=True)
class Order:
    """What is asked of a partitioner."""

    k: int
    imbalance: float
    """How far the heaviest block may exceed the mean, as a share of it."""
    seed: int


def run_metis(graph: WholeGraph, order: Order, two_hop: bool = True) -> IntArray:
    """METIS multilevel k-way partition."""
    import pymetis

    options = pymetis.Options(seed=order.seed, ufactor=max(1, int(np.ceil(min(order.imbalance, 1e6) * 1000.0 - 1e-6))))
    if not two_hop:
        options.no2hop = 1
    adjacency = pymetis.CSRAdjacency(_wide(graph.starts), _wide(graph.ends))
    with _lock:
        found = pymetis.part_graph(
            order.k,
            adjacency,
            vweights=_wide(graph.vertex_weights),
            eweights=_wide(graph.weights),
            recursive=False,
            options=options,
        )
    return np.array(found.vertex_part, np.int32)


def _wide(array: IntArray | None) -> Any:
    return None if array is None else np.ascontiguousarray(array, dtype=np.int64)


def run_kahip(graph: WholeGraph, order: Order) -> IntArray:
    """KaHIP's KaFFPa with label-propagation coarsening, which does not mind bipartite graphs."""
    import kahip

    vertices, entries = len(graph.starts) - 1, len(graph.ends)
    total = vertices if graph.vertex_weights is None else int(graph.vertex_weights.sum())
    even = -(-total // order.k)
    # its bound is a multiple of the rounded mean, and 0 asks for another algorithm, whose memory grows with the weights
    imbalance = max((1.0 + order.imbalance) * total / order.k / even - 1.0, 1e-6)
    with _lock:
        _, blocks = kahip.kaffpa(
            _stream(graph.vertex_weights, vertices),
            _stream(graph.starts, vertices + 1),
            _stream(graph.weights, entries),
            _stream(graph.ends, entries),
            order.k,
            imbalance,
            True,
            order.seed,
            kahip.FASTSOCIAL,
        )
    return np.array(blocks, np.int32)


def _stream(array: IntArray | None, count: int) -> Iterable[int]:
    """Integers one after the other, as the binding reads them; a memory view makes them faster than an array."""
    return repeat(1, count) if array is None else np.ascontiguousarray(array, dtype=np.int32).data


class WholeHypergraph(NamedTuple):
    """A hypergraph with whole weights."""

    starts: IntArray
    """(m + 1,) the pins of hyperedge e are `pins[starts[e]:starts[e + 1]]`."""
    pins: IntArray
    weights: NDArray[np.int64]
    vertex_weights: NDArray[np.int64]


def run_mtkahypar(graph: WholeHypergraph, capacities: list[int], objective: Literal["cut", "km1"]) -> IntArray:
    """Mt-KaHyPar in its deterministic mode; block b may weigh `capacities[b]`."""
    import mtkahypar

    edges = [edge.tolist() for edge in np.split(graph.pins, graph.starts[1:-1])]
    with _lock:
        library = mtkahypar.initialize(HYPERGRAPH_THREADS, False)
        context = library.context_from_preset(mtkahypar.PresetType.DETERMINISTIC)
        goal = mtkahypar.Objective.CUT if objective == "cut" else mtkahypar.Objective.KM1
        context.set_partitioning_parameters(len(capacities), 0.05, goal)
        context.set_individual_target_block_weights(capacities)
        context.logging = False
        native = library.create_hypergraph(
            context,
            len(graph.vertex_weights),
            len(edges),
            edges,
            graph.vertex_weights.tolist(),
            graph.weights.tolist(),
        )
        blocks = native.partition(context).get_partition()
    return np.array(blocks, np.int32)
