"""Distinct rows with the way back, against the routes people take in NumPy, pandas and polars."""

import numpy as np

from benchmarks.data import noisy_labels
from benchmarks.harness import Case, Contestant


def ours(labels):
    """The hash table of `partita.core.distinct`."""
    from partita.core.distinct import distinct_rows

    found = distinct_rows(labels)
    return found.first, found.inverse


def numpy_rows(labels):
    """np.unique over rows."""
    _, first, inverse = np.unique(labels, axis=0, return_index=True, return_inverse=True)
    return first, inverse


def numpy_void(labels):
    """np.unique over rows seen as opaque bytes."""
    rows = np.ascontiguousarray(labels).view(np.dtype((np.void, labels.shape[1] * labels.itemsize)))[:, 0]
    _, first, inverse = np.unique(rows, return_index=True, return_inverse=True)
    return first, inverse


def pandas_groupby(labels):
    """Pandas groupby().ngroup()."""
    import pandas

    frame = pandas.DataFrame(labels)
    inverse = frame.groupby(list(frame.columns), sort=False).ngroup().to_numpy()
    return np.unique(inverse, return_index=True)[1], inverse


def polars_group_by(labels):
    """Polars struct ranks: dense numbers of distinct rows."""
    import polars

    frame = polars.DataFrame(labels)
    inverse = frame.select(polars.struct(polars.all()).rank("dense")).to_series().to_numpy() - 1
    return np.unique(inverse, return_index=True)[1], inverse


def distinct_count(result, labels) -> float:
    """How many distinct rows were found, after checking the way back on a sample."""
    first, inverse = result
    sample = np.random.default_rng(0).integers(len(labels), size=1000)
    assert np.array_equal(labels[first[inverse[sample]]], labels[sample])
    return float(len(first))


def small():
    """A table for warming up."""
    return noisy_labels(100)


ROUTES = (
    Contestant("partita", ours, small),
    Contestant("pandas groupby.ngroup", pandas_groupby, small),
    Contestant("polars struct rank", polars_group_by, small),
    Contestant("numpy unique of void rows", numpy_void),
    Contestant("numpy unique(axis=0)", numpy_rows),
)
FLOOR = Contestant(
    "floor: sum of the same bytes", lambda labels: (np.arange(1), np.zeros(len(labels), int), labels.sum())[:2]
)


def _count(result, labels) -> float:
    return distinct_count(result, labels) if len(result[0]) > 1 else float("nan")


CASES = [
    Case(
        f"compression-{share}",
        f"distinct rows of 10^6 x 20 labels, {share} % of the cells noise (quality: distinct rows found)",
        lambda share=share: noisy_labels(10**6, noise=share / 100),
        ROUTES,
        _count,
        repeats=3,
        floor=FLOOR,
    )
    for share in (5, 30)
]
