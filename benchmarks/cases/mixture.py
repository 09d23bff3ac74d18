"""The mixture family against mixture, topic-model and k-means packages, and its pass against a loop in C."""

import ctypes
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.cases.graph import CLUSTERS, NOISE, agreement, small
from benchmarks.cases.graph_quality import no_pools
from benchmarks.data import noisy_table
from benchmarks.harness import Case, Contestant
from benchmarks.rivals import rivals_of
from partita.datasets.folder import VARIABLE
from partita.datasets.pools import POOLS, load_pool

ROWS, COLUMNS, LABELS = 10**6, 20, 10
HARD = 0.6


def fitted(method: str, **params):
    """The whole call of `partita.consensus`, from the label table to the result."""

    def run(data):
        import partita

        return partita.consensus(data[0], method, k=CLUSTERS, seed=0, **params)

    return run


def labels_of(found):
    """The labels of a result, ours or another's."""
    return getattr(found, "labels", found)


def with_likelihood(found, data) -> dict[str, float]:
    """Agreement, and the log-likelihood and iterations where the result is ours; a rival reports its own."""
    told = {}
    if hasattr(found, "detail"):
        told = {"log likelihood": found.detail["log likelihood"], "iterations": len(found.trace)}
    return told | agreement(labels_of(found), data)


def scatter(found, data) -> dict[str, float]:
    """The squared distance of the one-hot rows from their cluster's mean, and agreement."""
    labels, chosen = data[0], np.asarray(labels_of(found))
    within = 0.0
    for cluster in np.unique(chosen):
        members = labels[chosen == cluster]
        shares = [np.bincount(column) / len(members) for column in members.T]
        within += len(members) * sum(1 - (share**2).sum() for share in shares)
    return {"objective": within} | agreement(chosen, data)


def one_hot(labels):
    """The membership matrix, sparse."""
    from sklearn.preprocessing import OneHotEncoder

    return OneHotEncoder(dtype=np.float64).fit_transform(labels)


def one_hot_kmeans(starts: int, dense: bool):
    """scikit-learn's k-means of the one-hot rows."""

    def run(data, k: int = CLUSTERS):
        from sklearn.cluster import KMeans

        rows = one_hot(data[0])
        return KMeans(k, n_init=starts, random_state=0).fit_predict(rows.toarray() if dense else rows)

    return run


def ten_passes_of_lda(jobs: int | None):
    """scikit-learn's LDA, ten batch passes, an object's labels as its words."""

    def run(data, k: int = CLUSTERS):
        from sklearn.decomposition import LatentDirichletAllocation

        model = LatentDirichletAllocation(k, learning_method="batch", max_iter=10, n_jobs=jobs, random_state=0)
        return model.fit_transform(one_hot(data[0])).argmax(axis=1)

    return run


def pass_data():
    """Random labels, of which hardly two rows are alike, and random parameters."""
    from partita import Ensemble
    from partita.core.ensemble import Ensemble as Coded
    from partita.models.mixture import Mixture

    rng = np.random.default_rng(0)
    labels = rng.integers(LABELS, size=(ROWS, COLUMNS)).astype(np.int8)
    probs = rng.dirichlet(np.ones(LABELS), (COLUMNS, CLUSTERS)).transpose(0, 2, 1).reshape(-1, CLUSTERS)
    known = Ensemble.from_labels(labels[:1000])
    labels.setflags(write=False)
    classes = tuple(tuple(range(LABELS)) for _ in range(COLUMNS))
    ensemble = Coded(labels, (LABELS,) * COLUMNS, known.names, classes, known.weights)
    return ensemble, Mixture(np.full(CLUSTERS, -np.log(CLUSTERS)), np.log(probs))


def our_pass(threads: int):
    """One expectation pass on so many threads."""

    def run(data):
        from partita.core.threads import thread_limit
        from partita.models.mixture import at_site

        with thread_limit(threads):
            return at_site(data[1], data[0]).log_likelihood

    return run


def c_pass(data):
    """The same pass in C, compiled by the system's compiler for this machine."""
    compiler = shutil.which("cc")
    if compiler is None:
        raise ImportError("no C compiler")
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "mixture.so"
        source = Path(__file__).parents[1] / "mixture.c"
        words = [compiler, "-O3", "-march=native", "-shared", "-fPIC", str(source), "-o", str(library), "-lm"]
        if not hasattr(c_pass, "library"):
            subprocess.run(words, check=True)
            c_pass.library = ctypes.CDLL(str(library))
    ensemble, params = data
    call = c_pass.library.em_pass
    call.restype = ctypes.c_double
    expected, masses = np.zeros(params.log_probs.shape), np.zeros(CLUSTERS)
    arrays = (ensemble.labels, np.ascontiguousarray(params.log_probs), params.log_weights, expected, masses)
    sizes = (ROWS, COLUMNS, LABELS, CLUSTERS)
    return call(*(ctypes.c_void_p(a.ctypes.data) for a in arrays), *(ctypes.c_int64(size) for size in sizes))


def table():
    """The table of the graph cases."""
    return noisy_table(20_000, k=CLUSTERS, noise=NOISE)


def all_pools():
    """Every public pool, ten of its columns, and its number of classes."""
    rng, found = np.random.default_rng(0), {}
    for name in sorted(POOLS):
        pool = load_pool(name)
        found[name] = (pool.ensemble.labels[:, rng.permutation(100)[:10]], pool.k)
    return found


def likelihoods(**params):
    """Per pool, the log-likelihood that `mm` reaches."""

    def run(pools):
        import partita

        return {
            name: partita.consensus(labels, "mm", k, seed=0, **params).detail["log likelihood"]
            for name, (labels, k) in pools.items()
        }

    return run


ABOUT = f"of 20000 x 20 labels, {CLUSTERS} clusters, {NOISE:.0%} noise, from the table to the result"
CASES = [
    Case(
        "mm",
        f"mixture {ABOUT}",
        table,
        (Contestant("partita mm", fitted("mm"), small), *rivals_of("mm", CLUSTERS)),
        with_likelihood,
    ),
    Case(
        "mm-hard",
        f"mixture of 20000 x 20 labels, {CLUSTERS} clusters, {HARD:.0%} noise, from the table to the result",
        lambda: noisy_table(20_000, k=CLUSTERS, noise=HARD),
        (Contestant("partita mm", fitted("mm"), small), *rivals_of("mm", CLUSTERS)),
        with_likelihood,
    ),
    Case(
        "qmi",
        f"k-means of labels {ABOUT}",
        table,
        (
            Contestant("partita qmi", fitted("qmi"), small),
            Contestant("scikit-learn KMeans, one-hot, 1 start", one_hot_kmeans(1, dense=True), small),
            Contestant("scikit-learn KMeans, one-hot, sparse, 1 start", one_hot_kmeans(1, dense=False), small),
            Contestant("scikit-learn KMeans, one-hot, 10 starts", one_hot_kmeans(10, dense=True), small),
        ),
        scatter,
        repeats=2,
    ),
    Case(
        "bce-vb",
        f"Bayesian cluster ensemble {ABOUT}; scikit-learn stops after ten passes, ours when it has converged",
        table,
        (
            Contestant("partita bce-vb", fitted("bce-vb"), small),
            Contestant("scikit-learn LDA, 10 batch passes", ten_passes_of_lda(None), small),
            Contestant("the same with n_jobs=2", ten_passes_of_lda(2), small),
        ),
        lambda found, data: agreement(labels_of(found), data),
        repeats=1,
    ),
    Case(
        "bce-gibbs",
        f"100 Gibbs sweeps in one chain {ABOUT}",
        table,
        (
            Contestant("partita bce-gibbs", fitted("bce-gibbs", chains=1, burn_in=96, draws=4, init="random"), small),
            *rivals_of("bce-gibbs", CLUSTERS),
        ),
        lambda found, data: agreement(labels_of(found), data),
        repeats=1,
    ),
    Case(
        "mm-pass",
        f"one EM pass over {ROWS} x {COLUMNS} random labels, {CLUSTERS} components; C is -O3 on one thread",
        pass_data,
        (
            Contestant("C loop, 1 thread", c_pass),
            Contestant("partita, 1 thread", our_pass(1)),
            Contestant("partita, 2 threads", our_pass(2)),
        ),
        lambda found, data: {"log likelihood": found},
    ),
    Case(
        "mm-starts",
        f"log-likelihood of mm on the public pools in {VARIABLE}, 10 random columns, true k",
        all_pools,
        (
            Contestant("default start", likelihoods()),
            Contestant("best of 20 random starts", likelihoods(init="random", restarts=20)),
        ),
        lambda result, data: result,
        repeats=0,
        limit=1200,
        on_request=True,
        lacking=no_pools,
    ),
    Case(
        "mm-huge",
        f"mm, 30 iterations from a random start on 10000000 x 20 labels, {CLUSTERS} clusters, {HARD:.0%} noise",
        lambda: noisy_table(10**7, k=CLUSTERS, noise=HARD),
        (Contestant("partita mm", fitted("mm", tol=0, max_iter=30, init="random"), small),),
        with_likelihood,
        repeats=0,
        floor=Contestant("floor: sum of the same bytes", lambda data: data[0].sum() and None),
        limit=600,
        allowed=4000,
        on_request=True,
        ratios=False,
    ),
]
