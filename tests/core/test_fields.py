"""Names, ids and weights of an ensemble: what is kept, and what is refused."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from partita import Ensemble, SoftEnsemble
from partita.core.errors import PartitaError, TableError
from tests.core.oracles import steady

ROWS = [[3, 7], [1, 7], [3, 9]]
BLOCKS = [[[1, 0], [0, 1], [0.5, 0.5]], ["a", "b", None]]


def hard(**options):
    return Ensemble.from_labels(ROWS, **options)


def soft(**options):
    return SoftEnsemble.from_memberships(BLOCKS, **options)


both = pytest.mark.parametrize("build", [hard, soft])


@both
@pytest.mark.parametrize(
    "weights",
    [[1, 2], (1.0, 2.0), np.array([1, 2]), {"c1": 2}, {"c0": 1, "c1": 2.0}, pd.Series([1, 2]), pl.Series([1, 2])],
)
def test_weights(build, weights):
    assert build(weights=weights).weights.tolist() == [1, 2]
    assert build().weights.tolist() == [1, 1]


@both
@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ([1, -1], "'c1' is -1.0"),
        ([np.nan, 1], "'c0' is nan"),
        ([1, np.inf], "'c1' is inf"),
        ([1], r"shape \(1,\)"),
        ([1, 2, 3], r"shape \(3,\)"),
        (5, r"shape \(\)"),
        ([[1, 2]], r"shape \(1, 2\)"),
        ([0, 0], "every weight is 0"),
        ({"c0": 0, "c1": 0}, "every weight is 0"),
        ({"zz": 1}, "'zz', which is no clustering here; there are 'c0', 'c1'"),
        ({5: 1}, "5, which is no clustering"),
        ({"c0": -2}, "'c0' is -2.0"),
        (["a", 1], "not numbers"),
        ("ab", "not numbers"),
        ([None, object()], "not numbers"),
        ({1, 2}, "weight"),
        ([10**400, 1], "weight"),
        (np.array([1j, 1]), "weight"),
        ([[1], [1, 2]], "weight"),
    ],
)
def test_bad_weights(build, weights, words):
    with pytest.raises(TableError, match=words):
        build(weights=weights)


def test_weights_by_name_of_a_series():
    """A pandas Series labelled by the clusterings speaks by name, as a mapping does, or is refused."""
    table = {"a": [1, 2], "b": [1, 2]}
    try:
        weights = Ensemble.from_labels(table, weights=pd.Series({"b": 0.5, "a": 2.0})).weights.tolist()
    except TableError:
        return
    assert weights == [2.0, 0.5]


@both
@pytest.mark.parametrize(
    "ids",
    [
        ["x", "y", "z"],
        np.array(["x", "y", "z"]),
        pd.Series(["x", "y", "z"], index=[5, 6, 7]),
        pd.Index(["x", "y", "z"]),
        pl.Series(["x", "y", "z"]),
        pa.array(["x", "y", "z"]),
        pa.chunked_array([["x"], ["y", "z"]]),
        ("x", "y", "z"),
    ],
)
def test_ids(build, ids):
    ensemble = build(ids=ids)
    assert ensemble.ids.tolist() == ["x", "y", "z"] and not ensemble.ids.flags.writeable
    assert ensemble.rows([2, 0]).ids.tolist() == ["z", "x"]
    assert build().ids is None


@both
@pytest.mark.parametrize(
    ("ids", "words"),
    [
        (["x", "y"], "2 ids were given for 3 objects"),
        (["x", "y", "x"], "'x' stands in rows 1 and 3"),
        ([1, 2, 2], "2 stands in rows 2 and 3"),
        (["x", None, "z"], "row 2 has no id"),
        ([1.0, np.nan, 2.0], "row 2 has no id"),
        ([pd.NA, 1, 2], "row 1 has no id"),
        ([pd.NaT, 1, 2], "row 1 has no id"),
        (pa.array(["x", None, "z"]), "row 2 has no id"),
        (5, "id"),
        ([[1], [1, 2], [3]], "id"),
        ([{"a": 1}, {"a": 2}, {"a": 3}], "id"),
        ([["a"], ["b"], ["c"]], "id"),
    ],
)
def test_bad_ids(build, ids, words):
    with pytest.raises(TableError, match=words):
        build(ids=ids)


@both
def test_ids_stay_what_they_are(build):
    """Ids come out as they went in: 1 and "1" are two, a tuple is one, a number stays a number."""
    assert build(ids=[1, "1", 2.5]).ids.tolist() == [1, "1", 2.5]
    assert build(ids=[("a", 1), ("a", 2), ("b", 1)]).ids.tolist() == [("a", 1), ("a", 2), ("b", 1)]
    assert build(ids=[3, 1, 2]).ids.tolist() == [3, 1, 2]


def test_ids_by_the_name_of_a_column():
    for table in (
        {"key": ["x", "y"], "a": [1, 2], "b": [3, 3]},
        pl.DataFrame({"a": [1, 2], "key": ["x", "y"], "b": [3, 3]}),
        pa.table({"a": [1, 2], "b": [3, 3], "key": ["x", "y"]}),
        pd.DataFrame({"a": [1, 2], "b": [3, 3], "key": ["x", "y"]}),
    ):
        ensemble = Ensemble.from_labels(table, ids="key")
        assert ensemble.names == ("a", "b") and ensemble.ids.tolist() == ["x", "y"]
    assert Ensemble.from_labels([[1, 10], [1, 11]], ids="c1").ids.tolist() == [10, 11]
    with pytest.raises(TableError, match="no column is called 'zz'; there are 'c0', 'c1'"):
        hard(ids="zz")
    with pytest.raises(TableError, match="only column"):
        Ensemble.from_labels({"key": [1, 2]}, ids="key")


@both
def test_names(build):
    assert build(names=["u", "v"]).names == ("u", "v")
    assert build(names=(1, 2)).names == ("1", "2")
    assert build(names=np.array(["u", "v"])).names == ("u", "v")


@both
@pytest.mark.parametrize("names", [["u"], ["u", "v", "w"], ["u", "u"], [1, "1"], 5, []])
def test_bad_names(build, names):
    with pytest.raises(TableError, match="name"):
        build(names=names)


scraps = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=2), st.binary(max_size=2), st.just(pd.NA)
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.tuples(inner, inner), st.dictionaries(st.text(max_size=1), inner, max_size=2)
    ),
    max_leaves=5,
)


@pytest.mark.parametrize("field", ["weights", "ids", "names", "missing"])
@pytest.mark.parametrize("build", [hard, soft])
def test_any_field_is_taken_or_refused(build, field):
    @steady
    @given(scraps)
    def holds(value):
        try:
            ensemble = build(**{field: value})
        except PartitaError:
            return
        assert len(ensemble) == 3 and len(ensemble.weights) == len(ensemble.names)

    holds()
