"""Displays of every kind for an ensemble and a consensus, and the cases that every one must bear."""

from dataclasses import replace

import numpy as np

from partita import Consensus, Draws, Ensemble
from partita.metrics import clustering_agreement, coassociation, column_nmi, item_consensus
from partita.report import (
    AgreementDisplay,
    AlluvialDisplay,
    CdfDisplay,
    ConfusionDisplay,
    ConsensusDisplay,
    HeatmapDisplay,
    ItemDisplay,
    NumbersDisplay,
    ResultDisplay,
    ScatterDisplay,
    SelectionDisplay,
    TraceDisplay,
    TrackingDisplay,
)
from partita.report.displays.selection import Curve
from tests.samples import noisy_labels, noisy_soft

ODD = (
    "$a$",
    "_x",
    "聚类",
    "结果",
    "a very long name of a clustering that goes on and on",
    "a\nb",
    "<b>&",
    r"$\frac{1}{",
)


def numbered(truth):
    return np.unique(truth, return_inverse=True)[1]


def case(n=60, r=5, k=4, noise=0.2, missing=0.0, names=None, hidden=0):
    """An ensemble of noisy copies and the truth as its consensus, the first `hidden` objects without a label."""
    labels, truth = noisy_labels(n=n, r=r, k=k, noise=noise, missing=missing)
    codes = numbered(truth)
    codes[:hidden] = -1
    labels[:hidden] = -1
    confidence = np.linspace(0.3, 1.0, n)
    ensemble = Ensemble.from_labels(labels, missing=-1, names=names, transpose=False)
    return Consensus.hard(codes, confidence=confidence), ensemble


def soft():
    ensemble = noisy_soft()
    return Consensus.hard(ensemble.block(0).argmax(axis=1)), ensemble


def singletons():
    labels = np.array([[0, 0], [0, 0], [0, 1], [1, 2], [2, 3]])
    return Consensus.hard([0, 0, 0, 1, 2]), Ensemble.from_labels(labels, transpose=False)


def weighted():
    consensus, ensemble = case()
    return consensus, ensemble.with_counts(1.0 + np.arange(len(ensemble)) % 3)


CASES = {
    "small": case,
    "missing labels": lambda: case(missing=0.4, hidden=3),
    "one cluster": lambda: case(k=1),
    "one object": lambda: (Consensus.hard([0]), Ensemble.from_labels([[0, 1]], transpose=False)),
    "one clustering": lambda: case(r=1),
    "clusters of one object": singletons,
    "sixty clusters": lambda: case(n=240, r=3, k=60),
    "odd names": lambda: case(r=len(ODD), names=ODD),
    "binned": lambda: case(n=2500, r=3, k=5),
    "soft": soft,
    "multiplicities": weighted,
}


def with_agreement(ensemble, consensus):
    """The consensus with the rows of its agreement with each base clustering."""
    nmi = column_nmi(ensemble, consensus.labels).tolist()
    rows = ({"clustering": name, "nmi": value} for name, value in zip(ensemble.names, nmi, strict=True))
    return replace(consensus, agreement=tuple(rows))


def every_display(consensus, ensemble, names=ODD):
    """One display of each kind, by name."""
    items = item_consensus(ensemble, consensus)
    n, known = len(consensus), consensus.labels
    merged = {k: np.where(known < 0, -1, known % k) for k in (1, 2, 3, 5)}
    points = np.random.default_rng(0).normal(size=(n, 2))
    draws = Draws.of(np.stack([np.where(known < 0, -1, known % k) for k in (1, 2, 2, 3)]), [0, 0, 1, 1])
    traces = {"log joint by sweep": ((1.0, 2.0, 3.0), (0.0, 2.5, 2.75)), "clusters by sweep": ((3, 2, 2), (1, 2, 4))}
    curves = (Curve("BIC ($)", np.array([3.0, np.nan, 2.0]), None, 4, True),)
    return {
        "heatmap": HeatmapDisplay.from_consensus(ensemble, consensus, items=items),
        "cdf": CdfDisplay.from_coassociations({k: coassociation(ensemble, seed=k) for k in (2, 3)}, k=3),
        "tracking": TrackingDisplay.from_labels(merged, k=2),
        "items": ItemDisplay.from_items(items, consensus),
        "agreement": AgreementDisplay.from_agreement(clustering_agreement(ensemble)),
        "alluvial": AlluvialDisplay.from_consensus(ensemble, consensus),
        "confusion": ConfusionDisplay.from_labels(consensus, [names[i % len(names)] for i in range(n)]),
        "trace": TraceDisplay.from_consensus(Consensus.hard(known, detail=traces)),
        "numbers": NumbersDisplay.from_draws(draws, k=2),
        "scatter": ScatterDisplay.from_consensus(consensus, points, names=("$x_1$", "聚")),
        "consensus": ConsensusDisplay.from_consensus(ensemble, consensus),
        "result": ResultDisplay.from_result(with_agreement(ensemble, consensus)),
        "selection": SelectionDisplay("k = 4, $", (2, 3, 4), 4, curves),
    }
