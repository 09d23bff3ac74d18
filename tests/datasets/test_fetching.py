"""Fetching from OpenML: a stand-in for the network, real answers of OpenML that scikit-learn brings, and no network."""

import gzip
import io
import re
import warnings
from importlib import resources
from urllib.error import HTTPError, URLError

import numpy as np
import pytest
import sklearn.datasets
from sklearn.utils import Bunch

from partita.core.errors import FileError, ParameterError
from partita.datasets import CATALOGUE, fetch, load
from partita.datasets.fetching import download

REAL = "sklearn.datasets.tests.data.openml.id_61"


def answer(name, order=None, more=(), **changed):
    """What OpenML might say of a set: its sizes, columns that are no features, its own names and order of classes."""
    entry, rng = CATALOGUE[name], np.random.default_rng(0)
    target = np.repeat(np.array(changed.pop("classes", entry.classes), dtype=object), entry.counts)
    columns = [f"v{j}" for j in range(entry.d)]
    X = rng.integers(0, 9, (len(target), entry.d + len(more))).astype(float)
    rows = rng.permutation(len(target)) if order is None else order
    found = {"data": X[rows], "target": target[rows], "feature_names": [*more, *columns], **changed}
    return Bunch(**found)


@pytest.fixture
def openml(monkeypatch):
    """A stand-in for scikit-learn's fetcher; returns what it was asked and lets a test say what it answers."""
    asked, said = [], {}

    def fetch_openml(**words):
        asked.append(words)
        if words["target_column"] != "default-target":  # OpenML marks such columns, and scikit-learn says so
            warnings.warn(f"target_column='{words['target_column']}' has flag is_ignore.", stacklevel=2)
        if isinstance(said["answer"], BaseException):
            raise said["answer"]
        return said["answer"]

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch_openml)
    return asked, lambda value: said.update(answer=value)


def test_a_copy_is_written_and_loaded(openml, tmp_path):
    asked, say = openml
    bunch = answer("ecoli")
    say(bunch)
    folder = tmp_path / "new" / "data"
    got = fetch("ecoli", folder)
    assert asked[0]["data_id"] == 39 and asked[0]["as_frame"] is False and asked[0]["parser"] == "liac-arff"
    assert [path.relative_to(folder).as_posix() for path in folder.rglob("*.*")] == ["copies/ecoli.csv.gz"]
    again = load("ecoli", folder)
    assert np.array_equal(got.X, bunch.data) and np.array_equal(again.X, bunch.data)
    assert [again.classes[code] for code in again.labels] == bunch.target.tolist()
    assert again.classes == CATALOGUE["ecoli"].classes
    assert "not every value does" in again.source and again.source == got.source


def test_into_the_users_cache(openml, tmp_path, monkeypatch):
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("PARTITA_DATA", raising=False)
    openml[1](answer("ecoli"))
    fetch("ecoli")
    assert (tmp_path / "partita" / "copies" / "ecoli.csv.gz").is_file() and len(load("ecoli")) == 336


def test_columns_that_are_no_features_are_left_out(openml, tmp_path):
    bunch = answer("vowel", more=("Train_or_Test", "speaker_number", "Sex"))
    openml[1](bunch)
    assert np.array_equal(fetch("vowel", tmp_path).X, bunch.data[:, 3:])


def test_another_target_column_and_classes_as_numbers(openml, tmp_path):
    asked, say = openml
    say(answer("bupa", classes=(1.0, 2.0)))
    got = fetch("bupa", tmp_path)
    assert asked[0]["target_column"] == "selector"
    assert got.classes == ("1", "2") and np.bincount(got.labels).tolist() == [145, 200]


def test_some_letters_of_some_rows(openml, tmp_path):
    """ISOLET at OpenML has 26 letters by number in 7797 rows, of which the first 6238 are isolet1+2+3+4."""
    rng = np.random.default_rng(0)
    letters = [str(number) for number in range(1, 27)]
    first = rng.permutation(np.array((letters * 240)[:6240], dtype=object))
    keep = np.flatnonzero(~np.isin(first, ["26"]))
    dropped = np.flatnonzero(first == "26")[2:]
    first = first[np.sort(np.concatenate([keep, dropped]))]
    target = np.concatenate([first, rng.choice(np.array(letters, dtype=object), 1559)])
    assert len(first) == 6238 and len(target) == 7797
    X = rng.integers(99, size=(7797, 617)).astype(float)
    openml[1](Bunch(data=X, target=target, feature_names=[f"v{j}" for j in range(617)]))
    got = fetch("isolet6", tmp_path)
    wanted = [i for i in range(6238) if target[i] in {"1", "2", "3", "4", "5", "7"}]
    assert got.X.shape == (1440, 617) and np.array_equal(got.X, X[wanted])
    assert got.classes == tuple("ABCDEG")
    assert ["ABCDEG".index("ABCDEFG"[int(target[i]) - 1]) for i in wanted] == got.labels.tolist()


def test_names_of_classes_that_are_not_ours(openml, tmp_path):
    openml[1](answer("ionosphere", classes=("g", "b")))
    got = fetch("ionosphere", tmp_path)
    assert got.classes == ("b", "g") and np.bincount(got.labels).tolist() == [126, 225]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"order": np.arange(335)}, "objects: 335, expected 336"),
        ({"more": ("surprise",)}, "features: 8, expected 7"),
        ({"classes": ("cp", "im", "pp", "cp", "om", "omL", "imL", "imS")}, "class sizes:"),
    ],
)
def test_other_data_under_the_same_number_are_refused(openml, tmp_path, changed, said):
    openml[1](answer("ecoli", **changed))
    with pytest.raises(FileError, match=rf"OpenML 39 \(ecoli\): this is not ecoli; .*{said}"):
        fetch("ecoli", tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (URLError("[Errno -2] Name or service not known"), "Name or service not known"),
        (HTTPError("https://openml", 503, "Service\nUnavailable", None, None), "Service Unavailable"),
        (TimeoutError("timed out"), "timed out"),
        (ValueError("Dataset with data_id 39 not found."), "not found"),
    ],
)
def test_no_network_is_one_line(openml, tmp_path, error, reason):
    openml[1](error)
    with pytest.raises(FileError) as told:
        fetch("ecoli", tmp_path)
    said = str(told.value)
    assert said.startswith("OpenML 39 (ecoli): cannot be fetched (") and reason in said and "\n" not in said
    assert "UCI: Ecoli" in said and "copies/ecoli.csv" in said
    assert told.value.__cause__ is None and told.value.__suppress_context__
    assert not list(tmp_path.iterdir())


def test_scikit_learns_own_retries_say_nothing(monkeypatch, tmp_path):
    """The real fetcher without a network: it tries again with a warning each time; we tell the end of it."""

    def unreachable(*_, **__):
        raise URLError("no route")

    monkeypatch.setattr("sklearn.datasets._openml.urlopen", unreachable)
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    with pytest.raises(FileError, match=r"OpenML 32 \(pendigits\): cannot be fetched \(no route\)"):
        fetch("pendigits", tmp_path)


def test_a_real_answer_of_openml(monkeypatch):
    """scikit-learn's tests carry what OpenML answers for iris; the true fetcher parses it."""
    folder = resources.files(REAL)
    parts = {
        "/json/data/features/61": "api-v1-jdf-61.json.gz",
        "/json/data/qualities/61": "api-v1-jdq-61.json.gz",
        "/json/data/61": "api-v1-jd-61.json.gz",
        "/download/61": "data-v1-dl-61.arff.gz",
    }

    class Response(io.BytesIO):
        def info(self):
            return {}

    def urlopen(request, **_):
        name = next(file for part, file in parts.items() if re.search(rf"{part}(/|$)", request.full_url))
        return Response(gzip.decompress((folder / name).read_bytes()))

    monkeypatch.setattr("sklearn.datasets._openml.urlopen", urlopen)
    entry = CATALOGUE["iris"]
    got, ours = download(entry, entry.openml), load("iris")
    assert got.source == "OpenML 61 (iris)" and np.array_equal(got.labels, np.repeat([0, 1, 2], 50))
    different = np.flatnonzero((got.X != ours.X).any(axis=1))
    assert different.tolist() in ([34, 37], [])  # the file at UCI has its two known errors, samples 35 and 38


def test_what_needs_no_fetching(tmp_path):
    with pytest.raises(ParameterError, match="iris: comes with scikit-learn and needs no file"):
        fetch("iris", tmp_path)
    with pytest.raises(ParameterError, match="2d2k: is not on OpenML and needs no file"):
        fetch("2d2k", tmp_path)
    with pytest.raises(FileError, match=r"trace: is not on OpenML; .*UCR time series archive: Trace"):
        fetch("trace", tmp_path)


def test_a_folder_that_cannot_be_written(openml, tmp_path):
    (tmp_path / "file").write_text("in the way")
    openml[1](answer("ecoli"))
    with pytest.raises(FileError, match=r"cannot be written \(.*\); choose a folder with --data"):
        fetch("ecoli", tmp_path / "file")
