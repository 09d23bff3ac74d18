"""All diagnostics and all displays of a million objects, drawn to PNG, in one process."""

import io
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks.cases.diagnostics import MEGABYTES, OBJECTS, SMALL, extrapolated, labels_and_consensus
from benchmarks.harness import Case, Contestant

SECONDS = 60.0
KS = range(2, 11)
SWEEPS, DRAWS = 2000, 20


def displays(ensemble: Any, consensus: Any, found: Any, truth: np.ndarray) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Every display by name, and what makes it from the table; what a selection or a sampler gives is stood in for."""
    import partita
    from partita import metrics, report
    from partita.report.displays.selection import Curve

    known = consensus.labels
    rng = np.random.default_rng(0)
    merged = {k: known % k for k in KS}
    tables = {k: partita.Ensemble.from_labels(ensemble.labels % k) for k in KS}
    places = rng.normal(size=(len(known), 2)) + 3 * rng.normal(size=(consensus.k, 2))[known]
    trace = {"log joint by sweep": tuple(tuple(np.log1p(np.arange(SWEEPS))) for _ in range(4))}
    draws = partita.Draws.of(np.stack([known % (2 + i % 9) for i in range(DRAWS)]), np.arange(DRAWS) % 4)
    curve = Curve("ANMI", np.linspace(0.3, 0.9, len(KS)), None, 10, True)
    pairs: Callable[[], Any] = lambda: {k: metrics.coassociation(tables[k], seed=k) for k in KS}  # noqa: E731
    yield "heatmap", lambda: report.HeatmapDisplay.from_consensus(ensemble, consensus, items=found.items)
    yield "items", lambda: report.ItemDisplay.from_items(found.items, consensus)
    yield "agreement", lambda: report.AgreementDisplay.from_agreement(found.agreement)
    yield "alluvial", lambda: report.AlluvialDisplay.from_consensus(ensemble, consensus)
    yield "cdf", lambda: report.CdfDisplay.from_coassociations(pairs(), k=10)
    yield "tracking", lambda: report.TrackingDisplay.from_labels(merged, k=10)
    yield "confusion", lambda: report.ConfusionDisplay.from_labels(consensus, truth)
    yield "scatter", lambda: report.ScatterDisplay.from_consensus(consensus, places, confidence=found.items.own)
    yield "label table", lambda: report.ConsensusDisplay.from_consensus(ensemble, consensus)
    yield "trace", lambda: report.TraceDisplay.from_consensus(partita.Consensus.hard(known, detail=trace))
    yield "numbers", lambda: report.NumbersDisplay.from_draws(draws)
    yield "selection", lambda: report.SelectionDisplay("k = 10", tuple(KS), 10, (curve,))


def ours(data: tuple[np.ndarray, np.ndarray]) -> dict[str, float]:
    """partita.diagnose from the label table on, then every display computed and drawn."""
    import partita

    begin = time.perf_counter()
    ensemble, consensus = partita.Ensemble.from_labels(data[0]), partita.Consensus.hard(data[1])
    found = partita.diagnose(ensemble, consensus)
    spent = {"diagnostics s": time.perf_counter() - begin}
    sizes = []
    for _, make in displays(ensemble, consensus, found, data[1]):
        file = io.BytesIO()
        make().save(file)
        sizes.append(file.tell())
    whole = time.perf_counter() - begin
    spent["displays s"] = whole - spent["diagnostics s"]
    return spent | {"share of the time allowed": whole / SECONDS, "displays": len(sizes), "PNG MB": sum(sizes) / 1e6}


def figures(result: Any, data: Any) -> dict[str, float]:
    """Where the time went."""
    return result if isinstance(result, dict) else {}


CASES = [
    Case(
        "pictures",
        "all diagnostics, and all displays drawn to PNG, of 10^6 objects in 20 clusterings, 10 clusters; "
        f"allowed {SECONDS:.0f} s and {MEGABYTES:.0f} MB",
        lambda: labels_and_consensus(OBJECTS),
        (
            Contestant("partita diagnose and 12 displays", ours, lambda: labels_and_consensus(60_000)),
            Contestant(f"n x n, diagnostics alone, extrapolated from {SMALL}", extrapolated),
        ),
        figures,
        repeats=0,
        allowed=MEGABYTES,
    ),
]
