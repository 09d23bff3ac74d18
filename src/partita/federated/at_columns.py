"""Column-distributed consensus: each site has clusterings of the same objects; scores or expected labels add up.

A site sends numbers per object and cluster, of which only the sum over the sites is needed, and receives this sum. Its
label distributions stay at the site. All sites compute the same from the sums. Random choices and the end of a run are
decided by the first site (the leader), which communicates them by a sum to which the other sites add 0. The
coordinator does not need to read any of it.

The fit is the undivided one (`models.mm`, `models.bce_vb`). MM needs one exchange per iteration, BCE-VB one per
iteration on the objects within an E step; there, only objects that have not settled are exchanged.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, psi

from partita.core.consensus import by_appearance
from partita.core.counting import by_clustering, column_scores, label_columns
from partita.core.dirichlet import SETTLE, SHARE, Bce, clearly_better, known_weight
from partita.core.ensemble import Ensemble
from partita.core.errors import FederatedError
from partita.core.iterate import settled
from partita.core.links import ROWS
from partita.core.model import ColumnModel
from partita.core.recipe import Recipe
from partita.core.rng import generator
from partita.core.soft import AnyEnsemble
from partita.core.threads import map_chunks
from partita.core.types import MISSING, FloatArray, FrozenDict, IntArray, sealed
from partita.federated.messages import Arrays, Terms
from partita.kernels.columns import lower_rows, settle_rows, share_labels
from partita.kernels.mixture import share_out
from partita.kernels.scores import IMPOSSIBLE
from partita.models import bce
from partita.models.mixture import Mixture, log_chances, log_prior
from partita.starts.transfer_cut import add_by_label, cut_labels, embedding, next_basis, row_marks, spread_basis

DEEPEST: Final = 1000.0
"""Scores of MM are cut off this far below the best score of the row; the exponential of the difference is 0."""
LIGHTEST: Final = 1e-3
"""Minimum mean weight of the clusterings."""
LEAST_DEEP: Final = 40.0
"""Minimum depth that the number of sites and the bits of fraction must leave."""


class Columns(NamedTuple):
    """A site's clusterings of the objects agreed on."""

    part: AnyEnsemble
    terms: Terms
    leads: bool
    """True at the site that decides."""


class Did(NamedTuple):
    """Result of a round: what is sent and what is stored."""

    values: FloatArray
    """(m, columns) summed over the sites."""
    scalars: FloatArray
    """Summed over the sites."""
    kept: Mapping[str, NDArray[Any] | None]
    """Arrays to store; None deletes one."""
    notes: Mapping[str, Any]
    over: bool = False
    best: bool = False


Kept: TypeAlias = Mapping[str, NDArray[Any]]
Notes: TypeAlias = Mapping[str, Any]


def first_round(site: Columns) -> Did:
    """Send the total weight and the number of the site's clusterings, from which the mean weight is computed."""
    weights = site.part.weights
    scalars = np.array([weights.sum(), len(weights)])
    return Did(np.empty((len(site.part), 0)), scalars, {}, {"phase": "weights", "run": 0})


def next_round(site: Columns, kept: Kept, notes: Notes, total: Arrays | None) -> Did:
    """Return the next share, given the sum of the last ones; None means that a run is over and the next one begins."""
    if total is None:
        return begin(site, kept, notes)
    return PHASES[notes["phase"]](site, kept, notes, total)


def after_weights(site: Columns, kept: Kept, notes: Notes, total: Arrays) -> Did:
    """Scale the weights to mean 1; send in how many clusterings each object has a label, their weight, and its marks.

    The marks (`starts.transfer_cut.row_marks`) are the first vectors of the transfer cut.
    """
    whole, clusterings = total["scalars"]
    if whole < LIGHTEST * clusterings:
        raise FederatedError("the weights of the clusterings are too small to be sent; multiply all by the same number")
    weights = site.part.weights * (clusterings / whole)
    values = [known_weight(site.part, each)[:, None] for each in (np.ones(len(weights)), weights)]
    if site.terms.init == "transfer-cut":
        values.append(row_marks(site.part, weights, _clusters(site)))
    return Did(np.hstack(values), np.zeros(1), {"weights": weights}, {**notes, "phase": "degree"})


def after_degree(site: Columns, kept: Kept, notes: Notes, total: Arrays) -> Did:
    """Store what is known of the objects at all sites together; then begin the first run."""
    keep = total["values"][:, 0] > 0.5
    if not keep.any():
        raise FederatedError("no object has a label at any site; check the missing values")
    degree = np.where(keep, np.maximum(total["values"][:, 1], 2.0**-site.terms.bits), 0.0)
    more: dict[str, NDArray[Any]] = {"degree": degree, "keep": keep.astype(np.uint8)}
    if site.terms.init == "transfer-cut":
        more["marks"] = np.ascontiguousarray(total["values"][:, 2:])
    did = begin(site, {**kept, **more}, notes)
    return did._replace(kept={**more, **did.kept})


def begin(site: Columns, kept: Kept, notes: Notes) -> Did:
    """Send the first share of a run, or of the final placement of the objects if all runs are over."""
    if notes["run"] == site.terms.params["restarts"]:
        place = METHODS[site.terms.method].place
        assert place is not None
        return place(site, kept, notes)
    begun = {**notes, "phase": "labels", "turn": 0, "trace": [], "ritz": []}
    if site.terms.init == "random" or _clusters(site) == 1 or "embedding" in kept:  # one embedding serves all runs
        return _tell_labels(site, kept, begun)
    basis = next_basis(kept["marks"], kept["degree"], np.ones(len(site.part))).basis
    return Did(_spread(site, kept, basis), np.zeros(1), {"basis": basis}, {**begun, "phase": "basis"})


def after_basis(site: Columns, kept: Kept, notes: Notes, total: Arrays) -> Did:
    """Take one step of the subspace iteration; if the leader has declared it the last, send the leader's labels."""
    found = next_basis(total["values"], kept["degree"], np.ones(len(site.part)), kept["basis"])
    if total["scalars"][0] > 0.5:
        embedded = embedding(found)
        did = _tell_labels(site, {**kept, "embedding": embedded}, {**notes, "phase": "labels"})
        return did._replace(kept={**did.kept, "basis": None, "embedding": embedded})
    turn = notes["turn"] + 1
    last = site.leads and found.is_last(notes["ritz"], turn)
    told = {**notes, "turn": turn, "ritz": found.ritz.tolist()}
    return Did(_spread(site, kept, found.basis), np.array([float(last)]), {"basis": found.basis}, told)


def _spread(site: Columns, kept: Kept, basis: FloatArray) -> FloatArray:
    """Return the site's part of a step of the walk, clipped to what a word can represent."""
    return _clipped(site.terms, spread_basis(site.part, kept["weights"], basis))


def _clipped(terms: Terms, values: FloatArray) -> FloatArray:
    return values if terms.transport == "float" else np.clip(values, -_room(terms), _room(terms))


def _room(terms: Terms) -> float:
    """Return the largest number that every site can send so that the sum fits into a word."""
    return 2.0 ** (terms.word - 1 - terms.bits) / len(terms.sites) - 1


def _clusters(site: Columns) -> int:
    assert site.terms.k is not None
    return site.terms.k


def _tell_labels(site: Columns, kept: Kept, notes: Notes) -> Did:
    """Send the clusters of the initialization, computed by the leader; other sites send 0."""
    labels, k = np.zeros((len(site.part), 1)), _clusters(site)
    if site.leads and k > 1:
        rng, known = generator(site.terms.seed).spawn(notes["run"] + 1)[-1], np.flatnonzero(kept["keep"])
        if "embedding" in kept:
            found = cut_labels(kept["embedding"][known], kept["marks"][known], np.ones(len(known)), k, rng)
        else:
            found = rng.integers(k, size=len(known))
        labels[known, 0] = found
    return Did(labels, np.zeros(1), {}, notes)


def after_labels(site: Columns, kept: Kept, notes: Notes, total: Arrays) -> Did:
    """Soften the clusters of the initialization; then send the first share of the fit."""
    labels = np.clip(np.rint(total["values"][:, 0]), 0, _clusters(site) - 1).astype(np.int64)
    shares = leaning_shares(labels, _clusters(site)) * (kept["keep"] > 0)[:, None]
    return METHODS[site.terms.method].first(site, kept, {**notes, "phase": "fit"}, shares)


def leaning_shares(labels: IntArray, k: int) -> FloatArray:
    """Return (n, k) shares: SHARE for each object's own cluster, the rest in equal parts for the others."""
    shares = np.full((len(labels), k), (1 - SHARE) / (k - 1) if k > 1 else 1.0)
    shares[np.arange(len(labels)), labels] = SHARE if k > 1 else 1.0
    return shares


def label_weights(site: Columns, kept: Kept) -> FloatArray:
    """Return (t, 1) the weight of each label's clustering, 1 on average over all sites."""
    return np.asarray(kept["weights"][label_columns(site.part.offsets)][:, None])


def _judged(site: Columns, notes: Notes, objective: float, sent: Did) -> Did:
    """Return the share with the objective in the trace and, from the leader, whether the run is over."""
    trace = [*notes["trace"], objective]
    params, told = site.terms.params, {**notes, **sent.notes, "trace": trace}
    if not site.leads or not (settled(trace, params["tol"]) or len(trace) >= params["max_iter"]):
        return sent._replace(notes=told)
    best = objective > notes.get("objective", -np.inf)
    return sent._replace(notes=told, over=True, best=best)


# MM


def mm_first(site: Columns, kept: Kept, notes: Notes, shares: FloatArray) -> Did:
    """Send the scores under the parameters that fit the shares of an initialization."""
    return _mm_send(site, kept, notes, shares, {})


def _mm_send(site: Columns, kept: Kept, notes: Notes, shares: FloatArray, more: Mapping[str, Any]) -> Did:
    """M step at the site; send its scores, with the largest of each row subtracted."""
    part, smoothing = site.part, site.terms.params["smoothing"]
    pseudo = add_by_label(part, shares) * label_weights(site, kept) + smoothing
    with np.errstate(divide="ignore"):
        sizes = shares.sum(axis=0)
        log_weights = np.maximum(np.log(sizes / sizes.sum()), IMPOSSIBLE)
    log_probs = log_chances(pseudo, part.offsets)
    floor = -np.inf if site.terms.transport == "float" else -_depth(site.terms)
    scores, taken = _lowered_scores(site, _mm_tables(site, kept["weights"], log_probs), floor)
    prior = log_prior(Mixture(log_weights, log_probs), smoothing)
    kept_now = {**more, "next_bias": log_weights, "next_log_probs": log_probs}
    return Did(scores, np.array([taken, prior]), kept_now, notes)


def _mm_tables(site: Columns, weights: FloatArray, log_probs: FloatArray) -> FloatArray:
    """Return (t, k) what each label adds to a row's scores."""
    scaled = log_probs * weights[label_columns(site.part.offsets)][:, None]
    return np.where(log_probs <= IMPOSSIBLE, IMPOSSIBLE, scaled)


def _lowered_scores(site: Columns, tables: FloatArray, floor: float) -> tuple[FloatArray, float]:
    """Return (n, k) scores without each row's largest, not below `floor`, and the sum of what was subtracted."""
    scores = column_scores(tables, site.part, np.zeros(tables.shape[1]))
    return scores, float(sum(map_chunks(partial(lower_rows, scores, floor), len(scores), ROWS)))


def _depth(terms: Terms) -> float:
    """Return how far below its row's best a score can be sent without a sum that exceeds its word."""
    depth = min(DEEPEST, _room(terms))
    if depth < LEAST_DEEP:
        raise FederatedError(
            f"{len(terms.sites)} sites with {terms.bits} bits of fraction leave no room in {terms.word}-bit words; "
            "take fewer bits, or word = 64"
        )
    return depth


def mm_after(site: Columns, kept: Kept, notes: Notes, total: Arrays) -> Did:
    """E step: responsibilities and log-likelihood from the summed scores; then the next M step."""
    keep = kept["keep"] > 0
    shares, chances = total["values"] + kept["next_bias"], np.empty(len(keep))
    map_chunks(partial(share_out, shares, chances), len(keep), ROWS)
    shares *= keep[:, None]
    objective = float(chances[keep].sum() + total["scalars"].sum())
    more = {"shares": shares, "bias": kept["next_bias"], "log_probs": kept["next_log_probs"]}
    return _judged(site, notes, objective, _mm_send(site, kept, notes, shares, more))


# BCE-VB


def bce_first(site: Columns, kept: Kept, notes: Notes, shares: FloatArray) -> Did:
    """Send the first share of an E step under the parameters that fit the shares of an initialization."""
    params, k = site.terms.params, shares.shape[1]
    counts = add_by_label(site.part, shares) * label_weights(site, kept)
    little = params["smoothing"] + (counts.sum(axis=1, keepdims=True) == 0)
    fitted = Bce(np.full(k, params["alpha"]), log_chances(counts + little, site.part.offsets))
    gamma = fitted.alpha + kept["degree"][:, None] * shares
    return _e_step(site, kept, notes, fitted, gamma)


def _e_step(site: Columns, kept: Kept, notes: Notes, fitted: Bce, gamma: FloatArray) -> Did:
    """Begin an E step from `gamma` (n, k): send the expected labels of all objects."""
    begun = {
        "next_bias": fitted.alpha,
        "next_log_probs": fitted.log_probs,
        "before": gamma,
        "gamma": gamma,
        "active": kept["keep"],
        "masses": np.zeros(len(gamma)),
    }
    return _bce_pass(site, {**kept, **begun}, {**notes, "passes": 0}, begun)


def _bce_pass(site: Columns, kept: Kept, notes: Notes, more: Mapping[str, Any]) -> Did:
    """Send the expected labels of the objects that have not settled, and the site's part of the bound."""
    rows, log_probs = np.flatnonzero(kept["active"]), kept["next_log_probs"]
    found = shared_out(site.part, rows, kept["weights"], log_probs, kept["before"][rows])
    masses = kept["masses"].copy()
    masses[rows] = found.masses
    prior = site.terms.params["smoothing"] * float(log_probs.sum())
    scalars = np.array([masses.sum() + prior, len(rows)])
    return Did(found.values, scalars, {**more, "masses": masses}, notes)


class Shared(NamedTuple):
    """Labels shared out among clusters, times the weights of their clusterings."""

    values: FloatArray  # (m, k) by object
    masses: FloatArray  # (m,) what they add to the bound of each object
    expected: FloatArray  # (t, k) by label


def shared_out(
    part: AnyEnsemble, rows: IntArray, weights: FloatArray, log_probs: FloatArray, gamma: FloatArray
) -> Shared:
    """Share out the labels of some rows of a part by phi, given their `gamma` (m, k); see `kernels.columns`."""
    whole = len(rows) == len(part) and bool((np.diff(rows) == 1).all())
    values, masses, expected = np.zeros(gamma.shape), np.zeros(len(rows)), np.zeros(log_probs.shape)
    if isinstance(part, Ensemble):
        labels = part.labels if whole else sealed(part.labels[rows])
        tops = log_probs.max(axis=1)
        chances = sealed(np.exp(log_probs - tops[:, None]))
        fixed = (labels, part.offsets, sealed(weights), chances, tops, sealed(gamma), values, masses)

        def chunk(start: int, stop: int) -> FloatArray:
            own = np.zeros(log_probs.shape)
            share_labels(*fixed, own, start, stop)
            return own

        return Shared(values, masses, np.asarray(sum(map_chunks(chunk, len(rows), ROWS), expected)))
    # memberships: the chance of a label is the exponential of its expected logarithm
    matrix, known, pull = part.matrix[rows], part.known[rows], psi(gamma)
    for j, weight in enumerate(weights):
        where = slice(part.offsets[j], part.offsets[j + 1])
        scores, chances = pull + matrix[:, where] @ log_probs[where], np.empty(len(rows))
        map_chunks(partial(share_out, scores, chances), len(rows), ROWS)
        scores *= weight * known[:, [j]]
        values += scores
        masses += np.where(known[:, j], weight * chances, 0.0)
        expected[where] = matrix[:, where].T @ scores
    return Shared(values, masses, expected)


def bce_after(site: Columns, kept: Kept, notes: Notes, total: Arrays) -> Did:
    """Update gamma from the summed labels; if all objects have settled, compute the bound and the next parameters."""
    params, alpha, keep = site.terms.params, kept["next_bias"], kept["keep"]
    passes = notes["passes"] + 1
    moved, goes_on = _moved(site, kept, total, alpha, params["inner_tol"], passes < params["max_inner"])
    if goes_on:
        return _bce_pass(site, {**kept, **moved}, {**notes, "passes": passes}, moved)
    before, gamma = kept["before"], moved["gamma"]
    base = float(gammaln(alpha.sum()) - gammaln(alpha).sum())

    def chunk(start: int, stop: int) -> tuple[FloatArray, float]:
        pulls = np.zeros(len(alpha))
        return pulls, settle_rows(sealed(before), sealed(gamma), sealed(alpha), base, sealed(keep), pulls, start, stop)

    pulls, bounds = zip(*map_chunks(chunk, len(gamma), ROWS), strict=True)
    objective = float(sum(bounds) + total["scalars"][0])
    shares = {"shares": gamma, "bias": alpha, "log_probs": kept["next_log_probs"]}
    everything = np.arange(len(gamma))
    expected = shared_out(site.part, everything, kept["weights"], kept["next_log_probs"], before).expected
    if params["learn_alpha"]:
        alpha = bce.concentration(alpha, np.asarray(sum(pulls)), float(np.count_nonzero(keep)))
    fitted = Bce(alpha, log_chances(expected + params["smoothing"], site.part.offsets))
    sent = _e_step(site, kept, notes, fitted, gamma)
    return _judged(site, notes, objective, sent._replace(kept={**shares, **sent.kept}))


def _moved(
    site: Columns, kept: Kept, total: Arrays, alpha: FloatArray, tol: float, may_go_on: bool
) -> tuple[dict[str, NDArray[Any]], bool]:
    """Return the next gamma of the rows that were exchanged, which rows go on, and whether any does.

    A row settles when no element of its gamma moves by more than `tol`; its `before`, by which its labels were shared
    out last, then stays.
    """
    terms, rows = site.terms, np.flatnonzero(kept["active"])
    if round(float(total["scalars"][1])) != len(rows) * len(terms.sites):
        raise FederatedError("the sites disagree on which objects have settled; run the same versions everywhere")
    if terms.transport != "float":
        tol = max(tol, len(terms.sites) * 2.0**-terms.bits)
    found = alpha + np.maximum(total["values"], 0.0)
    gamma, active, before = kept["gamma"].copy(), kept["active"].copy(), kept["before"]
    active[rows] = np.abs(found - gamma[rows]).max(axis=1, initial=0.0) > tol
    gamma[rows] = found
    goes_on = may_go_on and bool(active.any())
    if goes_on:
        before = np.where(active[:, None] > 0, gamma, before)
    return {"gamma": gamma, "active": active, "before": before}, goes_on


def bce_place(site: Columns, kept: Kept, notes: Notes) -> Did:
    """After the runs: send scores, whose sum gives each object's most probable cluster (`core.dirichlet.infer`)."""
    scaled = kept["best_log_probs"] * label_weights(site, kept)
    floor = -np.inf if site.terms.transport == "float" else -_room(site.terms)
    scores, _ = _lowered_scores(site, scaled, floor)
    return Did(scores, np.zeros(1), dict.fromkeys(TEMPORARY), {**notes, "phase": "place"})


def after_place(site: Columns, kept: Kept, notes: Notes, total: Arrays) -> Did:
    """Begin the inference of every object from two starts, even shares and most of it in its most probable cluster."""
    k, degree, alpha = _clusters(site), kept["degree"][:, None], kept["best_bias"]
    leaning = alpha + degree * leaning_shares(total["values"].argmax(axis=1), k)
    gamma = np.concatenate([alpha + degree / k, leaning])
    begun = {
        "before": gamma,
        "gamma": gamma,
        "active": np.tile(kept["keep"], 2),
        "masses": np.zeros(len(gamma)),
    }
    return _place_pass(site, {**kept, **begun}, {**notes, "phase": "placing", "passes": 0}, begun)


def _place_pass(site: Columns, kept: Kept, notes: Notes, more: Mapping[str, Any]) -> Did:
    rows = np.flatnonzero(kept["active"])
    places = rows % len(site.part)
    found = shared_out(site.part, places, kept["weights"], kept["best_log_probs"], kept["before"][rows])
    masses = kept["masses"].copy()
    masses[rows] = found.masses
    return Did(found.values, np.array([0.0, len(rows)]), {**more, "masses": masses}, notes)


def after_placing(site: Columns, kept: Kept, notes: Notes, total: Arrays) -> Did:
    """Update gamma from both starts; when all rows have settled, send the labels' parts of their bounds."""
    passes = notes["passes"] + 1
    moved, goes_on = _moved(site, kept, total, kept["best_bias"], SETTLE.tol, passes < SETTLE.most)
    if goes_on:
        return _place_pass(site, {**kept, **moved}, {**notes, "passes": passes}, moved)
    masses = _clipped(site.terms, kept["masses"].reshape(2, -1).T)
    return Did(masses, np.zeros(1), moved, {**notes, "phase": "placed"})


def after_placed(site: Columns, kept: Kept, notes: Notes, total: Arrays) -> Did:
    """Keep the start with the higher bound for each object; then everything is over."""
    alpha, gamma, before = kept["best_bias"], kept["gamma"], kept["before"]
    rest = gammaln(gamma).sum(axis=1) - gammaln(gamma.sum(axis=1)) - (psi(before) * (gamma - alpha)).sum(axis=1)
    even, leaning = rest.reshape(2, -1) + total["values"].T
    even_gamma, leaning_gamma = np.split(gamma, 2)
    shares = np.where(clearly_better(leaning, even)[:, None], leaning_gamma, even_gamma)
    kept_now = {**dict.fromkeys(TEMPORARY), "best_shares": shares}
    return Did(np.empty((len(shares), 0)), np.zeros(1), kept_now, notes, over=site.leads)


TEMPORARY: Final = ("before", "gamma", "active", "masses", "shares", "bias", "log_probs", "next_bias", "next_log_probs")
"""Arrays of a run that are not needed after it."""


class ColumnMethod(NamedTuple):
    """A method that can be fitted by columns."""

    first: Callable[[Columns, Kept, Notes, FloatArray], Did]
    """Shares of an initialization to the first share of the fit."""
    after: Callable[[Columns, Kept, Notes, Arrays], Did]
    """Sums of a round to the next share."""
    link: str
    """Link of the model (`core.links`)."""
    place: Callable[[Columns, Kept, Notes], Did] | None = None
    """First share of the placement of the objects by the fitted parameters, if memberships are not those of the fit."""

    @property
    def extra_runs(self) -> int:
        """Number of sequences of rounds after the runs."""
        return int(self.place is not None)


METHODS: Final[Mapping[str, ColumnMethod]] = {
    "mm": ColumnMethod(mm_first, mm_after, "softmax"),
    "bce-vb": ColumnMethod(bce_first, bce_after, "dirichlet", bce_place),
}


def run_over(site: Columns, kept: Kept, notes: Notes, best: bool) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Return what a site stores of a finished run: its result if it is the best so far."""
    more: dict[str, NDArray[Any]] = {}
    told: dict[str, Any] = {**notes, "run": notes["run"] + 1}
    if best:
        more = {f"best_{name}": kept[name] for name in ("shares", "bias", "log_probs")}
        trace = notes["trace"]
        converged = settled(trace, site.terms.params["tol"])
        told |= {"objective": trace[-1], "best trace": trace, "converged": converged}
    return more, told


def after_fit(site: Columns, kept: Kept, notes: Notes, total: Arrays) -> Did:
    """One round of the method."""
    return METHODS[site.terms.method].after(site, kept, notes, total)


PHASES: Final[Mapping[str, Callable[[Columns, Kept, Notes, Arrays], Did]]] = {
    "weights": after_weights,
    "degree": after_degree,
    "basis": after_basis,
    "labels": after_labels,
    "fit": after_fit,
    "place": after_place,
    "placing": after_placing,
    "placed": after_placed,
}


def consensus(kept: Kept) -> tuple[IntArray, FloatArray, IntArray]:
    """Return labels, memberships and the order of the fitted clusters.

    Labels (n,) are numbered by first appearance among the objects, which is the same at all sites; objects without a
    label at any site have MISSING and memberships (n, k) of NaN.
    """
    keep, shares = kept["keep"] > 0, kept["best_shares"]
    labels, order = by_appearance(np.where(keep, shares.argmax(axis=1), MISSING), shares.shape[1])
    membership = shares[:, order] / np.maximum(shares.sum(axis=1, keepdims=True), 1e-300)
    membership[~keep] = np.nan
    return labels, membership, order


class SiteColumns(NamedTuple):
    """Result of a site after a run."""

    labels: IntArray
    """(n,) for the site's own objects, in their order."""
    membership: FloatArray
    model: ColumnModel
    """Predicts from the site's own clusterings."""


def told(site: Columns, kept: Kept, rows: int) -> SiteColumns:
    """Return labels and memberships of the site's own `rows` objects, and the model of its own clusterings."""
    labels, membership, order = consensus(kept)
    here = kept["order"] != MISSING
    own_labels, own = np.full(rows, MISSING, np.int32), np.full((rows, membership.shape[1]), np.nan)
    own_labels[kept["order"][here]], own[kept["order"][here]] = labels[here], membership[here]
    return SiteColumns(own_labels, own, model_of(site, kept["weights"], kept, order))


def model_of(site: Columns, weights: FloatArray, kept: Kept, order: IntArray) -> ColumnModel:
    """Return the fitted parameters of the site's own clusterings as a model; its clusters are in the given order."""
    part, terms, log_probs = site.part, site.terms, kept["best_log_probs"]
    link = METHODS[terms.method].link
    tables = _mm_tables(site, weights, log_probs) if link == "softmax" else log_probs
    recipe = Recipe(terms.method, FrozenDict(terms.params), terms.k, terms.seed, terms.version, f"run {terms.run}")
    fields: dict[str, Any] = {"missing": part.missing} if isinstance(part, Ensemble) else {}
    return ColumnModel(
        np.ascontiguousarray(kept["best_bias"][order]),
        by_clustering(tables[:, order], part.offsets),
        link,
        names=part.names,
        classes=part.classes,
        weights=weights,
        recipe=recipe,
        **fields,
    )
