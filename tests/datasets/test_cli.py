"""`partita datasets` as a user meets it."""

import csv
import json

import numpy as np
import pytest
import sklearn.datasets
from typer.testing import CliRunner

from partita.cli.main import app
from partita.datasets import CATALOGUE, load
from partita.datasets.tables import read_table
from tests.cli.command import partita
from tests.datasets.test_fetching import answer

ABSENT = {"pima": "absent: partita datasets fetch pima", "trace": "absent: see show trace"}


def ask(*words):
    done = CliRunner().invoke(app, ["datasets", *map(str, words)])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done


def test_list(tmp_path):
    rows = list(csv.DictReader(ask("--data", tmp_path, "--csv").stdout.splitlines()))
    assert [row["name"] for row in rows] == list(CATALOGUE)
    assert set(rows[0]) == {"name", "n", "d", "classes", "paper", "licence", "here"}
    here = {row["name"]: row["here"] for row in rows}
    assert here["iris"] == "scikit-learn" and here["2d2k"] == "made" and here.items() >= ABSENT.items()
    assert json.loads(ask("--data", tmp_path, "--json").stdout)[1]["n"] == 178
    assert "pendigits" in ask("--data", tmp_path).stdout


def test_show(tmp_path):
    found = json.loads(ask("show", "segmentation", "--data", tmp_path, "--json").stdout)
    entry = CATALOGUE["segmentation"]
    assert found["sha256"] == entry.sha256 and found["licence"] == entry.licence and found["citation"] == entry.cite
    assert found["parts"]["test"] == "rows 210 to 2309" and found["classes"]["SKY"] == 330
    assert "fetch segmentation" in found["here"]
    text = ask("show", "wine", "--data", tmp_path).stdout
    assert "Forina" in text and CATALOGUE["wine"].sha256 in text and "CC BY 4.0" in text


@pytest.mark.parametrize("name", ["iris", "halfrings"])
def test_export(name, tmp_path):
    path = tmp_path / "out.csv"
    done = ask("export", name, "-o", path, "--data", tmp_path)
    data, read = load(name, tmp_path), read_table(path, path.read_bytes())
    assert done.stdout == "" and data.source in done.stderr
    assert np.array_equal(read.X, data.X) and read.classes == [data.classes[code] for code in data.labels]
    assert ask("export", name, "-o", "-", "--data", tmp_path, "-q").stdout_bytes == path.read_bytes()


def test_fetch(tmp_path, monkeypatch):
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", lambda **_: answer("ecoli"))
    done = ask("fetch", "ecoli", "--data", tmp_path)
    assert "336 objects, 7 features, 8 classes" in done.stderr and "copies/ecoli.csv.gz" in done.stderr
    assert ask("fetch", "ecoli", "--data", tmp_path, "--quiet").stderr == ""
    rows = csv.DictReader(ask("--data", tmp_path, "--csv").stdout.splitlines())
    assert {row["name"]: row["here"] for row in rows}["ecoli"] == "copy"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("show", "irsi"), "did you mean 'iris'"),
        (("export", "pima", "-o", "pima.csv"), "run `partita datasets fetch pima`"),
        (("export", "iris", "-o", "iris.txt"), "ends in .csv"),
    ],
)
def test_mistakes_are_one_line(words, said, tmp_path):
    done = partita("datasets", *words, "--data", tmp_path, cwd=tmp_path)
    assert done.returncode == 1 and done.stderr.startswith("partita: ") and said in done.stderr
    assert done.stderr.count("\n") == 1 and not list(tmp_path.iterdir())
