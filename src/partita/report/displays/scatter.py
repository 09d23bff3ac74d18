"""ScatterDisplay: objects where given coordinates put them, coloured by consensus, the unsure ones pale."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.random import Generator

from partita.core.consensus import Consensus
from partita.core.errors import ParameterError
from partita.core.rng import generator
from partita.core.types import MISSING, FloatArray, IntArray
from partita.report import plots
from partita.report.displays.base import Display
from partita.report.displays.words import amount, counted, listed
from partita.report.themes import Theme, colour_of, marker_of

MOST_POINTS: Final = 50_000
"""Points that are all drawn; of more objects a sample."""
SAMPLED: Final = 20_000
FEW_POINTS: Final = 2_000
"""Points that each have an outline, and stay shapes in an SVG."""
MOST_CLUSTERS: Final = 100
"""Clusters with a look and a number of their own, the largest."""
LEAST_EACH: Final = 50
"""Objects of a small cluster that are drawn in any case."""


@dataclass(frozen=True, eq=False, repr=False)
class ScatterDisplay(Display):
    """Two coordinates of the objects, their consensus cluster and how sure it is."""

    title: str
    points: FloatArray
    """(points, 2)."""
    clusters: IntArray
    """(points,) MISSING where an object carries no label."""
    confidence: FloatArray
    """(points,) between 0 and 1, drawn as opacity; NaN where it is not defined, drawn as 0."""
    names: tuple[str, str]
    """What the coordinates are called."""
    k: int
    sizes: IntArray
    """(k,) objects in each cluster, drawn or not."""
    objects: int
    """How many have coordinates."""
    unplaced: int
    """How many have none."""

    @classmethod
    def from_consensus(
        cls,
        result: Consensus,
        coordinates: Any,
        title: str = "",
        *,
        confidence: Any = None,
        names: tuple[str, str] = ("x", "y"),
        seed: int = 0,
    ) -> "ScatterDisplay":
        """Coordinates (n, 2 or more: the first two are drawn) such as t-SNE or UMAP give.

        `confidence` is one number between 0 and 1 an object; left out, the confidence of the consensus is taken.
        """
        places = two_coordinates(coordinates, len(result))
        given = result.confidence if confidence is None else np.asarray(confidence, float)
        sure = np.ones(len(result)) if given is None else np.clip(given, 0.0, 1.0)
        if sure.shape != (len(result),):
            raise ParameterError(f"confidence has shape {sure.shape}; give {len(result)} numbers")
        there = np.flatnonzero(np.isfinite(places).all(axis=1))
        shown = there[_sample(result.labels[there], generator(seed))] if len(there) > MOST_POINTS else there
        return cls(
            title or "Objects by consensus cluster",
            places[shown],
            result.labels[shown].astype(np.int64),
            sure[shown],
            names,
            result.k,
            np.array(result.sizes),
            len(there),
            len(result) - len(there),
        )

    @property
    def _largest(self) -> IntArray:
        return np.sort(np.argsort(-self.sizes, kind="stable")[:MOST_CLUSTERS])

    @property
    def sampled(self) -> bool:
        """Whether only some of the objects are drawn."""
        return len(self.points) < self.objects

    @property
    def alt(self) -> str:
        """What the picture shows, in words and numbers."""
        order = np.argsort(-self.sizes, kind="stable")[:8]
        largest = listed([f"{cluster} ({amount(self.sizes[cluster])})" for cluster in order]) if len(order) else "none"
        said = f"Scatter of {counted(len(self.points), 'object')}"
        said += f", a sample of {amount(self.objects)}," if self.sampled else ""
        said += f" by {self.names[0]} and {self.names[1]} in {counted(self.k, 'cluster')}; largest: {largest}"
        known = self.confidence[(self.clusters != MISSING) & np.isfinite(self.confidence)]
        return said + (f". Mean confidence {known.mean():.2f}." if len(known) else ".")

    @property
    def caption(self) -> str:
        """What opacity means, and who is not drawn."""
        parts = ["pale: low confidence"]
        if self.sampled:
            some, all_of = amount(len(self.points)), amount(self.objects)
            parts.append(f"a sample of {some} of {all_of} objects, at least {LEAST_EACH} of a cluster if it has them")
        if self.unplaced:
            parts.append(f"{counted(self.unplaced, 'object')} without coordinates not shown")
        if self.k > MOST_CLUSTERS:
            parts.append(f"grey: all but the {MOST_CLUSTERS} largest clusters")
        if (self.clusters == MISSING).any():
            parts.append("small crosses: no label")
        return "; ".join(parts)

    @property
    def inches(self) -> tuple[float, float]:
        """Width and height."""
        return 7.0, 5.8

    def draw(self, axes: Any, theme: Theme) -> None:
        """Points in colour and shape of their cluster, whose number stands in their midst."""
        size = float(np.clip(30_000 / max(len(self.points), 1), 3, 30))
        seen, small = self.clusters.copy(), ~np.isin(self.clusters, self._largest) & (self.clusters != MISSING)
        seen[small] = self.k
        for cluster in np.unique(seen):
            mine = seen == cluster
            opacity = 0.15 + 0.85 * np.nan_to_num(self.confidence[mine])
            look = {"marker": marker_of(cluster), "color": colour_of(int(cluster), theme), "linewidths": 0.0}
            if len(self.points) <= FEW_POINTS:
                look |= {"edgecolors": theme.ink, "linewidths": 0.4}
            if cluster == self.k:
                look |= {"marker": ".", "color": theme.unpaired[0], "linewidths": 0.0}
            if cluster == MISSING:
                look = {"marker": "x", "color": theme.soft, "linewidths": 0.6}
            x, y = self.points[mine].T
            axes.scatter(x, y, s=size, alpha=opacity, rasterized=len(self.points) > FEW_POINTS, **look)
        for cluster in self._largest:
            mine = self.clusters == cluster
            if mine.any():
                x, y = np.median(self.points[mine], axis=0)
                plots.boxed(axes, x, y, str(cluster), theme)
        plots.framed_axes(axes, theme)
        axes.margins(0.04)
        plots.axis_names(axes, theme, *self.names)


def two_coordinates(coordinates: Any, objects: int) -> FloatArray:
    """(n, 2) numbers."""
    try:
        places = np.asarray(coordinates, np.float64)
    except (TypeError, ValueError):
        raise ParameterError("the coordinates are not all numbers; give an array (objects, 2)") from None
    if places.ndim != 2 or len(places) != objects or places.shape[1] < 2:
        raise ParameterError(f"coordinates of shape {places.shape} for {objects} objects; give an array ({objects}, 2)")
    return places[:, :2]


def _sample(labels: IntArray, rng: Generator) -> IntArray:
    """Places of some objects in rising order: alike from all, and some of every cluster."""
    order = rng.permutation(len(labels))
    mixed = labels[order]
    by_cluster = np.argsort(mixed, kind="stable")
    sizes = np.bincount(mixed - MISSING)
    rank = np.empty(len(labels), np.int64)
    rank[by_cluster] = np.arange(len(labels)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    wanted = np.maximum(np.ceil(sizes * (SAMPLED / len(labels))), LEAST_EACH if len(sizes) <= 200 else 1)
    return np.sort(order[rank < wanted[mixed - MISSING]])
