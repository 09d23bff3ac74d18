"""The trial of three hospitals, as the docs have it."""

import csv
import subprocess
import sys

import pytest

from partita.core.errors import FileError
from partita.federated.example import CLUSTERS, PATIENTS, SITES, patients, write_example
from partita.metrics import nmi
from tests.federated.test_faults import free_port


@pytest.mark.parametrize("layout", ["columns", pytest.param("rows", marks=pytest.mark.slow)])
def test_the_commands_of_the_example_find_the_patients_clusters(layout, tmp_path):
    said = subprocess.run(
        [sys.executable, "-m", "partita", "federate", "example", "h", "--layout", layout, "--port", str(free_port())],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    commands = said.stdout.splitlines()
    assert len(commands) == 4
    running = [
        subprocess.Popen([sys.executable, "-m", *line.split()], cwd=tmp_path, stderr=subprocess.PIPE, text=True)
        for line in commands
    ]
    for line, process in zip(commands, running, strict=True):
        _, err = process.communicate(timeout=120)
        assert process.returncode == 0, (line, err)
    _, truth = patients()
    found = {}
    for site in SITES:
        with (tmp_path / "h" / f"{site}-consensus.csv").open() as file:
            for row in csv.DictReader(file):
                assert found.setdefault(row["patient"], row["consensus"]) == row["consensus"]
    assert len(found) == PATIENTS
    labels = [int(found[f"p{row:04d}"]) for row in range(PATIENTS)]
    assert nmi(labels, truth) > 0.9 and len(set(labels)) == CLUSTERS


@pytest.mark.parametrize("folder", ["h", "deep/er/h"])
def test_a_failure_leaves_no_folder(tmp_path, folder, monkeypatch):
    monkeypatch.setattr("partita.federated.example.make_certificates", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_example(tmp_path / folder, "rows")
    assert not list(tmp_path.iterdir())
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match="file/h: cannot be written"):
        write_example(tmp_path / "file" / "h", "rows")


def test_an_empty_folder_is_used(tmp_path):
    (tmp_path / "h").mkdir()
    found = write_example(tmp_path / "h", "rows")
    assert all(file.is_file() for file in found.files) and {file.parent.name for file in found.files} == {"h", "certs"}
    assert [path.name for path in tmp_path.iterdir()] == ["h"]


def test_nothing_is_overwritten(tmp_path):
    write_example(tmp_path / "h", "rows")
    before = {path: path.read_bytes() for path in (tmp_path / "h").rglob("*") if path.is_file()}
    with pytest.raises(FileError, match="exist"):
        write_example(tmp_path / "h", "columns")
    assert {path: path.read_bytes() for path in (tmp_path / "h").rglob("*") if path.is_file()} == before
