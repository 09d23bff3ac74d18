"""The command with closed standard streams."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs a POSIX shell")


def shell(tmp_path, words, closed):
    """Run the command with the redirections `closed`."""
    (tmp_path / "labels.csv").write_text("a,b\n1,2\n1,2\n2,3\n")
    line = f'"{sys.executable}" -m partita {words} {closed}'
    return subprocess.run(["sh", "-c", line], cwd=tmp_path, capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize("words", ["run labels.csv -m voting -k 2 -q", "methods"])
def test_a_closed_standard_output(tmp_path, words):
    done = shell(tmp_path, words, ">&-")
    assert done.returncode == 1
    assert done.stderr.startswith("partita: standard output: is closed; ") and done.stderr.count("\n") == 1


def test_a_closed_standard_input(tmp_path):
    done = shell(tmp_path, "run - -m voting -k 2", "<&-")
    assert done.returncode == 1
    assert done.stderr == "partita: standard input: is closed; connect it, or give the name of a file\n"


def test_all_streams_closed(tmp_path):
    """The output file gets no number of a standard stream: it contains the labels and nothing else."""
    done = shell(tmp_path, "run labels.csv -m voting -k 2 -o out.csv", "<&- >&- 2>&-")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    lines = (tmp_path / "out.csv").read_text().splitlines()
    assert [line.partition(",")[0] for line in lines] == ["consensus", "0", "0", "1"]


def test_an_error_with_a_closed_standard_error(tmp_path):
    done = shell(tmp_path, "run absent.csv", "2>&-")
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "")
