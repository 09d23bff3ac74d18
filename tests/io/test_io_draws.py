"""Files of draws: any label file, draws in columns or rows, and back."""

import numpy as np
import pytest

import partita
from partita.core.draws import Draws
from partita.core.errors import FileError, LabelError, ParameterError, TableError
from partita.io import ReadOptions, read_draws, write_draws

TABLE = np.array([[0, 0, 1, 2], [0, 1, 1, 1], [0, 1, 2, 3]])


def test_columns_and_rows_of_any_names(tmp_path):
    upright, lying = tmp_path / "upright.csv", tmp_path / "lying.csv"
    upright.write_text("who,s1,s2\nann,x,1\nbob,x,2\ncid,y,2\n")
    lying.write_text("step,ann,bob,cid\ns1,x,x,y\ns2,1,2,2\n")
    for found in (
        read_draws(upright, options=ReadOptions(ids="who")),
        read_draws(lying, "rows", ReadOptions(ids="step")),
    ):
        assert found.draws.labels.tolist() == [[0, 0, 1], [0, 1, 1]]
        assert found.names == ("s1", "s2") and found.ids.tolist() == ["ann", "bob", "cid"]


@pytest.mark.parametrize("by", ["columns", "rows"])
def test_arrays(tmp_path, by):
    path = tmp_path / "draws.npy"
    np.save(path, TABLE.T if by == "columns" else TABLE)
    assert read_draws(path, by).draws.labels.tolist() == TABLE.tolist()


def test_each_object_alone_is_a_draw(tmp_path):
    """A column of all different labels is no column of ids here."""
    path = tmp_path / "draws.npy"
    np.save(path, np.stack([np.arange(50), np.zeros(50, int)], axis=1))
    assert read_draws(path).draws.sizes.tolist() == [50, 1]


@pytest.mark.parametrize("suffix", ["csv", "tsv", "csv.gz", "parquet", "npy"])
@pytest.mark.parametrize("ids", [None, ["a", 'b"', "c,c", "d"]])
def test_written_draws_are_read_back(tmp_path, suffix, ids):
    table = TABLE.copy()
    table[:, 2] = -1
    path = tmp_path / f"draws.{suffix}"
    write_draws(Draws.of(table), path, ids)
    named = ids is not None and suffix != "npy"
    options = ReadOptions(ids="id" if named else None, missing=-1 if suffix == "npy" else None)
    found = read_draws(path, options=options)
    assert np.array_equal(found.draws.labels, Draws.of(table).labels)
    assert found.ids.tolist() == ids if named else found.ids is None
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_many_rows_are_written_in_pieces(tmp_path, monkeypatch):
    monkeypatch.setattr("partita.io.draws.ROWS_AT_A_TIME", 3)
    table = np.random.default_rng(0).integers(4, size=(3, 10))
    for suffix in ("csv", "parquet"):
        partita.write_draws(Draws.of(table), tmp_path / f"draws.{suffix}")
        found = partita.read_draws(tmp_path / f"draws.{suffix}")
        assert np.array_equal(found.draws.labels, Draws.of(table).labels)


def test_a_label_that_one_draw_lacks(tmp_path):
    path = tmp_path / "draws.csv"
    path.write_text("s1,s2\na,x\n,y\nb,y\n")
    with pytest.raises(LabelError, match=r"draws.csv: draw 's1', object 2: no label"):
        read_draws(path)
    path.write_text("s1,s2\na,\n,y\n")
    with pytest.raises(TableError, match="no object has a label in every draw"):
        read_draws(path)


def test_mistakes_are_named(tmp_path):
    with pytest.raises(ParameterError, match="by='diagonal'"):
        read_draws(tmp_path / "x.csv", "diagonal")
    with pytest.raises(FileError, match=r"x\.csv"):
        read_draws(tmp_path / "x.csv")
    with pytest.raises(FileError, match="format 'json' is not known here"):
        write_draws(Draws.of(TABLE), tmp_path / "x.json")
    with pytest.raises(TableError, match="2 ids were given for 4 objects"):
        write_draws(Draws.of(TABLE), tmp_path / "x.csv", ids=["a", "b"])
    minus = tmp_path / "minus.csv"
    minus.write_text("s1,s2\n-1,0\n1,0\n")
    with pytest.raises(LabelError, match="where -1 is a cluster, say missing="):
        read_draws(minus)


def test_ids_that_were_written_are_read(tmp_path):
    draws = Draws.of(np.random.default_rng(0).integers(3, size=(5, 30)))
    ids = [f"o{i}" for i in range(30)]
    for suffix in ("csv", "tsv", "parquet"):
        write_draws(draws, tmp_path / f"d.{suffix}", ids)
        found = read_draws(tmp_path / f"d.{suffix}")
        assert found.draws.labels.tolist() == draws.labels.tolist() and found.ids.tolist() == ids


def test_a_column_that_looks_like_ids_is_no_draw(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("who,a,b\n" + "".join(f"o{i},{i % 2},{i % 3}\n" for i in range(25)))
    with pytest.raises(LabelError, match=r"column 'who': each of the 25 rows .* like ids, not a draw; say ids='who'"):
        read_draws(path)
    assert len(read_draws(path, options=ReadOptions(ids="who")).draws) == 2
    np.save(tmp_path / "d.npy", np.stack([np.arange(25), np.zeros(25, int)], axis=1))
    assert read_draws(tmp_path / "d.npy").draws.sizes.tolist() == [25, 1]


def test_one_draw_and_unknown_objects_survive_a_file(tmp_path):
    draws = Draws.of([[0, -1, 1, 0]])
    for suffix in ("csv", "parquet", "npy"):
        write_draws(draws, tmp_path / f"d.{suffix}")
        assert read_draws(tmp_path / f"d.{suffix}").draws.labels.tolist() == draws.labels.tolist()
