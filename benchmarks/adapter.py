"""Runs one rival in its own environment: `python adapter.py RIVAL METHOD K LIMIT_GB TABLE.npy ANSWER.npy REPORT.json`.

It imports the rival by name and calls its public function; it needs NumPy, no partita, and Python 3.7 or newer. The
first call, on a few rows, imports and compiles and is not measured.
"""

import json
import resource
import sys
import time
from pathlib import Path

import numpy as np

PATIENCE = 10.0
"""Seconds within which a quick rival is called again, so that its best time counts, as ours does."""


def cluster_ensembles_sano(labels, method, k):
    """ClusterEnsembles: clusterings in rows."""
    import ClusterEnsembles

    return ClusterEnsembles.cluster_ensembles(labels.T.astype(float), k, solver=method, random_state=0)


def cluster_ensembles_giecold(labels, method, k):
    """Cluster_Ensembles: clusterings in rows, the hypergraph in an HDF5 file in the working folder."""
    import Cluster_Ensembles.Cluster_Ensembles as rival
    import tables

    runs = labels.T.astype(int)
    with tables.open_file("table.h5", "w") as file:
        file.create_group(file.root, "consensus_group")
    rival.store_hypergraph_adjacency(rival.build_hypergraph_adjacency(runs), "table.h5")
    solve = {"cspa": rival.CSPA, "hgpa": rival.HGPA, "mcla": rival.MCLA}[method]
    return solve("table.h5", runs, False, k)


def py_cluster_ensemble(labels, method, k):
    """py-cluster-ensemble: one repeat on all columns, counted from 1; theta as in the paper for LWGP."""
    from pce import consensus

    extra = {"theta": 0.4} if method == "lwgp" else {}
    solve = getattr(consensus, method)
    found, _ = solve(labels.astype(int) + 1, nClusters=k, nBase=labels.shape[1], nRepeat=1, seed=0, **extra)
    return found[0]


def open_ensembles(labels, method, k):
    """OpenEnsembles: average linkage of its co-occurrence matrix, cut at k (its own cut takes a height)."""
    import openensembles
    import pandas
    from scipy.cluster.hierarchy import fcluster

    data = openensembles.data(pandas.DataFrame(np.zeros((len(labels), 2))), [0, 1])
    clusterings = openensembles.cluster(data)
    for j in range(labels.shape[1]):
        clusterings.labels[str(j)] = labels[:, j]
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


RIVALS = {
    "ClusterEnsembles": cluster_ensembles_sano,
    "Cluster_Ensembles": cluster_ensembles_giecold,
    "py-cluster-ensemble": py_cluster_ensemble,
    "OpenEnsembles": open_ensembles,
    "StepMix": stepmix,
    "tomotopy": tomotopy_lda,
}


def high_water():
    """Peak memory in MB of this process."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) / 1024


def processor():
    """Processor seconds of this process and of those it has started."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def measured(solve, labels, method, k):
    """The labels found, and the best seconds and the extra memory they took."""
    Path("/proc/self/clear_refs").write_text("5")
    before, begun, walls, processors = high_water(), time.perf_counter(), [], []
    while not walls or (len(walls) < 5 and time.perf_counter() - begun < PATIENCE):
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


def main(rival, method, k, limit, paths):
    """Write the answer and the report; what went wrong is part of the report."""
    table, answer, report = paths
    labels, solve = np.load(table), RIVALS[rival]
    if float(limit):
        resource.setrlimit(resource.RLIMIT_AS, (int(float(limit) * 2**30),) * 2)
    try:
        solve(labels[:: max(1, len(labels) // 300)], method, int(k))
        found, figures = measured(solve, labels, method, int(k))
        np.save(answer, found)
    except ImportError as error:
        figures = {"absent": str(error)}
    except MemoryError:
        figures = {"failure": "needs more than " + limit + " GB"}
    except Exception as error:
        figures = {"failure": type(error).__name__ + ": " + str(error)}
    Path(report).write_text(json.dumps(figures))


if __name__ == "__main__":
    main(*sys.argv[1:5], sys.argv[5:])
