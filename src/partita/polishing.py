"""polish(): any labelling, moved on while ANMI rises."""

import dataclasses
from typing import Any

import numpy as np

from partita.core.columns import code_labels
from partita.core.consensus import Consensus, usual_notes
from partita.core.errors import ParameterError
from partita.core.fields import check_length, places_of
from partita.core.method import checked_number, suited
from partita.core.prepare import Prepared, prepare
from partita.core.recipe import Recipe
from partita.core.soft import as_ensemble
from partita.core.suggest import suggests_names
from partita.core.threads import thread_limit
from partita.core.types import MISSING, FrozenDict, IntArray
from partita.graph.base import complete
from partita.graph.greedy import METHOD, polished
from partita.metrics.scoring import PREDICT_AGREEMENT, agreement_notes, restored, scored


@suggests_names
def polish(ensemble: Any, labels: Any, k: int | None = None, *, threads: int | None = None) -> Consensus:
    """A labelling with objects moved between its clusters, one row at a time, while its ANMI rises.

    Parameters
    ----------
    ensemble
        The base clusterings, as for `partita.consensus`.
    labels
        A `Consensus`, or one label per object (-1 or empty if unknown: the base clusterings then vote). If both the
        labels and the ensemble have ids, they are joined by id.
    k
        Up to k clusters may be filled, and none is emptied. Without it, k is what the `Consensus` was asked for; a
        labelling of which no k is known keeps its clusters, less those whose end raises ANMI.
    threads
        At most so many threads; the result does not depend on it.

    Objects with the same base labels move together, unless the labelling parts some: then every object moves alone.
    `detail["polish"]` holds ANMI before and after, sweeps and moves. Of a result of `partita.consensus` this makes what
    `partita.consensus(..., polish=True)` makes.

    >>> polish([[0, 0], [0, 0], [1, 1], [1, 1]], ["x", "y", "y", "y"]).labels.tolist()
    [0, 0, 1, 1]
    """
    with thread_limit(threads):
        given = as_ensemble(ensemble)
        result = labels if isinstance(labels, Consensus) else Consensus.hard(code_labels(labels, "labels"))
        if result.ids is not None and given.ids is not None:
            result = dataclasses.replace(result, labels=result.labels[places_of(given.ids, result.ids, "labels")])
        check_length("labels", len(result), "the ensemble", len(given))
        work = prepare(suited(given, METHOD, "polish"))
        wanted = max(result.k_asked, result.k) if k is None and result.k_asked is not None else k
        if _parted(result.labels, work):
            work = prepare(suited(given, METHOD, "polish"), compress=False)
        asked = None if wanted is None else checked_number(wanted, len(work.ensemble))
        if asked is not None and result.k > asked:
            raise ParameterError(f"labels have {result.k} clusters, more than k={asked}; give a larger k, or none")
        start = _start(result.labels, work)
        before = usual_notes(result.labels, result.k_asked, result.confidence)
        before += agreement_notes(result.detail.get(PREDICT_AGREEMENT, 1.0))
        own = tuple(note for note in result.notes if note not in before and note not in given.notes)
        rows = Consensus.hard(
            start,
            k_asked=result.k_asked if k is None else asked,
            k_choice=result.k_choice if k is None else None,
            trace=result.trace,
            converged=result.converged,
            scores=result.scores,
            candidates=result.candidates,
            detail=FrozenDict({name: value for name, value in result.detail.items() if name != PREDICT_AGREEMENT}),
            notes=own,
            recipe=_recipe(result.recipe, given.fingerprint, k),
        )
        return restored(scored(polished(rows, work.ensemble, asked), work.ensemble), work, given)


def _parted(labels: IntArray, work: Prepared) -> bool:
    """Whether objects with the same base labels have different labels."""
    known = (work.inverse != MISSING) & (labels != MISSING)
    first = np.full(len(work.ensemble), MISSING, labels.dtype)
    first[work.inverse[known]] = labels[known]
    return bool((first[work.inverse[known]] != labels[known]).any())


def _start(labels: IntArray, work: Prepared) -> IntArray:
    """The labelling for the prepared rows; the base clusterings vote where it says nothing."""
    known = (work.inverse != MISSING) & (labels != MISSING)
    if not known.any():
        raise ParameterError("labels has no label for an object of the ensemble; give at least one")
    start = np.full(len(work.ensemble), MISSING, np.int32)
    start[work.inverse[known]] = labels[known]
    return complete(work.ensemble, start)


def _recipe(recipe: Recipe | None, fingerprint: str, k: int | None) -> Recipe | None:
    """The way to repeat the result with `partita.consensus`, where there is one."""
    if recipe is None or recipe.fingerprint != fingerprint or k not in (None, recipe.k):
        return None
    return dataclasses.replace(recipe, polish=True)
