"""Pictures of a consensus and of the choice of k; no other module imports matplotlib. Compute, hold, then draw."""

from dataclasses import dataclass
from textwrap import wrap
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from partita.core.consensus import Consensus
from partita.core.ensemble import Ensemble
from partita.core.errors import MissingExtraError
from partita.core.types import MISSING, FloatArray, IntArray
from partita.metrics import column_nmi
from partita.selection import CRITERIA, Selection

# Okabe and Ito's palette, ordered so that neighbours also differ in lightness.
PALETTE: Final = ("#0072B2", "#F0E442", "#D55E00", "#56B4E9", "#009E73", "#E69F00", "#CC79A7", "#332288")
UNPAIRED: Final = ("#8A8A8A", "#B5B5B5", "#6A6A6A", "#CFCFCF")
INK: Final = "#222222"


@dataclass(frozen=True, slots=True)
class ConsensusDisplay:
    """The label table ordered by consensus, the confidence of each object, the agreement of each clustering."""

    title: str
    names: tuple[str, ...]
    labels: IntArray
    """(objects shown, 1 + r) the consensus and every clustering, renamed to match it; MISSING where unobserved."""
    k: int
    confidence: FloatArray
    agreement: FloatArray

    @classmethod
    def from_consensus(cls, consensus: Consensus, ensemble: Ensemble, title: str = "") -> "ConsensusDisplay":
        """Order the objects by cluster and confidence and rename each clustering's labels after the consensus."""
        sure = np.nan_to_num(consensus.confidence) if consensus.confidence is not None else np.ones(len(consensus))
        shown = np.flatnonzero(consensus.labels != MISSING)
        order = shown[np.lexsort((-sure[shown], consensus.labels[shown]))]
        agreement = column_nmi(ensemble, consensus.labels)
        columns = np.argsort(-agreement, kind="stable")
        renamed = [_renamed(ensemble.labels[:, j], consensus)[order] for j in columns]
        table = np.stack([consensus.labels[order], *renamed], axis=1).astype(np.int64)
        names = tuple(ensemble.names[j] for j in columns)
        return cls(title, names, table, consensus.k, sure[order], agreement[columns])

    def figure(self) -> Any:
        """A matplotlib figure: table, confidence, agreement."""
        figure_class, _ = _matplotlib()
        figure = figure_class(figsize=(10.5, 5.8), layout="constrained", facecolor="white")
        grid = figure.add_gridspec(1, 3, width_ratios=(5, 1.6, 3))
        self._draw_table(figure.add_subplot(grid[0]))
        self._draw_confidence(figure.add_subplot(grid[1]))
        self._draw_agreement(figure.add_subplot(grid[2]))
        figure.suptitle(self.title, fontsize=12, color=INK)
        return figure

    def save(self, path: Any) -> None:
        """Write the figure to a file or file object as PNG."""
        _save(self.figure(), path)

    def _draw_table(self, axes: Any) -> None:
        axes.imshow(_colours(self.labels, self.k), aspect="auto", interpolation="nearest")
        axes.axvline(0.5, color="white", linewidth=4)
        axes.set_xticks(range(len(self.names) + 1), ["consensus", *self.names], rotation=40, ha="right")
        ends = np.flatnonzero(np.diff(self.labels[:, 0])) + 0.5
        for end in ends:
            axes.axhline(end, color="white", linewidth=1.5)
        borders = np.concatenate([[-0.5], ends, [len(self.labels) - 0.5]])
        middles = (borders[:-1] + borders[1:]) / 2
        axes.set_yticks(middles, [f"cluster {c}" for c in range(len(middles))])
        axes.set_title("objects by cluster; white = no label", fontsize=9, color=INK)
        _plain(axes)

    def _draw_confidence(self, axes: Any) -> None:
        rows = np.arange(len(self.confidence))
        axes.fill_betweenx(rows, 0, self.confidence, step="mid", color="#777777", linewidth=0)
        axes.set_xlim(0, 1)
        axes.set_xticks([0, 0.5, 1])
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.set_yticks([])
        axes.set_title("confidence", fontsize=9, color=INK)
        _plain(axes)

    def _draw_agreement(self, axes: Any) -> None:
        places = np.arange(len(self.names))
        axes.barh(places, self.agreement, color="#0072B2")
        for place, value in zip(places, self.agreement, strict=True):
            axes.text(value + 0.02, place, f"{value:.2f}", va="center", fontsize=8, color=INK)
        axes.set_yticks(places, self.names)
        axes.invert_yaxis()
        axes.set_xlim(0, 1.12)
        axes.set_xticks([0, 0.5, 1])
        axes.set_title("agreement with the consensus (NMI)", fontsize=9, color=INK)
        _plain(axes)


@dataclass(frozen=True, slots=True)
class Curve:
    """One criterion over k."""

    title: str
    values: FloatArray
    """NaN where it is not known."""
    spread: FloatArray | None
    preferred: int
    """The k this criterion would choose."""
    chooses: bool


@dataclass(frozen=True, slots=True)
class SelectionDisplay:
    """Every criterion over the number of clusters, with the recommended one."""

    title: str
    ks: tuple[int, ...]
    k: int
    curves: tuple[Curve, ...]

    @classmethod
    def from_selection(cls, selection: Selection, title: str = "") -> "SelectionDisplay":
        """One curve a criterion, the one that chose first."""
        names = sorted(selection.preferred, key=lambda name: name != selection.criterion)
        curves = []
        for name in names:
            rule = CRITERIA[name]
            values = np.array([rule.of(trial) for trial in selection.trials])
            spread = np.array([np.nan if t.spread is None else t.spread for t in selection.trials], np.float64)
            called = f"{rule.title.removeprefix('the ')} ({rule.better} is best)"
            own = spread if name == "stability" else None
            curves.append(Curve(called, values, own, selection.preferred[name], name == selection.criterion))
        wanted = title or f"recommended k = {selection.k}: {selection.reason}"
        return cls(wanted, tuple(trial.k for trial in selection.trials), selection.k, tuple(curves))

    def figure(self) -> Any:
        """A matplotlib figure with a panel for each criterion."""
        figure_class, _ = _matplotlib()
        across = 3 if len(self.curves) > 4 else min(len(self.curves), 2)
        down = -(-len(self.curves) // across)
        figure = figure_class(figsize=(3.6 * across, 2.5 * down + 0.6), layout="constrained", facecolor="white")
        for place, curve in enumerate(self.curves):
            self._draw(figure.add_subplot(down, across, place + 1), curve)
        figure.suptitle("\n".join(wrap(self.title, 36 * across)), fontsize=11, color=INK)
        key = "dashed: recommended k;  filled: best by this criterion"
        if any(curve.spread is not None for curve in self.curves):
            key += ";  grey: ± 1 standard deviation"
        figure.supxlabel("\n".join(wrap(key, 45 * across)), fontsize=8, color=INK)
        return figure

    def save(self, path: Any) -> None:
        """Write the figure to a file or file object as PNG."""
        _save(self.figure(), path)

    def _draw(self, axes: Any, curve: Curve) -> None:
        axes.axvline(self.k, color="#9A9A9A", linewidth=1.2, linestyle=(0, (4, 3)), zorder=0)
        if curve.spread is not None:
            low, high = curve.values - curve.spread, curve.values + curve.spread
            axes.fill_between(self.ks, low, high, color="#DDDDDD", linewidth=0, zorder=1)
        axes.plot(self.ks, curve.values, color="#0072B2", linewidth=1.4, marker="o", markersize=4.5, mfc="white")
        best = self.ks.index(curve.preferred)
        axes.plot(curve.preferred, curve.values[best], marker="o", markersize=7.5, color=INK, linestyle="none")
        axes.set_xticks(self.ks if len(self.ks) <= 12 else self.ks[:: -(-len(self.ks) // 10)])
        axes.set_xlabel("k", fontsize=8, color=INK)
        weight = "bold" if curve.chooses else "normal"
        axes.set_title(curve.title, fontsize=9, color=INK, fontweight=weight)
        edge = 0.06 * (self.ks[-1] - self.ks[0]) or 0.5
        axes.set_xlim(self.ks[0] - edge, self.ks[-1] + edge)
        axes.margins(y=0.12)
        _plain(axes)
        for side in ("left", "bottom"):
            axes.spines[side].set_visible(True)
            axes.spines[side].set_color("#BBBBBB")


def check_drawing() -> None:
    """Refuse, before long work, to draw where matplotlib is not installed."""
    _matplotlib()


def _save(figure: Any, path: Any) -> None:
    _, canvas = _matplotlib()
    canvas(figure)
    figure.savefig(path, dpi=150, format="png")


def _matplotlib() -> tuple[Any, Any]:
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("pictures need matplotlib; install it with: pip install 'partita[report]'") from None
    return Figure, FigureCanvasAgg


def _renamed(column: IntArray, consensus: Consensus) -> IntArray:
    """A clustering's labels under the numbers of the consensus clusters they match; unmatched ones from k upwards."""
    known = (column != MISSING) & (consensus.labels != MISSING)
    dense = np.zeros((int(column.max()) + 1, consensus.k))
    np.add.at(dense, (column[known], consensus.labels[known]), 1)
    rows, cols = linear_sum_assignment(dense, maximize=True)
    target = np.full(len(dense) + 1, MISSING)
    target[rows] = cols
    alone = np.setdiff1d(np.arange(len(dense)), rows)
    target[alone] = consensus.k + np.arange(len(alone))
    return target[column]


def _colours(labels: IntArray, k: int) -> NDArray[np.float64]:
    from matplotlib.colors import to_rgb

    matched = [to_rgb(PALETTE[c % len(PALETTE)]) for c in range(k)]
    unpaired = [to_rgb(UNPAIRED[c % len(UNPAIRED)]) for c in range(int(max(labels.max() + 1 - k, 0)))]
    return np.array([*matched, *unpaired, (1.0, 1.0, 1.0)])[labels]


def _plain(axes: Any) -> None:
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.tick_params(length=0, labelsize=8, colors=INK)
