"""Column-distributed consensus: sites hold clusterings of the same objects, scores or expected labels add.

A site sends numbers of each object and cluster, of which the sum over sites is all that anybody needs, and gets that
sum back; label distributions never leave it. All sites compute the same from the sums; where chance or a decision comes
in, the first of them (the leader) tells the others, by a sum to which they add 0. The coordinator need not be able to
read any of it. One exchange serves one iteration, and the fit is the central one.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, psi

from partita.core.consensus import by_appearance
from partita.core.counting import by_clustering, column_scores, label_columns
from partita.core.dirichlet import SHARE, Bce, known_weight
from partita.core.errors import FederatedError
from partita.core.iterate import settled
from partita.core.links import ROWS
from partita.core.rng import generator
from partita.core.soft import AnyEnsemble, SoftEnsemble
from partita.core.threads import map_chunks
from partita.core.types import MISSING, FloatArray, IntArray, sealed
from partita.federated.column_starts import add_by_label, lead_labels, next_basis, spread_basis
from partita.federated.messages import Arrays, Terms
from partita.kernels.columns import lower_rows, settle_rows, share_labels
from partita.kernels.mixture import share_out
from partita.kernels.scores import IMPOSSIBLE
from partita.models import bce
from partita.models.mixture import Mixture, log_chances, log_prior

DEEPEST: Final = 1000.0
"""How far below its best a score is told; its exponential is 0."""
LIGHTEST: Final = 1e-3
"""The least weight that clusterings may have on average."""
LEAST_DEEP: Final = 40.0
"""What sites and bits must leave of it."""


class Columns(NamedTuple):
    """A site's clusterings of the objects agreed on."""

    part: AnyEnsemble
    terms: Terms
    leads: bool
    """Whether this is the site that decides."""


class Did(NamedTuple):
    """What a round came to."""

    values: FloatArray
    """(n, columns) to be added up over sites."""
    scalars: FloatArray
    kept: Mapping[str, NDArray[Any] | None]
    notes: Mapping[str, Any]
    over: bool = False
    best: bool = False


Kept: TypeAlias = Mapping[str, NDArray[Any]]
Notes: TypeAlias = Mapping[str, Any]


def first_round(site: Columns) -> Did:
    """The weights and the number of the clusterings here, of which the mean over all sites is made."""
    weights = site.part.weights
    scalars = np.array([weights.sum(), len(weights)])
    return Did(np.empty((len(site.part), 0)), scalars, {}, {"phase": "weights", "run": 0})


def next_round(site: Columns, kept: Kept, notes: Notes, total: Arrays | None) -> Did:
    """The next share, given the sum of the last ones; None says that a run is over and the next start is wanted."""
    if total is None:
        return begin(site, kept, notes)
    return PHASES[notes["phase"]](site, kept, notes, total)


def after_weights(site: Columns, kept: Kept, notes: Notes, total: Arrays) -> Did:
    """In how many clusterings each object is known here, and with how much weight, which is 1 on average."""
    whole, clusterings = total["scalars"]
    if whole < LIGHTEST * clusterings:
        raise FederatedError("the weights of the clusterings are too small to be told; multiply all by the same number")
    weights = site.part.weights * (clusterings / whole)
    known = [known_weight(site.part, each) for each in (np.ones(len(weights)), weights)]
    return Did(np.column_stack(known), np.zeros(1), {"weights": weights}, {**notes, "phase": "degree"})


def after_degree(site: Columns, kept: Kept, notes: Notes, total: Arrays) -> Did:
    """What is known of the objects at all sites together; then the first start."""
    keep = total["values"][:, 0] > 0.5
    if not keep.any():
        raise FederatedError("no object has a label at any site; check the missing values")
    degree = np.where(keep, np.maximum(total["values"][:, 1], 2.0**-site.terms.bits), 0.0)
    more: dict[str, NDArray[Any]] = {"degree": degree, "keep": keep.astype(np.uint8)}
    return begin(site, {**kept, **more}, notes, more)


def begin(site: Columns, kept: Kept, notes: Notes, more: Mapping[str, Any] | None = None) -> Did:
    """The first share of a start: seen from the leader's side, labels at random, or a step towards them."""
    begun = {"phase": "labels", "turn": 0, "trace": [], "ritz": []}
    if site.terms.start == "random":
        return _tell_labels(site, {**kept, **(more or {})}, {**notes, **begun}, more or {})
    if "basis" in kept:  # the basis is the same for every start
        return _tell_labels(site, kept, {**notes, **begun}, {})
    assert site.terms.k is not None
    basis = generator(site.terms.seed).random((len(site.part), site.terms.k)) - 0.5
    basis = next_basis(basis * kept["degree"][:, None], kept["degree"]).basis
    values = _spread(site, kept, basis)
    return Did(values, np.zeros(1), {**(more or {}), "basis": basis}, {**notes, **begun, "phase": "basis"})


def after_basis(site: Columns, kept: Kept, notes: Notes, total: Arrays) -> Did:
    """One step of subspace iteration; when the leader has said that it was the last, its labels."""
    found = next_basis(total["values"], kept["degree"], kept["basis"])
    if total["scalars"][0] > 0.5:
        more = {"basis": found.basis * np.sqrt(np.maximum(found.ritz, 0.0))}
        return _tell_labels(site, {**kept, **more}, {**notes, "phase": "labels"}, more)
    turn = notes["turn"] + 1
    last = site.leads and found.is_last(notes["ritz"], turn)
    values = _spread(site, kept, found.basis)
    told = {**notes, "turn": turn, "ritz": found.ritz.tolist()}
    return Did(values, np.array([float(last)]), {"basis": found.basis}, told)


def _spread(site: Columns, kept: Kept, basis: FloatArray) -> FloatArray:
    """A step of the walk; objects that lie too far out for a word are drawn in, which a start can bear."""
    values = spread_basis(site.part, kept["weights"], basis)
    if site.terms.transport != "float":
        np.clip(values, -_room(site.terms), _room(site.terms), out=values)
    return values


def _room(terms: Terms) -> float:
    """How large a number can be at every site without any sum leaving its word."""
    return 2.0 ** (terms.word - 1 - terms.bits) / len(terms.sites) - 1


def _tell_labels(site: Columns, kept: Kept, notes: Notes, more: Mapping[str, Any]) -> Did:
    """The leader's clusters of a start; all other sites add 0."""
    labels = np.zeros((len(site.part), 1))
    if site.leads:
        assert site.terms.k is not None
        rng = generator(site.terms.seed).spawn(notes["run"] + 1)[-1]
        labels[:, 0] = lead_labels(kept.get("basis"), kept["keep"] > 0, site.terms.k, rng)
    return Did(labels, np.zeros(1), more, notes)


def after_labels(site: Columns, kept: Kept, notes: Notes, total: Arrays) -> Did:
    """The clusters of a start, softened; then the first expectation pass."""
    k = site.terms.k
    assert k is not None
    labels = np.clip(np.rint(total["values"][:, 0]), 0, k - 1).astype(np.int64)
    shares = np.full((len(labels), k), (1 - SHARE) / (k - 1) if k > 1 else 1.0)
    shares[np.arange(len(labels)), labels] = SHARE if k > 1 else 1.0
    shares *= (kept["keep"] > 0)[:, None]
    done = FIRST[site.terms.method](site, kept, {**notes, "phase": "fit"}, shares)
    return done if site.terms.params["restarts"] > 1 else done._replace(kept={**done.kept, "basis": None})


def label_weights(site: Columns, kept: Kept) -> FloatArray:
    """(t, 1) the weight of each label's clustering, 1 on average over all sites."""
    return np.asarray(kept["weights"][label_columns(site.part.offsets)][:, None])


# MM


def mm_first(site: Columns, kept: Kept, notes: Notes, shares: FloatArray) -> Did:
    """The parameters that the shares of a start lead to, and the scores under them."""
    return _mm_send(site, kept, notes, shares, {})


def _mm_send(site: Columns, kept: Kept, notes: Notes, shares: FloatArray, more: Mapping[str, Any]) -> Did:
    """The site's own parameters for the shares, and its scores, each row's largest at 0."""
    part, smoothing = site.part, site.terms.params["smoothing"]
    pseudo = add_by_label(part, shares) * label_weights(site, kept) + smoothing
    with np.errstate(divide="ignore"):
        sizes = shares.sum(axis=0)
        log_weights = np.maximum(np.log(sizes / sizes.sum()), IMPOSSIBLE)
    log_probs = log_chances(pseudo, part.offsets)
    tables = np.where(log_probs <= IMPOSSIBLE, IMPOSSIBLE, log_probs * label_weights(site, kept))
    scores = column_scores(tables, part, np.zeros(len(log_weights)))
    floor = -np.inf if site.terms.transport == "float" else -_depth(site.terms)
    taken = sum(map_chunks(partial(lower_rows, scores, floor), len(part), ROWS))
    prior = log_prior(Mixture(log_weights, log_probs), smoothing)
    kept_now = {**more, "next_bias": log_weights, "next_log_probs": log_probs}
    return Did(scores, np.array([taken, prior]), kept_now, notes)


def _depth(terms: Terms) -> float:
    """How far below its best a score can be told without any sum leaving its word."""
    depth = min(DEEPEST, _room(terms))
    if depth < LEAST_DEEP:
        raise FederatedError(
            f"{len(terms.sites)} sites with {terms.bits} bits of fraction leave no room in {terms.word}-bit words; "
            "take fewer bits, or word = 64"
        )
    return depth


def mm_after(site: Columns, kept: Kept, notes: Notes, total: Arrays) -> Did:
    """Responsibilities from the summed scores, and the log-likelihood; then the next parameters and scores."""
    keep = kept["keep"] > 0
    shares, chances = total["values"] + kept["next_bias"], np.empty(len(keep))
    map_chunks(partial(share_out, shares, chances), len(keep), ROWS)
    shares *= keep[:, None]
    objective = float(chances[keep].sum() + total["scalars"].sum())
    more = {"shares": shares, "bias": kept["next_bias"], "log_probs": kept["next_log_probs"]}
    return _judged(site, kept, notes, objective, _mm_send(site, kept, notes, shares, more))


# BCE-VB


def bce_first(site: Columns, kept: Kept, notes: Notes, shares: FloatArray) -> Did:
    """The parameters that the shares of a start lead to, and the labels shared out by them."""
    params, k = site.terms.params, shares.shape[1]
    counts = add_by_label(site.part, shares) * label_weights(site, kept)
    little = params["smoothing"] + (counts.sum(axis=1, keepdims=True) == 0)
    alpha = np.full(k, params["alpha"])
    fitted = Bce(alpha, log_chances(counts + little, site.part.offsets))
    gamma = alpha + kept["degree"][:, None] * np.where((kept["keep"] > 0)[:, None], shares, 1 / k)
    return _bce_send(site, kept, notes, fitted, gamma, {})


def _bce_send(site: Columns, kept: Kept, notes: Notes, fitted: Bce, gamma: FloatArray, more: Mapping[str, Any]) -> Did:
    """The site's labels, shared out: by object to all, by label for itself."""
    values, expected, bound = shared_out(site.part, kept["weights"], fitted.log_probs, gamma)
    prior = site.terms.params["smoothing"] * float(fitted.log_probs.sum())
    kept_now = {
        **more,
        "before": gamma,
        "next_bias": fitted.alpha,
        "next_log_probs": fitted.log_probs,
        "expected": expected,
    }
    return Did(values, np.array([bound, prior]), kept_now, notes)


def shared_out(
    part: AnyEnsemble, weights: FloatArray, log_probs: FloatArray, gamma: FloatArray
) -> tuple[FloatArray, FloatArray, float]:
    """(n, k) each object's labels by cluster, (t, k) the same by label, and what they add to the bound."""
    if isinstance(part, SoftEnsemble):
        return _memberships_out(part, weights, log_probs, gamma)
    tops = log_probs.max(axis=1)
    chances = sealed(np.exp(log_probs - tops[:, None]))
    values = np.empty(gamma.shape)
    fixed = (part.labels, part.offsets, sealed(weights), chances, tops, sealed(gamma), values)

    def chunk(start: int, stop: int) -> tuple[FloatArray, float]:
        expected = np.zeros(log_probs.shape)
        return expected, share_labels(*fixed, expected, start, stop)

    expected, bounds = zip(*map_chunks(chunk, len(part), ROWS), strict=True)
    return values, np.asarray(sum(expected)), float(sum(bounds))


def _memberships_out(
    part: SoftEnsemble, weights: FloatArray, log_probs: FloatArray, gamma: FloatArray
) -> tuple[FloatArray, FloatArray, float]:
    """The same for memberships: a label's chance is the exponential of its expected logarithm."""
    pull = psi(gamma)
    values, expected, bound = np.zeros(gamma.shape), np.zeros(log_probs.shape), 0.0
    for j, weight in enumerate(weights):
        where = slice(part.offsets[j], part.offsets[j + 1])
        scores = pull + part.matrix[:, where] @ log_probs[where]
        chances = np.empty(len(part))
        map_chunks(partial(share_out, scores, chances), len(part), ROWS)
        known = part.known[:, j]
        scores *= weight * known[:, None]
        values += scores
        expected[where] = part.matrix[:, where].T @ scores
        bound += weight * float(chances[known].sum())
    return values, expected, bound


def bce_after(site: Columns, kept: Kept, notes: Notes, total: Arrays) -> Did:
    """The objects' posteriors from the summed labels, and the bound; then the next parameters."""
    params, alpha, keep = site.terms.params, kept["next_bias"], kept["keep"]
    gamma = alpha + np.maximum(total["values"], 0.0)
    base = float(gammaln(alpha.sum()) - gammaln(alpha).sum())

    def chunk(start: int, stop: int) -> tuple[FloatArray, float]:
        pulls = np.zeros(len(alpha))
        rows = (sealed(kept["before"]), sealed(gamma), sealed(alpha), base, sealed(keep), pulls)
        return pulls, settle_rows(*rows, start, stop)

    pulls, bounds = zip(*map_chunks(chunk, len(gamma), ROWS), strict=True)
    objective = float(sum(bounds) + total["scalars"].sum())
    more = {"shares": gamma, "bias": alpha, "log_probs": kept["next_log_probs"]}
    if params["learn_alpha"]:
        alpha = bce.concentration(alpha, np.asarray(sum(pulls)), float(np.count_nonzero(keep)))
    fitted = Bce(alpha, log_chances(kept["expected"] + params["smoothing"], site.part.offsets))
    return _judged(site, kept, notes, objective, _bce_send(site, kept, notes, fitted, gamma, more))


# both


def _judged(site: Columns, kept: Kept, notes: Notes, objective: float, sent: Did) -> Did:
    """The same share, with the leader's word on whether the run has come to its end."""
    trace = [*notes["trace"], objective]
    params, told = site.terms.params, {**notes, "trace": trace}
    if not site.leads or not (settled(trace, params["tol"]) or len(trace) >= params["max_iter"]):
        return sent._replace(notes=told)
    best = objective > notes.get("objective", -np.inf)
    return sent._replace(notes=told, over=True, best=best)


def run_over(kept: Kept, notes: Notes, best: bool) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """What a site keeps of a run: the result if it is the best so far, and nothing else of it."""
    more, told = {}, {**notes, "run": notes["run"] + 1}
    if best:
        more = {f"best_{name}": kept[name] for name in ("shares", "bias", "log_probs")}
        told |= {"objective": notes["trace"][-1], "best trace": notes["trace"]}
    return more, told


FIRST: Final[Mapping[str, Callable[[Columns, Kept, Notes, FloatArray], Did]]] = {"mm": mm_first, "bce-vb": bce_first}
AFTER: Final[Mapping[str, Callable[[Columns, Kept, Notes, Arrays], Did]]] = {"mm": mm_after, "bce-vb": bce_after}


def after_fit(site: Columns, kept: Kept, notes: Notes, total: Arrays) -> Did:
    """One iteration of the method."""
    return AFTER[site.terms.method](site, kept, notes, total)


PHASES: Final[Mapping[str, Callable[[Columns, Kept, Notes, Arrays], Did]]] = {
    "weights": after_weights,
    "degree": after_degree,
    "basis": after_basis,
    "labels": after_labels,
    "fit": after_fit,
}


def consensus(kept: Kept) -> tuple[IntArray, FloatArray]:
    """(n,) the label of each object, MISSING where no site knows it, and (n, k) its memberships, NaN there.

    Clusters are numbered by first appearance among the objects, which is the same at all sites.
    """
    keep, shares = kept["keep"] > 0, kept["best_shares"]
    labels, order = by_appearance(np.where(keep, shares.argmax(axis=1), MISSING), shares.shape[1])
    membership = shares[:, order] / np.maximum(shares.sum(axis=1, keepdims=True), 1e-300)
    membership[~keep] = np.nan
    return labels, membership


def told(site: Columns, kept: Kept, rows: int) -> tuple[IntArray, FloatArray, tuple[FloatArray, ...]]:
    """Labels and memberships in the order of the site's own `rows` objects, and its label distributions."""
    labels, membership = consensus(kept)
    here = kept["order"] != MISSING
    own_labels, own = np.full(rows, MISSING, np.int32), np.full((rows, membership.shape[1]), np.nan)
    own_labels[kept["order"][here]], own[kept["order"][here]] = labels[here], membership[here]
    shares = kept["best_shares"]
    _, order = by_appearance(np.where(kept["keep"] > 0, shares.argmax(axis=1), MISSING), shares.shape[1])
    return own_labels, own, by_clustering(kept["best_log_probs"][:, order], site.part.offsets)
