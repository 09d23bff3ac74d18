"""The fit between the two passes: to all different rows, to a sample, or, part by part, to all rows."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

import numpy as np

from partita.api import consensus
from partita.core.consensus import Consensus, usual_notes
from partita.core.ensemble import Ensemble
from partita.core.errors import ParameterError
from partita.core.model import ColumnModel
from partita.core.progress import steps
from partita.core.types import FrozenDict
from partita.io.summary import plain, plain_recipe

TRIED: Final = ("lwgp", "mcla", "mm", "qmi", "voting")
"""What `auto` tries on a sample: the methods that are quick there and can place all other rows."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is asked of the fit."""

    method: str
    k: int | None
    seed: int
    polish: bool
    params: Mapping[str, Any]


class Fitted(NamedTuple):
    """What a fit came to."""

    told: dict[str, Any]
    """Recipe, scores, detail, notes and number of rows, as plain values."""
    result: Consensus | None
    """For the rows it was fitted to; None for all rows in parts."""
    model: ColumnModel | None


def fit_distinct(ensemble: Ensemble, wanted: Wanted) -> Fitted:
    """The fit to all different rows with their counts: what the whole table in memory would give."""
    result = _consensus(ensemble, wanted)
    return Fitted(_told(result), result, result.model)


def fit_sample(ensemble: Ensemble, wanted: Wanted) -> Fitted:
    """The fit to a sample, whose model predicts the other rows."""
    if wanted.polish:
        raise ParameterError(
            "polish moves the rows that it is given, and here a sample stands for all; leave out polish (--polish), or "
            "raise most (--most-rows) so that all different rows are fitted"
        )
    result = _best(ensemble, wanted) if wanted.method == "auto" else _consensus(ensemble, wanted)
    model = result.model
    if model is None:
        raise ParameterError(f"{wanted.method} found too many clusters to predict the other rows; give a smaller k")
    coded, _ = model.coded(ensemble)
    found = model.assign(coded, membership=False)
    told = _told(result)
    told["sample anmi"] = told["scores"].pop("anmi")
    if "log likelihood" in told["detail"]:
        told["detail"]["log likelihood of the sample"] = told["detail"].pop("log likelihood")
    if found.log_chances is not None:
        likelihood = model.likelihood(coded, found)
        told["sample log likelihood"], told["sample labels"] = float(found.log_chances.sum()), likelihood.labels
    return Fitted(told, result, model)


def _best(ensemble: Ensemble, wanted: Wanted) -> Consensus:
    """The result with the highest ANMI, the first of equals; what each came to is in `detail`."""
    if wanted.params:
        raise ParameterError(f"auto has no setting {next(iter(wanted.params))!r} where it fits a sample; name a method")
    if wanted.k is None:
        raise ParameterError("auto needs the number of clusters where it fits a sample; give k (--k)")
    tried = [_consensus(ensemble, replace(wanted, method=name)) for name in steps(TRIED, len(TRIED), "candidates")]
    best = max(tried, key=lambda result: result.scores["anmi"])
    told = {name: result.scores["anmi"] for name, result in zip(TRIED, tried, strict=True)}
    return replace(best, detail=FrozenDict({**best.detail, "anmi by candidate": told}))


def _consensus(ensemble: Ensemble, wanted: Wanted) -> Consensus:
    found = consensus(ensemble, wanted.method, wanted.k, seed=wanted.seed, polish=wanted.polish, **dict(wanted.params))
    if found.detail.get("interrupted"):
        raise KeyboardInterrupt  # half a fit is not what so many rows are placed by
    return found


def _told(result: Consensus) -> dict[str, Any]:
    detail = {name: plain(value) for name, value in result.detail.items() if not isinstance(value, np.ndarray)}
    usual = usual_notes(result.labels, result.k_asked, result.confidence)
    return {
        "recipe": plain_recipe(result.recipe),
        "scores": dict(result.scores),
        "detail": detail,
        "notes": [note for note in result.notes if note not in usual],
        "rows": len(result),
    }
