"""HBGF: divide the graph of objects and base clusters, each object joined to its clusters (Fern and Brodley 2004)."""

from dataclasses import dataclass
from typing import Literal

from numpy.random import Generator

from partita.core.consensus import Consensus
from partita.core.counting import unit_weights
from partita.core.ensemble import Ensemble
from partita.core.method import Method
from partita.core.params import setting
from partita.partition import GraphOptions, Partition, partition_members


@dataclass(frozen=True, slots=True)
class Params:
    """Settings of HBGF."""

    partitioner: Literal["auto", "metis", "kahip"] = setting(
        "auto", "what divides the graph; auto takes KaHIP and METIS and keeps the lower cut"
    )
    runs: int = setting(20, "runs of the partitioner that are compared where they disagree", low=1)
    imbalance: float = setting(0.05, "how far the largest block of objects and clusters may exceed the mean", low=0)


def fit(ensemble: Ensemble, k: int, params: Params, rng: Generator) -> Consensus:
    """Divide objects and base clusters together into k blocks of nearly equal size, cutting few memberships.

    A membership weighs as much as its clustering. The blocks of the objects are the answer.
    """
    found = partition_members(ensemble, unit_weights(ensemble), k, options_of(params), rng)
    return objects_of(found, len(ensemble))


def options_of(params: Params) -> GraphOptions:
    """How the graph is divided."""
    return GraphOptions(params.partitioner, params.imbalance, runs=params.runs)


def objects_of(found: Partition, rows: int) -> Consensus:
    """The result for the first vertices, the rows."""
    return Consensus.hard(found.labels[:rows], detail={"cut": found.cut, "balance": found.balance}, notes=found.notes)


METHOD = Method(
    fit,
    Params,
    takes=Ensemble,
    cite="fern2004",
    handles_missing=True,
    chooses_k=False,
    deterministic=False,
    balanced=True,
)
