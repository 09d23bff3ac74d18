"""Which methods are compared: those that were named, or those that suit the table."""

from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase
from typing import Any, Final, NamedTuple

from partita import registry
from partita.core.errors import MethodError, ParameterError
from partita.core.method import Method
from partita.core.soft import AnyEnsemble, SoftEnsemble

ALL = "all"


class TableSize(NamedTuple):
    """Properties of a table on which the running time of some methods depends."""

    rows: int  # unique rows
    soft: bool
    missing: float  # share of the labels that are missing
    moves: float  # unique rows × clusterings × clusters


class Limit(NamedTuple):
    """The tables for which a method is fast enough, or informative enough, to be compared by default."""

    condition: str
    holds: Callable[[TableSize], bool]


LIMITS: Final = {
    "cspa": Limit("at most 20000 distinct rows", lambda table: table.rows <= 20_000),
    "scspa": Limit("at most 2000 distinct rows", lambda table: table.rows <= 2_000),
    "greedy": Limit("at most 5e+07 distinct rows × clusterings × clusters", lambda table: table.moves <= 5e7),
    "voting": Limit("at most 50% missing labels", lambda table: table.missing <= 0.5),
}


class Chosen(NamedTuple):
    """The methods to compare, and why others are not among them."""

    names: tuple[str, ...]
    left_out: dict[str, str]


def chosen_methods(wanted: Any, ensemble: AnyEnsemble, most: int) -> Chosen:
    """The methods of these names and patterns, "all" for every one; None for those that suit the table.

    `most` is the largest number of clusters that is asked for.
    """
    if wanted is not None:
        return Chosen(named(wanted), {})
    table = _table_size(ensemble, most)
    reasons = {name: _unsuited(name, registry.get(name), table) for name in registry.METHODS}
    names = tuple(name for name, reason in reasons.items() if not reason)
    return Chosen(names, {name: reason for name, reason in reasons.items() if reason})


def named(wanted: Any) -> tuple[str, ...]:
    """Names and patterns, in one string or in several, each method once and in the order given."""
    if not isinstance(wanted, (str, Iterable)):
        raise ParameterError(f"methods={wanted!r} is not a list of names; give some of partita.methods(), or 'all'")
    words = [part.strip() for word in ([wanted] if isinstance(wanted, str) else wanted) for part in _parts(word)]
    found: dict[str, None] = {}
    for word in filter(None, words):
        if word == ALL:
            matching = list(registry.METHODS)
        elif any(mark in word for mark in "*?["):
            matching = [name for name in registry.METHODS if fnmatchcase(name, word)]
            if not matching:
                raise MethodError(f"no method matches {word!r}; there are {', '.join(registry.METHODS)}")
        else:
            registry.get(word)  # raises, with what there is
            matching = [word]
        found |= dict.fromkeys(matching)
    if not found:
        raise ParameterError("methods is empty; give at least one name of partita.methods(), or leave it out")
    return tuple(found)


def _parts(word: Any) -> list[str]:
    if not isinstance(word, str):
        raise MethodError(f"{word!r} is not the name of a method; there are {', '.join(registry.METHODS)}")
    return word.split(",")


def _table_size(ensemble: AnyEnsemble, k: int) -> TableSize:
    rows = len(ensemble.distinct.first)
    moves = float(rows) * len(ensemble.names) * k
    return TableSize(rows, isinstance(ensemble, SoftEnsemble), ensemble.missing_share, moves)


def _unsuited(name: str, method: Method, table: TableSize) -> str:
    """Why a method that nobody named is left out; empty where it suits."""
    if method.combines:
        return "made of other methods"
    if method.samples or not method.compresses:
        return "a sampler that goes through every object again and again, and slow"
    if table.missing > 0 and not method.handles_missing:
        return "cannot take missing labels"
    if table.soft and not issubclass(SoftEnsemble, method.takes):
        return "takes hard labels, and these are memberships"
    if not table.soft and method.takes is SoftEnsemble:
        return "made for memberships, and these are hard labels"
    limit = LIMITS.get(name)
    return "" if limit is None or limit.holds(table) else f"compared by default only for {limit.condition}"
