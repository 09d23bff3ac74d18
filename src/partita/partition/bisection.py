"""Recursive bisection of a hypergraph into k blocks, as HMETIS does it (Karypis and Kumar 1999)."""

import math
from typing import Literal

import numpy as np
from numpy.random import Generator

from partita.core.types import BoolArray, IntArray
from partita.partition.blocks import pack
from partita.partition.native import WholeHypergraph, run_mtkahypar


def divide(graph: WholeHypergraph, capacities: list[int], objective: Literal["cut", "km1"], rng: Generator) -> IntArray:
    """Return the blocks from one call of Mt-KaHyPar; block b may weigh `capacities[b]`.

    The vertices are shuffled, because the deterministic mode of Mt-KaHyPar ignores seeds.
    """
    order = rng.permutation(len(graph.vertex_weights))
    position = np.empty(len(order), np.int32)
    position[order] = np.arange(len(order), dtype=np.int32)
    shuffled = graph._replace(pins=position[graph.pins], vertex_weights=graph.vertex_weights[order])
    labels = np.empty(len(order), np.int32)
    labels[order] = run_mtkahypar(shuffled, capacities, objective)
    return labels


def bisect(graph: WholeHypergraph, k: int, capacity: int, objective: Literal["cut", "km1"], rng: Generator) -> IntArray:
    """Return k blocks from repeated division into two parts; a block may weigh `capacity`.

    A part of weight W that will become K blocks is divided into parts for K0 = ⌊K/2⌋ and K1 = ⌈K/2⌉ blocks. Part b may
    weigh ρ W K_b / K with ρ = (K · capacity / W)^(1 / ⌈log₂ K⌉): each level uses an equal share of the imbalance that
    is left, and after the last level no block exceeds the capacity.

    "km1": a hyperedge that is cut stays in both parts with its pins there, and the cuts of all bisections sum to km1.
    "cut": a hyperedge that is cut is removed, and the cuts of all bisections sum to the weight of the cut hyperedges.
    """
    labels = np.zeros(len(graph.vertex_weights), np.int32)
    pending = [(graph, np.arange(len(labels)), 0, k)]
    while pending:
        part, vertices, first, blocks = pending.pop()
        if len(vertices) <= blocks:
            labels[vertices] = first + np.arange(len(vertices))
        elif blocks == 1:
            labels[vertices] = first
        elif len(part.weights) == 0:
            labels[vertices] = first + pack(part.vertex_weights.astype(np.float64), blocks, rng)
        else:
            halves = (blocks // 2, blocks - blocks // 2)
            side = divide(part, part_capacities(int(part.vertex_weights.sum()), halves, capacity), "cut", rng)
            for b, start in ((0, first), (1, first + halves[0])):
                inside = side == b
                pending.append((restrict(part, inside, objective == "cut"), vertices[inside], start, halves[b]))
    return labels


def part_capacities(total: int, halves: tuple[int, int], capacity: int) -> list[int]:
    """Return what each of two parts may weigh; see `bisect`.

    >>> part_capacities(7, (1, 2), 3), part_capacities(400, (5, 5), 42)
    ([3, 5], [202, 202])
    """
    blocks = sum(halves)
    ratio = max(1.0, blocks * capacity / total) ** (1.0 / math.ceil(math.log2(blocks)))
    return [
        max(min(int(ratio * total * own / blocks * (1.0 + 1e-9)), own * capacity), -(-total * own // blocks))
        for own in halves
    ]


def restrict(graph: WholeHypergraph, inside: BoolArray, remove_cut: bool) -> WholeHypergraph:
    """Return the hypergraph of the vertices inside, without hyperedges of fewer than two pins (or without cut ones)."""
    sizes = np.diff(graph.starts)
    edges = np.repeat(np.arange(len(sizes)), sizes)
    kept_pins = inside[graph.pins]
    counts = np.bincount(edges[kept_pins], minlength=len(sizes))
    keep = (counts == sizes) if remove_cut else (counts > 1)
    kept_pins &= keep[edges]
    position = np.cumsum(inside, dtype=np.int32) - 1
    starts = np.concatenate([[0], np.cumsum(counts[keep])])
    return WholeHypergraph(starts, position[graph.pins[kept_pins]], graph.weights[keep], graph.vertex_weights[inside])
