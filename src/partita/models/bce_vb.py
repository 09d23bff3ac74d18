"""BCE-VB: Bayesian cluster ensembles, objects with shares of several clusters, by variational EM (Wang et al. 2009)."""

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from partita.core.consensus import Consensus
from partita.core.counting import label_columns, unit_weights
from partita.core.dirichlet import Bce, Inner, Sums, even_gamma, infer, leaning_gamma
from partita.core.ensemble import Ensemble
from partita.core.interrupts import finishing
from partita.core.iterate import Run, Tick, iterate, untold
from partita.core.method import Method
from partita.core.params import setting
from partita.core.soft import AnyEnsemble, SoftEnsemble
from partita.core.types import FloatArray, IntArray, PerCluster
from partita.models.bce import HIGHEST, LOWEST, at_site, model_of, update
from partita.models.mixture import Rows, free_labels, log_chances, softened
from partita.models.restarts import best_of, sample_of, start_labels
from partita.starts import Start


@dataclass(frozen=True, slots=True)
class Params:
    """Settings of BCE-VB."""

    init: Start = setting(
        "spectral", "initialization; transfer-cut is the one that sites with parts of the clusterings use"
    )
    restarts: int = setting(1, "runs from different starts; the one with the highest bound wins", low=1)
    alpha: float = setting(
        1.0,
        "concentration of the objects' shares at the start (small: one cluster an object)",
        low=LOWEST,
        high=HIGHEST,
    )
    learn_alpha: bool = setting(True, "fit a concentration for each cluster; otherwise all keep alpha")
    smoothing: float = setting(
        0.0, "imaginary objects with each label in each cluster (0: none, the paper's)", low=0, high=1e6
    )
    tol: float = setting(1e-7, "a run ends when the bound changes by less, relative to its size", low=0)
    inner_tol: float = setting(1e-3, "the iterations on one object end when its expected labels move by less", low=0)
    max_inner: int = setting(50, "most iterations on one object in each iteration", low=1)
    max_iter: int = setting(1000, "most iterations of one run", low=1)


class State(NamedTuple):
    """Where variational EM stands."""

    params: Bce
    gamma: FloatArray  # (n, k)
    sums: Sums | None  # those of params and gamma; None before the first pass


def fit(ensemble: AnyEnsemble, k: int, params: Params, rng: Generator) -> Consensus:
    """Object i has shares theta_i of k clusters, drawn from Dirichlet(alpha); each of its labels y_ij comes from a
    cluster h drawn by them, and is label l with chance beta_hj(l).

    Variational EM on distinct rows. The posterior of an object is taken as Dirichlet(gamma_i) times a distribution
    phi_ij for each known label: phi_ijh proportional to exp(psi(gamma_ih)) beta_hj(y_ij), gamma_ih = alpha_h plus the
    sum of w_j phi_ijh, in turn until they settle, from where they stood; so the lower bound of the log-likelihood, with
    the log prior when smoothed, never falls. Then beta_hj(l) is the share of label l among the labels of j, weighted
    by phi_ijh, and alpha is fitted by Newton's method. Missing labels drop out of all sums. Memberships enter by
    expected log-probabilities and expected counts.

    At the end each object is placed by the fitted alpha and beta, from the better of two starts of its own, so that its
    label depends on nothing but its row: its membership is gamma_i / sum gamma_i.
    """
    runs = best_of(
        partial(first_state, ensemble, k, params),
        partial(one_run, ensemble, params),
        rng.spawn(params.restarts),
        what="bce-vb restarts",
        highest=True,
    )
    fitted, sums = runs.best.state.params, runs.best.state.sums
    assert sums is not None
    with finishing():
        gamma, _ = infer(fitted, ensemble, unit_weights(ensemble))
    told = runs.told()
    told["detail"] |= {
        "bound": sums.bound,
        "alpha": PerCluster(fitted.alpha.tolist()),
        "free parameters": k * params.learn_alpha + k * free_labels(ensemble),
    }
    model = model_of(fitted, ensemble)
    return Consensus.soft(gamma / gamma.sum(axis=1, keepdims=True), k_asked=k, model=model, **told)


def first_state(ensemble: AnyEnsemble, k: int, params: Params, rng: Generator) -> State:
    """Where a start stands; of many rows a sample is enough, and then all begin with even shares."""
    part = sample_of(ensemble, params.init, k, rng)
    labels = start_labels(part, params.init, k, rng)
    state = state_of(part, k, params, labels)
    if part is ensemble:
        return state
    return state._replace(gamma=even_gamma(ensemble, unit_weights(ensemble), state.params.alpha))


def state_of(ensemble: AnyEnsemble, k: int, params: Params, labels: IntArray) -> State:
    """Variational EM before its first pass, each row mostly in the cluster that `labels` say."""
    begun = first_params(ensemble, params, softened(ensemble, labels, k).labels)
    gamma = leaning_gamma(ensemble, unit_weights(ensemble), begun.alpha, labels)
    return State(begun, gamma, None)


def first_params(ensemble: Rows, params: Params, labels: FloatArray) -> Bce:
    """The parameters that the (t, k) label counts of a start lead to."""
    counts = labels * unit_weights(ensemble)[label_columns(ensemble.offsets)][:, None]
    little = params.smoothing + (counts.sum(axis=1, keepdims=True) == 0)  # a label that a sample may lack
    return Bce(np.full(labels.shape[1], params.alpha), log_chances(counts + little, ensemble.offsets))


def one_run(ensemble: Rows, params: Params, first: State, tick: Tick = untold) -> Run[State]:
    """Variational EM from where a start stands."""
    inner = Inner(params.inner_tol, params.max_inner)

    def step(state: State) -> tuple[State, float]:
        fitted = state.params
        if state.sums is not None:
            fitted = update(state.sums, fitted, ensemble.offsets, params.smoothing, params.learn_alpha)
        gamma, sums = at_site(fitted, ensemble, state.gamma, inner)
        return State(fitted, gamma, sums), sums.bound + params.smoothing * float(fitted.log_probs.sum())

    return iterate(step, first, tol=params.tol, max_iter=params.max_iter, tick=tick)


METHOD = Method(
    fit,
    Params,
    takes=Ensemble | SoftEnsemble,
    cite="wang2009",
    handles_missing=True,
    chooses_k=False,
    deterministic=False,
    predicts="memberships",
    gives_likelihood=True,
    likelihood_is_bound=True,
    monotone="rises",
    splits=("rows", "columns"),
)
