"""Time for tables with many clusterings, with ratios per doubling: `python -m benchmarks.wide_tables [--small]`.

Three Markdown tables, each next to a rival or a limit that is measured in the same run: reading Parquet files with many
columns (rival: `pyarrow.parquet.read_table`), pairwise NMI (rival: scikit-learn's `normalized_mutual_info_score`,
estimated from a sample of pairs), and `voting` with 2,000 clusterings of 6 objects (rival: the same score for the pairs
of all clusterings). Each time is the best of three runs (of nine, for reading); `--small` divides all sizes by 10.
"""

import argparse
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from sklearn.metrics import normalized_mutual_info_score

import partita
from partita import Ensemble
from partita.core.unique_clusterings import unique_clusterings
from partita.metrics import pairwise_nmi

SAMPLED_PAIRS = 300
ROWS = 200
LIMIT_PER_DOUBLING = 2.5
SECONDS_VOTING, SECONDS_PAIRWISE = 2.0, 3.0


def best_time(work: Callable[[], Any], runs: int = 3) -> float:
    """Return the shortest wall time of several runs, in seconds."""
    times = []
    for _ in range(runs):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return min(times)


def noisy_clusterings(n: int, r: int, k: int) -> np.ndarray:
    """Return (n, r) labels: a planted partition in which every fifth label is drawn at random."""
    rng = np.random.default_rng(0)
    planted = rng.integers(k, size=n)
    return np.where(rng.random((n, r)) < 0.2, rng.integers(k, size=(n, r)), planted[:, None])


def sklearn_seconds_per_pair(labels: np.ndarray) -> float:
    """Return the mean seconds of scikit-learn's NMI for randomly drawn pairs of columns."""
    pairs = np.random.default_rng(1).integers(labels.shape[1], size=(SAMPLED_PAIRS, 2))
    begin = time.perf_counter()
    for a, b in pairs:
        normalized_mutual_info_score(labels[:, a], labels[:, b], average_method="geometric")
    return (time.perf_counter() - begin) / SAMPLED_PAIRS


def print_rows(title: str, columns: list[str], rows: list[list[Any]], ratio: int) -> None:
    """Print a Markdown table with a column of the ratio of column `ratio` to the previous row."""
    print(f"\n{title}\n\n| {' | '.join(columns)} | ratio |\n|{'---|' * (len(columns) + 1)}")
    for place, row in enumerate(rows):
        change = "" if place == 0 else f"{row[ratio] / rows[place - 1][ratio]:.2f}"
        cells = [f"{cell:.3g}" if isinstance(cell, float) else f"{cell:,}" for cell in row]
        print(f"| {' | '.join(cells)} | {change} |", flush=True)


def reading(sizes: list[int]) -> None:
    """Read Parquet files with more and more columns of integers and of strings."""
    for kind, name in ((np.int64, "integers"), (str, "strings")):
        rows = []
        for columns in sizes:
            labels = np.random.default_rng(0).integers(5, size=(ROWS, columns)).astype(kind)
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "labels.parquet"
                pq.write_table(pa.table({f"c{j}": labels[:, j] for j in range(columns)}), path)
                ours = best_time(lambda path=path: partita.read(path, transpose=False), runs=9)
                raw = best_time(lambda path=path: pq.read_table(path), runs=9)
            rows.append([columns, ours, raw, ours / raw])
        title = f"Parquet, {ROWS} rows of {name}; limit of the ratio per doubling: {LIMIT_PER_DOUBLING}"
        print_rows(title, ["columns", "partita.read, s", "pyarrow read_table, s", "times pyarrow"], rows, 1)


def agreement(sizes: list[int], n: int) -> None:
    """Compute the NMI of every two clusterings."""
    rows = []
    for r in sizes:
        labels = noisy_clusterings(n, r, 10)
        ensemble = Ensemble.from_labels(labels, transpose=False)
        ours = best_time(lambda ensemble=ensemble: pairwise_nmi(ensemble))
        rival = sklearn_seconds_per_pair(labels) * r * (r - 1) / 2
        rows.append([r, ours, rival, rival / ours])
    title = (
        f"Pairwise NMI, {n:,} objects, 10 clusters; limit for 1,000 clusterings of 1,000 objects: {SECONDS_PAIRWISE} s"
    )
    print_rows(title, ["clusterings", "pairwise_nmi, s", "scikit-learn, s (estimate)", "times partita"], rows, 1)


def voting(sizes: list[int], n: int) -> None:
    """Fit `voting` to many clusterings of few objects, of which most are equal to others."""
    rows = []
    for r in sizes:
        labels = noisy_clusterings(n, r, 3)
        ensemble = Ensemble.from_labels(labels, transpose=False)
        ours = best_time(lambda ensemble=ensemble: partita.consensus(ensemble, "voting", 3))
        rival = sklearn_seconds_per_pair(labels) * r * r
        rows.append([r, len(unique_clusterings(ensemble).first), ours, rival, rival / ours])
    title = f"voting, {n} objects, k = 3; limit for 2,000 clusterings: {SECONDS_VOTING} s"
    columns = ["clusterings", "unique", "consensus, s", "scikit-learn, every pair, s (estimate)", "times partita"]
    print_rows(title, columns, rows, 2)


def main() -> None:
    """Run the three measurements."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.wide_tables", description=__doc__)
    parser.add_argument("--small", action="store_true", help="divide all sizes by 10")
    scale = 10 if parser.parse_args().small else 1
    warnings.simplefilter("ignore")
    small = noisy_clusterings(6, 8, 3)
    partita.consensus(Ensemble.from_labels(small, transpose=False), "voting", 3)  # compiles the kernels
    pairwise_nmi(Ensemble.from_labels(small, transpose=False))
    reading([size // scale for size in (500, 1000, 2000)])
    agreement([size // scale for size in (250, 500, 1000)], 1000)
    voting([size // scale for size in (500, 1000, 2000)], 6)


if __name__ == "__main__":
    main()
