"""ITK: k-means of membership distributions under the Kullback-Leibler divergence (Punera and Ghosh 2007, §III B)."""

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.special import xlogy

from partita.core.consensus import Consensus
from partita.core.counting import assigned, by_clustering, label_columns, label_counts, sum_by_column, unit_weights
from partita.core.dirichlet import known_weight
from partita.core.ensemble import Ensemble
from partita.core.iterate import Run, Tick, iterate, untold
from partita.core.method import Method
from partita.core.model import ColumnModel
from partita.core.params import setting
from partita.core.soft import AnyEnsemble, SoftEnsemble
from partita.core.types import FloatArray, IntArray
from partita.kernels.scores import IMPOSSIBLE
from partita.models.reseed import fill_empty
from partita.models.restarts import best_of, sample_of, start_labels
from partita.starts import Start


@dataclass(frozen=True, slots=True)
class Params:
    """Settings of ITK."""

    init: Start = setting(
        "spectral", "initialization; transfer-cut is the one that sites with parts of the clusterings use"
    )
    restarts: int = setting(1, "runs from different starts; the one with the smallest divergence wins", low=1)
    smoothing: float = setting(
        0.0,
        "imaginary objects, spread like all objects, in each cluster (0: no object goes where it is impossible)",
        low=0,
        high=1e6,
    )
    max_iter: int = setting(300, "most iterations of one run", low=1)


class Space(NamedTuple):
    """The rows as distributions side by side, those of a row scaled to sum to 1."""

    rows: AnyEnsemble
    """The rows, with multiplicities divided by the weight of the clusterings known in them."""
    weight: FloatArray  # (t,) weight of each label's clustering
    overall: FloatArray  # (t,) the distributions of all rows together, even where none is known
    negentropy: FloatArray  # (n,) sum of w_j s log s over a row
    known: FloatArray  # (n,) weight of the clusterings known in a row


class Common(NamedTuple):
    """What of the space is the same for all rows, and their sum of w_j s log s."""

    offsets: IntArray
    weight: FloatArray  # (t,)
    overall: FloatArray  # (t,)
    negentropy: float


class Partition(NamedTuple):
    """Where the iterations stand: an assignment and its centroids, as scores that add over columns."""

    chosen: IntArray
    scores: FloatArray  # (t, k) w_j log m_cj(l)
    closed: FloatArray  # (k,) 0, or IMPOSSIBLE for a cluster without rows
    divergence: float  # of all rows from their centroids


def fit(ensemble: AnyEnsemble, k: int, params: Params, rng: Generator) -> Consensus:
    """Divide the objects into k clusters so that their memberships diverge least from their cluster's mean.

    The divergence of object i from centroid m_c is the sum over its known clusterings of w_j / W_i KL(s_ij | m_cj),
    with W_i the weights known in i. A centroid is the mean of its rows, so the total never rises. Where a centroid has
    a zero and the row has not, the divergence is infinite and the move is not taken, unless smoothed.
    """
    space = describe(ensemble)
    runs = best_of(
        partial(first_partition, ensemble, k, params),
        lambda first, tick: one_run(space, first, params, tick),
        rng.spawn(params.restarts),
        what="itk restarts",
        highest=False,
    )
    found = runs.best.state
    tables = by_clustering(found.scores, ensemble.offsets)
    return Consensus.hard(found.chosen, k_asked=k, model=ColumnModel(found.closed, tables, "best"), **runs.told())


def describe(ensemble: AnyEnsemble) -> Space:
    """What does not change from one iteration to the next."""
    weight = unit_weights(ensemble)[label_columns(ensemble.offsets)]
    known = known_weight(ensemble, unit_weights(ensemble))
    rows = ensemble.with_counts(ensemble.counts / known)
    totals, _ = label_counts(rows, np.zeros(len(rows), np.int32), 1)
    overall = distribution(totals[:, 0], rows.offsets)
    negentropy = np.zeros(len(rows))
    if isinstance(ensemble, SoftEnsemble):
        negentropy = xlogy(ensemble.matrix, ensemble.matrix) @ weight
    return Space(rows, weight, overall, negentropy, known)


def distribution(totals: FloatArray, offsets: IntArray) -> FloatArray:
    """(t,) the share of each label in the totals of its clustering, even where there are none."""
    sums = sum_by_column(totals, offsets)
    even = 1 / np.diff(offsets)[label_columns(offsets)]
    return np.where(sums > 0, totals / np.maximum(sums, 1e-300), even)


def partition(space: Space, chosen: IntArray, k: int, smoothing: float) -> Partition:
    """An assignment with its cluster means; where a cluster knows nothing, its mean is that of all rows."""
    tables, sizes = label_counts(space.rows, chosen, k)
    common = Common(space.rows.offsets, space.weight, space.overall, float(space.rows.counts @ space.negentropy))
    return Partition(chosen, *centroids(tables, sizes, common, smoothing))


def centroids(
    tables: FloatArray, sizes: FloatArray, common: Common, smoothing: float
) -> tuple[FloatArray, FloatArray, float]:
    """From the (t, k) labels and (k,) sizes of the clusters: scores, which clusters are closed, and the divergence."""
    imaginary = smoothing / (len(common.offsets) - 1) * common.overall
    tables = tables + imaginary[:, None]
    totals = sum_by_column(tables, common.offsets)
    means = np.where(totals > 0, tables / np.maximum(totals, 1e-300), common.overall[:, None])
    cross = float((common.weight[:, None] * xlogy(tables, np.maximum(means, 1e-300))).sum())
    own = common.negentropy + len(sizes) * float(common.weight @ xlogy(imaginary, common.overall))
    scores = np.where(means > 0, common.weight[:, None] * np.log(np.maximum(means, 1e-300)), IMPOSSIBLE)
    return scores, np.where(sizes > 0, 0.0, IMPOSSIBLE), own - cross


def first_partition(ensemble: AnyEnsemble, k: int, params: Params, rng: Generator) -> Partition:
    """Where a start stands; of many rows a sample is enough."""
    part = sample_of(ensemble, params.init, k, rng)
    return partition(describe(part), start_labels(part, params.init, k, rng), k, params.smoothing)


def one_run(space: Space, first: Partition, params: Params, tick: Tick = untold) -> Run[Partition]:
    """Lloyd's iterations from the centroids of a start."""
    k = len(first.closed)

    def step(state: Partition) -> tuple[Partition, float]:
        closest, best = assigned(space.rows, state.scores, state.closed)
        fill_empty(closest, (space.negentropy - best) / space.known, k)
        after = partition(space, closest, k, params.smoothing)
        return after, after.divergence

    return iterate(step, first, tol=1e-13, max_iter=params.max_iter, tick=tick)


METHOD = Method(
    fit,
    Params,
    takes=Ensemble | SoftEnsemble,
    cite="punera2007",
    handles_missing=True,
    chooses_k=False,
    deterministic=False,
    predicts="labels",
    monotone="falls",
    splits=("rows",),
)
