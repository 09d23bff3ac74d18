"""BCE by Gibbs: Bayesian cluster ensembles, sampled in several chains (Wang, Shan and Banerjee 2009)."""

from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np
from numpy.random import Generator

from partita.core.consensus import Consensus
from partita.core.counting import unit_weights
from partita.core.dirichlet import Bce
from partita.core.ensemble import Ensemble
from partita.core.interrupts import finishing
from partita.core.memory import check_memory
from partita.core.method import Method
from partita.core.params import setting
from partita.core.soft import AnyEnsemble, SoftEnsemble, hard_if_one_hot
from partita.core.threads import map_threads
from partita.core.types import FloatArray, IntArray, frozen
from partita.models.bce import model_of
from partita.models.bce_chain import Chain, Plan, Tokens, advance, begin, posterior_means, with_last_draw
from partita.models.chains import one_row_an_object, run_chains
from partita.models.restarts import placed_start
from partita.posterior.diagnostics import mixing, verdict
from partita.starts import Start

BLOCK: Final = 1 << 21
"""Labels that a chain draws between two chances to stop: a tenth of a second, one with unequal weights."""
WATCHED: Final = ("log joint", "concentration")
"""The numbers by which mixing is judged: how probable a draw is, and how uneven its clusters are."""


@dataclass(frozen=True, slots=True)
class Params:
    """Settings of BCE by Gibbs."""

    alpha: float = setting(
        1.0, "prior labels of each object in each cluster (0.01 freezes the chains)", low=1e-6, high=1e6
    )
    omega: float = setting(0.1, "prior objects with each label in each cluster", low=1e-6, high=1e6)
    chains: int = setting(4, "chains, run side by side", low=1)
    burn_in: int = setting(200, "sweeps of each chain that are thrown away first", low=0)
    draws: int = setting(200, "draws kept of each chain", low=1)
    thin: int = setting(1, "sweeps for each draw that is kept", low=1)
    init: Start = setting("spectral", "initialization of each chain")


def fit(ensemble: AnyEnsemble, k: int, params: Params, rng: Generator) -> Consensus:
    """Every object i has shares theta_i of k clusters, every known label y_ij a cluster z_ij drawn from them, and
    cluster h gives label l in clustering j with chance beta_hj(l).

    theta and beta are integrated out under Dirichlet priors alpha and omega, and each z_ij is drawn in turn given all
    others: cluster h with chance proportional to (omega + n_hl) / (k_j omega + n_h) (alpha + n_ih), where n_hl and n_h
    count the other labels of clustering j in cluster h, and n_ih those of object i. Missing labels take no part. A
    label of clustering j counts w_j in all counts, and a factor x is then Gamma(x + w_j) / Gamma(x).

    In a soft ensemble the labels are unknown, and the membership s_ij(l) is the likelihood of what is known of y_ij if
    it is l. Cluster and label are drawn together: h and l with chance proportional to s_ij(l) times that of h with
    label l. One-hot rows are labels, and are fitted as labels.

    Draws of a chain, then chains, are renamed to agree before they are averaged. Memberships are the posterior means of
    theta_i; objects with the same labels have the same posterior, so that their averages are pooled. The
    prior keeps memberships below 1 even where all clusterings agree. New objects are placed by the posterior means of
    beta, as variational inference places them.
    """
    ensemble = hard_if_one_hot(ensemble)
    rows = one_row_an_object(ensemble, "bce-gibbs")
    weights = np.ones(len(ensemble.names)) if np.ptp(ensemble.weights) == 0 else unit_weights(ensemble)
    hard = ensemble.harden() if isinstance(ensemble, SoftEnsemble) else ensemble
    memberships = frozen(ensemble.matrix[rows]) if isinstance(ensemble, SoftEnsemble) else None
    shared = (frozen(hard.labels[rows]), ensemble.offsets, frozen(weights))
    tokens = Tokens(*shared, k, params.alpha, params.omega, memberships)
    plan = Plan(params.burn_in, params.draws, params.thin)
    check_memory(
        2 * params.chains * tokens.state_size, f"bce-gibbs with {params.chains} chains", "ask for fewer chains"
    )
    rngs = rng.spawn(params.chains)
    starts = map_threads(lambda child: placed_start(ensemble, params.init, k, child)[rows], rngs)
    first = [begin(tokens, chosen, child) for chosen, child in zip(starts, rngs, strict=True)]
    chains = sample(tokens, plan, first)
    with finishing():
        means = posterior_means(tokens, chains)
        membership = pooled(means.shares, ensemble.distinct.inverse[rows])[ensemble.distinct.inverse]
    return Consensus(
        membership.argmax(axis=1).astype(np.int32),
        membership=membership,
        k_asked=k,
        trace=chains[means.best].trace,
        model=model_of(Bce(np.full(k, params.alpha), np.log(means.probs)), ensemble),
        **told(chains, plan),
    )


def sample(tokens: Tokens, plan: Plan, chains: list[Chain]) -> list[Chain]:
    """Run all chains; one stopped in its burn-in gives the draw it stands at."""
    block = max(1, BLOCK // tokens.labels.size)
    found = run_chains(partial(advance, tokens, plan, block), chains, plan.sweeps, "bce-gibbs sweeps")
    return found if found[0].kept else [with_last_draw(tokens, chain) for chain in found]


def pooled(values: FloatArray, group: IntArray) -> FloatArray:
    """(groups, columns) the mean of the rows of each group."""
    sizes = np.bincount(group)
    return np.stack([np.bincount(group, weights=column) / sizes for column in values.T], axis=1)


def told(chains: list[Chain], plan: Plan) -> dict[str, Any]:
    """What a `Consensus` tells of the chains, as its fields."""
    kept = np.array([chain.kept for chain in chains])
    found = {name: mixing(kept[:, :, place]) for place, name in enumerate(WATCHED)}
    judged = verdict(found, len(chains))
    early = len(chains[0].trace) <= plan.burn_in
    interrupted = early or kept.shape[1] < plan.draws
    notes = [] if judged.mixed else [judged.text]
    detail: dict[str, Any] = {
        "log joint": tuple(kept[:, :, 0].mean(axis=1).tolist()),
        "draws": kept.shape[0] * kept.shape[1],
        "mixing": {name: one._asdict() for name, one in found.items()},
        "verdict": judged.text,
        "log joint by sweep": tuple(chain.trace for chain in chains),
    }
    if interrupted:
        detail["interrupted"] = True
        what = f"the average of {kept.shape[1]} of {plan.draws} draws a chain"
        if early:
            what = f"the draw each chain stood at in its burn-in, after {len(chains[0].trace)} of {plan.burn_in} sweeps"
        notes.insert(0, f"interrupted: {what}, not converged")
    return {"converged": judged.mixed and not interrupted, "detail": detail, "notes": tuple(notes)}


METHOD = Method(
    fit,
    Params,
    takes=Ensemble | SoftEnsemble,
    cite="wang2009",
    handles_missing=True,
    chooses_k=False,
    deterministic=False,
    predicts="memberships",
    by_estimate=True,
    gives_likelihood=True,
    likelihood_is_bound=True,
    compresses=False,
)
