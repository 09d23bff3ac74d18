"""The README works when it is followed: every block runs, in order, in a fresh clone, and prints what it shows.

Here the clone uses the environment of the tests; `.ci/run` follows the README with what `make demo` installs alone.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from partita import registry
from tests.follow_readme import blocks

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
BLOCKS = blocks(README)


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """A fresh clone whose .venv is the environment of these tests, so that `make demo` installs nothing."""
    if shutil.which("git") is None or shutil.which("make") is None or not (ROOT / ".git").exists():
        pytest.skip("needs git, make and a git checkout")
    place = tmp_path_factory.mktemp("readme") / "partita"
    subprocess.run(["git", "clone", "-q", str(ROOT), str(place)], check=True, capture_output=True)
    (place / ".venv").mkdir()
    (place / ".venv" / "bin").symlink_to(Path(sys.prefix) / "bin")
    for stamp in (".made", ".demo"):
        (place / ".venv" / stamp).touch()
    os.utime(place / "pyproject.toml", (0, 0))
    return place


@pytest.mark.slow
def test_every_block_runs_in_order_in_a_fresh_clone(clone):
    if not (Path(sys.prefix) / "bin" / "activate").exists():
        pytest.skip("needs a virtual environment with an activate script")
    command = [sys.executable, "-W", "error", "tests/follow_readme.py", "README.md"]
    environment = os.environ | {"MPLBACKEND": "agg"}
    done = subprocess.run(command, cwd=clone, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    for name in ("segments.png", "segments.partita", "labels.parquet", "consensus.csv", "model.npz", "report.html"):
        assert (clone / name).stat().st_size > 0


def test_no_file_is_read_before_it_is_made_or_overwritten_by_its_reader():
    outputs = {"partita-demo/segments.csv", "partita-demo/truth.csv"}  # of make demo
    for kind, code in BLOCKS:
        for line in code.splitlines() if kind == "bash" else ():
            words = shlex.split(line, comments=True)
            named = [word for word in words if re.search(r"\.[a-z]\w*$", word) and not word.startswith((".", "-"))]
            written = [words[i + 1] for i, word in enumerate(words) if word in ("--output", "--save-model", "--plot")]
            read = [name for name in named if name not in written]
            assert set(read) <= outputs and not set(read) & set(written), line
            outputs |= set(written)


def test_first_screen_has_the_two_commands():
    assert README.index("make demo") < 2000 and README.index("make test") < 2000


def test_length_and_number_of_methods():
    assert len(README.splitlines()) < 120
    assert f"**{len(registry.METHODS)} methods**" in README


def test_links_lead_somewhere():
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert target.startswith("https://") or (ROOT / target).exists(), target


def test_the_figures_are_those_of_the_pages_they_name():
    tables = [line for line in README.splitlines() if "docs/benchmarks.md" in line or "docs/default-method.md" in line]
    pages = (ROOT / "docs" / "benchmarks.md").read_text() + (ROOT / "docs" / "default-method.md").read_text()
    figures = [figure for line in tables for figure in re.findall(r"(?<![\w.])(\d*\.\d+)(?= s|\b)", line)]
    assert len(figures) == 8
    for figure in figures:
        assert figure in pages, figure
