"""Placing rows by a fitted model, measured against reading the same bytes."""

import numpy as np

from benchmarks.harness import Case, Contestant

ROWS, COLUMNS, LABELS, CLUSTERS = 10**7, 20, 10, 10
ALLOWED = 4.0
"""Times the sum of the same bytes that a pass may take, as issue 9 asks."""


def placing_data(rows: int = ROWS):
    """Random int8 labels, of which hardly two rows are alike, and a model of them."""
    from partita.core.placing import Placer

    rng = np.random.default_rng(0)
    labels = rng.integers(LABELS, size=(rows, COLUMNS), dtype=np.int8)
    chances = rng.dirichlet(np.ones(LABELS), (COLUMNS, CLUSTERS)).transpose(0, 2, 1).reshape(-1, CLUSTERS)
    bias = np.full(CLUSTERS, -np.log(CLUSTERS))
    return labels, Placer(bias, np.log(chances), LABELS * np.arange(COLUMNS + 1))


def placed(threads: int, **asked: bool):
    """One pass on so many threads."""

    def run(data):
        from partita.core.threads import thread_limit

        labels, placer = data
        with thread_limit(threads):
            return placer.place(labels, **asked)

    return run


def in_turn(threads: int):
    """The sum and the pass one after the other, seven times: the ratio hangs least on what else the machine does."""

    def run(data):
        import time

        from partita.core.threads import thread_limit

        labels, placer = data
        best = {"wall": [np.inf, np.inf], "processor": [np.inf, np.inf]}
        with thread_limit(threads):
            for _ in range(7):
                for place, work in enumerate((labels.sum, lambda: placer.place(labels))):
                    wall, processor = time.perf_counter(), time.process_time()
                    work()
                    for name, begun in (("wall", wall), ("processor", processor)):
                        now = time.perf_counter() if name == "wall" else time.process_time()
                        best[name][place] = min(best[name][place], now - begun)
        return {f"{name} / sum (allowed {ALLOWED:g})": pair[1] / pair[0] for name, pair in best.items()}

    return run


def general(data):
    """The general way: scores of every row first, a million rows at a time."""
    from partita.core.ensemble import Ensemble
    from partita.core.model import ColumnModel
    from partita.core.threads import thread_limit

    labels, placer = data
    names = tuple(map(str, range(COLUMNS)))
    classes = (tuple(range(LABELS)),) * COLUMNS
    model = ColumnModel(placer.bias, tuple(np.split(placer.tables.T, COLUMNS, axis=1)), "softmax", names)
    with thread_limit(1):
        rows = Ensemble(labels, (LABELS,) * COLUMNS, names, classes, np.ones(COLUMNS))
        return model.assign(rows, membership=False)


def first_labels(found, data) -> dict[str, float]:
    """A number that must agree, or the ratios."""
    if isinstance(found, dict):
        return found
    return {"sum of labels": float(found.labels.sum(dtype=np.int64))} if hasattr(found, "labels") else {}


def warm():
    """Few rows, to load the kernels."""
    return placing_data(1000)


CASES = [
    Case(
        "assign-floor",
        f"one pass that places {ROWS} x {COLUMNS} int8 labels in {CLUSTERS} clusters, against numpy.sum of the bytes",
        placing_data,
        (
            Contestant("sum of the same bytes", lambda data: data[0].sum() and None),
            Contestant("winners, 1 thread", placed(1), warm),
            Contestant("winners, 2 threads", placed(2), warm),
            Contestant("with counts, 1 thread", placed(1, counts=True), warm),
            Contestant("with counts, 2 threads", placed(2, counts=True), warm),
            Contestant("with likelihood, 1 thread", placed(1, chances=True), warm),
            Contestant("with likelihood, 2 threads", placed(2, chances=True), warm),
            Contestant("with both, 1 thread", placed(1, counts=True, chances=True), warm),
            Contestant("with both, 2 threads", placed(2, counts=True, chances=True), warm),
            Contestant("sum and winners in turn, 1 thread", in_turn(1), warm),
            Contestant("sum and winners in turn, 2 threads", in_turn(2), warm),
            Contestant("ColumnModel.assign, 1 thread", general, warm),
        ),
        first_labels,
        repeats=2,
    ),
]
