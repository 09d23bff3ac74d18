"""cluster(): features in, an ensemble made of them, its consensus out."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from partita import registry
from partita.api import consensus
from partita.core.consensus import Consensus
from partita.core.ensemble import Ensemble
from partita.core.errors import MethodError, ParameterError
from partita.core.features import Features, as_features
from partita.core.method import is_several
from partita.core.soft import AnyEnsemble
from partita.core.suggest import similar, suggests_names
from partita.fitting import Asked
from partita.generate.making import Made, Making
from partita.generate.registry import WAYS

WAY: Final = "uspec"
METHOD: Final = "lwgp"
SCALE: Final = "standard"
WIDEST: Final = 4
"""Members have up to so many times the clusters asked for."""


@suggests_names
def cluster(
    X: Any,
    k: Any = None,
    *,
    way: str = WAY,
    method: str = METHOD,
    settings: Mapping[str, Any] | None = None,
    seed: int | None = 0,
    threads: int | None = None,
    **params: Any,
) -> Consensus:
    """Cluster objects by their features: make an ensemble of base clusterings and find its consensus.

    Parameters
    ----------
    X
        (n, d) finite numbers, objects in rows: an array, nested lists, a dataframe, a small sparse matrix.
    k : int, range or list of int, optional
        The number of clusters. If several are given or k is omitted, it is chosen from the base clusterings as in
        `consensus`.
    way
        How the ensemble is made, as in `make_ensemble`.
    method
        The consensus function, as in `consensus`.
    settings
        The consensus function's own settings.
    seed
        Fixes every random choice of both steps.
    threads
        At most so many threads; the result does not depend on it.
    **params
        Settings of the way and of its base clusterer, such as `members` (20), `base`, `scale` ("standard": every
        feature counts alike; "none": as they are); `base_k` is the number of clusters of each member or a range of it.
        Default: k to 4 k (from the smallest to 4 times the largest if several are given), or what the way does
        without k.

    The result is that of `make_ensemble` and then `consensus`, and its recipe tells both.

    >>> cluster([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]], 2).labels.tolist()
    [0, 0, 0, 1, 1, 1]
    """
    return Clustering.of(k, (way, method), params, settings, seed, cluster).on(X, threads)[1]


@dataclass(frozen=True, slots=True)
class Clustering:
    """What was asked for, checked: how the ensemble is made, and how its consensus is found."""

    making: Making
    method: str
    settings: Mapping[str, Any]
    k: Any

    @classmethod
    def of(
        cls,
        k: Any,
        names: tuple[str, str],
        params: Mapping[str, Any] | None,
        settings: Mapping[str, Any] | None,
        seed: int | None,
        function: Callable[..., Any] | None = None,
    ) -> "Clustering":
        """The way and the method of these names, with their settings."""
        way, method = names
        given = dict(params or {})
        if "k" in given:
            raise ParameterError(f"k={given['k']!r} is no setting of a way here; base_k is what its members have")
        base_k = given.pop("base_k", None)
        k = list(k) if is_several(k) and not isinstance(k, range) else k
        numbers = [number for number in (k if is_several(k) else (k,)) if isinstance(number, (int, np.integer))]
        if base_k is None and numbers and min(numbers) >= 1:
            base_k = (int(min(numbers)), WIDEST * int(max(numbers)))
        known = similar(method, WAYS) if method not in registry.METHODS else []
        if known and str(method).lower().replace("_", "-") == known[0]:
            raise MethodError(
                f"method={method!r} makes base clusterings and is not a consensus method; give way={known[0]!r} "
                f"(--way {known[0]})"
            )
        making = Making.of(way, {"scale": SCALE, "k": base_k, **given}, seed, function)
        Asked.of(method, settings or {}, making.seed)
        if making.options.soft:
            _check_takes_soft(way, method)
        return cls(making, method, dict(settings or {}), k)

    def on(self, X: Any, threads: int | None = None) -> tuple[Made, Consensus]:
        """The ensemble of these objects, and its consensus."""
        features = as_features(X)
        if isinstance(self.k, (int, np.integer)) and self.k > len(features.matrix):
            raise ParameterError(f"k={self.k} is more than the {len(features.matrix)} objects; give a smaller k")
        made = self.making.on(features, threads)
        if made.interrupted:
            raise KeyboardInterrupt
        _check_told_apart(self.k, made.ensemble)
        found = consensus(made.ensemble, self.method, self.k, seed=self.making.seed, threads=threads, **self.settings)
        return made, self._recorded(found, features)

    def _recorded(self, found: Consensus, features: Features) -> Consensus:
        """The consensus with a recipe that tells of the ensemble, too."""
        if found.recipe is None:
            return found
        recipe = replace(found.recipe, made=self.making.told(features))
        model = None if found.model is None else replace(found.model, recipe=recipe)
        return replace(found, recipe=recipe, model=model)


def _check_takes_soft(way: str, method: str) -> None:
    """Refuse, before any work, memberships for a method of labels."""
    if registry.get(method).takes is Ensemble:
        able = ", ".join(name for name in registry.METHODS if registry.get(name).takes is not Ensemble)
        raise MethodError(
            f"{way} makes memberships here, and {method} takes labels; choose a method that takes memberships "
            f"({able}), or labels by soft=False (--set soft=no)"
        )


def _check_told_apart(k: Any, ensemble: AnyEnsemble) -> None:
    """Refuse more clusters than the base clusterings can give, in words of features instead of rows."""
    groups = len(ensemble.distinct.first)
    if isinstance(k, (int, np.integer)) and k > groups:
        what = "one group of objects" if groups == 1 else f"{groups} groups of objects"
        raise ParameterError(
            f"k={k}, but the base clusterings tell only {what} apart; give a smaller k, or another way, base or scale"
        )
