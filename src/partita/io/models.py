"""Fitted models as files: arrays and one text that says what they mean, without pickled objects.

An NPZ archive of `bias` (m,), `tables` (t, m), those of `strength`, `reference`, `weights`, `shares`, `centers` and
`counts` (t, k) that the model has, and `about`: JSON with the format, its version, link, names, classes, missing
values, recipe and whether the model is approximate.
"""

from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from partita.core.coding import Label, MissingRule, label_key
from partita.core.consensus import Consensus
from partita.core.ensemble import Ensemble
from partita.core.errors import FileError, MethodError
from partita.core.links import LINKS, PROBABILITIES
from partita.core.model import ColumnModel
from partita.core.recipe import Recipe
from partita.core.soft import SoftEnsemble
from partita.core.types import FloatArray, FrozenDict, IntArray
from partita.io.archive import MODEL, check_archive_path, checked, need, read_archive, write_archive
from partita.io.labels import read_back, written
from partita.io.source import naming
from partita.io.summary import plain_recipe
from partita.io.writing import check_order
from partita.kernels.scores import IMPOSSIBLE

VERSION: Final = 2
ARRAYS: Final = ("bias", "tables", "strength", "reference", "weights", "shares", "centers", "counts")
LOGARITHMS: Final = (1e4 * IMPOSSIBLE, 1e-9)
"""Between these lie logarithms of probabilities, also of those that are 0 and of those that count several times."""
RANGES: Final[dict[str, dict[str, tuple[float, float]]]] = {
    "share": {"bias": (0.0, np.inf), "tables": (0.0, np.inf)},
    "softmax": {"bias": LOGARITHMS, "tables": LOGARITHMS},
    "dirichlet": {"bias": (1e-6 * (1 - 1e-9), 1e6 * (1 + 1e-9)), "tables": LOGARITHMS},
}
"""Between which numbers a link can work: shares are not negative, and a Dirichlet's parameters are above 0."""
SLACK: Final = 1e-6
"""How far sums of probabilities may lie from 1 by rounding."""
LIGHTEST: Final = 1e-300
"""Below this weight of a clustering, the chances of its labels are lost in rounding."""


def save_model(result: Consensus | ColumnModel, path: str | Path) -> None:
    """Write the model of a result, or a model itself, to a file (by custom .npz) that `load_model` reads.

    The file holds arrays and text alone, so that reading one from a stranger runs nothing. It appears whole or not at
    all.
    """
    check_order(result, path, "save_model")
    model = result.model if isinstance(result, Consensus) else result
    if not isinstance(model, ColumnModel):
        raise MethodError(f"{_whose(result)}; use the result of partita.consensus")
    with naming(path):
        check_archive_path(path, MODEL)
        write_archive(path, MODEL, _about(model), _arrays(model))


def load_model(path: str | Path) -> ColumnModel:
    """The model in a file written by `save_model` (or `partita run --save-model`), ready to place new objects.

    >>> import partita, tempfile, pathlib
    >>> result = partita.consensus([["a", 1], ["a", 1], ["b", 2]], "voting", 2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     partita.save_model(result, pathlib.Path(folder) / "model.npz")
    ...     model = partita.load_model(pathlib.Path(folder) / "model.npz")
    >>> model.predict([["b", 2]]).tolist()
    [1]
    """
    with naming(path):
        about, arrays = read_archive(path, MODEL)
        _check_about(about)
        return checked(lambda: _model({name: arrays[name] for name in ARRAYS if name in arrays}, about), MODEL)


def check_model(model: ColumnModel) -> None:
    """Raise an `InconsistentError` if no fit can have produced this model."""
    about = _about(model)
    _check_about(about)
    _model(_arrays(model), about)


def check_model_path(path: Any) -> None:
    """Refuse, before long work, a path to which no model could be written."""
    with naming(path):
        check_archive_path(path, MODEL)


def check_labels(ensemble: Ensemble | SoftEnsemble) -> None:
    """Refuse, before long work, a table with labels that no model file can hold; a clustering of weight 0 has none."""
    for name, classes, weight in zip(ensemble.names, ensemble.classes, ensemble.weights, strict=True):
        if weight > 0:
            _written(name, classes)


def _written(name: str, classes: tuple[Label, ...]) -> list[Any]:
    return [written(value, f"clustering {name!r}") for value in classes]


def _whose(result: Any) -> str:
    if not isinstance(result, Consensus):
        return f"a {type(result).__name__} is no result of partita.consensus"
    return "this consensus has no model"


def _arrays(model: ColumnModel) -> dict[str, FloatArray]:
    counts = np.ascontiguousarray(np.concatenate(model.counts, axis=1).T) if model.counts else None
    plain = {name: getattr(model, name) for name in ARRAYS if name not in ("tables", "counts")}
    arrays = plain | {"tables": model.stacked, "counts": counts}
    return {name: array for name, array in arrays.items() if array is not None}


def _about(model: ColumnModel) -> dict[str, Any]:
    values = sorted((value for _, value in model.missing.values), key=lambda value: (type(value).__name__, repr(value)))
    return {
        "version": VERSION,
        "method": model.recipe.method if model.recipe else None,
        "link": model.link,
        "names": list(model.names),
        "classes": [_written(name, classes) for name, classes in zip(model.names, model.classes, strict=True)],
        "missing": [written(value, "missing") for value in values] if model.missing.said else None,
        "recipe": plain_recipe(model.recipe),
        "approximate": model.approximate,
    }


def _check_about(about: dict[str, Any]) -> None:
    """Raise a `FileError` if this version of Partita cannot read the model."""
    version = about.get("version")
    if type(version) is not int or version != VERSION:
        raise FileError(f"is a model of version {version!r:.20}, this Partita reads version {VERSION}; {MODEL.way_out}")
    if about.get("link") not in list(LINKS):
        raise FileError(
            f"is a model with the link {about.get('link')!r:.40}, which this Partita lacks; install a newer one"
        )


def _model(arrays: dict[str, NDArray[Any]], about: dict[str, Any]) -> ColumnModel:
    names, classes = about["names"], about["classes"]
    need(isinstance(names, list) and all(isinstance(name, str) for name in names), "names")
    need(0 < len(names) == len(set(names)) == len(classes), "names and classes")
    labels = tuple(tuple(map(read_back, values)) for values in classes)
    need(all(len(set(map(label_key, values))) == len(values) for values in labels), "classes")
    clusters, places = len(arrays["bias"]), np.cumsum([len(values) for values in labels])
    width = len(arrays["centers"]) if "centers" in arrays else clusters
    width = arrays["shares"].shape[-1] if "shares" in arrays else width
    shapes = {
        "bias": (clusters,),
        "tables": (int(places[-1]), clusters),
        "strength": (clusters,),
        "reference": (clusters, int(places[-1])),
        "weights": (len(names),),
        "shares": (clusters, width),
        "centers": (width, clusters),
        "counts": (int(places[-1]), width),
    }
    need(("centers" in arrays) == (about["link"] == "nearest"), "centers")
    for name, array in arrays.items():
        need(array.dtype == np.float64 and array.shape == shapes[name] and array.size > 0, name)
    _check_values(arrays, about["link"])
    _check_sums(arrays, about["link"], places)
    missing = about["missing"]
    need(missing is None or isinstance(missing, list), "missing values")
    need(isinstance(about["approximate"], bool), "approximate")
    counts = np.split(np.ascontiguousarray(arrays["counts"].T), places[:-1], axis=1) if "counts" in arrays else ()
    return ColumnModel(
        arrays["bias"],
        tuple(np.split(np.ascontiguousarray(arrays["tables"].T), places[:-1], axis=1)),
        about["link"],
        tuple(names),
        labels,
        MissingRule()
        if missing is None
        else MissingRule(frozenset(map(label_key, map(read_back, missing))), said=True),
        arrays.get("strength"),
        arrays.get("reference"),
        arrays.get("weights"),
        _recipe(about["recipe"]),
        arrays.get("shares"),
        arrays.get("centers"),
        tuple(counts),
        about["approximate"],
    )


def _check_values(arrays: dict[str, NDArray[Any]], link: str) -> None:
    """All numbers are finite, but for clusters that nothing can reach, and such as the link can work with."""
    for name, array in arrays.items():
        if name == "bias":
            need(not np.isnan(array).any() and array.max() < np.inf and np.isfinite(array).any(), name)
            need(link == "best" or bool(np.isfinite(array).all()), name)
        else:
            need(bool(np.isfinite(array).all()), name)
        if name in RANGES.get(link, {}):
            low, high = RANGES[link][name]
            need(bool((array >= low).all() and (array <= high).all()), name)
        if name in ("weights", "shares", "counts"):
            need(bool((array >= 0).all() and array.any()), name)


def _check_sums(arrays: dict[str, NDArray[Any]], link: str, places: IntArray) -> None:
    """Weights are at most 1 on average, the chances of components sum to 1, those of labels and shares to no more.

    The labels of clustering j end at `places[j]`.
    """
    weights, shares = arrays.get("weights"), arrays.get("shares")
    with np.errstate(over="ignore"):
        need(weights is None or bool(weights.mean() <= 1 + SLACK), "weights")
        need(shares is None or bool((shares.sum(axis=1) <= 1 + SLACK).all()), "shares")
    if link not in PROBABILITIES:
        return
    need(weights is not None, "weights")
    assert weights is not None
    if link == "softmax":
        need(bool(abs(np.exp(arrays["bias"]).sum() - 1) <= SLACK), "bias")
    for weight, table in zip(weights, np.split(arrays["tables"], places[:-1]), strict=True):
        if weight > LIGHTEST:
            with np.errstate(over="ignore"):
                chances = np.exp(table / weight if link == "softmax" else table)
            need(bool((chances.sum(axis=0) <= 1 + SLACK).all()), "tables")


def _recipe(found: Any) -> Recipe | None:
    if found is None:
        return None
    made = found.get("made")
    frozen_parts = {"params": FrozenDict(found["params"]), "made": None if made is None else FrozenDict(made)}
    recipe = Recipe(**found | frozen_parts)
    texts = (recipe.method, recipe.version, recipe.fingerprint)
    need(all(isinstance(text, str) for text in texts) and type(recipe.seed) is int, "recipe")
    need(recipe.k is None or type(recipe.k) is int, "recipe")
    return recipe
