"""What is measured for Punera and Ghosh 2007: soft ensembles of Table IV, and every method on one of them."""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from partita.core.soft import SoftEnsemble
from partita.experiments.exhibit import Row, Trial
from partita.experiments.trials import fitted, seed_of, shuffled
from partita.generate.making import make_ensemble
from partita.metrics import nmi

ATTRIBUTES: Final = {
    "8d5k": (3, 4, 5, 6),
    "vowel": (3, 4, 5, 6, 7),
    "pendigits": (3, 4, 6, 9, 12),
    "glass": (3, 4, 5, 6, 7),
    "yeast": (2, 3, 4, 5),
    "vehicle": (4, 5, 8, 11),
}
"""Table IV: how many features a base clusterer sees."""
LARGE: Final = "pendigits"
"""Too large for CSPA, HBGF and their soft forms in the paper; left out here too."""
HARD: Final = {"cspa": "scspa", "mcla": "smcla", "hbgf": "shbgf"}
"""Each hard method with its soft form."""
METHODS: Final = ("cspa", "scspa", "mcla", "smcla", "hbgf", "shbgf", "mm", "itk")
SEVEN: Final = METHODS[:-1]
THREE: Final = ("itk", "shbgf", "smcla")
SETTINGS: Final[dict[str, dict[str, Any]]] = {
    "mm": {"init": "random", "restarts": 3},
    "itk": {"init": "random", "restarts": 10},
}
ON_LARGE: Final = ("mcla", "smcla", "mm", "itk")
SIZES: Final = (2, 3, 4, 6, 10)
TOUGH: Final = (2, 3, 4)
"""So many clusterings, on the fewest attributes of Table IV, make a tough ensemble."""


def soft_scores(trial: Trial, name: str, attributes: int, members: int) -> Mapping[str, float]:
    """NMI of every method with the classes, on one soft ensemble of Gaussian mixtures on random attributes."""
    data = shuffled(trial.data(name), trial.rng)
    soft = make_ensemble(
        data.X, "mixtures", members=members, k=data.k, size=attributes, seed=seed_of(trial.rng), threads=1
    )
    assert isinstance(soft, SoftEnsemble)
    hard, found = soft.harden(), dict.fromkeys(METHODS, np.nan)
    for method in ON_LARGE if name == LARGE else METHODS:
        ensemble = hard if method in HARD or method == "mm" else soft
        result = fitted(ensemble, method, data.k, trial.rng, **SETTINGS.get(method, {}))
        found[method] = nmi(result.labels, data.labels)
    return found


def on_ensemble(trial: Trial) -> Mapping[str, float]:
    """One ensemble of Table IV: the row says "3 attributes, 5 clusterings"."""
    words = str(trial.row.x).split()
    return soft_scores(trial, trial.row.panel, int(words[0]), int(words[2]))


def with_attributes(trial: Trial) -> Mapping[str, float]:
    """Figures 1 and 2: more attributes, with as many clusterings as the panel says."""
    name, members, _ = trial.row.panel.replace(",", "").split()
    return soft_scores(trial, name, int(trial.row.x), int(members))


def with_clusterings(trial: Trial) -> Mapping[str, float]:
    """Figures 3 and 4: more clusterings, on as many attributes as the panel says."""
    name, attributes, _ = trial.row.panel.replace(",", "").split()
    return soft_scores(trial, name, int(attributes), int(trial.row.x))


def ensemble_row(name: str, attributes: int, members: int) -> Row:
    """The row of one kind of ensemble."""
    return Row(name, f"{attributes} attributes, {members} clusterings")


ENSEMBLES: Final = tuple(
    ensemble_row(name, attributes, members)
    for name, options in ATTRIBUTES.items()
    for attributes in options
    for members in (SIZES if name != LARGE else (2, 4, 8))
)
TOUGH_ROWS: Final = tuple(
    ensemble_row(name, options[0], members) for name, options in ATTRIBUTES.items() for members in TOUGH
)
QUICK_ROWS: Final = tuple(
    ensemble_row(name, attributes, members)
    for name in ("8d5k", "glass", "yeast")
    for attributes in (ATTRIBUTES[name][0], ATTRIBUTES[name][2])
    for members in (3, 6)
)
FIGURE_1: Final = tuple(
    Row(f"{name}, {members} clusterings", attributes)
    for name, members in (("pendigits", 4), ("vowel", 5))
    for attributes in ATTRIBUTES[name]
)
FIGURE_3: Final = tuple(
    Row(f"{name}, {attributes} attributes", members)
    for name, attributes in (("pendigits", 4), ("vowel", 4))
    for members in (2, 4, 6, 8, 10)
)
