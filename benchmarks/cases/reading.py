"""A 10^6 x 20 CSV of labels, read and compressed, against polars, pyarrow and pandas only reading it."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.data import noisy_labels
from benchmarks.harness import Case, Contestant


def csv_file(noise: float, rows: int = 10**6) -> Path:
    """The file, made once and kept in the system's temporary folder."""
    path = Path(tempfile.gettempdir()) / f"partita-bench-{rows}-{noise}.csv"
    if not path.exists():
        labels = noisy_labels(rows, noise=noise)
        cells = np.full((len(labels), 2 * labels.shape[1]), ord(","), np.uint8)
        cells[:, 0::2] = labels + ord("0")
        cells[:, -1] = ord("\n")
        header = ",".join(f"c{j}" for j in range(labels.shape[1])) + "\n"
        path.write_bytes(header.encode() + cells.tobytes())
    return path


def small_file() -> Path:
    """A file for warming up."""
    return csv_file(0.05, 100)


def ours(path):
    """Read, check, code and find the distinct rows."""
    import partita

    ensemble = partita.read(path)
    return len(ensemble.distinct.first)


def polars_read(path):
    """polars.read_csv, nothing else."""
    import polars

    return polars.read_csv(path).height


def pyarrow_read(path):
    """pyarrow.csv.read_csv, nothing else."""
    from pyarrow import csv

    return csv.read_csv(path).num_rows


def whole_command(path, *words, **environment):
    """`partita run` from start to finish, in a process of its own."""
    command = [sys.executable, "-m", "partita", "run", str(path), "--quiet", "--output", os.devnull, "--format", "csv"]
    subprocess.run([*command, *words], check=True, env={**os.environ, **environment})


def cold_command(path):
    """The same with an empty kernel cache, so that every kernel is compiled first."""
    with tempfile.TemporaryDirectory() as folder:
        whole_command(path, NUMBA_CACHE_DIR=folder)


def pandas_read(path):
    """pandas.read_csv, nothing else."""
    import pandas

    return len(pandas.read_csv(path))


CASES = [
    Case(
        f"csv-{share}",
        f"10^6 x 20 CSV, {share} % noise: ours reads AND compresses, rivals only read (quality: rows kept)",
        lambda share=share: csv_file(share / 100),
        (
            Contestant("partita read + distinct", ours, small_file),
            Contestant("polars read_csv", polars_read, small_file),
            Contestant("pyarrow read_csv", pyarrow_read, small_file),
            Contestant("pandas read_csv", pandas_read, small_file),
        ),
        lambda result, data: float(result),
        repeats=3,
    )
    for share in (5, 30)
]


def csv_with_words(noise: float) -> Path:
    """The same table with words for labels and an id column, the harder kind of file."""
    path = Path(tempfile.gettempdir()) / f"partita-bench-words-{noise}.csv"
    if not path.exists():
        labels = noisy_labels(10**6, noise=noise)
        words = np.array([f"cluster_{label}" for label in range(10)])
        with path.open("w") as file:
            file.write("id," + ",".join(f"c{j}" for j in range(labels.shape[1])) + "\n")
            for row, cells in enumerate(words[labels].tolist()):
                file.write(f"o{row}," + ",".join(cells) + "\n")
    return path


def ours_with_ids(path):
    """Read ids and words, check, code and find the distinct rows."""
    import partita

    return len(partita.read(path, ids="id").distinct.first)


CASES.append(
    Case(
        "csv-words",
        "10^6 x 20 CSV of words with text ids: ours reads AND compresses, rivals only read (quality: rows kept)",
        lambda: csv_with_words(0.05),
        (
            Contestant("partita read + distinct", ours_with_ids),
            Contestant("polars read_csv", polars_read),
            Contestant("pyarrow read_csv", pyarrow_read),
            Contestant("pandas read_csv", pandas_read),
        ),
        lambda result, data: float(result),
        repeats=2,
    )
)
CASES.append(
    Case(
        "command",
        "`partita run` of a 10^6 x 20 CSV from start to finish (memory: peak of the whole process)",
        lambda: csv_file(0.05),
        (
            Contestant("partita run (auto)", lambda path: whole_command(path, "-k", "10"), outside=True),
            Contestant("partita run, voting", lambda path: whole_command(path, "-m", "voting"), outside=True),
            Contestant("partita run, qmi", lambda path: whole_command(path, "-m", "qmi", "-k", "10"), outside=True),
        ),
        lambda result, data: float("nan"),
        repeats=2,
    )
)
CASES.append(
    Case(
        "start",
        "a small `partita run` with the kernels on disk and with an empty cache: the first is paid once a machine",
        small_file,
        (
            Contestant("warm", whole_command, outside=True),
            Contestant("cold", cold_command, outside=True),
        ),
        lambda result, data: float("nan"),
        repeats=2,
    )
)
