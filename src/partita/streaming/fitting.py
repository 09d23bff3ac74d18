"""The fit between the two passes: to all different rows, to a sample, or, part by part, to all rows."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from partita.api import consensus
from partita.core.consensus import Consensus, usual_notes
from partita.core.ensemble import Ensemble
from partita.core.errors import ParameterError, note_records
from partita.core.k_choice import KChoice
from partita.core.method import is_several
from partita.core.model import ColumnModel
from partita.fitting import Asked
from partita.io.summary import plain, plain_recipe
from partita.registry import get


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is asked of the fit."""

    method: str
    k: Any
    """A number of clusters, several to choose from, or None: chosen by the default rule, or inferred by the method."""
    seed: int
    polish: bool
    params: Mapping[str, Any]

    @property
    def chooses_k(self) -> bool:
        """True if the default rule chooses the number of clusters."""
        return is_several(self.k) or (self.k is None and not get(self.method).chooses_k)

    def with_k(self, ensemble: Ensemble) -> tuple["Wanted", KChoice | None, tuple[str, ...]]:
        """Return the request with the number of clusters that the default rule chooses for these rows, and notes."""
        k, choice, notes = Asked.of(self.method, {}, self.seed).on(ensemble).number_of_clusters(self.k)
        return replace(self, k=k), choice, (*notes, f"k was chosen from a sample of {len(ensemble)} rows")


class Fitted(NamedTuple):
    """What a fit came to."""

    told: dict[str, Any]
    """Recipe, scores, detail, notes and number of rows, as plain values; only `detail` keeps its types in a fit to a
    sample, because its clusters get their final numbers later."""
    result: Consensus | None
    """For the rows it was fitted to; None for all rows in parts."""
    model: ColumnModel | None


def fit_distinct(ensemble: Ensemble, wanted: Wanted) -> Fitted:
    """The fit to all different rows with their counts: what the whole table in memory would give."""
    result = _consensus(ensemble, wanted)
    told = _told(result)
    return Fitted(told | {"detail": plain(told["detail"])}, result, result.model)


def fit_sample(ensemble: Ensemble, wanted: Wanted) -> Fitted:
    """The fit to a sample, whose model predicts the other rows."""
    if wanted.polish:
        raise ParameterError(
            "polish moves the rows that it is given, and here a sample stands for all; leave out polish (--polish), or "
            "raise most (--most-rows) so that all different rows are fitted"
        )
    choice, notes = None, tuple[str, ...]()
    if wanted.chooses_k:
        wanted, choice, notes = wanted.with_k(ensemble)
    result = _consensus(ensemble, wanted)
    result = replace(result, k_choice=choice, notes=(*notes, *result.notes))
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


def _consensus(ensemble: Ensemble, wanted: Wanted) -> Consensus:
    found = consensus(ensemble, wanted.method, wanted.k, seed=wanted.seed, polish=wanted.polish, **dict(wanted.params))
    if found.detail.get("interrupted"):
        raise KeyboardInterrupt  # half a fit is not what so many rows are placed by
    return found


def choice_record(choice: KChoice | None) -> Any:
    """Return the choice of k as plain values, None if there was none."""
    return None if choice is None else plain(choice.as_record())


def _told(result: Consensus) -> dict[str, Any]:
    detail = {name: value for name, value in result.detail.items() if not isinstance(value, np.ndarray)}
    usual = usual_notes(result.labels, result.k_asked, result.confidence)
    return {
        "recipe": plain_recipe(result.recipe),
        "scores": dict(result.scores),
        "detail": detail,
        "notes": note_records(note for note in result.notes if note not in usual),
        "candidates": plain(result.candidates),
        "k_asked": result.k_asked,
        "k_choice": choice_record(result.k_choice),
        "rows": len(result),
    }
