"""Trials of Strehl and Ghosh 2002: one function per table, figure or section.

2D2K and 8D5K are drawn anew in every trial; `supra` is the best by ANMI of CSPA, HGPA and MCLA, each balancing object
by object, as the paper's do.
"""

import time
from collections.abc import Callable, Mapping
from itertools import product
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.random import Generator

from partita.core.checks import ALL
from partita.core.consensus import Consensus
from partita.core.ensemble import Ensemble
from partita.core.types import MISSING, FloatArray, IntArray
from partita.datasets.base import Dataset
from partita.datasets.synthetic import make_2d2k, make_8d5k, noise_labels
from partita.experiments.exhibit import Row, Trial
from partita.experiments.trials import best_by_anmi, fitted, seed_of, shuffled
from partita.generate import objects as parts_of_objects
from partita.generate.clusterers import get as clusterer
from partita.generate.making import Making, make_ensemble
from partita.generate.noise import noisy
from partita.generate.plans import Shape
from partita.generate.portfolio import TEN
from partita.graph.incidence import incidence
from partita.metrics import anmi, misassignment, nmi
from partita.polishing import polish

THREE: Final = ("cspa", "hgpa", "mcla")


class Case(NamedTuple):
    """A data set with the paper's settings for it (Tables 2 and 3)."""

    name: str
    k: int
    base: str
    features: int
    """Of each view in FDC."""
    views: int
    make: Callable[[Generator], Dataset] | None = None


CASES: Final = {
    "2D2K": Case("2d2k", 2, "graph", 1, 3, make_2d2k),
    "8D5K": Case("8d5k", 5, "graph", 2, 5, make_8d5k),
    "PENDIG": Case("pendigits", 10, "graph", 4, 10),
    "YAHOO": Case("yahoo_k1", 40, "graph-cosine", 128, 20),
}
NAMES: Final = tuple(case.name for case in CASES.values())


def drawn(case: Case, trial: Trial, most: int | None = None) -> Dataset:
    """The data set, made anew where it can be, in random order."""
    whole = case.make(trial.rng) if case.make else trial.data(case.name)
    return shuffled(whole, trial.rng, most)


def whole_labels(X: FloatArray, case: Case, rng: Generator) -> IntArray:
    """The clustering of all objects by all features."""
    base = clusterer(case.base)
    found: IntArray = base.fit(np.ascontiguousarray(X), case.k, base.Params(), rng).labels
    return found


def made(X: FloatArray, way: str, case: Case, rng: Generator, **params: Any) -> Ensemble:
    """An ensemble of one of our ways, with the case's k; one thread."""
    found = make_ensemble(X, way, seed=seed_of(rng), threads=1, k=case.k, **params)
    assert isinstance(found, Ensemble)
    return found


def combined(ensemble: Ensemble, k: int, rng: Generator) -> dict[str, Consensus]:
    """The three consensus functions and the one of highest ANMI."""
    results = {name: fitted(ensemble, name, k, rng) for name in THREE}
    return results | {"supra": best_by_anmi(list(results.values()))}


def qualities(results: Mapping[str, Consensus], classes: IntArray) -> dict[str, float]:
    """NMI of each with the classes."""
    return {name: nmi(result.labels, classes) for name, result in results.items()}


# The example of seven objects, and noise on a labelling

SEVEN: Final = ((1, 2, 1, 1), (1, 2, 1, 2), (1, 2, 2, -1), (2, 3, 2, 1), (2, 3, 3, 2), (3, 1, 3, -1), (3, 1, 3, -1))


def example_trial(trial: Trial) -> Mapping[str, float]:
    """MCLA's share of association of one of the seven objects of Table 1, which the paper calls confidence."""
    result = fitted(Ensemble.from_labels(SEVEN, missing=-1), "mcla", 3, trial.rng)
    assert result.membership is not None
    return {"mcla": float(result.membership[int(trial.row.panel.removeprefix("x")) - 1].max())}


def seven_ensemble() -> Ensemble:
    """The four clusterings of seven objects in Table 1; -1 is the printed question mark."""
    return Ensemble.from_labels(SEVEN, missing=-1)


def similarity_trial(trial: Trial) -> Mapping[str, float]:
    """Figure 2: one row of H H' / r, of one clustering of the example or of all four together."""
    ensemble = seven_ensemble()
    if trial.row.panel != COMBINED:
        ensemble = ensemble.columns([int(trial.row.panel.split()[1]) - 1])
    H = incidence(ensemble, np.ones(int(ensemble.offsets[-1]))).toarray()
    similar = H @ H.T / len(ensemble.names)
    return dict(zip(POINTS, similar[POINTS.index(str(trial.row.x))].tolist(), strict=True))


def cut_hyperedges(ensemble: Ensemble, labels: IntArray) -> int:
    """Hyperedges (base clusters) with objects in more than one cluster."""
    H = incidence(ensemble, np.ones(int(ensemble.offsets[-1]))).toarray() > 0
    return sum(len(set(labels[edge].tolist())) > 1 for edge in H.T)


def cut_trial(trial: Trial) -> Mapping[str, float]:
    """Figure 3: cut hyperedges of the printed division, of HGPA, and by enumeration of all divisions in three."""
    ensemble = seven_ensemble()
    if trial.row in (PRINTED, FITTED):
        labels = np.array([0, 0, 0, 1, 1, 2, 2])
        if trial.row == FITTED:
            labels = fitted(ensemble, "hgpa", 3, trial.rng).labels
        return dict(zip(CUT_COLUMNS, (cut_hyperedges(ensemble, labels), np.bincount(labels).max(), 1), strict=True))
    most = 3 if trial.row == BALANCED else len(SEVEN)
    divisions = [each for each in product(range(3), repeat=len(SEVEN)) if tuple(dict.fromkeys(each)) == (0, 1, 2)]
    allowed = [labels for labels in map(np.array, divisions) if np.bincount(labels).max() <= most]
    cuts = [cut_hyperedges(ensemble, labels) for labels in allowed]
    best = [labels for labels, cut in zip(allowed, cuts, strict=True) if cut == min(cuts)]
    largest = min(int(np.bincount(labels).max()) for labels in best)
    return dict(zip(CUT_COLUMNS, (min(cuts), largest, len(best)), strict=True))


POINTS: Final = tuple(f"x{i}" for i in range(1, 8))
COMBINED: Final = "combined"
PRINTED: Final = Row("printed division")
FITTED: Final = Row("HGPA")
BALANCED: Final = Row("least cut, at most 3 objects per cluster")
ANY_SIZES: Final = Row("least cut, any sizes")
CUT_COLUMNS: Final = ("hyperedges cut", "largest cluster", "divisions")


NOISE_COLUMNS: Final = ("random", "greedy", *THREE, "supra", "original")


def noise_trial(trial: Trial) -> Mapping[str, float]:
    """Figure 5: eight noisy copies of a labelling of 400 objects in 10 groups."""
    k = 10
    truth = noise_labels(trial.rng, 400, k)
    ensemble = noisy(truth, 8, float(trial.row.x), trial.rng)
    found: dict[str, IntArray] = {name: result.labels for name, result in combined(ensemble, k, trial.rng).items()}
    found["greedy"] = fitted(ensemble, "greedy", k, trial.rng).labels
    found["random"] = trial.rng.integers(k, size=len(truth))
    found["original"] = truth
    if trial.row.panel == "ANMI":
        return {name: anmi(ensemble, labels) for name, labels in found.items()}
    return {name: nmi(labels, truth) for name, labels in found.items()}


# Feature-distributed, object-distributed and robust centralised clustering

VIEW_COLUMNS: Final = ("all features", "supra", "max subspace", "average subspace", "min subspace", *THREE)


def views_of(trial: Trial) -> tuple[Dataset, Ensemble]:
    """A data set and its clusterings by random features."""
    case = CASES[trial.row.panel]
    data = drawn(case, trial)
    views = made(data.X, "features", case, trial.rng, members=case.views, size=case.features, base=case.base)
    return data, views


def features_trial(trial: Trial) -> Mapping[str, float]:
    """Table 3: clusterings that see few features, and their consensus."""
    case = CASES[trial.row.panel]
    data, ensemble = views_of(trial)
    single = [nmi(labels, data.labels) for labels in ensemble.labels.T]
    found = {"max subspace": max(single), "average subspace": float(np.mean(single)), "min subspace": min(single)}
    found["all features"] = nmi(whole_labels(data.X, case, trial.rng), data.labels)
    return found | qualities(combined(ensemble, case.k, trial.rng), data.labels)


def mislabelled_trial(trial: Trial) -> Mapping[str, float]:
    """Figures 6 and 7: how many objects of 8D5K are outside the best match with the classes."""
    data, ensemble = views_of(trial)
    best = combined(ensemble, CASES[trial.row.panel].k, trial.rng)["supra"]
    views = [misassignment(labels, data.labels) for labels in ensemble.labels.T]
    return {"supra": len(data) * misassignment(best.labels, data.labels), "best view": len(data) * min(views)}


VIEWS_SHOWN: Final = tuple(f"view {i}" for i in range(1, CASES["8D5K"].views + 1))


def panels_trial(trial: Trial) -> Mapping[str, float]:
    """Figure 7: mislabelled objects of each of the five views of 8D5K, and of their consensus."""
    data, ensemble = views_of(trial)
    best = combined(ensemble, CASES[trial.row.panel].k, trial.rng)["supra"]
    columns = dict(zip(VIEWS_SHOWN, ensemble.labels.T, strict=True)) | {"supra": best.labels}
    return {name: len(data) * misassignment(labels, data.labels) for name, labels in columns.items()}


class Seen(NamedTuple):
    """The views of a trial, with the features that each of them saw."""

    data: Dataset
    ensemble: Ensemble
    features: tuple[IntArray, ...]


def seen_by(trial: Trial) -> Seen:
    """The data set and views that `views_of` makes in the same trial."""
    case = CASES[trial.row.panel]
    data = drawn(case, trial)
    params = {"k": case.k, "members": case.views, "size": case.features, "base": case.base}
    result = Making.of("features", params, seed_of(trial.rng)).on(np.ascontiguousarray(data.X), 1)
    assert isinstance(result.ensemble, Ensemble)
    features = tuple(member.view.features for member in result.members)
    return Seen(data, result.ensemble, tuple(each for each in features if each is not None))


def objects_trial(trial: Trial) -> Mapping[str, float]:
    """Figure 8: overlapping parts, each object in two on average; NMI as a share of what the whole would give."""
    case = CASES[trial.row.panel]
    data = drawn(case, trial)
    parts = int(float(trial.row.x))
    ensemble = made(data.X, "objects", case, trial.rng, parts=parts, factor=2.0, base=case.base)
    full = nmi(whole_labels(data.X, case, trial.rng), data.labels)
    scores = qualities(combined(ensemble, case.k, trial.rng), data.labels)
    return {name: score / full for name, score in scores.items()}


def portfolio_trial(trial: Trial) -> Mapping[str, float]:
    """Figures 9 and 10: ten clusterers on a sample, and their consensus; NMI beyond that of random labels."""
    case = CASES[trial.row.panel]
    data = drawn(case, trial, int(float(trial.row.x)))
    ensemble = made(data.X, "portfolio", case, trial.rng)
    chance = nmi(trial.rng.integers(case.k, size=len(data)), data.labels)
    found = {name: nmi(labels, data.labels) for name, labels in zip(ensemble.names, ensemble.labels.T, strict=True)}
    found["average"] = float(np.mean([found[name] for name in TEN]))
    found |= qualities(combined(ensemble, case.k, trial.rng), data.labels)
    return {name: score - chance for name, score in found.items()}


# Section 4.4: the time that object-distributed clustering saves

SPEEDS: Final = ("sequential", "parallel", "sequential, parts alone", "parallel, parts alone")


def speed_trial(trial: Trial) -> Mapping[str, float]:
    """Return the speed-up of ODC over the clustering of all objects, in processor seconds.

    Sequential: the sum over parts and the consensus; parallel: the slowest part and the consensus, with a processor
    per part. The consensus is the better of HGPA and MCLA, as on p. 606. "Parts alone" leaves the consensus out.
    """
    case = CASES[trial.row.panel]
    data = drawn(case, trial)
    params = parts_of_objects.Params(k=case.k, parts=int(float(trial.row.x)), factor=2.0, base=case.base)
    views = parts_of_objects.plan(Shape(*data.X.shape), params, trial.rng)
    whole_labels(data.X, case, trial.rng)  # what is compiled or loaded at first use is not timed
    begin = time.thread_time()
    whole_labels(data.X, case, trial.rng)
    whole = time.thread_time() - begin
    labels = np.full((len(data), len(views)), MISSING, np.int64)
    spent = []
    for j, view in enumerate(views):
        assert view.rows is not None
        begin = time.thread_time()
        labels[view.rows, j] = whole_labels(data.X[view.rows], case._replace(k=view.k), view.rng)
        spent.append(time.thread_time() - begin)
    ensemble = Ensemble.from_labels(labels, missing=MISSING, transpose=False, allow=ALL)
    begin = time.thread_time()
    best_by_anmi([fitted(ensemble, name, case.k, trial.rng) for name in ("hgpa", "mcla")])
    joined = time.thread_time() - begin
    found = (sum(spent) + joined, max(spent) + joined, sum(spent), max(spent))
    return dict(zip(SPEEDS, (whole / seconds for seconds in found), strict=True))


# Section 6: ANMI as an indicator of NMI, and the greedy search after the supra-consensus

PAIRS: Final = tuple((name, f"ANMI {name}", f"NMI {name}") for name in THREE)
POLISHED: Final = ("labels moved %", "ANMI gain, hundredths", "NMI gain, hundredths")
EXPERIMENT_COLUMNS: Final = (*(column for _, *columns in PAIRS for column in columns), *POLISHED)


def experiment_of(trial: Trial) -> tuple[Ensemble, IntArray, int]:
    """An ensemble of one of the paper's experiments, the classes, and k."""
    scenario, place = trial.row.panel, str(trial.row.x)
    if scenario == "noise":
        truth = noise_labels(trial.rng, 400, 10)
        return noisy(truth, 8, float(place), trial.rng), truth, 10
    name, _, number = place.partition(" ")
    case = CASES[name]
    data = drawn(case, trial, int(number) if scenario == "RCC" else None)
    if scenario == "FDC":
        ensemble = made(data.X, "features", case, trial.rng, members=case.views, size=case.features, base=case.base)
    elif scenario == "ODC":
        ensemble = made(data.X, "objects", case, trial.rng, parts=int(number), factor=2.0, base=case.base)
    else:
        ensemble = made(data.X, "portfolio", case, trial.rng)
    return ensemble, data.labels, case.k


def experiment_trial(trial: Trial) -> Mapping[str, float]:
    """ANMI and NMI of the three consensus functions, and what the greedy search changes of the best by ANMI."""
    ensemble, classes, k = experiment_of(trial)
    results = combined(ensemble, k, trial.rng)
    values = {anmi_of: results[name].scores["anmi"] for name, anmi_of, _ in PAIRS}
    values |= {nmi_of: nmi(results[name].labels, classes) for name, _, nmi_of in PAIRS}
    before = results["supra"]
    after = polish(ensemble, before, k)
    moved = misassignment(after.labels, before.labels)
    gains = (after.scores["anmi"] - before.scores["anmi"], nmi(after.labels, classes) - nmi(before.labels, classes))
    return values | dict(zip(POLISHED, (100 * moved, *(100 * gain for gain in gains)), strict=True))
