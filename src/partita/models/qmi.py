"""QMI: k-means on centred one-hot labels, for quadratic mutual information (Topchy, Jain and Punch 2004, §3.3)."""

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from partita.core.consensus import Consensus
from partita.core.counting import assigned, by_clustering, label_columns, label_counts, sum_by_column
from partita.core.ensemble import Ensemble
from partita.core.iterate import Run, Tick, iterate, untold
from partita.core.method import Method
from partita.core.model import ColumnModel
from partita.core.params import setting
from partita.core.types import FloatArray, IntArray
from partita.models.reseed import fill_empty
from partita.models.restarts import best_of, sample_of, start_labels
from partita.starts import Start


@dataclass(frozen=True, slots=True)
class Params:
    """Settings of QMI."""

    init: Start = setting(
        "spectral", "initialization; transfer-cut is the one that sites with parts of the clusterings use"
    )
    restarts: int = setting(1, "runs from different starts; the one with the smallest objective wins", low=1)
    max_iter: int = setting(300, "most iterations of one run", low=1)


class Space(NamedTuple):
    """The space in which distances are taken: one centred axis for each of the t labels."""

    frequency: FloatArray  # (t,) share of each label among the known labels of its column
    weight: FloatArray  # (t,) weight of the label's column
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
    runs = best_of(
        partial(first_centers, ensemble, space, k, params.init),
        lambda start, tick: one_run(ensemble, space, start, params.max_iter, tick),
        rng.spawn(params.restarts),
        what="qmi restarts",
        highest=False,
    )
    chosen, centers = runs.best.state
    model = ColumnModel(centers.bias, by_clustering(centers.tables, ensemble.offsets), "best")
    return Consensus.hard(chosen, k_asked=k, model=model, **runs.told())


def describe(ensemble: Ensemble) -> Space:
    """Label frequencies and the squared length of every row."""
    everyone = np.zeros(len(ensemble), np.int32)
    totals = label_counts(ensemble, everyone, 1)[0][:, 0]
    frequency, weight, lengths = axes(totals, ensemble.offsets, ensemble.weights)
    _, spread = assigned(ensemble, lengths[:, None], np.zeros(1))
    return Space(frequency, weight, spread)


def axes(totals: FloatArray, offsets: IntArray, weights: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """(t,) each label's frequency, its clustering's weight, and what it adds to the squared length of a row."""
    frequency = totals / np.maximum(sum_by_column(totals, offsets), 1e-300)
    squares = sum_by_column(frequency**2, offsets)
    weight = weights[label_columns(offsets)]
    return frequency, weight, weight * (1 - 2 * frequency + squares)


def centers_of(ensemble: Ensemble, space: Space, chosen: IntArray, k: int) -> Centers:
    """The cluster means of an assignment; an empty cluster can win no row."""
    return centers_from(*label_counts(ensemble, chosen, k), ensemble.offsets, space)


def centers_from(tables: FloatArray, sizes: FloatArray, offsets: IntArray, space: Space) -> Centers:
    """The same from the (t, k) labels and (k,) sizes of the clusters."""
    known = sum_by_column(tables, offsets)
    means = (tables - known * space.frequency[:, None]) / np.maximum(sizes, 1e-300)
    lift = sum_by_column(means * space.frequency[:, None], offsets)
    lengths = (space.weight[:, None] * means**2).sum(axis=0)
    closeness = 2 * space.weight[:, None] * (means - lift)
    bias = np.where(sizes > 0, -lengths, -np.inf)
    return Centers(np.ascontiguousarray(closeness), bias, float(sizes @ lengths))


def first_centers(ensemble: Ensemble, space: Space, k: int, start: Start, rng: Generator) -> Centers:
    """The centres of a start; of many rows a sample is enough."""
    part = sample_of(ensemble, start, k, rng)
    return centers_of(part, space, start_labels(part, start, k, rng), k)


def one_run(ensemble: Ensemble, space: Space, start: Centers, max_iter: int, tick: Tick = untold) -> Run[Partition]:
    """Lloyd's iterations from given centres; the objective never rises."""
    total, k = float(ensemble.counts @ space.spread), len(start.bias)

    def step(state: Partition) -> tuple[Partition, float]:
        tables, bias, _ = state.centers
        closest, best = assigned(ensemble, tables, bias)
        fill_empty(closest, space.spread - best, k)
        centers = centers_of(ensemble, space, closest, k)
        return Partition(closest, centers), total - centers.explained

    nowhere = np.zeros(len(ensemble), np.int32)
    return iterate(step, Partition(nowhere, start), tol=1e-13, max_iter=max_iter, tick=tick)


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
    splits=("rows",),
)
