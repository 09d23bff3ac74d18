"""From results to tables and pictures; nothing here fits anything."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from partita.report.displays.agreement import AgreementDisplay
    from partita.report.displays.alluvial import AlluvialDisplay
    from partita.report.displays.cdf import CdfDisplay
    from partita.report.displays.confusion import ConfusionDisplay
    from partita.report.displays.consensus import ConsensusDisplay
    from partita.report.displays.heatmap import HeatmapDisplay
    from partita.report.displays.items import ItemDisplay
    from partita.report.displays.numbers import NumbersDisplay
    from partita.report.displays.result import ResultDisplay
    from partita.report.displays.scatter import ScatterDisplay
    from partita.report.displays.selection import SelectionDisplay
    from partita.report.displays.trace import TraceDisplay
    from partita.report.displays.tracking import TrackingDisplay

__all__ = [
    "AgreementDisplay",
    "AlluvialDisplay",
    "CdfDisplay",
    "ConfusionDisplay",
    "ConsensusDisplay",
    "HeatmapDisplay",
    "ItemDisplay",
    "NumbersDisplay",
    "ResultDisplay",
    "ScatterDisplay",
    "SelectionDisplay",
    "TraceDisplay",
    "TrackingDisplay",
]

_HOMES = {
    "AgreementDisplay": "agreement",
    "AlluvialDisplay": "alluvial",
    "CdfDisplay": "cdf",
    "ConfusionDisplay": "confusion",
    "ConsensusDisplay": "consensus",
    "HeatmapDisplay": "heatmap",
    "ItemDisplay": "items",
    "NumbersDisplay": "numbers",
    "ResultDisplay": "result",
    "ScatterDisplay": "scatter",
    "SelectionDisplay": "selection",
    "TraceDisplay": "trace",
    "TrackingDisplay": "tracking",
}


def __getattr__(name: str) -> Any:
    """Load a display when it is asked for."""
    if name not in _HOMES:
        raise AttributeError(f"module 'partita.report' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"partita.report.displays.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
