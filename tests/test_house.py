"""The house rules that a reader would otherwise have to check: sizes, prints, loose ends."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "partita"
MODULES = sorted(SOURCE.rglob("*.py"))


def name_of(path):
    return str(path.relative_to(SOURCE))


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_documented_and_finished(path):
    text = path.read_text()
    assert ast.get_docstring(ast.parse(text))
    for word in ("TODO", "FIXME", "raise NotImplementedError", "pragma: no cover"):
        assert word not in text


def test_no_prints_below_the_command_line():
    for path in MODULES:
        if "cli" not in path.parts:
            calls = [n for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.Call)]
            assert not any(isinstance(call.func, ast.Name) and call.func.id == "print" for call in calls), path
