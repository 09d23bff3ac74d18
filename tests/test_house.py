"""The house rules that a reader would otherwise have to check: sizes, prints, loose ends."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "partita"
MODULES = sorted(SOURCE.rglob("*.py"))
PUBLIC = {
    ("api.py", "consensus"),
    ("selecting.py", "select_k"),
    ("clustering.py", "cluster"),
    ("comparing.py", "compare"),
    ("anndata.py", "consensus"),
}
MOST_LINES = {"api.py": 130, "of_labels.py": 150, "of_features.py": 150}


def name_of(path):
    return str(path.relative_to(SOURCE))


def functions(path):
    return [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.FunctionDef)]


def code_lines(node):
    """Lines of a function less its signature, docstring and blank lines."""
    body = node.body[1:] if ast.get_docstring(node) else node.body
    return sum(len(ast.unparse(statement).splitlines()) for statement in body)


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_sizes(path):
    assert len(path.read_text().splitlines()) <= MOST_LINES.get(path.name, 400)
    limit = 60 if "kernels" in path.parts else 40
    for node in functions(path):
        assert code_lines(node) <= limit, f"{node.name} has {code_lines(node)} lines"


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_parameters(path):
    """Six, beyond that a dataclass; kernels take arrays one by one, commands take options.

    `partita.consensus`, `select_k`, `cluster`, `compare` and `anndata.consensus` may take seven: users give them by
    name, and a dataclass of theirs would be one more thing to learn.
    """
    if {"cli", "kernels"} & set(path.parts):
        return
    for node in functions(path):
        taken = [
            a for a in node.args.posonlyargs + node.args.args + node.args.kwonlyargs if a.arg not in ("self", "cls")
        ]
        assert len(taken) <= (7 if (path.name, node.name) in PUBLIC else 6), f"{node.name} takes {len(taken)}"


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_documented_and_finished(path):
    text = path.read_text()
    assert ast.get_docstring(ast.parse(text))
    for word in ("TODO", "FIXME", "NotImplementedError", "pragma: no cover"):
        assert word not in text


def test_no_prints_below_the_command_line():
    for path in MODULES:
        if "cli" not in path.parts:
            calls = [n for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.Call)]
            assert not any(isinstance(call.func, ast.Name) and call.func.id == "print" for call in calls), path
