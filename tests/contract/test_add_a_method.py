"""The skeleton of docs/add-a-method.md, added to a copy of the package as one file and one line, is a whole method."""

import dataclasses
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from partita import registry
from tests.contract.checks import CHECKS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "add-a-method.md").read_text()


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    """A copy of the package with the new file and the new line, and nothing else."""
    place = tmp_path_factory.mktemp("house")
    for part in ("src", "tests", "docs"):
        shutil.copytree(ROOT / part, place / part, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", place)
    shutil.copy(ROOT / "CITATION.cff", place)
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    (line,) = re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)
    (place / "src/partita/graph/modes.py").write_text(code)
    registry = place / "src/partita/registry.py"
    text = registry.read_text()
    registry.write_text(text.replace("METHODS: dict[str, str] = {\n", "METHODS: dict[str, str] = {\n" + line))
    assert registry.read_text().count("\n") == text.count("\n") + 1
    return place


def inside(house, *words):
    environment = {**os.environ, "PYTHONPATH": f"{house / 'src'}{os.pathsep}{house}"}
    done = subprocess.run([sys.executable, *words], cwd=house, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_it_passes_the_contract(house):
    out = inside(house, "-m", "pytest", "tests/contract/test_methods.py", "-k", "modes", "-p", "no:cacheprovider")
    claims = dataclasses.replace(registry.get("voting"), chooses_k=False, predicts="approximate")
    assert out.count(".") >= sum(applies(claims) for _, applies in CHECKS) and "F" not in out


def test_it_is_on_the_command_line(house, tmp_path):
    listed = json.loads(inside(house, "-m", "partita", "methods", "--json"))
    assert "modes" in [row["name"] for row in listed]
    assert "penalty" in inside(house, "-m", "partita", "methods", "modes")
    table = tmp_path / "labels.csv"
    table.write_text("a,b\n1,1\n1,1\n2,2\n")
    out = inside(house, "-m", "partita", "run", str(table), "-m", "modes", "-k", "2", "--set", "penalty=0.5", "-q")
    assert out.splitlines()[1].startswith("0,")


def test_it_is_in_the_documentation(house):
    page = inside(house, "-c", "import sys; sys.path.insert(0, 'docs'); import hooks; print(hooks.methods_page())")
    assert "| modes |" in page and "## modes" in page and "penalty" in page


def test_it_is_an_estimator(house):
    code = (
        "import partita;"
        "print(partita.ConsensusClustering('modes', n_clusters=2).fit_predict([[0, 1], [0, 1], [5, 6]]).tolist())"
    )
    assert inside(house, "-c", code).strip() == "[0, 0, 1]"
