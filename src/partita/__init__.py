"""Partita: consensus clustering, which combines several clusterings of the same objects into one.

>>> import partita
>>> ensemble = partita.Ensemble.from_labels([["a", 1], ["a", 1], ["b", 2], ["b", None]])
>>> partita.consensus(ensemble, k=2).labels.tolist()
[0, 0, 1, 1]
"""

from typing import TYPE_CHECKING, Any

from partita.version import __version__

if TYPE_CHECKING:
    from partita.api import consensus, evaluate, read
    from partita.clustering import cluster
    from partita.comparing import Comparison, compare
    from partita.core.consensus import Consensus
    from partita.core.draws import Draws
    from partita.core.ensemble import Ensemble
    from partita.core.errors import PartitaError, PartitaWarning
    from partita.core.soft import SoftEnsemble
    from partita.estimators import ConsensusClustering, EnsembleClustering
    from partita.generate.making import make_ensemble
    from partita.io import load, load_model, read_draws, save_model, write, write_draws
    from partita.metrics.diagnosing import Diagnostics, diagnose
    from partita.polishing import polish
    from partita.posterior.summary import Summary, summarise
    from partita.registry import methods
    from partita.reporting import write_report
    from partita.selection import LeaveOneOut, Selection, leave_one_out, select_k
    from partita.streaming.result import Streamed
    from partita.streaming.stream import Streaming, stream

__all__ = [
    "Comparison",
    "Consensus",
    "ConsensusClustering",
    "Diagnostics",
    "Draws",
    "Ensemble",
    "EnsembleClustering",
    "LeaveOneOut",
    "PartitaError",
    "PartitaWarning",
    "Selection",
    "SoftEnsemble",
    "Streamed",
    "Streaming",
    "Summary",
    "__version__",
    "cluster",
    "compare",
    "consensus",
    "diagnose",
    "evaluate",
    "leave_one_out",
    "load",
    "load_model",
    "make_ensemble",
    "methods",
    "polish",
    "read",
    "read_draws",
    "save_model",
    "select_k",
    "stream",
    "summarise",
    "write",
    "write_draws",
    "write_report",
]

_HOMES = {
    "Comparison": "partita.comparing",
    "Consensus": "partita.core.consensus",
    "ConsensusClustering": "partita.estimators.of_labels",
    "Diagnostics": "partita.metrics.diagnosing",
    "Draws": "partita.core.draws",
    "Ensemble": "partita.core.ensemble",
    "EnsembleClustering": "partita.estimators.of_features",
    "LeaveOneOut": "partita.selection",
    "PartitaError": "partita.core.errors",
    "PartitaWarning": "partita.core.errors",
    "Selection": "partita.selection",
    "SoftEnsemble": "partita.core.soft",
    "Streamed": "partita.streaming.result",
    "Streaming": "partita.streaming.stream",
    "Summary": "partita.posterior.summary",
    "cluster": "partita.clustering",
    "compare": "partita.comparing",
    "consensus": "partita.api",
    "diagnose": "partita.metrics.diagnosing",
    "evaluate": "partita.api",
    "leave_one_out": "partita.selection",
    "load": "partita.io",
    "load_model": "partita.io",
    "make_ensemble": "partita.generate.making",
    "methods": "partita.registry",
    "polish": "partita.polishing",
    "read": "partita.api",
    "read_draws": "partita.io",
    "save_model": "partita.io",
    "select_k": "partita.selection",
    "stream": "partita.streaming.stream",
    "summarise": "partita.posterior.summary",
    "write": "partita.io",
    "write_draws": "partita.io",
    "write_report": "partita.reporting",
}


_MODULES = (
    "anndata",
    "datasets",
    "estimators",
    "federated",
    "generate",
    "io",
    "metrics",
    "posterior",
    "report",
    "selection",
    "streaming",
)
"""Modules that are imported at their first use; not in `__all__`, so that a star import hides no other package."""


def __getattr__(name: str) -> Any:
    """Import a public name or module at its first use, so that `import partita` is fast."""
    from importlib import import_module

    if name in _MODULES:
        return import_module(f"partita.{name}")
    if name not in _HOMES:
        from partita.core.suggest import module_attribute
        from partita.registry import METHODS

        hint = module_attribute(name, [*_HOMES, *_MODULES], METHODS)
        raise AttributeError(f"module 'partita' has no attribute {name!r}; {hint}".rstrip("; "))
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, *_MODULES])
