"""NBCE-VB: clusters whose number is found, under a nonparametric prior, by variational Bayes (Wang et al. 2010)."""

from dataclasses import dataclass
from functools import partial

from numpy.random import Generator

from partita.core.consensus import Consensus
from partita.core.ensemble import Ensemble
from partita.core.interrupts import finishing
from partita.core.iterate import Run, Tick, untold
from partita.core.method import Method
from partita.core.params import setting
from partita.core.soft import AnyEnsemble, SoftEnsemble
from partita.models.mixture import Rows, memberships
from partita.models.nbce_bound import Columns, Hyper, Prior
from partita.models.nbce_learn import HIGHEST, LOWEST
from partita.models.nbce_result import folded
from partita.models.nbce_start import runs_of
from partita.models.nbce_steps import Limits, State, first_state, phases, step
from partita.starts import Start


@dataclass(frozen=True, slots=True)
class Params:
    """Settings of NBCE-VB."""

    prior: Prior = setting("tsb", "prior of the clusters' shares: sticks broken in turn, or one even Dirichlet")
    truncation: int = setting(100, "most clusters, where k is not given", low=1)
    alpha: float = setting(1.0, "concentration of the clusters' shares at the start", low=LOWEST, high=HIGHEST)
    beta: float = setting(0.5, "prior objects with each label in each cluster at the start", low=LOWEST, high=HIGHEST)
    learn_alpha: bool = setting(True, "fit alpha once clusters have formed; otherwise it stays")
    learn_beta: bool = setting(True, "fit beta once clusters have formed; otherwise it stays")
    forming: int = setting(50, "most iterations with alpha and beta as given, before they are fitted", low=1)
    init: Start = setting("kmeans++", "what is merged into first clusters: rows far apart, spectral consensus")
    restarts: int = setting(1, "runs from different starts; the one with the highest bound wins", low=1)
    tol: float = setting(1e-7, "a run ends when the bound changes by less, relative to its size", low=0)
    max_iter: int = setting(1000, "most iterations of one run", low=1)


def fit(ensemble: AnyEnsemble, k: int | None, params: Params, rng: Generator) -> Consensus:
    """Each object comes from one of K components, most of which stay empty: component k has share pi_k, and gives
    label l in clustering j with chance theta_kj(l), theta_kj ~ Dir(beta). The shares are sticks broken in turn, v_k ~
    Beta(1, alpha), v_K = 1 ("tsb"), or pi ~ Dir(alpha / K) ("fsd", the paper's).

    The posterior is taken as q(pi) q(theta) times one distribution gamma_i for each distinct row: gamma_ik proportional
    to exp(E log pi_k + sum over known labels of w_j E log theta_kj(y_ij)), then rho_kj(l) = beta + w_j times the
    expected objects with label l, and the expected sizes in the same way. E log theta is psi(rho) - psi(sum rho). Under
    tsb components are put in order of size where that raises the bound. The lower bound of the log evidence, with all
    its terms, never falls; alpha and beta are fitted by Newton's method once clusters have formed. Memberships enter
    by expected log-probabilities and expected counts.

    Empty components cost nothing: under fsd they are alike, and one stands for all of them, exactly; under tsb the
    first one that is empty is carried, and those beyond it, with less than 1e-8 objects, hold nothing. Where the bound
    hardly rises any more, two components are joined, or one is dissolved, if that raises it.

    Labels are the likeliest components. New objects are placed by the mixture of the posterior means of pi and theta,
    which also gives the training likelihood and perplexity; the bound is told apart from them.
    """
    runs = runs_of(partial(one_run, ensemble, params), ensemble, k, params, rng)
    state = runs.best.state
    with finishing():
        shares, _ = memberships(state.mixture, ensemble)
        return folded(ensemble, state.columns, state.hyper, shares, k, runs.told())


def one_run(ensemble: Rows, params: Params, hyper: Hyper, first: Columns, tick: Tick = untold) -> Run[State]:
    """Variational Bayes from the clusters of a start: with the concentrations as given, then with fitted ones."""
    limits = Limits(params.learn_alpha or params.learn_beta, params.forming, params.tol, params.max_iter)
    begun = first_state(first, hyper)
    return phases(partial(step, ensemble), begun, limits, tick, settle=lambda state: state._replace(still=False))


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
    monotone="rises",
    splits=("rows",),
)
