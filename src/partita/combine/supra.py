"""Supra: run several methods, keep the one that agrees best with all clusterings (Strehl and Ghosh 2002, §3.5)."""

from dataclasses import dataclass
from typing import Final

from numpy.random import Generator

from partita.combine.candidates import Find, best_of, check_names, kept, run_all
from partita.core.consensus import Consensus
from partita.core.ensemble import Ensemble
from partita.core.method import Method
from partita.core.params import setting
from partita.core.soft import SoftEnsemble

HARD: Final = ("cspa", "hgpa", "mcla")
SOFT: Final = ("scspa", "smcla", "shbgf")


@dataclass(frozen=True, slots=True)
class Params:
    """Settings of supra."""

    methods: tuple[str, ...] | None = setting(
        None,
        "the methods to run, each with its default settings; none: cspa, hgpa and mcla, or, where there are "
        "memberships, scspa, smcla and shbgf",
    )


def fit(find: Find, ensemble: Ensemble | SoftEnsemble, k: int, params: Params, rng: Generator) -> Consensus:
    """Run the methods, in parallel, and keep the result with the highest ANMI, the first of equals.

    ANMI, number of clusters and seconds of every candidate are in `candidates`. A candidate's random choices
    depend on the seed and its name, not on its place in the list. One that cannot take this ensemble (memberships for a
    hard method, a table beyond its memory limit) is recorded with its reason, and the others go on.
    """
    default = HARD if isinstance(ensemble, Ensemble) else SOFT
    names = check_names(find, default if params.methods is None else params.methods, "supra")
    candidates = run_all(find, names, ensemble, k, rng)
    return kept(best_of(candidates), candidates)


METHOD = Method(
    fit,
    Params,
    takes=Ensemble | SoftEnsemble,
    cite="strehl2002",
    handles_missing=True,
    chooses_k=False,
    deterministic=False,
    together=True,
    combines=True,
)
