"""Running several methods on the same prepared ensemble, and keeping the one with the highest ANMI."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, TypeAlias

import numpy as np
from numpy.random import Generator

from partita.core.consensus import Consensus
from partita.core.ensemble import Ensemble
from partita.core.errors import MethodError, ParameterError, PartitaError
from partita.core.interrupts import passed
from partita.core.method import Method, in_form
from partita.core.progress import steps
from partita.core.rng import named
from partita.core.soft import SoftEnsemble
from partita.core.threads import map_threads
from partita.core.types import FrozenDict
from partita.graph.base import NO_BETTER
from partita.metrics.ensemble import anmi

MOST_PARALLEL: Final = 1 << 20
"""Distinct rows beyond which candidates run one after another."""
Find: TypeAlias = Callable[[str], Method]
"""The method of a name; an unknown name raises."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """What became of one method."""

    name: str
    seconds: float
    result: Consensus | None = None
    anmi: float = float("nan")
    refused: str = ""
    """Why there is no result."""
    covariance: float | None = None
    """Weighted covariance with the base clusterings (`models/lwea.py`), if it was computed."""

    def as_row(self, chosen: bool) -> FrozenDict:
        """Return the row of `Consensus.candidates`."""
        return FrozenDict(
            {
                "method": self.name,
                "k": None if self.result is None else len(np.unique(self.result.labels)),
                "anmi": None if self.result is None else self.anmi,
                "covariance": self.covariance,
                "seconds": self.seconds,
                "refused": self.refused or None,
                "chosen": chosen,
            }
        )


def run_all(
    find: Find, names: Sequence[str], ensemble: Ensemble | SoftEnsemble, k: int | None, rng: Generator
) -> list[Candidate]:
    """Every named method with its default settings, each with a generator of its name's own.

    They run in parallel, but one after another, each on all threads, where the table is so large that memory counts.
    A method that refuses this ensemble is recorded with its reason; when all do, the first reason is raised.
    """
    draw = int(rng.integers(2**63))
    job = partial(_run, find, ensemble, k, draw)
    if len(ensemble) > MOST_PARALLEL:
        found = list(steps(map(job, names), len(names), "candidates"))
    else:
        found = map_threads(job, names, "candidates")
    if all(candidate.result is None for candidate in found):
        reasons = "; ".join(f"{candidate.name}: {candidate.refused}" for candidate in found)
        raise MethodError(f"no candidate can take this ensemble; {reasons}")
    return found


def _run(find: Find, ensemble: Ensemble | SoftEnsemble, k: int | None, draw: int, name: str) -> Candidate:
    method, begun, before = find(name), time.perf_counter(), passed()
    try:
        if not method.compresses and (ensemble.counts != 1).any():
            raise MethodError(f"{name} works on one row an object and can only be called by itself")
        result = method.fit(in_form(ensemble, method, name), k, method.Params(), named(draw, name))
    except PartitaError as error:
        return Candidate(name, time.perf_counter() - begun, refused=str(error))
    if passed() != before:
        raise KeyboardInterrupt  # pressed while this one was laid out: no other is begun
    return Candidate(name, time.perf_counter() - begun, result, anmi(ensemble, result.labels))


def best_of(candidates: Sequence[Candidate]) -> Candidate:
    """The candidate with the highest ANMI, the first of equals."""
    able = [candidate for candidate in candidates if candidate.result is not None]
    best = able[0]
    for candidate in able[1:]:
        best = candidate if candidate.anmi > best.anmi + NO_BETTER else best
    return best


def kept(winner: Candidate, candidates: Sequence[Candidate]) -> Consensus:
    """The winner's result and model with the scores of all candidates."""
    result = winner.result
    if result is None:
        raise MethodError(f"{winner.name} has no result; {winner.refused}")
    rows = tuple(candidate.as_row(candidate.name == winner.name) for candidate in candidates)
    return replace(result, candidates=rows, detail=FrozenDict({**result.detail, "chosen": winner.name}))


def check_names(find: Find, names: Sequence[str], owner: str) -> tuple[str, ...]:
    """Return the names, each once; raise if there is none or one names a method that runs other methods itself."""
    if not names:
        raise ParameterError(f"{owner}: the list of methods is empty; give at least one name")
    for name in names:
        if find(name).combines:
            raise MethodError(f"{owner} cannot run {name}, which runs other methods itself; name those")
    return tuple(dict.fromkeys(names))
