"""EAC: evidence accumulation, hierarchical clustering of how often objects are put together (Fred and Jain 2005)."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.random import Generator

from partita.core.consensus import Consensus
from partita.core.ensemble import Ensemble
from partita.core.errors import MethodError
from partita.core.memory import GIGABYTE, available_memory
from partita.core.method import Method
from partita.core.params import setting
from partita.core.progress import report
from partita.core.types import FloatArray, IntArray
from partita.kernels.agreement import BLOCK, Table
from partita.kernels.linkage import (
    MERGES,
    SCRATCH,
    Chain,
    Tree,
    grow_chain,
    grow_tree,
    join_pairs,
    settle_heights,
)

MOST_EXACT = 2.0**24
"""Whole numbers up to this are exact in single precision."""
SLICE = 2_000_000
"""Pairs looked at between two reports of progress."""
SHOWN = 20
"""Merge heights kept in the result."""


@dataclass(frozen=True, slots=True)
class Params:
    """Settings of EAC."""

    linkage: Literal["average", "single", "complete"] = setting(
        "average", "how far apart clusters are: the mean, least or greatest distance of their objects"
    )
    max_memory: float = setting(
        4.0,
        "the most GB that average and complete linkage may need, at worst 2 bytes times the square of the number of "
        "distinct rows; single linkage needs none to speak of",
        low=0.0,
    )


class Merges(NamedTuple):
    """A hierarchy over rows, from the nearest pair to the last."""

    first: IntArray
    second: IntArray
    """A row of either of the two clusters merged."""
    heights: FloatArray
    """Their distance, which never falls."""


def fit(ensemble: Ensemble, k: int, params: Params, rng: Generator) -> Consensus:
    """Merge the nearest clusters until k are left, on one row a distinct row with its multiplicity.

    The similarity of two objects is the weighted share of clusterings, among those known in both, in which they share
    a label, and 0 where no clustering is known in both; their distance is 1 less that. Objects with the same labels
    are at distance 0 and merged from the start.
    """
    size = len(ensemble)
    if params.linkage != "single":
        check_memory(size, params.max_memory)
    merges = single_merges(ensemble) if params.linkage == "single" else chain_merges(ensemble, params.linkage)
    made = size - k
    reached = float(merges.heights[made - 1]) if made else 0.0
    detail = {"merge heights": tuple(merges.heights[-SHOWN:].tolist()), "cut height": reached}
    return Consensus.hard(cut(merges, made), k_asked=k, detail=detail)


def needed_memory(size: int) -> int:
    """Bytes at most: a row of single-precision similarities for each cluster of two rows and more, and for two rows."""
    return (size // 2 + SCRATCH) * size * 4


def check_memory(size: int, most: float) -> None:
    """Refuse before memory is taken that may not be taken or is not there."""
    needed, there = needed_memory(size), available_memory()
    if needed > most * GIGABYTE:
        limit, way = f"max_memory allows {most:g} GB", f"set max_memory={np.ceil(needed / GIGABYTE * 10) / 10:g}, "
    elif there is not None and needed > there:
        limit, way = f"{there / GIGABYTE:.3g} GB are available", ""
    else:
        return
    raise MethodError(
        f"eac may need {needed / GIGABYTE:.3g} GB for the {size} distinct rows of this table, and {limit}; {way}"
        'take linkage="single", which needs no such memory, or the methods lwgp or hbgf'
    )


def chain_merges(ensemble: Ensemble, linkage: str) -> Merges:
    """Average or complete linkage by the nearest-neighbour chain."""
    average, size = linkage == "average", len(ensemble)
    table, chain = label_table(ensemble), new_chain(ensemble, average)
    while (done := int(chain.state[MERGES])) < size - 1:
        report(f"eac: {linkage} linkage", done, size - 1)
        grow_chain(table, chain, average, SLICE // size + 1)
    report(f"eac: {linkage} linkage", size - 1, size - 1)
    return in_order(chain, table)


def single_merges(ensemble: Ensemble) -> Merges:
    """Single linkage: the tree of strongest links, grown from one row (Prim)."""
    size = len(ensemble)
    table, tree = label_table(ensemble), new_tree(size)
    while (done := int(tree.state[MERGES])) < size - 1:
        report("eac: single linkage", done, size - 1)
        grow_tree(table, tree, SLICE // size + 1)
    report("eac: single linkage", size - 1, size - 1)
    return in_order(tree, table)


def label_table(ensemble: Ensemble) -> Table:
    """The labels a clustering a row, with weights in the smallest type that holds their sum."""
    weights = whole_numbers(ensemble.weights)
    small = bool((weights == np.rint(weights)).all()) and weights.sum() <= np.iinfo(np.uint8).max
    kind = np.uint8 if small else np.float32
    gaps = BLOCK if ensemble.missing_share else 0
    labels = np.array(ensemble.labels.T, order="C")
    return Table(labels, weights.astype(kind), np.empty(BLOCK, kind), np.empty(gaps, kind))


def whole_numbers(amounts: FloatArray) -> FloatArray:
    """Amounts above 0 in proportion, as small whole numbers where they are such, so that sums of them are exact."""
    if amounts.max() / MOST_EXACT > amounts.min():
        return np.asarray(np.maximum(amounts / amounts.max() * MOST_EXACT, 1.0))
    if (amounts == np.rint(amounts)).all() and amounts.max() <= MOST_EXACT:
        return np.asarray(amounts / np.gcd.reduce(amounts.astype(np.int64)))
    return np.asarray(amounts / amounts.min())


def new_chain(ensemble: Ensemble, average: bool) -> Chain:
    """An empty chain; its rows take memory only once they are written."""
    size, slots = len(ensemble), len(ensemble) // 2 + SCRATCH
    counts = (whole_numbers(ensemble.counts) if average else np.ones(size)).astype(np.float32)
    means = np.empty(size, np.float32)
    return Chain(
        counts=counts,
        masses=counts.copy(),
        rows=np.empty((slots, size), np.float32),
        slots=np.full(size, -1, np.int32),
        stamps=np.zeros(slots, np.int32),
        owners=np.full(SCRATCH, -1, np.int32),
        free=np.arange(slots, dtype=np.int32)[::-1].copy(),
        chain=np.empty(size, np.int32),
        linked=np.zeros(size, np.bool_),
        means=means,
        bits=means.view(np.int32),
        gone=np.empty(size - 1, np.int32),
        kept=np.empty(size - 1, np.int32),
        similar=np.empty(size - 1),
        state=np.array([0, 0, slots - SCRATCH, 0]),
    )


def new_tree(size: int) -> Tree:
    """A tree of one row, the last."""
    nearness = np.full(size, -1, np.float32)
    return Tree(
        nearness=nearness,
        bits=nearness.view(np.int32),
        links=np.empty(size, np.int32),
        names=np.arange(size, dtype=np.int32),
        shared=np.empty(size, np.float32),
        ones=np.ones(size, np.float32),
        gone=np.empty(size - 1, np.int32),
        kept=np.empty(size - 1, np.int32),
        similar=np.empty(size - 1),
        state=np.zeros(1, np.int64),
    )


def in_order(found: Chain | Tree, table: Table) -> Merges:
    """The merges by height, those of clusters before that of their union."""
    whole = 1.0 if len(table.known) else float(table.units.sum(dtype=np.float64))
    heights = np.clip(1.0 - found.similar / whole, 0.0, 1.0)
    if isinstance(found, Chain):
        settle_heights(heights, found.kept, found.gone, np.full(len(heights) + 1, -1, np.int32))
    order = np.argsort(heights, kind="stable")
    return Merges(found.kept[order], found.gone[order], heights[order])


def cut(merges: Merges, made: int) -> IntArray:
    """Labels after so many merges."""
    parents = np.arange(len(merges.heights) + 1, dtype=np.int32)
    join_pairs(merges.first[:made], merges.second[:made], parents)
    return np.unique(parents, return_inverse=True)[1].reshape(-1).astype(np.int32)


METHOD = Method(
    fit,
    Params,
    takes=Ensemble,
    cite="fred2005",
    handles_missing=True,
    chooses_k=False,
    deterministic=True,
    together=True,
)
