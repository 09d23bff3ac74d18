"""From features on the command line: generate, run, cluster, ways."""

import json
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest

import partita
from partita.cli.main import app
from partita.core.errors import PartitaError
from partita.generate.clusterers import CLUSTERERS
from partita.generate.registry import WAYS
from tests.cli.command import ENVIRONMENT
from tests.cli.command import partita as command
from tests.cli.test_commands import rows_of
from tests.generate.checks import blobs


@pytest.fixture
def data(tmp_path):
    X, truth = blobs()
    frame = pd.DataFrame(X, columns=list("wxyz"))
    frame.insert(0, "name", [f"object {i}" for i in range(60)])
    frame["class"] = np.array(["red", "green", "blue"])[truth]
    frame.to_csv(tmp_path / "data.csv", index=False)
    return tmp_path / "data.csv"


WORDS = ("--id", "name", "--exclude", "class")


def features(data):
    return pd.read_csv(data)[list("wxyz")].to_numpy()


def test_generate_then_run(data, tmp_path):
    out = tmp_path / "ensemble.csv"
    done = command(
        "generate", data, *WORDS, "--way", "features", "--members", 6, "--k", 3, "--set", "size=3", "-o", out
    )
    assert done.returncode == 0 and done.stdout == "", done.stderr
    assert "60 objects, 6 clusterings of 3 labels" in done.stderr
    found = partita.read(out, ids="name")
    made = partita.make_ensemble(features(data), "features", members=6, k=3, size=3)
    assert found.fingerprint == made.fingerprint and found.ids[3] == "object 3"
    rows = rows_of(command("run", out, "--id", "name", "-k", 3, "--quiet").stdout)
    assert [row["name"] for row in rows] == found.ids.tolist()


def test_options_of_generate(data, tmp_path):
    out = tmp_path / "soft.parquet"
    words = ("--soft", "--base", "gmm", "--set", "covariance=full", "--scale", "standard", "--seed", 3)
    done = command("generate", data, *WORDS, *words, "--k", "2..4", "--members", 4, "-o", out, "--quiet")
    assert done.returncode == 0 and done.stderr == "", done.stderr
    options = {"base": "gmm", "covariance": "full", "scale": "standard", "soft": True, "seed": 3}
    made = partita.make_ensemble(features(data), k="2..4", members=4, **options)
    found = partita.read(out, ids="name")
    assert found.sizes == made.sizes and np.allclose(found.matrix, made.matrix)


def test_generate_to_stdout_from_stdin(data):
    text = data.read_text()
    done = command("generate", "-", *WORDS, "-k", 3, "--members", 2, stdin=text)
    rows = rows_of(done.stdout)
    assert done.returncode == 0 and list(rows[0]) == ["name", "restarts_1", "restarts_2"] and len(rows) == 60


def test_cluster(data, tmp_path):
    out = tmp_path / "labels.csv"
    done = command("cluster", data, *WORDS, "--k", 3, "-o", out)
    assert done.returncode == 0 and "60 objects: 3 clusters" in done.stderr, done.stderr
    scores = command("evaluate", out, "--truth", data, "--id", "name", "--truth-column", "class", "--json")
    assert json.loads(scores.stdout)["nmi"] == pytest.approx(1)
    words = ("-k", 3, "--way", "restarts", "--method", "mm", "--method-set", "smoothing=0.5", "--base-k", "3..4")
    found = json.loads(command("cluster", data, *WORDS, *words, "--set", "n_init=2", "--json").stdout)
    assert found["recipe"]["params"]["smoothing"] == 0.5 and found["recipe"]["made"]["params"]["n_init"] == "2"
    assert found["recipe"]["made"]["way"] == "restarts"


@pytest.mark.parametrize("name", ["generate", "cluster"])
@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "column 'name', row 1: 'object 0' is not a number; exclude the column (--exclude name)"),
        (("--id", "name"), "column 'class', row 1: "),
        ((*WORDS, "--way", "feature"), "did you mean 'features'?"),
        ((*WORDS, "--base", "kmeens"), "did you mean 'kmeans'?"),
        ((*WORDS, "--set", "sizes=3"), "has a parameter 'sizes'"),
        ((*WORDS, "--set", "members=3"), "--set members=3: this has an option of its own; say --members"),
        ((*WORDS, "-o", "out.xyz"), "tells no format"),
        ((*WORDS, "--scale", "unit"), "give none | standard"),
        (("--id", "name", "--exclude", "class,label"), "give each name by itself (--exclude A --exclude B)"),
    ],
)
def test_mistakes_are_told(data, tmp_path, name, words, told):
    words = [word if word != "out.xyz" else str(tmp_path / word) for word in words]
    with pytest.raises(PartitaError) as caught:
        app([name, str(data), "-k", "3", *words], standalone_mode=False)
    assert told in str(caught.value) and "\n" not in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["data.csv"]


def test_the_formats_offered_are_those_written(data, tmp_path):
    with pytest.raises(PartitaError, match=r"written: \.csv, \.tsv, \.parquet, \.npz \(also \.csv\.gz, \.tsv\.gz\);"):
        app(["generate", str(data), "-o", str(tmp_path / "a.txt")], standalone_mode=False)
    with pytest.raises(PartitaError, match=r"written: \.csv, \.tsv, \.parquet, \.json, \.h5ad \("):
        app(["cluster", str(data), "-o", str(tmp_path / "a.txt")], standalone_mode=False)


def test_mixtures_as_labels(data, tmp_path):
    out = tmp_path / "hard.csv"
    words = [*WORDS, "--way", "mixtures", "--members", "3", "-k", "3", "-q", "--no-soft", "-o", str(out)]
    app(["generate", str(data), *words], standalone_mode=False)
    made = partita.make_ensemble(features(data), "mixtures", members=3, k=3, soft=False)
    assert partita.read(out, ids="name").fingerprint == made.fingerprint
    with pytest.raises(PartitaError, match="--set soft=no: this has an option of its own; say --soft"):
        app(["generate", str(data), "--set", "soft=no"], standalone_mode=False)


def test_a_mistake_ends_in_one_line(data):
    done = command("generate", data)
    assert done.returncode == 1 and done.stdout == "" and done.stderr.startswith("partita: ")
    assert "column 'name', row 1: 'object 0' is not a number" in done.stderr and done.stderr.count("\n") == 1


def test_the_data_are_not_overwritten(data):
    with pytest.raises(PartitaError, match="would overwrite the features"):
        app(["generate", str(data), *WORDS, "-o", str(data)], standalone_mode=False)


def test_ways_lists_all(capsys):
    def listed(*words):
        app(["ways", *words, "--json"], standalone_mode=False)
        return json.loads(capsys.readouterr().out)

    assert [row["name"] for row in listed()] == [*WAYS, *CLUSTERERS]
    for name, setting in (("objects", "factor"), ("gmm", "covariance"), ("uspec", "landmarks")):
        assert setting in [row["setting"] for row in listed(name)]
    with pytest.raises(PartitaError, match="did you mean 'features'"):
        listed("feature")


def test_ctrl_c_keeps_what_is_finished(tmp_path):
    X = np.random.default_rng(0).normal(size=(2000, 8))
    np.save(tmp_path / "data.npy", X)
    words = [sys.executable, "-m", "partita", "generate", "data.npy", "-k", "10", "--base", "gmm", "--threads", "1"]
    words += ["--set", "tol=0", "--set", "max_iter=30"]
    for patience in (4, 16, 40):  # a busy machine may need longer to finish a member
        running = subprocess.Popen(
            [*words, "--members", "5000", "-o", "out.csv"],
            cwd=tmp_path,
            stderr=subprocess.PIPE,
            text=True,
            env=ENVIRONMENT,
        )
        time.sleep(patience)
        running.send_signal(signal.SIGINT)
        told = running.communicate(timeout=60)[1]
        if (tmp_path / "out.csv").exists():
            break
    assert running.returncode == 130, told
    found = partita.read(tmp_path / "out.csv", one=True)
    assert 1 <= len(found.names) < 5000 and f"only {len(found.names)} of 5000 members are finished" in told
    expected = partita.make_ensemble(X, k=10, base="gmm", tol=0, max_iter=30, members=1)
    assert found.columns([0]).fingerprint == expected.fingerprint
