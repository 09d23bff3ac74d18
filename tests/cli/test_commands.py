"""The command line as a user meets it: output, exit codes, one line for a mistake, nothing half-written."""

import contextlib
import csv
import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import typer.main

from partita import registry
from partita.cli import options
from partita.cli.main import app
from partita.datasets import segments_path, truth_path
from tests.cli.command import ENVIRONMENT, partita, process, write_csv
from tests.samples import noisy_labels


@pytest.fixture
def table(tmp_path):
    labels, _ = noisy_labels(n=40, r=4, k=3)
    return write_csv(tmp_path / "labels.csv", [list("abcd"), *labels.tolist()])


def rows_of(text):
    return list(csv.DictReader(text.splitlines()))


def test_run_writes_csv_to_stdout(table):
    done = process("run", table, "--k", 3)
    assert done.returncode == 0
    rows = rows_of(done.stdout)
    assert len(rows) == 40 and {"consensus", "confidence"} <= set(rows[0])
    assert "40 objects: 3 clusters" in done.stderr and "NMI with consensus" in done.stderr
    assert "Candidates" in done.stderr
    rows = rows_of(partita("run", table, "--k", 3, "--method", "voting").stdout)
    assert {"consensus", "confidence", "consensus:0"} <= set(rows[0])


def test_names_are_shown_as_they_are(tmp_path):
    """Square brackets are markup to the library that draws tables, and an escape character steers a terminal."""
    labels, _ = noisy_labels(n=40, r=4, k=3)
    table = write_csv(tmp_path / "labels.csv", [["x[/red]", "[bold]y", ":smile:", "e\x1b[31m"], *labels.tolist()])
    said = partita("run", table, "--k", 3, "--method", "mcla", "--output", tmp_path / "out.csv").stderr
    assert all(f" {name} " in said for name in ("x[/red]", "[bold]y", ":smile:", "e�[31m")) and "\x1b" not in said


@pytest.mark.skipif(sys.platform != "linux", reason="a full device is Linux's")
def test_standard_output_without_room(table):
    words = [sys.executable, "-m", "partita", "compare", str(table), "--k", "2", "--methods", "mcla", "--quiet"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT)
    assert done.returncode == 1
    assert done.stderr == "partita: standard output: no space left; make room, or send it elsewhere\n"


def test_quiet_says_nothing(table):
    assert partita("run", table, "--k", 3, "--quiet").stderr == ""


def test_stdin_and_ids(tmp_path):
    text = "who,x,y\nann,1,u\nbob,1,u\ncid,2,v\n"
    done = partita("run", "-", "--id", "who", "--k", 2, "--method", "qmi", "--no-membership", stdin=text)
    assert [(row["who"], row["consensus"]) for row in rows_of(done.stdout)] == [
        ("ann", "0"),
        ("bob", "0"),
        ("cid", "1"),
    ]


@pytest.mark.parametrize("suffix", ["csv", "tsv", "csv.gz", "parquet", "json"])
def test_output_files_and_evaluate(table, tmp_path, suffix):
    out = tmp_path / f"consensus.{suffix}"
    done = partita("run", table, "--k", 3, "-o", out, "--seed", 4)
    assert done.returncode == 0 and done.stdout == "" and out.exists()
    scores = partita("evaluate", out, "--ensemble", table, "--json")
    assert scores.returncode == 0, scores.stderr
    found = json.loads(scores.stdout)
    assert found["objects"] == 40 and found["clusters"] == 3 and 0.3 < found["anmi"] <= 1
    assert set(found["nmi by clustering"]) == set("abcd")
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(["labels.csv", out.name])


def test_json_result_and_json_summary(table, tmp_path):
    whole = json.loads(partita("run", table, "--k", 3, "--json", "-q").stdout)
    assert len(whole["objects"]["consensus"]) == 40 and whole["recipe"]["method"] == "auto"
    summary = json.loads(partita("run", table, "--k", 3, "--json", "-q", "-o", tmp_path / "out.csv").stdout)
    assert summary["clusters"] == 3 and summary["recipe"]["seed"] == 0


def test_same_result_for_one_and_two_threads(table):
    one, two = (partita("run", table, "-k", 3, "-m", "qmi", "--threads", n, "-q").stdout for n in (1, 2))
    assert one == two


def test_evaluate_against_truth_joins_by_id(tmp_path):
    out = tmp_path / "consensus.csv"
    partita("run", segments_path(), "--id", "customer", "-k", 4, "-o", out)
    shuffled = truth_path().read_text().splitlines()
    truth = tmp_path / "truth.csv"
    truth.write_text("\n".join([shuffled[0], *reversed(shuffled[1:])]) + "\n")
    done = partita("evaluate", out, "--truth", truth, "--id", "customer", "--json")
    straight = partita("evaluate", out, "--truth", truth_path(), "--id", "customer", "--json")
    assert json.loads(done.stdout) == json.loads(straight.stdout)
    assert json.loads(done.stdout)["nmi"] > 0.8


def test_evaluate_joins_files_that_call_their_ids_otherwise(tmp_path):
    write_csv(tmp_path / "found.csv", [["id", "consensus"], *[[f"cell{i}", i % 3] for i in range(30)]])
    rows = [[f"cell{i}", f"type{i % 3}"] for i in sorted(range(30), key=lambda i: 17 * i % 31)]
    write_csv(tmp_path / "truth.csv", [["cell", "type"], *rows])
    words = ("evaluate", "found.csv", "--truth", "truth.csv", "--truth-column", "type", "--json")
    by_id = partita(*words, "--truth-id", "cell", cwd=tmp_path)
    assert json.loads(by_id.stdout)["nmi"] == 1 and not by_id.stderr
    assert json.loads(partita(*words, "--id", "cell", cwd=tmp_path).stdout)["nmi"] == 1
    by_row = partita(*words, cwd=tmp_path)
    assert json.loads(by_row.stdout)["nmi"] < 1 and "--truth-id" in by_row.stderr
    write_csv(tmp_path / "truth.csv", [["cell", "type"], *[[f"other {name}", kind] for name, kind in rows]])
    strangers = partita(*words, "--truth-id", "cell", cwd=tmp_path)
    assert strangers.returncode == 1 and "no label for any of the 30 objects" in strangers.stderr


def test_a_column_of_ids_is_pointed_out(tmp_path):
    write_csv(tmp_path / "few.csv", [["customer", "a", "b"], *[[f"C{i}", i % 2, i % 2] for i in range(4)]])
    assert "give --id customer" in partita("run", "few.csv", "-k", 2, cwd=tmp_path).stderr
    assert "give --id" not in partita("run", "few.csv", "-k", 2, "--id", "customer", cwd=tmp_path).stderr


def test_evaluate_table_and_csv(table, tmp_path):
    out = tmp_path / "c.csv"
    partita("run", table, "-k", 3, "-o", out)
    assert "mean NMI with the base clusterings" in partita("evaluate", out, "--ensemble", table).stdout
    rows = rows_of(partita("evaluate", out, "--ensemble", table, "--csv").stdout)
    assert {"anmi", "nmi with a"} <= {row["measure"] for row in rows}


def test_methods_lists_the_registry():
    listed = json.loads(partita("methods", "--json").stdout)
    assert [row["name"] for row in listed] == list(registry.METHODS)
    assert "restarts" in partita("methods", "qmi").stdout
    assert partita("methods").stdout.count("\n") > len(registry.METHODS)


def test_demo(tmp_path):
    done = process("demo", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    folder = tmp_path / "partita-demo"
    assert sorted(p.name for p in folder.iterdir()) == ["consensus.csv", "consensus.png", "segments.csv", "truth.csv"]
    assert (folder / "consensus.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    rows = rows_of((folder / "consensus.csv").read_text())
    assert rows[-1]["customer"] == "C0300" and rows[-1]["consensus"] == "-1"
    assert "region" in done.stdout and "1 object has no label" in done.stdout
    scores = json.loads(process("demo", "--json", cwd=tmp_path).stdout)["scores"]
    assert all(scores[name]["nmi"] > 0.8 for name in ("voting", "qmi", "auto"))


BAD = {
    "no file": (["run", "absent.csv"], "absent.csv"),
    "empty file": (["run", "empty.csv"], "empty"),
    "header only": (["run", "header.csv"], "header.csv"),
    "one column": (["run", "one.csv"], "one clustering"),
    "ragged": (["run", "ragged.csv"], "line 3"),
    "floats": (["run", "floats.csv"], "0.37"),
    "duplicate ids": (["run", "ids.csv", "--id", "who"], "ann"),
    "transposed": (["run", "wide.csv", "--no-header"], "--transpose"),
    "k too large": (["run", "good.csv", "-k", "99"], "k=99"),
    "k zero": (["run", "good.csv", "-k", "0"], "k=0"),
    "k not a number": (["run", "good.csv", "-k", "two"], "--k two: expected a number such as 4"),
    "one k too large": (["run", "good.csv", "-k", "2,900"], "k=900 is more than"),
    "k backwards": (["run", "good.csv", "-k", "9..2"], "the range ends before it begins"),
    "unknown method": (["run", "good.csv", "-m", "votin"], "did you mean 'voting'"),
    "unknown setting": (["run", "good.csv", "-k", "2", "--set", "restart=3", "-m", "qmi"], "did you mean 'restarts'"),
    "bad setting": (["run", "good.csv", "-k", "2", "--set", "restarts=many", "-m", "qmi"], "restarts='many'"),
    "setting without =": (["run", "good.csv", "--set", "restarts"], "NAME=VALUE"),
    "an option as a setting": (["run", "good.csv", "-k", "2", "--set", "seed=3"], "--set seed=3"),
    "negative weight": (["run", "good.csv", "--weight", "a=-1"], "weight of 'a'"),
    "nan weight": (["run", "good.csv", "--weight", "a=nan"], "weight of 'a'"),
    "weight of a stranger": (["run", "good.csv", "--weight", "zz=1"], "'zz'"),
    "soft rows": (["run", "soft.csv"], "sum to 0.9"),
    "soft for a hard method": (["run", "softok.csv", "-k", "2", "-m", "voting"], "--harden"),
    "minus one": (["run", "minus.csv"], "--missing"),
    "output folder": (["run", "good.csv", "-k", "2", "-o", "nowhere/out.csv"], "nowhere"),
    "output over input": (["run", "good.csv", "-k", "2", "-o", "good.csv"], "overwrite"),
    "output is a folder": (["run", "good.csv", "-k", "2", "-o", "."], "directory"),
    "output where nobody may write": (["run", "good.csv", "-k", "2", "-o", "/proc/out.csv"], "cannot write"),
    "truth with minus one": (["evaluate", "truth2.csv", "--truth", "minus.csv", "--truth-column", "a"], "-1"),
    "output suffix": (["run", "good.csv", "-k", "2", "-o", "out.xyz"], "xyz"),
    "no model": (["predict", "good.csv", "good.csv"], "good.csv: is no model of Partita"),
    "evaluate against nothing": (["evaluate", "good.csv"], "--truth"),
    "evaluate other objects": (["evaluate", "truth3.csv", "--ensemble", "good.csv"], "objects"),
    "demo folder": (["demo", "-o", "good.csv/x"], "good.csv"),
}


@pytest.fixture
def mistakes(tmp_path):
    good = [["a", "b"], [1, 2], [1, 2], [2, 1], [2, 3]]
    files = {
        "good.csv": good,
        "empty.csv": [],
        "header.csv": [["a", "b"]],
        "one.csv": [["a"], [1], [2]],
        "ragged.csv": [["a", "b"], [1, 2], [1]],
        "floats.csv": [["a", "b"], [0.37, 2], [1.5, 1]],
        "ids.csv": [["who", "a", "b"], ["ann", 1, 2], ["ann", 2, 1]],
        "wide.csv": [list(range(60)), list(range(60))],
        "soft.csv": [["a:0", "a:1", "b"], [0.5, 0.4, 1], [0.5, 0.5, 1]],
        "softok.csv": [["a:0", "a:1", "b"], [0.5, 0.5, 1], [0.1, 0.9, 2]],
        "minus.csv": [["a", "b"], [-1, 2], [1, 2]],
        "truth3.csv": [["t"], [1], [2], [3]],
        "truth2.csv": [["t"], [1], [2]],
    }
    for name, rows in files.items():
        write_csv(tmp_path / name, rows)
    return tmp_path


@pytest.mark.parametrize("case", list(BAD))
def test_a_mistake_is_one_line_and_writes_nothing(mistakes, case):
    words, expected = BAD[case]
    before = {p: p.read_bytes() for p in mistakes.iterdir()}
    done = partita(*words, cwd=mistakes)
    lines = done.stderr.strip().splitlines()
    assert done.returncode == 1, done.stderr
    assert len(lines) == 1 and lines[0].startswith("partita: ") and expected in lines[0], done.stderr
    assert done.stdout == ""
    assert {p: p.read_bytes() for p in mistakes.iterdir()} == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_unwritable_folder(mistakes):
    (mistakes / "locked").mkdir(mode=0o500)
    done = partita("run", "good.csv", "-k", 2, "-o", "locked/out.csv", cwd=mistakes)
    assert done.returncode == 1 and "locked" in done.stderr


@pytest.mark.parametrize("words", [["run"], ["nonsense"], ["run", "x.csv", "--nonsense"]])
def test_wrong_usage_is_exit_2(words):
    assert partita(*words).returncode == 2


def test_interrupt_is_130_and_leaves_no_file(tmp_path):
    """Where a method has nothing to show yet; see test_interrupt for those that have."""
    labels = np.random.default_rng(0).integers(30, size=(60_000, 12))
    table = write_csv(tmp_path / "big.csv", [[f"c{j}" for j in range(12)], *labels.tolist()])
    words = ["run", table, "-m", "lwgp", "-k", "25", "--set", "restarts=100000", "-o", tmp_path / "out.csv"]
    child = subprocess.Popen(
        [sys.executable, "-m", "partita", *map(str, words)], stderr=subprocess.PIPE, text=True, env=ENVIRONMENT
    )
    with child:
        time.sleep(6)
        child.send_signal(signal.SIGINT)
        try:
            _, errors = child.communicate(timeout=60)
        finally:
            child.kill()
    assert child.returncode == 130 and errors.strip().splitlines()[-1] == "partita: interrupted"
    assert [p.name for p in tmp_path.iterdir()] == ["big.csv"]


def test_progress_is_drawn_on_a_terminal_only(tmp_path):
    labels = np.random.default_rng(0).integers(20, size=(40_000, 12))
    table = write_csv(tmp_path / "big.csv", [[f"c{j}" for j in range(12)], *labels.tolist()])
    words = ["run", str(table), "-m", "qmi", "-k", "20", "--set", "restarts=6", "-o", str(tmp_path / "out.csv")]
    terminal, stderr = pty.openpty()
    child = subprocess.Popen([sys.executable, "-m", "partita", *words], stderr=stderr, env=ENVIRONMENT)
    os.close(stderr)
    drawn = b""
    with contextlib.suppress(OSError):  # Linux ends a closed terminal with an error
        while piece := os.read(terminal, 4096):
            drawn += piece
    os.close(terminal)
    assert child.wait(timeout=120) == 0
    assert b"qmi restarts" in drawn
    assert "qmi restarts" not in process(*words).stderr


def test_closed_pipe_is_no_error(table):
    command = f"{sys.executable} -m partita run {table} -k 3 -q | head -n 1"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, env=ENVIRONMENT)
    assert done.stdout.startswith("consensus,") and done.stderr == ""


def test_words_that_read_a_table_in_the_same_way():
    given = ("who", None, ["x*", "y"], ["none"], ["a=0.1", "b=3"], True, None, "tsv")
    wanted = options.read_options(*given)
    words = options.reading_words(wanted, harden=False)
    assert words[:6] == ["--id", "who", "--exclude", "x*", "--exclude", "y"] and "--harden" not in words
    told = {flag: [words[i + 1] for i, word in enumerate(words) if word == flag] for flag in ("--missing", "--weight")}
    assert {"--transpose", "--input-format", "tsv"} <= set(words)
    again = options.read_options("who", None, ["x*", "y"], told["--missing"], told["--weight"], True, None, "tsv")
    assert again == wanted


def test_version_and_completion():
    assert process("--version").stdout.startswith("partita 0.")
    lines = {"partita ru": "run", "partita run x.csv --method q": "qmi", "partita methods vo": "voting"}
    for line, expected in lines.items():
        asking = {"_PARTITA_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(line.count(" "))}
        code = "import sys; sys.argv[0] = 'partita'; from partita.cli.main import main; main()"
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, env={**ENVIRONMENT, **asking}
        )
        assert expected in done.stdout.split(), done.stderr


def test_every_command_and_option_has_help():
    for name, command in typer.main.get_command(app).commands.items():
        assert command.help, name
        for parameter in command.params:
            assert getattr(parameter, "help", None), f"{name} {parameter.name}"


def test_warm_start_compiles_nothing(table):
    """A second run loads every kernel from disk: the note about compiling appears at most in the first."""
    process("run", table, "-k", 3, "-m", "qmi")
    assert "compiling" not in process("run", table, "-k", 3, "-m", "qmi").stderr


def test_run_polishes(table):
    done = partita("run", table, "-k", 3, "-m", "lwgp", "--polish")
    assert done.returncode == 0 and "polished: " in done.stderr and "ANMI" in done.stderr
    found = json.loads(partita("run", table, "-k", 3, "-m", "lwgp", "--polish", "--json", "-q").stdout)
    done = found["detail"]["polish"]
    assert found["recipe"]["polish"] is True and done["anmi before"] <= done["anmi"] == found["scores"]["anmi"]


def test_run_shows_the_candidates(table):
    words = ["run", table, "-k", 3, "-m", "supra", "--set", "methods=lwgp,voting"]
    shown = partita(*words).stderr
    assert "Candidates" in shown and "chosen" in shown and "seconds" in shown
    rows = json.loads(partita(*words, "--json", "-q").stdout)["candidates"]
    assert [row["method"] for row in rows] == ["lwgp", "voting"]


@pytest.fixture
def segments(tmp_path):
    for source, name in ((segments_path(), "labels.csv"), (truth_path(), "truth.csv")):
        (tmp_path / name).write_bytes(source.read_bytes())
    return tmp_path


RUN = ("run", "labels.csv", "--id", "customer", "--k", 4, "--method", "voting")
TRUTH = ("--truth", "truth.csv", "--truth-column", "group")


def test_run_writes_report_and_plot(segments):
    done = partita(*RUN, "-o", "c.csv", "--report", "r.html", "--plot", "p.png", *TRUTH, cwd=segments)
    assert done.returncode == 0 and "wrote p.png\nwrote r.html\n" in done.stderr, done.stderr
    assert (segments / "p.png").read_bytes().startswith(b"\x89PNG")
    text = (segments / "r.html").read_text()
    assert "The number of clusters, 4, was given" in text and 'id="known"' in text
    assert "partita run labels.csv --id customer" in text
    partita("report", *RUN[1:], "-o", "again.html", *TRUTH, cwd=segments)
    again = (segments / "again.html").read_text()
    assert len({page.split('id="labels"')[1].split("</script>")[0] for page in (text, again)}) == 1


@pytest.mark.parametrize("k", ["2..5", None])
def test_the_report_of_run_has_the_reason_for_k(segments, k):
    words = [*RUN[:4], *(["--k", k] if k else []), "-m", "mm", "-o", "c.csv", "--report", "r.html", "--plot", "p.svg"]
    assert partita(*words, cwd=segments).returncode == 0
    text = (segments / "r.html").read_text()
    assert ("The default rule chose 4 of the given numbers" if k else "the default rule chose 4") in text
    assert (segments / "p.svg").read_text().lstrip().startswith("<?xml")


def test_run_compares_with_known_classes(segments):
    done = partita(*RUN, "-o", "c.csv", *TRUTH, "--json", cwd=segments)
    assert done.returncode == 0 and "Agreement with the known classes" in done.stderr
    scores = json.loads(done.stdout)["scores"]
    said = partita("evaluate", "c.csv", "--id", "customer", *TRUTH, "--json", cwd=segments)
    known = json.loads(said.stdout)
    assert {
        f"truth_{name}": value for name, value in known.items() if name not in ("objects", "clusters", "notes")
    } == {name: value for name, value in scores.items() if name.startswith("truth_")}
    whole = json.loads(partita(*RUN, *TRUTH, "--json", "-q", cwd=segments).stdout)
    assert whole["scores"] == scores


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--report", "r.txt"), "r.txt: the report is an HTML page; choose a name that ends in .html for --report"),
        (("--report", "-"), "--report -: the page is a file"),
        (("--report", "no/r.html"), "no/r.html: the folder 'no' does not exist"),
        (("--report", "x.html", "--save-draws", "x.html", "-m", "nbce-gibbs"), "x.html"),
        (("--plot", "p.gif"), "p.gif: pictures are written as .png, .svg or .pdf"),
        (("--plot", "no/p.png"), "no/p.png: the folder 'no' does not exist"),
        (
            ("-o", "c.csv", "--save-draws", "./c.csv", "-m", "nbce-gibbs"),
            "--save-draws and --output name the same file",
        ),
        (("--truth", "none.csv"), "none.csv"),
        (("--truth-column", "group"), "columns are named for --truth, but no file"),
        (
            (*TRUTH, "-o", "truth.csv"),
            "truth.csv: the result would overwrite the known classes; choose another --output",
        ),
        (("--truth", "truth.csv", "--truth-column", "zz"), "truth.csv: no column is called 'zz'"),
        (("--stream", "--report", "r.html"), "--report is not supported for a table that is read in blocks"),
        (("--stream", "--plot", "p.png"), "--plot is not supported for a table that is read in blocks"),
        (("--stream", *TRUTH), "--truth is not supported for a table that is read in blocks"),
    ],
)
def test_what_run_refuses_before_the_work(segments, words, message):
    before = sorted(segments.iterdir())
    output = () if "-o" in words else ("-o", "c.csv")
    done = partita(*RUN, *output, *words, cwd=segments)
    assert done.returncode == 1 and message in done.stderr and len(done.stderr.splitlines()) == 1
    assert sorted(segments.iterdir()) == before


def test_run_numbers_clusters_by_size(table):
    found = json.loads(partita("run", table, "-k", 3, "-m", "voting", "--number-by-size", "--json", "-q").stdout)
    assert found["clusters"] == sorted(found["clusters"], reverse=True)
