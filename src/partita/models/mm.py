"""MM: a mixture of label distributions, fitted by EM (Topchy, Jain and Punch 2004)."""

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from numpy.random import Generator

from partita.core.consensus import Consensus
from partita.core.counting import by_clustering, unit_weights
from partita.core.ensemble import Ensemble
from partita.core.interrupts import finishing
from partita.core.iterate import Run, Tick, iterate, untold
from partita.core.method import Method
from partita.core.model import ColumnModel
from partita.core.params import setting
from partita.core.soft import AnyEnsemble, SoftEnsemble
from partita.models.mixture import (
    Counts,
    Mixture,
    Rows,
    at_site,
    entropy,
    free_labels,
    log_prior,
    maximise,
    memberships,
    scores_of,
)
from partita.models.restarts import best_of, start_counts
from partita.starts import Start


@dataclass(frozen=True, slots=True)
class Params:
    """Settings of MM."""

    init: Start = setting(
        "spectral", "initialization; transfer-cut is the one that sites with parts of the clusterings use"
    )
    restarts: int = setting(1, "runs from different starts; the one with the highest objective wins", low=1)
    smoothing: float = setting(
        0.0, "imaginary objects with each label in each component (0: none, the paper's)", low=0, high=1e6
    )
    tol: float = setting(1e-8, "a run ends when the objective changes by less, relative to its size", low=0)
    stable: int = setting(
        0, "a run also ends when the labels have not changed for so many iterations (0: never)", low=0
    )
    max_iter: int = setting(1000, "most iterations of one run", low=1)


class State(NamedTuple):
    """Where EM stands: parameters, the counts they lead to, and for how long the labels have stood still."""

    params: Mixture | None
    counts: Counts
    still: int


def fit(ensemble: AnyEnsemble, k: int, params: Params, rng: Generator) -> Consensus:
    """Each object comes from one of k components; a component c draws it with chance a_c and gives its label l in
    clustering j with chance theta_jc(l).

    EM on distinct rows: responsibilities r_ic are proportional to a_c times the product of theta_jc(y_ij)^w_j over
    the known labels; then a_c is the mean responsibility and theta_jc(l) the share of label l among the known labels of
    j, weighted by responsibility. Missing labels drop out of both, which is maximum likelihood when labels are missing
    at random. Memberships enter by expected log-probabilities and expected counts. The log-likelihood, with the log
    prior when smoothed, never falls.
    """
    runs = best_of(
        partial(start_counts, ensemble, params.init, k),
        partial(one_run, ensemble, params),
        rng.spawn(params.restarts),
        what="mm restarts",
        highest=True,
    )
    fitted = runs.best.state.params
    assert fitted is not None
    told = runs.told()
    with finishing():
        shares, _ = memberships(fitted, ensemble)
        told["detail"] |= {
            "log likelihood": runs.best.state.counts.log_likelihood,
            "free parameters": k - 1 + k * free_labels(ensemble),
            "membership entropy": entropy(shares, ensemble.counts),
        }
    return Consensus.soft(shares, k_asked=k, model=model_of(fitted, ensemble), **told)


def one_run(ensemble: Rows, params: Params, start: Counts, tick: Tick = untold) -> Run[State]:
    """EM from the counts of a start."""
    weights = unit_weights(ensemble)

    def step(state: State) -> tuple[State, float]:
        fitted = maximise(state.counts, ensemble.offsets, params.smoothing, weights)
        counts = at_site(fitted, ensemble)
        still = state.still + 1 if counts.leaders == state.counts.leaders else 0
        return State(fitted, counts, still), counts.log_likelihood + log_prior(fitted, params.smoothing)

    def enough(state: State) -> bool:
        return bool(params.stable) and state.still >= params.stable

    first = State(None, start, 0)
    return iterate(step, first, tol=params.tol, max_iter=params.max_iter, tick=tick, enough=enough)


def model_of(fitted: Mixture, ensemble: Rows) -> ColumnModel:
    """The fitted mixture as scores that place new objects."""
    tables = by_clustering(scores_of(fitted, ensemble), ensemble.offsets)
    return ColumnModel(fitted.log_weights, tables, "softmax", weights=unit_weights(ensemble))


METHOD = Method(
    fit,
    Params,
    takes=Ensemble | SoftEnsemble,
    cite="topchy2004",
    handles_missing=True,
    chooses_k=False,
    deterministic=False,
    predicts="memberships",
    gives_likelihood=True,
    monotone="rises",
    splits=("rows", "columns"),
)
