"""From results to all that the page shows; nothing is computed afterwards, nothing is fitted here."""

import platform
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final

import numpy as np

from partita import api
from partita.core.consensus import Consensus
from partita.core.ensemble import Ensemble
from partita.core.errors import ParameterError
from partita.core.fields import check_length, index_of, places_of
from partita.core.progress import report
from partita.core.soft import AnyEnsemble
from partita.core.types import MISSING, FloatArray
from partita.io.summary import plain
from partita.metrics import MEASURES
from partita.metrics.diagnosing import Diagnostics, diagnose
from partita.metrics.doubt import Doubt
from partita.report.displays.agreement import AgreementDisplay
from partita.report.displays.alluvial import AlluvialDisplay
from partita.report.displays.cdf import CdfDisplay
from partita.report.displays.confusion import ConfusionDisplay
from partita.report.displays.heatmap import HeatmapDisplay
from partita.report.displays.items import ItemDisplay
from partita.report.displays.numbers import NumbersDisplay
from partita.report.displays.ordering import confidence_quantiles
from partita.report.displays.scatter import ScatterDisplay, two_coordinates
from partita.report.displays.selection import SelectionDisplay
from partita.report.displays.trace import TraceDisplay
from partita.report.displays.tracking import TrackingDisplay
from partita.report.displays.words import counted
from partita.report.gathered import (
    BaseFacts,
    DoubtfulObject,
    InputFacts,
    Numbers,
    Pictures,
    RepeatFacts,
    ReportData,
    Rival,
    TruthFacts,
)
from partita.report.summary import told
from partita.selection import Selection
from partita.version import __version__

MOST_DOUBTFUL: Final = 1000
MOST_NOTES: Final = 40
MOST_CELLS: Final = 300
"""Rows of the pictures of all objects; a screen shows no more."""
BINS: Final = 20
FEW_STEPS: Final = 5
"""Iterations below which a trace says nothing."""
PACKAGES: Final = ("numpy", "scipy", "numba", "pyarrow", "pymetis", "kahip", "mtkahypar")


@dataclass(frozen=True, slots=True)
class Found:
    """What was fitted, and how the number of clusters came about."""

    consensus: Consensus
    how_k: str
    selection: Selection | None = None
    rivals: tuple[Rival, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Beside:
    """What the page is told beside the results."""

    truth: Any = None
    coordinates: Any = None
    names: tuple[str, str] = ("x", "y")
    """What the coordinates are called."""
    title: str = ""
    source: str = "a table in memory"
    id_name: str = "id"
    command: str = ""
    labels_command: str = ""
    seed: int = 0


def gather(ensemble: AnyEnsemble, found: Found, beside: Beside) -> ReportData:
    """Diagnose the consensus and hold everything that the page shows."""
    consensus = found.consensus
    report("report", 0, 4)
    diagnostics = diagnose(ensemble, consensus, seed=beside.seed)
    report("report", 1, 4)
    pictures = _pictures(ensemble, found, diagnostics, beside)
    report("report", 2, 4)
    truth = None if beside.truth is None else _truth(consensus, beside.truth)
    into = _input(ensemble, beside)
    report("report", 3, 4)
    data = ReportData(
        title=beside.title or f"Consensus of {counted(len(ensemble.names), 'clustering')}: {beside.source}",
        below=_below(into, consensus),
        version=__version__,
        input=into,
        consensus=consensus,
        how_k=found.how_k,
        diagnostics=diagnostics,
        numbers=numbers_of(ensemble, consensus, diagnostics),
        doubtful=tuple(_doubtful(ensemble, consensus, diagnostics)),
        repeat=_repeat(consensus, beside),
        ids=ensemble.ids,
        selection=found.selection,
        rivals=found.rivals,
        truth=truth,
        pictures=pictures,
        told=tuple(told(consensus)),
        notes=_notes((*found.notes, *consensus.notes)),
    )
    report("report", 4, 4)
    return data


def _below(into: InputFacts, consensus: Consensus) -> str:
    method = f", by {consensus.recipe.method}" if consensus.recipe else ""
    went_in = f"{counted(into.objects, 'object')}, {counted(len(into.clusterings), 'clustering')}"
    return f"{went_in}, one consensus of {counted(consensus.k, 'cluster')}{method}"


def _notes(notes: tuple[str, ...]) -> tuple[str, ...]:
    different = tuple(dict.fromkeys(notes))
    rest = len(different) - MOST_NOTES
    return different if rest <= 0 else (*different[:MOST_NOTES], f"and {rest} more")


def _input(ensemble: AnyEnsemble, beside: Beside) -> InputFacts:
    known = [
        (ensemble.labels[:, j] != MISSING) if isinstance(ensemble, Ensemble) else ensemble.known[:, j]
        for j in range(len(ensemble.names))
    ]
    counts = ensemble.counts
    total = float(counts.sum())
    facts = tuple(
        BaseFacts(name, size, 1 - float(counts[there].sum()) / total, float(weight))
        for name, size, weight, there in zip(ensemble.names, ensemble.sizes, ensemble.weights, known, strict=True)
    )
    return InputFacts(
        beside.source, len(ensemble), total, len(ensemble.distinct.first), not isinstance(ensemble, Ensemble),
        ensemble.missing_share, ensemble.ids is not None, beside.id_name, facts,
    )  # fmt: skip


def numbers_of(ensemble: AnyEnsemble, consensus: Consensus, diagnostics: Diagnostics) -> Numbers:
    """Figures of all objects together, and of each cluster; every row counts as often as it stands for an object."""
    items, doubt, counts, labels = diagnostics.items, diagnostics.doubt, ensemble.counts, consensus.labels
    sure, known = diagnostics.confidence, np.isfinite(diagnostics.confidence)
    placed = labels != MISSING
    odd = doubt.misplaced | doubt.outlier
    edges = np.linspace(0, 1, BINS + 1)
    sums = np.bincount(labels[placed], counts[placed], minlength=consensus.k)
    odd_sums = np.bincount(labels[placed & odd], counts[placed & odd], minlength=consensus.k)
    rated = np.flatnonzero(known & placed)
    heavy = np.bincount(labels[rated], counts[rated], minlength=consensus.k)
    totals = np.bincount(labels[rated], counts[rated] * sure[rated], minlength=consensus.k)
    return Numbers(
        confidence=_mean(sure, counts),
        item_consensus=_mean(items.own, counts),
        silhouette=_mean(items.silhouette, counts),
        misplaced=float(counts[doubt.misplaced].sum()),
        outliers=float(counts[doubt.outlier & ~doubt.misplaced].sum()),
        histogram=np.histogram(sure[known], edges, weights=counts[known])[0].astype(np.float64),
        objects=sums.astype(np.float64),
        doubtful=odd_sums.astype(np.float64),
        means=np.divide(totals, heavy, out=np.full(consensus.k, np.nan), where=heavy > 0),
        spread=confidence_quantiles(labels, sure, counts, consensus.k),
    )


def _mean(values: FloatArray, counts: FloatArray) -> float:
    known = np.isfinite(values)
    return float(np.average(values[known], weights=counts[known])) if known.any() else float("nan")


def _doubtful(ensemble: AnyEnsemble, consensus: Consensus, diagnostics: Diagnostics) -> Iterator[DoubtfulObject]:
    items, doubt = diagnostics.items, diagnostics.doubt
    for row in doubt.order[:MOST_DOUBTFUL].tolist():
        called = row + 1 if ensemble.ids is None else ensemble.ids[row]
        yield DoubtfulObject(
            called, int(consensus.labels[row]), float(diagnostics.confidence[row]), float(items.own[row]),
            int(items.nearest[row]), float(items.other[row]), float(doubt.margin[row]),
            _remark(doubt, consensus, row, int(items.nearest[row])),
        )  # fmt: skip


def _remark(doubt: Doubt, consensus: Consensus, row: int, nearest: int) -> str:
    if consensus.labels[row] == MISSING:
        return "no label in any clustering"
    words = [f"nearer to cluster {nearest}"] if doubt.misplaced[row] else []
    words += ["outlier"] if doubt.outlier[row] else []
    return ", ".join(words)


def _truth(consensus: Consensus, truth: Any) -> TruthFacts:
    scores = api.evaluate(consensus, truth=truth, missing=MISSING)
    compared = int(scores["compared"])
    measured = {name: float(scores[name]) for name in MEASURES}
    return TruthFacts(measured, {name: measure.summary for name, measure in MEASURES.items()}, compared)


def check_given(objects: AnyEnsemble | Consensus, truth: Any, coordinates: Any) -> None:
    """Refuse, before the work, classes or coordinates that cannot be of these objects."""
    if truth is not None:
        _classes(objects, truth)
    if coordinates is not None and not np.isfinite(two_coordinates(coordinates, len(objects))).all(axis=1).any():
        raise ParameterError("no object has coordinates: in every row one of the two is missing or not finite")


def _classes(objects: AnyEnsemble | Consensus, truth: Any) -> Any:
    """The known classes in the order of the objects, where both sides carry ids."""
    named = index_of(truth) if objects.ids is not None else None
    values = truth if named is None else np.asarray(truth, object)[places_of(objects.ids, named, "truth")]
    check_length("truth", len(values), "the ensemble", len(objects))
    return values


def _pictures(ensemble: AnyEnsemble, found: Found, diagnostics: Diagnostics, beside: Beside) -> Pictures:
    consensus, chosen = found.consensus, found.selection
    bounds: dict[str, Any] = {"most_rows": MOST_CELLS, "bins": MOST_CELLS}
    shown: dict[str, Any] = {
        "heatmap": HeatmapDisplay.from_consensus(ensemble, consensus, items=diagnostics.items, **bounds),
        "items": ItemDisplay.from_items(diagnostics.items, consensus, **bounds),
        "agreement": AgreementDisplay.from_agreement(diagnostics.agreement, "Agreement between the clusterings"),
        "alluvial": AlluvialDisplay.from_consensus(ensemble, consensus),
        "trace": TraceDisplay.from_consensus(consensus) if len(consensus.trace) >= FEW_STEPS else None,
    }
    if consensus.draws is not None:
        shown["numbers"] = NumbersDisplay.from_draws(consensus)
    if chosen is not None:
        shown["curves"] = SelectionDisplay.from_selection(chosen)
        shown["cdf"] = _if_any(lambda: CdfDisplay.from_selection(chosen))
        shown["tracking"] = _if_any(lambda: TrackingDisplay.from_selection(chosen, **bounds))
    if beside.truth is not None:
        shown["confusion"] = ConfusionDisplay.from_labels(consensus, _classes(consensus, beside.truth))
    if beside.coordinates is not None:
        shown["scatter"] = ScatterDisplay.from_consensus(
            consensus, beside.coordinates, confidence=diagnostics.confidence, names=beside.names, seed=beside.seed
        )
    return Pictures(**shown)


def _if_any(make: Callable[[], Any]) -> Any:
    """The display, or None where there is nothing to draw."""
    with suppress(ParameterError):
        return make()
    return None


def _repeat(consensus: Consensus, beside: Beside) -> RepeatFacts:
    recipe = consensus.recipe
    lines: list[tuple[str, str]] = []
    if recipe is not None:
        lines = [
            ("Method", recipe.method),
            ("Number of clusters", "inferred by the method" if recipe.k is None else str(recipe.k)),
            ("Seed", str(recipe.seed)),
            ("Fingerprint of the data", recipe.fingerprint),
            *((f"Setting {name}", str(plain(value))) for name, value in recipe.params.items() if value is not None),
        ]
    return RepeatFacts(beside.command, beside.labels_command, tuple(lines), tuple(versions()))


def versions() -> Iterator[tuple[str, str]]:
    """What was at work."""
    yield "partita", __version__
    yield "Python", f"{platform.python_version()} on {platform.system()} {platform.machine()}"
    for package in PACKAGES:
        with suppress(PackageNotFoundError):
            yield package, version(package)
