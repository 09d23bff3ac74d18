"""Ensemble.from_labels: every kind of label value, held against a plain Python count."""

import datetime as dt
import decimal
import enum
import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from partita import Ensemble
from partita.core.errors import LabelError, TableError
from tests.core.oracles import slow_table, smallest, steady

INTEGERS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]
DAY, NOON = dt.date(2020, 1, 2), dt.datetime(2020, 1, 2, 12)


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


VALUES = {
    "small integers": st.integers(-3, 5),
    "any integers": st.integers(-(2**70), 2**70),
    "integers near the ends": st.sampled_from([-(2**63), -(2**63) + 1, 0, 2**63 - 1, 2**63, 2**64 - 1]),
    "strings": st.text(max_size=3),
    "blanks and words": st.sampled_from(["", " ", "NA", " NA ", "N/A", "nan", "null", "None", "none", "na", "x", "0"]),
    "booleans": st.booleans(),
    "whole floats": st.sampled_from([0.0, -0.0, 1.0, -7.0, 2.0**52, float("nan")]),
    "dates": st.dates(),
    "datetimes": st.datetimes(),
    "bytes": st.binary(max_size=2),
    "members": st.sampled_from(Colour),
    "decimals": st.sampled_from([decimal.Decimal("1"), decimal.Decimal("2.5"), decimal.Decimal("-3")]),
    "one kind after another": st.sampled_from(
        [0, 1, "0", "1", True, False, 2.0, 2, "True", DAY, None, float("nan"), "NA"]
    ),
}


def check(ensemble, rows, missing=()):
    labels, classes = slow_table(rows, missing)
    assert ensemble.labels.tolist() == labels
    assert ensemble.classes == classes
    assert [[type(value) is bool for value in column] for column in ensemble.classes] == [
        [type(value) is bool for value in column] for column in classes
    ]
    assert ensemble.sizes == tuple(len(column) for column in classes)
    assert ensemble.labels.dtype == smallest(max(ensemble.sizes, default=0))


@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES)
def test_nested_lists_are_coded_by_first_appearance(values):
    cells = st.one_of(values, values, values, st.none())

    @steady
    @given(
        st.integers(1, 4).flatmap(lambda r: st.lists(st.lists(cells, min_size=r, max_size=r), min_size=1, max_size=12))
    )
    def holds(rows):
        check(Ensemble.from_labels(rows, missing=(), transpose=False), rows)
        array = np.empty((len(rows), len(rows[0])), dtype=object)
        for i, row in enumerate(rows):
            for j, cell in enumerate(row):
                array[i, j] = cell
        check(Ensemble.from_labels(array, missing=(), transpose=False), rows)

    holds()


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integer_arrays_of_every_type(dtype):
    limits = np.iinfo(dtype)

    @steady
    @given(hnp.arrays(dtype, st.tuples(st.integers(1, 30), st.integers(1, 4))))
    def holds(table):
        check(Ensemble.from_labels(table, missing=(), transpose=False), table.tolist())

    holds()
    ends = np.array([[limits.min, limits.max], [limits.max, limits.min], [limits.min, 0]], dtype=dtype)
    check(Ensemble.from_labels(ends, missing=()), ends.tolist())


@pytest.mark.parametrize("dtype", [">i2", ">i4", ">i8", ">u2", ">u8", ">f8", "<i4"])
def test_byte_order_is_irrelevant(dtype):
    table = np.array([[3, 2], [1, 2], [3, 500]])
    check(Ensemble.from_labels(table.astype(dtype)), table.tolist())


def labels_in_a_process_of_its_own(table):
    """The labels of a table of which the making may end the interpreter."""
    made = f"Ensemble.from_labels({table}, allow='constant-column')"
    code = f"import numpy as np; from partita import Ensemble; print({made}.labels.tolist())"
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-500:] or f"the interpreter ended with {done.returncode}"
    return json.loads(done.stdout)


def test_spans_beyond_int64_do_not_corrupt_memory():
    a = 3 * 2**61
    labels = labels_in_a_process_of_its_own(f"np.array([[-{a}, 0], [{a}, 1], [-{a}, 0], [5, 1]])")
    assert labels == [[0, 0], [1, 1], [0, 0], [2, 1]]


@pytest.mark.parametrize("other", ["np.True_", "np.int8(3)", "np.float32(2)"])
@pytest.mark.parametrize(("date", "code"), [("np.datetime64('NaT', 's')", -1), ("np.datetime64('2020')", 0)])
def test_numpy_dates_beside_numpy_numbers_do_not_crash(date, code, other):
    """Arrow's inference ends the interpreter on such lists, so that they must not reach it."""
    assert labels_in_a_process_of_its_own(f"[[{date}, 1], [{other}, 2]]") == [[code, 0], [code + 1, 1]]


def test_wide_and_narrow_columns_agree():
    """Columns looked up in a table and columns that are sorted give the same codes."""
    rng = np.random.default_rng(0)
    narrow = rng.integers(0, 9, size=(200, 3))
    for factor in (1, 7, 10**6, 10**15):
        ensemble = Ensemble.from_labels(narrow * factor + 1)
        assert np.array_equal(ensemble.labels, Ensemble.from_labels(narrow).labels)
        assert all(value % factor == 1 % factor for column in ensemble.classes for value in column)


@pytest.mark.parametrize(("count", "dtype"), [(128, "i1"), (129, "i2"), (32768, "i2"), (32769, "i4")])
def test_smallest_type_at_its_edges(count, dtype):
    table = np.column_stack([np.arange(count), np.zeros(count, int)])
    ensemble = Ensemble.from_labels(table, allow="id-like-column")
    assert ensemble.labels.dtype == np.dtype(dtype) and ensemble.sizes == (count, 1)
    assert np.array_equal(ensemble.labels, table)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "g"])
def test_float_arrays_hold_whole_numbers_and_gaps(dtype):
    table = np.array([[1, np.nan], [-0.0, 3], [0.0, 3], [1, np.nan]], dtype=dtype)
    check(Ensemble.from_labels(table), [[1, None], [0, 3], [0, 3], [1, None]])


@pytest.mark.parametrize("bad", [0.5, float("inf"), -float("inf"), 1e-9, 2.0**53 + 2])
def test_other_floats_are_no_labels(bad):
    rows = [[1.0, 2.0], [3.0, bad]]
    tables = [rows, np.array(rows), np.array(rows, dtype=object), pd.DataFrame(rows), {"c0": [1, 3], "c1": [2, bad]}]
    for table in tables:
        with pytest.raises(LabelError, match=r"row 2"):
            Ensemble.from_labels(table)


@pytest.mark.parametrize("bad", [np.float32(0.5), np.longdouble(1.5), np.float16(0.25)])
def test_numpy_fractions_are_no_labels(bad):
    for table in ([[1, bad], [1, "x"]], [[1, bad], [1, bad]]):
        with pytest.raises(LabelError, match="row 1"):
            Ensemble.from_labels(table)


@pytest.mark.parametrize(
    "blank",
    [
        None,
        float("nan"),
        np.float32("nan"),
        pd.NA,
        pd.NaT,
        np.datetime64("NaT", "s"),
        "",
        " ",
        "NA",
        "N/A",
        "NaN",
        "nan",
        "null",
        "NULL",
        "None",
        "<NA>",
    ],
)
def test_every_blank_is_unobserved(blank):
    for other in ("x", 3, True):
        ensemble = Ensemble.from_labels([[blank, 1], [other, 2], [blank, 1], [other, 1]])
        assert ensemble.labels.tolist() == [[-1, 0], [0, 1], [-1, 0], [0, 0]]
        assert ensemble.classes == ((other,), (1, 2))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (1, "1"),
        (1, True),
        (0, False),
        (1.0, True),
        (True, "True"),
        ("a", b"a"),
        (b"a", "a"),
        (dt.date(2020, 1, 2), dt.datetime(2020, 1, 2, 5)),
        (dt.datetime(2020, 1, 2, 5), dt.date(2020, 1, 2)),
        (NOON, NOON.replace(tzinfo=dt.UTC)),
        (DAY, "2020-01-02"),
        (2**53, 2**53 + 1),
        (2**64, 2**64 + 1),
        ("a", "A"),
        ("a", "a "),
        (dt.timedelta(0), 0),
    ],
    ids=repr,
)
def test_different_labels_stay_different(first, second):
    column = [first, second, first, None]
    for table in ({"a": column, "b": [0, 0, 0, 0]}, [[value, 0] for value in column]):
        ensemble = Ensemble.from_labels(table)
        assert ensemble.labels[:, 0].tolist() == [0, 1, 0, -1]
        assert [type(value) for value in ensemble.classes[0]] == [
            int if isinstance(value, float) else type(value) for value in (first, second)
        ]


def test_whole_floats_and_integers_are_one_label():
    ensemble = Ensemble.from_labels([[1, "x"], [1.0, "y"], ["1", "x"], [2.0, "x"]])
    assert ensemble.labels[:, 0].tolist() == [0, 0, 1, 2] and ensemble.classes[0] == (1, "1", 2)


@pytest.mark.parametrize("unit", ["Y", "M", "D", "h", "s", "ms", "us", "ns"])
def test_numpy_dates(unit):
    table = np.array([["2020", "NaT"], ["2021", "1969"], ["2020", "1969"]], dtype=f"M8[{unit}]")
    ensemble = Ensemble.from_labels(table)
    assert ensemble.labels.tolist() == [[0, -1], [1, 0], [0, 0]]
    spans = table - np.datetime64("1960", unit)
    assert Ensemble.from_labels(spans).labels.tolist() == ensemble.labels.tolist()


def test_dates_far_away():
    table = np.array([["20000-01-01", "2000-01-01"], ["-0300-01-01", "2000-01-01"]], dtype="M8[D]")
    assert Ensemble.from_labels(table).labels.tolist() == [[0, 0], [1, 0]]


@pytest.mark.parametrize("cell", [[1, 2], {"a": 1}, {1, 2}, np.array([1, 2]), np.zeros((1, 1, 2)), pd.Series([1, 2])])
def test_a_cell_holds_one_label(cell):
    """Whatever else stands in the column: a cell that holds several values is an error, never a gap."""
    for other in ("x", 1, cell):
        with pytest.raises(LabelError, match="c0"):
            Ensemble.from_labels([[cell, 1], [other, 2]])


def test_minus_one_must_be_declared():
    for table in (
        np.array([[0, 1], [-1, 1]]),
        [[0, 1], [-1, 1]],
        [[0, "a"], [-1, "b"]],
        np.array([[0.0, 1], [-1, np.nan]]),
        np.array([[0, 2**40], [-1, 1]]),
    ):
        with pytest.raises(LabelError, match=r"column 'c0', row 2: -1 may be .*missing=-1.*missing=\(\)"):
            Ensemble.from_labels(table)
        assert Ensemble.from_labels(table, missing=-1).labels[:, 0].tolist() == [0, -1]
        assert Ensemble.from_labels(table, missing=()).classes[0] == (0, -1)
        assert Ensemble.from_labels(table, missing=-1.0).labels[:, 0].tolist() == [0, -1]
        assert Ensemble.from_labels(table, missing=np.array([-1, 9])).labels[:, 0].tolist() == [0, -1]
    assert Ensemble.from_labels([["-1", 0], ["a", 0]]).classes[0] == ("-1", "a")
    assert Ensemble.from_labels([["-1", 0], ["a", 0]], missing=-1).classes[0] == ("a",)
    assert Ensemble.from_labels([[True, 0], [False, 0]], missing=(-1, 1)).classes[0] == (True, False)


@pytest.mark.parametrize(
    "missing", [float("nan"), np.nan, None, pd.NA, "", float("inf"), 10**30, 2**63, 1e300, -(2**63)]
)
def test_values_that_cannot_occur_may_be_declared_missing(missing):
    """NaN is a natural thing to declare; it must not break an integer table, nor must a number beyond its range."""
    assert Ensemble.from_labels([[1, 2], [3, 4]], missing=missing).labels.tolist() == [[0, 0], [1, 1]]
    assert Ensemble.from_labels([[1, "a"], [3, "b"]], missing=[missing, 3]).labels.tolist() == [[0, 0], [-1, 1]]


def test_declared_missing_values_keep_their_kind():
    assert Ensemble.from_labels([[1, "x"], [True, "y"]], missing=True).labels[:, 0].tolist() == [0, -1]
    assert Ensemble.from_labels([[1, "x"], [True, "y"]], missing=1).labels[:, 0].tolist() == [-1, 0]
    assert Ensemble.from_labels([[1, 0], [0, 1]], missing=True).labels.tolist() == [[0, 0], [1, 1]]
    assert Ensemble.from_labels([["x", 1], ["?", 2]], missing="?").labels.tolist() == [[0, 0], [-1, 1]]
    assert Ensemble.from_labels([["x", 1], ["?", 2]], missing=["?", 2]).labels.tolist() == [[0, 0], [-1, -1]]


@pytest.mark.parametrize("missing", [{"a": 1}, [[1, 2]], np.array([[1, 2]]), [{1}], object()])
def test_nonsense_as_missing_is_refused_or_ignored(missing):
    try:
        ensemble = Ensemble.from_labels([[1, 2], [3, 4]], missing=missing)
    except (TableError, ValueError) as error:
        assert "missing" in str(error)
    else:
        assert ensemble.labels.tolist() == [[0, 0], [1, 1]]
