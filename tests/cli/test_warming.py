"""The kernels that are compiled during a first run are those that the run then loads."""

import json
import os
import subprocess
import sys

import pytest

from partita.datasets import segments_path

PROGRAM = """
import importlib, json, sys
from partita.cli.main import main
kernels, path, output, *options = sys.argv[1:]
sys.argv = ["partita", "run", path, "--id", "customer", "-k", "4", "-q", "-o", output, *options]
try:
    main()
except SystemExit:
    pass
found = []
for kernel in kernels.split(","):
    module, _, name = kernel.rpartition(".")
    stats = getattr(importlib.import_module(module), name).stats
    found.append([sum(stats.cache_hits.values()), sum(stats.cache_misses.values())])
print(json.dumps(found))
"""
KERNELS = {
    "auto": [
        "partita.models.lwea.merge_groups",
        "partita.kernels.confidence.confidence_of_blocks",
        "partita.kernels.mixture.share_out",
    ],
    "polish": ["partita.kernels.greedy.sweep_rows"],
}


@pytest.mark.slow
@pytest.mark.parametrize("part", KERNELS)
def test_a_run_loads_what_was_compiled_during_the_first(part, tmp_path):
    surroundings = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "kernels")}
    subprocess.run([sys.executable, "-m", "partita.cli.warming", part], env=surroundings, check=True)
    options = ["--polish"] if part == "polish" else []
    words = [sys.executable, "-c", PROGRAM, ",".join(KERNELS[part]), str(segments_path()), str(tmp_path / "out.csv")]
    done = subprocess.run([*words, *options], env=surroundings, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [[1, 0]] * len(KERNELS[part])
