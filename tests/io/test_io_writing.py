"""A consensus out: columns, round trips, and files that are whole or not there."""

import gzip
import json
import os
import stat
from dataclasses import dataclass, replace
from pathlib import Path
from uuid import UUID

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from partita.core.consensus import Consensus, Recipe
from partita.core.errors import FileError, ParameterError
from partita.io import check_writable, read, read_labels, write, writing

RECIPE = Recipe("qmi", {"runs": 3, "start": (1, 2), "limit": float("inf")}, 2, 7, "0.1.0", "abc")
FORMATS = ["csv", "tsv", "csv.gz", "tsv.gz", "parquet", "json"]


def result(ids=("p", "q", "r", "s")):
    membership = np.array([[0.75, 0.25], [0.1, 0.9], [np.nan, np.nan], [1 / 3, 2 / 3]])
    return Consensus(
        np.array([0, 1, -1, 1], np.int32),
        membership=membership,
        confidence=membership.max(axis=1),
        k_asked=2,
        trace=(1.5, np.inf, np.float64(0.5)),
        converged=True,
        scores={"anmi": 0.5, "other": float("nan")},
        notes=("one object has no label",),
        recipe=RECIPE,
        ids=None if ids is None else np.array(ids, dtype=object),
    )


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("ids", [None, ("p", "q", "r", "s"), ("a,b", 'c"d', "e\nf", " g\t"), ("007", "7", "µ", "NA")])
def test_round_trip(tmp_path, suffix, ids):
    path = tmp_path / f"out.{suffix}"
    write(result(ids), path)
    found = read_labels(path)
    assert found.name == "consensus" and found.values.tolist() == [0, 1, -1, 1]
    assert (found.ids is None) if ids is None else (found.ids.tolist() == list(ids))
    assert sorted(item.name for item in tmp_path.iterdir()) == [path.name]


@pytest.mark.parametrize("ids", [np.array([4, 2, 3, 1]), np.array([1, "a", None, 2.5], dtype=object)])
def test_ids_of_other_kinds(tmp_path, ids):
    for suffix in FORMATS:
        path = tmp_path / f"out.{suffix}"
        write(replace(result(), ids=ids), path)
        assert [str(name) for name in read_labels(path).ids] == [str(name) for name in ids]


def test_text_is_plain(tmp_path):
    path = tmp_path / "out.csv"
    write(result(), path)
    expected = (
        "id,consensus,confidence,consensus:0,consensus:1\np,0,0.75,0.75,0.25\nq,1,0.9,0.1,0.9\nr,-1,,,\n"
        "s,1,0.6666666666666666,0.3333333333333333,0.6666666666666666\n"
    )
    assert path.read_text() == expected
    write(result(), tmp_path / "out.tsv.gz", membership=False, id_name="cell")
    text = gzip.decompress((tmp_path / "out.tsv.gz").read_bytes()).decode()
    assert text.splitlines()[:2] == ["cell\tconsensus\tconfidence", "p\t0\t0.75"]
    write(Consensus.hard([0, 1, 0]), path)
    assert path.read_text() == "consensus\n0\n1\n0\n"


def test_pandas_reads_quoted_ids(tmp_path):
    ids = ("a,b", 'c"d', "e\nf", "g")
    write(result(ids), tmp_path / "out.csv")
    frame = pd.read_csv(tmp_path / "out.csv", index_col="id")
    assert frame.index.tolist() == list(ids) and frame["confidence"].tolist()[:2] == [0.75, 0.9]


def test_memberships_can_be_read_as_a_soft_clustering(tmp_path):
    path = tmp_path / "out.parquet"
    write(replace(result(None), confidence=None), path)
    table = pq.read_table(path).rename_columns(["hard", "soft:0", "soft:1"])
    pq.write_table(table, path)
    from partita.io import ReadOptions

    found = read(path, ReadOptions(missing=-1))
    np.testing.assert_allclose(found.block(1), np.nan_to_num(result().membership))


def test_parquet_carries_the_recipe(tmp_path):
    path = tmp_path / "out.parquet"
    write(result(), path)
    table = pq.read_table(path)
    assert table.column_names == ["id", "consensus", "confidence", "consensus:0", "consensus:1"]
    assert table["confidence"].null_count == 1 and table["consensus"].type == pa.int32()
    stored = json.loads(table.schema.metadata[b"partita"])
    recipe = stored["recipe"]
    assert recipe["method"] == "qmi" and recipe["seed"] == 7 and recipe["params"]["limit"] is None
    assert stored["schema"] == 1 and stored["fingerprint"] == recipe["fingerprint"]


@dataclass(frozen=True)
class Setting:
    depth: int = 2


def test_json_is_strict(tmp_path):
    path = tmp_path / "out.json"
    params = {"a": np.array([1, 2]), "b": Setting(), "c": {1: np.nan}, "d": {"x"}, "e": object, "f": np.int64(3)}
    write(replace(result(), recipe=replace(RECIPE, params=params)), path)

    def forbid(name):
        raise AssertionError(name)

    found = json.loads(path.read_text(), parse_constant=forbid)
    assert list(found) == [
        "schema",
        "fingerprint",
        "recipe",
        "k",
        "k_asked",
        "k_choice",
        "scores",
        "agreement",
        "candidates",
        "notes",
        "converged",
        "trace",
        "detail",
        "clusters",
        "objects",
    ]
    assert found["k"] == 2 and found["clusters"] == [1, 2] and found["trace"] == [1.5, None, 0.5]
    assert found["scores"] == {"anmi": 0.5, "other": None} and found["converged"] is True
    assert found["recipe"]["params"] | {"e": ""} == {
        "a": [1, 2],
        "b": {"depth": 2},
        "c": {"1": None},
        "d": ["x"],
        "e": "",
        "f": 3,
    }
    objects = found["objects"]
    assert objects["id"] == ["p", "q", "r", "s"] and objects["consensus"] == [0, 1, -1, 1]
    assert objects["confidence"][2] is None and objects["membership"][2] == [None, None]
    assert objects["membership"][0] == [0.75, 0.25]
    write(Consensus.hard([0]), path, membership=False)
    bare = json.loads(path.read_text())
    assert bare["recipe"] is None and bare["objects"] == {"consensus": [0], "confidence": None}


@pytest.mark.parametrize("kind", [None, "tsv", "json", "parquet"])
def test_standard_output(capfdbinary, kind):
    write(result(), "-", format=kind)
    out = capfdbinary.readouterr().out
    first = {None: b"id,consensus", "tsv": b"id\tconsensus", "json": b'{"schema": 1', "parquet": b"PAR1"}[kind]
    assert out.startswith(first)


def test_standard_output_without_bytes(monkeypatch):
    import io
    import sys

    text = io.StringIO()
    monkeypatch.setattr(sys, "stdout", text)
    write(Consensus.hard([0]), "-")
    assert text.getvalue() == "consensus\n0\n"


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, OSError])
@pytest.mark.parametrize("old", [True, False])
def test_failure_leaves_the_old_file(tmp_path, monkeypatch, suffix, error, old):
    path = tmp_path / f"out.{suffix}"
    if old:
        path.write_bytes(b"old")

    def halfway(*args, **kwargs):
        file = next(item for item in args if hasattr(item, "write"))
        file.write(b"half of it")
        raise error("no space left")

    monkeypatch.setattr(writing, "write_text", halfway)
    monkeypatch.setattr(writing, "_write_json", halfway)
    monkeypatch.setattr(writing, "write_parquet", halfway)
    with pytest.raises(FileError if error is OSError else error, match="no space left"):
        write(result(), path)
    assert [item.name for item in tmp_path.iterdir()] == [path.name] * old
    assert not old or path.read_bytes() == b"old"


def test_failure_to_replace(tmp_path, monkeypatch):
    path = tmp_path / "out.csv"
    path.write_bytes(b"old")

    def fail(descriptor):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(FileError, match=r"out\.csv: Input/output error"):
        write(result(), path)
    assert path.read_bytes() == b"old" and len(list(tmp_path.iterdir())) == 1


def test_modes_links_and_devices(tmp_path):
    path, link = tmp_path / "out.csv", tmp_path / "link.csv"
    mask = os.umask(0o027)
    try:
        write(result(), path)
    finally:
        os.umask(mask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    path.chmod(0o604)
    link.symlink_to(path)
    write(Consensus.hard([0]), link)
    assert link.is_symlink() and path.read_text() == "consensus\n0\n" and stat.S_IMODE(path.stat().st_mode) == 0o604
    write(result(), "/dev/null", format="csv")
    assert not os.path.isfile("/dev/null")  # noqa: PTH113


def test_check_writable(tmp_path, monkeypatch):
    check_writable(tmp_path / "out.csv")
    check_writable("-")
    check_writable(tmp_path / "strange.name", format="json")
    bad = {
        tmp_path: "is a directory|tells no format",
        tmp_path / "none" / "out.csv": "the folder .* does not exist",
        tmp_path / "out.xlsx": "'.xlsx' tells no format",
        tmp_path / "out.npy": "format 'npy' is not known",
        tmp_path / "out": "no suffix tells no format",
        tmp_path / "a\0.csv": "zero byte",
    }
    (tmp_path / "folder.csv").mkdir()
    bad[tmp_path / "folder.csv"] = "is a directory"
    (tmp_path / "file").touch()
    bad[tmp_path / "file" / "out.csv"] = "is not a folder"
    for path, words in bad.items():
        for act in (check_writable, lambda place: write(result(), place)):
            with pytest.raises(FileError, match=words) as caught:
                act(path)
            assert str(caught.value).startswith(f"{path}: ")

    def refuse(*args):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(FileError, match="cannot write into the folder"):
        check_writable(tmp_path / "out.csv")
    assert sorted(item.name for item in tmp_path.iterdir()) == ["file", "folder.csv"]


def test_id_name_may_not_hide_a_column(tmp_path):
    with pytest.raises(FileError, match="cannot be called 'consensus'"):
        write(result(), tmp_path / "out.csv", id_name="consensus")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("suffix", FORMATS)
def test_uuid_ids(tmp_path, suffix):
    ids = [UUID(int=j) for j in range(4)]
    write(result(ids), tmp_path / f"out.{suffix}")
    read_back = read_labels(tmp_path / f"out.{suffix}").ids.tolist()
    assert list(map(str, read_back)) == list(map(str, ids))


def test_other_arguments_than_a_result_and_a_path(tmp_path):
    write(result=result(), path=tmp_path / "a.csv")
    assert (tmp_path / "a.csv").exists()
    path = tmp_path / "b.csv"
    for first in (str(path), path):
        with pytest.raises(ParameterError, match=r"expected write\(result, path\), got write\(\w+, Consensus\)"):
            write(first, result())
    with pytest.raises(
        ParameterError, match=r"expected a Consensus, got a DataFrame; .* its own method, such as to_csv"
    ):
        write(result().to_frame(), path)
    with pytest.raises(
        ParameterError, match=r"expected a Consensus, got a list; give the result of partita.consensus$"
    ):
        write([1], path)
    assert not path.exists()
