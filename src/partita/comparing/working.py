"""What a worker of a comparison does: it opens the table once and makes the fits it is given."""

import os

from threadpoolctl import threadpool_limits

from partita.comparing.measuring import Bench, Task
from partita.comparing.records import Compared
from partita.comparing.sharing import Shared

_bench: list[Bench] = []


def begin(shared: Shared, seed: int, threads: int) -> None:
    """In a new worker: open the table, and keep libraries with threads of their own to this many."""
    os.environ["OMP_NUM_THREADS"] = str(threads)  # for those that are loaded later
    threadpool_limits(threads)
    _bench[:] = [Bench(shared.opened(), seed, threads)]


def fit_held(task: Task) -> Compared:
    """One fit on the table that this worker holds."""
    return _bench[0].measure(task)
