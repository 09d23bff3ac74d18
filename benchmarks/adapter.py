"""Runs one rival in its own environment.

    python adapter.py RIVAL METHOD K LIMIT_GB PATIENCE TABLE.npy ANSWER.npy REPORT.json
    python adapter.py RIVAL METHOD LIMIT_GB FOLDER

It imports the rival by name and calls its public function; it needs NumPy, no partita, and Python 3.7 or newer. The
first way measures: a call on a few rows, which imports and compiles, comes before and is not measured, and a quick
rival is called up to five times, for PATIENCE seconds, so that its best time counts. The second way only wants the
answers: for every table NAME_K.npy of the folder, in order, NAME_K.answer.npy and NAME_K.json, unless they are there.
"""

import json
import resource
import sys
import time
from pathlib import Path

import numpy as np

MODULES = {
    "ClusterEnsembles": ("ClusterEnsembles", "cluster_ensembles"),
    "Cluster_Ensembles": ("Cluster_Ensembles",),
    "py-cluster-ensemble": ("pce",),
    "OpenEnsembles": ("openensembles",),
    "StepMix": ("stepmix",),
    "tomotopy": ("tomotopy",),
    "pyckmeans": ("pyckmeans",),
}
"""The modules that hold each rival, by age."""


def cluster_ensembles_sano(labels, method, k):
    """ClusterEnsembles, called cluster_ensembles since its version 1: clusterings in rows."""
    try:
        from ClusterEnsembles import cluster_ensembles
    except ImportError:
        from cluster_ensembles import cluster_ensembles

    solver = "all" if method == "supra" else method
    return cluster_ensembles(labels.T.astype(float), k, solver=solver, random_state=0)


def cluster_ensembles_giecold(labels, method, k):
    """Cluster_Ensembles: clusterings in rows, the hypergraph in an HDF5 file in the working folder."""
    import Cluster_Ensembles.Cluster_Ensembles as rival
    import tables

    runs = labels.T.astype(int)
    if method == "supra":
        return rival.cluster_ensembles(runs, "table.h5", False, k)
    with tables.open_file("table.h5", "w") as file:
        file.create_group(file.root, "consensus_group")
    rival.store_hypergraph_adjacency(rival.build_hypergraph_adjacency(runs), "table.h5")
    solve = {"cspa": rival.CSPA, "hgpa": rival.HGPA, "mcla": rival.MCLA}[method]
    return solve("table.h5", runs, False, k)


def py_cluster_ensemble(labels, method, k):
    """py-cluster-ensemble: one repeat on all columns, counted from 1; LWGP has the paper's theta, KCC one start."""
    from pce import consensus

    extra = {"lwgp": {"theta": 0.4}, "qmi": {"rep": 1}}.get(method, {})
    solve = consensus.kcc_uc if method == "qmi" else getattr(consensus, method)
    found, _ = solve(labels.astype(int) + 1, nClusters=k, nBase=labels.shape[1], nRepeat=1, seed=0, **extra)
    return found[0]


def open_ensembles(labels, method, k):
    """OpenEnsembles: its mixture, or its co-occurrence matrix by average linkage, cut at k (its own takes a height)."""
    import openensembles
    import pandas
    from scipy.cluster.hierarchy import fcluster

    data = openensembles.data(pandas.DataFrame(np.zeros((len(labels), 2))), [0, 1])
    clusterings = openensembles.cluster(data)
    for j in range(labels.shape[1]):
        clusterings.labels[str(j)] = labels[:, j].astype(int)
        clusterings.params[str(j)] = {}
    if method == "mm":
        np.random.seed(0)  # noqa: NPY002 - it draws from NumPy's global generator
        return np.asarray(clusterings.mixture_model(K=k).labels["mixture_model"]).ravel()
    linked = clusterings.co_occurrence_matrix("parent").link("average")
    return fcluster(linked, k, "maxclust")


def stepmix(labels, method, k):
    """StepMix: a latent class model with one start, as ours; its log-likelihood goes into the report."""
    from stepmix.stepmix import StepMix

    model = StepMix(n_components=k, measurement="categorical", n_init=1, random_state=0, progress_bar=0, verbose=0)
    table = labels.astype(float)
    model.fit(table)
    return model.predict(table), {"log likelihood": float(model.score(table)) * len(table)}


def tomotopy_lda(labels, method, k):
    """tomotopy: collapsed Gibbs sampling of LDA, 100 sweeps on one worker, an object's labels as its words."""
    import tomotopy

    model = tomotopy.LDAModel(k=k, alpha=1.0, eta=0.1, seed=1)
    words = [[f"{j}:{label}" for label in range(int(labels.max()) + 1)] for j in range(labels.shape[1])]
    for row in labels.tolist():
        model.add_doc([words[j][label] for j, label in enumerate(row)])
    model.train(100, workers=1)
    return np.array([int(np.argmax(document.get_topic_dist())) for document in model.docs])


class Given:
    """A clusterer that gives the labels it is shown: pyckmeans takes points and clusters them itself."""

    @staticmethod
    def predict(column):
        """The only column, as labels."""
        return column[:, 0].astype(int)


def pyckmeans_consensus(labels, method, k):
    """pyckmeans: the consensus step of CKmeans, average linkage, its k-means replaced by the given labels."""
    import pyckmeans

    model = pyckmeans.CKmeans(k=k, n_rep=labels.shape[1])
    model.kmeans = [Given] * labels.shape[1]
    model.sel_feat = np.arange(labels.shape[1])[:, None]
    return model.predict(labels.astype(float)).cl


RIVALS = {
    "ClusterEnsembles": cluster_ensembles_sano,
    "Cluster_Ensembles": cluster_ensembles_giecold,
    "py-cluster-ensemble": py_cluster_ensemble,
    "OpenEnsembles": open_ensembles,
    "StepMix": stepmix,
    "tomotopy": tomotopy_lda,
    "pyckmeans": pyckmeans_consensus,
}
NEWER = ("lwea", "ptgp", "usenc", "ecpcs_mc", "kcc_uh")
"""Methods of py-cluster-ensemble that have no counterpart here: contestants of their own."""
BY_KIND = ("ecpcs_hc", "mdecbg", "mdechc", "mdecsc", "drec", "icsc", "cdkm", "sc3", "dcc", "trce")
"""Its other methods that take less than some seconds, for `quality_by_kind` only."""
RIVALS.update({"py-cluster-ensemble " + name: py_cluster_ensemble for name in NEWER + BY_KIND})


def version_of(name):
    """The version of an installed module, by its own word where its package says none; empty if neither does."""
    said = str(getattr(sys.modules.get(name), "__version__", ""))
    try:
        from importlib.metadata import PackageNotFoundError, version
    except ImportError:
        return said
    try:
        return version(name)
    except PackageNotFoundError:
        return said


def versions(rival):
    """What ran: the rival's version, Python's, NumPy's and, where it is loaded, SciPy's."""
    own = [version_of(name) for name in MODULES.get(rival, ()) if name in sys.modules]
    others = {name: sys.modules[name].__version__ for name in ("numpy", "scipy") if name in sys.modules}
    return dict({"version": "".join(own[:1]), "python": sys.version.split()[0]}, **others)


def high_water():
    """Peak memory in MB of this process."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) / 1024


def processor():
    """Processor seconds of this process and of those it has started."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def measured(solve, labels, method, k, patience):
    """The labels found, and the best seconds and the extra memory they took."""
    Path("/proc/self/clear_refs").write_text("5")
    before, begun, walls, processors = high_water(), time.perf_counter(), [], []
    while not walls or (len(walls) < 5 and time.perf_counter() - begun < patience):
        wall, used = time.perf_counter(), processor()
        answer = solve(labels, method, k)
        found, quality = answer if isinstance(answer, tuple) else (answer, {})
        found = np.asarray(found)
        walls.append(time.perf_counter() - wall)
        processors.append(processor() - used)
    if found.shape != labels.shape[:1]:
        raise ValueError("gave no labels")
    own, started = high_water(), resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    memory = started if started > own else own - before  # a child's mark starts at its parent's, so less says nothing
    return found, {"wall": min(walls), "processor": min(processors), "memory": memory, "quality": quality}


def reported(work, answer, report, limit):
    """Do the work, write its answer and the report; what went wrong is part of the report."""
    try:
        found, figures = work()
        np.save(answer, found)
    except ImportError as error:
        figures = {"absent": str(error)}
    except MemoryError:
        figures = {"failure": "needs more than " + limit + " GB"}
    except Exception as error:
        figures = {"failure": type(error).__name__ + ": " + str(error)}
    unfinished = report.with_suffix(".part")
    unfinished.write_text(json.dumps(figures))
    unfinished.rename(report)
    return figures


def bound(limit):
    """Take no more than so many GB of address space."""
    if float(limit):
        resource.setrlimit(resource.RLIMIT_AS, (int(float(limit) * 2**30),) * 2)


def measure_one(rivals, rival, method, k, limit, patience, paths):
    """One table, measured after a call on a few of its rows."""
    table, answer, report = map(Path, paths)
    labels, solve = np.load(str(table)), rivals[rival]
    bound(limit)

    def work():
        solve(labels[:: max(1, len(labels) // 300)], method, int(k))
        try:
            found, figures = measured(solve, labels, method, int(k), float(patience))
        except ImportError as error:  # it is there, it has just run: what could not be loaded is for want of memory
            raise RuntimeError("on the whole table, " + str(error)) from error
        return found, dict(figures, versions=versions(rival))

    reported(work, str(answer), report, limit)


def answer_all(rivals, rival, method, limit, folder):
    """Every table of a folder that has no report yet, until the rival turns out to be absent."""
    bound(limit)
    for table in sorted(Path(folder).glob("*.npy")):
        report, answer = table.with_suffix(".json"), table.with_suffix(".answer")
        if report.exists():
            continue

        def work(table=table):
            labels, k, begun = np.load(str(table)), int(table.stem.split("_")[-1]), time.perf_counter()
            found = rivals[rival](labels, method, k)
            found = np.asarray(found[0] if isinstance(found, tuple) else found)
            if found.shape != labels.shape[:1]:
                raise ValueError("gave no labels")
            return found, {"wall": time.perf_counter() - begun}

        with answer.open("wb") as file:
            if "absent" in reported(work, file, report, limit):
                return


def main(words, rivals=RIVALS):
    """Measure one table or answer a folder of them, as the number of words says."""
    if len(words) == 4:
        answer_all(rivals, *words)
    else:
        measure_one(rivals, *words[:5], paths=words[5:])


if __name__ == "__main__":
    main(sys.argv[1:])
