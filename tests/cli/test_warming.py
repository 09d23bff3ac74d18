"""The kernels compiled beside a first run are those the run then loads."""

import json
import os
import subprocess
import sys

import pytest

from partita.datasets import segments_path

PROGRAM = """
import json, sys
from partita.cli.main import main
sys.argv = ["partita", "run", sys.argv[1], "--id", "customer", "-k", "4", "-q", "-o", sys.argv[2]]
try:
    main()
except SystemExit:
    pass
from partita.kernels.greedy import sweep_rows
from partita.partition.moves import link_sweep
print(json.dumps([[sum(kernel.stats.cache_hits.values()), sum(kernel.stats.cache_misses.values())]
                  for kernel in (sweep_rows, link_sweep)]))
"""


@pytest.mark.slow
def test_a_run_loads_what_was_compiled_beside_it(tmp_path):
    surroundings = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "kernels")}
    subprocess.run([sys.executable, "-m", "partita.cli.warming"], env=surroundings, check=True)
    words = [sys.executable, "-c", PROGRAM, str(segments_path()), str(tmp_path / "out.csv")]
    done = subprocess.run(words, env=surroundings, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [[1, 0], [1, 0]]
