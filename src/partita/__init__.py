"""Partita: many clusterings of the same objects in, one consensus with honest uncertainty out.

>>> import partita
>>> ensemble = partita.Ensemble.from_labels([["a", 1], ["a", 1], ["b", 2], ["b", None]])
>>> partita.consensus(ensemble, k=2).labels.tolist()
[0, 0, 1, 1]
"""

from typing import TYPE_CHECKING, Any

from partita.version import __version__

if TYPE_CHECKING:
    from partita.api import consensus, evaluate, read
    from partita.core.consensus import Consensus
    from partita.core.draws import Draws
    from partita.core.ensemble import Ensemble
    from partita.core.errors import PartitaError, PartitaWarning
    from partita.core.soft import SoftEnsemble
    from partita.estimators import ConsensusClustering
    from partita.io import load_model, read_draws, save_model, write, write_draws
    from partita.polishing import polish
    from partita.posterior.summary import Summary, summarise
    from partita.registry import methods
    from partita.selection import Selection, select_k

__all__ = [
    "Consensus",
    "ConsensusClustering",
    "Draws",
    "Ensemble",
    "PartitaError",
    "PartitaWarning",
    "Selection",
    "SoftEnsemble",
    "Summary",
    "__version__",
    "consensus",
    "evaluate",
    "load_model",
    "methods",
    "polish",
    "read",
    "read_draws",
    "save_model",
    "select_k",
    "summarise",
    "write",
    "write_draws",
]

_HOMES = {
    "Consensus": "partita.core.consensus",
    "ConsensusClustering": "partita.estimators",
    "Draws": "partita.core.draws",
    "Ensemble": "partita.core.ensemble",
    "PartitaError": "partita.core.errors",
    "PartitaWarning": "partita.core.errors",
    "Selection": "partita.selection",
    "SoftEnsemble": "partita.core.soft",
    "Summary": "partita.posterior.summary",
    "consensus": "partita.api",
    "evaluate": "partita.api",
    "load_model": "partita.io",
    "methods": "partita.registry",
    "polish": "partita.polishing",
    "read": "partita.api",
    "read_draws": "partita.io",
    "save_model": "partita.io",
    "select_k": "partita.selection",
    "summarise": "partita.posterior.summary",
    "write": "partita.io",
    "write_draws": "partita.io",
}


def __getattr__(name: str) -> Any:
    """Load what is asked for when it is asked for: importing partita costs nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module 'partita' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
