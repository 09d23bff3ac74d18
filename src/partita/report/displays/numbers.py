"""NumbersDisplay: how many clusters the draws of a sampler have."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from partita.core.consensus import Consensus
from partita.core.draws import Draws
from partita.core.errors import ParameterError
from partita.core.types import FloatArray, IntArray
from partita.report import plots
from partita.report.displays.base import Display
from partita.report.displays.words import counted, listed
from partita.report.themes import MARKERS, Theme


@dataclass(frozen=True, eq=False, repr=False)
class NumbersDisplay(Display):
    """The distribution of the number of clusters over the draws, and that of every chain."""

    title: str
    clusters: IntArray
    """(numbers,) from the least to the most clusters that a draw has, none left out."""
    shares: FloatArray
    """(numbers,) the share of the draws that have so many."""
    chains: FloatArray
    """(chains, numbers) the same of each chain."""
    draws: int
    k: int | None
    """The number of clusters of the partition that was chosen."""

    @classmethod
    def from_draws(cls, draws: Draws | Consensus, title: str = "", k: int | None = None) -> "NumbersDisplay":
        """Draws, or the result of a sampler that holds them."""
        if isinstance(draws, Consensus):
            if draws.draws is None:
                name = draws.recipe.method if draws.recipe else "this method"
                raise ParameterError(f"{name} keeps no draws; give a result of a sampler such as nbce-gibbs")
            k = draws.k if k is None else k
            draws = draws.draws
        sizes, chain = draws.sizes, np.unique(draws.chain, return_inverse=True)[1]
        low, many = int(sizes.min()), int(np.ptp(sizes)) + 1
        counts = np.bincount(chain * many + sizes - low, minlength=(int(chain.max()) + 1) * many)
        table = counts.reshape(-1, many)
        shares = table / table.sum(axis=1, keepdims=True)
        whole = table.sum(axis=0) / len(draws)
        return cls(title or "Number of clusters", low + np.arange(many), whole, shares, len(draws), k)

    @property
    def alt(self) -> str:
        """What the picture shows, in words and numbers."""
        order = np.argsort(-self.shares, kind="stable")[:5]
        likely = [f"{self.clusters[place]} ({self.shares[place]:.0%})" for place in order if self.shares[place]]
        said = f"Bars of the number of clusters in {counted(self.draws, 'draw')}: {listed(likely)}."
        return said + (f" The partition shown has {self.k}." if self.k is not None else "")

    @property
    def caption(self) -> str:
        """What the marks mean."""
        parts = [f"{counted(self.draws, 'draw')} of {counted(len(self.chains), 'chain')}"]
        if len(self.chains) > 1:
            parts.append("marks: single chains")
        if self.k is not None:
            parts.append(f"dashed: the partition shown, {self.k}")
        return "; ".join(parts)

    @property
    def inches(self) -> tuple[float, float]:
        """Width and height."""
        return float(np.clip(3.0 + 0.32 * len(self.clusters), 4.6, 10.0)), 3.6

    def draw(self, axes: Any, theme: Theme) -> None:
        """Bars of all draws, marks of single chains."""
        axes.bar(self.clusters, self.shares, width=0.8, color=theme.accent, alpha=0.75, linewidth=0)
        if len(self.chains) > 1:
            for chain, shares in enumerate(self.chains):
                beside = self.clusters + 0.5 * ((chain + 0.5) / len(self.chains) - 0.5)
                axes.plot(beside, shares, linestyle="none", marker=MARKERS[chain % len(MARKERS)], ms=3.5,
                          color=theme.ink, markerfacecolor=theme.ground, markeredgewidth=0.8)  # fmt: skip
        if self.k is not None:
            axes.axvline(self.k, color=theme.soft, linewidth=1.2, linestyle=(0, (4, 3)), zorder=0)
        plots.number_ticks(axes, self.clusters.tolist(), 20)
        axes.set_ylim(0, 1.08 * max(float(self.chains.max()), float(self.shares.max())))
        plots.framed_axes(axes, theme, "y")
        plots.axis_names(axes, theme, "clusters", "share of the draws")
