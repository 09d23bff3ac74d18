"""The contingency table against dictionaries."""

from collections import defaultdict

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partita.core.errors import PartitaError
from partita.core.threads import thread_limit
from partita.metrics import Contingency, contingency, from_dense, nmi
from partita.metrics import table as table_module
from partita.metrics.labelling import span_of


def by_dictionary(a, b, weights=None):
    """Counts by pair of values, sorted; None is unobserved."""
    counts = defaultdict(float)
    for place, pair in enumerate(zip(a, b, strict=True)):
        if None not in pair:
            counts[pair] += 1 if weights is None else weights[place]
    return {pair: count for pair, count in counts.items() if count > 0}


def check_against(table: Contingency, expected: dict) -> None:
    """Equal up to the numbering of clusters, and consistent in itself."""
    assert sorted(table.counts.tolist()) == pytest.approx(sorted(expected.values()))
    assert table.total == pytest.approx(sum(expected.values()))
    dense = table.dense()
    assert np.count_nonzero(dense) == len(table.counts)
    np.testing.assert_allclose(dense.sum(axis=1), table.row_sums)
    np.testing.assert_allclose(dense.sum(axis=0), table.col_sums)
    for axis, sums in ((0, table.row_sums), (1, table.col_sums)):
        marginal = defaultdict(float)
        for pair, count in expected.items():
            marginal[pair[axis]] += count
        assert sorted(sums[sums > 0].tolist()) == pytest.approx(sorted(marginal.values()))
    order = np.lexsort((table.cols, table.rows))
    assert (order == np.arange(len(order))).all()


KINDS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64, np.bool_, ">i4"]
labels = st.integers(-4, 6)


@given(st.lists(st.tuples(labels, labels, st.sampled_from([0.0, 0.5, 1.0, 3.0])), max_size=60))
def test_counts_of_integers(rows):
    a, b, weights = (list(column) for column in zip(*rows, strict=True)) if rows else ([], [], [])
    known = [[None if label == -1 else label for label in column] for column in (a, b)]
    plain = contingency(np.array(a, dtype=np.int64), np.array(b, dtype=np.int8))
    check_against(plain, by_dictionary(*known))
    assert plain.counts.dtype == np.int64
    check_against(contingency(a, b, weights), by_dictionary(*known, weights))


@pytest.mark.parametrize("first", KINDS)
@pytest.mark.parametrize("second", [np.int8, np.uint64, np.int32])
def test_integers_of_every_type(first, second):
    rng = np.random.default_rng(1)
    high = 2 if first is np.bool_ else 90
    a, b = rng.integers(0, high, 500).astype(first), rng.integers(0, 120, 500).astype(second)
    check_against(contingency(a, b), by_dictionary(a.tolist(), b.tolist()))
    check_against(contingency(a[::2], b[1::2]), by_dictionary(a[::2].tolist(), b[1::2].tolist()))


def test_extreme_integers():
    limits = np.iinfo(np.int64)
    a = np.array([limits.min, limits.max, -1, 0, limits.max])
    b = np.array([0, 2**64 - 1, 5, 2**64 - 1, 2**64 - 1], dtype=np.uint64)
    table = contingency(a, b).compact()
    assert table.dense().tolist() == [[1, 0], [0, 1], [0, 2]]
    assert contingency(np.array([200, 100], dtype=np.uint8), [0, 1]).total == 2
    assert contingency([2**70, 3, 2**70], [0, 1, 0]).dense().tolist() == [[2, 0], [0, 1]]


def test_small_labels_keep_their_numbers():
    table = contingency(np.array([3, -1, 1]), np.array([0, 5, 2]))
    assert table.shape == (4, 6)
    assert list(zip(table.rows.tolist(), table.cols.tolist(), strict=True)) == [(1, 2), (3, 0)]
    compact = table.compact()
    assert compact.shape == (2, 2)
    assert compact.dense().tolist() == [[0, 1], [1, 0]]
    assert compact.compact() is compact


@pytest.mark.parametrize(
    "values",
    [
        ["a", "b", None, "a", "", "NA"],
        np.array(["a", "b", "", "a", "", ""]),
        np.array(["a", "b", None, "a", None, float("nan")], dtype=object),
        pd.Series(["a", "b", None, "a", None, None]),
        pd.Series(["a", "b", None, "a", None, None], dtype="category"),
        pd.Series([4, 7, None, 4, None, -1]),
        pd.Series([4, 7, None, 4, None, -1], dtype="Int64"),
        pl.Series(["a", "b", None, "a", None, None]),
        pl.Series(["a", "b", None, "a", None, None], dtype=pl.Categorical),
        pl.Series([4, 7, None, 4, None, -1]),
        pl.Series([4, 7, -1, 4, -1, -1]),
        pl.Series([True, False, None, True, None, None]),
        pa.chunked_array([["a", "b", None], ["a", None, None]]),
        np.array([4, 7, np.nan, 4, np.nan, -1]),
        np.array([4, 7, np.nan, 4, np.nan, np.nan], dtype=np.float32),
        np.ma.array([4, 7, 9, 4, 9, 9], mask=[0, 0, 1, 0, 1, 1]),
        [True, False, None, True, None, float("nan")],
        [4, 7, -1, 4, -1, -1],
        (4, "b", None, 4, None, -1),
    ],
    ids=lambda values: f"{type(values).__module__}-{getattr(values, 'dtype', '')}",
)
def test_labels_of_any_kind(values):
    table = contingency(values, [0, 1, 0, 0, 1, 1]).compact()
    assert (sorted(table.counts.tolist()), table.total) == ([1, 2], 3)
    assert contingency([0, 1, 0, 0, 1, 1], values).compact().shape == (2, 2)
    assert nmi(values, [0, 1, 0, 0, 1, 1]) == pytest.approx(1.0)


@pytest.mark.parametrize("spread", [3, 10**5, 10**12, 2**61])
@pytest.mark.parametrize("weighted", [False, True])
def test_hash_route_equals_dense_route(spread, weighted, monkeypatch):
    rng = np.random.default_rng(spread % 1000)
    small_a, small_b = rng.integers(-2, 9, 4000), rng.integers(-1, 7, 4000)
    weights = rng.integers(0, 4, 4000) / 2 if weighted else None
    expected = contingency(small_a, small_b, weights).compact()
    monkeypatch.setattr(table_module, "DENSE_CELLS", 8)
    monkeypatch.setattr(table_module, "HASH_CHUNK", 300)

    def stretched(labels):
        return np.where(labels == -1, -1, np.where(labels < 0, labels - spread, labels * (spread // 8 + 1)))

    found = contingency(stretched(small_a), stretched(small_b), weights).compact()
    assert found.counts.dtype == expected.counts.dtype
    np.testing.assert_array_equal(found.dense(), expected.dense())


def test_hash_route_is_taken_for_many_labels():
    rng = np.random.default_rng(3)
    a, b = rng.integers(0, 5000, 20_000), rng.integers(0, 5000, 20_000)
    check_against_pairs = np.unique(a * 5000 + b, return_counts=True)
    table = contingency(a, b)
    np.testing.assert_array_equal(table.rows * 5000 + table.cols, check_against_pairs[0])
    np.testing.assert_array_equal(table.counts, check_against_pairs[1])


@pytest.mark.parametrize("value", [-9, -1, 11, 10**6, 2**62])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_label_that_a_sample_misses(value, weighted):
    n = 20_000
    a, b = np.arange(n) // 2 % 10, np.arange(n) // 4 % 5
    a[4321] = b[77] = value
    weights = np.ones(n) if weighted else None
    known = [[None if label == -1 else label for label in column.tolist()] for column in (a, b)]
    check_against(contingency(a, b, weights), by_dictionary(*known))


@pytest.mark.parametrize("high", [7, 4000])
def test_threads_do_not_matter(high):
    rng = np.random.default_rng(5)
    a, b, weights = rng.integers(-1, high, 1_200_000), rng.integers(-1, high, 1_200_000), rng.random(1_200_000)
    found = []
    for threads in (1, 2):
        with thread_limit(threads):
            found.append(contingency(a, b, weights))
    np.testing.assert_array_equal(found[0].rows, found[1].rows)
    assert found[0].counts.tobytes() == found[1].counts.tobytes()
    assert found[0].col_sums.tobytes() == found[1].col_sums.tobytes()
    assert found[0].total == found[1].total


def test_the_table_cannot_be_changed_and_inputs_are_not():
    a, weights = np.array([0, 1, 1]), np.ones(3)
    table = contingency(a, a, weights)
    for array in (table.rows, table.cols, table.counts, table.row_sums, table.col_sums):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 7
    assert a.flags.writeable and weights.flags.writeable
    assert a.tolist() == [0, 1, 1]


def test_transposed_and_from_dense():
    cells = np.array([[2, 0, 1], [0, 0, 0], [4, 3, 0]])
    table = from_dense(cells)
    np.testing.assert_array_equal(table.dense(), cells)
    np.testing.assert_array_equal(table.transposed.dense(), cells.T)
    assert table.compact().shape == (2, 3)
    assert repr(table) == "Contingency(3 x 3 clusters, 4 cells, 10 objects)"
    assert from_dense([[0.5, 0.0], [0.0, 0.5]]).counts.dtype == np.float64


@given(st.lists(st.one_of(st.none(), st.integers(), st.text(max_size=3), st.booleans(), st.floats()), max_size=12))
@settings(max_examples=200)
def test_labels_succeed_or_raise_ours(values):
    try:
        table = contingency(values, list(range(len(values))))
    except PartitaError:
        return
    assert table.total <= len(values)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 1], [0]), "a has 2 objects and b 1"),
        (([0.5, 1], [0, 1]), "0.5 is not a label"),
        ((np.zeros((2, 2), int), [0, 1]), "shape"),
        (("ab", [0, 1]), "is a str"),
        ((3, [0, 1]), "is a int"),
        (([[0], [1]], [0, 1]), "one label a cell"),
        (([0, 1], [0, 1], [1, -1]), "row 2 has weight -1"),
        (([0, 1], [0, 1], [1, np.nan]), "row 2 has weight nan"),
        (([0, 1], [0, 1], [1]), "weights have shape"),
        (([0, 1], [0, 1], ["x", "y"]), "weights are not numbers"),
    ],
)
def test_bad_input_is_named(arguments, message):
    with pytest.raises(PartitaError, match=message):
        contingency(*arguments)


@pytest.mark.parametrize("table", [[1, 2], [[1, -1]], [[np.nan, 1]], [["a", "b"]]])
def test_bad_tables_are_refused(table):
    with pytest.raises(PartitaError, match="table"):
        from_dense(table)


def test_nothing_known():
    assert contingency([], []).total == 0
    assert contingency([-1, 0], [0, -1]).total == 0
    assert contingency([None, None], ["a", "b"]).total == 0
    assert span_of(np.array([-1, -1])).missing == 0
