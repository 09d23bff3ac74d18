"""Ensemble.from_labels: pandas, polars, Arrow, and objects that speak only a protocol."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from partita import Ensemble
from partita.core.errors import LabelError, PartitaError, TableError

A, B, C = [3, 1, 3], ["x", None, "y"], [True, False, None]
CODES = [[0, 0, 0], [1, -1, 1], [0, 1, -1]]
CLASSES = ((3, 1), ("x", "y"), (True, False))
COLUMNS = {"a": A, "b": B, "c": C}


class StreamOnly:
    """Nothing but the Arrow stream protocol."""

    def __init__(self, data):
        self.data = data

    def __arrow_c_stream__(self, requested_schema=None):
        return self.data.__arrow_c_stream__(requested_schema)


class InterchangeOnly:
    """Nothing but the dataframe interchange protocol."""

    def __init__(self, data):
        self.data = data

    def __dataframe__(self, *args, **options):
        return self.data.__dataframe__(*args, **options)


FRAMES = {
    "pandas": pd.DataFrame(COLUMNS),
    "pandas objects": pd.DataFrame(COLUMNS, dtype=object),
    "pandas nullable": pd.DataFrame(
        {"a": pd.array(A, "Int64"), "b": pd.array(B, "string"), "c": pd.array(C, "boolean")}
    ),
    "pandas floats": pd.DataFrame({"a": pd.array(A, "Float64"), "b": B, "c": C}),
    "pandas on Arrow": pd.DataFrame(
        {"a": pd.array(A, "int8[pyarrow]"), "b": pd.array(B, "string[pyarrow]"), "c": pd.array(C, "bool[pyarrow]")}
    ),
    "pandas categories": pd.DataFrame(
        {
            "a": pd.Categorical(A, categories=[9, 1, 3, 7]),
            "b": pd.Categorical(B, categories=["y", "unused", "x"], ordered=True),
            "c": pd.Categorical(C),
        }
    ),
    "polars": pl.DataFrame(COLUMNS),
    "polars categories": pl.DataFrame(
        {
            "a": A,
            "b": pl.Series(B, dtype=pl.Categorical),
            "c": C,
        }
    ),
    "polars enum": pl.DataFrame({"a": A, "b": pl.Series(B, dtype=pl.Enum(["y", "unused", "x"])), "c": C}),
    "polars chunks": pl.concat([pl.DataFrame(COLUMNS)[:1], pl.DataFrame(COLUMNS)[1:]], rechunk=False),
    "Arrow": pa.table(COLUMNS),
    "Arrow batch": pa.record_batch(COLUMNS),
    "Arrow chunks": pa.concat_tables([pa.table(COLUMNS)[:1], pa.table(COLUMNS)[1:]]),
    "Arrow dictionaries": pa.table(
        {"a": pa.array(A).dictionary_encode(), "b": pa.array(B).dictionary_encode(), "c": C}
    ),
    "Arrow dictionary chunks": pa.table(
        {
            "a": A,
            "b": pa.chunked_array([pa.array(["x", None]).dictionary_encode(), pa.array(["y"]).dictionary_encode()]),
            "c": C,
        }
    ),
    "Arrow large": pa.table({"a": pa.array(A, pa.uint64()), "b": pa.array(B, pa.large_string()), "c": C}),
    "Arrow views": pa.table({"a": pa.array(A, pa.uint8()), "b": pa.array(B, pa.string_view()), "c": C}),
    "stream only, Arrow": StreamOnly(pa.table(COLUMNS)),
    "stream only, polars": StreamOnly(pl.DataFrame(COLUMNS)),
    "interchange only, Arrow": InterchangeOnly(pa.table(COLUMNS)),
    "interchange only, pandas": InterchangeOnly(
        pd.DataFrame({"a": A, "b": pd.Categorical(B), "c": pd.array(C, "boolean")})
    ),
    "mapping of series": {"a": pd.Series(A), "b": pl.Series(B), "c": pa.array(C)},
    "mapping of categories": {"a": pd.Series(A, dtype="category"), "b": pd.Categorical(B), "c": pa.chunked_array([C])},
}


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_frames(frame):
    ensemble = Ensemble.from_labels(frame)
    assert ensemble.labels.tolist() == CODES
    assert ensemble.classes == CLASSES and [type(v) for c in ensemble.classes for v in c] == [
        int,
        int,
        str,
        str,
        bool,
        bool,
    ]
    assert ensemble.names == ("a", "b", "c") and ensemble.sizes == (2, 2, 2) and ensemble.ids is None


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_frames_transposed(frame):
    ensemble = Ensemble.from_labels(frame, transpose=True)
    assert ensemble.labels.tolist() == [[0, 0, 0], [1, -1, 1], [2, 1, -1]]


def test_a_pandas_index_is_the_ids():
    for index in (["x", "y", "z"], [5, 6, 9], pd.date_range("2020", periods=3), pd.CategoricalIndex(["x", "y", "z"])):
        ensemble = Ensemble.from_labels(pd.DataFrame(COLUMNS, index=index))
        assert ensemble.ids.tolist() == list(pd.Index(index).tolist()) and ensemble.labels.tolist() == CODES
    part = pd.DataFrame(COLUMNS)[[True, False, True]]
    assert Ensemble.from_labels(part).ids.tolist() == [0, 2]
    given = Ensemble.from_labels(pd.DataFrame(COLUMNS, index=["x", "y", "z"]), ids=[1, 2, 3])
    assert given.ids.tolist() == [1, 2, 3]


def test_a_pandas_index_of_pairs_is_the_ids():
    index = pd.MultiIndex.from_tuples([("p", 1), ("p", 2), ("q", 1)])
    assert Ensemble.from_labels(pd.DataFrame(COLUMNS, index=index)).ids.tolist() == index.tolist()


def test_bad_pandas_index():
    with pytest.raises(TableError, match="'x' stands in rows 1 and 3"):
        Ensemble.from_labels(pd.DataFrame(COLUMNS, index=["x", "y", "x"]))
    with pytest.raises(TableError, match="row 2 has no id"):
        Ensemble.from_labels(pd.DataFrame(COLUMNS, index=["x", None, "y"]))


def test_pandas_column_names_of_any_kind():
    frame = pd.DataFrame([[1, 2], [3, 2]], columns=pd.MultiIndex.from_tuples([("a", "b"), ("a", "c")]))
    ensemble = Ensemble.from_labels(frame)
    assert ensemble.labels.tolist() == [[0, 0], [1, 0]] and len(set(ensemble.names)) == 2
    assert Ensemble.from_labels(pd.DataFrame([[1, 2], [3, 2]], columns=[7, 8])).names == ("7", "8")
    assert Ensemble.from_labels(pd.DataFrame([[1, 2], [3, 2]])).names == ("0", "1")


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"]),
        pd.DataFrame([[1, 2], [3, 4]], columns=[1, "1"]),
        pa.table([[1, 2], [3, 4]], names=["a", "a"]),
        {1: [1, 2], "1": [3, 4]},
    ],
    ids=["pandas", "pandas text", "Arrow", "mapping"],
)
def test_a_name_must_not_appear_twice(frame):
    with pytest.raises(TableError, match="twice"):
        Ensemble.from_labels(frame)


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(pd.cut([1, 2, 3], 2)),
        pd.Series(pd.IntervalIndex.from_tuples([(0, 1), (0, 1), (1, 2)])),
        pd.Series(pd.PeriodIndex(["2020-01", "2020-01", "2020-02"], freq="M")),
        pd.Series(pd.Categorical(pd.PeriodIndex(["2020-01", "2020-01", "2020-02"], freq="M"))),
        pd.Series(pd.to_datetime(["2020-01-01", "2020-01-01", "2020-01-02"])).dt.tz_localize("Europe/Berlin"),
        pd.Series([dt.date(2020, 1, 1), dt.date(2020, 1, 1), dt.date(2020, 1, 2)]),
        pd.Series(pd.to_timedelta([1, 1, 2], unit="D")),
        pd.Series(pd.arrays.SparseArray([4, 4, 0])),
        pd.Series(pd.Categorical([1.0, 1.0, 2.0])),
        pd.Series(["b", "b", "a"], dtype="string[pyarrow]").astype("category"),
    ],
    ids=lambda column: str(column.dtype)[:30],
)
def test_pandas_columns_of_every_kind(column):
    for table in (pd.DataFrame({"a": column, "b": [1, 2, 3]}), {"a": column, "b": [1, 2, 3]}):
        ensemble = Ensemble.from_labels(table)
        assert ensemble.labels.tolist() == [[0, 0], [0, 1], [1, 2]]
        assert len(ensemble.classes[0]) == 2 and len(set(ensemble.classes[0])) == 2


def test_categories_are_the_labels():
    """Also where they are intervals, periods, whole floats or hold blanks; unused ones do not count."""
    cut = pd.Series(pd.cut([1, 2, 9], [0, 3, 6, 10]))
    assert Ensemble.from_labels(pd.DataFrame({"a": cut, "b": [1, 1, 1]})).labels[:, 0].tolist() == [0, 0, 1]
    floats = pd.Categorical([2.0, 1.0, None], categories=[1.0, 2.0, 0.5])
    assert Ensemble.from_labels({"a": floats, "b": [1, 1, 1]}).classes[0] == (2, 1)
    with pytest.raises(LabelError, match=r"column 'a', row 3: 0\.5"):
        Ensemble.from_labels({"a": pd.Categorical([2.0, 1.0, 0.5]), "b": [1, 1, 1]})
    blanks = pd.Categorical(["NA", "x", ""], categories=["", "NA", "x"])
    assert Ensemble.from_labels({"a": blanks, "b": [1, 1, 1]}).labels[:, 0].tolist() == [-1, 0, -1]
    minus = pd.DataFrame({"a": pd.Categorical([0, -1, 0]), "b": [1, 1, 1]})
    with pytest.raises(LabelError, match="column 'a', row 2: -1"):
        Ensemble.from_labels(minus)
    assert Ensemble.from_labels(minus, missing=-1).labels[:, 0].tolist() == [0, -1, 0]


def test_dictionaries_with_repeated_or_empty_entries():
    repeated = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, None]), pa.array(["x", "y", "x"]))
    empty = pa.DictionaryArray.from_arrays(pa.array([0, 1, 1, 0]), pa.array([None, "y"]))
    ensemble = Ensemble.from_labels(pa.table({"a": repeated, "b": empty}))
    assert ensemble.labels.tolist() == [[0, -1], [1, 0], [0, 0], [-1, -1]]


@pytest.mark.parametrize(
    "frame",
    [
        pd.Series([1, 2, 3]),
        pl.Series([1, 2, 3]),
        pa.chunked_array([[1, 2, 3]]),
        pa.array([1, 2, 3]),
        StreamOnly(pa.chunked_array([[1, 2]])),
        pl.LazyFrame({"a": [1, 2]}),
        pd.DataFrame(),
        pd.DataFrame({"a": []}),
        pd.DataFrame(index=[1, 2]),
        pl.DataFrame(),
        pl.DataFrame({"a": []}),
        pa.table({}),
        pl.DataFrame({"a": [[1], [2]], "b": [1, 2]}),
        pl.DataFrame({"a": [{"q": 1}, {"q": 2}], "b": [1, 2]}),
        pl.DataFrame({"a": pl.Series([object(), object()], dtype=pl.Object), "b": [1, 2]}),
        pl.DataFrame({"a": [0.5, 1.0], "b": [1, 2]}),
        pa.table({"a": pa.array([[1], [2]]), "b": [1, 2]}),
        pa.table({"a": pa.array([0.5, 1], pa.float32()), "b": [1, 2]}),
    ],
    ids=lambda frame: type(frame).__module__.split(".")[0] + type(frame).__name__,
)
def test_frames_that_are_no_label_tables(frame):
    with pytest.raises(PartitaError) as caught:
        Ensemble.from_labels(frame)
    assert "\n" not in str(caught.value)


def test_null_columns_and_half_floats():
    ensemble = Ensemble.from_labels(pa.table({"a": pa.nulls(2), "b": pa.array(np.array([1, 2], np.float16))}))
    assert ensemble.labels.tolist() == [[-1, 0], [-1, 1]] and ensemble.sizes == (0, 2)


def test_a_frame_turned_round_swaps_ids_and_names():
    frame = pd.DataFrame({"a": [1, 2], "b": [1, 3]}, index=["x", "y"])
    ensemble = Ensemble.from_labels(frame, transpose=True)
    assert ensemble.names == ("x", "y") and ensemble.ids.tolist() == ["a", "b"]
    assert ensemble.labels.tolist() == [[0, 0], [0, 1]]


def test_an_anndata_object_is_told_where_its_labels_are():
    class Lookalike:
        obs, obsm = None, None

    with pytest.raises(TableError, match=r"adata\.obs"):
        Ensemble.from_labels(Lookalike())
