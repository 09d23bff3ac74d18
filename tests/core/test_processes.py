"""Work over processes: a worker that dies, Ctrl-C, a starter that is killed, a script without a guard."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from partita.core.processes import Crew

ROOT = Path(__file__).parents[2]
_begun = []


def work(item):
    if item == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if item == "sleep":
        time.sleep(60)
    return f"{item} done", list(_begun)


def lost(item):
    return f"{item} lost", []


def begin(word):
    _begun.append(word)


def touch(path):
    Path(path).write_text("orphaned")


def test_here():
    found = []
    Crew(work, lost).here(["a", "b"], found.append)
    assert found == [("a done", []), ("b done", [])]


def test_a_press_that_the_work_survives_still_counts():
    """A fit that Ctrl-C ends early returns what it has; that is no finished one."""

    def pressed(item):
        try:
            if item == 2:
                os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.01)
        except KeyboardInterrupt:
            return "half"
        return "whole"

    found, before = [], signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        Crew(pressed, lost).here([1, 2, 3], found.append)
    assert found == ["whole"] and signal.getsignal(signal.SIGINT) is before


def test_a_worker_that_dies_costs_its_item_alone():
    found, script = [], sys.modules["__main__"]
    Crew(work, lost, partial(begin, "begun")).apart(["a", "die", "b", "c"], 2, found.append)
    assert sorted(found) == [("a done", ["begun"]), ("b done", ["begun"]), ("c done", ["begun"]), ("die lost", [])]
    assert sys.modules["__main__"] is script


def test_an_interrupt_ends_the_workers():
    """Also when Ctrl-C is pressed again while what is finished is handed over."""
    found = []

    def emit(result):
        found.append(result)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Crew(work, lost).apart(["a", "sleep", "sleep"], 2, emit)
    assert found == [("a done", [])] * 2
    for _ in range(100):
        if not multiprocessing.active_children():
            return
        time.sleep(0.05)
    pytest.fail("a worker is left")


SCRIPT = """
from functools import partial
from tests.core.test_processes import Crew, lost, touch, work
print("begun", flush=True)
Crew(work, lost, None, partial(touch, {path!r})).apart(["a", "sleep"], 2, lambda result: print(result[0], flush=True))
"""


def test_a_killed_starter_leaves_no_worker(tmp_path):
    """The script has no `if __name__ == "__main__"`: workers must not run it again."""
    (tmp_path / "script.py").write_text(SCRIPT.format(path=str(tmp_path / "mark")))
    paths = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    process = subprocess.Popen(
        [sys.executable, str(tmp_path / "script.py")],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": paths},
    )
    assert [process.stdout.readline().strip() for _ in range(2)] == ["begun", "a done"]
    process.kill()
    process.communicate()
    for _ in range(100):
        if (tmp_path / "mark").exists():
            return
        time.sleep(0.05)
    pytest.fail("the worker did not notice that it is alone")
