"""Label tables of twelve kinds with known classes to measure consensus methods on more than one kind of ensemble.

    python -m benchmarks.kinds FOLDER [--data DATA] [--kinds K ...] [--workers N]

Builds every table that FOLDER does not have yet as `FOLDER/<kind>__<data set>__<draw>.npz` with `labels` (n, r), -1
where missing, and `truth` (n,), and writes `FOLDER/index.json`. Data sets, kinds and draws are fixed here and seeded.
Every data set belongs to one half, so that constants can be chosen on the tuning half and reported on the held-out
half. Data sets that are not in the data folder (`--data` or PARTITA_DATA) are skipped with a message. Delete FOLDER
after editing this module.
"""

import argparse
import json
import sys
import time
import warnings
import zlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from partita.core.errors import PartitaError
from partita.datasets import load, load_pool

HALVES = ("tuning", "held-out")
ROWS = 3000
"""Maximum number of objects of a table with k-means members; larger data sets are sampled."""
MIXED_ROWS = 1200
"""The same where members come from algorithms with quadratic time, except data sets with unequal sizes."""

Labels = NDArray[np.int16]
Clusterer = Callable[["Features", int, np.random.Generator], np.ndarray]

REAL = (
    *("iris", "wine", "wdbc", "pima", "glass", "ionosphere", "ecoli", "yeast", "vowel", "vehicle", "segmentation"),
    *("pendigits", "letter", "digits", "isolet6", "yahoo_k1", "trace", "synthetic_control", "magic04", "bupa"),
    *("balance", "halfrings", "two_spirals", "2d2k", "8d5k"),
)
"""Data sets of `partita.datasets`, and the digits of scikit-learn."""
UNSCALED = ("digits", "isolet6", "yahoo_k1", "trace", "synthetic_control", "halfrings", "two_spirals", "2d2k", "8d5k")
"""Data sets whose features have a common unit; all others are standardized."""
BLOBS: dict[str, tuple[tuple[int, ...], int, float, float]] = {
    "equal5": ((300,) * 5, 2, 1.0, 10.0),
    "equal12": ((100,) * 12, 4, 1.5, 8.0),
    "uneven5": ((1500, 500, 200, 80, 40), 2, 1.0, 10.0),
    "uneven6": ((1200, 600, 300, 100, 60, 30), 3, 1.0, 7.0),
    "uneven4": ((1600, 200, 100, 50), 5, 1.5, 6.0),
    "uneven8": ((800, 400, 300, 200, 150, 100, 60, 40), 4, 1.3, 7.0),
    "uneven10": ((1000, 400, 250, 150, 100, 80, 60, 40, 30, 20), 6, 1.5, 7.0),
    "uneven3": ((1800, 150, 60), 2, 1.0, 8.0),
}
"""Gaussian blobs: sizes, number of features, standard deviation, half the side of the box of the centers."""
SHAPES = ("moons", "circles", "anisotropic", "varied", "heavy_tails", "noisy_features")
GAUSSIANS = tuple(f"gaussian{i:02d}" for i in range(24))
"""Blobs with 3 to 40 clusters, the sizes, dimensions and spreads drawn at random; used by the kind "gaussian" only."""
SETS = (*REAL, *BLOBS, *SHAPES)
PLANE = (
    *("halfrings", "two_spirals", "2d2k", "equal5", "uneven5", "uneven3", "uneven6"),
    *("moons", "circles", "anisotropic", "varied"),
)
"""Data sets with two or three features."""
POOLS = ("umist", "usps", "mnist", "ls", "spf", "fct", "pd", "lr", "is", "vs", "isolet", "ecoli", "odr")
SAME = {
    **{"pd": "pendigits", "lr": "letter", "is": "segmentation", "vs": "vehicle", "isolet": "isolet6"},
    **{"ecoli": "ecoli", "odr": "digits"},
}
"""Pools that were made from a data set of the list above belong to its half."""
DRAWS = {"pools": 3, "k-means": 2}
"""Number of tables per data set; other kinds have one."""


def half_of(dataset: str) -> str:
    """Return the half of a data set: alternating in each list; a pool follows the data set it was made from."""
    dataset = SAME.get(dataset, dataset)
    group = next(group for group in (SETS, GAUSSIANS, POOLS) if dataset in group)
    return HALVES[group.index(dataset) % 2]


@dataclass(frozen=True)
class Table:
    """Base clusterings of one data set with the classes of the objects."""

    kind: str
    dataset: str
    draw: int
    labels: Labels
    """(n, r), -1 where missing."""
    truth: NDArray[np.int16]
    """(n,) classes 0..k-1."""

    @property
    def name(self) -> str:
        """Name of the table, which is also its file name."""
        return f"{self.kind}__{self.dataset}__{self.draw}"

    @property
    def half(self) -> str:
        """Half of the data set."""
        return half_of(self.dataset)

    @property
    def k(self) -> int:
        """Number of classes."""
        return len(np.unique(self.truth))


# ---------------------------------------------------------------------------------------------------- data sets


def load_features(name: str, folder: str | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return features and classes of a data set, standardized if its features have different units."""
    if name in REAL:
        return _real(name, folder)
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    if name in GAUSSIANS:
        k, d = round(3 * (40 / 3) ** rng.random()), int(rng.integers(2, 16))
        sizes = np.maximum(rng.dirichlet(np.full(k, rng.choice([1.0, 5.0, 100.0]))) * 2000, 12).astype(int)
        return _blobs(tuple(sizes), d, float(rng.uniform(0.6, 1.8)), 10.0 if d < 4 else 6.0, rng)
    if name in BLOBS:
        return _blobs(*BLOBS[name], rng)
    return _shape(name, rng)


def _real(name: str, folder: str | None) -> tuple[np.ndarray, np.ndarray]:
    from sklearn.datasets import load_digits
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfTransformer

    if name == "digits":
        return load_digits(return_X_y=True)
    data = load(name, folder)
    X = np.asarray(data.X, float)
    if name == "yahoo_k1":  # word counts
        X = TruncatedSVD(40, random_state=0).fit_transform(TfidfTransformer(sublinear_tf=True).fit_transform(X))
    elif name in ("isolet6", "trace"):  # several hundred features: keep the costs of the members low
        X = TruncatedSVD(40, random_state=0).fit_transform(X - X.mean(0))
    if name not in UNSCALED:
        X = X[:, X.std(0) > 0]
        X = (X - X.mean(0)) / X.std(0)
    return X, np.asarray(data.labels)


def _blobs(sizes: tuple[int, ...], d: int, std: float, box: float, rng: np.random.Generator):
    centers = rng.uniform(-box, box, (len(sizes), d))
    truth = np.repeat(np.arange(len(sizes)), sizes)
    return centers[truth] + std * rng.standard_normal((len(truth), d)), truth


def _shape(name: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    from sklearn.datasets import make_circles, make_moons

    state = int(rng.integers(2**31))
    if name == "moons":
        return make_moons(1000, noise=0.08, random_state=state)
    if name == "circles":
        return make_circles((600, 400), noise=0.05, factor=0.4, random_state=state)
    if name == "anisotropic":
        X, truth = _blobs((250,) * 4, 2, 1.0, 8.0, rng)
        return X @ np.array([[0.6, -0.6], [-0.4, 0.8]]), truth
    if name == "varied":
        X, truth = _blobs((300, 300, 300), 3, 1.0, 6.0, rng)
        return X + rng.standard_normal(X.shape) * np.array([0.0, 1.0, 2.5])[truth][:, None], truth
    X, truth = _blobs((200,) * 7, 5, 0.9, 6.0, rng)
    if name == "heavy_tails":
        return X + 0.9 * rng.standard_t(2, X.shape), truth
    return np.hstack([X, rng.uniform(-6, 6, (len(X), 10))]), truth


class Features:
    """Features of a sampled data set with the transformed copies and linkages that members share."""

    def __init__(self, X: np.ndarray) -> None:
        self.X = np.ascontiguousarray(X, float)
        self._linkages: dict[tuple[str, str], np.ndarray] = {}

    @cached_property
    def cosine(self) -> np.ndarray:
        """Rows of unit length, after centering."""
        centered = self.X - self.X.mean(0)
        return centered / np.maximum(np.linalg.norm(centered, axis=1, keepdims=True), 1e-12)

    @cached_property
    def ranks(self) -> np.ndarray:
        """Ranks of the values in each feature."""
        from scipy.stats import rankdata

        return rankdata(self.X, axis=0) / len(self.X)

    @cached_property
    def components(self) -> np.ndarray:
        """Principal components: at most 10, fewer than half of the features."""
        from sklearn.decomposition import PCA

        return PCA(max(2, min(10, self.X.shape[1] // 2)), random_state=0).fit_transform(self.X)

    @cached_property
    def whitened(self) -> np.ndarray:
        """Principal components scaled to unit variance."""
        return self.components / self.components.std(0)

    def cut(self, view: str, linkage: str, k: int) -> np.ndarray:
        """Cut the linkage of a view at k clusters."""
        from scipy.cluster.hierarchy import fcluster
        from scipy.cluster.hierarchy import linkage as compute

        if (view, linkage) not in self._linkages:
            self._linkages[view, linkage] = compute(getattr(self, view), linkage)
        return fcluster(self._linkages[view, linkage], k, "maxclust")


def _sklearn(name: str, view: str = "X", **params) -> Clusterer:
    """Return a function that runs a scikit-learn clusterer with k clusters on a view of the features."""

    def run(data: Features, k: int, rng: np.random.Generator) -> np.ndarray:
        from sklearn import cluster, mixture

        model = getattr(cluster, name, None) or getattr(mixture, name)
        count = {"n_components": k} if hasattr(mixture, name) else {"n_clusters": k}
        state = {} if name == "Birch" else {"random_state": int(rng.integers(2**31))}
        return model(**count, **state, **params).fit_predict(getattr(data, view))

    return run


def _linkage(linkage: str, view: str = "X") -> Clusterer:
    """Return a function that cuts a linkage of a view at k clusters."""
    return lambda data, k, rng: data.cut(view, linkage, k)


def _projected(data: Features, k: int, rng: np.random.Generator) -> np.ndarray:
    """Run k-means on a random projection to half of the dimensions."""
    d = data.X.shape[1]
    return kmeans(data.X @ rng.standard_normal((d, max(1, d // 2))), k, rng)


def kmeans(X: np.ndarray, k: int, rng: np.random.Generator) -> np.ndarray:
    """Run k-means from one start."""
    from sklearn.cluster import KMeans

    return KMeans(k, n_init=1, max_iter=100, random_state=int(rng.integers(2**31))).fit_predict(X)


ALGORITHMS: dict[str, Clusterer] = {
    "k-means": _sklearn("KMeans", n_init=1),
    "k-means, 10 starts": _sklearn("KMeans", n_init=10),
    "k-means, random start": _sklearn("KMeans", n_init=1, init="random"),
    "k-means, cosine": _sklearn("KMeans", "cosine", n_init=3),
    "k-means, ranks": _sklearn("KMeans", "ranks", n_init=3),
    "k-means, PCA": _sklearn("KMeans", "components", n_init=3),
    "k-means, whitened": _sklearn("KMeans", "whitened", n_init=3),
    "k-means, projected": _projected,
    "mini-batch": _sklearn("MiniBatchKMeans", n_init=1),
    "bisecting": _sklearn("BisectingKMeans"),
    "bisecting, cosine": _sklearn("BisectingKMeans", "cosine"),
    "mixture, full": _sklearn("GaussianMixture", covariance_type="full", reg_covar=1e-3),
    "mixture, tied": _sklearn("GaussianMixture", covariance_type="tied", reg_covar=1e-3),
    "mixture, diagonal": _sklearn("GaussianMixture", covariance_type="diag", reg_covar=1e-3),
    "mixture, spherical": _sklearn("GaussianMixture", covariance_type="spherical", reg_covar=1e-3),
    "mixture, PCA": _sklearn("GaussianMixture", "components", reg_covar=1e-3),
    "mixture, Bayesian": _sklearn("BayesianGaussianMixture", covariance_type="diag", reg_covar=1e-3),
    "Ward": _linkage("ward"),
    "Ward, cosine": _linkage("ward", "cosine"),
    "Ward, ranks": _linkage("ward", "ranks"),
    "average": _linkage("average"),
    "average, cosine": _linkage("average", "cosine"),
    "complete": _linkage("complete"),
    "weighted": _linkage("weighted"),
    "single": _linkage("single"),
    "spectral, neighbors": _sklearn("SpectralClustering", affinity="nearest_neighbors"),
    "spectral, cosine": _sklearn("SpectralClustering", "cosine", gamma=2.0),
    "Birch": _sklearn("Birch", threshold=0.1),
}
"""The 28 algorithms of the kinds "true-k" and "mixed-…"."""
COARSE = tuple(name for name in ALGORITHMS if name not in ("single", "average", "weighted", "mixture, Bayesian"))
"""Algorithms that give k clusters of some size on most data."""
FINE = tuple(name for name in COARSE if not name.startswith(("spectral", "mixture, full", "mixture, tied")))
"""Algorithms that remain cheap and stable with many clusters."""


# ------------------------------------------------------------------------------------------------------- kinds


def _log_uniform(low: float, high: float, rng: np.random.Generator) -> int:
    return round(float(np.exp(rng.uniform(np.log(low), np.log(high)))))


def _uniform(low: float, high: float, rng: np.random.Generator) -> int:
    return int(rng.integers(round(low), round(high) + 1))


Members = list[np.ndarray]
Recipe = Callable[[Features, int, int, np.random.Generator], Members]


def _mixed(names: Sequence[str], number: tuple[int, int], draw_k: Callable[[int, np.random.Generator], int]) -> Recipe:
    """Return a recipe for members by random algorithms without repetition, as far as there are enough."""

    def make(data: Features, k: int, draw: int, rng: np.random.Generator) -> Members:
        r = _uniform(*number, rng)
        order = np.concatenate([rng.permutation(len(names)), rng.permutation(len(names))])[:r]
        return [ALGORITHMS[names[i]](data, _bounded(draw_k(k, rng), data), rng) for i in order]

    return make


def _bounded(k: int, data: Features) -> int:
    """Limit k to a fifth of the objects."""
    return max(2, min(k, len(data.X) // 5))


def _kmeans_pool(data: Features, k: int, draw: int, rng: np.random.Generator) -> Members:
    """Ten to thirty k-means runs; k uniform up to the square root of n in draw 0 and twice as much in draw 1."""
    high = (1 + draw) * np.sqrt(len(data.X))
    return [kmeans(data.X, _uniform(2, high, rng), rng) for _ in range((10, 20, 30)[int(rng.integers(3))])]


def _subspace(data: Features, k: int, draw: int, rng: np.random.Generator) -> Members:
    """Twenty k-means runs on a quarter to three quarters of the features."""
    n, d = data.X.shape
    members = []
    for _ in range(20):
        columns = rng.permutation(d)[: max(1, _uniform(d / 4, 3 * d / 4, rng))]
        members.append(kmeans(data.X[:, columns], _uniform(2, np.sqrt(n), rng), rng))
    return members


def _too_fine(data: Features, k: int, draw: int, rng: np.random.Generator) -> Members:
    """Twenty k-means runs and linkages with 3 to 10 times the number of classes."""
    names = ("k-means", "k-means", "mini-batch", "k-means, projected", "Ward", "complete", "bisecting")
    chosen = [names[int(rng.integers(len(names)))] for _ in range(20)]
    return [ALGORITHMS[name](data, _bounded(_log_uniform(3 * k, 10 * k, rng), data), rng) for name in chosen]


def _sweep(data: Features, k: int, draw: int, rng: np.random.Generator) -> Members:
    """Members at every k from 2 to 11 by k-means and one other algorithm."""
    names = ("k-means", ("Ward", "mixture, diagonal", "complete", "mini-batch")[int(rng.integers(4))])
    return [ALGORITHMS[name](data, size, rng) for name in names for size in range(2, 12)]


def _wide(data: Features, k: int, draw: int, rng: np.random.Generator) -> Members:
    """Twenty k-means members with k log-uniform from 2 to 50."""
    return [kmeans(data.X, _bounded(_log_uniform(2, 50, rng), data), rng) for _ in range(20)]


def _around(data: Features, k: int, draw: int, rng: np.random.Generator) -> Members:
    """Twenty k-means members with k from half to double the number of classes."""
    return [kmeans(data.X, _bounded(_log_uniform(k / 2, 2 * k, rng), data), rng) for _ in range(20)]


RECIPES: dict[str, Recipe] = {
    "true-k": _mixed(tuple(ALGORITHMS), (15, 28), lambda k, rng: k),
    "k-means": _kmeans_pool,
    "subspace": _subspace,
    "mixed-coarse": _mixed(COARSE, (12, 24), lambda k, rng: max(2, _uniform(0.5 * k, 1.5 * k, rng))),
    "mixed-fine": _mixed(FINE, (12, 24), lambda k, rng: _uniform(2 * k, 4 * k, rng)),
    "too-fine": _too_fine,
    "sweep": _sweep,
    "wide": _wide,
    "double": _around,
    "gaussian": _around,
}
QUADRATIC = ("true-k", "mixed-coarse", "mixed-fine", "too-fine", "sweep")
"""Kinds with algorithms of quadratic time, whose data sets are sampled to MIXED_ROWS."""
KINDS = ("true-k", "k-means", "pools", *tuple(RECIPES)[2:], "missing")
HIDDEN = ("true-k", "k-means", "pools", "subspace", "mixed-fine", "gaussian")
"""Kinds of which the kind "missing" takes every fourth pair of data sets; the draw of its tables is the index here."""


def sets_of(kind: str) -> tuple[str, ...]:
    """Return the data sets of a kind; random subspaces need at least four features."""
    if kind == "subspace":
        return tuple(name for name in SETS if name not in PLANE)
    return {"pools": POOLS, "gaussian": GAUSSIANS}.get(kind, SETS)


def plan(kinds: Sequence[str] = KINDS) -> Iterator[tuple[str, str, int]]:
    """Yield kind, data set and draw of every table."""
    for kind in kinds:
        if kind == "missing":
            for source, name in enumerate(HIDDEN):
                chosen = [each for i, each in enumerate(sets_of(name)) if i // 2 % 4 == source % 4]
                yield from ((kind, dataset, source) for dataset in chosen)
        else:
            yield from ((kind, name, draw) for name in sets_of(kind) for draw in range(DRAWS.get(kind, 1)))


def build(kind: str, dataset: str, draw: int, folder: str | None = None) -> Table:
    """Build one table; equal arguments give an equal table."""
    rng = np.random.default_rng([zlib.crc32(f"{kind} {dataset}".encode()), draw])
    if kind == "missing":
        full = build(HIDDEN[draw], dataset, 0, folder)
        hidden = rng.random(full.labels.shape) < rng.uniform(0.2, 0.5)
        return Table(kind, dataset, draw, np.where(hidden, np.int16(-1), full.labels), full.truth)
    if kind == "pools":
        pool = load_pool(dataset, folder)
        columns = rng.permutation(pool.ensemble.labels.shape[1])[: (10, 10, 20)[draw]]
        return _table(kind, dataset, draw, pool.ensemble.labels[:, columns].T, pool.truth)
    X, truth = load_features(dataset, folder)
    limit = MIXED_ROWS if kind in QUADRATIC and dataset not in BLOBS else ROWS
    rows = rng.permutation(len(X))[:limit]
    data = Features(X[rows])
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        members = RECIPES[kind](data, len(np.unique(truth[rows])), draw, rng)
    return _table(kind, dataset, draw, members, truth[rows])


def _table(kind: str, dataset: str, draw: int, members: Sequence[np.ndarray], truth: np.ndarray) -> Table:
    columns = [np.unique(member, return_inverse=True)[1] for member in (*members, truth)]
    labels = np.column_stack(columns).astype(np.int16)
    return Table(kind, dataset, draw, labels[:, :-1], labels[:, -1])


def read(folder: Path, kinds: Sequence[str] = KINDS) -> list[Table]:
    """Read the tables of a folder that has an index."""
    tables = []
    for entry in json.loads((folder / "index.json").read_text()):
        if entry["kind"] in kinds:
            with np.load(folder / entry["path"]) as arrays:
                tables.append(Table(entry["kind"], entry["dataset"], entry["draw"], arrays["labels"], arrays["truth"]))
    return tables


def _build_file(task: tuple[str, str, int], folder: Path, data: str | None) -> tuple[dict[str, object] | None, str]:
    """Build the file of a table unless it exists; return its entry of the index, or None and the reason."""
    kind, dataset, draw = task
    path = folder / f"{kind}__{dataset}__{draw}.npz"
    if not path.exists():
        started = time.perf_counter()
        try:
            table = build(kind, dataset, draw, data)
        except (PartitaError, OSError) as error:
            return None, f"{path.stem}: skipped, {error}"
        unfinished = path.with_suffix(".unfinished.npz")
        np.savez_compressed(unfinished, labels=table.labels, truth=table.truth)
        unfinished.rename(path)
        print(f"{time.perf_counter() - started:6.1f} s  {path.stem}", file=sys.stderr, flush=True)
    with np.load(path) as arrays:
        (n, r), classes = arrays["labels"].shape, len(np.unique(arrays["truth"]))
    entry = {"kind": kind, "dataset": dataset, "draw": draw, "half": half_of(dataset)}
    return entry | {"n": n, "r": r, "classes": classes, "path": path.name}, ""


def build_all(folder: Path, data: str | None = None, kinds: Sequence[str] = KINDS, workers: int = 1) -> None:
    """Build the tables that the folder does not have, and write its index."""
    folder.mkdir(parents=True, exist_ok=True)
    tasks = list(plan(kinds))
    run = partial(_build_file, folder=folder, data=data)
    if workers == 1:
        found = [run(task) for task in tasks]
    else:
        with ProcessPoolExecutor(workers) as pool:
            found = list(pool.map(run, tasks))
    entries, reasons = zip(*found, strict=True)
    (folder / "index.json").write_text(json.dumps([entry for entry in entries if entry], indent=1))
    for reason in filter(None, reasons):
        print(reason, file=sys.stderr)


def main(words: Sequence[str] | None = None) -> None:
    """Build the tables from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--data")
    parser.add_argument("--kinds", nargs="+", default=KINDS, choices=KINDS)
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args(words)
    build_all(options.folder, options.data, options.kinds, options.workers)


if __name__ == "__main__":
    main()
