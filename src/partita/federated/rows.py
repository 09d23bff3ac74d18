"""Row-distributed consensus: sites hold objects, counts add, the coordinator updates the parameters.

The methods are the central ones (`models/`), told that their rows lie elsewhere; one exchange serves one iteration. Any
division of the rows gives the central fit.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.random import Generator

from partita.core.counting import by_clustering, label_columns
from partita.core.dirichlet import Bce, Sums
from partita.core.iterate import Run, Tick, iterate
from partita.core.model import ColumnModel
from partita.core.rng import generator
from partita.core.types import FloatArray, IntArray
from partita.federated.guards import OFFERED
from partita.federated.hub import Totals
from partita.federated.row_starts import start_clusters
from partita.models import bce, bce_vb, itk, mixture, mm, nbce_result, nbce_start, nbce_vb, qmi
from partita.models.mixture import Counts, Elsewhere, Mixture
from partita.models.nbce_bound import Hyper
from partita.models.restarts import Runs, best_of
from partita.registry import get

LOWEST: Final = -1e300
"""Stands for minus infinity, which messages do not carry."""


class Fitted(NamedTuple):
    """What the sites need to place their objects, the model for new ones, and how it was found."""

    bias: FloatArray
    """(m,)"""
    tables: FloatArray
    """(t, m)"""
    model: ColumnModel
    runs: Runs[Any]


Fit: TypeAlias = Callable[[Totals, Any, Elsewhere], Fitted]


def elsewhere(hub: Totals, expect: Callable[[Any], Any]) -> Elsewhere:
    """The rows of all sites."""
    sizes = [len(classes) for classes in hub.terms.classes]
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return Elsewhere(offsets, np.array(hub.terms.weights), expect)


def expect_mixture(hub: Totals, params: Mixture) -> Counts:
    """One expectation pass of a mixture over the rows of all sites."""
    found = hub.total("mixture", {"log_weights": params.log_weights, "log_probs": params.log_probs})
    likelihood = np.nan if hub.terms.rho else float(found["scalars"][0])
    return Counts(np.maximum(found["sizes"], 1e-300), np.maximum(found["labels"], 0.0), likelihood, 0)


def expect_bce(hub: Totals, params: Bce) -> Sums:
    """The same for Bayesian cluster ensembles."""
    found = hub.total("bce", {"alpha": params.alpha, "log_probs": params.log_probs})
    bound, objects = (np.nan, np.nan) if hub.terms.rho else map(float, found["scalars"])
    return Sums(np.maximum(found["labels"], 0.0), found["sizes"], objects, bound)


def settings(hub: Totals) -> Any:
    """The method's settings as it takes them."""
    return get(hub.terms.method).Params(**hub.terms.params)


def clusters(hub: Totals) -> int:
    """The number of clusters asked for."""
    assert hub.terms.k is not None
    return hub.terms.k


def restarted(
    hub: Totals, params: Any, begin: Callable[[Generator], Any], run: Callable[..., Run[Any]], highest: bool
) -> Runs[Any]:
    """Runs from as many starts as asked for. Ctrl-C goes on up: what is finished is in the log, and the run goes on."""
    rngs = generator(hub.terms.seed).spawn(params.restarts)
    runs = best_of(begin, run, rngs, what=f"{hub.terms.method} restarts", highest=highest)
    if runs.interrupted:
        raise KeyboardInterrupt
    return runs


def fit_mm(hub: Totals, params: mm.Params, rows: Elsewhere) -> Fitted:
    """MM: expected label counts and cluster sizes add."""

    def begin(rng: Generator) -> Counts:
        found = start_clusters(hub, rows, clusters(hub), rng)
        return mixture.soften(np.maximum(found.labels, 0.0), np.maximum(found.weights, 1e-300))

    runs = restarted(hub, params, begin, partial(mm.one_run, rows, params), True)
    fitted: Mixture = runs.best.state.params
    return Fitted(fitted.log_weights, mixture.scores_of(fitted, rows), mm.model_of(fitted, rows), runs)


def fit_bce(hub: Totals, params: bce_vb.Params, rows: Elsewhere) -> Fitted:
    """BCE-VB: expected label counts and expected logarithms of shares add; gamma stays where its rows are."""

    def begin(rng: Generator) -> bce_vb.State:
        found = start_clusters(hub, rows, clusters(hub), rng)
        counts = mixture.soften(np.maximum(found.labels, 0.0), np.maximum(found.weights, 0.0))
        return bce_vb.State(bce_vb.first_params(rows, params, counts.labels), np.empty((0, 0)), None)

    runs = restarted(hub, params, begin, partial(bce_vb.one_run, rows, params), True)
    fitted: Bce = runs.best.state.params
    return Fitted(fitted.alpha, fitted.log_probs, bce.model_of(fitted, rows), runs)


class Refilled(NamedTuple):
    """The labels and sizes of clusters after an assignment, none of them empty if that could be helped."""

    labels: FloatArray
    sizes: FloatArray


def assign(hub: Totals, tables: FloatArray, bias: FloatArray, lengths: FloatArray | None = None) -> Refilled:
    """Each row to its best cluster; a cluster that lost its last row gets the worst-fitted one of all sites."""
    asked = {"tables": tables, "bias": np.maximum(bias, LOWEST)}
    found = hub.total("assign", asked if lengths is None else asked | {"lengths": lengths})
    rows = np.rint(found["scalars"])
    empty = np.flatnonzero(rows == 0)
    if len(empty):
        offered = hub.total("farthest", {"most": np.array([OFFERED * len(empty)])})
        moves = refills(offered["distances"], np.rint(offered["clusters"]).astype(np.int64) - 1, rows, empty)
        if moves.any():
            found = hub.total("move", {"moves": moves, "clusters": np.array([len(bias)])})
    return Refilled(found["labels"], found["sizes"])


def refills(distances: FloatArray, owners: IntArray, rows: FloatArray, empty: IntArray) -> IntArray:
    """(sites, offered) for each offered row 1 + the empty cluster that it goes to, or 0; see `models.reseed`."""
    moves, left = np.zeros(distances.shape, np.int64), rows.copy()
    order = iter(np.argsort(-distances, axis=None, kind="stable"))
    for cluster in empty:
        for place in order:
            owner, distance = owners.flat[place], distances.flat[place]
            if owner >= 0 and left[owner] > 1 and distance > 1e-12:
                left[owner] -= 1
                moves.flat[place] = cluster + 1
                break
        else:
            break
    return moves


def fit_qmi(hub: Totals, params: qmi.Params, rows: Elsewhere) -> Fitted:
    """QMI: the label counts of the clusters add."""
    totals = hub.total("totals")["labels"]
    weights = rows.weights / rows.weights.max()
    frequency, weight, lengths = qmi.axes(totals, rows.offsets, weights)
    space = qmi.Space(frequency, weight, np.empty(0))
    whole = float(lengths @ totals)

    def begin(rng: Generator) -> qmi.Centers:
        found = start_clusters(hub, rows, clusters(hub), rng)
        return qmi.centers_from(found.labels, found.weights, rows.offsets, space)

    def step(state: qmi.Centers) -> tuple[qmi.Centers, float]:
        found = assign(hub, state.tables, state.bias, lengths)
        after = qmi.centers_from(found.labels, found.sizes, rows.offsets, space)
        return after, whole - after.explained

    def run(first: qmi.Centers, tick: Tick) -> Run[qmi.Centers]:
        return iterate(step, first, tol=1e-13, max_iter=params.max_iter, tick=tick)

    runs = restarted(hub, params, begin, run, False)
    centers: qmi.Centers = runs.best.state
    bias = np.maximum(centers.bias, LOWEST)
    return Fitted(bias, centers.tables, ColumnModel(bias, by_clustering(centers.tables, rows.offsets), "best"), runs)


class Centroids(NamedTuple):
    """Where ITK's iterations stand."""

    scores: FloatArray
    closed: FloatArray


def fit_itk(hub: Totals, params: itk.Params, rows: Elsewhere) -> Fitted:
    """ITK: the memberships of the clusters add."""
    totals = hub.total("totals")
    weight = (rows.weights / rows.weights.mean())[label_columns(rows.offsets)]
    overall = itk.distribution(totals["labels"], rows.offsets)
    common = itk.Common(rows.offsets, weight, overall, float(totals["scalars"][0]))

    def made(labels: FloatArray, sizes: FloatArray) -> tuple[Centroids, float]:
        scores, closed, divergence = itk.centroids(labels, sizes, common, params.smoothing)
        return Centroids(np.ascontiguousarray(scores), closed), divergence

    def begin(rng: Generator) -> Centroids:
        found = start_clusters(hub, rows, clusters(hub), rng)
        return made(found.labels, found.weights)[0]

    def step(state: Centroids) -> tuple[Centroids, float]:
        found = assign(hub, state.scores, state.closed)
        return made(found.labels, found.sizes)

    def run(first: Centroids, tick: Tick) -> Run[Centroids]:
        return iterate(step, first, tol=1e-13, max_iter=params.max_iter, tick=tick)

    runs = restarted(hub, params, begin, run, False)
    found: Centroids = runs.best.state
    model = ColumnModel(found.closed, by_clustering(found.scores, rows.offsets), "best")
    return Fitted(found.closed, found.scores, model, runs)


def fit_nbce(hub: Totals, params: nbce_vb.Params, rows: Elsewhere) -> Fitted:
    """NBCE-VB: as MM, with clusters that are joined while the bound rises."""
    truncation = params.truncation if hub.terms.k is None else hub.terms.k
    hyper = Hyper(params.prior, truncation, params.alpha, params.beta, params.learn_alpha, params.learn_beta)
    seeds = min(max(truncation, nbce_start.SEEDS), int(rows.offsets[-1]))

    def begin(rng: Generator) -> Any:
        pieces = nbce_start.gathered(rows, start_clusters(hub, rows, seeds, rng), hyper)
        return nbce_start.merged(pieces, rows.offsets, hyper)

    runs = restarted(hub, params, begin, partial(nbce_vb.one_run, rows, params, hyper), True)
    state = runs.best.state
    bias = state.mixture.log_weights - np.log(state.columns.copies)
    tables = mixture.scores_of(state.mixture, rows)
    used = np.flatnonzero(hub.total("assign", {"tables": tables, "bias": bias})["scalars"] > 0.5)
    fitted = nbce_result.mean_mixture(state.columns, rows.offsets, state.hyper)
    model = nbce_result.model_of(fitted, rows, used, state.columns.copies[used])
    return Fitted(bias[used], np.ascontiguousarray(tables[:, used]), model, runs)


METHODS: Final[Mapping[str, tuple[Fit, str]]] = {
    "mm": (fit_mm, "mixture"),
    "bce-vb": (fit_bce, "bce"),
    "qmi": (fit_qmi, "assign"),
    "itk": (fit_itk, "assign"),
    "nbce-vb": (fit_nbce, "mixture"),
}
"""The methods whose rows may lie at several sites, and the step that each iteration asks for."""
EXPECT: Final[Mapping[str, Callable[[Totals, Any], Any]]] = {"mixture": expect_mixture, "bce": expect_bce}


def fit_rows(hub: Totals) -> Fitted:
    """The fit of the method agreed on."""
    fit, step = METHODS[hub.terms.method]
    return fit(hub, settings(hub), elsewhere(hub, partial(EXPECT.get(step, expect_mixture), hub)))
