"""partita run --save-model and partita predict as a user meets them."""

import contextlib
import csv
import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import partita
from partita.cli.main import app
from partita.core.errors import FileError, PartitaError
from tests.samples import noisy, noisy_labels

pytestmark = pytest.mark.filterwarnings("ignore::partita.core.errors.UnseenLabelWarning")
COLUMNS = {"who", "consensus", "confidence", "second", "second_item_consensus"}


def command(*words, cwd, stdin=None):
    """A command within this process; what `main` makes of its errors is tested in test_commands."""
    with contextlib.chdir(cwd):
        done = CliRunner().invoke(app, list(map(str, words)), input=stdin)
    if done.exception is not None and not isinstance(done.exception, (SystemExit, PartitaError)):
        raise done.exception
    mistake = str(done.exception) if isinstance(done.exception, PartitaError) else None
    return SimpleNamespace(returncode=done.exit_code, stdout=done.stdout, stderr=done.stderr, mistake=mistake)


def write(path, header, rows):
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([header, *rows])


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with a label table, two models of it and files of new objects."""
    folder = tmp_path_factory.mktemp("predict")
    labels, _ = noisy_labels(n=60, r=4, k=3, missing=0.1)
    write(folder / "labels.csv", ["who", *"abcd"], [[f"o{i}", *row] for i, row in enumerate(labels.tolist())])
    for method in ("mm", "qmi"):
        done = command(
            *("run", "labels.csv", "--id", "who", "-k", 3, "-m", method, "--missing=-1", "-o", f"{method}.csv"),
            *("--save-model", f"{method}.npz", "-q"),
            cwd=folder,
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    write(
        folder / "new.csv", ["d", "b", "who", "a", "c"], [[0, 1, "x", 2, 0], [-1, -1, "y", -1, -1], [9, 0, "z", 0, 0]]
    )
    return folder


def rows_of(text):
    return list(csv.DictReader(text.splitlines()))


def test_training_rows_go_where_they_went(place):
    for method in ("mm", "qmi"):
        done = command("predict", f"{method}.npz", "labels.csv", "--id", "who", cwd=place)
        assert done.returncode == 0, done.stderr
        ours, theirs = rows_of(done.stdout), rows_of((place / f"{method}.csv").read_text())
        assert [(row["who"], row["consensus"]) for row in ours] == [(row["who"], row["consensus"]) for row in theirs]
    result = partita.consensus(partita.read(place / "labels.csv", ids="who", missing=-1), "mm", 3)
    assert np.allclose(
        [[float(row[f"consensus:{c}"] or "nan") for c in range(3)] for row in rows_of((place / "mm.csv").read_text())],
        result.membership,
        equal_nan=True,
    )


def test_new_objects_and_the_summary(place):
    """Columns are found by name, -1 means what it meant in training, unseen labels are counted."""
    done = command("predict", "mm.npz", "new.csv", "--id", "who", cwd=place)
    rows = rows_of(done.stdout)
    assert [row["who"] for row in rows] == ["x", "y", "z"] and rows[1]["consensus"] == "-1"
    assert {"consensus", "confidence", "consensus:0", "consensus:2"} <= set(rows[0])
    for line in (
        "objects: 3",
        "objects without labels: 1",
        "labels never seen: 1",
        "log likelihood: -",
        "perplexity: ",
    ):
        assert line in done.stderr
    assert "by mm" in done.stderr
    quiet = command("predict", "mm.npz", "new.csv", "--id", "who", "-q", "--no-membership", cwd=place)
    assert quiet.stderr == "" and set(rows_of(quiet.stdout)[0]) == {
        "who",
        "consensus",
        "confidence",
        "second",
        "second_item_consensus",
    }
    plain = command("predict", "qmi.npz", "new.csv", "--id", "who", cwd=place)
    assert set(rows_of(plain.stdout)[0]) == COLUMNS and "perplexity" not in plain.stderr
    assert "approximate" not in plain.stderr


def test_bounds_are_called_bounds(place, tmp_path):
    """The likelihood of BCE is a lower bound in the summary, unless --exact is given."""
    result = partita.consensus(noisy(n=30, r=4, k=3), "bce-vb", 3, smoothing=0.5)
    partita.save_model(result, tmp_path / "bce.npz")
    (tmp_path / "new.csv").write_text("c0,c1,c2,c3\n0,1,2,0\n1,1,,2\n")
    said = []
    for options in ((), ("--exact",)):
        done = command("predict", "bce.npz", "new.csv", "--json", "-o", "out.csv", *options, cwd=tmp_path)
        said.append((json.loads(done.stdout), done.stderr))
    (bound, shown), (exact, exactly) = said
    assert "log likelihood" not in bound and "log likelihood bound" not in exact
    assert bound["log likelihood bound"] < exact["log likelihood"] and bound["perplexity bound"] > exact["perplexity"]
    assert "log likelihood bound: -" in shown and "log likelihood: -" in exactly


def test_json_and_files(place, tmp_path):
    whole = json.loads(command("predict", "mm.npz", "new.csv", "--id", "who", "--json", "-q", cwd=place).stdout)
    assert whole["objects"]["id"] == ["x", "y", "z"] and whole["recipe"]["method"] == "mm"
    assert whole["objects"]["membership"][1] == [None] * 3
    out = tmp_path / "out.parquet"
    done = command("predict", "mm.npz", "new.csv", "--id", "who", "--json", "-o", out, cwd=place)
    said = json.loads(done.stdout)
    assert said["objects"] == 3 and said["labels never seen"] == 1 and said["perplexity"] > 1 and out.exists()
    assert partita.io.read_labels(out, None, ids="who").values.tolist() == whole["objects"]["consensus"]


@pytest.mark.parametrize("words", [("-m", "hbgf"), ("-m", "mm", "--polish")])
def test_a_method_without_a_model_and_polished_labels_predict_approximately(place, tmp_path, words):
    saved = ("-k", 3, "--id", "who", "--missing=-1", "--save-model", tmp_path / "m.npz", "-o", tmp_path / "out.csv")
    assert command("run", "labels.csv", *words, *saved, "-q", cwd=place).returncode == 0
    done = command("predict", tmp_path / "m.npz", "new.csv", "--id", "who", cwd=place)
    assert "note: the model is approximate" in done.stderr and len(rows_of(done.stdout)) == 3
    whole = command("predict", tmp_path / "m.npz", "new.csv", "--id", "who", "--json", "-q", cwd=place)
    assert json.loads(whole.stdout)["detail"]["approximate"] is True


def test_one_new_object_of_many_clusterings_from_stdin(place):
    labels, _ = noisy_labels(n=50, r=25, k=2)
    write(place / "wide.csv", [f"r{j}" for j in range(25)], labels.tolist())
    command("run", "wide.csv", "-k", 2, "-m", "voting", "--save-model", "wide.npz", "-q", "-o", "w.csv", cwd=place)
    text = ",".join(f"r{j}" for j in range(25)) + "\n" + ",".join(map(str, labels[0])) + "\n"
    done = command("predict", "wide.npz", "-", cwd=place, stdin=text)
    assert rows_of(done.stdout)[0]["consensus"] == "0", done.stderr


def test_memberships_in_files(place):
    header, rows = ["a:0", "a:1", "b"], [[0.9, 0.1, "x"], [0.8, 0.2, "x"], [0.2, 0.8, "y"], [0.1, 0.9, "y"]]
    write(place / "soft.csv", header, rows)
    command("run", "soft.csv", "-k", 2, "-m", "mm", "--save-model", "soft.npz", "-q", "-o", "s.csv", cwd=place)
    write(place / "softnew.csv", header, [[0.3, 0.7, "y"], [0.9, 0.1, ""]])
    done = command("predict", "soft.npz", "softnew.csv", cwd=place)
    assert [row["consensus"] for row in rows_of(done.stdout)] == ["1", "0"], done.stderr
    write(place / "hardnew.csv", ["a", "b"], [[1, "y"], [0, "x"]])
    done = command("predict", "soft.npz", "hardnew.csv", cwd=place)
    assert [row["consensus"] for row in rows_of(done.stdout)] == ["1", "0"], done.stderr


BAD = {
    "no model": (["predict", "absent.npz", "new.csv"], "absent.npz: no such file"),
    "a table for a model": (["predict", "labels.csv", "new.csv"], "labels.csv: is no model"),
    "no table": (["predict", "mm.npz", "absent.csv"], "absent.csv: no such file"),
    "other clusterings": (["predict", "mm.npz", "other.csv"], "no clustering 'b'"),
    "output over the model": (
        ["predict", "mm.npz", "new.csv", "-o", "mm.npz", "--format", "csv"],
        "overwrite the model",
    ),
    "output over the table": (["predict", "mm.npz", "new.csv", "-o", "new.csv"], "overwrite the label table"),
    "output suffix": (["predict", "mm.npz", "new.csv", "-o", "new.xyz"], "xyz"),
    "model folder": (["run", "labels.csv", "-m", "mm", "-k", "2", "--save-model", "no/m.npz"], "does not exist"),
    "model to stdout": (["run", "labels.csv", "-m", "mm", "-k", "2", "--save-model", "-"], "to a file"),
    "model over table": (["run", "labels.csv", "-m", "mm", "-k", "2", "--save-model", "labels.csv"], "overwrite"),
    "model and output": (["run", "labels.csv", "-m", "mm", "-o", "m.csv", "--save-model", "m.csv"], "the same file"),
}


@pytest.mark.parametrize("case", list(BAD))
def test_a_mistake_is_one_line_and_writes_nothing(place, case):
    write(place / "other.csv", ["a", "x"], [[0, 1], [1, 0]])
    words, expected = BAD[case]
    before = {path: path.read_bytes() for path in place.iterdir()}
    done = command(*words, cwd=place)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "")
    assert expected in done.mistake and "\n" not in done.mistake
    assert {path: path.read_bytes() for path in place.iterdir()} == before


def test_labels_that_no_model_can_hold_are_refused_before_the_fit(tmp_path, monkeypatch):
    frame = pd.DataFrame({"a": pd.to_timedelta([1, 1, 2], unit="ns"), "b": ["x", "x", "y"], "c": [1, 1, 2]})
    frame.to_parquet(tmp_path / "spans.parquet")
    monkeypatch.setattr(partita.api, "consensus", None)
    words = ("run", "spans.parquet", "-m", "voting", "-k", 2, "-o", "out.csv", "--save-model", "m.npz")
    done = command(*words, cwd=tmp_path)
    assert done.returncode == 1 and "clustering 'a': the label " in done.mistake and "cannot hold" in done.mistake
    assert [path.name for path in tmp_path.iterdir()] == ["spans.parquet"]
    monkeypatch.undo()
    assert command(*words, "--weight", "a=0", "-q", cwd=tmp_path).returncode == 0
    assert command("predict", "m.npz", "spans.parquet", "-q", cwd=tmp_path).returncode == 0


def test_timestamps_from_parquet(tmp_path):
    moments = pd.to_datetime(["2024-01-01", "2024-01-01", "2024-07-01"]).tz_localize("Europe/Berlin")
    pd.DataFrame({"a": moments, "b": ["x", "x", "y"]}).to_parquet(tmp_path / "t.parquet")
    words = ("run", "t.parquet", "-m", "voting", "-k", 2, "-o", "out.csv", "--save-model", "m.npz", "-q")
    assert command(*words, cwd=tmp_path).returncode == 0
    done = command("predict", "m.npz", "t.parquet", cwd=tmp_path)
    assert done.returncode == 0 and "labels never seen: 0" in done.stderr
    assert [row["consensus"] for row in rows_of(done.stdout)] == ["0", "0", "1"]


def test_the_labels_are_written_before_the_model(place, tmp_path, monkeypatch):
    """A model that fails to be written, on a full disk say, costs no result."""

    def full(*_):
        raise FileError("no space left on the device")

    monkeypatch.setattr(partita.io, "save_model", full)
    out = tmp_path / "out.csv"
    words = ("run", "labels.csv", "--id", "who", "--missing=-1", "-m", "mm", "-k", 3, "-o", out, "-q")
    done = command(*words, "--save-model", tmp_path / "m.npz", cwd=place)
    assert done.returncode == 1 and "no space" in done.mistake
    assert out.read_text() == (place / "mm.csv").read_text()
