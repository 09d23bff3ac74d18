"""Weighted hypergraphs into k balanced blocks that cut as few hyperedges as possible."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.random import Generator
from scipy import sparse

from partita.core.errors import ParameterError
from partita.core.types import FloatArray, IntArray, frozen
from partita.partition import exact, native
from partita.partition.bisection import bisect, divide
from partita.partition.blocks import (
    SLACK,
    Found,
    Limits,
    Partition,
    checked_blocks,
    checked_options,
    checked_weights,
    loads_of,
    pack,
    pack_within,
    set_limits,
    whole_weights,
)
from partita.partition.improve import NetMover, blocks_of, improve
from partita.partition.moves import Nets


class NamedStart(NamedTuple):
    """A division to improve, and its name in the record."""

    name: str
    labels: IntArray


@dataclass(frozen=True, slots=True)
class HypergraphOptions:
    """How to divide a hypergraph."""

    objective: Literal["cut", "km1"] = "cut"
    """"cut" counts each hyperedge that touches several blocks once, "km1" once for each block beyond the first."""
    imbalance: float = 0.05
    """How far the heaviest block may exceed the mean, as a share of it."""
    tries: int = 1
    """How many runs are compared, each on its own shuffle of the vertices; 0 only with starts of the caller's."""
    mode: Literal["direct", "bisection"] = "direct"
    """"direct" makes the k blocks at once, "bisection" divides into two parts again and again; see `bisect`."""

    def __post_init__(self) -> None:
        checked_options(self, {"objective": ("cut", "km1"), "mode": ("direct", "bisection")}, least_tries=0)


@dataclass(frozen=True, eq=False)
class Hypergraph:
    """Hyperedges over weighted vertices; build it with `from_sparse` or `from_edges`."""

    starts: IntArray
    """(m + 1,) int64: the pins of hyperedge e are `pins[starts[e]:starts[e + 1]]`, at least two, all different."""
    pins: IntArray
    """int32 vertices."""
    weights: FloatArray
    """(m,) positive."""
    vertex_weights: FloatArray
    """(n,) positive."""

    @classmethod
    def from_sparse(cls, matrix: Any, weights: Any = None, vertex_weights: Any = None) -> "Hypergraph":
        """From a SciPy matrix whose rows are vertices and columns hyperedges; an entry that is not 0 is a pin.

        Hyperedges with less than two pins or weight 0 can never be cut and are dropped.
        """
        try:
            table = sparse.csc_array(matrix, copy=True)
        except (TypeError, ValueError):
            raise ParameterError(f"a {type(matrix).__name__} is no incidence matrix; give a SciPy matrix") from None
        if table.ndim != 2 or table.shape[0] == 0:
            raise ParameterError(f"incidences of shape {table.shape} have no vertices; give vertices in rows")
        table.data = (table.data != 0).astype(np.int8)
        table.sum_duplicates()
        table.eliminate_zeros()
        edge_weights = checked_weights(weights, table.shape[1], "hyperedge weights", zero=True)
        keep = np.flatnonzero((np.diff(table.indptr) > 1) & (edge_weights > 0))
        table = table[:, keep]
        return cls(
            frozen(table.indptr.astype(np.int64)),
            frozen(table.indices.astype(np.int32)),
            frozen(edge_weights[keep]),
            checked_weights(vertex_weights, table.shape[0], "vertex weights", zero=False),
        )

    @classmethod
    def from_edges(
        cls, vertices: int, edges: Iterable[Iterable[int]], weights: Any = None, vertex_weights: Any = None
    ) -> "Hypergraph":
        """From the number of vertices and each hyperedge's vertices."""
        try:
            lists = [np.array(list(edge), np.int64).reshape(-1) for edge in edges]
            pins = np.concatenate([*lists, np.empty(0, np.int64)])
            columns = np.repeat(np.arange(len(lists)), [len(edge) for edge in lists])
            table = sparse.coo_array((np.ones(len(pins), np.int32), (pins, columns)), shape=(vertices, len(lists)))
        except (TypeError, ValueError, OverflowError):
            raise ParameterError(
                f"the hyperedges are not lists of vertices; give numbers 0 to {vertices - 1}"
            ) from None
        return cls.from_sparse(table, weights, vertex_weights)

    def __len__(self) -> int:
        return len(self.vertex_weights)

    def only(self, vertices: IntArray) -> "Hypergraph":
        """The hypergraph of these vertices, given in rising order."""
        if len(vertices) == len(self):
            return self
        shape = len(self), len(self.weights)
        table = sparse.csc_array((np.ones(len(self.pins), np.int8), self.pins, self.starts), shape=shape)
        return Hypergraph.from_sparse(table[vertices], self.weights, self.vertex_weights[vertices])

    def pins_in(self, labels: IntArray, k: int) -> IntArray:
        """(m, k) pins of each hyperedge in each block."""
        edges = np.repeat(np.arange(len(self.weights)), np.diff(self.starts))
        cells = edges * k + labels[self.pins]
        return np.bincount(cells, minlength=len(self.weights) * k).reshape(-1, k).astype(np.int32)

    def cut(self, labels: IntArray, k: int, objective: Literal["cut", "km1"]) -> float:
        """The objective of a division."""
        beyond = np.count_nonzero(self.pins_in(labels, k), axis=1) - 1
        return float(self.weights @ (np.minimum(beyond, 1) if objective == "cut" else beyond))


@dataclass(frozen=True, slots=True)
class _Task:
    """A hypergraph that is being divided."""

    graph: Hypergraph
    limits: Limits
    objective: Literal["cut", "km1"]

    def found(self, labels: IntArray, name: str) -> Found:
        loads = loads_of(labels, self.graph.vertex_weights, self.limits.k)
        cut = self.graph.cut(labels, self.limits.k, self.objective)
        return Found(labels, cut, loads, self.limits.excess(labels, loads), name)

    def improved(self, labels: IntArray, name: str, rng: Generator) -> Found:
        """The labels made feasible and swept, with their worth."""
        graph, k = self.graph, self.limits.k
        seen = sparse.csc_array(
            (np.ones(len(graph.pins), np.int8), graph.pins, graph.starts), shape=(len(graph), len(graph.weights))
        ).tocsr()
        nets = Nets(
            seen.indptr.astype(np.int64),
            seen.indices.astype(np.int32),
            graph.weights,
            np.diff(graph.starts),
            self.graph.pins_in(labels, k),
            self.objective == "km1",
        )
        blocks = blocks_of(labels, graph.vertex_weights, k)
        improve(NetMover(nets, blocks, float(graph.weights.sum())), self.limits, rng)
        return self.found(blocks.labels, name)

    def run(self, mode: Literal["direct", "bisection"], name: str, rng: Generator) -> Found:
        """One run of the partitioner, its answer made feasible and improved."""
        graph, limits = self.graph, self.limits
        others = np.setdiff1d(np.arange(len(graph)), limits.heavy)
        labels = np.empty(len(graph), np.int32)
        labels[others] = _native_labels(graph.only(others), limits.rest, self.objective, mode, rng)
        labels[limits.heavy] = np.arange(limits.rest.k, limits.k)
        return self.improved(labels, name, rng)

    def best_of_all(self, rng: Generator) -> IntArray:
        """The best division, by looking at all."""
        graph, k = self.graph, self.limits.k
        table = exact.all_divisions(len(graph), k)
        costs = np.zeros(len(table))
        for edge, weight in zip(np.split(graph.pins, graph.starts[1:-1]), graph.weights.tolist(), strict=True):
            masks = np.bitwise_or.reduce(np.int64(1) << table[:, edge].astype(np.int64), axis=1)
            beyond = np.bitwise_count(masks).astype(np.int64) - 1
            costs += weight * (np.minimum(beyond, 1) if self.objective == "cut" else beyond)
        best = exact.best_division(table, costs, graph.vertex_weights, self.limits)
        return np.asarray(table[rng.choice(np.flatnonzero(best))], np.int32)

    def compared(self, options: HypergraphOptions, starts: Sequence[NamedStart], rng: Generator) -> list[Found]:
        """The runs and the starts, improved; a packing too when none is within the capacity."""
        found = [self.run(options.mode, f"{options.mode}, run {run + 1}", rng) for run in range(options.tries)]
        found += [self.improved(labels, name, rng) for name, labels in starts]
        if all(one.excess > 0.0 for one in found):
            found.append(self.improved(pack_within(self.graph.vertex_weights, self.limits, rng), "packing", rng))
        return found


def _native_labels(
    graph: Hypergraph,
    limits: Limits,
    objective: Literal["cut", "km1"],
    mode: Literal["direct", "bisection"],
    rng: Generator,
) -> IntArray:
    """(n,) the blocks that the partitioner makes of the hypergraph, in whole weights."""
    if limits.k == 1:
        return np.zeros(len(graph), np.int32)
    if len(graph.weights) == 0:
        return pack(graph.vertex_weights, limits.k, rng)
    weights = whole_weights(graph.weights, native.HYPERGRAPH_SUM // limits.k)
    most = int(native.HYPERGRAPH_SUM / (1.0 + limits.imbalance))  # the capacities of all blocks must add up too
    vertices = whole_weights(graph.vertex_weights, most)
    total = int(vertices.sum())
    capacity = max(int((1.0 + limits.imbalance) * total / limits.k * (1.0 + SLACK)), -(-total // limits.k))
    whole = native.WholeHypergraph(graph.starts, graph.pins, weights, vertices)
    if mode == "bisection":
        return bisect(whole, limits.k, capacity, objective, rng)
    return divide(whole, [capacity] * limits.k, objective, rng)


def partition_hypergraph(
    hypergraph: Hypergraph, k: int, options: HypergraphOptions, rng: Generator, starts: Sequence[NamedStart] = ()
) -> Partition:
    """Divide the vertices into k blocks of nearly equal weight so that few hyperedges, by weight, touch several.

    Small hypergraphs are solved exactly. Others are given to Mt-KaHyPar in its deterministic mode. The blocks that it
    returns, and the caller's starts, are made feasible and improved by single moves. The lowest objective among the
    divisions within the capacity (see `blocks.set_limits`) is kept; `Partition.kept` is its name.
    """
    k = checked_blocks(k, len(hypergraph))
    limits = set_limits(hypergraph.vertex_weights, k, options.imbalance)
    task = _Task(hypergraph, limits, options.objective)
    if k in (1, len(hypergraph)):
        found = [task.found(np.arange(len(hypergraph), dtype=np.int32) % k, "only one")]
    elif len(hypergraph.weights) == 0:
        found = [task.found(pack(hypergraph.vertex_weights, k, rng), "packing")]
    elif exact.few_divisions(len(hypergraph), k):
        found = [task.found(task.best_of_all(rng), "exact")]
    else:
        found = task.compared(options, starts, rng)
    best = min(found, key=lambda one: one.rank)
    tries = tuple(one.as_try() for one in found)
    return Partition(frozen(best.labels), best.cut, best.balance, best.name, tries, limits.notes)
