"""Parquet, NPY, NPZ, MATLAB pools and AnnData files in."""

import importlib
import importlib.util
import io
import sys
import types

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.io import loadmat, savemat

from partita.core.ensemble import Ensemble
from partita.core.errors import CheckError, FileError, LabelError, MissingExtraError, PartitaError
from partita.core.soft import SoftEnsemble
from partita.io import ReadOptions, detect_format, read
from partita.io.matlab import matlab_arrays

needs_anndata = pytest.mark.skipif(
    importlib.util.find_spec("anndata") is None, reason="the extra 'anndata' is not installed"
)
needs_h5py = pytest.mark.skipif(importlib.util.find_spec("h5py") is None, reason="h5py is not installed")
LABELS = np.array([[1, 5], [1, 6], [2, 5]])


def same(one, other):
    assert type(one) is type(other)
    assert one.names == other.names and one.sizes == other.sizes and one.classes == other.classes
    left, right = (part.labels if isinstance(part, Ensemble) else part.matrix for part in (one, other))
    np.testing.assert_array_equal(left, right)
    assert (one.ids is None) == (other.ids is None)
    if one.ids is not None:
        assert one.ids.tolist() == other.ids.tolist()


DEFAULT = ReadOptions()


def refused(path, kind=FileError, options=DEFAULT):
    with pytest.raises(PartitaError) as caught:
        read(path, options)
    message = str(caught.value)
    assert type(caught.value) is kind, message
    assert message.startswith(f"{path}: ") and "\n" not in message
    return message


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("a/b.csv", "csv"),
        ("B.CSV.GZ", "csv"),
        ("x.tsv", "tsv"),
        ("x.parquet", "parquet"),
        ("x.h5ad", "h5ad"),
        ("x.json", "json"),
        (b"PAR1", "parquet"),
        (b"\x93NUMPY\x01", "npy"),
        (b"PK\x03\x04", "npz"),
        (b"\x89HDF\r\n\x1a\n", "h5ad"),
        (b"MATLAB 5.0 MAT-f", "mat"),
        (b"a,b\n", "csv"),
    ],
)
def test_detect_format(given, expected):
    assert detect_format(given) == expected


@pytest.mark.parametrize("name", ["x", "x.npy.gz", "x.xlsx", ".gz"])
def test_unknown_suffix(name):
    with pytest.raises(FileError, match=r"\.parquet"):
        detect_format(name)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "uint64", "float32", "float64", "U1", "S2", "bool"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_npy(tmp_path, dtype, order):
    path = tmp_path / "labels.npy"
    array = np.asarray(LABELS.astype(dtype), order=order)
    np.save(path, array)
    same(read(path), Ensemble.from_labels(array.astype(str) if dtype == "S2" else array))


def test_npy_options(tmp_path):
    path = tmp_path / "labels.npy"
    np.save(path, np.array([[1.0, np.nan, 3], [-1, 2, 3]]))
    assert "--missing=-1" in refused(path, LabelError)
    assert read(path, ReadOptions(missing=-1, exclude=("c2",))).labels.tolist() == [[0, -1], [-1, 0]]
    assert read(path, ReadOptions(missing=-1, ids="c0")).ids.tolist() == [1.0, -1.0]
    assert read(path, ReadOptions(missing=-1, transpose=True)).labels.shape == (3, 2)
    np.save(path, np.zeros((2, 40), int))
    assert "transpose=True" in refused(path, CheckError)
    np.save(path, np.column_stack([np.arange(25), np.zeros(25, int)]))
    assert "exclude=['c0']" in refused(path, CheckError)


@pytest.mark.parametrize("array", [np.zeros(3), np.zeros((2, 2, 2)), np.array(1), np.zeros((0, 2)), np.zeros((3, 0))])
def test_npy_of_another_shape(tmp_path, array):
    path = tmp_path / "labels.npy"
    np.save(path, array)
    assert str(array.shape) in refused(path)


def test_broken_npy(tmp_path):
    path = tmp_path / "labels.npy"
    np.save(path, np.array([[1, "a"], [None, 2]], dtype=object), allow_pickle=True)
    assert "pickled" in refused(path)
    np.save(path, LABELS)
    path.write_bytes(path.read_bytes()[:-3])
    assert "cut off or damaged" in refused(path)
    path.write_bytes(b"nonsense")
    assert "is not a npy file" in refused(path)
    path.write_bytes(b"")
    assert "empty" in refused(path)
    np.save(path, np.array([[0.5, 1.0], [1, 2]]))
    assert "row 1" in refused(path, LabelError)
    np.save(path, np.array([[1j, 1.0], [1, 2]]))
    assert "complex128" in refused(path)
    np.save(path, LABELS[:, :1])
    assert "one clustering is no ensemble" in refused(path)
    np.save(path, np.array([[b"\xff", b"a"]]))
    assert "UTF-8" in refused(path)
    wrong = tmp_path / "labels.csv"
    np.save(path, LABELS)
    path.rename(wrong)
    assert "holds npy data, not csv" in refused(wrong)


def test_npz(tmp_path):
    path = tmp_path / "pool.npz"
    expected = Ensemble.from_labels(LABELS)
    np.savez(path, labels=LABELS, reference=np.array([0, 0, 1]), other=np.zeros((2, 2)))
    same(read(path), expected)
    np.savez_compressed(path, anything=LABELS, reference=np.array([[0], [0], [1]]))
    same(read(path), expected)
    np.savez(path, one=LABELS, two=LABELS)
    assert "'one', 'two'" in refused(path) and "'labels'" in refused(path)
    np.savez(path, labels=np.zeros(3))
    assert "(3,)" in refused(path)
    np.savez(path, labels=np.array([[None, 1]], dtype=object))
    assert "pickled" in refused(path)
    np.savez(path)
    refused(path)


@pytest.mark.parametrize("compress", [True, False])
@pytest.mark.parametrize("version", ["5", "4"])
def test_matlab_pool(tmp_path, compress, version):
    path = tmp_path / "pool.mat"
    extra = {"do_compression": compress} if version == "5" else {}
    savemat(path, {"members": LABELS.astype(float), "gt": np.array([[1], [1], [2]])}, format=version, **extra)
    same(read(path), Ensemble.from_labels(LABELS))


def test_matlab_against_scipy(tmp_path):
    path = tmp_path / "pool.mat"
    rng = np.random.default_rng(0)
    for kind in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"):
        for compress in (True, False):
            labels = rng.integers(0, 9, (7, 3)).astype(kind)
            rest = {
                "s": {"x": 1},
                "text": "words",
                "c": np.array([1, "a"], dtype=object),
                "none": np.zeros((0, 0)),
                "z": 1j,
            }
            savemat(path, {**rest, "members": labels, "one": 3.0}, do_compression=compress)
            found, expected = matlab_arrays(memoryview(path.read_bytes())), loadmat(path)
            assert found["members"].dtype == expected["members"].dtype
            np.testing.assert_array_equal(found["members"], expected["members"])
            assert found["one"].tolist() == [[3.0]] and found["s"].dtype == object and found["none"].size == 0
            same(read(path), Ensemble.from_labels(labels))


def test_broken_matlab(tmp_path, monkeypatch):
    path = tmp_path / "pool.mat"
    savemat(path, {"labels": LABELS, "gt": np.array([1, 2, 3])})
    message = refused(path)
    assert "'members'" in message and "'labels', 'gt'" in message
    savemat(path, {"members": np.array([["a", 1], [2, 3]], dtype=object)})
    assert "array of object" in refused(path)
    savemat(path, {"members": LABELS})
    path.write_bytes(path.read_bytes()[:150])
    assert "damaged" in refused(path)
    path.write_bytes(b"MATLAB 7.3 MAT-file, Platform" + b" " * 500)
    monkeypatch.setitem(sys.modules, "h5py", None)
    assert "-v7" in refused(path)


@needs_h5py
def test_matlab_73(tmp_path):
    import h5py

    path = tmp_path / "pool.mat"
    with h5py.File(path, "w", userblock_size=512) as file:
        file["members"] = LABELS.T.astype(float)
        file["gt"] = np.array([[1, 1, 2]], float)
    with path.open("r+b") as raw:
        raw.write(b"MATLAB 7.3 MAT-file")
    same(read(path), Ensemble.from_labels(LABELS))
    path.write_bytes(path.read_bytes()[:700])
    refused(path)


def table():
    return pa.table(
        {
            "cell": ["p", "q", "r"],
            "a": pa.array([1, None, 2], pa.int16()),
            "b": ["x", None, "y"],
            "c": pa.array(["u", "v", "u"]).dictionary_encode(),
            "d": [True, False, None],
            "e": [1.0, float("nan"), 3.0],
        }
    )


def test_parquet(tmp_path):
    path = tmp_path / "labels.parquet"
    pq.write_table(table(), path)
    columns = {
        "a": [1, None, 2],
        "b": ["x", None, "y"],
        "c": ["u", "v", "u"],
        "d": [True, False, None],
        "e": [1, None, 3],
    }
    same(read(path, ReadOptions(ids="cell")), Ensemble.from_labels(columns, ids=["p", "q", "r"]))
    picked = read(path, ReadOptions(ids="cell", columns=("[ab]",)))
    same(picked, Ensemble.from_labels({"a": columns["a"], "b": columns["b"]}, ids=["p", "q", "r"]))
    assert "'a', 'b'" in refused(path, options=ReadOptions(ids="none"))
    assert "one clustering" in refused(path, options=ReadOptions(columns=("a",)))


def test_parquet_of_integers(tmp_path):
    path = tmp_path / "labels.parquet"
    pq.write_table(pa.table({"a": [1, None, -1], "b": pa.array([1, 2, 2], pa.int8())}), path, row_group_size=2)
    assert "column 'a', row 3" in refused(path, LabelError)
    same(read(path, ReadOptions(missing=-1)), Ensemble.from_labels({"a": [1, None, None], "b": [1, 2, 2]}))
    unsigned = pa.table({"a": pa.array([2**64 - 1, 5], pa.uint64()), "b": pa.array([1, 2], pa.uint8())})
    pq.write_table(unsigned, path)
    assert read(path).classes == ((2**64 - 1, 5), (1, 2))


def test_parquet_from_pandas(tmp_path):
    path = tmp_path / "labels.parquet"
    frame = pd.DataFrame({"a": [1, 1], "b": ["x", "y"]}, index=["p", "q"])
    frame.to_parquet(path)
    same(read(path), Ensemble.from_labels(frame))
    frame.rename_axis("cell").to_parquet(path)
    same(read(path), Ensemble.from_labels(frame))
    frame.reset_index(drop=True).to_parquet(path)
    assert read(path).ids is None


def test_parquet_memberships(tmp_path):
    path = tmp_path / "labels.parquet"
    pq.write_table(pa.table({"h": [5, 6], "g:1": [0.25, None], "g:0": [0.75, None]}), path)
    expected = {"h": [5, 6], "g": [[0.75, 0.25], [np.nan, np.nan]]}
    same(read(path), SoftEnsemble.from_memberships(expected))
    pq.write_table(pa.table({"h": [5, 6], "g:1": [0, 1], "g:0": ["1", "z"]}), path)
    assert "column 'g:0', row 2: 'z'" in refused(path, LabelError)


def test_parquet_transposed(tmp_path):
    path = tmp_path / "labels.parquet"
    pq.write_table(pa.table({"name": ["a", "b"], "p": ["x", "u"], "q": ["y", "u"]}), path)
    expected = Ensemble.from_labels({"a": ["x", "y"], "b": ["u", "u"]}, ids=["p", "q"])
    same(read(path, ReadOptions(ids="name", transpose=True)), expected)


@pytest.mark.parametrize(
    "column",
    [
        pa.array([[1], [2]]),
        pa.array([{"x": 1}, {"x": 2}]),
        pa.array([0.5, 1.0]),
        pa.array([1.5, 2]).cast(pa.decimal128(5, 2)),
    ],
)
def test_parquet_columns_without_labels(tmp_path, column):
    path = tmp_path / "labels.parquet"
    pq.write_table(pa.table({"a": column, "b": [1, 2]}), path)
    assert "'a'" in refused(path, LabelError)


def test_broken_parquet(tmp_path):
    path = tmp_path / "labels.parquet"
    pq.write_table(table(), path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    assert "cut off or damaged" in refused(path)
    path.write_bytes(b"a,b\n1,2\n")
    assert "is not a parquet file" in refused(path)
    pq.write_table(table().slice(0, 0), path)
    assert "no rows" in refused(path)


@pytest.mark.parametrize("kind", ["npy", "npz", "parquet", "mat"])
def test_standard_input_by_magic(monkeypatch, kind):
    held = io.BytesIO()
    if kind == "npy":
        np.save(held, LABELS)
    elif kind == "npz":
        np.savez(held, labels=LABELS)
    elif kind == "mat":
        savemat(held, {"members": LABELS})
    else:
        pq.write_table(pa.table({"c0": LABELS[:, 0], "c1": LABELS[:, 1]}), held)
    for options in (ReadOptions(), ReadOptions(format=kind)):
        monkeypatch.setattr(sys, "stdin", types.SimpleNamespace(buffer=io.BytesIO(held.getvalue())))
        same(read("-", options), Ensemble.from_labels(LABELS))


def observations(path):
    import anndata

    frame = pd.DataFrame(
        {
            "leiden_1": pd.Categorical(["0", "1", None], categories=["1", "0", "9"]),
            "leiden_2": ["x", "x", "y"],
            "kmeans": [4, 4, 5],
            "depth": [0.5, 1.5, 2.5],
        },
        index=["p", "q", "r"],
    )
    anndata.AnnData(np.zeros((3, 2)), obs=frame).write_h5ad(path)
    return frame


@needs_anndata
def test_anndata(tmp_path, monkeypatch):
    path = tmp_path / "cells.h5ad"
    frame = observations(path)
    found = read(path, ReadOptions(columns=("leiden_*", "kmeans")))
    same(found, Ensemble.from_labels(frame[["leiden_1", "leiden_2", "kmeans"]]))
    assert found.ids.tolist() == ["p", "q", "r"] and found.classes[0] == ("0", "1")
    message = refused(path)
    assert "--columns" in message and "'leiden_1', 'leiden_2', 'kmeans', 'depth'" in message
    assert "fits no column" in refused(path, options=ReadOptions(columns=("louvain*",)))
    assert "'depth', row 1" in refused(path, LabelError, ReadOptions(columns=("depth", "kmeans")))
    monkeypatch.setattr(sys, "stdin", types.SimpleNamespace(buffer=io.BytesIO(path.read_bytes())))
    same(read("-", ReadOptions(columns=("leiden_*", "kmeans"))), found)


@needs_anndata
def test_broken_anndata(tmp_path):
    import h5py

    path = tmp_path / "cells.h5ad"
    observations(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    assert "damaged" in refused(path, options=ReadOptions(columns=("leiden_*",)))
    with h5py.File(path, "w") as file:
        file["members"] = LABELS
    assert "no table of observations" in refused(path, options=ReadOptions(columns=("leiden_*",)))


def test_anndata_needs_its_extra(tmp_path, monkeypatch):
    path = tmp_path / "cells.h5ad"
    path.write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(100))
    load = importlib.import_module

    def without(name, *args):
        if name.startswith("anndata"):
            raise ImportError(name)
        return types.SimpleNamespace() if name == "h5py" else load(name, *args)

    monkeypatch.setattr(importlib, "import_module", without)
    assert "pip install 'partita[anndata]'" in refused(path, MissingExtraError, ReadOptions(columns=("a",)))
