"""What a site does that holds rows: its objects' labels in the clusterings that all sites share.

Each step takes what the coordinator sent and what the site kept, and gives what adds up over sites and what is kept.
Nothing that is given grows with the number of objects.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from partita.core.coding import NOTHING_SAID
from partita.core.counting import assigned, by_clustering, column_scores, label_columns, label_counts, unit_weights
from partita.core.dirichlet import Bce, Inner, infer, known_weight, leaning_gamma
from partita.core.ensemble import Ensemble
from partita.core.errors import FederatedError
from partita.core.links import shared_out
from partita.core.model import ColumnModel
from partita.core.newrows import Clusterings, code_rows
from partita.core.recipe import Recipe
from partita.core.sampling import collapsed
from partita.core.soft import AnyEnsemble, SoftEnsemble
from partita.core.threads import map_chunks
from partita.core.types import MISSING, FloatArray, FrozenDict, IntArray, frozen
from partita.federated.messages import Arrays, Terms
from partita.kernels.scores import lift_rows
from partita.models import bce, mixture
from partita.starts.spectral import overlaps


class Held(NamedTuple):
    """A site's rows under the labels agreed on."""

    part: AnyEnsemble
    """Each different row once, with how many objects have it."""
    inverse: IntArray
    """(n,) for each of the site's objects its row, MISSING where nothing is known of it."""


class Did(NamedTuple):
    """What a step came to."""

    share: Arrays
    kept: Mapping[str, NDArray[Any] | None]
    """What the site keeps beside what it has; None for what it forgets."""


Step: TypeAlias = Callable[[Held, Terms, Arrays, Arrays], Did]
"""(rows, terms, kept, asked) to what is shared and what is kept."""


def coded(table: AnyEnsemble, terms: Terms, site: str) -> AnyEnsemble:
    """A site's table under the labels agreed on."""
    absent = [name for name in terms.names if name not in table.names]
    if absent:
        raise FederatedError(f"site {site} has no clustering {absent[0]!r}; give the same clusterings to all")
    rule = getattr(table, "missing", NOTHING_SAID)
    found, unseen = code_rows(table.columns(list(terms.names)), Clusterings(terms.names, terms.classes, rule))
    if unseen:
        raise FederatedError(
            f"site {site} has labels that are not among those agreed on; declare all in the coordinator's [labels]"
        )
    return replace(found, weights=frozen(np.array(terms.weights)))


def hold(table: AnyEnsemble) -> Held:
    """Each different row of a coded table once."""
    known = np.flatnonzero(known_weight(table, np.ones(len(table.names))) > 0)
    few, inverse = collapsed(table.rows(known))
    places = np.full(len(table), MISSING, np.int64)
    places[known] = inverse
    return Held(few, places)


def overlap_step(held: Held, terms: Terms, kept: Arrays, asked: Arrays) -> Did:
    """(t, t) objects in both of two base clusters; given edges, divided by the sum of those that an object has."""
    part, amounts = _hard(held.part), held.part.counts
    plain = found = overlaps(part, amounts)
    if "edges" in asked:
        found = overlaps(part, amounts / column_scores(asked["edges"][:, None], part, np.zeros(1))[:, 0])
    return Did({"overlaps": np.where(plain < terms.suppress, 0.0, found)}, {})


def nearest_step(held: Held, terms: Terms, kept: Arrays, asked: Arrays) -> Did:
    """Each row to the nearest of the centres, in the space that the tables lift it to."""
    part, tables, centers = _hard(held.part), asked["tables"], asked["centers"]
    points = np.empty((len(part), tables.shape[1]))
    map_chunks(partial(lift_rows, part.labels, part.offsets, np.ascontiguousarray(tables), points), len(part))
    distance = (centers**2).sum(axis=1) - 2 * points @ centers.T
    chosen = distance.argmin(axis=1).astype(np.int32)
    sizes = np.bincount(chosen, weights=part.counts, minlength=len(centers))
    weighted = points * part.counts[:, None]
    sums = np.stack([np.bincount(chosen, column, len(centers)) for column in weighted.T], axis=1)
    spread = part.counts @ (distance.min(axis=1) + (points**2).sum(axis=1))
    return Did({"sums": sums, "sizes": sizes, "scalars": np.array([spread])}, {"chosen": chosen, "gamma": None})


def totals_step(held: Held, terms: Terms, kept: Arrays, asked: Arrays) -> Did:
    """(t,) objects with each label, and the sum of w_j s log s."""
    part = scaled(held.part, terms)
    labels, _ = label_counts(part, np.zeros(len(part), np.int32), 1)
    entropy = 0.0
    if isinstance(part, SoftEnsemble):
        weight = unit_weights(part)[label_columns(part.offsets)]
        entropy = float(part.counts @ (xlogy(part.matrix, part.matrix) @ weight))
    return Did({"labels": labels[:, 0], "scalars": np.array([entropy, held.part.counts.sum()])}, {})


def chosen_step(held: Held, terms: Terms, kept: Arrays, asked: Arrays) -> Did:
    """The labels and sizes of the clusters that the rows were last given to; `k` empty ones included."""
    return Did(_counted(held, terms, kept["chosen"], int(asked["clusters"][0])), {})


def assign_step(held: Held, terms: Terms, kept: Arrays, asked: Arrays) -> Did:
    """Each row to the cluster of highest score; how far it then lies from it is kept."""
    part = held.part
    chosen, best = assigned(part, np.ascontiguousarray(asked["tables"]), asked["bias"])
    apart = distances(part, terms, best, asked.get("lengths"))
    return Did(_counted(held, terms, chosen, len(asked["bias"])), {"chosen": chosen, "apart": apart, "gamma": None})


def distances(part: AnyEnsemble, terms: Terms, best: FloatArray, lengths: FloatArray | None) -> FloatArray:
    """(n,) how badly each row is fitted, given its best score: as QMI and ITK see it."""
    if lengths is not None:
        return assigned(part, np.ascontiguousarray(lengths[:, None]), np.zeros(1))[1] - best
    own = np.zeros(len(part))
    if isinstance(part, SoftEnsemble):
        own = xlogy(part.matrix, part.matrix) @ unit_weights(part)[label_columns(part.offsets)]
    return np.asarray((own - best) / known_weight(part, unit_weights(part)))


def farthest_step(held: Held, terms: Terms, kept: Arrays, asked: Arrays) -> Did:
    """How far its worst-fitted rows lie, and from which clusters, in the line of a table that is this site's own."""
    most, place = int(asked["most"][0]), int(kept["place"][0])
    order = worst(kept["apart"])[:most]
    distance, clusters = np.zeros((len(terms.sites), most)), np.zeros((len(terms.sites), most))
    distance[place, : len(order)] = kept["apart"][order]
    clusters[place, : len(order)] = kept["chosen"][order] + 1
    return Did({"distances": distance, "clusters": clusters}, {})


def worst(apart: FloatArray) -> IntArray:
    """The rows, worst-fitted first."""
    return np.argsort(-apart, kind="stable")


def move_step(held: Held, terms: Terms, kept: Arrays, asked: Arrays) -> Did:
    """Its worst-fitted rows to the clusters that its line says (0: none), and the counts after it."""
    moves, chosen = asked["moves"][int(kept["place"][0])], kept["chosen"].copy()
    for row, cluster in zip(worst(kept["apart"]), moves, strict=False):
        if cluster > 0:
            chosen[row] = cluster - 1
    return Did(_counted(held, terms, chosen, int(asked["clusters"][0])), {"chosen": chosen})


def mixture_step(held: Held, terms: Terms, kept: Arrays, asked: Arrays) -> Did:
    """One expectation pass of a mixture."""
    found = mixture.at_site(mixture.Mixture(asked["log_weights"], asked["log_probs"]), held.part)
    return Did({"labels": found.labels, "sizes": found.weights, "scalars": np.array([found.log_likelihood])}, {})


def bce_step(held: Held, terms: Terms, kept: Arrays, asked: Arrays) -> Did:
    """One expectation pass of Bayesian cluster ensembles, from where the rows stood, or from the start's clusters."""
    params, part = Bce(asked["alpha"], asked["log_probs"]), held.part
    gamma = kept.get("gamma")
    if gamma is None:
        gamma = leaning_gamma(part, unit_weights(part), params.alpha, kept["chosen"])
    inner = Inner(terms.params["inner_tol"], terms.params["max_inner"])
    moved, sums = bce.at_site(params, part, gamma, inner)
    scalars = np.array([sums.bound, sums.objects])
    return Did({"labels": sums.labels, "sizes": sums.pulls, "scalars": scalars}, {"gamma": moved})


def scaled(part: AnyEnsemble, terms: Terms) -> AnyEnsemble:
    """The rows as a method counts them: ITK gives each object the weight 1, however few of its labels are known."""
    if terms.method != "itk":
        return part
    return part.with_counts(part.counts / known_weight(part, unit_weights(part)))


def _counted(held: Held, terms: Terms, chosen: IntArray, k: int) -> dict[str, NDArray[Any]]:
    part = scaled(held.part, terms)
    labels, sizes = label_counts(part, chosen, k)
    rows = np.bincount(chosen, minlength=k).astype(np.float64)
    return {"labels": labels, "sizes": sizes, "scalars": rows}


def _hard(part: AnyEnsemble) -> Ensemble:
    return part if isinstance(part, Ensemble) else part.harden()


def turn_step(held: Held, terms: Terms, kept: Arrays, asked: Arrays) -> Did:
    """The paper's heuristic: new parameters from this site's rows alone, for the next site to go on from."""
    part, params = held.part, terms.params
    if not len(part):
        return Did({"bias": asked["bias"], "log_probs": asked["log_probs"], "scalars": np.zeros(1)}, {})
    if terms.method == "mm":
        counts = mixture.at_site(mixture.Mixture(asked["bias"], asked["log_probs"]), part)
        bias, log_probs = mixture.maximise(counts, part.offsets, params["smoothing"], unit_weights(part))
        return Did({"bias": bias, "log_probs": log_probs, "scalars": np.array([counts.log_likelihood])}, {})
    before = Bce(asked["bias"], asked["log_probs"])
    gamma = kept.get("gamma")
    if gamma is None:
        gamma = leaning_gamma(part, unit_weights(part), before.alpha, kept["chosen"])
    moved, sums = bce.at_site(before, part, gamma, Inner(params["inner_tol"], params["max_inner"]))
    bias, log_probs = bce.update(sums, before, part.offsets, params["smoothing"], params["learn_alpha"])
    return Did({"bias": bias, "log_probs": log_probs, "scalars": np.array([sums.bound])}, {"gamma": moved})


def count_step(held: Held, terms: Terms, kept: Arrays, asked: Arrays) -> Did:
    """(t, k) objects with each label in each cluster to which the fitted parameters assign them, for confidence."""
    tables = np.ascontiguousarray(asked["tables"])
    labels, _ = assignment(held.part, terms, asked["bias"], tables)
    return Did({"labels": label_counts(held.part, labels, tables.shape[1])[0]}, {})


def assignment(
    part: AnyEnsemble, terms: Terms, bias: FloatArray, tables: FloatArray
) -> tuple[IntArray, FloatArray | None]:
    """Labels and, where the method has them, memberships of rows by the fitted parameters."""
    if LINK[terms.method] == "best":
        return assigned(part, tables, bias)[0], None
    if LINK[terms.method] == "dirichlet":
        gamma, _ = infer(Bce(bias, tables), part, unit_weights(part))
        membership = gamma / gamma.sum(axis=1, keepdims=True)
    else:
        membership = shared_out(bias, tables, part)[0]
    return membership.argmax(axis=1).astype(np.int32), membership


def placed(held: Held, terms: Terms, asked: Arrays) -> dict[str, NDArray[Any] | None]:
    """The site's rows where the fitted parameters place them, and the model for new ones; the rest is forgotten."""
    bias, tables = asked["bias"], np.ascontiguousarray(asked["tables"])
    kept: dict[str, NDArray[Any] | None] = dict.fromkeys(("gamma", "chosen", "apart"))
    labels, membership = assignment(held.part, terms, bias, tables)
    kept |= {"labels": labels.astype(np.int64)} if membership is None else {"membership": membership}
    model = {"model_bias": bias, "model_tables": tables}
    names = ("model_bias", "model_tables", "shares", "counts", "trace")
    return kept | model | {name: asked[name] for name in names if name in asked}


class SiteRows(NamedTuple):
    """A site's objects after the run."""

    labels: IntArray
    membership: FloatArray | None
    confidence: FloatArray | None
    """None where the counts that it depends on are not shared."""
    model: ColumnModel


def told(held: Held, terms: Terms, kept: Arrays) -> SiteRows:
    """Labels, memberships and confidence of the site's objects, and the model."""
    membership, counts = kept.get("membership"), kept.get("counts")
    labels = kept["labels"] if membership is None else membership.argmax(axis=1)
    model = model_of(terms, kept["model_bias"], kept["model_tables"], kept.get("shares"), counts)
    known = np.flatnonzero(held.inverse != MISSING)
    rows, own = held.inverse[known], np.full(len(held.inverse), MISSING, np.int32)
    own[known] = labels[rows]
    confidence = None
    if model.label_counts is not None:
        confidence = np.full(len(own), np.nan)
        confidence[known] = model.label_counts.confidence(held.part, labels, counted=True)[rows]
    if membership is not None:
        shares = np.full((len(own), membership.shape[1]), np.nan)
        shares[known] = membership[rows]
        membership = shares
    return SiteRows(own, membership, confidence, model)


def model_of(
    terms: Terms, bias: FloatArray, tables: FloatArray, shares: FloatArray | None, counts: FloatArray | None
) -> ColumnModel:
    """The fitted model, under the names and labels agreed on, with the (t, k) training counts if they are shared."""
    offsets = np.concatenate([[0], np.cumsum([len(labels) for labels in terms.classes])]).astype(np.int64)
    weights = np.array(terms.weights)
    return ColumnModel(
        bias,
        by_clustering(tables, offsets),
        LINK[terms.method],
        names=terms.names,
        classes=terms.classes,
        weights=weights / weights.mean(),
        recipe=Recipe(terms.method, FrozenDict(terms.params), terms.k, terms.seed, terms.version, f"run {terms.run}"),
        shares=shares,
        counts=() if counts is None else by_clustering(counts, offsets),
    )


LINK: Final = {"mm": "softmax", "nbce-vb": "softmax", "bce-vb": "dirichlet", "qmi": "best", "itk": "best"}
"""How each method's parameters place rows (`core.links`)."""
STEPS: Final[Mapping[str, Step]] = {
    "overlaps": overlap_step,
    "nearest": nearest_step,
    "totals": totals_step,
    "chosen": chosen_step,
    "assign": assign_step,
    "farthest": farthest_step,
    "move": move_step,
    "count": count_step,
    "mixture": mixture_step,
    "bce": bce_step,
}
