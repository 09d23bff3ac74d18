"""partita run on tables that are read in blocks."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import partita
from partita.core.errors import EngineError
from tests.cli.command import ENVIRONMENT
from tests.cli.command import partita as command
from tests.samples import noisy_labels


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "labels").mkdir()
    labels, _ = noisy_labels(n=900, r=5, k=3)
    for number, part in enumerate(np.array_split(labels, 3)):
        columns = {f"c{j}": column for j, column in enumerate(part.T)}
        ids = [f"p{number}-{i}" for i in range(len(part))]
        pq.write_table(pa.table({"who": ids, **columns}), tmp_path / "labels" / f"{number}.parquet")
    np.save(tmp_path / "all.npy", labels)
    return tmp_path


def consensus_of(path):
    return pq.read_table(path)["consensus"].to_numpy()


@pytest.mark.parametrize("table", ["labels", "labels/*.parquet"])
def test_many_files_are_one_table(table, folder):
    done = command("run", table, "--id", "who", "-m", "mm", "-k", 3, "-o", "out.parquet", cwd=folder)
    assert done.returncode == 0 and done.stdout == "" and "wrote out.parquet" in done.stderr
    got = pq.read_table(folder / "out.parquet")
    assert got.column_names == ["who", "consensus", "confidence", "second", "second_item_consensus"]
    assert np.array_equal(
        consensus_of(folder / "out.parquet"), partita.consensus(np.load(folder / "all.npy"), "mm", 3).labels
    )


def test_one_file_with_stream_is_what_it_is_without(folder):
    for words in ([], ["--stream"]):
        output = f"out{len(words)}.csv"
        table = ["run", "labels/0.parquet", "--id", "who", "-m", "voting", "-k", 3, "--no-membership", "-o", output]
        assert command(*table, *words, cwd=folder).returncode == 0
    assert (folder / "out0.csv").read_bytes() == (folder / "out1.csv").read_bytes()


def test_a_sample_is_told_and_its_model_places(folder):
    words = ["run", "all.npy", "--fit", "sample", "--sample", 200, "-m", "mm", "-k", 3, "--save-model", "m.npz"]
    done = command(*words, "-o", "out", "--json", cwd=folder)
    told = json.loads(done.stdout)
    assert told["fit"] == "sample" and told["fitted rows"] == 200 and told["rows"] == 900
    assert "cost of the sample" in done.stderr and "log likelihood a label, other rows" in done.stderr
    assert command("predict", "m.npz", "all.npy", "-o", "again.parquet", cwd=folder).returncode == 0
    assert np.array_equal(consensus_of(folder / "again.parquet"), consensus_of(folder / "out"))


def test_memberships_are_written_when_asked_for(folder):
    words = ["run", "all.npy", "--stream", "-m", "mm", "-k", 3]
    assert command(*words, "-o", "out.parquet", "--membership", cwd=folder).returncode == 0
    whole = command("run", "all.npy", "-m", "mm", "-k", 3, "-o", "whole.parquet", cwd=folder)
    assert whole.returncode == 0
    assert pq.read_table(folder / "out.parquet").to_pydict() == pq.read_table(folder / "whole.parquet").to_pydict()


MISTAKES = {
    "standard output": (["labels"], "go to a file or a folder; say --output NAME"),
    "nothing fits": (["none*.parquet", "-o", "x.csv"], "no such file, and no Parquet or NPY file fits it"),
    "json": (["all.npy", "--stream", "-o", "x.json"], "blocks are written as .parquet, .csv or .tsv"),
    "transpose": (["labels", "--transpose", "-o", "x.csv"], "in blocks (labels is a folder, a pattern or a URL)"),
    "draws": (["labels", "--save-draws", "d.csv", "-o", "x.csv"], "--save-draws is not supported for a table"),
    "over itself": (["labels/0.parquet", "--stream", "-o", "labels/0.parquet"], "would overwrite the label table"),
    "idle sample": (["labels", "--fit", "distinct", "--sample", "9", "-o", "x.csv"], "--sample changes nothing with"),
    "idle rows": (["labels", "--fit", "sample", "--most-rows", "9", "-o", "x.csv"], "--most-rows changes nothing with"),
    "overwrite": (["labels", "--overwrite", "-o", "x.csv"], "omit it, or give one local file\n"),
    "by size": (
        ["all.npy", "--sample", "9", "--engine", "serial", "--number-by-size", "-o", "x.csv"],
        "(given: --sample, --engine); omit it, or omit --sample, --engine\n",
    ),
    "by size, a folder": (
        ["labels", "--most-rows", "9", "--number-by-size", "-o", "x.csv"],
        "; omit it, or give one local file and omit --most-rows\n",
    ),
    "no such engine": (["labels", "--engine", "spark", "-o", "x.csv"], "engine 'spark' is not known"),
    "no such fit": (["labels", "--fit", "some", "-o", "x.csv"], "fit='some' is not known"),
    "scheduler of nothing": (["labels", "--scheduler", "tcp://x:1", "-o", "x.csv"], "is for engine dask"),
    "csv": (["t.csv", "--stream", "-o", "x.csv"], "only Parquet and NPY files can be read in blocks"),
    "minus one": (["minus.npy", "--stream", "-o", "x.csv"], "minus.npy: column 'c1', row 3: -1 may be a label"),
    "bad k": (["all.npy", "--fit", "sample", "-m", "mm", "--k", "2..x", "-o", "x"], "--k 2..x: expected a number"),
    "no place": (["labels", "--id", "who", "-o", "no/x.csv"], "no/x.csv.parts: cannot make this folder"),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_a_mistake_is_one_line_and_leaves_nothing(case, folder):
    (folder / "t.csv").write_text("a,b\n1,2\n2,1\n")
    np.save(folder / "minus.npy", np.array([[0, 0], [1, 1], [0, -1]]))
    before = sorted(folder.rglob("*"))
    words, said = MISTAKES[case]
    done = command("run", "-m", "voting", *words, cwd=folder)
    assert done.returncode == 1 and said in done.stderr
    assert done.stderr.count("\n") == 1 and done.stderr.startswith("partita: ") and done.stdout == ""
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize("output", ["x.csv", "x"])
def test_a_run_that_strict_stops_leaves_nothing(output, folder):
    constant = {"c0": [0, 1] * 30, "c1": [0, 1, 1] * 20, "c2": [5] * 60}
    pq.write_table(pa.table(constant), folder / "constant.parquet")
    before = sorted(folder.rglob("*"))
    words = ["run", "constant.parquet", "--stream", "-m", "voting", "-k", 2, "-o", output]
    done = command(*words, "--strict", cwd=folder)
    assert done.returncode == 1 and "'c2' has the same label" in done.stderr and "kept in" not in done.stderr
    assert sorted(folder.rglob("*")) == before
    assert command(*words, cwd=folder).returncode == 0


def test_an_engine_that_fails_leaves_a_checkpoint(folder, monkeypatch):
    def lost(*_):
        raise EngineError("a worker was lost")

    words = ["run", "all.npy", "--stream", "-m", "voting", "-k", 3, "-o", "x.csv"]
    with monkeypatch.context() as patch:
        patch.setattr("partita.streaming.run.place", lost)
        done = command(*words, cwd=folder)
    assert done.returncode == 1 and (folder / "x.csv.parts" / "_partita" / "fit.npz").exists()
    assert "note: finished work is kept in x.csv.parts: the same command resumes the run" in done.stderr
    done = command(*words[:-3], 2, *words[-2:], cwd=folder)
    assert "holds an unfinished run that differs in k" in done.stderr and "note" not in done.stderr
    assert command(*words, cwd=folder).returncode == 0 and not (folder / "x.csv.parts").exists()


@pytest.mark.slow
@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGKILL])
def test_a_command_that_is_stopped_goes_on(stop, tmp_path):
    """Stopped as soon as the first parts are there, it comes to the same file as one that was not."""
    labels = np.random.default_rng(0).integers(4, size=(12_000_000, 12)).astype(np.uint8)
    np.save(tmp_path / "all.npy", labels)
    words = [sys.executable, "-m", "partita", "run", "all.npy", "--sample", "20000", "--engine", "serial"]
    words += ["-m", "mm", "-k", "4", "-q", "-o"]
    subprocess.run([*words, "one.parquet"], cwd=tmp_path, env=ENVIRONMENT, check=True, timeout=300)
    parts = tmp_path / "two.parquet.parts"
    with subprocess.Popen(
        [*words, "two.parquet"], cwd=tmp_path, env=ENVIRONMENT, stderr=subprocess.PIPE, text=True
    ) as process:
        while len(list(parts.glob("part-*.parquet"))) < 2:
            assert process.poll() is None
            time.sleep(0.005)
        os.kill(process.pid, stop)
        told = process.communicate(timeout=60)[1]
    made = {part.name: part.stat().st_mtime_ns for part in parts.glob("part-*.parquet")}
    assert process.returncode in (130, -signal.SIGKILL) and 2 <= len(made) < 12
    assert not (tmp_path / "two.parquet").exists() and "Traceback" not in told
    if stop == signal.SIGINT:
        assert "finished work is kept in two.parquet.parts: the same command resumes the run" in told
    subprocess.run([*words, "two.parquet"], cwd=tmp_path, env=ENVIRONMENT, check=True, timeout=300)
    assert (tmp_path / "one.parquet").read_bytes() == (tmp_path / "two.parquet").read_bytes()
    assert not parts.exists()
