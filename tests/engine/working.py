"""What tests have engines do: functions that workers import by name."""

import os
import time
from pathlib import Path

import numpy as np

from partita.core.errors import LabelError
from partita.core.threads import current


def wait_until(true, seconds=60):
    """Wait on a condition; its first true value."""
    end = time.monotonic() + seconds
    while not (found := true()):
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.005)
    return found


def square(item):
    return item * item


def refuse_three(item):
    if item == 3:
        raise LabelError("row 7: label 'x' is no label; mend it")
    return item


def fail_at_three(item):
    if item == 3:
        raise ZeroDivisionError("a bug")
    return item


def threads_allowed(item):
    return current()


def load(item):
    """A part of numbers whose sum hangs on the order in which they are added."""
    rng = np.random.default_rng(item)
    return rng.normal(size=50) * 10.0 ** rng.integers(-8, 9, 50)


def load_megabyte(item):
    return np.full(1 << 17, float(item))


def wander(common, part, state):
    """The state depends on all earlier steps."""
    state = np.zeros_like(part) if state is None else state
    state = np.sin(state + part * common)
    return state, float((state * part).sum())


def look(common, part, state):
    """A step that changes no state."""
    return state, float((part if state is None else state).sum() * common)


def refuse_part(common, part, state):
    if part[0] == load(4)[0]:
        raise LabelError("this part is bad; mend it")
    return state, 0.0


def total(shares):
    result = 0.0
    for share in shares:
        result += share
    return result


def concatenated(shares):
    return [one for share in shares for one in share]


def ask(part, state):
    return len(part), None if state is None else float(state.sum())


def place_of(common, part, state):
    return state, [float(part[0])]


def touch(folder, item):
    """Leave a file that tells of the work, and wait to be let go on."""
    (Path(folder) / f"begun-{item}").write_text(str(os.getpid()))
    wait_until((Path(folder) / "go").exists)
    return item


def killed_once(folder, function, number, asked, part, state):
    """As `function`; but the first process that comes to a step of that number leaves its id and waits for its end."""
    here = Path(folder)
    common, step = asked
    if step == number and not (here / "killed").exists():
        (here / f"pid-{os.getpid()}").touch()
        wait_until((here / "killed").exists)
    return function(common, part, state)


def square_unless_killed(folder, item):
    here = Path(folder)
    if item == 5 and not (here / "killed").exists():
        (here / f"pid-{os.getpid()}").touch()
        wait_until((here / "killed").exists)
    return item * item


def die(item):
    os._exit(1)


def die_in_step(common, part, state):
    os._exit(1)


def received(dask_worker):
    """Bytes of everything that a worker got from others."""
    return [entry["total"] for entry in dask_worker.transfer_incoming_log]


def tasks_of(dask_scheduler):
    """How many tasks a scheduler remembers."""
    return len(dask_scheduler.tasks)
