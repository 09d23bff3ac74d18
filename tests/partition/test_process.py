"""The native libraries as guests of a process: quiet, repeatable, in threads and after a fork."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from partita.partition import (
    Graph,
    GraphOptions,
    Hypergraph,
    HypergraphOptions,
    native,
    partition_graph,
    partition_hypergraph,
)
from tests.partition.samples import planted, ring

PATHS = os.pathsep.join(filter(None, [str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH")]))


def everything(seed):
    """Labels from each of the libraries."""
    table, _ = planted(300, 6, 4, 0.4)
    bipartite, plain, nets = Graph.from_bipartite(table), Graph.from_sparse(ring(200)), Hypergraph.from_sparse(table)
    found = [
        partition_graph(bipartite, 4, GraphOptions(), np.random.default_rng(seed)),
        partition_graph(plain, 5, GraphOptions("metis"), np.random.default_rng(seed)),
        partition_graph(plain, 5, GraphOptions("kahip"), np.random.default_rng(seed)),
        partition_hypergraph(nets, 4, HypergraphOptions(), np.random.default_rng(seed)),
        partition_hypergraph(nets, 5, HypergraphOptions("km1", mode="bisection"), np.random.default_rng(seed)),
    ]
    return [(one.labels.tolist(), one.tries) for one in found]


def test_the_same_seed_gives_the_same_result():
    assert everything(3) == everything(3)
    assert everything(3) != everything(4)


def test_the_result_is_the_same_in_threads():
    alone = [everything(seed) for seed in range(4)]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(everything, [0, 1, 2, 3, 3, 2, 1, 0])) == alone + alone[::-1]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_the_result_is_the_same_in_a_forked_child(tmp_path):
    script = tmp_path / "forking.py"
    script.write_text(
        "import os, sys\n"
        "from partita.partition import native\n"
        "from tests.partition.test_process import everything\n"
        "before = everything(1)\n"
        "with native._lock:\n"
        "    child = os.fork()\n"
        "if child == 0:\n"
        "    os._exit(0 if everything(1) == before else 3)\n"
        "status = os.waitpid(child, 0)[1]\n"
        "sys.exit(os.waitstatus_to_exitcode(status) or (0 if everything(1) == before else 4))\n"
    )
    done = subprocess.run([sys.executable, str(script)], timeout=120, env={**os.environ, "PYTHONPATH": PATHS})
    assert done.returncode == 0


def test_nothing_is_printed(tmp_path):
    """At the level of file descriptors, in a process that flushes what C libraries hold back."""
    script = tmp_path / "quiet.py"
    script.write_text(
        "import numpy as np\n"
        "from partita.partition import *\n"
        "from tests.partition.samples import planted\n"
        "from tests.partition.test_process import everything\n"
        "everything(0)\n"
        "rng = np.random.default_rng(0)\n"
        "for size in range(3, 60, 4):\n"
        "    upper = np.triu(rng.random((size, size)) * (rng.random((size, size)) < 0.3), 1)\n"
        "    weights = rng.pareto(0.5, size) + 0.01\n"
        "    for k in {2, size // 5 + 1, size // 2 + 1, size - 1}:\n"
        "        for partitioner in ('metis', 'kahip'):\n"
        "            graph = Graph.from_sparse(upper + upper.T, weights)\n"
        "            partition_graph(graph, k, GraphOptions(partitioner), rng)\n"
        "        nets = Hypergraph.from_sparse(upper > 0.5, None, weights)\n"
        "        partition_hypergraph(nets, k, HypergraphOptions(mode='direct'), rng)\n"
        "        partition_hypergraph(nets, k, HypergraphOptions(mode='bisection'), rng)\n"
    )
    done = subprocess.run(
        [sys.executable, str(script)],
        timeout=300,
        capture_output=True,
        env={**os.environ, "PYTHONPATH": PATHS},
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_what_the_libraries_are_given_cannot_overflow(monkeypatch):
    """Whole weights, both directions together, stay below 31 bits for KaHIP and 63 for METIS."""
    seen = {}

    def spy(name, original, whole, *rest, **more):
        seen[name] = whole
        return original(whole, *rest, **more)

    for name in ("run_kahip", "run_metis"):
        monkeypatch.setattr(native, name, partial(spy, name, getattr(native, name)))
    rng = np.random.default_rng(0)
    dense = np.triu(rng.random((60, 60)) ** 9 * 1e12, 1)
    graph = Graph.from_sparse(dense + dense.T, rng.random(60) * 1e10)
    for partitioner in ("kahip", "metis"):
        partition_graph(graph, 3, GraphOptions(partitioner), rng)
    for name, most in (("run_kahip", 2**31), ("run_metis", 2**62)):
        for values in (seen[name].weights, seen[name].vertex_weights):
            assert values.min() >= 1 and int(values.sum()) < most
            assert int(values.sum()) > most // 2**16
