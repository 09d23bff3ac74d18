"""`partita federate` as a user meets it: what it prints, and one line for every mistake."""

import contextlib
import csv
import json
import subprocess
import sys
from typing import NamedTuple

import pytest
from typer.testing import CliRunner

from partita.cli.main import app
from partita.core.errors import MissingExtraError, PartitaError
from partita.federated import grpc_server
from tests.samples import noisy_labels

CONFIG = """
sites = ["a", "b", "c"]
layout = "rows"
method = "mm"
k = 3
[tls]
authority = "ca.pem"
certificate = "coordinator.pem"
key = "coordinator.key"
"""


class Done(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


def federate(*words, cwd=None):
    """The command within this process; a mistake ends as `partita` would end it."""
    with contextlib.chdir(cwd or "."):
        done = CliRunner().invoke(app, ["federate", *map(str, words)], env={"COLUMNS": "200", "NO_COLOR": "1"})
    if isinstance(done.exception, PartitaError):
        return Done(1, done.stdout, done.stderr + f"partita: {done.exception}\n")
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return Done(done.exit_code, done.stdout, done.stderr)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    labels, _ = noisy_labels(n=150, r=6, k=3)
    path = tmp_path_factory.mktemp("table") / "labels.csv"
    rows = [["who", *"abcdef"], *([f"p{i}", *row] for i, row in enumerate(labels.tolist()))]
    path.write_text("".join(",".join(map(str, row)) + "\n" for row in rows))
    return path


def refused(done, *words, code=1):
    """One line, no traceback."""
    assert done.returncode == code, done.stderr
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1 and lines[0].startswith("partita: "), done.stderr
    for word in words:
        assert word in lines[0]


def test_rows_in_one_process(table, tmp_path):
    done = federate("simulate", table, "--id", "who", "--sites", 5, "--k", 3, "-o", tmp_path / "out.csv")
    assert done.returncode == 0, done.stderr
    assert "150 objects: 3 clusters" in done.stdout and "5 sites" in done.stdout
    assert "labels as in one place: 150 of 150" in done.stdout
    for step in ("keys", "overlaps", "mixture", "close"):
        assert step in done.stdout
    with (tmp_path / "out.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["who"] for row in rows] == [f"p{i}" for i in range(150)]
    assert {row["consensus"] for row in rows} == {"0", "1", "2"}


def test_the_papers_exchange_says_what_it_shows(table):
    words = ("--method", "bce-vb", "--k", 3, "--transport", "float", "--protocol", "paper")
    done = federate("simulate", table, "--id", "who", "--layout", "columns", *words)
    assert done.returncode == 0, done.stderr
    assert "note: " in done.stdout and "partition" in done.stdout


def test_json_counts_every_byte(table):
    done = federate("simulate", table, "--id", "who", "--layout", "columns", "--k", 3, "--json", "--quiet")
    assert done.stderr == ""
    said = json.loads(done.stdout)
    rounds = next(line for line in said["traffic"] if line["step"] == "round")
    assert rounds["from_sites"] > 4 * 150 * 3 * 3
    assert said["clusters"] == 3 and said["equal to one place"] == 150


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--layout", "both"), "--layout both: expected rows or columns"),
        (("--sites", 2), "with 2 sites"),
        (("--sites", 3, "--method", "hgpa"), "hgpa cannot be divided by rows"),
        (("--layout", "columns", "--sites", 3, "--method", "qmi"), "qmi cannot be divided by columns"),
        (("--layout", "columns", "--sites", 7), "6 clusterings cannot be divided among 7 sites"),
        (("--sites", 3, "--set", "tolerance=1"), "mm: unknown parameter 'tolerance'; valid parameters: init, "),
        (("--transport", "plain"), "--transport plain is not known; give masked, fixed or float"),
        (("--init", "middle"), "--init middle is not available with --layout rows; give one of spectral, random"),
        (("--protocol", "none"), "--protocol none is not known; give sums, sequential (rows) or paper (columns)"),
        (("--protocol", "paper"), "--protocol paper is for bce-vb divided by columns; use --protocol sums"),
        (
            ("--layout", "columns", "--init", "spectral"),
            "--init spectral is not available with --layout columns; give one of transfer-cut, random",
        ),
        (
            ("--layout", "columns", "--bits", 30, "--word", 32),
            "--bits 30 is not allowed with --word 32; give 1 to 24 bits",
        ),
        (("--word", 32), "--word 32 needs --layout columns"),
        (("--rho", -1), "--rho -1 is out of range; give a number >= 0"),
        (("--suppress", -1), "--suppress -1 is out of range; give a number >= 0"),
        (("--delta", 2), "--delta 2 is out of range; give a number between 0 and 1"),
        (("--layout", "columns", "--rho", 1), "--rho 1 needs --layout rows and --protocol sums"),
        (
            ("--rho", 1),
            "--rho 1 needs --method mm or --method bce-vb, --init random and a maximum number",
        ),
        (
            ("--rho", 1, "--init", "random", "--set", "max_iter=9", "--set", "restarts=2"),
            "--rho 1 needs a single run, got 2 restarts; set restarts to 1 (--set restarts=1)",
        ),
        (
            ("--rho", 1, "--init", "random", "--set", "max_iter=9", "--method", "bce-vb"),
            "--rho 1: alpha cannot be learned from noisy sums; set learn_alpha to false (--set learn_alpha=false)",
        ),
        (("--set", "init=random"), "; give --init random as a parameter of the run"),
        (("--set", "stable=3"), "leave stable at 0 (--set stable=0)"),
        (("--randomise", -1), "--randomise -1.0 is not a positive number"),
        (("--k", 0), "--k 0 is not a whole number >= 1"),
        (("--sites", 3, "-o", "no/such/place.csv"), "does not exist"),
    ],
)
def test_slips_in_a_simulation(table, words, said):
    refused(federate("simulate", table, "--id", "who", "--k", 3, *words), said)


def test_certificates(tmp_path):
    done = federate("certs", "a", "b", "c", "--folder", "certs", "--host", "hub.example", cwd=tmp_path)
    assert done.returncode == 0 and done.stderr == ""
    assert sorted(path.name for path in (tmp_path / "certs").iterdir()) == sorted(
        f"{name}.{kind}" for name in ("a", "b", "c", "ca", "coordinator") for kind in ("pem", "key")
    )
    assert "a.key  for site a alone (secret)" in done.stdout
    refused(federate("certs", "a", cwd=tmp_path), "exists already")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('method = "mm"', 'methods = "mm"', "'methods' is unknown; did you mean 'method'?"),
        ('method = "mm"', 'method = "hgpa"', "hgpa cannot be divided by rows"),
        ('["a", "b", "c"]', '["a", "b"]', "with 2 sites"),
        ("k = 3", "", "mm needs one number of clusters"),
        ("ca.pem", "cb.pem", "cb.pem: the authority cannot be read"),
        ("coordinator.key", "a.key", "a.key: is not the key of coordinator.pem"),
    ],
)
def test_slips_in_a_coordinators_file(tmp_path, old, new, said):
    (tmp_path / "c.toml").write_text(CONFIG.replace(old, new, 1))
    assert federate("certs", "a", "b", "c", "-o", ".", cwd=tmp_path).returncode == 0
    refused(federate("coordinator", "--config", "c.toml", cwd=tmp_path), said)


def test_slips_of_a_site(tmp_path, table):
    refused(federate("site"), "options: site is missing")
    refused(federate("site", "--config", "none.toml", cwd=tmp_path), "none.toml: cannot be read")
    made = federate("certs", "a", "b", "c", cwd=tmp_path)
    assert made.returncode == 0
    words = ["--site", "a", "--coordinator", "127.0.0.1:1", "--layout", "rows", "--labels", table, "--id", "who"]
    tls = ["--authority", "certs/ca.pem", "--certificate", "certs/a.pem", "--key", "certs/a.key"]
    refused(federate("site", *words, *tls, "--patience", "0.2", "-q", cwd=tmp_path), "site a: the coordinator", "0.2 s")
    refused(federate("site", *words, *tls[:4], "--key", "certs/b.key", cwd=tmp_path), "is not the key of")
    words[1] = "b"
    refused(federate("site", *words, *tls, cwd=tmp_path), "is made out to a, not to b")
    words[1], words[3] = "a", "nowhere"
    refused(federate("site", *words, *tls, cwd=tmp_path), "coordinator='nowhere' is not allowed; give host:port")


def test_the_commands_load_nothing_before_they_run():
    late = ("grpc", "cryptography", "partita.federated")
    code = f"import sys, partita.cli.main; print([m for m in {late} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_without_grpc(monkeypatch):
    monkeypatch.setitem(sys.modules, "grpc", None)
    with pytest.raises(MissingExtraError, match=r'pip install "partita\[federated\]"'):
        grpc_server.grpc_needed()


def test_every_command_has_help():
    for name in ("coordinator", "site", "certs", "simulate"):
        done = federate(name, "--help")
        assert done.returncode == 0 and "--help" in done.stdout
        assert "Usage" in done.stdout and name in done.stdout


def test_a_mistake_is_one_line_of_the_real_command(table):
    command = [sys.executable, "-m", "partita", "federate", "simulate", str(table), "--id", "who", "--sites", "2"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    refused(Done(done.returncode, done.stdout, done.stderr), "mm needs one number of clusters")
