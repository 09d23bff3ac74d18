"""Any scikit-learn clusterer as a base clusterer."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.random import Generator

from partita.core.errors import MethodError, ParameterError
from partita.core.types import FloatArray, IntArray
from partita.generate.base import Clusterer, Fitted

FAILURES = (ValueError, TypeError, ArithmeticError, RuntimeError, np.linalg.LinAlgError)


@dataclass(frozen=True, slots=True)
class NoSettings:
    """An estimator brings its settings with it."""


def adapted(estimator: Any) -> Clusterer:
    """A scikit-learn clusterer, mixture, or pipeline that ends in one; it is cloned for each member, never changed.

    Its `n_clusters` or `n_components` is set to the member's k, unless it has none or it is None (DBSCAN, HDBSCAN, a
    distance threshold); every `random_state` is set. Noise points (-1) have no label.
    """
    if isinstance(estimator, type) or not (hasattr(estimator, "get_params") and hasattr(estimator, "fit")):
        raise ParameterError(
            f"base={estimator!r:.60} is no base clusterer; give a name, or a scikit-learn clusterer such as KMeans()"
        )
    last = estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator
    if not hasattr(last, "fit_predict"):
        raise ParameterError(f"base={estimator!r:.60} has no fit_predict; give a clusterer, or a pipeline of one")
    soft, places = hasattr(last, "predict_proba"), hasattr(last, "predict")
    return Clusterer(partial(_fit, estimator), NoSettings, soft=soft, places=places)


def _fit(estimator: Any, X: FloatArray, k: int, params: NoSettings, rng: Generator) -> Fitted:
    from sklearn.base import clone

    model = clone(estimator)
    model.set_params(**_settings(model, k, rng))
    try:
        labels = _labels(model.fit_predict(X))
        soft = np.asarray(model.predict_proba(X), np.float64) if hasattr(model, "predict_proba") else None
    except FAILURES as error:
        raise MethodError(f"{type(model).__name__} failed on {X.shape[0]} objects with k = {k}: {error}") from error
    place = partial(_predicted, model) if hasattr(model, "predict") else None
    return Fitted(labels, soft, place, None if soft is None else model.predict_proba)


def _settings(model: Any, k: int, rng: Generator) -> dict[str, Any]:
    """What is set in a clone: the number of clusters of its last step, and every seed."""
    found = model.get_params()
    prefix = f"{model.steps[-1][0]}__" if hasattr(model, "steps") else ""
    numbers = [prefix + name for name in ("n_clusters", "n_components") if prefix + name in found]
    chosen: dict[str, Any] = {numbers[0]: k} if numbers and found[numbers[0]] is not None else {}
    seeds = [name for name in sorted(found) if name.rpartition("__")[2] == "random_state"]
    return chosen | {name: int(rng.integers(2**31)) for name in seeds}


def _predicted(model: Any, X: FloatArray) -> IntArray:
    return _labels(model.predict(X))


def _labels(labels: Any) -> IntArray:
    return np.asarray(labels).astype(np.int32)
