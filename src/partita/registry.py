"""The consensus functions by name: one line each, as strings, so that listing them imports no algorithm."""

import importlib
from dataclasses import replace
from functools import partial
from typing import Any

from partita.core.ensemble import Ensemble
from partita.core.errors import MethodError
from partita.core.method import Method
from partita.core.suggest import METHODS as OTHER_NAMES
from partita.core.suggest import did_you_mean

METHODS: dict[str, str] = {
    "auto": "partita.combine.auto",
    "cspa": "partita.graph.cspa",
    "eac": "partita.graph.eac",
    "greedy": "partita.graph.greedy",
    "hbgf": "partita.graph.hbgf",
    "hgpa": "partita.graph.hgpa",
    "lwea": "partita.models.lwea",
    "lwgp": "partita.graph.lwgp",
    "mcla": "partita.graph.mcla",
    "scspa": "partita.graph.scspa",
    "shbgf": "partita.graph.shbgf",
    "smcla": "partita.graph.smcla",
    "supra": "partita.combine.supra",
    "voting": "partita.graph.voting",
    "bce-gibbs": "partita.models.bce_gibbs",
    "bce-vb": "partita.models.bce_vb",
    "itk": "partita.models.itk",
    "mm": "partita.models.mm",
    "nbce-cvb": "partita.models.nbce_cvb",
    "nbce-gibbs": "partita.models.nbce_gibbs",
    "nbce-vb": "partita.models.nbce_vb",
    "qmi": "partita.models.qmi",
}


def get(name: Any) -> Method:
    """The method of that name."""
    if isinstance(name, (int, range, list)) and not isinstance(name, bool):
        raise MethodError(
            f"method={name!r:.60}: expected the name of a method, such as 'mcla'; give the number of clusters by name: "
            f"k={name!r:.60}"
        )
    if not isinstance(name, str) or name not in METHODS:
        guess = did_you_mean(name, METHODS, OTHER_NAMES)
        raise MethodError(f"no method is called {name!r}; {guess}there are {', '.join(METHODS)}")
    method: Method = importlib.import_module(METHODS[name]).METHOD
    return replace(method, fit=partial(method.fit, get)) if method.combines else method


def summary(name: str) -> str:
    """What the method does in a line: the first line of its module."""
    get(name)
    text = importlib.import_module(METHODS[name]).__doc__ or ""
    return text.strip().splitlines()[0].partition(": ")[2].rstrip(".")


def methods() -> list[dict[str, Any]]:
    """Return one row per method with what it takes and claims.

    "k" is what happens if no number of clusters is given: "inferred" by the method, or "chosen" by the default rule.

    >>> [row["name"] for row in methods()][:2]
    ['auto', 'cspa']
    """
    return [_row(name, get(name)) for name in METHODS]


def _row(name: str, method: Method) -> dict[str, Any]:
    return {
        "name": name,
        "summary": summary(name),
        "takes": "hard" if method.takes is Ensemble else "hard, soft",
        "missing labels": method.handles_missing,
        "k": "inferred" if method.chooses_k else "chosen",
        "random": not method.deterministic,
        "new objects": method.predicts,
        "likelihood": ("bound" if method.likelihood_is_bound else "yes") if method.gives_likelihood else "no",
        "sites": ", ".join(method.splits) or "no",
        "cite": method.cite,
    }
