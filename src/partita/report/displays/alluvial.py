"""AlluvialDisplay: which clusters of some clusterings flow into which of the consensus."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np

from partita.core.consensus import Consensus
from partita.core.ensemble import Ensemble, chosen_places
from partita.core.errors import ParameterError
from partita.core.soft import SoftEnsemble
from partita.core.types import MISSING, FloatArray, IntArray
from partita.metrics import column_nmi, contingency
from partita.report import plots
from partita.report.displays.base import Display
from partita.report.displays.drawing import tick_names
from partita.report.displays.matching import matches
from partita.report.displays.ordering import hard_column
from partita.report.displays.untangling import untangled
from partita.report.displays.words import counted, listed, short_names
from partita.report.themes import Theme, colour_of

CHOSEN: Final = 4
"""Clusterings shown where the user names none: those that agree most with the consensus, and least."""
MOST_COLUMNS: Final = 12
MOST_BLOCKS: Final = 32
"""Clusters of a column that stand by themselves: the largest of the consensus, and first what matches these."""
GAP: Final = 0.012
"""Between two blocks of the column that has the most, as a share of the height; less if there are many blocks."""
MOST_GAPS: Final = 0.2
"""Share of the height for all gaps of a column."""
THIN: Final = 0.001
"""Flows of a smaller share of the objects are not drawn."""
NO_LABEL: Final = "no label"
WIDTH: Final = 0.3
"""Of a block, where columns are 1 apart."""


@dataclass(frozen=True, eq=False)
class Stack:
    """One clustering as a column of blocks, from the top down."""

    name: str
    consensus: bool
    agreement: float
    """NMI with the consensus; 1 for itself."""
    labels: tuple[str, ...]
    """What the blocks are called; the last may be "other (…)" and "no label"."""
    objects: FloatArray
    """(blocks,) how many each holds."""
    tops: FloatArray
    """(blocks,) where each begins, as a share of the height."""
    heights: FloatArray
    """(blocks,) its share of the objects; less than 1 in all, for the gaps between."""
    clusters: IntArray
    """(blocks,) the consensus cluster that each matches; MISSING where none."""


class Ribbons(NamedTuple):
    """Objects that go from a block to one of the next column, all as (ribbons,) arrays."""

    column: IntArray
    """The column that a ribbon comes from; it goes to the next."""
    source: IntArray
    target: IntArray
    """The blocks."""
    left: FloatArray
    right: FloatArray
    """Where it begins at either side, from the top."""
    height: FloatArray
    objects: FloatArray
    cluster: IntArray
    """The consensus cluster whose colour it has; MISSING for none."""


@dataclass(frozen=True, eq=False, repr=False)
class AlluvialDisplay(Display):
    """Clusterings side by side, the consensus in the middle, and the objects that go from cluster to cluster."""

    title: str
    stacks: tuple[Stack, ...]
    ribbons: Ribbons
    k: int
    objects: float
    thin: float
    """The share of the objects in flows too thin to be drawn."""

    @classmethod
    def from_consensus(
        cls,
        ensemble: Ensemble | SoftEnsemble,
        result: Consensus,
        columns: Sequence[Any] | None = None,
        title: str = "",
    ) -> "AlluvialDisplay":
        """Compute the flows of objects between the clusters of some clusterings and of the consensus.

        Parameters
        ----------
        ensemble : Ensemble or SoftEnsemble
            The base clusterings.
        result : Consensus
            Their consensus, for the same objects in the same order.
        columns : sequence of str or int, optional
            Names or positions of the clusterings shown, at most 12. Default: the two that agree most with the consensus
            and the two that agree least.
        title : str, optional

        Returns
        -------
        AlluvialDisplay
        """
        agreement = column_nmi(ensemble, result.labels)
        chosen = _chosen(agreement) if columns is None else chosen_places(columns, ensemble.names)
        if len(chosen) > MOST_COLUMNS:
            raise ParameterError(f"{len(chosen)} clusterings side by side; choose {MOST_COLUMNS} at most")
        every, sizes = np.arange(result.k), result.sizes
        largest = np.argsort(-sizes, kind="stable")[: MOST_BLOCKS - 1]
        raw = [_raw(ensemble, j, result, largest) for j in chosen]
        middle = (len(raw) + 1) // 2
        raw.insert(middle, _Raw.of(result.labels, [str(c) for c in every], every, largest))
        weights = None if ensemble.multiplicity is None else ensemble.counts
        flows = [_flow(a, b, weights) for a, b in pairwise(raw)]
        fixed = [len(one.names) - one.loose for one in raw]
        orders = untangled(flows, fixed, middle)
        flows = [flow[np.ix_(orders[j], orders[j + 1])] for j, flow in enumerate(flows)]
        told = [_Told(ensemble.names[j], False, float(agreement[j])) for j in chosen]
        told.insert(middle, _Told("consensus", True, 1.0))
        total = float(ensemble.counts.sum())
        filled = 1 - min(GAP * (max(len(order) for order in orders) - 1), MOST_GAPS)
        stacks = tuple(
            _stack(one, order, weights, filled, said) for one, order, said in zip(raw, orders, told, strict=True)
        )
        ribbons, thin = _ribbons(stacks, flows, middle, total)
        return cls(title or "From clusterings to the consensus", stacks, ribbons, result.k, total, thin)

    @property
    def alt(self) -> str:
        """What the picture shows, in words and numbers."""
        names = short_names([stack.name for stack in self.stacks], 60)
        others = [
            f"{name} (NMI {stack.agreement:.2f})"
            for name, stack in zip(names, self.stacks, strict=True)
            if not stack.consensus
        ]
        said = f"Flows of {counted(self.objects, 'object')} between {listed(others)} and the consensus"
        said += f" of {counted(self.k, 'cluster')}."
        if not len(self.ribbons.objects):
            return said
        best = int(np.argmax(self.ribbons.objects))
        place = int(self.ribbons.column[best])
        here, there = (short_names(self.stacks[j].labels, 40) for j in (place, place + 1))
        return (
            f"{said} The largest flow, {counted(self.ribbons.objects[best], 'object')}, is from "
            f"{here[self.ribbons.source[best]]} of {names[place]} to "
            f"{there[self.ribbons.target[best]]} of {names[place + 1]}."
        )

    @property
    def caption(self) -> str:
        """What colours mean."""
        said = "colours: the consensus cluster that a block matches, grey: none; NMI: with the consensus"
        return said + (f"; {self.thin:.1%} of the objects in flows too thin to draw" if self.thin >= THIN else "")

    @property
    def inches(self) -> tuple[float, float]:
        """Width and height."""
        most = max(len(stack.labels) for stack in self.stacks)
        return 1.6 + 1.9 * len(self.stacks), max(5.4, 1.4 + 0.21 * most)

    def draw(self, axes: Any, theme: Theme) -> None:
        """Blocks in columns and ribbons between them."""
        flows, half = self.ribbons, WIDTH / 2
        ease = np.linspace(0, 1, 24)
        curve = ease * ease * (3 - 2 * ease)
        for j, left, right, height, cluster in zip(
            flows.column, flows.left, flows.right, flows.height, flows.cluster, strict=True
        ):
            top = left + (right - left) * curve
            colour = colour_of(int(cluster), theme) if cluster != MISSING else theme.unpaired[0]
            x = j + half + (1 - WIDTH) * ease
            axes.fill_between(x, top, top + height, color=colour, alpha=0.5, linewidth=0)
        for place, stack in enumerate(self.stacks):
            self._draw_stack(axes, place, stack, theme)
        names = tick_names([stack.name for stack in self.stacks], 18)
        told = ["" if stack.consensus else f"\nNMI {stack.agreement:.2f}" for stack in self.stacks]
        axes.set_xticks(range(len(names)), [name + more for name, more in zip(names, told, strict=True)])
        axes.xaxis.tick_top()
        axes.set_yticks([])
        axes.set_xlim(-half - 0.02, len(names) - 1 + half + 0.02)
        axes.set_ylim(1.0, 0.0)
        plots.plain_axes(axes, theme)

    def _draw_stack(self, axes: Any, place: int, stack: Stack, theme: Theme) -> None:
        names, least = short_names(stack.labels, 12), plots.share_of_line(axes)[1]
        for name, top, height, cluster in zip(names, stack.tops, stack.heights, stack.clusters, strict=True):
            look = plots.look_of(int(cluster), theme)
            if cluster == MISSING:
                look |= {"facecolor": theme.missing if name == NO_LABEL else theme.unpaired[0]}
            axes.bar(place, height, WIDTH, bottom=top, **look)
            if height >= least:
                plots.number_on(axes, place, top + height / 2, name, look["facecolor"])


def _chosen(agreement: FloatArray) -> list[int]:
    """Most first; the least agreeing last, so that the best stand beside the consensus on the left."""
    order = np.argsort(-np.nan_to_num(agreement), kind="stable").tolist()
    half = CHOSEN // 2
    picks = order if len(order) <= CHOSEN else order[:half] + order[-half:]
    middle = (len(picks) + 1) // 2
    return [*picks[:middle][::-1], *picks[middle:]]


class _Raw(NamedTuple):
    """A column before it is ordered: the block of each object, and what the blocks are."""

    codes: IntArray
    names: list[str]
    clusters: IntArray
    loose: int
    """So many last blocks keep their place: small clusters together, no label."""

    @classmethod
    def of(cls, labels: IntArray, names: Sequence[str], clusters: IntArray, first: IntArray) -> "_Raw":
        """Each cluster as a block; of many, those that match one of the clusters `first`, then the largest."""
        known = labels != MISSING
        sizes = np.bincount(labels[known], minlength=len(names))
        there = int(np.count_nonzero(sizes))
        wanted = np.lexsort((-sizes, ~np.isin(clusters, first) | (sizes == 0)))
        largest = np.sort(wanted[: there if there <= MOST_BLOCKS else MOST_BLOCKS - 1])
        shown = [names[label] for label in largest]
        rest = there - len(largest)
        block = np.full(len(names) + 1, len(shown))
        block[largest] = np.arange(len(shown))
        matched = clusters[largest].tolist()
        if rest:
            shown, matched = [*shown, f"other ({rest})"], [*matched, MISSING]
        block[-1] = len(shown)
        if not known.all():
            shown, matched = [*shown, NO_LABEL], [*matched, MISSING]
        return cls(block[labels], shown, np.array(matched), len(shown) - len(largest))


class _Told(NamedTuple):
    """What stands above a column."""

    name: str
    consensus: bool
    agreement: float


def _raw(ensemble: Ensemble | SoftEnsemble, j: int, consensus: Consensus, first: IntArray) -> _Raw:
    column, names = hard_column(ensemble, j), [str(name) for name in ensemble.classes[j]]
    target = np.full(len(names), MISSING)
    if ((column != MISSING) & (consensus.labels != MISSING)).any():
        found = matches(contingency(column, consensus.labels), consensus.k)
        target[: len(found)] = np.where(found < consensus.k, found, MISSING)
    return _Raw.of(column, names, target, first)


def _flow(a: _Raw, b: _Raw, weights: FloatArray | None) -> FloatArray:
    """(blocks of a, blocks of b) how many objects are in both."""
    cells = len(a.names) * len(b.names)
    counts = np.bincount(a.codes.astype(np.int64) * len(b.names) + b.codes, weights, minlength=cells)
    return counts.reshape(len(a.names), len(b.names)).astype(np.float64)


def _stack(one: _Raw, order: IntArray, weights: FloatArray | None, filled: float, told: _Told) -> Stack:
    """The blocks of a column, which fill so much of its height."""
    objects = np.bincount(one.codes, weights, minlength=len(one.names))[order].astype(np.float64)
    heights = objects / objects.sum() * filled
    gap = (1 - filled) / max(len(order) - 1, 1)
    tops = np.concatenate([[0.0], np.cumsum(heights[:-1] + gap)])
    labels = tuple(one.names[block] for block in order)
    return Stack(told.name, told.consensus, told.agreement, labels, objects, tops, heights, one.clusters[order])


def _ribbons(stacks: tuple[Stack, ...], flows: list[FloatArray], middle: int, total: float) -> tuple[Ribbons, float]:
    """All flows that can be seen, each beginning where the one above it ends."""
    found: list[list[Any]] = []
    thin = 0.0
    for j, flow in enumerate(flows):
        here, there = stacks[j], stacks[j + 1]
        height = flow * (here.heights.sum() / total)
        left = here.tops[:, None] + np.cumsum(height, axis=1) - height
        right = there.tops[None, :] + np.cumsum(height, axis=0) - height
        seen = (flow >= THIN * total) & (flow > 0)
        thin += float(flow[~seen].sum()) / total / len(flows)
        source, target = np.nonzero(seen)
        cluster = there.clusters[target] if j + 1 <= middle else here.clusters[source]
        found.append(
            [np.full(len(source), j), source, target, left[seen], right[seen], height[seen], flow[seen], cluster]
        )
    return Ribbons(*(np.concatenate(parts) for parts in zip(*found, strict=True))), thin
