"""NBCE-CVB: clusters whose number is found, under a nonparametric prior, by collapsed variational Bayes (Wang 2010)."""

from dataclasses import dataclass
from functools import partial
from typing import Literal, NamedTuple

import numpy as np
from numpy.random import Generator

from partita.core.consensus import Consensus
from partita.core.counting import label_columns, unit_weights
from partita.core.ensemble import Ensemble
from partita.core.interrupts import finishing
from partita.core.iterate import Run, Tick, untold
from partita.core.method import Method
from partita.core.params import setting
from partita.core.soft import AnyEnsemble, SoftEnsemble, hard_if_one_hot
from partita.core.types import FloatArray, sealed
from partita.kernels.nbce_cvb import add_absences, add_moments, sweep_rows
from partita.kernels.nbce_cvb_soft import add_soft_absences, add_soft_moments, sweep_memberships
from partita.models.mixture import memberships
from partita.models.nbce_bound import Columns, Hyper, Prior, expectations, log_joint
from partita.models.nbce_learn import HIGHEST, LOWEST, Counted, Terms, learned
from partita.models.nbce_result import folded
from partita.models.nbce_start import runs_of
from partita.models.nbce_steps import Limits, kept_order, phases, picked, with_empty
from partita.starts import Start


@dataclass(frozen=True, slots=True)
class Params:
    """Settings of NBCE-CVB."""

    prior: Prior = setting("tsb", "prior of the clusters' shares: sticks broken in turn, or one even Dirichlet")
    order: Literal[1, 2] = setting(2, "terms of the expected logarithms: 1 the means (the paper's), 2 also variances")
    truncation: int = setting(100, "most clusters, where k is not given", low=1)
    alpha: float = setting(1.0, "concentration of the clusters' shares at the start", low=LOWEST, high=HIGHEST)
    beta: float = setting(0.5, "prior objects with each label in each cluster at the start", low=LOWEST, high=HIGHEST)
    learn_alpha: bool = setting(True, "fit alpha once clusters have formed; otherwise it stays")
    learn_beta: bool = setting(True, "fit beta once clusters have formed; otherwise it stays")
    forming: int = setting(50, "most sweeps with alpha and beta as given, before they are fitted", low=1)
    init: Start = setting("kmeans++", "what is merged into first clusters: rows far apart, spectral consensus")
    restarts: int = setting(1, "runs from different starts; the one with the highest bound wins", low=1)
    tol: float = setting(1e-6, "a run ends when a sweep moves the chances of an object by less, on average", low=0)
    max_iter: int = setting(1000, "most sweeps of one run", low=1)


class Moments(NamedTuple):
    """Sums of chances (0) and of their squares (1) over rows; see `kernels.nbce_cvb` and `nbce_cvb_soft`."""

    tables: FloatArray  # (2, t, m), of memberships (3, t, m)
    totals: FloatArray  # (2, r, m)
    sizes: FloatArray  # (2, m)
    tails: FloatArray  # (2, m)


class State(NamedTuple):
    """Where the sweeps stand."""

    gamma: FloatArray  # (n, m) chances of the columns in every row
    copies: FloatArray  # (m,) components that a column stands for
    hyper: Hyper
    moved: float
    """How far the last sweep moved the chances of an object, on average."""


def fit(ensemble: AnyEnsemble, k: int | None, params: Params, rng: Generator) -> Consensus:
    """The model of NBCE-VB with pi and theta integrated out: the posterior is taken as one distribution gamma_i for
    each object, and gamma_ik is proportional to exp(E log p(y_i, z_i = k | all others)), row after row.

    The expectations are over the counts of all other objects, sums of independent variables: log(a + N) becomes
    log(a + E N), to second order less V N / (2 (a + E N)^2). Under tsb the counts of a component and of all beyond it
    enter, under fsd those of a component. Objects with the same labels share their gamma; one of them is left out of
    the counts. With weights a label of clustering j counts w_j, and log(a + N) is ln Gamma(a + w N + w) - ln Gamma(a +
    w N), in the same two orders.

    Memberships enter by expected counts: with s_ij(l) the membership of object i in label l, theta_kj(l) has the power
    s_ij(l), and N_kj(l) is the sum of the memberships of the objects in k. So l adds the expectation of ln Gamma(beta +
    N + s) - ln Gamma(beta + N). One-hot rows are labels, and are fitted as labels.

    The sweeps raise no objective that can be computed, and the trace may fall: it is the variational bound of the log
    evidence at these gamma. Once clusters have formed, alpha and beta are fitted to the expected log joint, in which
    every count is the one expected if there is any, times the chance that there is one. A run ends when gamma stands
    still. Empty components are carried as in NBCE-VB, and labels, model and perplexity are made in the same way.
    """
    ensemble = hard_if_one_hot(ensemble)
    runs = runs_of(partial(one_run, ensemble, params), ensemble, k, params, rng)
    state = runs.best.state
    with finishing():
        columns = columns_of(ensemble, moments_of(ensemble, state.gamma), state.copies)
        return folded(ensemble, columns, state.hyper, state.gamma, k, runs.told())


def one_run(ensemble: AnyEnsemble, params: Params, hyper: Hyper, first: Columns, tick: Tick = untold) -> Run[State]:
    """Sweeps from the clusters of a start: with the concentrations as given, then with fitted ones."""
    columns = with_empty(first, hyper)
    gamma, _ = memberships(expectations(columns, ensemble.offsets, hyper), ensemble)
    begun = State(gamma, columns.copies, hyper, np.inf)
    limits = Limits(params.learn_alpha or params.learn_beta, params.forming, params.tol, params.max_iter)
    sweeps = partial(step, ensemble, params.order)
    return phases(sweeps, begun, limits, tick, enough=lambda state: state.moved <= params.tol)


def step(ensemble: AnyEnsemble, order: int, learn: bool, state: State) -> tuple[State, float]:
    """The components in order, fitted concentrations if asked for, and one sweep; with the variational bound there."""
    hyper, moments = state.hyper, moments_of(ensemble, state.gamma)
    columns = columns_of(ensemble, moments, state.copies)
    kept = kept_order(columns, hyper)
    fuller = with_empty(picked(columns, kept), hyper)
    gamma = np.zeros((len(ensemble), len(fuller.sizes)))
    gamma[:, : len(kept)] = state.gamma[:, kept]
    if not np.array_equal(kept, np.arange(gamma.shape[1])):
        moments = moments_of(ensemble, gamma)
    if learn:
        hyper = learned(present(ensemble, gamma, fuller.copies, moments), ensemble.offsets, hyper)
    moved, entropy = sweep(ensemble, gamma, fuller.copies, moments, hyper, order)
    columns = columns_of(ensemble, moments, fuller.copies)
    height = log_joint(columns, ensemble.offsets, hyper) + entropy
    return State(gamma, fuller.copies, hyper, moved / float(ensemble.counts.sum())), height


def sweep(
    ensemble: AnyEnsemble, gamma: FloatArray, copies: FloatArray, moments: Moments, hyper: Hyper, order: int
) -> tuple[float, float]:
    """Renew gamma and its moments in place; returns how far gamma moves in all, and its entropy."""
    sticks = hyper.prior == "tsb"
    alpha = hyper.alpha if sticks else hyper.alpha / hyper.truncation
    shared = (ensemble.offsets, sealed(unit_weights(ensemble)), ensemble.counts, gamma, sealed(copies), *moments)
    rest = (hyper.truncation, sticks, alpha, hyper.beta, float(order - 1))
    if isinstance(ensemble, SoftEnsemble):
        return sweep_memberships(ensemble.matrix, *shared, *rest)
    return sweep_rows(ensemble.labels, *shared, *rest)


def moments_of(ensemble: AnyEnsemble, gamma: FloatArray) -> Moments:
    """The moments of all counts."""
    soft = isinstance(ensemble, SoftEnsemble)
    t, r, m = int(ensemble.offsets[-1]), len(ensemble.names), gamma.shape[1]
    found = Moments(np.zeros((3 if soft else 2, t, m)), np.zeros((2, r, m)), np.zeros((2, m)), np.zeros((2, m)))
    rest = (ensemble.offsets, ensemble.counts, sealed(gamma), *found, 0, len(gamma))
    if isinstance(ensemble, SoftEnsemble):
        add_soft_moments(ensemble.matrix, *rest)
    else:
        add_moments(ensemble.labels, *rest)
    return found


def columns_of(ensemble: AnyEnsemble, moments: Moments, copies: FloatArray) -> Columns:
    """The expected counts, labels times the weights of their clusterings."""
    weights = unit_weights(ensemble)[label_columns(ensemble.offsets)][:, None]
    return Columns(moments.sizes[0].copy(), moments.tables[0] * weights, copies)


def present(ensemble: AnyEnsemble, gamma: FloatArray, copies: FloatArray, moments: Moments) -> Counted:
    """Every count as it is expected if there is any, weighted by the chance that there is (Teh, Newman, Welling 2006).

    So E [ln Gamma(x + N) - ln Gamma(x)], which is 0 for N = 0, is nearly exact where a component holds parts of few
    objects; at the expected count it would be far off for small x.
    """
    none = [np.zeros(part.shape[1:]) for part in moments]
    rest = (ensemble.offsets, ensemble.counts, sealed(gamma), sealed(copies), *none)
    if isinstance(ensemble, SoftEnsemble):
        add_soft_absences(ensemble.matrix, *rest)
    else:
        add_absences(ensemble.labels, *rest)
    none_of = Moments(*none)
    weights = unit_weights(ensemble)[:, None]

    def terms(sums: FloatArray, absent: FloatArray, times: FloatArray) -> Terms:
        chance = -np.expm1(absent)
        return Terms(np.where(chance > 0, sums[0] / times / np.maximum(chance, 1e-300), 0.0), chance * times)

    labels = terms(moments.tables, none_of.tables, copies)
    labels = labels._replace(counts=labels.counts * weights[label_columns(ensemble.offsets)])
    known = terms(moments.totals, none_of.totals, copies)
    known = known._replace(counts=known.counts * weights)
    sizes = terms(moments.sizes, none_of.sizes, copies)
    tails = terms(moments.tails, none_of.tails, np.ones(len(copies)))
    return Counted(sizes, tails, labels, known, float(ensemble.counts.sum()))


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
    together=True,
)
