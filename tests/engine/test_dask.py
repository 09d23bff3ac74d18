"""The Dask engine over real worker processes on this machine: what crosses, who dies, what is told."""

import gc
import json
import os
import pickle
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from partita.core.errors import EngineError
from partita.engine import cluster as clusters
from partita.engine import open_engine
from tests.engine import working
from tests.engine.killing import Struck

pytest.importorskip("distributed")
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def opened():
    with open_engine("dask", workers=2) as engine:
        yield engine


@pytest.fixture
def engine(opened):
    """With both workers alive, whatever the test before did to them: Dask starts others in their place."""
    settle(opened)
    return opened


def settle(engine):
    """Wait for two workers whose starters know of it: Dask replaces none that dies before."""
    nannies = engine.cluster.local.workers

    def known():
        begun = {nanny.worker_address for nanny in nannies.values() if nanny.process.status.name == "running"}
        return len(begun) == 2 and begun == set(engine.cluster.alive())

    working.wait_until(known)


def workers_of(engine):
    return engine.cluster.client.run(os.getpid)


def steps(parts):
    """Some that change the states, and some that do not."""
    found = [parts.step(working.wander, 0.1 * number, working.total) for number in range(3)]
    found.append(parts.step(working.look, 2.0, working.total))
    found += [parts.step(working.wander, 0.3, working.total), parts.step(working.look, 2.0, working.total)]
    return found, list(parts.each(working.ask))


def expected(count):
    with open_engine("serial") as oracle:
        return steps(oracle.hold(working.load, list(range(count))))


@pytest.mark.parametrize("number", [1, 2, 4, 6])
def test_a_killed_worker_changes_no_bit(engine, tmp_path, number):
    before = set(workers_of(engine).values())
    parts = engine.hold(working.load, list(range(21)))
    assert len(set(parts.homes)) == 2
    assert steps(Struck(parts, tmp_path, number)) == expected(21)
    parts.release()
    settle(engine)  # Dask starts another in its place
    assert len(before & set(workers_of(engine).values())) == 1


def test_a_worker_killed_between_steps_changes_no_bit(engine):
    parts = engine.hold(working.load, list(range(12)))
    found = [parts.step(working.wander, 0.1 * number, working.total) for number in range(3)]
    first, second = workers_of(engine).values()
    os.kill(first, signal.SIGKILL)
    found.append(parts.step(working.look, 2.0, working.total))
    settle(engine)
    os.kill(second, signal.SIGKILL)
    told = list(parts.each(working.ask))
    with open_engine("serial") as oracle:
        other = oracle.hold(working.load, list(range(12)))
        assert found == [
            *(other.step(working.wander, 0.1 * number, working.total) for number in range(3)),
            other.step(working.look, 2.0, working.total),
        ]
        assert told == list(other.each(working.ask))
    parts.release()


def test_a_worker_killed_in_a_map_changes_no_result(engine, tmp_path):
    from tests.engine.killing import killer

    with killer(tmp_path):
        found = list(engine.map(partial(working.square_unless_killed, str(tmp_path)), range(12)))
    assert found == [item * item for item in range(12)]


def test_parts_never_leave_their_worker_and_little_comes_here(engine, monkeypatch):
    seen, value = [], clusters.Cluster.value

    def spied(self, future):
        found = value(self, future)
        seen.append(len(pickle.dumps(found)))
        return found

    monkeypatch.setattr(clusters.Cluster, "value", spied)
    parts = engine.hold(working.load_megabyte, list(range(10)))
    for number in range(4):
        parts.step(working.wander, 0.1 * number, working.total)
    list(parts.each(working.ask))
    assert len(seen) == 4 + 10 and max(seen) < 500
    moved = engine.cluster.client.run(working.received)
    assert max((max(sizes, default=0) for sizes in moved.values()), default=0) < 100_000
    parts.release()


def test_the_scheduler_remembers_one_task_a_part_however_many_steps(engine):
    parts = engine.hold(working.load, list(range(16)))
    counts = []
    for number in range(30):
        parts.step(working.wander, 0.01 * number, working.total)
        counts.append(working.wait_until(lambda: tasks_few(engine, 40)))
    assert max(counts) < 40
    parts.release()
    working.wait_until(lambda: tasks_few(engine, 1) is not None)


def tasks_few(engine, most):
    gc.collect()  # futures of earlier tests, in the tracebacks of what those caught
    count = engine.cluster.client.run_on_scheduler(working.tasks_of)
    return (count or -1) if count < most else None


def test_steps_that_change_nothing_are_not_logged(engine):
    parts = engine.hold(working.load, list(range(5)))
    for _ in range(4):
        parts.step(working.look, 1.0, working.total)
    assert parts.log == []
    parts.step(working.wander, 1.0, working.total)
    assert [step.number for step in parts.log] == [5]
    parts.release()


def test_another_version_is_refused_by_name(engine, monkeypatch):
    monkeypatch.setattr(clusters, "__version__", "0.0.1")
    with pytest.raises(EngineError, match=r"here is partita 0\.0\.1, the Dask worker at tcp.* has [0-9.]+"):
        open_engine("dask", scheduler=engine.cluster.address)


def test_a_running_scheduler_is_joined_and_left_running(engine):
    with open_engine("dask", scheduler=engine.cluster.address) as other:
        assert other.workers == 2 and list(other.map(working.square, range(4))) == [0, 1, 4, 9]
    assert list(engine.map(working.square, range(3))) == [0, 1, 4]


def test_closing_a_map_cancels_what_waits_and_waits_for_what_runs(engine, tmp_path):
    results = engine.map(partial(working.touch, str(tmp_path)), range(50))
    (tmp_path / "go").touch()
    assert next(results) == 0
    results.close()
    begun = len(list(tmp_path.glob("begun-*")))
    assert begun < 10 and list(engine.map(working.square, [3])) == [9]
    assert len(list(tmp_path.glob("begun-*"))) == begun


def test_workers_that_always_die_end_the_run(monkeypatch):
    with (
        open_engine("dask", workers=2) as engine,
        pytest.raises(EngineError, match="died, one after the other; give"),
    ):
        list(engine.map(working.die, [1]))
    monkeypatch.setattr("partita.engine.dask_parts.TRIES", 2)
    monkeypatch.setattr(clusters, "ABANDONED", 8.0)  # Dask starts none again that dies in the moment of its start
    with open_engine("dask", workers=2) as engine:
        parts = engine.hold(working.load, [0, 1])
        with pytest.raises(EngineError, match=r"died 2 times in one step|has had no workers for 8 s"):
            parts.step(working.die_in_step, None, working.total)


def test_a_cluster_closes_while_a_worker_is_being_started():
    with open_engine("dask", workers=1) as engine:
        (nanny,) = engine.cluster.local.workers.values()
        process = nanny.process.process
        process._state.pid = None  # the nanny takes the worker for a running process, but its start has not finished
    working.wait_until(lambda: process.exitcode is not None)


@pytest.fixture
def processes(tmp_path):
    """A scheduler and two workers without anyone to start them again, as on a cluster; and what ends them."""
    begun = []

    def start(module, *more):
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "PYTHONWARNINGS": "ignore"}
        command = [
            sys.executable,
            "-m",
            f"distributed.cli.{module}",
            "--scheduler-file",
            str(tmp_path / "at.json"),
            *more,
        ]
        begun.append(
            subprocess.Popen(
                command, env=environment, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
        )

    start("dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")
    working.wait_until(
        lambda: "address" in (((tmp_path / "at.json").exists() and (tmp_path / "at.json").read_text()) or "")
    )
    yield begun, lambda: start("dask_worker", "--no-nanny", "--nthreads", "1", "--no-dashboard"), scheduler_at(tmp_path)
    for process in begun:
        process.kill()
        process.wait()


def scheduler_at(folder):
    return json.loads((folder / "at.json").read_text())["address"]


def test_a_scheduler_of_others(processes, tmp_path, monkeypatch):
    begun, start_worker, address = processes
    with monkeypatch.context() as patched:
        patched.setattr(clusters, "JOIN", 1.0)
        with pytest.raises(EngineError, match="has no workers after 1 s; start some with: dask worker"):
            open_engine("dask", scheduler=address)
    start_worker()
    start_worker()
    with open_engine("dask", scheduler=address) as engine:
        working.wait_until(lambda: len(engine.cluster.alive()) == 2)
        parts = engine.hold(working.load, list(range(9)))
        assert steps(Struck(parts, tmp_path, 3)) == expected(9)  # the other one takes over
        assert len(engine.cluster.alive()) == 1
        begun[0].kill()
        with pytest.raises(EngineError, match=r"the Dask scheduler at .* is gone"):
            for _ in range(1000):
                parts.step(working.look, 1.0, working.total)


SCRIPT = """
import os, signal, sys, threading
from functools import partial
from pathlib import Path
from partita.engine import open_engine
from tests.engine import working

folder = Path(sys.argv[1])
engine = open_engine("dask", workers=2)          # no guard: workers do not run this script
pids = engine.cluster.client.run(os.getpid)
(folder / "workers").write_text(" ".join(map(str, pids.values())))
with engine:
    {body}
"""
INTERRUPTED = "list(engine.map(partial(working.touch, str(folder)), range(50)))"
QUIET = """parts = engine.hold(working.load, list(range(6)))
    parts.step(working.wander, 0.1, working.total)
    os.kill(list(pids.values())[0], signal.SIGKILL)
    parts.step(working.wander, 0.1, working.total)"""


def script(tmp_path, body):
    (tmp_path / "script.py").write_text(SCRIPT.format(body=body))
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    return subprocess.Popen(
        [sys.executable, "script.py", str(tmp_path)],
        env=environment,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        text=True,
    )


def gone(pid):
    status = Path(f"/proc/{pid}/stat")
    return not status.exists() or status.read_text().rpartition(")")[2].split()[0] == "Z"


def test_nothing_of_dask_reaches_stderr(tmp_path):
    out, errors = script(tmp_path, QUIET).communicate(timeout=120)
    assert (out, errors) == ("", "")


@pytest.mark.skipif(not Path("/proc").exists(), reason="looks for processes in /proc")
def test_ctrl_c_ends_the_run_and_its_workers(tmp_path):
    process = script(tmp_path, INTERRUPTED)
    working.wait_until(lambda: len(list(tmp_path.glob("begun-*"))) == 2)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to workers too, which do not mind
    (tmp_path / "go").touch()
    out, errors = process.communicate(timeout=120)
    assert out == "" and errors.rstrip().endswith("KeyboardInterrupt")
    assert process.returncode in (1, 130, -signal.SIGINT)
    assert len(list(tmp_path.glob("begun-*"))) < 10
    for pid in (tmp_path / "workers").read_text().split():
        working.wait_until(partial(gone, pid))
