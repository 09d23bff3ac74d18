"""make_ensemble(): plan what each member sees, cluster in parallel, collect."""

import dataclasses
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from partita.core import params as settings
from partita.core.blas import one_thread, openmp_limiter
from partita.core.checks import MADE
from partita.core.ensemble import Ensemble
from partita.core.errors import MethodError, ParameterError
from partita.core.features import Features, as_features
from partita.core.rng import generator, resolve_seed
from partita.core.soft import AnyEnsemble, SoftEnsemble
from partita.core.suggest import arguments, did_you_mean
from partita.core.threads import map_threads, thread_limit
from partita.core.types import MISSING, FloatArray, FrozenDict, IntArray
from partita.generate import clusterers, registry
from partita.generate.base import Clusterer, Fitted
from partita.generate.foreign import adapted
from partita.generate.plans import Common, Shape, View, Way
from partita.generate.scaling import Scaling

WHAT = "clustering"


def make_ensemble(
    X: Any, way: str = "restarts", *, seed: int | None = 0, threads: int | None = None, **params: Any
) -> Ensemble | SoftEnsemble:
    """An ensemble from features: many different clusterings of the same objects.

    Parameters
    ----------
    X
        (n, d) finite numbers, objects in rows: an array, nested lists, a dataframe, a small sparse matrix.
    way
        "restarts", "features", "objects", "portfolio", "bootstrap", "projections", "cuts", "mixtures" or "uspec".
    seed
        Fixes every random choice; None draws a new seed.
    threads
        At most so many threads; the result does not depend on it.
    **params
        Settings of the way, such as `members`, `k`, `base`, `soft`, `scale`; and those of the base clusterer, if it is
        given by name. `partita ways` lists them.

    >>> make_ensemble([[0.0], [0.1], [5.0], [5.2]], k=2, members=3)
    Ensemble(4 objects, 3 clusterings of 2 labels)
    """
    made = Making.of(way, params, seed, make_ensemble).on(X, threads)
    if made.interrupted:
        raise KeyboardInterrupt
    return made.ensemble


class Member(NamedTuple):
    """One base clustering: what it saw, what came of it, how it places new objects."""

    view: View
    values: Any
    """(n,) labels, or (n, k) memberships; MISSING or NaN where it has none."""
    place: Callable[[FloatArray], Any] | None
    """The same of new objects, given their scaled features."""


@dataclasses.dataclass(frozen=True)
class Made:
    """An ensemble and what it was made by."""

    ensemble: AnyEnsemble
    members: tuple[Member, ...]
    scaling: Scaling
    asked: int
    """How many members were asked for."""

    @property
    def interrupted(self) -> bool:
        """Whether the user stopped the work before all members were finished."""
        return len(self.members) < self.asked

    @property
    def places(self) -> bool:
        """Whether every member can place new objects."""
        return all(member.place is not None for member in self.members)

    def place(self, X: FloatArray) -> AnyEnsemble:
        """What the members say of new objects."""
        new = self.scaling.applied(X)
        found = []
        for name, member in zip(self.ensemble.names, self.members, strict=True):
            if member.place is None:
                raise MethodError(f"member {name!r} cannot place new objects; choose another base clusterer")
            found.append(member.place(new))
        return collected(found, self.ensemble.names, None)


@dataclasses.dataclass(frozen=True, slots=True)
class Making:
    """What was asked for, checked."""

    name: str
    way: Way
    options: Any
    bases: "_Bases"
    seed: int

    @classmethod
    def of(
        cls, name: str, params: Mapping[str, Any], seed: int | None, function: Callable[..., Any] | None = None
    ) -> "Making":
        """Return the way of that name; a setting that neither it nor its base clusterer has raises.

        The message on such a setting also suggests the arguments of `function`, which received the settings.
        """
        way = registry.get(name)
        own = {field.name for field in dataclasses.fields(way.Params)}
        options = settings.build(way.Params, {key: value for key, value in params.items() if key in own}, name)
        rest = {key: value for key, value in params.items() if key not in own}
        bases = _Bases(name, options, rest, arguments(function) if function else ())
        if getattr(options, "complete", False):
            bases.check_placing()
        return cls(name, way, options, bases, resolve_seed(seed))

    @property
    def places(self) -> bool:
        """Whether every base clusterer can place new objects."""
        return all(clusterer.places for clusterer, _ in self.bases.known.values())

    def on(self, X: Any, threads: int | None = None) -> Made:
        """The ensemble; Ctrl-C keeps the members that are finished, once there is one."""
        features = as_features(X)
        scaling = Scaling.of(features.matrix, self.options.scale)
        views = self.way.plan(Shape(*features.matrix.shape), self.options, generator(self.seed))
        work = _Work(np.ascontiguousarray(scaling.applied(features.matrix)), self.bases, self.options.soft)
        with thread_limit(threads), one_thread():
            work.run(views)
        places = sorted(work.found)
        members = tuple(work.found[place] for place in places)
        names = [called(views, self.name)[place] for place in places]
        ensemble = collected([member.values for member in members], names, features.ids)
        return Made(ensemble, members, scaling, len(views))

    def told(self, features: Features) -> FrozenDict:
        """All that is needed to make the same ensemble again."""
        used = {key: _plain(value) for key, value in _fields(self.options).items()}
        used |= self.bases.given
        return FrozenDict(way=self.name, params=used, seed=self.seed, features=features.fingerprint)


def _fields(options: Common) -> dict[str, Any]:
    return {field.name: getattr(options, field.name) for field in dataclasses.fields(options)}


def _plain(value: Any) -> Any:
    """A setting as a recipe can hold it: an estimator as what it prints."""
    if isinstance(value, (list, tuple)):
        return tuple(_plain(item) for item in value)
    return " ".join(repr(value).split()) if hasattr(value, "get_params") else value


class _Bases:
    """The base clusterers that were asked for, found before the work so that a mistake ends it at once."""

    def __init__(self, way: str, options: Common, given: Mapping[str, Any], others: Iterable[str]) -> None:
        self.way, self.soft, self.given, self.others = way, options.soft, dict(given), others
        self.known = {_key(base): self._found(base) for base in registry.get(way).bases(options)}

    def of(self, view: View) -> tuple[Clusterer, Any]:
        return self.known[_key(view.base)]

    def check_placing(self) -> None:
        """Refuse base clusterers that cannot place objects they have not seen."""
        for base, (clusterer, _) in self.known.items():
            if not clusterer.places:
                name = base if isinstance(base, str) else "the base clusterer"
                raise MethodError(
                    f"complete=True, but {name} cannot place objects; choose another base, such as kmeans, or leave "
                    "complete out"
                )

    def _found(self, base: Any) -> tuple[Clusterer, Any]:
        if isinstance(base, Clusterer):
            clusterer, name = base, self.way
        elif isinstance(base, str):
            clusterer, name = clusterers.get(base), base
        else:
            clusterer, name = adapted(base), type(base).__name__
        if self.soft and not clusterer.soft:
            raise MethodError(f"{name} has no memberships; choose base='gmm' (--base gmm), or leave soft out")
        known = {field.name for field in dataclasses.fields(clusterer.Params)}
        for key in self.given:
            if key not in known:
                listed = [field.name for field in dataclasses.fields(registry.get(self.way).Params)]
                guess = did_you_mean(key, [*self.others, *listed, *known])
                raise ParameterError(
                    f"neither {self.way} nor its base clusterer {name} has a parameter {key!r}; {guess}"
                    f"{self.way} has {', '.join(listed)}; {name} has {', '.join(sorted(known)) or 'none'}"
                )
        return clusterer, settings.build(clusterer.Params, self.given, name)


def _key(base: Any) -> Any:
    return base if isinstance(base, str) else id(base)


class _Work:
    """The members, and what has come of them so far."""

    def __init__(self, X: FloatArray, bases: _Bases, soft: bool) -> None:
        self.X, self.bases, self.soft = X, bases, soft
        self.found: dict[int, Member] = {}
        self.alone: Callable[[], AbstractContextManager[Any]] = openmp_limiter()

    def run(self, views: Sequence[View]) -> None:
        """Cluster every view, or those that are finished when the user stops it, if there are any."""
        try:
            with warnings.catch_warnings():
                # fewer clusters than asked for, or no convergence, is usual for single members
                warnings.filterwarnings("ignore", module="sklearn")
                map_threads(self._one, list(enumerate(views)), WHAT)
        except KeyboardInterrupt:
            if not self.found:
                raise

    def _one(self, task: tuple[int, View]) -> None:
        place, view = task
        clusterer, params = self.bases.of(view)
        seen = view.of(self.X if view.rows is None else self.X[view.rows])
        with self.alone():
            fitted = clusterer.fit(seen, view.k, params, view.rng)
            new = _placer(view, fitted, self.soft)
            values = fitted.membership if self.soft else fitted.labels
            if view.rows is not None:
                values = _spread(values, view.rows, self.X, new if view.complete else None)
        self.found[place] = Member(view, values, new)


def _placer(view: View, fitted: Fitted, soft: bool) -> Callable[[FloatArray], Any] | None:
    able = fitted.place_soft if soft else fitted.place
    return None if able is None else partial(_place, view, able)


def _place(view: View, able: Callable[[FloatArray], Any], new: FloatArray) -> Any:
    return able(view.of(new))


def _spread(values: Any, seen: IntArray, X: FloatArray, place: Callable[[FloatArray], Any] | None) -> Any:
    """What a member says of all objects, from what it says of those it sees."""
    whole = np.full((len(X), *values.shape[1:]), np.nan if values.ndim == 2 else MISSING, values.dtype)
    rows, first = np.unique(seen, return_index=True)
    whole[rows] = values[first]
    others = np.setdiff1d(np.arange(len(X)), rows)
    if place is not None and len(others):
        whole[others] = place(X[others])
    return whole


def called(views: Sequence[View], way: str) -> list[str]:
    """What the members are called: after the way and numbered, or by their titles, numbered where one is repeated."""
    titles = [view.title or way for view in views]
    repeated, seen, names = Counter(titles), Counter[str](), []
    for title in titles:
        seen[title] += 1
        names.append(title if title != way and repeated[title] == 1 else f"{title}_{seen[title]}")
    return names


def collected(values: Sequence[Any], names: Sequence[str], ids: Any) -> AnyEnsemble:
    """Labels or memberships, one array a member, as an ensemble."""
    if values[0].ndim == 2:
        return SoftEnsemble.from_memberships(dict(zip(names, values, strict=True)), ids=ids, allow=MADE)
    return Ensemble.from_labels(np.stack(values, axis=1), names, ids=ids, missing=MISSING, transpose=False, allow=MADE)
