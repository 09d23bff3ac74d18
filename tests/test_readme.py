"""The README's lines run as printed."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()


def blocks(kind):
    return re.findall(rf"```{kind}\n(.*?)```", README, re.DOTALL)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder in which the demo has run."""
    place = tmp_path_factory.mktemp("readme")
    subprocess.run([sys.executable, "-m", "partita", "demo"], cwd=place, check=True, capture_output=True)
    return place


def test_python_block(folder):
    (code,) = blocks("python")
    assert len([line for line in code.splitlines() if line.strip()]) <= 8
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "300 objects in 4 clusters" in done.stdout and (folder / "consensus.parquet").exists()


def test_command_block(folder):
    (code,) = blocks("bash")
    commands = code.strip().splitlines()
    assert len(commands) == 3
    for command in commands:
        words = shlex.split(command)
        assert words[0] == "partita"
        done = subprocess.run([sys.executable, "-m", *words], cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


def test_first_screen_has_the_two_commands():
    first = README[:600]
    assert re.findall(r"^    (make \w+)", first, re.MULTILINE) == ["make demo", "make test"]


def test_links_lead_somewhere():
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / target).exists(), target
