"""NBCE by Gibbs: Bayesian cluster ensembles that find the number of clusters, sampled in chains (Wang et al. 2010)."""

from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Literal

import numpy as np
from numpy.random import Generator

from partita.core.consensus import Consensus
from partita.core.counting import unit_weights
from partita.core.draws import Draws
from partita.core.ensemble import Ensemble
from partita.core.interrupts import finishing
from partita.core.memory import check_memory
from partita.core.method import Method
from partita.core.params import setting
from partita.core.soft import AnyEnsemble, SoftEnsemble, hard_if_one_hot
from partita.core.threads import map_threads
from partita.core.types import FloatArray, IntArray, frozen, sealed, smallest_type
from partita.models.chains import one_row_an_object, run_chains
from partita.models.nbce import Prior, Rows, Strengths
from partita.models.nbce_chain import Chain, Moves, Plan, advance, begin, with_last_draw
from partita.models.nbce_place import ESTIMATOR, Sampled, memberships, model_of, spread
from partita.models.restarts import placed_start
from partita.posterior.diagnostics import mixing, verdict
from partita.posterior.point import Point, best_draw, best_partition

BLOCK: Final = 1 << 20
"""Labels that a chain looks at between two chances to stop: some hundredths of a second with 20 clusters."""
MIXED: Final = ("spectral", "one", "kmeans++", "base")
"""The starts of the chains in turn, where they are to begin far apart."""
WATCHED: Final = ("log joint", "clusters")
"""The numbers by which mixing is judged: how probable a draw is, and how many clusters it has."""
BYTES_A_CELL: Final = 10
"""What a kept label takes while draws are put together, besides itself."""


@dataclass(frozen=True, slots=True)
class Params:
    """Settings of NBCE by Gibbs."""

    prior: Prior = setting("tsb", "shares of clusters: pieces of a broken stick, or a finite symmetric Dirichlet")
    truncation: int = setting(100, "most clusters there can be, where k does not say it", low=1)
    alpha: float = setting(
        1.0, "how readily new clusters open (where it is learned, the first value)", low=1e-6, high=1e6
    )
    beta: float = setting(
        0.5, "prior objects with each label in each cluster (where it is learned, the first value)", low=1e-6, high=1e6
    )
    learn_alpha: bool = setting(True, "draw alpha too, under a Gamma(1, 1) prior")
    learn_beta: bool = setting(True, "draw beta too, under a Gamma(1, 1) prior")
    settle: int = setting(50, "sweeps before alpha and beta are drawn, at most the burn-in", low=0)
    chains: int = setting(4, "chains, run side by side", low=1)
    burn_in: int = setting(200, "sweeps of each chain that are thrown away first", low=0)
    draws: int = setting(250, "draws kept of each chain", low=1)
    thin: int = setting(2, "sweeps for each draw that is kept", low=1)
    init: Literal["mixed", "one", "spectral", "kmeans++", "base", "random"] = setting(
        "mixed",
        "where a chain begins: one cluster, a consensus, rows far apart, a base clustering; mixed: each in turn",
    )
    moves: Moves = setting(
        "all",
        "Metropolis moves after each sweep: swap (positions of clusters, tsb only), split-merge (of clusters), all of "
        "them, or none, as in the paper",
    )
    loss: Literal["vi", "binder"] = setting("vi", "the partition shown has the least expected loss of this kind")
    point: Literal["search", "draw"] = setting(
        "search", "whether the partition shown is searched for among all there are, or is the best of the draws"
    )


def fit(ensemble: AnyEnsemble, k: int | None, params: Params, rng: Generator) -> Consensus:
    """Every object comes from one of at most K clusters, whose shares are pieces of a stick broken K - 1 times
    ("tsb": v_c ~ Beta(1, alpha)) or Dirichlet(alpha / K) ("fsd"); cluster c gives label l in clustering j with chance
    theta_cj(l), theta_cj ~ Dirichlet(beta). K is k where it is given, so that there are at most k clusters.

    Shares and theta are integrated out, and each object's cluster is drawn in turn given all others: cluster c with its
    prior chance times the product over the known labels l of (beta + N_cjl) / (k_j beta + N_cj), where N_cjl and N_cj
    count the other objects of cluster c with label l, and with any label, in clustering j. A label of clustering j
    counts w_j in these, and a factor x is then Gamma(x + w_j) / Gamma(x). After each sweep clusters split and merge by
    Metropolis moves, and under "tsb" they swap positions, because the prior wants large ones first (`moves`). alpha and
    beta are drawn by slice sampling under Gamma(1, 1) priors, once clusters have formed.

    In a soft ensemble the labels are unknown, and the membership s_ij(l) is the likelihood of what is known of a label
    if it is l. An object's cluster is drawn with the labels summed out, then the labels: the factor of clustering j is
    the sum over l of s_ij(l) (beta + N_cjl) / (k_j beta + N_cj), and l has the chance of its term. One-hot rows are
    labels, and are fitted as labels.

    The partition shown is that of least expected loss over all draws, itself a draw or not; `draws` holds them. Where
    draws are unsure of many objects, it may set these apart one by one, and have more clusters than any draw; a note
    says so. Memberships are the mean shares of an object's sampled clusters in those of the partition. New objects are
    placed by at most 100 draws' mixtures of posterior means.
    """
    ensemble = hard_if_one_hot(ensemble)
    objects = one_row_an_object(ensemble, "nbce-gibbs")
    weights = np.ones(len(ensemble.names)) if np.ptp(ensemble.weights) == 0 else unit_weights(ensemble)
    most = params.truncation if k is None else k
    soft = isinstance(ensemble, SoftEnsemble)
    check_room(len(objects), most, params, int(ensemble.offsets[-1]) if soft else 0)
    hard = ensemble.harden() if isinstance(ensemble, SoftEnsemble) else ensemble
    memberships = frozen(ensemble.matrix[objects]) if isinstance(ensemble, SoftEnsemble) else None
    shared = (frozen(hard.labels[objects]), sealed(ensemble.offsets), frozen(weights))
    rows = Rows(*shared, most, params.prior, memberships)
    settle = min(params.settle, params.burn_in)
    plan = Plan(params.burn_in, params.draws, params.thin, settle, params.learn_alpha, params.learn_beta, params.moves)
    last, *rngs = rng.spawn(1 + params.chains)
    starts = map_threads(partial(begun, ensemble, params.init, k or most), list(enumerate(rngs)))
    first = [
        begin(rows, start[objects], Strengths(params.alpha, params.beta), child)
        for start, child in zip(starts, rngs, strict=True)
    ]
    chains = sample(rows, plan, first)
    draws = drawn(chains)
    point = best_draw(draws, params.loss) if params.point == "draw" else best_partition(draws, params.loss, rng=last)
    with finishing():
        return summed_up(ensemble, rows, chains, draws, point, told(chains, plan, point))


def begun(ensemble: AnyEnsemble, start: str, most: int, chain: tuple[int, Generator]) -> IntArray:
    """(rows,) the clusters where a chain begins: as many as the finest base clustering has, or as there may be."""
    number, rng = chain
    kind = MIXED[number % len(MIXED)] if start == "mixed" else start
    if kind == "one":
        return np.zeros(len(ensemble), np.int32)
    return placed_start(ensemble, kind, min(most, max(ensemble.sizes), len(ensemble.distinct.first)), rng)


def check_room(objects: int, most: int, params: Params, labels: int) -> None:
    """Refuse draws that do not fit in memory; each has counts of the `labels` that are drawn, 0 if labels are given."""
    draws = params.chains * params.draws
    needed = draws * objects * (BYTES_A_CELL + 2 * np.dtype(smallest_type(most)).itemsize)
    needed += draws * labels * (most + 1) * np.dtype(np.int32).itemsize
    check_memory(needed, f"nbce-gibbs with {draws} draws of {objects} objects", "lower draws and raise thin instead")


def sample(rows: Rows, plan: Plan, chains: list[Chain]) -> list[Chain]:
    """Run all chains; one stopped in its burn-in gives the draw it stands at."""
    block = max(1, BLOCK // rows.labels.size)
    found = run_chains(partial(advance, rows, plan, block), chains, plan.sweeps, "nbce-gibbs sweeps")
    return found if found[0].kept else [with_last_draw(rows, chain) for chain in found]


def drawn(chains: list[Chain]) -> Draws:
    """All kept draws, chain after chain."""
    numbers = np.repeat(np.arange(len(chains)), [len(chain.kept) for chain in chains])
    return Draws.of(np.stack([draw.z for chain in chains for draw in chain.kept]), numbers)


def summed_up(
    ensemble: AnyEnsemble, rows: Rows, chains: list[Chain], draws: Draws, point: Point, fields: dict[str, Any]
) -> Consensus:
    """The result that all kept draws stand for, shown by one partition."""
    kept = [draw for chain in chains for draw in chain.kept]
    labels, width = point.labels, int(point.labels.max()) + 1
    chosen = [kept[s] for s in spread(len(kept))]
    some = [Sampled(one.z, Strengths(one.point.alpha, one.point.beta), one.tables) for one in chosen]
    model, perplexity = model_of(ensemble, rows, some, labels, width)
    fields["detail"] |= {
        "outlier share": outlier_share(draws),
        "training perplexity": perplexity,
        "perplexity by": ESTIMATOR,
    }
    first = np.concatenate([[0], np.cumsum(ensemble.counts)[:-1]]).astype(np.int64)
    membership = memberships(draws, labels, width)
    fields["notes"] += cautions(draws, labels, membership)
    return Consensus(
        labels[first].astype(np.int32),
        membership=membership[first],
        model=model,
        draws=draws if len(first) == len(labels) else Draws.of(draws.labels[:, first], draws.chain),
        **fields,
    )


def cautions(draws: Draws, labels: IntArray, membership: FloatArray) -> tuple[str, ...]:
    """What to know of a partition that is unlike the draws it stands for."""
    said = []
    clusters, alone = int(labels.max()) + 1, int(np.count_nonzero(np.bincount(labels) == 1))
    if clusters > draws.sizes.max():
        said.append(
            f"the partition shown has {clusters} clusters, {alone} of them of one object, and no draw has more than "
            f'{draws.sizes.max()}: objects of which the draws are unsure stand apart; point="draw" shows the best draw'
        )
    other = int(np.count_nonzero(membership.argmax(axis=1) != labels))
    if other:
        who = "1 object has its" if other == 1 else f"{other} objects have their"
        said.append(f"{who} largest membership in another cluster than their label: the draws are unsure of them")
    return tuple(said)


def outlier_share(draws: Draws) -> float:
    """The mean share of objects that are alone in their cluster.

    >>> outlier_share(Draws.of([[0, 0, 1, 2], [0, 0, 0, 0]]))
    0.25
    """
    alone = [np.count_nonzero(np.bincount(one) == 1) for one in draws.labels]
    return float(np.mean(alone) / draws.labels.shape[1])


def told(chains: list[Chain], plan: Plan, point: Point) -> dict[str, Any]:
    """What a `Consensus` tells of the chains and of the partition shown, as its fields."""
    kept = np.array([[draw.point for draw in chain.kept] for chain in chains])
    found = {name: mixing(kept[:, :, place]) for place, name in enumerate(WATCHED)}
    judged, sweeps = verdict(found, len(chains)), len(chains[0].trace)
    sizes, times = np.unique(kept[:, :, 1].astype(np.int64), return_counts=True)
    traces = np.array([chain.trace for chain in chains])
    detail: dict[str, Any] = {
        "log joint": tuple(kept[:, :, 0].mean(axis=1).tolist()),
        "draws": kept.shape[0] * kept.shape[1],
        "clusters": {int(size): float(share) for size, share in zip(sizes, times / times.sum(), strict=True)},
        "alpha": float(kept[:, :, 2].mean()),
        "beta": float(kept[:, :, 3].mean()),
        "mixing": {name: one._asdict() for name, one in found.items()},
        "verdict": judged.text,
        "log joint by sweep": tuple(map(tuple, traces[:, :, 0].tolist())),
        "clusters by sweep": tuple(map(tuple, traces[:, :, 1].astype(np.int64).tolist())),
    }
    notes = [] if judged.mixed else [judged.text]
    interrupted = sweeps < plan.sweeps or point.interrupted
    if interrupted:
        detail["interrupted"] = True
    if point.interrupted:
        notes.insert(0, "interrupted: the partition shown is a central draw, better ones were not searched for")
    if sweeps < plan.sweeps:
        what = f"{kept.shape[1]} of {plan.draws} draws a chain"
        if sweeps <= plan.burn_in:
            what = f"the draw each chain stood at in its burn-in, after {sweeps} of {plan.burn_in} sweeps"
        notes.insert(0, f"interrupted: {what}, not converged")
    best = chains[int(kept[:, :, 0].mean(axis=1).argmax())]
    return {
        "trace": tuple(point.log_joint for point in best.trace),
        "converged": judged.mixed and not interrupted,
        "detail": detail,
        "notes": tuple(notes),
    }


METHOD = Method(
    fit,
    Params,
    takes=Ensemble | SoftEnsemble,
    cite="wang2010",
    handles_missing=True,
    chooses_k=True,
    deterministic=False,
    predicts="memberships",
    by_estimate=True,
    gives_likelihood=True,
    samples=True,
    compresses=False,
)
