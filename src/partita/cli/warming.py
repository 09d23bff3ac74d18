"""Compilation of slow kernels in a second process during the first run on a machine.

`python -m partita.cli.warming auto` (or `polish`) is that process: it runs the kernels on six objects, which leaves
their machine code in the cache on disk.
"""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from partita.core.ensemble import Ensemble
from partita.core.types import frozen


def compile_beside(method: str, polish: bool) -> None:
    """Start the process if the method needs the kernels, they are not in the cache, and a second CPU is free."""
    from partita.core.threads import available

    part = "polish" if polish or method == "supra" else "auto" if method in ("auto", "lwea") else None
    if part is None or available() < 2 or _in_cache(_last_kernel(part)):
        return
    nowhere = subprocess.DEVNULL
    words = [sys.executable, "-m", "partita.cli.warming", part]
    subprocess.Popen(words, stdin=nowhere, stdout=nowhere, stderr=nowhere, start_new_session=True)


def _last_kernel(part: str) -> Any:
    """Return a kernel that the process compiles for this part."""
    from partita.kernels.greedy import sweep_rows
    from partita.models.lwea import merge_groups

    return merge_groups if part == "auto" else sweep_rows


def _in_cache(kernel: Any) -> bool:
    """Return True if the cache on disk has machine code of the kernel."""
    module, name = kernel.py_func.__module__.rpartition(".")[2], kernel.py_func.__name__
    return any(Path(kernel.stats.cache_path).glob(f"{module}.{name}-*.nbi"))


def _six_objects() -> Ensemble:
    labels = frozen(np.array([[0, 0, 0], [0, 0, 1], [0, 1, 0], [1, 1, 1], [1, 1, 0], [1, 0, 1]], np.int8))
    ones = frozen(np.ones(6))
    return Ensemble(labels, (2, 2, 2), ("a", "b", "c"), ((0, 1),) * 3, frozen(np.ones(3)), multiplicity=ones)


def compile_auto() -> None:
    """Compile the kernels that `auto` reaches last: confidence, linkage and responsibilities."""
    from partita.core.counting import label_counts, unit_weights
    from partita.core.rng import generator
    from partita.metrics.confidence import confidence
    from partita.models.lwea import linkages, locally_weighted, micro_clusters
    from partita.models.mixture import entropy, maximise, memberships, soften

    ensemble, labels = _six_objects(), np.array([0, 1, 0, 1, 0, 1], np.int32)
    confidence(ensemble, labels)
    weights = locally_weighted(ensemble, 0.3)
    linkages(micro_clusters(ensemble, weights, 12, 150, generator(0)), ensemble, weights, 2)
    initial = soften(*label_counts(ensemble, labels, 2))
    shares, _ = memberships(maximise(initial, ensemble.offsets, 0.0, unit_weights(ensemble)), ensemble)
    entropy(shares, ensemble.counts)


def compile_polish() -> None:
    """Compile the kernels of `polish` and of the refinement of partitions."""
    from scipy import sparse

    from partita.core.rng import generator
    from partita.graph.greedy import climb
    from partita.partition.blocks import set_limits
    from partita.partition.edges import Graph

    pairs = sparse.csr_array(np.ones((4, 4)) - np.eye(4))
    limits = set_limits(np.ones(4), 2, 0.05)
    Graph.from_sparse(pairs, np.ones(4)).improved(np.array([0, 1, 0, 1], np.int32), limits, "any", generator(0))
    climb(_six_objects(), np.array([0, 1, 0, 1, 0, 1], np.int32), 2)


if __name__ == "__main__":
    {"auto": compile_auto, "polish": compile_polish}[sys.argv[1]]()
