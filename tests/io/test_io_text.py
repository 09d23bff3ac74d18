"""Text tables in: the fast route and the general one against a slow reading of the same cells."""

import csv
import gzip
import io
import re
import sys
import types

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from partita.core.ensemble import Ensemble
from partita.core.errors import CheckError, FileError, LabelError, PartitaError, TableError
from partita.core.soft import SoftEnsemble
from partita.core.threads import thread_limit
from partita.core.types import sealed
from partita.io import ReadOptions, plain, read
from partita.io.options import ReadOptions as Options
from partita.kernels.text import broken_quote
from tests.core.oracles import steady


@pytest.fixture
def file(tmp_path):
    def write(text, name="labels.csv"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def same(one, other):
    assert type(one) is type(other)
    assert one.names == other.names and one.sizes == other.sizes and one.classes == other.classes
    arrays = ("labels", "weights") if isinstance(one, Ensemble) else ("matrix", "weights")
    for name in arrays:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
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
    return message.removeprefix(f"{path}: ")


def test_plain_table(file):
    found = read(file("a,b\n3,1\n3,\n7,NA\n"))
    same(found, Ensemble.from_labels({"a": [3, 3, 7], "b": [1, None, None]}))
    assert not found.labels.flags.writeable and found.labels.dtype == np.int8


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("last", [True, False])
@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("word", ["2", "two"])
def test_line_ends_and_byte_order_mark(file, end, last, bom, word):
    text = end.join(["a,b", "1,2", f"1,{word}", ""]) if last else end.join(["a,b", "1,2", f"1,{word}"])
    second = ["2", "two"] if word == "two" else [2, 2]
    same(read(file(bom + text.encode())), Ensemble.from_labels({"a": [1, 1], "b": second}))


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_delimiters(file, delimiter):
    text = "a|b|c\n1|2|3\n1|2|4\n".replace("|", delimiter)
    expected = Ensemble.from_labels([[1, 2, 3], [1, 2, 4]], ["a", "b", "c"])
    same(read(file(text)), expected)
    if delimiter == "\t":
        same(read(file(text, "labels.tsv")), expected)
        same(read(file(text, "labels.dat"), ReadOptions(format="tsv")), expected)


def test_delimiter_is_counted_outside_quotes(file):
    same(read(file('"a;x;y",b\n1,2\n1,3\n')), Ensemble.from_labels({"a;x;y": [1, 1], "b": [2, 3]}))


def test_tab_file_keeps_commas(file):
    same(read(file("a,x\tb\n1\t2\n1\t2\n", "t.tsv")), Ensemble.from_labels({"a,x": [1, 1], "b": [2, 2]}))


def test_quotes_words_and_numbers_written_differently(file):
    text = 'a,b,c\n"x, y",1,1\n"q""r",01,1.0\n x ,1.0,1e0\n,null,N/A\nNone,<NA>,nan\n'
    expected = {"a": ["x, y", 'q"r', "x", None, None], "b": [1, 1, 1, None, None], "c": [1, 1, 1, None, None]}
    same(read(file(text)), Ensemble.from_labels(expected))


def test_whole_floats_take_the_fast_route(file, monkeypatch):
    monkeypatch.setattr("partita.io.text._read_general", None)
    same(read(file("a,b\n1.0,-3.\n2.00,4\n")), Ensemble.from_labels({"a": [1, 2], "b": [-3, 4]}))


def test_large_integers(file):
    huge = 10**30
    same(read(file(f"a,b\n{huge},1\n5,9999999999\n")), Ensemble.from_labels({"a": [huge, 5], "b": [1, 9999999999]}))


@pytest.mark.parametrize("cell", ["0.5", "1e-3", "1e400", "123456789012345678901.5"])
def test_fraction_is_no_label(file, cell):
    message = refused(file(f"a,b\n1,1\n2,1\n{cell},1\n"), LabelError)
    assert "column 'a', row 3" in message and "is not a label" in message


def test_fraction_among_words_is_a_word(file):
    assert read(file("a,b\nx,1\n0.5,1\n")).classes[0] == ("x", "0.5")


def test_minus_one_must_be_declared(file):
    path = file("a,b\n1,1\n-1,2\n1,2\n")
    message = refused(path, LabelError)
    assert "column 'a', row 2" in message and "--missing=-1" in message
    assert read(path, ReadOptions(missing=-1)).labels[:, 0].tolist() == [0, -1, 0]
    assert read(path, ReadOptions(missing=())).labels[:, 0].tolist() == [0, 1, 0]
    words = file("a,b\nx,1\n-1,2\nx,2\n", "words.csv")
    assert "column 'a', row 2" in refused(words, LabelError)
    assert read(words, ReadOptions(missing=-1)).labels[:, 0].tolist() == [0, -1, 0]


def test_declared_words_leave_numbers(file):
    found = read(file("a,b\n1,1\nnone at all,2\n"), ReadOptions(missing="none at all"))
    assert found.classes == ((1,), (1, 2)) and found.labels[:, 0].tolist() == [0, -1]


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("quoted", [False, True])
def test_id_column_anywhere(file, place, quoted):
    cells = [["a", "b"], ["1", "2"], ["1", "3"]]
    for row, name in zip(cells, ["cell", "µ-1", "x 2"], strict=True):
        row.insert(place, f'"{name}"' if quoted else name)
    text = "\n".join(",".join(row) for row in cells)
    same(
        read(file(text), ReadOptions(ids="cell")),
        Ensemble.from_labels({"a": [1, 1], "b": [2, 3]}, ids=["µ-1", "x 2"]),
    )


def test_ids_keep_their_text(file):
    assert read(file("cell,a,b\n007,1,2\n7,1,2\n"), ReadOptions(ids="cell")).ids.tolist() == ["007", "7"]


def test_pandas_row_names(tmp_path):
    frame = pd.DataFrame({"a": [1, 1, 2], "b": ["x", "y", "x"]}, index=["p", "q", "r"])
    path = tmp_path / "frame.csv"
    frame.to_csv(path)
    same(read(path), Ensemble.from_labels(frame))
    pd.DataFrame([[1, 2], [1, 3]]).to_csv(path)
    found = read(path)
    assert found.names == ("0", "1") and found.ids.tolist() == [0, 1]
    pd.DataFrame([[1, 2], [1, 3]]).to_csv(path, index=False)
    assert read(path).ids is None and read(path).names == ("0", "1")


def test_named_ids_put_row_names_aside(file):
    found = read(file(",cell,a,b\n1,p,1,2\n2,q,1,2\n"), ReadOptions(ids="cell"))
    assert found.ids.tolist() == ["p", "q"] and found.names == ("a", "b")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("cell,a,b\np,1,1\np,1,2\n", "id 'p' stands in rows 1 and 2"),
        ("cell,a,b\np,1,1\n,1,2\n", "row 2 has no id"),
        ('cell,a,b\n"p",1,1\n"p",1,2\n', "id 'p' stands in rows 1 and 2"),
    ],
)
def test_bad_ids(file, text, words):
    assert words in refused(file(text), TableError, ReadOptions(ids="cell"))


def test_unknown_id_column(file):
    assert "no column is called 'cell'; there are 'a', 'b'" in refused(file("a,b\n1,2\n"), options=Options(ids="cell"))


@pytest.mark.parametrize("wrap", ["", '"'])
def test_column_of_different_values_is_refused(file, wrap):
    rows = [f"{wrap}{i}{wrap},1,{i % 3}" for i in range(20)]
    message = refused(file("\n".join(["name,b,c", *rows])), CheckError)
    assert "'name'" in message and "set ids='name' if" in message and "(exclude=['name'])" in message
    assert read(file("\n".join(["name,b,c", *rows])), ReadOptions(ids="name")).names == ("b", "c")
    assert read(file("\n".join(["name,b,c", *rows])), ReadOptions(exclude=("name",))).ids is None
    assert read(file("\n".join(["name,b,c", *rows[:19]]))).sizes[0] == 19


def test_columns_by_name_and_pattern(file):
    path = file("leiden_1,louvain,leiden_2,note\n1,2,3,some text\n1,2,4,more\n")
    assert read(path, ReadOptions(columns=("leiden_*",))).names == ("leiden_1", "leiden_2")
    assert read(path, ReadOptions(columns=("louvain", "leiden_2"))).names == ("louvain", "leiden_2")
    assert read(path, ReadOptions(exclude=("note", "*_2"))).names == ("leiden_1", "louvain")
    assert "columns='kmeans_*' fits no column" in refused(path, options=Options(columns=("kmeans_*",)))
    assert "exclude='nota' fits no column" in refused(path, options=Options(exclude=("nota",)))
    assert "no clustering is left" in refused(path, options=Options(exclude=("*",)))
    literal = file("a[1],a1,b\n1,2,3\n", "literal.csv")
    assert read(literal, ReadOptions(columns=("a[1]", "b"))).names == ("a[1]", "b")


def test_left_out_columns_may_hold_anything(file, monkeypatch):
    monkeypatch.setattr("partita.io.text._read_general", None)
    found = read(file("a,note,b\n1,0.5 (half),2\n1,-1,2\n"), ReadOptions(exclude=("note",)))
    assert found.names == ("a", "b")


@pytest.mark.parametrize("first", ["5,6", "1,NA", "0.5,2", "1,0", ",5"])
def test_first_row_of_numbers_is_refused(file, first):
    path = file(f"{first}\n5,6\n5,7\n")
    message = refused(path)
    assert "looks like data" in message and "--no-header" in message
    if first in ("5,6", "1,0"):
        assert read(path, ReadOptions(header=False)).names == ("c0", "c1")
        assert len(read(path, ReadOptions(header=False))) == 3
        assert read(path, ReadOptions(header=True)).names == tuple(first.split(","))


def test_no_header(file):
    same(read(file("1,2\n3,2\n"), ReadOptions(header=False)), Ensemble.from_labels([[1, 2], [3, 2]]))
    assert read(file("x,1,2\ny,3,2\n"), ReadOptions(header=False, ids="c0")).ids.tolist() == ["x", "y"]


@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [
        ("", FileError, "the file is empty"),
        ("\n\n", FileError, "the file is empty"),
        ("\ufeff", FileError, "the file is empty"),
        ("a,b\n", FileError, "no data"),
        ("a\n1\n", FileError, "one clustering is no ensemble; is ',' the wrong delimiter?"),
        ("a b\n1 2\n", FileError, "one clustering is no ensemble"),
        ("a,b,c\n1,2,3\n1,2\n", FileError, "line 3 has 2 cells, the header 3"),
        ("a,b\n1,2\n1,2,3\n", FileError, "line 3 has 3 cells, the header 2"),
        ("a,b\n1,2\n\n1,2\n", FileError, "line 3 is empty"),
        ('a,b\n"x\ny",2\n1\n', FileError, "line 4 has 1 cell, the header 2"),
        ("a,b\n1,2\nx,2,3\n", FileError, "line 3 has 3 cells, the header 2"),
        ("a,,b\n1,2,3\n", FileError, "column 2 has no name"),
        ("a,b,a\n1,2,3\n", TableError, "column name 'a' appears twice"),
        (b"a,b\nx,1\n\xe9t\xe9,2\n", FileError, "line 3 is not UTF-8 text (byte 0xe9); save the file as UTF-8"),
        (b"a,\xff\n1,2\n", FileError, "line 1 is not UTF-8"),
        ("a,b".encode("utf-16"), FileError, "save the file as UTF-8"),
        ('a,b\n"x,2\n1,2\n', FileError, "line 2, column 'a': a quote is opened and never closed"),
    ],
)
def test_broken_text(file, text, kind, words):
    assert words in refused(file(text), kind)


def test_bad_encoding_in_ids_names_the_line(file):
    path = file(b"cell,a,b\np,1,2\n\xe9,1,2\n")
    assert "line 3 is not UTF-8" in refused(path, options=Options(ids="cell"))


def test_transposed(file):
    wide = "\n".join(",".join(str((i * j) % 3) for i in range(30)) for j in range(1, 3))
    names = ",".join(f"o{i}" for i in range(30))
    path = file(f"{names}\n{wide}\n")
    assert "transpose=True" in refused(path, CheckError)
    found = read(path, ReadOptions(transpose=True))
    assert found.labels.shape == (30, 2) and found.ids[0] == "o0" and found.names == ("c0", "c1")
    assert read(path, ReadOptions(transpose=False)).labels.shape == (2, 30)
    named = file("clustering,p,q\nk 2,x,y\nk 3,1,\nk 4,1,2\n", "named.csv")
    same(
        read(named, ReadOptions(transpose=True, ids="clustering", exclude=("k 4",))),
        Ensemble.from_labels({"k 2": ["x", "y"], "k 3": [1, None]}, ids=["p", "q"]),
    )
    bare = read(file("1,2\n1,3\n", "bare.csv"), ReadOptions(transpose=True, header=False))
    assert bare.ids is None and bare.labels.tolist() == [[0, 0], [1, 1]]


def test_transposed_memberships(file):
    path = file("cluster,p,q\ng:0,0.9,0.5\ng:1,.1,.5\nh,x,y\n")
    found = read(path, ReadOptions(transpose=True, ids="cluster"))
    same(found, SoftEnsemble.from_memberships({"g": [[0.9, 0.1], [0.5, 0.5]], "h": ["x", "y"]}, ids=["p", "q"]))


def test_weights(file):
    path = file("a,b\n1,2\n1,3\n")
    assert read(path, ReadOptions(weights={"b": 3})).weights.tolist() == [1, 3]
    assert "the weight of 'a' is -1" in refused(path, TableError, ReadOptions(weights=[-1, 1]))
    assert "is nan" in refused(path, TableError, ReadOptions(weights=[np.nan, 1]))


def test_memberships(file):
    path = file("cell,g:1,h,g:0\np,0.1,x,0.9\nq,,x,\nr,1,y,0\n")
    expected = {"g": [[0.9, 0.1], [np.nan, np.nan], [0, 1]], "h": ["x", "x", "y"]}
    same(
        read(path, ReadOptions(ids="cell", weights={"g": 2})),
        SoftEnsemble.from_memberships(expected, ids=["p", "q", "r"], weights=[2, 1]),
    )
    assert read(path, ReadOptions(ids="cell", columns=("g", "h"))).names == ("g", "h")


def test_memberships_that_look_hard(file):
    found = read(file("g:0,g:1,h\n1,0,5\n0,1,\n,,5\n"))
    blocks = {"g": [[1, 0], [0, 1], [np.nan, np.nan]], "h": [5, None, 5]}
    same(found, SoftEnsemble.from_memberships(blocks))


def test_only_memberships(file):
    found = read(file("g:0,g:1,h:0,h:1\n.5,.5, 0.25 ,0.75\n1,0,NA, \n"))
    assert found.matrix.tolist() == [[0.5, 0.5, 0.25, 0.75], [1, 0, 0, 0]]


@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [
        ("a:0,a:2,b\n.5,.5,1\n", FileError, "a:0, a:2"),
        ("a:0,b\n.5,1\n", FileError, "'a' are not complete"),
        ("a:1,a:2,b\n.5,.5,1\n", FileError, "'a' are not complete"),
        ("a:0,a:1\n.5,.5\n", FileError, "one clustering is no ensemble"),
        ("a,a:0,a:1\n1,.5,.5\n", TableError, "given twice"),
        ("a:0,a:1,a\n.5,.5,1\n", TableError, "given twice"),
        ("a:0,a:1,b\n.5,.5,1\n.5,.4,1\n", LabelError, "clustering 'a', row 2: memberships sum to 0.9"),
        ("a:0,a:1,b\n.5,.5,1\n-.5,1.5,1\n", LabelError, "clustering 'a', row 2"),
        ("a:0,a:1,b\n.5,.5,1\n.5,half,1\n", LabelError, "column 'a:1', row 2: 'half' is not a membership"),
        ("a:0,a:1,b\n.5,,1\n", LabelError, "clustering 'a', row 1"),
    ],
)
def test_broken_memberships(file, text, kind, words):
    assert words in refused(file(text), kind)


def test_gzip(file):
    text = b"a,b\n1,2\n1,x\n"
    expected = Ensemble.from_labels({"a": [1, 1], "b": ["2", "x"]})
    same(read(file(gzip.compress(text), "l.csv.gz")), expected)
    same(read(file(gzip.compress(text)[:20] + gzip.compress(text)[20:], "l.csv")), expected)
    same(read(file(gzip.compress(text[:6]) + gzip.compress(text[6:]), "two.csv.gz")), expected)
    assert "cut off or damaged" in refused(file(gzip.compress(text)[:-9], "cut.csv.gz"))
    assert "is not gzip data" in refused(file(text, "plain.csv.gz"))
    assert "the file is empty" in refused(file(gzip.compress(b""), "none.csv.gz"))


@pytest.mark.parametrize("data", [b"a,b\n1,2\n1,3\n", gzip.compress(b"a;b\n1;2\n1;3\n")], ids=["plain", "packed"])
def test_standard_input(monkeypatch, data):
    monkeypatch.setattr(sys, "stdin", types.SimpleNamespace(buffer=io.BytesIO(data)))
    same(read("-"), Ensemble.from_labels({"a": [1, 1], "b": [2, 3]}))


def test_standard_input_is_named(monkeypatch):
    monkeypatch.setattr(sys, "stdin", types.SimpleNamespace(buffer=io.BytesIO(b"")))
    with pytest.raises(FileError, match=r"^standard input: the file is empty"):
        read("-")


def test_column_called_like_a_magic(file):
    assert read(file("PAR1,PAR2\n1,2\n1,3\n")).names == ("PAR1", "PAR2")


def test_long_lines_and_quoted_newlines(file):
    long = "x" * (5 << 20)
    found = read(file(f'a,b\n"{long}\n",1\ny,1\n'))
    assert found.classes[0] == (long, "y")


def slowly(text, delimiter, ids):
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    table = {
        name: [int(float(row[j])) if row[j] else None for row in rows[1:]] for j, name in enumerate(rows[0]) if j != ids
    }
    return Ensemble.from_labels(table, missing=(), ids=None if ids is None else [row[ids] for row in rows[1:]])


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("ids", [None, 2])
def test_many_chunks_against_a_slow_reading(file, monkeypatch, threads, ids):
    monkeypatch.setattr(plain, "CHUNK_BYTES", 200)
    monkeypatch.setattr("partita.io.text._read_general", None)
    rng = np.random.default_rng(1)
    cells = rng.integers(-300, 300, (500, 5)).astype(str)
    cells[rng.random(cells.shape) < 0.2] = ""
    if ids is not None:
        cells[:, ids] = [f"o{i}" for i in range(500)]
    text = "\n".join(";".join(row) for row in [["a", "b", "c", "d", "e"], *cells]) + "\n"
    path = file(text.replace("\n", "\r\n") if threads == 2 else text)
    with thread_limit(threads):
        found = read(path, ReadOptions(missing=(), ids=None if ids is None else "c"))
    slow = slowly(text, ";", ids)
    np.testing.assert_array_equal(found.labels, slow.labels)
    assert found.classes == slow.classes and (ids is None or found.ids.tolist() == slow.ids.tolist())


def test_missing_and_forbidden_files(tmp_path, monkeypatch):
    assert "no such file" in refused(tmp_path / "none.csv")
    assert "is a directory" in refused(tmp_path)
    assert "zero byte" in refused(f"{tmp_path}/a\0b.csv")
    strange = tmp_path / "labels.xyz"
    strange.write_text("a,b\n1,2\n")
    message = refused(strange)
    assert "'.xyz'" in message and ".parquet" in message and ".h5ad" in message and "--format" in message
    assert "format 'xls' is not known" in refused(strange, options=Options(format="xls"))
    assert read(strange, ReadOptions(format="csv")).names == ("a", "b")

    def forbid(self, *args, **kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.open", forbid)
    assert "permission denied" in refused(strange)


@pytest.mark.parametrize("path", [None, 5, io.BytesIO(b"a,b\n1,2\n")])
def test_what_is_no_path_is_refused(path):
    with pytest.raises(FileError, match="is not a path"):
        read(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('a,b\n1,"1\n2,2\n', "line 2, column 'b': a quote is opened and never closed"),
        ('a,b\n1,1\n"2"x,2\n', "line 3, column 'a': a quote closes before the cell ends"),
        ('a,b\n1,1\n2,"2,2\n3,"3,3\n', "line 3, column 'b': a quote closes before the cell ends"),
    ],
)
def test_a_stray_quote_swallows_no_rows(file, text, message):
    with pytest.raises(FileError, match=re.escape(message)):
        read(file(text))


def strict_reader_takes(text):
    """Whether Python's own reader finds every quote in order."""
    try:
        list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except csv.Error:
        return False
    return True


@steady
@given(st.text('"a,\n', max_size=14))
def test_quotes_are_checked_as_pythons_reader_checks_them(text):
    place, _, _ = broken_quote(sealed(np.frombuffer(text.encode(), np.uint8)), ord(","))
    assert (place < 0) == strict_reader_takes(text)
