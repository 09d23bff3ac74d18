"""Consensus: what every method returns."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from partita.core.coding import MissingRule, code_integers
from partita.core.draws import Draws
from partita.core.k_choice import KChoice
from partita.core.model import ColumnModel
from partita.core.prepare import Prepared
from partita.core.recipe import Recipe
from partita.core.showing import consensus_html
from partita.core.types import MISSING, FloatArray, FrozenArrays, FrozenDict, IntArray, frozen, smallest_type


@dataclass(frozen=True, eq=False)
class Consensus(FrozenArrays):
    """One clustering of n objects with the confidence of each assignment.

    A method builds it with `hard` or `soft` for the rows it was given; `partita.consensus` then numbers the clusters by
    first appearance, brings the rows back to the user's order and adds scores and recipe.
    """

    labels: IntArray
    """(n,) 0..k-1 numbered by first appearance; MISSING for an object about which nothing is known."""
    membership: FloatArray | None = None
    """(n, columns) share of each cluster, rows sum to 1, NaN rows where nothing is known. Probabilities of the method's
    model or shares of its vote, not confidence."""
    confidence: FloatArray | None = None
    """(n,) between 0 and 1, defined for every method by `partita.metrics.confidence`; NaN where it is not defined."""
    k_asked: int | None = None
    """The number of clusters that was requested or that `k_choice` chose; None if the method inferred it."""
    k_choice: KChoice | None = None
    """The choice of k and its reason; None if a single k was given or the method inferred the number of clusters."""
    trace: tuple[float, ...] = ()
    """The objective after each iteration of the best run."""
    converged: bool | None = None
    """Whether the iterations settled; None for a method that does not iterate."""
    scores: Mapping[str, float] = field(default_factory=FrozenDict)
    """Agreement with the base clusterings ("anmi") and whatever the method measures."""
    detail: Mapping[str, Any] = field(default_factory=FrozenDict)
    """What else the method has to tell."""
    per_object: Mapping[str, FloatArray] = field(default_factory=FrozenDict)
    """(n,) further numbers of each object, such as MCLA's "association"."""
    notes: tuple[str, ...] = ()
    """What the user should know, in sentences."""
    model: ColumnModel | None = None
    """Predicts labels of new objects. `partita.consensus` returns one for every method; see `model.approximate`."""
    recipe: Recipe | None = None
    ids: NDArray[Any] | None = None
    draws: Draws | None = None
    """The sampled partitions of a method that samples them."""
    candidate_labels: Mapping[str, IntArray] = field(default_factory=FrozenDict)
    """(n,) labels of each candidate that `auto` compared, by name, if `candidate_labels=True` was set."""

    @classmethod
    def hard(cls, labels: Any, **fields: Any) -> "Consensus":
        """From labels alone."""
        return cls(np.asarray(labels, dtype=np.int32), **fields)

    @classmethod
    def soft(cls, membership: FloatArray, **fields: Any) -> "Consensus":
        """From memberships: each row's label is its largest, the first of equals."""
        return cls(membership.argmax(axis=1).astype(np.int32), membership=membership, **fields)

    @property
    def k(self) -> int:
        """The number of clusters found."""
        return int(self.labels.max(initial=MISSING)) + 1

    @property
    def sizes(self) -> IntArray:
        """(k,) objects in each cluster."""
        return np.bincount(self.labels[self.labels != MISSING], minlength=self.k)

    @property
    def unknown(self) -> int:
        """How many objects carry no label because nothing is known of them."""
        return int(np.count_nonzero(self.labels == MISSING))

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:
        asked = f" of {self.k_asked} asked" if self.k_asked not in (None, self.k) else ""
        anmi = f", ANMI {self.scores['anmi']:.3f}" if "anmi" in self.scores else ""
        by = f" by {self.recipe.method}" if self.recipe else ""
        clusters = "1 cluster" if self.k == 1 else f"{self.k} clusters"
        return f"Consensus({len(self)} objects in {clusters}{asked}{anmi}{by})"

    def _repr_html_(self) -> str:
        return consensus_html(self)

    def predict_proba(self, table: Any) -> FloatArray:
        """Memberships of new objects, given their labels in the same clusterings; NaN where none is known."""
        return self._placing().predict_proba(table)

    def predict(self, table: Any) -> IntArray:
        """Labels of new objects, given their labels in the same clusterings; MISSING where none is known.

        `table` is an `Ensemble`, a `SoftEnsemble` or any table of labels; see `ColumnModel.predict`.
        """
        return self._placing().predict(table)

    def log_likelihood(self, table: Any) -> float:
        """The logarithm of the probability of new objects' labels, for methods that model it; see `ColumnModel`."""
        return self._placing().log_likelihood(table)

    def perplexity(self, table: Any) -> float:
        """exp(-log-likelihood / number of known labels) of new objects; at least 1, lower is better."""
        return self._placing().perplexity(table)

    def _placing(self) -> ColumnModel:
        if self.model is None:
            raise AttributeError("this consensus has no model; use the result of partita.consensus to predict")
        return self.model


def by_appearance(labels: IntArray, width: int) -> tuple[IntArray, IntArray]:
    """Labels renumbered by first appearance, and the order of the old ones (those that do not occur come last).

    >>> by_appearance(np.array([3, 3, -1, 0]), 4)[0].tolist()
    [0, 0, -1, 1]
    """
    narrow = labels[:, None].astype(smallest_type(width))
    codes, (order,) = code_integers(narrow, MISSING, ["labels"], MissingRule(said=True))
    absent = np.setdiff1d(np.arange(width), order)
    return codes[:, 0].astype(np.int32), np.concatenate([np.array(order, np.int64), absent])


def restore(result: Consensus, prepared: Prepared, ensemble: Any) -> Consensus:
    """A method's result for its own rows as the result for the user's objects."""
    width = int(result.labels.max(initial=0)) + 1
    width = max(width, 0 if result.membership is None else result.membership.shape[1])
    width = max(width, 0 if result.model is None else result.model.width)
    labels, order = by_appearance(prepared.expand(result.labels, MISSING), width)
    membership, confidence, model = result.membership, result.confidence, result.model
    if membership is not None:
        membership = frozen(prepared.expand(membership, np.nan, order[: membership.shape[1]]))
    if confidence is not None:
        confidence = frozen(prepared.expand(confidence, np.nan))
    if model is not None:
        model = model.restored(prepared, ensemble, order, result.recipe)
        if membership is None and model.link == "share" and not model.approximate:
            membership = frozen(model.memberships(model.coded(ensemble).rows))
    return replace(
        result,
        labels=frozen(labels),
        membership=membership,
        confidence=confidence,
        model=model,
        per_object=FrozenDict(
            {name: frozen(prepared.expand(values, np.nan)) for name, values in result.per_object.items()}
        ),
        notes=result.notes + usual_notes(labels, result.k_asked, confidence),
        ids=ensemble.ids,
        draws=None if result.draws is None else result.draws.for_objects(prepared.inverse),
        candidate_labels=FrozenDict(
            {
                name: frozen(by_appearance(prepared.expand(found, MISSING), int(found.max()) + 1)[0])
                for name, found in result.candidate_labels.items()
            }
        ),
    )


def placed(model: ColumnModel, table: Any) -> Consensus:
    """Predict labels, memberships and confidence of new objects; clusters keep the model's numbers.

    `detail` has the number of labels never seen in training, whether the model is approximate and, for models with
    probabilities, the log-likelihood and the perplexity of the known labels.
    """
    rows, unseen = model.coded(table)
    found = model.assign(rows)
    detail: dict[str, Any] = {"labels never seen": unseen, "approximate": model.approximate}
    confidence = model.confidence(rows, found.labels)
    notes = usual_notes(found.labels, None, confidence, NO_COMPANY_NEW)
    if model.approximate:
        notes += (APPROXIMATE,)
    if found.log_chances is not None and found.known.any():
        likelihood = model.likelihood(rows, found)
        detail |= {"log likelihood": likelihood.total, "perplexity": likelihood.perplexity}
        notes += (likelihood.note,) if likelihood.note else ()
    return Consensus(
        found.labels,
        membership=found.membership,
        confidence=confidence,
        detail=FrozenDict(detail),
        notes=notes,
        recipe=model.recipe,
        ids=rows.ids,
    )


NO_COMPANY: Final = "alone in their cluster or never labeled together with another member"
NO_COMPANY_NEW: Final = "never labeled together with a member of their cluster"
APPROXIMATE: Final = (
    "the model is approximate: it predicts by a weighted vote of the base labels, because the method has no model, "
    "or because its labels were polished"
)


def usual_notes(
    labels: IntArray, asked: int | None, confidence: FloatArray | None = None, reason: str = NO_COMPANY
) -> tuple[str, ...]:
    """Notes that any result may have: another number of clusters than requested, no label, undefined confidence."""
    undefined = 0
    if confidence is not None:
        undefined = int(np.count_nonzero(np.isnan(confidence) & (labels != MISSING)))
    found, unknown = int(labels.max(initial=MISSING)) + 1, int(np.count_nonzero(labels == MISSING))
    return notes_on(found, asked, unknown, undefined, reason)


def notes_on(
    found: int, asked: int | None, unknown: int, undefined: int = 0, reason: str = NO_COMPANY
) -> tuple[str, ...]:
    """Return `usual_notes` from counts: clusters found and requested, objects without label or defined confidence."""
    notes = []
    if asked is not None and found != asked:
        notes.append(f"asked for {asked} clusters, found {found}")
    if unknown:
        who = "1 object has" if unknown == 1 else f"{unknown} objects have"
        notes.append(f"{who} no label in any clustering that counts: consensus label {MISSING}")
    if undefined:
        who = "1 object" if undefined == 1 else f"{undefined} objects"
        notes.append(f"confidence is not defined for {who}, {reason}")
    return tuple(notes)
