"""The first run on a machine compiles its kernels; the two slowest are compiled beside it, in a process of their own.

`python -m partita.cli.warming` is that process: it does the same work on six objects and leaves machine code on disk.
"""

import subprocess
import sys
from pathlib import Path

import numpy as np


def compile_beside(method: str, polish: bool) -> None:
    """Start that process where it helps: the method needs those kernels, they are not on disk, a processor is free."""
    from partita.core.threads import available
    from partita.kernels.greedy import sweep_rows

    if (method not in ("auto", "supra") and not polish) or available() < 2:
        return
    home = Path(sweep_rows.stats.cache_path)  # type: ignore[attr-defined]  # a dispatcher, a function to mypy only
    if any(home.glob("greedy.sweep_rows-*.nbi")):
        return
    nowhere = subprocess.DEVNULL
    words = [sys.executable, "-m", "partita.cli.warming"]
    subprocess.Popen(words, stdin=nowhere, stdout=nowhere, stderr=nowhere, start_new_session=True)


def compile_slowest() -> None:
    """A division of four vertices improved, and a labelling of six objects polished."""
    from scipy import sparse

    from partita.core.ensemble import Ensemble
    from partita.core.rng import generator
    from partita.core.types import frozen
    from partita.graph.greedy import climb
    from partita.partition.blocks import set_limits
    from partita.partition.edges import Graph

    pairs = sparse.csr_array(np.ones((4, 4)) - np.eye(4))
    limits = set_limits(np.ones(4), 2, 0.05)
    Graph.from_sparse(pairs, np.ones(4)).improved(np.array([0, 1, 0, 1], np.int32), limits, "any", generator(0))
    labels = frozen(np.array([[0, 0, 0], [0, 0, 1], [0, 1, 0], [1, 1, 1], [1, 1, 0], [1, 0, 1]], np.int8))
    ones = frozen(np.ones(6))
    ensemble = Ensemble(labels, (2, 2, 2), ("a", "b", "c"), ((0, 1),) * 3, frozen(np.ones(3)), multiplicity=ones)
    climb(ensemble, np.array([0, 1, 0, 1, 0, 1], np.int32), 2)


if __name__ == "__main__":
    compile_slowest()
