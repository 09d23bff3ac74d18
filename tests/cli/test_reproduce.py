"""partita reproduce as a user meets it."""

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from partita.cli.main import app
from partita.cli.reproduce import _parts
from partita.core.errors import FileError, ParameterError
from partita.report.tables import TextTable

FAKE = "tests.experiments.fake_paper"
ROOT = Path(__file__).parents[2]


def ask(*words, code=0):
    """The command in this process; errors of ours come as they are."""
    done = CliRunner().invoke(app, ["reproduce", *map(str, words)], catch_exceptions=False)
    assert done.exit_code == code, done.output
    return done


def test_the_whole_way_in_a_process_of_its_own(tmp_path):
    command = [sys.executable, "-m", "partita", "reproduce", FAKE, "--table", "1", "--figure", "1", "--quick", "-o"]
    done = subprocess.run(
        [*command, tmp_path / "out", "--workers", "1", "--markdown", tmp_path / "page.md"],
        cwd=ROOT,
        env={**os.environ, "COLUMNS": "150"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert "Table 1. Scores of three methods" in done.stdout and "[0.700] ▲" in done.stdout
    assert "fake table-1: all 8 done" in done.stderr and "wrote" in done.stderr and "Table 1" not in done.stderr
    made = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert made == {"out/lock", "out/records.jsonl", "out/records.csv", "out/index.md", "out/index.html", "out/fake.md",
                    "out/fake.html", "out/figures/fake-figure-1.png", "page.md", "page/fake-figure-1.png"}  # fmt: skip
    assert "(page/fake-figure-1.png)" in (tmp_path / "page.md").read_text()
    rows = list(csv.DictReader((tmp_path / "out" / "records.csv").read_text().splitlines()))
    assert len(rows) == 2 * 3 * 4 + 8 * 2 * 3 and set(rows[0]) == {
        "paper", "exhibit", "row", "column", "draw", "value", "seconds"
    }  # fmt: skip


def test_json_and_csv(tmp_path):
    words = (FAKE, "--table", 1, "--quick", "-o", tmp_path, "--workers", 1, "--quiet")
    cells = json.loads(ask(*words, "--json").stdout)
    assert {"row": "iris", "column": "a", "statistic": "mean", "published": 0.8, "draws": 4}.items() <= cells[0].items()
    assert [row["row"] for row in csv.DictReader(ask(*words, "--csv").stdout.splitlines())] == [c["row"] for c in cells]


def test_draws_and_seed(tmp_path):
    words = (FAKE, "--table", 1, "-o", tmp_path, "--workers", 1, "--csv", "--quiet")
    two = ask(*words, "--draws", 2).stdout
    assert {row["draws"] for row in csv.DictReader(two.splitlines())} == {"2"}
    assert ask(*words, "--draws", 2, "--seed", 1).stdout != two
    assert "--draws 2 --seed 1" in (tmp_path / "index.md").read_text()


def test_failures_end_in_1(tmp_path):
    done = ask(FAKE, "--table", 4, "--quick", "-o", tmp_path, "--workers", 1, code=1)
    assert "partita: 1 trial failed" in done.output and "Failed bad" in done.output
    assert "Failed bad" in (tmp_path / "fake.md").read_text()


def test_list():
    done = json.loads(ask(FAKE, "--list", "--json").stdout)
    assert done[0] == {
        "paper": "fake", "exhibit": "table-1", "title": "Scores of three methods, a|b", "rows": 3, "draws": 8,
        "quick draws": 4, "data": ["iris", "wine"]
    }  # fmt: skip
    (one,) = json.loads(ask(FAKE, "--list", "--table", 1, "--json").stdout)
    assert one == done[0]
    assert "fake" not in ask("--list", "--csv").stdout, "the papers of the package, without names"


def test_list_names_sections_and_drawings():
    rows = {row["exhibit"]: row for row in json.loads(ask("strehl2002", "--list", "--json").stdout)}
    assert {"section-4.4", "section-6", "section-6-polish"} <= set(rows)
    assert rows["figure-1"]["title"].startswith("only a drawing: ") and rows["figure-1"]["draws"] == 0
    (one,) = json.loads(ask("strehl2002", "--list", "--section", "4.4", "--json").stdout)
    assert one == rows["section-4.4"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "which paper"),
        (("nobody2020",), "no paper is called 'nobody2020'"),
        ((FAKE, "--table", "12"), "fake has no 'table-12'; there are table-1"),
        ((FAKE, "--list", "--table", "12"), "fake has no 'table-12'"),
        ((FAKE, "--section", "4.4"), "fake has no 'section-4.4'"),
        (("wang2010", "--figure", "1"), "figure-1 cannot be measured: the graphical model"),
        ((FAKE, "--data", "/nowhere/at/all"), "names no folder"),
        ((FAKE, "--markdown", "page.html"), "ends in .md"),
    ],
)
def test_mistakes_are_told_before_anything_is_made(tmp_path, words, said):
    with pytest.raises((ParameterError, FileError), match=said):
        ask(*words, "-o", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_without_matplotlib_there_are_pages_without_figures(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    monkeypatch.setitem(sys.modules, "matplotlib.backends.backend_agg", None)
    done = ask(FAKE, "--figure", 1, "--quick", "-o", tmp_path, "--workers", 1)
    assert "no figures: pictures need matplotlib" in done.output
    assert (tmp_path / "fake.html").exists() and not (tmp_path / "figures").exists()


def test_wide_tables_are_told_in_parts():
    table = TextTable("t", ("row", *"abcdef"), tuple((name, *["0.123"] * 6) for name in ("iris", "wine")))
    parts = _parts(table, 40)
    assert [part.columns for part in parts] == [("row", *"abcd"), ("row", *"ef")] and parts[1].rows[1][0] == "wine"
    assert len(_parts(table, 200)) == 1 and len(_parts(table, 1)) == 6
