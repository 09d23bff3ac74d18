"""QMI: k-means on centred one-hot labels, for quadratic mutual information (Topchy, Jain and Punch 2004, §3.3)."""

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from partita.core.consensus import Consensus
from partita.core.counting import label_counts
from partita.core.ensemble import Ensemble
from partita.core.iterate import Run, Tick, iterate, untold
from partita.core.method import Method
from partita.core.model import ColumnModel
from partita.core.params import setting
from partita.core.progress import report
from partita.core.threads import map_chunks
from partita.core.types import FloatArray, IntArray
from partita.kernels.scores import assign_rows
from partita.starts import STARTS, Start


@dataclass(frozen=True, slots=True)
class Params:
    """Settings of QMI."""

    start: Start = setting("spectral", "where a run begins: spectral consensus, rows far apart, a base clustering")
    restarts: int = setting(1, "runs from different starts; the one with the smallest objective wins", low=1)
    max_iter: int = setting(300, "most iterations of one run", low=1)


class Space(NamedTuple):
    """The space in which distances are taken: one centred axis for each of the t labels."""

    frequency: FloatArray  # (t,) share of each label among the known labels of its column
    weight: FloatArray  # (t,) weight of the label's column
    column: IntArray  # (t,) the label's column
    spread: FloatArray  # (n,) squared length of each row


class Centers(NamedTuple):
    """k cluster centres, as scores that add over columns: closeness = bias + sum of tables[label]."""

    tables: FloatArray  # (t, k)
    bias: FloatArray  # (k,)
    explained: float  # sum over clusters of size times squared length of the centre


class Partition(NamedTuple):
    """Where Lloyd's iterations stand: an assignment and its centres."""

    chosen: IntArray
    centers: Centers


def fit(ensemble: Ensemble, k: int, params: Params, rng: Generator) -> Consensus:
    """Weighted k-means of the rows, each label a 0/1 axis centred by its frequency, a missing label at 0.

    With x_i the centred row of object i and m_c the mean of cluster c, the objective is sum_i |x_i - m_{c(i)}|², each
    clustering's axes scaled by the square root of its weight. It equals a constant less the quadratic mutual
    information between the consensus and the base clusterings (topchy2004 §3.3).
    """
    space = describe(ensemble)
    start = STARTS[params.start]
    runs = []
    for done, child in enumerate(rng.spawn(params.restarts)):
        tick = partial(tell, done, params.restarts)
        runs.append(one_run(ensemble, space, k, start(ensemble, k, child), params.max_iter, tick))
    best = min(runs, key=lambda run: run.trace[-1])
    chosen, centers = best.state
    splits = ensemble.offsets[1:-1]
    model = ColumnModel(centers.bias, tuple(np.split(np.ascontiguousarray(centers.tables.T), splits, axis=1)), "best")
    detail = {"objective": best.trace[-1], "restart objectives": tuple(run.trace[-1] for run in runs)}
    return Consensus.hard(chosen, k_asked=k, trace=best.trace, converged=best.converged, detail=detail, model=model)


def tell(done: int, restarts: int, iteration: int) -> None:
    """Report progress: whole restarts, and a share of the running one that grows with its iterations."""
    report("qmi restarts", done + iteration / (iteration + 10), restarts)


def describe(ensemble: Ensemble) -> Space:
    """Label frequencies and the squared length of every row."""
    everyone = np.zeros(len(ensemble), np.int32)
    totals = label_counts(ensemble, everyone, 1)[0][:, 0]
    column = np.repeat(np.arange(len(ensemble.sizes)), ensemble.sizes)
    known = np.bincount(column, weights=totals, minlength=len(ensemble.sizes))
    frequency = totals / known[column]
    squares = np.bincount(column, weights=frequency**2, minlength=len(ensemble.sizes))
    weight = ensemble.weights[column]
    lengths = (weight * (1 - 2 * frequency + squares[column]))[:, None]
    spread = np.empty(len(ensemble))
    chosen = np.empty(len(ensemble), np.int32)
    nothing = np.zeros(1)
    map_chunks(partial(assign_rows, ensemble.labels, ensemble.offsets, lengths, nothing, chosen, spread), len(ensemble))
    return Space(frequency, weight, column, spread)


def centers_of(ensemble: Ensemble, space: Space, chosen: IntArray, k: int) -> Centers:
    """The cluster means of an assignment; an empty cluster can win no row."""
    tables, sizes = label_counts(ensemble, chosen, k)
    columns = len(ensemble.sizes)
    known = sum_by_column(tables, space.column, columns)
    means = (tables - known[space.column] * space.frequency[:, None]) / np.maximum(sizes, 1e-300)
    lift = sum_by_column(means * space.frequency[:, None], space.column, columns)
    lengths = (space.weight[:, None] * means**2).sum(axis=0)
    closeness = 2 * space.weight[:, None] * (means - lift[space.column])
    bias = np.where(sizes > 0, -lengths, -np.inf)
    return Centers(np.ascontiguousarray(closeness), bias, float(sizes @ lengths))


def sum_by_column(values: FloatArray, column: IntArray, columns: int) -> FloatArray:
    """(r, k) sums of the (t, k) values over the labels of each column."""
    totals = np.zeros((columns, values.shape[1]))
    np.add.at(totals, column, values)
    return totals


def one_run(
    ensemble: Ensemble, space: Space, k: int, start: IntArray, max_iter: int, tick: Tick = untold
) -> Run[Partition]:
    """Lloyd's iterations from one start; the objective never rises."""
    total = float(ensemble.counts @ space.spread)

    def step(state: Partition) -> tuple[Partition, float]:
        tables, bias, _ = state.centers
        closest = np.empty(len(ensemble), np.int32)
        best = np.empty(len(ensemble))
        map_chunks(partial(assign_rows, ensemble.labels, ensemble.offsets, tables, bias, closest, best), len(ensemble))
        fill_empty(closest, space.spread - best, k)
        centers = centers_of(ensemble, space, closest, k)
        return Partition(closest, centers), total - centers.explained

    return iterate(
        step, Partition(start, centers_of(ensemble, space, start, k)), tol=1e-13, max_iter=max_iter, tick=tick
    )


def fill_empty(chosen: IntArray, distance: FloatArray, k: int) -> None:
    """Give each empty cluster the row that lies farthest from its own centre, while there is one that lies apart."""
    sizes = np.bincount(chosen, minlength=k)
    empty = np.flatnonzero(sizes == 0)
    if not len(empty):
        return
    farthest = iter(np.argsort(-distance, kind="stable"))
    for cluster in empty:
        row = next((row for row in farthest if sizes[chosen[row]] > 1 and distance[row] > 1e-12), None)
        if row is None:
            return
        sizes[chosen[row]] -= 1
        chosen[row], sizes[cluster] = cluster, 1


METHOD = Method(
    fit,
    Params,
    takes=Ensemble,
    cite="topchy2004",
    handles_missing=True,
    chooses_k=False,
    deterministic=False,
    predicts="labels",
    monotone="falls",
)
