"""The ways to make ensembles by name: one line each, as strings, so that listing them imports no algorithm."""

import importlib
from typing import Any

from partita.core.errors import MethodError
from partita.core.suggest import did_you_mean
from partita.generate.plans import Way

WAYS: dict[str, str] = {
    "restarts": "partita.generate.restarts",
    "features": "partita.generate.features",
    "objects": "partita.generate.objects",
    "portfolio": "partita.generate.portfolio",
    "bootstrap": "partita.generate.bootstrap",
    "projections": "partita.generate.projections",
    "cuts": "partita.generate.cuts",
    "mixtures": "partita.generate.mixtures",
    "uspec": "partita.generate.uspec",
}


def get(name: str) -> Way:
    """The way of that name."""
    if not isinstance(name, str) or name not in WAYS:
        guess = did_you_mean(name, WAYS)
        raise MethodError(f"no way to make ensembles is called {name!r}; {guess}there are {', '.join(WAYS)}")
    way: Way = importlib.import_module(WAYS[name]).WAY
    return way


def summary(name: str) -> str:
    """What the way does in a line: the first line of its module."""
    get(name)
    text = importlib.import_module(WAYS[name]).__doc__ or ""
    return text.strip().splitlines()[0].partition(": ")[2].rstrip(".")


def ways() -> list[dict[str, Any]]:
    """Every way to make ensembles, a row each.

    >>> [row["name"] for row in ways()][:2]
    ['restarts', 'features']
    """
    return [{"name": name, "summary": summary(name), "cite": get(name).cite} for name in WAYS]
