"""Method: what a consensus function is and what it claims."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from numpy.random import Generator

from partita.core.consensus import Consensus
from partita.core.ensemble import Ensemble
from partita.core.soft import SoftEnsemble


@dataclass(frozen=True, slots=True)
class Method:
    """A consensus function with its parameters and its claims; the contract tests hold it to each claim.

    `fit(ensemble, k, params, rng)` gets an ensemble without empty rows or columns, whose rows carry `counts`, and
    returns `Consensus.hard(labels)` or `Consensus.soft(membership)` for those rows.
    """

    fit: Callable[[Any, Any, Any, Generator], Consensus]
    Params: type[Any]
    """A frozen dataclass of the method's settings, all with defaults."""
    takes: type[Ensemble] | type[SoftEnsemble]
    """Ensemble for hard labels only; SoftEnsemble for memberships (hard ensembles are then turned into one-hot rows)."""
    cite: str
    """The key of the paper in CITATION.cff."""
    handles_missing: bool
    """Works on tables with unobserved labels."""
    chooses_k: bool
    """May be called with k=None and then finds the number of clusters."""
    deterministic: bool
    """Makes no random choice, so that the seed changes nothing."""
    compresses: bool = True
    """Works on distinct rows with multiplicities and gives what it gives on the full table."""
    monotone: str | None = None
    """How the trace moves: "rises", "falls", or None where there is none."""
    splits: tuple[str, ...] = ()
    """The ways ("rows", "columns") in which the fit can be divided among sites with the same result."""
