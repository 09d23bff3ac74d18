"""Tables that are read in blocks: a billion rows made on the way, and the same from Parquet files."""

import os
import shutil
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.data import noisy_labels
from benchmarks.harness import Case, Contestant

ROWS, COLUMNS, CLUSTERS, NOISE = 10**9, 20, 10, 0.3
FILE_ROWS, FILES = 2 * 10**8, 20
"""Rows of the table in files, and how many files."""
POOL = 1 << 22
"""Rows made once, of which every block is a window."""
ALLOWED_MB = 4000.0
TOO_LITTLE = 3e10
"""Bytes of disk that the files and the result need, with room to spare."""


def pool() -> np.ndarray:
    """Rows with 30 % of the labels noise: hardly two are alike."""
    return noisy_labels(POOL, COLUMNS, CLUSTERS, NOISE).astype(np.uint8)


def window(rows: np.ndarray, start: int, stop: int) -> np.ndarray:
    """The rows `start` to `stop` of an endless table: another window of the pool for each block."""
    begin = (start // (1 << 20) * 7919 * 131) % (len(rows) - (1 << 20))
    return rows[begin : begin + stop - start]


def streamed(rows: int, method: str, place: str | None = None):
    """Consensus by a sample and a second pass, written to a folder that is then removed."""

    def run(made: np.ndarray) -> dict[str, float]:
        import partita
        from partita.io.blocks import made_blocks

        folder = Path(tempfile.mkdtemp(prefix="partita-billion-"))
        try:
            names = [f"c{j}" for j in range(COLUMNS)]
            table = (
                str(Path(place_of()) / "*.parquet")
                if place
                else made_blocks(lambda start, stop: window(made, start, stop), rows, names)
            )
            begun = time.perf_counter()
            found = partita.stream(table, folder / "out", method, CLUSTERS)
            wall = time.perf_counter() - begun
            written = sum(part.stat().st_size for part in (folder / "out").iterdir()) / 1e6
        finally:
            shutil.rmtree(folder)
        told = {
            "seconds for 10^9 rows (allowed 300)": wall * ROWS / rows,
            "million rows a second": rows / wall / 1e6,
            "ANMI": found.scores["anmi"],
            "MB written": written,
        }
        if "cost of the sample, a label" in found.detail:
            told["cost of the sample, a label"] = found.detail["cost of the sample, a label"]
        return told

    return run


def place_of() -> str:
    """Where the files of this machine are kept between contestants."""
    return os.path.join(tempfile.gettempdir(), f"partita-{FILE_ROWS}-rows")  # noqa: PTH118  # a plain text


def make_files() -> np.ndarray:
    """The files, unless they are there; each a window of the pool, its columns dictionaries of a byte."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    place, made = Path(place_of()), pool()
    place.mkdir(exist_ok=True)
    for number in range(FILES):
        path = place / f"part-{number:03d}.parquet"
        if path.exists():
            continue
        first, rows = number * (FILE_ROWS // FILES), FILE_ROWS // FILES
        half = path.with_suffix(".half")
        with pq.ParquetWriter(half, pa.schema([(f"c{j}", pa.uint8()) for j in range(COLUMNS)])) as writer:
            for start in range(first, first + rows, 1 << 20):
                part = window(made, start, min(start + (1 << 20), first + rows))
                columns = {f"c{j}": np.ascontiguousarray(column) for j, column in enumerate(part.T)}
                writer.write_table(pa.table(columns), row_group_size=1 << 20)
        half.rename(path)
    return made


def room() -> str:
    """What is missing, if anything."""
    free = shutil.disk_usage(tempfile.gettempdir()).free
    return "" if free > TOO_LITTLE else f"{TOO_LITTLE / 1e9:g} GB of disk for the files, {free / 1e9:.0f} GB are free"


def figures(told: dict[str, float], data) -> dict[str, float]:
    """What a run told."""
    return told


METHODS = ("mm", "qmi", "voting", "mcla", "lwgp")
CASES = [
    Case(
        "billion",
        f"{ROWS:.0e} x {COLUMNS} uint8 labels made on the way: sample fit and placing of all rows, written to Parquet",
        pool,
        (Contestant("mm", streamed(ROWS, "mm")), Contestant("qmi", streamed(ROWS, "qmi"))),
        figures,
        repeats=0,
        limit=1800,
        allowed=ALLOWED_MB,
        on_request=True,
    ),
    Case(
        "billion-files",
        f"{FILE_ROWS:.0e} x {COLUMNS} labels in {FILES} Parquet files, and what 10^9 rows would take at that rate",
        make_files,
        (Contestant("mm", streamed(FILE_ROWS, "mm", "files")),),
        figures,
        repeats=0,
        limit=1800,
        allowed=ALLOWED_MB,
        on_request=True,
        lacking=room,
    ),
    Case(
        "billion-methods",
        f"{ROWS // 20:.0e} rows, made on the way, by every method that can be streamed, and 10^9 at that rate",
        pool,
        tuple(Contestant(method, streamed(ROWS // 20, method)) for method in METHODS),
        figures,
        repeats=0,
        limit=900,
        allowed=ALLOWED_MB,
        on_request=True,
    ),
]
