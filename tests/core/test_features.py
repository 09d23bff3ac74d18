"""Features in: any table of numbers, and a plain word for anything else."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

from partita.core import features
from partita.core.errors import TableError
from partita.core.features import as_features

ROWS = [[1.0, 2.0], [3.0, 4.5], [5.0, 6.0]]
COLUMNS = {"a": [1.0, 3.0, 5.0], "b": [2.0, 4.5, 6.0]}
KINDS: dict[str, Callable[[], object]] = {
    "array": lambda: np.array(ROWS),
    "float32": lambda: np.array(ROWS, np.float32),
    "fortran": lambda: np.asfortranarray(ROWS),
    "objects": lambda: np.array(ROWS, dtype=object),
    "lists": lambda: ROWS,
    "mapping": lambda: COLUMNS,
    "pandas": lambda: pd.DataFrame(COLUMNS),
    "nullable": lambda: pd.DataFrame(COLUMNS).convert_dtypes(),
    "polars": lambda: pl.DataFrame(COLUMNS),
    "arrow": lambda: pa.table(COLUMNS),
    "masked": lambda: np.ma.array(ROWS),
    "sparse": lambda: sp.csr_array(np.array(ROWS)),
}


@pytest.mark.parametrize("kind", KINDS)
def test_any_table_of_numbers(kind):
    found = as_features(KINDS[kind]())
    assert found.matrix.dtype == np.float64 and found.matrix.tolist() == ROWS
    assert found.matrix.flags.c_contiguous and not found.matrix.flags.writeable
    assert len(found) == 3 and found.names == (("a", "b") if "a" in found.names else ("f0", "f1"))
    assert found.fingerprint == as_features(ROWS).fingerprint and as_features(found) is found


def test_the_given_array_stays_writeable():
    X = np.array(ROWS)
    as_features(X)
    X[0, 0] = 7.0


def test_index_is_ids():
    assert as_features(pd.DataFrame(COLUMNS, index=list("xyz"))).ids.tolist() == ["x", "y", "z"]
    assert as_features(pd.DataFrame(COLUMNS)).ids is None


def test_whole_numbers_and_booleans():
    assert as_features([[1, True], [0, False]]).matrix.tolist() == [[1, 1], [0, 0]]
    assert as_features(pd.DataFrame({"a": [True, False]})).matrix.tolist() == [[1], [0]]


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ([[1.0, 2.0], [3.0, np.nan]], "column 'f1', row 2: nan is not a finite number"),
        ([[np.inf, 2.0]], "column 'f0', row 1: inf is not"),
        ([[1.0, None]], "column 'f1', row 1: nan is not"),
        (np.ma.array(ROWS, mask=[[0, 0], [0, 1], [0, 0]]), "column 'f1', row 2: nan"),
        (
            pd.DataFrame({"x": [1, 2], "kind": ["a", "b"]}),
            r"column 'kind', row 1: 'a' is not .*drop the column, or turn it",
        ),
        (pl.DataFrame({"x": [1, None]}), "column 'x', row 2: nan"),
        ([["a", "b"]], "column 'f0', row 1: 'a' is not a number"),
        ([[1, "2"]], "is not a number"),
        ({"a": [1, 2], "b": [1]}, "different lengths"),
        ([[1], [1, 2]], "different lengths"),
        ([1.0, 2.0], r"shape \(2,\) is no table; .*reshape\(-1, 1\)"),
        (np.zeros((2, 2, 2)), "two dimensions"),
        (np.zeros((0, 3)), "the table is empty"),
        (np.zeros((3, 0)), "the table is empty"),
        ({}, "the table is empty"),
        (np.zeros((2, 2), complex), "is not a number"),
        (7, r"shape \(\) is no table"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "same name"),
        (pd.DataFrame({"when": pd.to_datetime(["2024-05-01"])}), "column 'when', row 1"),
    ],
)
def test_what_is_refused(table, told):
    with pytest.raises(TableError, match=told):
        as_features(table)


def test_large_sparse_matrix(monkeypatch):
    monkeypatch.setattr(features, "MOST_DENSE", 5)
    with pytest.raises(TableError, match=r"would take .* GiB .*TruncatedSVD"):
        as_features(sp.csr_matrix(np.array(ROWS)))


def test_annotated_data():
    anndata = pytest.importorskip("anndata")
    with pytest.raises(TableError, match=r"give adata\.X"):
        as_features(anndata.AnnData(np.array(ROWS, np.float32)))
