"""The example notebook: its cells run as they stand, and the docs build makes a page of what they show."""

import ast
import base64
import importlib.util
import json
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
NOTEBOOK = json.loads((DOCS / "example.ipynb").read_text())
CODE = ["".join(cell["source"]) for cell in NOTEBOOK["cells"] if cell["cell_type"] == "code"]


def test_committed_without_outputs():
    assert (DOCS / "example.ipynb").stat().st_size < 10_000 and 8 <= len(CODE) <= 12
    for cell in NOTEBOOK["cells"]:
        assert not cell.get("outputs") and cell.get("execution_count") is None
    assert all(len(line) <= 80 for code in CODE for line in code.splitlines())


def value_of(code, names):
    """Run a cell; the value of its last line, if that is an expression."""
    tree = ast.parse(code)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)
    return None if last is None else eval(compile(ast.Expression(last.value), "cell", "eval"), names)


def test_cells_run(tmp_path, monkeypatch, capsys):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    names = {}
    kinds = []
    for code in CODE:
        value = value_of(code, names)
        if hasattr(value, "_repr_mimebundle_"):
            shown = value._repr_mimebundle_()
            assert shown["image/png"].startswith(b"\x89PNG") and len(shown["text/plain"]) > 40
            kinds.append("picture")
        elif value is not None:
            assert value._repr_html_().startswith("<div")
            kinds.append("table")
    assert kinds.count("picture") >= 3 and kinds.count("table") >= 3
    assert names["selection"].k == 4 and "confidence 0." in capsys.readouterr().out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["consensus.parquet", "report.html"]


def test_page():
    pytest.importorskip("mkdocs")
    spec = importlib.util.spec_from_file_location("notebook_hook", DOCS / "notebook.py")
    hook = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(hook)
    png = base64.b64encode(b"a picture").decode()
    outputs = [
        {"output_type": "stream", "name": "stdout", "text": ["one\n", "two\n"]},
        {"output_type": "stream", "name": "stderr", "text": ["a font cache is built"]},
        {"output_type": "execute_result", "data": {"text/html": ["<div>\n\n", "x</div>"], "text/plain": "no"}},
        {"output_type": "display_data", "data": {"image/png": png, "text/plain": ["words [of]\n", "it"]}},
    ]
    cells = [
        {"cell_type": "markdown", "source": ["# Title\n", "text"]},
        {"cell_type": "code", "source": ["a = 1\n", "a"], "outputs": outputs},
    ]
    page, pictures = hook.page_of({"cells": cells})
    assert page.split("\n\n") == [
        "# Title\ntext",
        "```python\na = 1\na\n```",
        "```text\none\ntwo\n```",
        "<div>  x</div>",
        "![words (of) it](example-1.png)\n",
    ]
    assert pictures == {"example-1.png": b"a picture"}
