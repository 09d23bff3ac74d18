"""One labelling from a file, and its join with the objects of an ensemble."""

import importlib.util

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.io import savemat

from partita.core.errors import FileError, PartitaError, TableError
from partita.io import Labelling, match, read_labels


@pytest.fixture
def file(tmp_path):
    def write(text, name="truth.csv"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


def found(path, **options):
    labelling = read_labels(path, **options)
    return labelling.name, labelling.values.tolist(), None if labelling.ids is None else labelling.ids.tolist()


@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        ("class\nx\ny\n", {}, ("class", ["x", "y"], None)),
        ("class\n3\n\n-1\n5\n\n", {}, ("class", [3, -1, -1, 5], None)),
        ("0\n0\n1\n", {}, ("c0", [0, 0, 1], None)),
        ("5\n5\n1\n", {}, ("c0", [5, 5, 1], None)),
        (",class\np,x\nq,\n", {}, ("class", ["x", None], ["p", "q"])),
        ("id,class\np,x\nq,y\n", {}, ("class", ["x", "y"], ["p", "q"])),
        ("cell,class\np,x\nq,y\n", {"ids": "cell"}, ("class", ["x", "y"], ["p", "q"])),
        ("cell,class,size\np,x,1\nq,y,2\n", {"ids": "cell", "column": "size"}, ("size", [1, 2], ["p", "q"])),
        ("cell,consensus,confidence\np,0,1\nq,-1,\n", {}, ("consensus", [0, -1], ["p", "q"])),
        ("consensus,confidence,consensus:0\n0,1,.5\n1,1,.5\n", {}, ("consensus", [0, 1], None)),
        ("id\n4\n4\n", {"column": "id"}, ("id", [4, 4], None)),
        ("a,b\n4,x\n4,y\n", {"column": "b"}, ("b", ["x", "y"], None)),
    ],
)
def test_text(file, text, options, expected):
    assert found(file(text), **options) == expected


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        ("a,b\n1,2\n", {}, "say which column is the labelling by column= (--column)"),
        ("a,b\n1,2\n", {"column": "c"}, "no column is called 'c'; there are 'a', 'b'"),
        ("a,b\n1,2\n", {"ids": "c"}, "no column is called 'c'"),
        ("a,b\n1,2\n1\n", {"column": "a"}, "line 3 has 1 cell, the header 2"),
        ("id,b\np,2\np,2\n", {}, "id 'p' stands in rows 1 and 2"),
        ("b\n0.5\n", {}, "'b', row 1: 0.5 is not a label"),
        ("1,2\n3,4\n", {}, "looks like data"),
    ],
)
def test_refusals(file, text, options, words):
    path = file(text)
    with pytest.raises(PartitaError) as caught:
        read_labels(path, **options)
    assert str(caught.value).startswith(f"{path}: ") and words in str(caught.value)


def test_typed_files(tmp_path):
    path = tmp_path / "truth.parquet"
    pq.write_table(pa.table({"cell": [7, 8], "class": ["x", None]}), path)
    assert found(path, ids="cell") == ("class", ["x", None], [7, 8])
    pd.DataFrame({"class": [1, 2]}, index=["p", "q"]).to_parquet(path)
    assert found(path) == ("class", [1, 2], ["p", "q"])


def test_array_files(tmp_path):
    path = tmp_path / "pool.mat"
    savemat(path, {"members": np.ones((3, 4)), "gt": np.array([[1], [1], [2]])})
    assert found(path) == ("gt", [1, 1, 2], None)
    with pytest.raises(FileError, match=r"\(3, 4\)"):
        read_labels(path, column="members")
    path = tmp_path / "pool.npz"
    np.savez(path, labels=np.ones((2, 4)), reference=np.array(["a", "b"]))
    assert found(path) == ("reference", ["a", "b"], None)
    np.savez(path, one=np.ones(2), two=np.ones(2))
    with pytest.raises(FileError, match="'one', 'two'"):
        read_labels(path)
    assert found(path, column="two") == ("two", [1, 1], None)
    path = tmp_path / "truth.npy"
    np.save(path, np.array([3, -1, 4]))
    assert found(path) == ("labels", [3, -1, 4], None)
    with pytest.raises(FileError, match="no ids"):
        read_labels(path, ids="cell")
    np.save(path, np.ones((3, 2)))
    with pytest.raises(FileError):
        read_labels(path)


@pytest.mark.skipif(importlib.util.find_spec("anndata") is None, reason="the extra 'anndata' is not installed")
def test_anndata(tmp_path):
    import anndata

    path = tmp_path / "cells.h5ad"
    frame = pd.DataFrame({"type": ["T", "B"], "batch": ["1", "2"]}, index=["p", "q"])
    anndata.AnnData(np.zeros((2, 1)), obs=frame).write_h5ad(path)
    assert found(path, column="type") == ("type", ["T", "B"], ["p", "q"])
    with pytest.raises(FileError, match="'type', 'batch'"):
        read_labels(path)


@pytest.mark.parametrize(
    "text",
    ["[]", "{", "{}", '{"objects": []}', '{"objects": {"consensus": [1, "a"]}}', '{"objects": {"consensus": []}}'],
)
def test_other_json(file, text):
    with pytest.raises(FileError, match=r"holds no objects|not a result"):
        read_labels(file(text, "result.json"))


def labelling(values, ids):
    return Labelling("class", np.array(values, dtype=object), None if ids is None else np.array(ids, dtype=object))


def test_match_by_id_against_a_dictionary():
    rng = np.random.default_rng(0)
    ids = [f"o{i}" for i in rng.permutation(200)]
    values = rng.integers(0, 5, 200).tolist()
    place = dict(zip(ids, values, strict=True))
    order = rng.permutation(ids)
    assert match(labelling(values, ids), order, 200).tolist() == [place[name] for name in order]


def test_match_compares_ids_as_text():
    assert match(labelling([5, 6], ["2", "1"]), np.array([1, 2]), 2).tolist() == [6, 5]


def test_match_by_position():
    assert match(labelling([5, 6], None), np.array(["a", "b"]), 2).tolist() == [5, 6]
    assert match(labelling([5, 6], ["a", "b"]), None, 2).tolist() == [5, 6]
    with pytest.raises(TableError, match="'class' has 2 labels for 3 objects"):
        match(labelling([5, 6], None), None, 3)


@pytest.mark.parametrize(
    ("ids", "words"),
    [
        (["a", "x", "y"], r"'class' has no label for object 'x' \(and 1 more\)"),
        (["a"], "'class' has a label for 'b', which is no object here"),
        (["a", "c"], "no label for object 'c'"),
    ],
)
def test_match_names_strangers(ids, words):
    with pytest.raises(TableError, match=words):
        match(labelling([5, 6], ["a", "b"]), ids, len(ids))
