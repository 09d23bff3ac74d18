"""Ensemble.from_labels: what may hold a table, and what it turns into."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from partita import Ensemble
from partita.core.errors import LabelError, PartitaError, TableError
from tests.core.oracles import slow_distinct, slow_table, steady

ROWS = [[3, 7], [1, 7], [3, 9]]
CODES = [[0, 0], [1, 0], [0, 1]]


@pytest.mark.parametrize(
    "table",
    [
        np.array(ROWS),
        np.array(ROWS, order="F"),
        np.array(ROWS)[::1, ::1],
        np.repeat(np.array(ROWS), 2, axis=0)[::2],
        np.array(ROWS)[::-1][::-1],
        np.array(ROWS, dtype=object),
        np.array(ROWS).astype(str),
        np.array(ROWS).astype("S"),
        np.array(ROWS).astype(np.dtypes.StringDType()),
        np.ma.masked_array(ROWS),
        ROWS,
        tuple(map(tuple, ROWS)),
        [np.array(row) for row in ROWS],
        (row for row in ROWS),
        {"a": [3, 1, 3], "b": (7, 7, 9)},
        {"a": np.array([3, 1, 3]), "b": range(7, 10)},
    ],
    ids=lambda table: type(table).__name__,
)
def test_holders_of_a_table(table):
    expected = CODES if not (isinstance(table, dict) and isinstance(table["b"], range)) else [[0, 0], [1, 1], [0, 2]]
    assert Ensemble.from_labels(table).labels.tolist() == expected


def test_the_ensemble_is_frozen_and_the_table_left_alone():
    table = np.array(ROWS)
    copy = table.copy()
    ensemble = Ensemble.from_labels(table, ids=np.array(["x", "y", "z"]), weights=np.ones(2))
    for array in (ensemble.labels, ensemble.weights, ensemble.ids, ensemble.counts, *ensemble.distinct):
        assert not array.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        ensemble.labels[0, 0] = 5
    with pytest.raises(dataclasses.FrozenInstanceError):
        ensemble.sizes = (1, 1)
    table[:] = 0
    assert ensemble.labels.tolist() == CODES
    assert np.array_equal(copy, ROWS) and table.flags.writeable
    fixed = np.array(ROWS)
    fixed.setflags(write=False)
    assert Ensemble.from_labels(fixed).labels.tolist() == CODES


def test_masked_cells_are_unobserved():
    for values in (
        [[1, 2], [3, 2], [1, 4]],
        [["a", "b"], ["c", "b"], ["a", "d"]],
        [[1.0, 2.0], [3.0, 2.0], [1.0, 4.0]],
    ):
        table = np.ma.masked_array(values, mask=[[0, 1], [0, 0], [1, 0]])
        ensemble = Ensemble.from_labels(table)
        assert ensemble.labels.tolist() == [[0, -1], [1, 0], [-1, 1]]
        assert [len(column) for column in ensemble.classes] == [2, 2]
    hidden = np.ma.masked_array([[1, 0.5], [2, 3.0]], mask=[[0, 1], [0, 0]])
    assert Ensemble.from_labels(hidden).labels.tolist() == [[0, -1], [1, 0]]


@pytest.mark.parametrize("shape", [(), (4,), (2, 2, 2), (0, 3), (3, 0), (0, 0)])
def test_shapes_that_are_no_table(shape):
    with pytest.raises(TableError, match=r"shape \("):
        Ensemble.from_labels(np.zeros(shape, int))


@pytest.mark.parametrize(
    "table",
    [
        np.zeros((2, 2), complex),
        np.zeros((2, 2), [("a", int)]),
        np.zeros(3, [("a", int), ("b", int)]),
        [],
        [[], []],
        (),
        {},
        {"a": []},
        {"a": [1, 2], "b": [1]},
        [[1, 2], [1]],
        ["ab", "cd"],
        "abcd",
        b"abcd",
        5,
        None,
        3.5,
        object(),
        [1, 2, 3],
        [None, None],
        [[1, 2], None],
        [[1, 2], "ab"],
        {"a": 5, "b": 6},
        {"a": None},
        {"a": "xyz", "b": [1, 2, 3]},
        {"a": {0: 1, 1: 2}, "b": [1, 2]},
        {"a": {1, 2}, "b": [1, 2]},
        {"a": np.zeros((2, 2), int), "b": [1, 2]},
        {"a": np.array(5), "b": [1]},
        [{"a": 1, "b": 2}, {"a": 2, "b": 2}],
        [{1, 2}, {2, 3}],
    ],
    ids=lambda table: repr(table) if type(table) is not object else "object",
)
def test_what_is_no_table_is_refused_in_one_line(table):
    """Also what would be read as something else: records as their keys, sets in any order, a string as letters."""
    with pytest.raises(PartitaError) as caught:
        Ensemble.from_labels(table)
    assert "\n" not in str(caught.value) and len(str(caught.value)) > 20


def test_sparse_matrices_are_refused():
    sparse = pytest.importorskip("scipy.sparse")
    for table in (sparse.csr_matrix(np.eye(3)), sparse.coo_array(np.eye(3))):
        with pytest.raises(TableError, match="sparse"):
            Ensemble.from_labels(table)


def test_ragged_rows_name_the_row():
    with pytest.raises(TableError, match="row 3 has 1 labels, the first row 2"):
        Ensemble.from_labels([[1, 2], [3, 4], [5]])
    with pytest.raises(LabelError, match="c1"):
        Ensemble.from_labels([[1, [2]], [3, [4]]])


@steady
@given(
    hnp.arrays(
        st.sampled_from(["i1", "i4", "i8"]),
        st.tuples(st.integers(1, 40), st.integers(1, 5)),
        elements=st.integers(0, 2),
    )
)
def test_distinct_rows_are_those_of_a_dictionary(table):
    ensemble = Ensemble.from_labels(table, transpose=False)
    first, inverse = slow_distinct(table.tolist())
    assert ensemble.distinct.first.tolist() == first and ensemble.distinct.inverse.tolist() == inverse
    assert np.array_equal(ensemble.labels[ensemble.distinct.first][ensemble.distinct.inverse], ensemble.labels)


@pytest.mark.parametrize("columns", [1, 2, 3, 4, 5, 7, 8, 9, 16, 17])
@pytest.mark.parametrize("labels", [3, 200, 40000])
def test_distinct_rows_at_every_width(columns, labels):
    rng = np.random.default_rng(columns)
    table = rng.integers(0, 2, size=(300, columns))
    table[:, 0] = rng.integers(labels, size=300)
    ensemble = Ensemble.from_labels(table, allow="id-like-column", transpose=False)
    first, inverse = slow_distinct(table.tolist())
    assert ensemble.distinct.first.tolist() == first and ensemble.distinct.inverse.tolist() == inverse


def test_rows_keep_codes_sizes_ids_and_counts():
    ensemble = Ensemble.from_labels(ROWS, ids=["x", "y", "z"]).with_counts([1, 2, 3])
    for index in (
        [2, 0],
        np.array([2, 0]),
        np.array([False, True, True]),
        slice(1, None),
        slice(None, None, 2),
        [0, 0, 1],
    ):
        part = ensemble.rows(index)
        assert part.labels.tolist() == ensemble.labels[index].tolist()
        assert part.sizes == ensemble.sizes and part.classes == ensemble.classes and part.names == ensemble.names
        assert (
            part.ids.tolist() == ensemble.ids[index].tolist()
            and part.counts.tolist() == ensemble.counts[index].tolist()
        )
        assert not part.labels.flags.writeable and len(part) == len(part.labels)
        first, inverse = slow_distinct(part.labels.tolist())
        assert part.distinct.first.tolist() == first and part.distinct.inverse.tolist() == inverse


def test_no_rows_can_be_described():
    nothing = Ensemble.from_labels(ROWS).rows([])
    assert len(nothing) == 0 and "0 objects" in repr(nothing)


def test_columns_by_place_name_and_mask():
    ensemble = Ensemble.from_labels([[0, 1, 2], [0, 3, 2]], names=["a", "b", "c"], weights=[1, 2, 3])
    for index in ([2, 0], ["c", "a"], np.array([2, 0]), (-1, "a"), np.array(["c", "a"])):
        part = ensemble.columns(index)
        assert part.names == ("c", "a") and part.weights.tolist() == [3, 1] and part.sizes == (1, 1)
        assert part.labels.tolist() == [[0, 0], [0, 0]] and part.classes == ((2,), (0,))
        assert not part.labels.flags.writeable
    for mask in (np.array([True, False, True]), [True, False, True]):
        assert ensemble.columns(mask).names == ("a", "c")


@pytest.mark.parametrize("index", [["z"], [9], [-4], []])
def test_columns_that_are_not_there(index):
    with pytest.raises(PartitaError):
        Ensemble.from_labels(ROWS, names=["a", "b"]).columns(index)


def test_counts():
    ensemble = Ensemble.from_labels(ROWS)
    assert ensemble.counts.tolist() == [1, 1, 1] and ensemble.multiplicity is None
    assert ensemble.with_counts([1, 2.5, 3]).counts.tolist() == [1, 2.5, 3]
    for bad in (
        [1, 2],
        [1, 2, 0],
        [1, 2, -1],
        [1, 2, np.nan],
        [1, 2, np.inf],
        ["a", 1, 1],
        5,
        [[1], [1], [1]],
        None,
        [10**400, 1, 1],
    ):
        with pytest.raises(TableError, match="count"):
            ensemble.with_counts(bad)


def test_repr_says_how_large_and_how_full():
    assert repr(Ensemble.from_labels([[1, "a"], [2, None]])) == (
        "Ensemble(2 objects, 2 clusterings of 1 to 2 labels, 25.0% missing)"
    )
    assert "missing" not in repr(Ensemble.from_labels(ROWS))


def test_all_missing_is_an_ensemble():
    ensemble = Ensemble.from_labels([[None, ""], ["NA", float("nan")]])
    assert ensemble.sizes == (0, 0) and ensemble.missing_share == 1 and ensemble.classes == ((), ())
    assert ensemble.labels.tolist() == [[-1, -1], [-1, -1]]


@steady
@given(hnp.arrays("i8", st.tuples(st.integers(1, 15), st.integers(1, 4)), elements=st.integers(-1, 3)), st.data())
def test_fingerprint_ignores_names_and_nothing_else(table, data):
    ensemble = Ensemble.from_labels(table, missing=-1, transpose=False)
    renamed = [[None if x == -1 else f"label {7 * x % 5}" for x in row] for row in table.tolist()]
    names = [f"n{j}" for j in range(table.shape[1])]
    twin = Ensemble.from_labels(renamed, names, ids=[f"id{i}" for i in range(len(table))], transpose=False)
    assert twin.fingerprint == ensemble.fingerprint
    i, j = data.draw(st.integers(0, table.shape[0] - 1)), data.draw(st.integers(0, table.shape[1] - 1))
    changed = table.copy()
    changed[i, j] = 9
    other = Ensemble.from_labels(changed, missing=-1, transpose=False)
    same = slow_table(changed.tolist(), [-1])[0] == slow_table(table.tolist(), [-1])[0]
    assert (other.fingerprint == ensemble.fingerprint) == same
    weighted = Ensemble.from_labels(table, missing=-1, transpose=False, weights=np.arange(table.shape[1]) + 2)
    assert weighted.fingerprint != ensemble.fingerprint
    assert ensemble.with_counts(np.arange(len(table)) + 2).fingerprint != ensemble.fingerprint


def test_fingerprint_is_equal_for_equal_partitions_weights_and_counts():
    """As its description says: parts of a table and counts of 1 are no exception."""
    ensemble = Ensemble.from_labels([[0, 0], [1, 0], [1, 1], [2, 1]])
    assert ensemble.with_counts([1, 1, 1, 1]).fingerprint == ensemble.fingerprint
    part = ensemble.rows([3, 1, 0])
    assert part.fingerprint == Ensemble.from_labels(part.labels).fingerprint


@steady
@given(st.lists(st.integers(0, 3), min_size=2, max_size=30))
def test_orientation_is_guessed_only_far_from_square(column):
    wide = np.tile(np.array(column)[:, None], (1, 3 * len(column)))
    if wide.shape[1] >= 20:
        with pytest.raises(TableError, match="transpose=True if the clusterings are in rows"):
            Ensemble.from_labels(wide)
        with pytest.raises(TableError, match="transposed"):
            Ensemble.from_labels(wide.tolist())
    else:
        assert len(Ensemble.from_labels(wide)) == len(column)
    assert len(Ensemble.from_labels(wide, transpose=False)) == len(column)
    assert len(Ensemble.from_labels(wide, transpose=True)) == 3 * len(column)
    assert len(Ensemble.from_labels(wide[:, : 3 * len(column) - 1])) == len(column)


def test_transposing_is_transposing():
    rows = [["a", None, 2], [True, 2.0, "NA"]]
    for table in (rows, np.array(rows, dtype=object), {"x": rows[0], "y": rows[1]}):
        turned = list(rows) if isinstance(table, dict) else [list(row) for row in zip(*rows, strict=True)]
        ensemble = Ensemble.from_labels(table, transpose=True)
        assert ensemble.labels.tolist() == slow_table(turned)[0]
    for dtype in ("i8", "f4", "U3", ">i4", "M8[D]"):
        array = np.arange(6).reshape(2, 3).astype(dtype)
        assert np.array_equal(Ensemble.from_labels(array, transpose=True).labels, Ensemble.from_labels(array.T).labels)
    masked = np.ma.masked_array([[1, 2], [3, 4]], mask=[[0, 1], [0, 0]])
    assert Ensemble.from_labels(masked, transpose=True).labels.tolist() == [[0, 0], [-1, 1]]
    assert Ensemble.from_labels([[1, 2, 3], [4, 5, 6]], ["u", "v"], transpose=True).names == ("u", "v")
