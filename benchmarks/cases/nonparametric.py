"""Nonparametric Bayesian cluster ensembles: a Gibbs sweep against a loop in C, variational Bayes against mixdir."""

import ctypes
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.data import noisy_table
from benchmarks.harness import Case, Contestant
from benchmarks.rivals import rivals_of

ROWS, COLUMNS, CLUSTERS, TRUNCATION, NOISE = 10**5, 20, 20, 100, 0.5
ALPHA, BETA, SWEEPS = 1.0, 0.5, 5
HELD_OUT = 11


def sweep_data():
    """Noisy copies of a partition, and the clusters of its objects."""
    labels, truth = noisy_table(ROWS, r=COLUMNS, k=CLUSTERS, noise=NOISE)
    return np.ascontiguousarray(labels, np.int8), truth.astype(np.int8)


def our_sweeps(prior: str):
    """Sweeps with K = 100 clusters, of which 20 hold objects; with them what a chain does besides."""

    def run(data):
        from partita.core.types import frozen
        from partita.models.nbce import Rows, Strengths, seats_of
        from partita.models.nbce_chain import sweep_once

        offsets = frozen(np.arange(COLUMNS + 1) * CLUSTERS)
        rows = Rows(frozen(data[0].copy()), offsets, frozen(np.ones(COLUMNS)), TRUNCATION, prior)
        seats = seats_of(rows, data[1])
        for number in range(SWEEPS):
            sweep_once(rows, seats, Strengths(ALPHA, BETA), np.uint64(7), number)
        return seats.z

    return run


def c_sweeps(data):
    """The same sweeps in C with 20 clusters, compiled by the system's compiler for this machine."""
    compiler = shutil.which("cc")
    if compiler is None:
        raise ImportError("no C compiler")
    if not hasattr(c_sweeps, "library"):
        with tempfile.TemporaryDirectory() as folder:
            library = Path(folder) / "nbce.so"
            source = Path(__file__).parents[1] / "nbce.c"
            flags = ["-O3", "-march=native", "-shared", "-fPIC"]
            subprocess.run([compiler, *flags, str(source), "-o", str(library), "-lm"], check=True)
            c_sweeps.library = ctypes.CDLL(str(library))
    labels, z = data[0], data[1].copy()
    tables, sizes = np.zeros((COLUMNS, CLUSTERS, CLUSTERS)), np.bincount(z, minlength=CLUSTERS).astype(float)
    for j in range(COLUMNS):
        np.add.at(tables[j], (labels[:, j], z), 1.0)
    for number in range(SWEEPS):
        arrays = [ctypes.c_void_p(array.ctypes.data) for array in (labels, z, tables, sizes)]
        strengths = (ctypes.c_double(ALPHA), ctypes.c_double(BETA), ctypes.c_uint64(7 + number))
        c_sweeps.library.sweep(*arrays, *strengths, *map(ctypes.c_int64, (ROWS, COLUMNS, CLUSTERS, CLUSTERS)))
    return z


def kept(found, data) -> dict[str, float]:
    """Agreement with the clusters where all began, and how many clusters there are."""
    from partita.metrics import nmi

    return {"NMI": nmi(data[1], found), "clusters": float(len(np.unique(found)))}


def held_out(rows: int) -> slice:
    """The rows that are foretold, not fitted; `adapter.R` leaves out the same."""
    return slice(rows - rows // HELD_OUT, rows)


def fit_and_foretell(data):
    """nbce-vb on all rows but the held-out ones, and what it makes of those."""
    import partita

    rest = held_out(len(data[0]))
    result = partita.consensus(data[0][: rest.start], "nbce-vb", seed=0)
    return result, result.log_likelihood(data[0][rest]) / (rest.stop - rest.start)


def foretold(found, data) -> dict[str, float]:
    """How likely the held-out rows are, where the result is ours; mixdir reports its own."""
    if not isinstance(found, tuple):
        return {}
    return {"held-out log-likelihood per row": found[1], "iterations": len(found[0].trace)}


CASES = [
    Case(
        "nbce-mixdir",
        "nonparametric mixture of 20000 x 20 labels, 10 clusters, 30% noise, fit and likelihood of 2000 other rows",
        lambda: noisy_table(22_000, k=10, noise=0.3),
        (Contestant("partita nbce-vb", fit_and_foretell, lambda: noisy_table(1100, k=4)), *rivals_of("nbce-vb", 10)),
        foretold,
        repeats=2,
        limit=1000,
        on_request=True,
    ),
    Case(
        "nbce-sweep",
        f"{SWEEPS} Gibbs sweeps over {ROWS} x {COLUMNS} labels, {CLUSTERS} occupied clusters of {TRUNCATION}, "
        f"{NOISE:.0%} noise, one thread; C is -O3 with {CLUSTERS} clusters",
        sweep_data,
        (
            Contestant("C loop, 1 thread", c_sweeps),
            Contestant("partita, fsd", our_sweeps("fsd")),
            Contestant("partita, tsb", our_sweeps("tsb")),
        ),
        kept,
    ),
]
