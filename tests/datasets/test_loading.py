"""Where data sets come from: folders, checksums, copies from elsewhere, and what is said when they are not there."""

import gzip
import hashlib
import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from partita.core.errors import FileError, ParameterError
from partita.datasets import CATALOGUE, POOLS, load, load_pool
from partita.datasets import pools as pools_module
from partita.datasets.checking import values_digest
from partita.datasets.entry import Entry
from partita.datasets.folder import cache_folder, data_folder
from partita.datasets.loading import state
from partita.datasets.tables import coded, read_table, table_text

TABLE = "f0,f1,label\n1.5,2,0\n-3,4e-3,1\n5,6,1\n7,8.25,0\n9,0,1\n"
TINY = Entry(
    name="tiny",
    title="five objects",
    file="tiny.csv",
    sha256=hashlib.sha256(TABLE.encode()).hexdigest(),
    values=values_digest(np.array([[1.5, 2], [-3, 0.004], [5, 6], [7, 8.25], [9, 0]])),
    d=2,
    counts=(2, 3),
    classes=("even", "odd"),
    papers=("wang2009",),
    licence="none",
    cite="nobody",
    archive="an archive: Tiny",
    parts={"train": (0, 2), "test": (2, 5)},
)


@pytest.fixture
def tiny(monkeypatch):
    """A catalogue with a set small enough to write down; gives a way to change its entry."""
    monkeypatch.setitem(CATALOGUE, "tiny", TINY)
    return lambda **facts: monkeypatch.setitem(CATALOGUE, "tiny", replace(TINY, **facts))


def copies(folder, text, name="tiny.csv"):
    (folder / "copies").mkdir(exist_ok=True)
    path = folder / "copies" / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return path


def test_a_checked_file(tiny, tmp_path):
    (tmp_path / "tiny.csv").write_text(TABLE)
    data = load("tiny", tmp_path)
    assert data.X.tolist() == [[1.5, 2], [-3, 0.004], [5, 6], [7, 8.25], [9, 0]]
    assert data.labels.tolist() == [0, 1, 1, 0, 1] and data.classes == ("even", "odd")
    assert data.k == 2 and len(data) == 5 and data.source == f"{tmp_path / 'tiny.csv'}, checksum right"
    assert not data.X.flags.writeable and not pickle.loads(pickle.dumps(data)).labels.flags.writeable


def test_parts(tiny, tmp_path):
    (tmp_path / "tiny.csv").write_text(TABLE)
    test = load("tiny", tmp_path, part="test")
    assert test.X[:, 0].tolist() == [5, 7, 9] and test.labels.tolist() == [1, 0, 1]
    assert "rows 2 to 4" in test.source
    with pytest.raises(ParameterError, match="part='dev': the parts of tiny are train, test"):
        load("tiny", tmp_path, part="dev")
    with pytest.raises(ParameterError, match="the parts of iris are none"):
        load("iris", tmp_path, part="test")


def test_a_changed_file_is_refused(tiny, tmp_path):
    changed = TABLE.replace("8.25", "8.26")
    (tmp_path / "tiny.csv").write_text(changed)
    with pytest.raises(FileError) as error:
        load("tiny", tmp_path)
    said = str(error.value)
    assert str(tmp_path / "tiny.csv") in said and "delete it" in said and "copies/tiny.csv" in said
    assert TINY.sha256 in said and hashlib.sha256(changed.encode()).hexdigest() in said
    assert "\n" not in said


def test_counts_and_labels_apart(tiny, tmp_path):
    counts, labels = b"doc,word,count\n0,1,3\n2,0,1\n", b"label\n0\n1\n1\n"
    sums = {"sha256": hashlib.sha256(gzip.compress(counts, mtime=0)).hexdigest()}
    sums["labels_sha256"] = hashlib.sha256(labels).hexdigest()
    tiny(file="tiny_counts.csv.gz", labels_file="tiny_labels.csv", counts=(1, 2), **sums)
    (tmp_path / "tiny_counts.csv.gz").write_bytes(gzip.compress(counts, mtime=0))
    with pytest.raises(FileError, match=r"tiny_labels.csv: cannot be read \(No such file"):
        load("tiny", tmp_path)
    (tmp_path / "tiny_labels.csv").write_bytes(labels)
    data = load("tiny", tmp_path)
    assert data.X.tolist() == [[0, 3], [0, 0], [1, 0]] and data.labels.tolist() == [0, 1, 1]
    (tmp_path / "tiny_labels.csv").write_bytes(labels + b"1\n")
    with pytest.raises(FileError, match=r"tiny_labels.csv: sha256 is"):
        load("tiny", tmp_path)


@pytest.mark.parametrize("name", ["tiny.csv", "tiny.csv.gz"])
def test_a_copy_from_elsewhere(tiny, tmp_path, name):
    header, *rows = TABLE.replace(",0\n", ",Even\n").replace(",1\n", ",ODD\n").splitlines()
    path = copies(tmp_path, "\n".join([header, *reversed(rows)]) + "\n", name)
    data = load("tiny", tmp_path)
    assert data.X[:, 0].tolist() == [9, 7, 5, -3, 1.5]
    assert data.labels.tolist() == [1, 0, 1, 1, 0] and data.classes == ("even", "odd")
    assert str(path) in data.source and "the values are those of the catalogue" in data.source
    with pytest.raises(FileError, match=r"part 'test': only tiny.csv has its rows in a known order; .*no tiny.csv in"):
        load("tiny", tmp_path, part="test")


def test_a_copy_with_other_values_says_so(tiny, tmp_path):
    copies(tmp_path, TABLE.replace("8.25", "8.26"))
    assert "not every value does" in load("tiny", tmp_path).source


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (TABLE + "1,1,0\n", "objects: 6, expected 5"),
        (TABLE.replace("8.25,0", "8.25,1"), r"class sizes: \[1, 4\], expected \[2, 3\]"),
        ("f0,label\n1,0\n2,0\n3,1\n4,1\n5,1\n", "features: 1, expected 2"),
        (TABLE.replace("8.25", "tall"), "no table of numbers"),
        (TABLE.replace("8.25", ""), "row 3, feature 1 is empty"),
        (TABLE.replace("8.25", "nan"), "row 3, feature 1 is empty or not finite"),
        (TABLE.replace("7,8.25,0", "7,8.25"), "no table of numbers"),
        ("", "no table of numbers"),
        ("label\n1\n", "no table of numbers"),
    ],
)
def test_a_copy_that_cannot_be_it_is_refused(tiny, tmp_path, text, said):
    path = copies(tmp_path, text)
    with pytest.raises(FileError, match=said) as error:
        load("tiny", tmp_path)
    assert str(error.value).startswith(str(path)) and "\n" not in str(error.value)


def test_a_broken_gzip_is_refused(tiny, tmp_path):
    path = copies(tmp_path, TABLE, "tiny.csv.gz")
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(FileError, match=r"tiny.csv.gz: is no whole gzip file"):
        load("tiny", tmp_path)


def test_the_file_comes_before_the_copy(tiny, tmp_path):
    copies(tmp_path, TABLE)
    assert state(TINY, tmp_path) == "copy"
    (tmp_path / "tiny.csv").write_text(TABLE)
    assert state(TINY, tmp_path) == "file" and "checksum" in load("tiny", tmp_path).source


def test_absent_and_how_to_get_it(tmp_path):
    with pytest.raises(FileError) as error:
        load("pendigits", tmp_path)
    said = str(error.value)
    assert said.startswith(f"pendigits: there is no pendigits.csv.gz in {tmp_path}; ") and "\n" not in said
    for way in ("`partita datasets fetch pendigits`", "OpenML 32", "PARTITA_DATA", "--data", "UCI: Pen-Based"):
        assert way in said
    assert "copies/pendigits.csv: a header line, 16 features, the class last" in said
    with pytest.raises(FileError, match="UCR time series archive: Trace") as error:
        load("trace", tmp_path)
    assert "fetch" not in str(error.value)


def test_every_set_is_had_or_explained_without_a_folder(tmp_path):
    """No data folder at all: 8 sets come, the others say how."""
    had = []
    for name, entry in CATALOGUE.items():
        try:
            had.append(load(name, tmp_path).name)
            assert state(entry, tmp_path) in ("scikit-learn", "made")
        except FileError as error:
            assert f"no {entry.file} in" in str(error) and state(entry, tmp_path).startswith("absent")
    assert had == ["iris", "wine", "wdbc", "synthetic_control", "halfrings", "two_spirals", "2d2k", "8d5k"]


@pytest.mark.parametrize("name", ["iris", "wine", "wdbc"])
def test_scikit_learn_needs_no_file(name, tmp_path):
    data, entry = load(name, tmp_path), CATALOGUE[name]
    assert data.X.shape == (entry.n, entry.d) and data.classes == entry.classes
    assert tuple(np.bincount(data.labels)) == entry.counts and values_digest(data.X) == entry.values
    assert entry.package in data.source


def test_folders_in_their_order(monkeypatch, tmp_path):
    given, variable, cache = (tmp_path / name for name in ("given", "variable", "cache"))
    for folder in (given, variable):
        folder.mkdir()
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    monkeypatch.setenv("PARTITA_DATA", str(variable))
    assert data_folder(given) == data_folder(str(given)) == given
    assert data_folder() == variable
    monkeypatch.setenv("PARTITA_DATA", "")
    assert data_folder() == cache / "partita"
    monkeypatch.delenv("PARTITA_DATA")
    assert data_folder() == cache / "partita"


def test_a_named_folder_must_be_there(monkeypatch, tmp_path):
    with pytest.raises(FileError, match="gone: the data folder names no folder that is there"):
        load("iris", tmp_path / "gone")
    monkeypatch.setenv("PARTITA_DATA", str(tmp_path / "lost"))
    with pytest.raises(FileError, match="lost: PARTITA_DATA names no folder that is there"):
        load("iris")


@pytest.mark.parametrize(
    ("platform", "variables", "place"),
    [
        ("linux", {}, "/home/ann/.cache/partita"),
        ("linux", {"XDG_CACHE_HOME": "/big/cache"}, "/big/cache/partita"),
        ("linux", {"XDG_CACHE_HOME": "beside"}, "/home/ann/.cache/partita"),
        ("darwin", {"XDG_CACHE_HOME": "/big/cache"}, "/home/ann/Library/Caches/partita"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/partita/Cache"),
        ("win32", {}, "/home/ann/AppData/Local/partita/Cache"),
    ],
)
def test_cache_of_each_platform(platform, variables, place):
    assert cache_folder(platform, variables, Path("/home/ann")).as_posix() == place


def test_text_goes_round(tmp_path):
    """What is written is read as it was, every bit of it."""
    rng = np.random.default_rng(0)
    iris = load("iris", tmp_path)
    data = replace(iris, X=rng.standard_normal((150, 3)) * 10.0 ** rng.integers(-9, 9, (150, 3)))
    again = read_table(Path("made.csv"), table_text(data))
    assert np.array_equal(again.X, data.X)
    labels, classes = coded(again.classes, iris.classes, (50, 50, 50))
    assert np.array_equal(labels, iris.labels) and classes == iris.classes


def test_class_names_of_strangers_are_kept_in_order():
    codes, classes = coded(["10", "9", "1", "10"], ("a", "b", "c"), (1, 1, 2))
    assert codes.tolist() == [2, 1, 0, 2] and classes == ("1", "9", "10")


def test_digest_minds_values_not_order():
    X = np.random.default_rng(0).standard_normal((40, 3))
    moved = X.copy()
    moved[7, 1] += 1e-4
    assert values_digest(X) == values_digest(X[::-1]) != values_digest(moved)
    assert values_digest(X) != values_digest(X[:, ::-1])


def test_a_changed_pool_is_refused(tmp_path, monkeypatch):
    with pytest.raises(FileError, match=r"ecoli.npz: this pool is not there; set PARTITA_DATA"):
        load_pool("ecoli", tmp_path)
    (tmp_path / "pools").mkdir()
    path, rng = tmp_path / "pools" / "ecoli.npz", np.random.default_rng(0)
    labels, truth = rng.integers(4, size=(30, 6)).astype(np.uint8), np.arange(30) % 3
    np.savez(path, labels=labels, reference=truth.astype(np.uint8))
    with pytest.raises(FileError, match=r"ecoli.npz: sha256 is"):
        load_pool("ecoli", tmp_path)
    right = POOLS["ecoli"]._replace(sha256=hashlib.sha256(path.read_bytes()).hexdigest())
    monkeypatch.setitem(pools_module.POOLS, "ecoli", right)
    pool = load_pool("ecoli", tmp_path)
    assert pool.k == 3 and np.array_equal(pool.truth, truth)
    for ours, theirs in zip(pool.ensemble.labels.T, labels.T, strict=True):
        assert np.array_equal(ours[:, None] == ours, theirs[:, None] == theirs)
