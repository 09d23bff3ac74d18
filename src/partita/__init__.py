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
    from partita.core.ensemble import Ensemble
    from partita.core.errors import PartitaError, PartitaWarning
    from partita.core.soft import SoftEnsemble
    from partita.estimators import ConsensusClustering
    from partita.io import load_model, save_model, write
    from partita.polishing import polish
    from partita.registry import methods
    from partita.selection import Selection, select_k

__all__ = [
    "Consensus",
    "ConsensusClustering",
    "Ensemble",
    "PartitaError",
    "PartitaWarning",
    "Selection",
    "SoftEnsemble",
    "__version__",
    "consensus",
    "evaluate",
    "load_model",
    "methods",
    "polish",
    "read",
    "save_model",
    "select_k",
    "write",
]

_HOMES = {
    "Consensus": "partita.core.consensus",
    "ConsensusClustering": "partita.estimators",
    "Ensemble": "partita.core.ensemble",
    "PartitaError": "partita.core.errors",
    "PartitaWarning": "partita.core.errors",
    "Selection": "partita.selection",
    "SoftEnsemble": "partita.core.soft",
    "consensus": "partita.api",
    "evaluate": "partita.api",
    "load_model": "partita.io",
    "methods": "partita.registry",
    "polish": "partita.polishing",
    "read": "partita.api",
    "save_model": "partita.io",
    "select_k": "partita.selection",
    "write": "partita.io",
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
