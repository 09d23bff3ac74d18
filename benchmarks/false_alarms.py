"""Number of alarms of each check of the input, per group of tables, as a Markdown table.

    python -m benchmarks.false_alarms [--data DATA] [--tables FOLDER]

Alarms on label tables are false, alarms on feature tables are right. Tables: the pools and the data sets of the data
folder (`--data` or PARTITA_DATA), the twelve kinds of `benchmarks.kinds` (built in minutes, or read from a FOLDER that
`python -m benchmarks.kinds FOLDER` made), and tables made here. Groups without data are skipped with a message.
"""

import argparse
import sys
import warnings
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from sklearn.datasets import load_digits, make_blobs

from benchmarks.kinds import REAL, build, kmeans, plan, read
from partita import Ensemble, PartitaError, datasets
from partita.core.checks import ERRORS, WARNINGS
from partita.core.errors import CheckError, InputWarning

CHECKS = (*ERRORS, *WARNINGS)
LABELS = "labels"
FEATURES = "features"
Tables = Iterator[tuple[str, str, np.ndarray]]
"""Kind (LABELS or FEATURES), group, and integers (n, r) with -1 where missing."""


def rng_of(*name: object) -> np.random.Generator:
    """Return the generator of a table."""
    return np.random.default_rng(zlib.crc32(repr(name).encode()))


def draw(rng: np.random.Generator, low: float, high: float) -> int:
    """Return a log-uniform integer."""
    return int(np.exp(rng.uniform(np.log(low), np.log(max(high, low + 1)))))


# ------------------------------------------------------------------------------------------------- numberings


def _recoded(table: np.ndarray, names: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """Replace the codes 0..k-1 of each column; missing stays missing."""
    columns = []
    for column in table.T:
        known = column >= 0
        codes = np.full(len(column), -1)
        codes[known] = np.unique(column[known], return_inverse=True)[1]
        columns.append(np.where(known, names(codes[known])[codes], -1) if known.any() else codes)
    return np.column_stack(columns)


def by_size(table: np.ndarray) -> np.ndarray:
    """Number the clusters of each column by decreasing size, as Leiden and Louvain do."""
    return _recoded(table, lambda codes: np.argsort(np.argsort(-np.bincount(codes), kind="stable")))


def by_first_appearance(table: np.ndarray) -> np.ndarray:
    """Number the clusters of each column by their first row, as `pandas.factorize` and R's `cutree` do."""
    return _recoded(table, lambda codes: np.argsort(np.argsort(np.unique(codes, return_index=True)[1])))


def with_keys(table: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Name the clusters by database keys: blocks of consecutive integers and gaps."""
    gaps = (1, 1, 1, 1, 1, 1, 1, 1, 1, 5000)
    return _recoded(table, lambda codes: 10_000 + np.cumsum(rng.choice(gaps, codes.max() + 1)))


def hashed(table: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Name the clusters by random integers below 2^62."""
    return _recoded(table, lambda codes: rng.integers(2**62, size=codes.max() + 1))


# ---------------------------------------------------------------------------------------------- label tables


def pools(data: str | None) -> Tables:
    """Yield the pools whole, their 20 finest clusterings, few rows, and with other numberings."""
    for name in datasets.POOLS:
        labels = datasets.load_pool(name, data).ensemble.labels.astype(np.int64)
        rng = rng_of("pools", name)
        rows = rng.permutation(len(labels))
        fine = labels[:, np.argsort([len(np.unique(column)) for column in labels.T])[-20:]]
        yield LABELS, "pools", labels
        yield LABELS, "pools, 20 finest clusterings", fine
        yield LABELS, "pools, 20 finest clusterings, 100 rows", fine[rows[:100]]
        yield LABELS, "pools, 4 clusterings, 5 rows", labels[rows[:5], :4]
        for change in (by_size, by_first_appearance):
            yield LABELS, "pools, numbered by size or first appearance", change(fine)
        for change in (with_keys, hashed):
            yield LABELS, "pools, keys or hashes", change(fine, rng)


def kinds(data: str | None, folder: Path | None) -> Tables:
    """Yield the tables of the twelve kinds."""
    tables = read(folder) if folder else (build(*task, data) for task in plan())
    for table in tables:
        yield LABELS, f"kind {table.kind}", table.labels.astype(np.int64)


def random_labels() -> Tables:
    """Yield independent and noisy labels in four numberings."""
    for i in range(200):
        rng = rng_of("random", i)
        n, r = draw(rng, 5, 20_000), draw(rng, 2, 200)
        noise = (0.5, 1.0)[i % 2]
        k = draw(rng, 2, 30 if noise == 1 else max(3, n / 5))
        sizes = rng.dirichlet(np.full(k, rng.choice([0.3, 1, 100])))
        labels = rng.choice(k, (n, r), p=sizes)
        labels = np.where(rng.random((n, r)) < noise, labels, rng.choice(k, (n, 1), p=sizes))
        if i % 8 < 2:
            labels = np.where(rng.random((n, r)) < 0.5, -1, labels)
        changes = (np.asarray, by_size, by_first_appearance, lambda table, rng=rng: hashed(table, rng))
        group = "100 % random labels, k up to 30" if noise == 1 else "50 % random labels, k up to n / 5"
        yield LABELS, group, changes[i // 2 % 4](labels)


def structured(count: int = 60) -> Tables:
    """Yield k-means runs and hierarchical cuts of blobs and of noise, on all features and on random halves."""
    for i in range(count):
        rng = rng_of("structured", i)
        n, d, r = draw(rng, 60, 1500), int(rng.choice([2, 5, 20, 60])), int(rng.integers(3, 13))
        X = rng.normal(size=(n, d)) if i % 2 else make_blobs(n, d, centers=15, cluster_std=3, random_state=i)[0]
        views = [X[:, rng.permutation(d)[: max(1, d // 2)]] if i % 3 == 0 else X for _ in range(r)]
        for group, high in (("k-means, k up to sqrt(n)", np.sqrt(n)), ("k-means, k up to n / 5", n / 5)):
            labels = np.column_stack([kmeans(view, draw(rng, max(2, high / 4), high), rng) for view in views])
            yield LABELS, group, labels
            yield LABELS, f"{group}, by size", by_size(labels)
            yield LABELS, f"{group}, by first appearance", by_first_appearance(labels)
        how = ("single", "average", "complete", "ward")[i % 4]
        trees = [linkage(view, how) for view in views]
        yield (
            LABELS,
            "hierarchical cuts, k up to n / 2",
            np.column_stack([fcluster(tree, draw(rng, 2, n / 2), "maxclust") for tree in trees]),
        )


# -------------------------------------------------------------------------------------------- feature tables


def _rounded(X: np.ndarray, scale: float) -> np.ndarray:
    return np.round((X - X.min(axis=0)) * scale).astype(np.int64)


def measured(data: str | None) -> Tables:
    """Yield the integer columns of the data sets, and all columns scaled and rounded."""
    for name in REAL:
        if name in ("digits", "yahoo_k1"):
            continue
        X = np.asarray(datasets.load(name, data).X, float)
        whole = [column for column in X.T if (column.round() == column).all() and np.ptp(column) > 0]
        if len(whole) >= 3:
            yield FEATURES, f"integer columns of {name}", np.column_stack(whole).astype(np.int64)
        deviation, span = X.std(axis=0), np.ptp(X, axis=0)
        yield FEATURES, "data sets x 10, rounded", _rounded(X, 10)
        yield FEATURES, "data sets, tenths of a standard deviation", _rounded(X, 10 / np.where(span, deviation, 1))
        yield FEATURES, "data sets scaled to 0..255", _rounded(X, 255 / np.where(span, span, 1))


def simulated() -> Tables:
    """Yield gray levels of digits, gene counts and tables of persons."""
    yield FEATURES, "digits, 17 gray levels", load_digits().data.astype(np.int64)
    for i in range(20):
        rng = rng_of("simulated", i)
        n, genes = draw(rng, 50, 5000), draw(rng, 20, 200)
        mean = rng.lognormal(rng.choice([1.5, 3, 5]), 1, genes) * rng.lognormal(0, 0.4, (n, 1))
        size = rng.uniform(0.5, 5)
        yield FEATURES, "gene counts (negative binomial)", rng.negative_binomial(size, size / (size + mean))
        age, height = rng.integers(18, 90, n), rng.normal(172, 9, n)
        weight, visits = (height - 100) * rng.lognormal(0, 0.15, n), rng.poisson(age / 10)
        income = np.round(rng.lognormal(9 + age / 60, 0.5), -2)
        columns = np.column_stack([age, height, weight, visits, income]).astype(np.int64)
        yield FEATURES, "age, height, weight, visits, income", columns


# --------------------------------------------------------------------------------------------------- checks


def alarms(table: np.ndarray) -> set[str]:
    """Return the codes of the errors and warnings of a table; after an error, of the other checks too."""
    missing = -1 if (table == -1).any() else None
    found: set[str] = set()
    while True:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", InputWarning)
            try:
                Ensemble.from_labels(table, missing=missing, allow=tuple(found))
            except CheckError as error:
                found.add(error.code)
                continue
        return found | {warning.category.code for warning in caught}


def groups(data: str | None, folder: Path | None) -> Tables:
    """Yield all tables; groups whose data is not available are skipped with a message."""
    sources = (lambda: pools(data), lambda: kinds(data, folder), random_labels, structured)
    for source in (*sources, lambda: measured(data), simulated):
        try:
            yield from source()
        except (PartitaError, OSError) as error:
            print(f"skipped: {error}", file=sys.stderr)


def main() -> None:
    """Print one row per group."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data")
    parser.add_argument("--tables", type=Path, help="folder of python -m benchmarks.kinds")
    options = parser.parse_args()
    sizes: Counter[tuple[str, str]] = Counter()
    counts: Counter[tuple[str, str, str]] = Counter()
    for kind, group, table in groups(options.data, options.tables):
        sizes[kind, group] += 1
        counts.update((kind, group, code) for code in alarms(table))
    print(f"| | group | tables | {' | '.join(CHECKS)} |\n|---|---|{'---|' * (len(CHECKS) + 1)}")
    for kind, group in sizes:
        row = " | ".join(str(counts[kind, group, code]) for code in CHECKS)
        print(f"| {kind} | {group} | {sizes[kind, group]} | {row} |")


if __name__ == "__main__":
    main()
