"""Features from files, ensembles to files and back."""

import gzip

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from scipy.io import savemat

import partita
from partita.core.errors import FileError, TableError
from partita.io import ReadOptions, check_ensemble_path, read_features, text, write_ensemble
from tests.samples import noisy, noisy_soft

FRAME = pd.DataFrame({"who": ["ann", "bob", "cid"], "x": [1.5, 2, 3], "y": [1, 2, -4], "kind": ["u", "v", "w"]})
PICKED = {"ids": "who", "exclude": ("kind",)}


def written(tmp_path, kind):
    path = tmp_path / f"data.{kind}"
    if kind == "parquet":
        FRAME.to_parquet(path, index=False)
    else:
        text = FRAME.to_csv(index=False, sep="\t" if "tsv" in kind else ",").encode()
        path.write_bytes(gzip.compress(text) if kind.endswith("gz") else text)
    return path


@pytest.mark.parametrize("kind", ["csv", "tsv", "csv.gz", "parquet"])
def test_tables(tmp_path, kind):
    path = written(tmp_path, kind)
    found = read_features(path, ReadOptions(**PICKED))
    assert found.matrix.tolist() == [[1.5, 1], [2, 2], [3, -4]]
    assert found.names == ("x", "y") and found.ids.tolist() == ["ann", "bob", "cid"]
    assert read_features(path, ReadOptions(columns=("y",))).matrix.tolist() == [[1], [2], [-4]]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_words_are_named(tmp_path, kind):
    path = written(tmp_path, kind)
    with pytest.raises(
        TableError, match=r"data\.\w+: column 'kind', row 1: 'u' is not .*exclude=\['kind'\]\), set ids='kind' if"
    ):
        read_features(path, ReadOptions(ids="who"))


def test_empty_cells_and_infinities_are_named(tmp_path):
    path = tmp_path / "data.csv"
    for cell, told in (("", "nan"), ("NA", "nan"), ("inf", "inf"), ("-inf", "-inf")):
        path.write_text(f"a,b\n1,2\n3,{cell}\n")
        with pytest.raises(TableError, match=rf"column 'b', row 2: {told} is not a finite number"):
            read_features(path)


def test_unnamed_first_column_and_no_header(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text(",a\nr1,1.5\nr2,2\n")
    assert read_features(path).ids.tolist() == ["r1", "r2"]
    path.write_text("1.5,2\n3,4\n")
    assert read_features(path, ReadOptions(header=False)).matrix.tolist() == [[1.5, 2], [3, 4]]


@pytest.mark.parametrize("kind", ["npy", "npz", "mat"])
def test_arrays(tmp_path, kind):
    X, path = np.array([[1.0, 2], [3, 4], [5, 6]]), tmp_path / f"data.{kind}"
    if kind == "npy":
        np.save(path, X)
    elif kind == "npz":
        np.savez(path, X=X, y=np.array([[0, 1, 0]]))
    else:
        savemat(path, {"fea": X, "gnd": [[1], [2], [1]]})
    assert np.array_equal(read_features(path).matrix, X)
    assert read_features(path, ReadOptions(exclude=("f0",))).matrix.tolist() == [[2], [4], [6]]


def test_arrays_that_tell_too_little(tmp_path):
    np.savez(tmp_path / "a.npz", a=np.zeros((2, 2)), b=np.ones((2, 2)))
    with pytest.raises(FileError, match="holds 'a', 'b'; save the features alone, or as an array called 'X'"):
        read_features(tmp_path / "a.npz")
    np.save(tmp_path / "a.npy", np.zeros(3))
    with pytest.raises(FileError, match=r"shape \(3,\)"):
        read_features(tmp_path / "a.npy")


def test_annotated_data(tmp_path):
    anndata = pytest.importorskip("anndata")
    from scipy.sparse import csr_matrix

    obs, var = pd.DataFrame(index=["c1", "c2"]), pd.DataFrame(index=["g1", "g2", "g3"])
    for name, X in (("dense", np.eye(2, 3, dtype=np.float32)), ("sparse", csr_matrix(np.eye(2, 3)))):
        path = tmp_path / f"{name}.h5ad"
        anndata.AnnData(X, obs=obs, var=var).write_h5ad(path)
        found = read_features(path, ReadOptions(exclude=("g3",)))
        assert found.matrix.tolist() == [[1, 0], [0, 1]] and found.names == ("g1", "g2")
        assert found.ids.tolist() == ["c1", "c2"]


def same(a, b):
    return a.fingerprint == b.fingerprint and a.names == b.names and type(a) is type(b)


@pytest.mark.parametrize("kind", ["csv", "tsv", "csv.gz", "parquet", "npz"])
@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("named", [False, True])
def test_ensembles_come_back(tmp_path, kind, missing, named):
    ids = [f"object {i}" for i in range(60)] if named else None
    hard = noisy(missing=missing)
    hard = partita.Ensemble.from_labels(hard.labels, hard.names, ids=ids, missing=-1)
    path = tmp_path / f"ensemble.{kind}"
    write_ensemble(hard, path, made={"way": "restarts"})
    options = {} if kind == "npz" or not named else {"ids": "id"}
    found = partita.read(path, **options)
    assert same(found, hard) and (found.ids.tolist() if named else found.ids) == ids
    if kind == "parquet":
        assert b"restarts" in pq.read_schema(path).metadata[b"partita"]


@pytest.mark.parametrize("kind", ["csv", "parquet", "npz"])
def test_soft_ensembles_come_back(tmp_path, kind):
    from partita.generate.hiding import hide

    for soft in (noisy_soft(), hide(noisy_soft(), 0.3, np.random.default_rng(0))):
        path = tmp_path / f"ensemble.{kind}"
        write_ensemble(soft, path)
        found = partita.read(path)
        assert found.names == soft.names and np.allclose(found.matrix, soft.matrix, atol=1e-15)


def test_where_no_ensemble_can_be_written(tmp_path):
    with pytest.raises(FileError, match="format 'json' is not known here; there are csv, tsv, parquet, npz"):
        check_ensemble_path(tmp_path / "e.json")
    with pytest.raises(FileError, match="does not exist"):
        check_ensemble_path(tmp_path / "none" / "e.csv")
    named = partita.Ensemble.from_labels([[0, 1], [1, 0]], ["id", "b"], ids=["x", "y"])
    with pytest.raises(FileError, match="cannot be called 'id'"):
        write_ensemble(named, tmp_path / "e.csv")


def test_arrow_reads_memory_of_its_own(tmp_path, monkeypatch):
    """What Arrow's threads may still hold after an error is not Python's: letting go of it needs no interpreter."""
    reader, taken = text.pa.BufferReader, []

    def watched(buffer):
        taken.append((buffer.size, text.pa.total_allocated_bytes() - before))
        return reader(buffer)

    monkeypatch.setattr(text.pa, "BufferReader", watched)
    path = tmp_path / "data.csv"
    body = "1,red\n2,blue\n" * 50_000
    path.write_text("x,class\n" + body)
    before = text.pa.total_allocated_bytes()
    with pytest.raises(TableError, match="column 'class', row 1: 'red' is not a number"):
        read_features(path)
    assert len(taken) == 2 and all(size == len(body) <= memory for size, memory in taken)
