"""Where variational inference of nonparametric Bayesian cluster ensembles begins: many small clusters, merged.

Variational components die but are hardly ever born, and two that share one cluster part only slowly. So the start has
more clusters than are likely to be needed, and joins them, best pair first, as long as the log joint rises.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, Final

import numpy as np
from numpy.random import Generator

from partita.core.counting import label_counts
from partita.core.iterate import Run, Tick, iterate
from partita.core.sampling import collapsed, draw_sample
from partita.core.soft import AnyEnsemble
from partita.core.types import IntArray
from partita.models.mixture import Counts, Rows
from partita.models.nbce_bound import Columns, Hyper, cluster_heights, pair_gains
from partita.models.nbce_steps import FORMED, columns_of, first_state, next_columns, passed, picked, step
from partita.models.restarts import SAMPLE, Runs, best_of, start_labels

SEEDS: Final = 100
"""Clusters that are merged, where fewer are to come out."""
ROUNDS: Final = 5
"""Passes that settle them before."""
LEAST: Final = 1e-3
"""Objects below which such a cluster is left out."""
FORMING: Final = 50
"""Most iterations on a sample."""


def runs_of(
    run: Callable[[Hyper, Columns, Tick], Run[Any]], ensemble: AnyEnsemble, k: int | None, params: Any, rng: Generator
) -> Runs[Any]:
    """`run(hyper, start, tick)` from the starts that the settings of a variational method ask for."""
    truncation = params.truncation if k is None else k
    hyper = Hyper(params.prior, truncation, params.alpha, params.beta, params.learn_alpha, params.learn_beta)
    return best_of(
        partial(begin, ensemble, hyper, params.init),
        partial(run, hyper),
        rng.spawn(params.restarts),
        what="nbce restarts",
        highest=True,
    )


def begin(ensemble: AnyEnsemble, hyper: Hyper, start: str, rng: Generator) -> Columns:
    """The merged clusters of a start, at most as many as there are components.

    Of many rows a sample is enough, on which they form as they would on all; its counts are those of so few objects,
    lest chance look like structure, and are scaled up at the end.
    """
    few, _ = collapsed(ensemble)
    if len(few) <= 2 * SAMPLE:
        return merged(fragments(few, hyper, start, rng), few.offsets, hyper)
    places, factors = draw_sample(few.counts, SAMPLE, rng)
    most = float(factors.max())
    part = few.rows(places).with_counts(few.counts[places] * factors / most)
    columns = merged(fragments(part, hyper, start, rng), part.offsets, hyper)
    run = iterate(partial(step, part, False), first_state(columns, hyper), tol=FORMED, max_iter=FORMING)
    formed = next_columns(part, run.state)
    formed = picked(formed, np.flatnonzero(formed.sizes >= LEAST * formed.copies))
    return Columns(formed.sizes * most, formed.labels * most, formed.copies)


def fragments(part: AnyEnsemble, hyper: Hyper, start: str, rng: Generator) -> Columns:
    """The clusters of a start, more than are likely to be needed, after a few passes; each of one component."""
    seeds = min(max(hyper.truncation, SEEDS), len(part))
    tables, sizes = label_counts(part, start_labels(part, start, seeds, rng), seeds)
    return gathered(part, Counts(sizes, tables, np.nan, 0), hyper)


def gathered(part: Rows, counts: Counts, hyper: Hyper) -> Columns:
    """Clusters after a few passes, without those that lost their objects."""
    wide = hyper._replace(truncation=len(counts.weights))
    columns = columns_of(counts, part)
    for _ in range(ROUNDS):
        columns = picked(columns, np.flatnonzero(columns.sizes >= LEAST))
        columns = columns_of(passed(part, columns, wide).counts, part)
    return columns


def merged(columns: Columns, offsets: IntArray, hyper: Hyper) -> Columns:
    """Columns of one component each, joined in pairs while that raises the log joint or they are too many.

    Under both priors the sizes count as under fsd, where the order of the components does not matter.
    """
    sizes, labels = columns.sizes.copy(), np.ascontiguousarray(columns.labels.T)
    heights = partial(cluster_heights, offsets, hyper)
    own = heights(sizes, labels)
    gains = pair_gains(columns, offsets, hyper)
    alive = np.arange(len(sizes))
    while len(alive) > 1:
        a, b = np.unravel_index(int(gains.argmax()), gains.shape)
        if gains[a, b] <= 0 and len(alive) <= hyper.truncation:
            break
        sizes[a], labels[a] = sizes[a] + sizes[b], labels[a] + labels[b]
        own[a] = heights(sizes[[a]], labels[[a]])[0]
        alive = alive[alive != b]
        gains[b], gains[:, b] = -np.inf, -np.inf
        others = alive[alive != a]
        found = heights(sizes[a] + sizes[others], labels[a] + labels[others]) - own[a] - own[others]
        gains[np.maximum(a, others), np.minimum(a, others)] = found
    order = alive[np.argsort(-sizes[alive], kind="stable")]
    return Columns(sizes[order], np.ascontiguousarray(labels[order].T), np.ones(len(order)))
