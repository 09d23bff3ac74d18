"""A 10^6 x 20 CSV of labels, read and compressed, against polars, pyarrow and pandas only reading it."""

import tempfile
from pathlib import Path

import numpy as np

from benchmarks.data import noisy_labels
from benchmarks.harness import Case, Contestant


def csv_file(noise: float) -> Path:
    """The file, made once and kept in the system's temporary folder."""
    path = Path(tempfile.gettempdir()) / f"partita-bench-{noise}.csv"
    if not path.exists():
        labels = noisy_labels(10**6, noise=noise)
        cells = np.full((len(labels), 2 * labels.shape[1]), ord(","), np.uint8)
        cells[:, 0::2] = labels + ord("0")
        cells[:, -1] = ord("\n")
        header = ",".join(f"c{j}" for j in range(labels.shape[1])) + "\n"
        path.write_bytes(header.encode() + cells.tobytes())
    return path


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
            Contestant("partita read + distinct", ours),
            Contestant("polars read_csv", polars_read),
            Contestant("pyarrow read_csv", pyarrow_read),
            Contestant("pandas read_csv", pandas_read),
        ),
        lambda result, data: float(result),
        repeats=3,
    )
    for share in (5, 30)
]
