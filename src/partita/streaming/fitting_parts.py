"""Exact fits over all rows of a table whose parts an engine holds.

The methods are those whose rows may lie at several sites (`federated.rows`), and a part does what a site does
(`federated.at_rows`); only nothing is hidden, so that sums are plain numbers. Any division into parts gives the central
fit.
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np

from partita.core.coding import Label
from partita.core.errors import MethodError, ParameterError, TableError
from partita.core.params import build
from partita.core.rng import resolve_seed
from partita.core.soft import AnyEnsemble
from partita.core.types import FrozenDict, frozen
from partita.engine.base import Engine, Parts
from partita.federated.at_rows import STEPS, Held, hold, model_of
from partita.federated.messages import Arrays, Terms
from partita.federated.rows import METHODS, Fitted, fit_rows
from partita.registry import get
from partita.version import __version__

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Wanted:
    """The fit that is asked for."""

    method: str
    k: int | None = None
    settings: Mapping[str, Any] = field(default_factory=FrozenDict)
    seed: int | None = None
    init: str = "spectral"
    """Where runs begin: "spectral" or "random"."""


class Piece(NamedTuple):
    """A part of the rows, and its place among all parts."""

    place: int
    held: Held


class Asked(NamedTuple):
    """What every part is asked for."""

    step: str
    terms: Terms
    arrays: Arrays


def terms_of(
    names: Sequence[str], classes: Sequence[Sequence[Label]], weights: Sequence[float], wanted: Wanted
) -> Terms:
    """What a fit is held to: the clusterings with their labels in code order, their weights, and what is wanted."""
    if wanted.method not in METHODS:
        raise MethodError(f"{wanted.method} cannot be fitted part by part; choose one of {', '.join(METHODS)}")
    if wanted.k is None and wanted.method != "nbce-vb":
        raise ParameterError(f"{wanted.method} needs the number of clusters; give k")
    whole = isinstance(wanted.k, (int, np.integer)) and not isinstance(wanted.k, bool)
    if wanted.k is not None and not (whole and wanted.k >= 1):
        raise ParameterError(f"k={wanted.k!r} is not a whole number >= 1; give how many clusters you want")
    for name, labels, weight in zip(names, classes, weights, strict=True):
        if not labels or not weight > 0:
            raise TableError(f"clustering {name!r} has no label or no weight; leave it out")
    return Terms(
        run="parts",
        sites=("parts",),
        layout="rows",
        method=wanted.method,
        k=wanted.k,
        params=FrozenDict(_settings(wanted)),
        transport="float",
        seed=resolve_seed(wanted.seed),
        init=wanted.init,
        names=tuple(names),
        classes=tuple(map(tuple, classes)),
        weights=tuple(map(float, weights)),
        version=__version__,
    )


def _settings(wanted: Wanted) -> dict[str, Any]:
    """All settings of the method, checked; where a fit starts is none of them, as parts start together."""
    if wanted.init not in ("spectral", "random"):
        raise ParameterError(f"init={wanted.init!r} is not known over parts; give spectral or random")
    given = dict(wanted.settings)
    if "init" in given:
        raise ParameterError("give the start beside the method's settings, not among them")
    if given.get("stable"):
        raise ParameterError("parts do not tell which labels changed; leave stable at 0")
    return dataclasses.asdict(build(get(wanted.method).Params, given, wanted.method))


def hold_rows(engine: Engine, load: Callable[[T], AnyEnsemble], items: Sequence[T], terms: Terms) -> Parts[Piece]:
    """The rows that `load` gives for each item, under the codes of the terms, held by the engine."""
    return engine.hold(partial(_piece, load, terms), list(enumerate(items)))


def _piece(load: Callable[[Any], AnyEnsemble], terms: Terms, numbered: tuple[int, Any]) -> Piece:
    place, item = numbered
    table = load(item)
    sizes = tuple(map(len, terms.classes))
    if table.names != terms.names or table.sizes != sizes:
        raise TableError(
            f"labels are coded otherwise than agreed on: {table.names} {table.sizes}, {terms.names} {sizes}"
        )
    return Piece(place, hold(replace(table, weights=frozen(np.array(terms.weights)))))


def fit_parts(parts: Parts[Piece], terms: Terms) -> Fitted:
    """The fit of all rows. Its model knows names, labels and recipe; Ctrl-C stops it."""
    pool = Pool(parts, terms)
    fitted = fit_rows(pool)
    model, counts = fitted.model, pool.total("count", {"tables": fitted.tables, "bias": fitted.bias})["labels"]
    return fitted._replace(model=model_of(terms, model.bias, model.stacked, model.shares, counts))


class Pool:
    """Adds up over parts, as a hub does over sites."""

    def __init__(self, parts: Parts[Piece], terms: Terms) -> None:
        self.parts = parts
        self.terms = terms

    def total(self, step: str, arrays: Arrays | None = None) -> Arrays:
        """The sum over all rows."""
        return self.parts.step(take_step, Asked(step, self.terms, arrays or {}), JOINED.get(step, add_arrays))


def take_step(asked: Asked, piece: Piece, state: Arrays | None) -> tuple[Arrays | None, Arrays]:
    """What one part keeps after a step, and its share."""
    kept, arrays = state or {}, asked.arrays
    if asked.step == "move":
        arrays = {**arrays, "moves": arrays["moves"][piece.place : piece.place + 1]}
    did = STEPS[asked.step](piece.held, asked.terms, {**kept, "place": FIRST}, arrays)
    if not did.kept:
        return state, did.share
    after = {name: array for name, array in {**kept, **did.kept}.items() if array is not None}
    return FrozenDict(after), did.share


def add_arrays(shares: Sequence[Arrays]) -> Arrays:
    """Sums, in the order of the shares."""
    return {name: _sum([share[name] for share in shares]) for name in shares[0]}


def _sum(arrays: Sequence[Any]) -> Any:
    total = arrays[0].copy()
    for array in arrays[1:]:
        total += array
    return total


def line_up(shares: Sequence[Arrays]) -> Arrays:
    """The lines of all parts, one below the other: what each part offers is its own."""
    return {name: np.concatenate([share[name] for share in shares]) for name in shares[0]}


FIRST = frozen(np.zeros(1, np.int64))
"""A part sees a table of one line, its own."""
JOINED: Mapping[str, Callable[[Sequence[Arrays]], Arrays]] = FrozenDict({"farthest": line_up})
"""How shares become one where they do not add up."""
