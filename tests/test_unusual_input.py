"""Unusual arrays, tables and paths: read as documented, or one of our errors in one printable line."""

import array
import io
import os
import types

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp

import partita
from partita import Ensemble, SoftEnsemble
from partita.core.draws import Draws
from partita.core.errors import FileError, LabelError, ParameterError, PartitaError, TableError
from partita.io import Annotating, check_writable, read_features, read_labels, write_ensemble
from partita.io.blocks import open_blocks

ROWS = [["a", 1], ["a", 1], ["b", 2]]


def refused(kind, call, *words):
    with pytest.raises(PartitaError) as caught:
        call()
    message = str(caught.value)
    assert type(caught.value) is kind, repr(caught.value)
    assert "\n" not in message and message.encode()  # printable
    for word in words:
        assert word in message, message


@pytest.fixture(scope="module")
def result():
    return partita.consensus(ROWS, "voting", 2)


def text(code, byteorder="="):
    """A table of texts of which the one in row 2, column 1 has this code point."""
    table = np.array([["b", "b"], ["aa", "b"], ["aa", "c"]])
    table.view(np.uint32).reshape(3, 2, 2)[1, 0, 1] = code
    return table.astype(table.dtype.newbyteorder(byteorder))


CODES = [0xD800, 0xDFFF, 0x110000, 0x7FFFFFFF, 0xFFFFFFFF]


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("byteorder", ["<", ">"])
def test_text_arrays_with_invalid_code_points(code, byteorder, result, tmp_path):
    table = text(code, byteorder)
    place = ("row 2", "invalid code point", "valid Unicode")
    refused(LabelError, lambda: Ensemble.from_labels(table), "column 'c0'", *place)
    refused(LabelError, lambda: Ensemble.from_labels(np.asfortranarray(table)), "column 'c0'", *place)
    refused(LabelError, lambda: Ensemble.from_labels(table.T, transpose=True), "column 'c0'", *place)
    refused(LabelError, lambda: Ensemble.from_labels(table, transpose=True), "row 1", "invalid code point")
    refused(LabelError, lambda: Ensemble.from_labels({"x": table[:, 0], "y": [1, 2, 2]}), "column 'x'", *place)
    refused(LabelError, lambda: partita.consensus(table, "voting", 2), *place)
    refused(LabelError, lambda: result.predict(table), *place)
    refused(LabelError, lambda: partita.evaluate(table[:, 0], truth=[0, 0, 1]), *place)
    refused(LabelError, lambda: partita.evaluate([0, 0, 1], truth=table[:, 0]), *place)
    refused(TableError, lambda: Ensemble.from_labels(ROWS, ids=table[:, 0]), *place)
    refused(TableError, lambda: Ensemble.from_labels(np.zeros((4, 3), int), names=table[:, 0]), "column 2")
    refused(TableError, lambda: SoftEnsemble.from_memberships([np.eye(2)] * 3, names=table[:, 0]), "clustering 2")
    path = tmp_path / "labels.npy"
    np.save(path, table)
    refused(LabelError, lambda: partita.read(path), str(path), *place)


def test_every_character_but_surrogates_is_a_label():
    characters = [chr(code) for code in (1, 0x7F, 0x80, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x10FFFF)]
    table = np.array([characters, characters[::-1]]).T
    labels = Ensemble.from_labels(table, allow="id-like-column")
    assert labels.classes == (tuple(characters), tuple(characters[::-1]))
    assert Ensemble.from_labels(table[:, ::-1], ids=table[:, 0]).ids.tolist() == characters


@pytest.mark.parametrize("kind", [list, np.array, pd.Series, lambda cells: pd.Categorical(cells)])
def test_lone_surrogates_in_other_columns(kind):
    cells = kind(["a", "\ud800", "a"])
    refused(LabelError, lambda: Ensemble.from_labels(pd.DataFrame({"x": cells, "y": [1, 2, 2]})), "'x', row 2")
    refused(TableError, lambda: Ensemble.from_labels(ROWS, ids=["a", "\ud800", "c"]), "row 2")
    refused(TableError, lambda: Ensemble.from_labels({"\ud800": [1, 2], "b": [1, 1]}), "column 1")


MASKED = np.ma.array([[1, 2], [1, 3], [2, 3]], mask=[[0, 0], [1, 0], [0, 1]])
EXPECTED = [[0, 0], [-1, 1], [1, -1]]


@pytest.mark.parametrize("kind", ["int8", "uint8", "int64", "uint64", "float32", "U2", "object", "bool"])
def test_masked_labels_are_missing(kind):
    table = MASKED.astype(kind)
    expected = Ensemble.from_labels(
        [
            [None if mask else cell for cell, mask in zip(*row, strict=True)]
            for row in zip(table.data, table.mask, strict=True)
        ]
    )
    for given in (
        table,
        {"c0": table[:, 0], "c1": table[:, 1]},
        [list(row) for row in table],
        pd.DataFrame({f"c{j}": list(table[:, j]) for j in range(2)}),
    ):
        found = Ensemble.from_labels(given)
        assert found.labels.tolist() == expected.labels.tolist() and found.classes == expected.classes
    assert Ensemble.from_labels(table.T, transpose=True).labels.tolist() == expected.labels.tolist()


def test_what_a_mask_covers_is_never_used(result):
    covered = np.ma.array([[1, -1], [1, 3]], mask=[[0, 1], [0, 0]])
    assert Ensemble.from_labels(covered).labels.tolist() == [[0, -1], [0, 0]]  # no error on -1
    assert partita.evaluate([0, 0, 1], truth=np.ma.array([1, 7, 2], mask=[0, 1, 0]))["compared"] == 2
    soft = np.ma.array([[1, 0], [0, 1], [9, 9]], mask=[[0, 0], [0, 0], [1, 1]])
    assert SoftEnsemble.from_memberships({"a": soft}).matrix.tolist() == [[1, 0], [0, 1], [0, 0]]
    refused(LabelError, lambda: SoftEnsemble.from_memberships({"a": np.ma.array([[1, 0]], mask=[[0, 1]])}), "row 1")
    features = np.ma.array([[1, 2], [3, 4]], mask=[[0, 1], [0, 0]])
    refused(TableError, lambda: partita.cluster(features, k=2), "column 'f1', row 1", "not a finite number")
    refused(
        TableError, lambda: Ensemble.from_labels(ROWS, ids=np.ma.array([1, 2, 3], mask=[0, 1, 0])), "row 2 has no id"
    )
    weights = np.ma.array([1, 2], mask=[0, 1])
    refused(TableError, lambda: Ensemble.from_labels(ROWS, weights=weights), "weights have masked values")
    refused(TableError, lambda: partita.stream(MASKED), "masked array", "filled(-1)")
    unmasked = np.ma.array([[0, 0], [1, 1]] * 3)
    assert partita.stream(unmasked, method="voting", k=2).labels.tolist() == [0, 1] * 3


LISTS = {"a": [[1], [2]], "b": [1, 2]}


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame(LISTS),
        pd.DataFrame({"a": [np.array([1]), np.array([2])], "b": [1, 2]}),
        pl.DataFrame(LISTS),
        pl.DataFrame({"a": pl.Series([[1, 2], [2, 3]], dtype=pl.Array(pl.Int64, 2)), "b": [1, 2]}),
        pl.DataFrame({"a": [{"x": 1}, {"x": 2}], "b": [1, 2]}),
        pa.table(LISTS),
        pa.table({"a": pa.chunked_array([[[1]], [[2]]]), "b": [1, 2]}),
        pa.table({"a": pa.array([{"x": 1}, {"x": 2}]), "b": [1, 2]}),
        pa.table({"a": pa.DictionaryArray.from_arrays(pa.array([0, 0]), pa.array([[1]])), "b": [1, 2]}),
    ],
    ids=lambda table: type(table).__module__,
)
def test_tables_with_list_columns(table):
    refused(LabelError, lambda: Ensemble.from_labels(table), "column 'a', row 1", "is not one label")
    refused(TableError, lambda: partita.cluster(table, k=2), "column 'a', row 1", "is not a number")
    column = table["a"]
    refused(LabelError, lambda: partita.evaluate([0, 1], truth=column), "row 1", "is not one label")


def test_files_with_list_columns(tmp_path):
    path = tmp_path / "labels.parquet"
    pq.write_table(pa.table(LISTS), path)
    refused(LabelError, lambda: partita.read(path), f"{path}: column 'a', row 1")
    refused(LabelError, lambda: read_labels(path, "a"), f"{path}: column 'a', row 1")
    refused(TableError, lambda: read_features(path), f"{path}: column 'a', row 1")
    refused(TableError, lambda: partita.read(path, ids="a", columns=("b",), one=True), str(path), "row 1")


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "dok", "lil", "bsr", "dia"])
@pytest.mark.parametrize("of", ["matrix", "array"])
def test_sparse_tables(kind, of, result):
    make = getattr(sp, f"{kind}_{of}")
    table = make(np.eye(3, dtype=int))
    refused(TableError, lambda: Ensemble.from_labels(table), "a sparse matrix is not a label table", "dense")
    refused(TableError, lambda: partita.consensus(table), "a sparse matrix is not a label table")
    refused(TableError, lambda: result.predict(table), "a sparse matrix is not a label table")
    refused(TableError, lambda: SoftEnsemble.from_memberships(table))
    refused(LabelError, lambda: SoftEnsemble.from_memberships({"a": table}), "'a'")
    refused(ParameterError, lambda: partita.evaluate([0, 0, 1], truth=table), "truth")
    refused(TableError, lambda: Ensemble.from_labels(ROWS, ids=table), "ids")
    refused(ParameterError, lambda: partita.stream(table))


def test_sparse_columns():
    column = sp.coo_array(np.array([1, 2, 2]))
    refused(TableError, lambda: Ensemble.from_labels({"a": column, "b": [1, 1, 2]}), "column 'a'")
    refused(ParameterError, lambda: partita.evaluate([0, 0, 1], truth=column), "truth")


def test_arrays_without_dimensions(result):
    point = np.array(3)
    for call in (
        lambda: Ensemble.from_labels(point),
        lambda: Ensemble.from_labels(np.int64(3)),
        lambda: Ensemble.from_labels(np.ma.array(3, mask=True)),
        lambda: Ensemble.from_labels({"a": point, "b": [1, 2]}),
        lambda: Ensemble.from_labels(ROWS, ids=point),
        lambda: Ensemble.from_labels(ROWS, weights=point),
        lambda: Ensemble.from_labels(ROWS, names=point),
        lambda: SoftEnsemble.from_memberships(point),
        lambda: result.predict(point),
        lambda: partita.cluster(point, k=2),
        lambda: partita.summarise(point),
        lambda: partita.stream(point),
    ):
        refused(TableError, call)
    refused(LabelError, lambda: SoftEnsemble.from_memberships({"a": point}), "shape ()")
    for call in (
        lambda: partita.evaluate(point, truth=[0]),
        lambda: partita.evaluate([0], truth=point),
        lambda: Ensemble.from_labels(ROWS, missing=point),
        lambda: partita.consensus(ROWS, "voting", np.array(2.5)),
    ):
        refused(ParameterError, call)
    assert partita.consensus(ROWS, "voting", np.array(2)).k == 2


def test_memoryviews():
    table = np.array([[1, 5], [1, 6], [2, 5]])
    expected = Ensemble.from_labels(table).labels.tolist()
    assert Ensemble.from_labels(memoryview(table)).labels.tolist() == expected
    assert Ensemble.from_labels({"a": memoryview(table[:, 0].copy()), "b": [1, 2, 1]}).labels.tolist() == expected
    fitted = partita.consensus(table, "voting", 2)
    assert fitted.predict(memoryview(table)).tolist() == fitted.predict(table).tolist()
    released = memoryview(table)
    released.release()
    for view in (memoryview(b"abc"), memoryview(np.array(3)), memoryview(np.zeros((2, 2, 2))), released):
        refused(TableError, lambda view=view: Ensemble.from_labels(view))
    refused(LabelError, lambda: Ensemble.from_labels(memoryview(np.zeros((2, 2), [("x", "i4")]))))
    for one in (b"abc", bytearray(b"abc"), array.array("i", [1, 2])):
        refused(TableError, lambda one=one: Ensemble.from_labels(one))


PATHS = [3, None, 3.5, ["labels.csv"], b"labels.csv", object()]


@pytest.mark.parametrize("path", PATHS, ids=lambda path: type(path).__name__)
def test_what_is_no_path(path, result):
    kind = type(path).__name__
    for call in (
        lambda: partita.write(result, path),
        lambda: check_writable(path),
        lambda: result.save(path),
        lambda: partita.save_model(result, path),
        lambda: partita.load(path),
        lambda: partita.load_model(path),
        lambda: partita.read(path),
        lambda: read_labels(path),
        lambda: read_features(path),
        lambda: partita.read_draws(path),
        lambda: partita.write_draws(Draws.of([[0, 1]]), path),
        lambda: write_ensemble(Ensemble.from_labels(ROWS), path),
        lambda: partita.write_report(path, ROWS),
        lambda: Annotating.of(path, "out.h5ad"),
        lambda: Annotating.of("in.h5ad", path),
    ):
        refused(FileError, call, f"{kind} is not a path")
    if isinstance(path, bytes):
        refused(FileError, lambda: partita.write(result, path), "os.fsdecode")
    if isinstance(path, int):  # probably meant as k, which is the second argument of other functions
        refused(ParameterError, lambda: partita.stream(np.zeros((3, 2), int), path), "by name: k=3")
    elif path is not None:
        refused(FileError, lambda: partita.stream(np.zeros((3, 2), int), output=path), f"{kind} is not a path")


def test_lone_surrogates_in_paths(result, tmp_path):
    for call, suffix in (
        (lambda path: partita.write(result, path), "csv"),
        (lambda path: result.save(path), "partita"),
        (lambda path: partita.save_model(result, path), "npz"),
        (partita.load, "partita"),
        (partita.load_model, "npz"),
        (partita.read, "csv"),
        (read_labels, "json"),
        (read_features, "npy"),
        (partita.read_draws, "csv"),
        (lambda path: write_ensemble(Ensemble.from_labels(ROWS), path), "csv"),
        (lambda path: partita.write_report(path, ROWS), "html"),
        (lambda path: Annotating.of(path, tmp_path / "out.h5ad"), "h5ad"),
        (lambda path: open_blocks(path, partita.io.ReadOptions()), "parquet"),
        (lambda path: partita.stream(np.zeros((3, 2), int), output=path), "parquet"),
    ):
        refused(FileError, lambda call=call, suffix=suffix: call(f"{tmp_path}/x\ud800.{suffix}"), "x\\ud800.")


@pytest.mark.skipif(os.name != "posix", reason="file names are bytes there")
def test_file_names_that_are_not_utf_8_are_paths(result, tmp_path):
    path = tmp_path / os.fsdecode(b"out\xff.csv")
    partita.write(result, path)
    assert read_labels(path).values.tolist() == [0, 0, 1]
    path.unlink()
    refused(FileError, lambda: partita.read(path), "out\\udcff.csv: no such file")


def test_other_arguments_of_write(result, tmp_path):
    refused(ParameterError, lambda: partita.write(3, tmp_path / "out.csv"), "expected a Consensus, got a int")
    refused(FileError, lambda: partita.write(result, tmp_path / "out.csv", format=3), "format=3")


def test_closed_streams_of_the_library(result, monkeypatch):
    closed = io.StringIO()
    closed.close()
    for stream in (None, closed):
        monkeypatch.setattr("sys.stdout", stream)
        refused(FileError, lambda: partita.write(result, "-"), "standard output: is closed")
        refused(FileError, lambda: check_writable("-"), "standard output: is closed")
        monkeypatch.undo()
        monkeypatch.setattr("sys.stdin", stream)
        refused(FileError, lambda: partita.read("-"), "standard input: is closed")
        monkeypatch.undo()
    monkeypatch.setattr("sys.stdin", types.SimpleNamespace(buffer=io.BytesIO(b"a,b\n1,2\n1,3\n")))
    assert len(partita.read("-")) == 2
