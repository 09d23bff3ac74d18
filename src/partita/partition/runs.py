"""Which partitioners a graph is given to, how often, and when their answers are believed."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.random import Generator
from scipy import sparse

from partita.core.errors import ParameterError
from partita.core.sampling import draw_sample
from partita.core.types import IntArray
from partita.partition import native
from partita.partition.blocks import Found, Limits, checked_options, pack, pack_within, set_limits, whole_weights
from partita.partition.edges import Graph

Tool: TypeAlias = Literal["metis", "metis no2hop", "kahip"]

AGREEMENT: Final = 1.05
"""Runs whose cuts differ by more than this factor do not agree: one of them may have collapsed."""
SAME: Final = 1.001
"""Runs whose cuts differ by less found the same: more of them would find nothing better."""
FEW, FEW_ENTRIES = 1000, 20_000
"""Vertices and entries up to which a graph is so small that all runs are made and each is improved several times."""
BREATHS: Final = 4
RESCUES: Final = 5
"""METIS without two-hop matching never collapsed in the best of five runs."""
SAMPLE, SAMPLE_PER_BLOCK = 2000, 40
"""How many vertices of its larger side are kept of a bipartite graph: enough to divide the other side."""
ON_SAMPLE: Final = "sample"
"""Name of a run on a sample."""
FEWEST_PER_BLOCK: Final = 4
"""METIS wants so many vertices a block; with fewer it leaves most blocks empty and writes to the standard output."""


@dataclass(frozen=True, slots=True)
class GraphOptions:
    """How to divide a graph."""

    partitioner: Literal["auto", "metis", "kahip"] = "auto"
    """"auto" is METIS, and KaHIP where the runs of METIS disagree or there are too few vertices for it; for bipartite
    graphs it is KaHIP and METIS without two-hop matching, on a sample of the larger side where that is large."""
    imbalance: float = 0.05
    """How far the heaviest block may exceed the mean, as a share of it."""
    bipartite: bool = False
    """Treat the graph as bipartite, where METIS is known to collapse; graphs made by `from_bipartite` are."""
    tries: int = 2
    """How many runs must agree on the cut before one of them is believed; 1 believes the first."""
    runs: int = 1
    """So many runs are compared, unless the first agree to within a thousandth on a graph that is not small."""

    def __post_init__(self) -> None:
        checked_options(self, {"partitioner": ("auto", "metis", "kahip")})


class Attempt(NamedTuple):
    """A way to divide the graph, and its name in the record."""

    name: str
    labels: Callable[[Generator], IntArray]


def compared(
    graph: Graph, limits: Limits, options: GraphOptions, rng: Generator, starts: Sequence[IntArray] = ()
) -> list[Found]:
    """Starts, and runs until enough of all agree or there are no more; at least one is within the capacity.

    Heavy vertices have their blocks already; the partitioners see the others.
    """
    others = np.setdiff1d(np.arange(len(graph)), limits.heavy)
    found = [_settled(graph, start, limits, "start", rng) for start in starts]
    for attempt in _runs(graph.only(others), limits.rest, options):
        labels = np.empty(len(graph), np.int32)
        labels[others] = attempt.labels(rng)
        labels[limits.heavy] = np.arange(limits.rest.k, limits.k)
        found.append(_settled(graph, labels, limits, attempt.name, rng))
        enough = len(found) >= options.runs
        if (enough or len(graph) > FEW) and agree(found, options.tries, AGREEMENT if enough else SAME):
            break
    if all(one.excess > 0.0 for one in found):
        found.append(graph.improved(pack_within(graph.vertex_weights, limits, rng), limits, "packing", rng))
    return found


def _settled(graph: Graph, labels: IntArray, limits: Limits, name: str, rng: Generator) -> Found:
    """The labels improved; of a small graph several times over, with room for one vertex more and then without.

    Where blocks are full no single move is allowed that an exchange would need.
    """
    found = graph.improved(labels, limits, name, rng)
    if len(graph.ends) <= FEW_ENTRIES:
        light = np.delete(graph.vertex_weights, limits.heavy)
        loose = limits.loosened(float(light.max(initial=0.0)))
        for _ in range(BREATHS):
            wide = graph.improved(found.labels, loose, name, rng)
            again = graph.improved(wide.labels, limits, name, rng)
            if again.rank >= found.rank:
                break
            found = again
    return found


def agree(found: list[Found], tries: int, factor: float = AGREEMENT) -> bool:
    """Whether so many runs within the capacity cut about as little as the best."""
    best = min(found, key=lambda one: one.rank)
    close = [one for one in found if one.excess == 0.0 and one.cut <= factor * best.cut]
    return best.excess == 0.0 and len(close) >= tries


def notes_on(found: list[Found], options: GraphOptions) -> tuple[str, ...]:
    """What the caller should know about the runs."""
    names = [one.name for one in found]
    best = min(found, key=lambda one: one.rank)
    notes = []
    if options.partitioner == "metis" and "kahip" in names:
        notes.append("METIS cannot divide so few vertices into so many blocks; KaHIP did")
    collapsed = [one.name for one in found if one.cut > AGREEMENT * best.cut]
    if collapsed and len(found) > options.tries:
        notes.append(f"{len(collapsed)} of {len(found)} runs cut over {AGREEMENT} times the best and were dropped")
    return tuple(notes)


def _runs(graph: Graph, limits: Limits, options: GraphOptions) -> Iterator[Attempt]:
    """The runs in the order of trying; those after the first `tries` wait for a disagreement."""
    bipartite = options.bipartite or graph.left is not None
    if limits.k == 1:
        return iter([Attempt("only one", lambda rng: np.zeros(len(graph), np.int32))])
    if len(graph.ends) == 0:
        return iter([Attempt("packing", lambda rng: pack(graph.vertex_weights, limits.k, rng))])
    fits_kahip = len(graph.ends) <= native.MOST_KAHIP_ENTRIES
    if options.partitioner == "kahip" and not fits_kahip:
        raise ParameterError(f"KaHIP cannot take {len(graph.ends)} entries; use metis, or keep fewer edges")
    fits_metis = suits_metis(graph, limits.k)
    most = max(options.tries, options.runs, RESCUES)
    metis = _times(fits_metis * most, graph, limits, "metis no2hop" if bipartite else "metis")
    kahip = _times(fits_kahip * (options.tries + 2), graph, limits, "kahip")
    if options.partitioner == "metis" and fits_metis:
        return iter(metis)
    if options.partitioner == "kahip" or not fits_metis:
        return iter(kahip)
    if not bipartite:
        return iter(metis[: options.tries] + kahip + metis)
    if (graph.left or 0) > 2 * sample_size(limits.k):
        return iter([Attempt(ON_SAMPLE, partial(run_sample, graph, limits))] * options.tries + kahip + metis)
    return iter(kahip[:1] + metis[: max(1, options.runs - 1)] + kahip + metis)


def _times(times: int, graph: Graph, limits: Limits, tool: Tool) -> list[Attempt]:
    return [Attempt(tool, partial(run, graph, limits, tool))] * times


def suits_metis(graph: Graph, k: int) -> bool:
    """Whether METIS can divide the graph; see FEWEST_PER_BLOCK."""
    return len(graph) >= FEWEST_PER_BLOCK * k


def run(graph: Graph, limits: Limits, tool: Tool, rng: Generator) -> IntArray:
    """One run of a partitioner on shuffled vertices."""
    order = rng.permutation(len(graph))
    asked = native.Order(limits.k, limits.imbalance, int(rng.integers(2**31 - 1)))
    if tool == "kahip":
        blocks = native.run_kahip(_shuffled(graph, order, native.KAHIP_SUM), asked)
    else:
        blocks = native.run_metis(_shuffled(graph, order, native.METIS_SUM), asked, two_hop=tool == "metis")
    labels = np.empty(len(graph), np.int32)
    labels[order] = blocks
    return labels


def _shuffled(graph: Graph, order: IntArray, most: int) -> native.WholeGraph:
    """The graph with vertex order[i] in place i, in whole weights; None for weights that are all equal."""
    place = np.empty(len(order), np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    equal = bool((graph.weights == graph.weights[0]).all())
    data = np.ones(len(graph.ends), np.int8) if equal else whole_weights(graph.weights, most)
    rows = sparse.csr_array((data, graph.ends, graph.starts), shape=(len(graph), len(graph)))[order]
    vertices = graph.vertex_weights[order]
    even = bool((vertices == vertices[0]).all())
    return native.WholeGraph(
        rows.indptr, place[rows.indices], None if equal else rows.data, None if even else whole_weights(vertices, most)
    )


def sample_size(k: int) -> int:
    """How many vertices of the larger side divide the other well."""
    return max(SAMPLE, SAMPLE_PER_BLOCK * k)


def sample_note(rows: int, size: int) -> str:
    """Return the note on a bipartite graph whose smaller side was divided by a sample of its larger side.

    >>> sample_note(20000, 2000)
    'a sample of about 2000 of 20000 rows decided the blocks of the clusters; all rows were then assigned by them'
    """
    return (
        f"a sample of about {size} of {rows} rows decided the blocks of the clusters; all rows were then "
        "assigned by them"
    )


def run_sample(graph: Graph, limits: Limits, rng: Generator) -> IntArray:
    """Divide a bipartite graph by a sample of its larger side: the other side by the sample, then all follow it."""
    left, columns = graph.left or 0, len(graph) - (graph.left or 0)
    entries = int(graph.starts[left])
    table = sparse.csr_array(
        (graph.weights[:entries], graph.ends[:entries] - left, graph.starts[: left + 1]), shape=(left, columns)
    )
    sample, scale = draw_sample(graph.vertex_weights[:left], sample_size(limits.k), rng)
    small = Graph.from_bipartite(
        sparse.diags_array(scale) @ table[sample], graph.vertex_weights[sample] * scale, graph.vertex_weights[left:]
    )
    inner = set_limits(small.vertex_weights, limits.k, limits.imbalance)
    found = compared(small, inner, GraphOptions(imbalance=limits.imbalance, tries=2), rng)
    labels = np.empty(len(graph), np.int32)
    labels[left:] = min(found, key=lambda one: one.rank).labels[len(sample) :]
    follow = sparse.csr_array((np.ones(columns), labels[left:], np.arange(columns + 1)), shape=(columns, limits.k))
    labels[:left] = (table @ follow).toarray().argmax(axis=1)
    return labels
