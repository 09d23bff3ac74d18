"""The base clusterers by name: one line each, as strings, so that listing them imports no algorithm."""

import importlib
from typing import Any

from partita.core.errors import MethodError
from partita.core.suggest import did_you_mean
from partita.generate.base import Clusterer

_HERE = "partita.generate.clusterers"

CLUSTERERS: dict[str, str] = {
    "kmeans": f"{_HERE}.kmeans:CLUSTERER",
    "kmeans-cosine": f"{_HERE}.kmeans:COSINE",
    "kmeans-correlation": f"{_HERE}.kmeans:CORRELATION",
    "kmeans-jaccard": f"{_HERE}.kmeans:JACCARD",
    "graph": f"{_HERE}.graph:CLUSTERER",
    "graph-cosine": f"{_HERE}.graph:COSINE",
    "graph-correlation": f"{_HERE}.graph:CORRELATION",
    "graph-jaccard": f"{_HERE}.graph:JACCARD",
    "som": f"{_HERE}.som:CLUSTERER",
    "hypergraph": f"{_HERE}.hypergraph:CLUSTERER",
    "gmm": f"{_HERE}.gmm:CLUSTERER",
    "agglomerative": f"{_HERE}.agglomerative:CLUSTERER",
    "uspec": f"{_HERE}.uspec:CLUSTERER",
}
"""Name to `module:attribute`."""


def get(name: str) -> Clusterer:
    """The base clusterer of that name.

    >>> get("kmeans").places
    True
    """
    if not isinstance(name, str) or name not in CLUSTERERS:
        guess = did_you_mean(name, CLUSTERERS)
        raise MethodError(f"no base clusterer is called {name!r}; {guess}there are {', '.join(CLUSTERERS)}")
    module, attribute = CLUSTERERS[name].split(":")
    found: Any = getattr(importlib.import_module(module), attribute)
    return found  # type: ignore[no-any-return]
