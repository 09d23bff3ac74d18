"""The partition that represents draws best: the one of least expected loss, searched from many starts at once."""

from typing import Final, NamedTuple

import numpy as np
from numpy.random import Generator

from partita.core.distinct import distinct_rows
from partita.core.draws import Draws
from partita.core.errors import ParameterError
from partita.core.threads import map_threads
from partita.core.types import MISSING, IntArray
from partita.posterior.losses import Loss, by_first, check_loss, expected_loss
from partita.posterior.search import (
    FEW_ROWS,
    Setup,
    Start,
    every_partition,
    is_large,
    most_clusters,
    pivot_start,
    search,
    set_up,
)

CANDIDATES: Final = 64
"""Draws compared with each other to find one to start from."""
RUNS: Final = 24
WORK: Final = 4_000_000_000
"""Objects times draws times clusters times runs beyond which runs are fewer, down to FEWEST_RUNS."""
FEWEST_RUNS: Final = 4
LARGE_RUNS: Final = 4
"""Searches under Binder's loss of many objects; see `search.LARGE_ROWS`."""
CHECK_WORK: Final = 1_000_000_000
"""Labels read up to which every draw is compared with the result; above, only the central draw."""
MOST_DRAWS: Final = 200
"""Draws of which the best is looked for, where one of them is wanted."""
FEW_CLUSTERS: Final = 256
"""Up to so many different objects, one run begins with each by itself and merges."""


class Point(NamedTuple):
    """A partition that represents draws."""

    labels: IntArray
    """(n,) clusters by first appearance; MISSING for objects without labels in the draws."""
    loss: float
    """Its expected loss."""
    exact: bool
    """Whether every partition was tried, so that none is better; else a search found none better."""
    limited: bool = False
    """Whether it has as many clusters as the search may have, so that a finer one may be better."""
    interrupted: bool = False
    """Whether the user stopped the search (Ctrl-C), so that it is a central one of the draws."""


def best_partition(
    draws: Draws, loss: Loss = "vi", *, rng: Generator, runs: int | None = None, max_clusters: int | None = None
) -> Point:
    """Return the partition of least expected loss over the draws, which need not be one of them.

    Up to nine different objects, every partition is tried. Otherwise the best of several searches (`runs`) is returned.
    They start at a central draw; at single objects (or, if there are many, at the draw of most clusters), which merge;
    and then in turn at objects placed one after another in random order, at a random draw, and twice at random
    clusters, which first settle with their number kept. A search moves single objects, merges clusters and deals
    clusters out again while the loss falls.

    Under Binder's loss and with more than 2,500 different objects, the searches start at a central draw and at clusters
    around random pivots (all objects that are together with the pivot in more than half of the draws). Their tables
    hold fewer clusters, objects that are best off by themselves stay outside, and each search has a limit of work.

    The result has at most `max_clusters` clusters, and its loss is at most that of every draw with as few. If draws² x
    objects exceeds 10⁹, this holds for 64 evenly spaced draws. It does not depend on the number of threads. Ctrl-C
    returns the central draw.

    >>> draws = Draws.of([[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 1, 2]])
    >>> best_partition(draws, rng=np.random.default_rng(0)).labels.tolist()
    [0, 0, 1, 1]
    """
    setup = set_up(draws, check_loss(loss), check_max_clusters(max_clusters))
    problem = setup.problem
    exact, stopped = len(problem.rows) <= FEW_ROWS, False
    if exact:
        found = [every_partition(problem)]
    else:
        starts = _starts(draws, loss, setup, rng, runs)
        tasks = list(zip(starts, rng.spawn(len(starts)), strict=True))
        try:
            found = map_threads(lambda task: search(problem, *task), tasks, "searching for the best partition")
        except KeyboardInterrupt:
            found, stopped = [_merged(starts[0].labels, most_clusters(problem))], True
    results = [_result(labels, setup, draws, loss) for labels in found]
    if not exact and not stopped and len(draws) ** 2 * draws.labels.shape[1] <= CHECK_WORK:
        few = np.flatnonzero(draws.sizes <= most_clusters(problem))
        results += [(by_first(labels), expected_loss(draws, labels, loss)) for labels in draws.labels[few]]
    labels, least = min(results, key=lambda result: result[1])
    limited = int(labels.max()) + 1 == most_clusters(problem) < len(problem.rows)
    return Point(labels, least, exact, limited, stopped)


def check_max_clusters(max_clusters: int | None) -> int | None:
    """Return the maximum number of clusters; a number below 1 raises."""
    whole = hasattr(max_clusters, "__index__") and not isinstance(max_clusters, bool)
    if max_clusters is not None and not (whole and max_clusters >= 1):
        raise ParameterError(f"max_clusters={max_clusters!r}: expected an integer of at least 1, or None for no limit")
    return max_clusters


def _merged(labels: IntArray, most: int) -> IntArray:
    """Return the partition with its smallest clusters merged into one, so that it has at most `most` clusters."""
    rank = np.argsort(np.argsort(-np.bincount(labels), kind="stable"))
    return np.asarray(np.minimum(rank[labels], most - 1))


def best_draw(draws: Draws, loss: Loss = "vi") -> Point:
    """The draw of least expected loss, of all or of some hundred evenly spaced ones.

    >>> best_draw(Draws.of([[0, 0, 1], [0, 0, 1], [0, 1, 2]])).labels.tolist()
    [0, 0, 1]
    """
    picks = np.unique(np.linspace(0, len(draws) - 1, MOST_DRAWS).astype(np.int64))
    distinct = draws.labels[picks][distinct_rows(draws.labels[picks]).first]
    losses = [expected_loss(draws, labels, loss) for labels in distinct]
    best = int(np.argmin(losses))
    return Point(distinct[best].astype(np.int64), losses[best], False)


def _runs(draws: Draws, shape: tuple[int, ...]) -> int:
    """As many searches as are worth their time: the larger the problem, the fewer."""
    work = shape[0] * shape[1] * int(draws.sizes.max())
    return int(np.clip(WORK // work, FEWEST_RUNS, RUNS))


def _starts(draws: Draws, loss: Loss, setup: Setup, rng: Generator, runs: int | None) -> list[Start]:
    """Where the searches begin, in the order of `best_partition`."""

    def rows_of(draw: int) -> IntArray:
        return np.asarray(draws.labels[draw][setup.known][setup.first].astype(np.int64))

    problem, rows = setup.problem, len(setup.first)
    starts = [Start(rows_of(_central(draws, loss)))]
    if is_large(rows, loss):
        starts += [Start(pivot_start(problem, rng)) for _ in range((runs or LARGE_RUNS) - 1)]
        return starts
    runs = runs or _runs(draws, problem.rows.shape)
    most = min(rows, 2 * int(draws.sizes.max()), most_clusters(problem))
    single = rows <= min(FEW_CLUSTERS, most_clusters(problem))
    starts.append(Start(np.arange(rows) if single else rows_of(int(draws.sizes.argmax()))))
    for turn in range(runs - len(starts)):
        if turn % 4 == 0:
            starts.append(Start(np.full(rows, MISSING, np.int64)))
        elif turn % 4 == 1:
            starts.append(Start(rows_of(int(rng.integers(len(draws))))))
        else:
            clusters = np.arange(rows) % rng.integers(1, most + 1)
            starts.append(Start(rng.permutation(clusters), keep=True))
    return starts[:runs]


def _central(draws: Draws, loss: Loss) -> int:
    """The draw, among some evenly spaced ones, that is nearest to those."""
    picks = np.unique(np.linspace(0, len(draws) - 1, CANDIDATES).astype(np.int64))
    some = Draws(draws.labels[picks], draws.chain[picks])
    return int(picks[np.argmin([expected_loss(some, labels, loss) for labels in some.labels])])


def _result(labels: IntArray, setup: Setup, draws: Draws, loss: Loss) -> tuple[IntArray, float]:
    """The labels of all objects, and their expected loss."""
    whole = np.full(draws.labels.shape[1], MISSING, np.int64)
    whole[setup.known] = labels[setup.row]
    codes = by_first(whole)
    return codes, expected_loss(draws, codes, loss)
