"""Method: what a consensus function is and what it claims."""

import operator
import sys
from bisect import bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import UnionType
from typing import Any, Literal

import numpy as np

from partita.core.consensus import Consensus
from partita.core.ensemble import Ensemble
from partita.core.errors import MethodError, ParameterError, TableError
from partita.core.soft import SoftEnsemble


@dataclass(frozen=True, slots=True)
class Method:
    """A consensus function with its parameters and its claims; the contract tests hold it to each claim.

    `fit(ensemble, k, params, rng)` gets an ensemble without empty rows or columns, whose rows carry `counts`, and
    returns `Consensus.hard(labels)` or `Consensus.soft(membership)` for those rows.
    """

    fit: Callable[..., Consensus]
    Params: type[Any]
    """A frozen dataclass of the method's settings, all with defaults."""
    takes: type[Ensemble] | type[SoftEnsemble] | UnionType
    """Ensemble for hard labels only; SoftEnsemble for memberships (hard ones then come as one-hot rows);
    `Ensemble | SoftEnsemble` for either as it is."""
    cite: str
    """The key of the paper in CITATION.cff."""
    handles_missing: bool
    """Works on tables with unobserved labels."""
    chooses_k: bool
    """Infers the number of clusters itself if k is None; for other methods `partita._default_k` then chooses it."""
    deterministic: bool
    """Makes no random choice, so that the seed changes nothing."""
    predicts: Literal["memberships", "labels", "approximate"] = "approximate"
    """`Consensus.model` of the method itself predicts memberships or labels of new objects; "approximate": the method
    returns no model (or the model of another method that it runs), and one is made from its labels, a weighted vote."""
    gives_likelihood: bool = False
    """Its model has `log_likelihood` and `perplexity` of new objects."""
    likelihood_is_bound: bool = False
    """They are a lower bound of the log-likelihood and an upper bound of the perplexity unless `exact=True`."""
    by_estimate: bool = False
    """Places objects by point estimates of what the fit averaged over: one near a tie may go elsewhere than in it."""
    samples: bool = False
    """Draws partitions from a posterior: `Consensus.draws` is set."""
    compresses: bool = True
    """Works on distinct rows with multiplicities and gives what it gives on the full table."""
    together: bool = False
    """Keeps objects with the same labels together, so that it gets distinct rows even with `compress=False`."""
    balanced: bool = False
    """Makes clusters of nearly equal size, so that whole rows and, with `compress=False`, single objects give different
    answers."""
    combines: bool = False
    """Runs other methods: `fit` first takes a function that finds them by name, which the registry gives."""
    sees_through_noise: bool = True
    """Finds clusters that the base clusterings share behind moderate noise; not every objective does (HGPA)."""
    monotone: Literal["rises", "falls"] | None = None
    """Which way the trace moves, if there is one."""
    splits: tuple[str, ...] = ()
    """The ways ("rows", "columns") in which the fit can be divided among sites with the same result."""


def suited(ensemble: Ensemble | SoftEnsemble, method: Method, name: str) -> Ensemble | SoftEnsemble:
    """The ensemble in the form the method takes; what it cannot take raises."""
    check_several(ensemble)
    return in_form(ensemble, method, name)


def check_several(ensemble: Ensemble | SoftEnsemble) -> None:
    """Refuse a single clustering."""
    if len(ensemble.names) < 2:
        raise TableError("one clustering is no ensemble; give at least two clusterings of the same objects")


def in_form(ensemble: Ensemble | SoftEnsemble, method: Method, name: str) -> Ensemble | SoftEnsemble:
    """The same for a prepared ensemble, in which one clustering that counts may be left."""
    if ensemble.missing_share > 0 and not method.handles_missing:
        raise MethodError(f"{name} cannot take missing labels; choose a method that can (see partita methods)")
    if isinstance(ensemble, method.takes):
        return ensemble
    if isinstance(ensemble, Ensemble):
        return SoftEnsemble.from_hard(ensemble)
    raise MethodError(f"{name} takes hard labels; harden the soft ensemble first with .harden() (--harden)")


def checked_number(k: Any, rows: int) -> int:
    """A number of clusters, whole and at most as many as there are rows to divide."""
    try:
        asked = operator.index(k)
    except TypeError:
        asked = None
    if asked is None or isinstance(k, bool):
        raise ParameterError(f"k={k!r} is not a whole number; give how many clusters you want{_method_hint(k)}")
    if asked < 1:
        raise ParameterError(f"k={asked} is less than 1; give how many clusters you want")
    if asked > rows:
        what = "1 distinct row" if rows == 1 else f"{rows} distinct rows"
        raise ParameterError(f"k={asked} is more than the {what} of the table; give a smaller k")
    return asked


def _method_hint(k: Any) -> str:
    """Return the hint for a text that was given as k, which is probably the name of a method."""
    return f"; give the name of a method by name: method={k!r}" if isinstance(k, str) and not k.isdigit() else ""


def is_several(k: Any) -> bool:
    """Return True if k is a range, a list or another collection of numbers of clusters."""
    return isinstance(k, Iterable) and not isinstance(k, (str, bytes)) and getattr(k, "shape", (1,)) != ()


def checked_numbers(k: Any, rows: int) -> tuple[list[int], list[str]]:
    """Return several numbers of clusters in increasing order, and a note if some were omitted.

    Parameters
    ----------
    k : range or iterable of int
        Numbers of clusters. Numbers of a `range` above the number of unique rows are omitted with a note; in a list
        they are an error.
    rows : int
        Number of unique rows.
    """
    if isinstance(k, (int, np.integer)) and not isinstance(k, bool):
        k = [int(k)]
    if not is_several(k):
        raise ParameterError(
            f"k={k!r} is not a list of numbers; give those to try, such as range(2, 11) or [3, 5]{_method_hint(k)}"
        )
    notes = []
    if isinstance(k, range):
        rising = k if k.step > 0 else k[::-1]
        if rising and max(abs(rising.start), abs(rising.stop)) > sys.maxsize:
            raise ParameterError(
                f"k = {rising.start} to {rising[-1]} are more than any table has rows; end the range sooner, such as "
                "range(2, 11) (--k 2..10)"
            )
        end = bisect_right(rising, rows)
        k, beyond = rising[:end], rising[end:]
        if beyond:
            span = f"{beyond[0]}" if len(beyond) == 1 else f"{beyond[0]} to {beyond[-1]}"
            notes = [f"k = {span} omitted: the table has only {rows} unique rows"]
    wanted = sorted({checked_number(number, rows) for number in k})
    if not wanted:
        raise ParameterError("; ".join([*notes, "no k is left to try; give at least one, not above the distinct rows"]))
    return wanted, notes
