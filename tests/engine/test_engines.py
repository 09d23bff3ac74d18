"""Laws of every engine; the serial one is the oracle of the others. Dask's own tests are in `test_dask.py`."""

import socket
import sys
import threading

import pytest

from partita.core.errors import EngineError, LabelError, MissingExtraError, ParameterError
from partita.core.threads import thread_limit
from partita.engine import ENGINES, at_worker, cluster, open_engine
from tests.engine import working


def opened(name):
    return open_engine(name, workers=None if name == "serial" else 2)


QUICK = ["serial", "threads"]


@pytest.fixture(scope="module", params=[*QUICK, pytest.param("dask", marks=pytest.mark.slow)])
def engine(request):
    with opened(request.param) as engine:
        yield engine


def run_of_steps(engine, count, load=working.load):
    """Steps with states, and what the parts tell in the end."""
    parts = engine.hold(load, list(range(count)))
    assert len(parts) == count
    sums = []
    for number in range(4):
        sums.append(parts.step(working.wander, 0.1 * number, working.total))
        sums.append(parts.step(working.look, 3.0, working.total))
    told = list(parts.each(working.ask))
    parts.release()
    return sums, told


def test_all_engines_are_tested():
    assert set(QUICK) | {"dask"} == set(ENGINES)


def test_map_in_order(engine):
    assert list(engine.map(working.square, range(25))) == [item * item for item in range(25)]
    assert list(engine.map(working.square, [])) == []


@pytest.mark.parametrize("count", [1, 8, 21])
def test_the_same_bits_as_serial(engine, count):
    with opened("serial") as oracle:
        assert run_of_steps(engine, count) == run_of_steps(oracle, count)


def test_a_cluster_started_here_gives_the_same_bits():
    """What of Dask is tested every time; all else of it is slow."""
    pytest.importorskip("distributed")
    with opened("dask") as engine, opened("serial") as oracle:
        assert list(engine.map(working.square, range(5))) == [0, 1, 4, 9, 16]
        assert run_of_steps(engine, 9) == run_of_steps(oracle, 9)


@pytest.mark.parametrize("workers", [1, 3])
def test_any_number_of_threads_gives_the_same_bits(workers):
    with open_engine("threads", workers=workers) as engine, opened("serial") as oracle:
        assert run_of_steps(engine, 70) == run_of_steps(oracle, 70)


def test_shares_come_in_order(engine):
    parts = engine.hold(working.load, list(range(30)))
    found = parts.step(working.place_of, None, working.concatenated)
    assert found == [working.load(item)[0] for item in range(30)]
    parts.release()


def test_errors_keep_their_kind_and_name_the_block(engine):
    with pytest.raises(LabelError, match=r"^block 4: row 7: label 'x' is no label; mend it$"):
        list(engine.map(working.refuse_three, range(9)))
    with pytest.raises(LabelError, match=r"^block 4: row 7"):
        engine.hold(working.refuse_three, range(9))
    parts = engine.hold(working.load, list(range(9)))
    with pytest.raises(LabelError, match=r"^block 5: this part is bad"):
        parts.step(working.refuse_part, None, working.total)
    parts.release()
    with pytest.raises(ZeroDivisionError, match=r"^a bug$"):
        list(engine.map(working.fail_at_three, range(9)))
    assert list(engine.map(working.square, [2])) == [4]


def test_kernels_in_a_worker_start_no_workers(engine):
    with thread_limit(2):
        allowed = set(engine.map(working.threads_allowed, range(4)))
    assert allowed == ({2} if engine.name == "serial" else {1})


def test_threads_stay_a_bounded_number_ahead_and_closing_cancels_the_rest():
    begun, go, lock = [], threading.Event(), threading.Lock()

    def note(item):
        with lock:
            begun.append(item)
        assert go.wait(60)
        return item

    with open_engine("threads", workers=2) as engine:
        results = engine.map(note, range(100))
        go.set()
        assert [next(results) for _ in range(3)] == [0, 1, 2]
        working.wait_until(lambda: len(begun) == 6)
        assert max(begun) == 5
        go.clear()
        assert next(results) == 3
        working.wait_until(lambda: 6 in begun)
        threading.Timer(0.05, go.set).start()
        results.close()
        assert max(begun) <= 7


def test_an_interrupt_in_a_step_waits_for_what_runs():
    begun, ended = threading.Event(), []

    def step(common, part, state):
        if part == 0:
            raise KeyboardInterrupt
        begun.set()
        ended.append(part)
        return state, part

    with open_engine("threads", workers=2) as engine:
        parts = engine.hold(int, range(50))
        with pytest.raises(KeyboardInterrupt):
            parts.step(step, None, sum)
        count = len(ended)
        assert count < 50 and list(engine.map(working.square, [3])) == [9]
        assert len(ended) == count


def test_what_cannot_be_opened_is_told():
    for given, message in [
        ({"name": "spark"}, "engine 'spark' is not known; give one of serial, threads, dask"),
        ({"name": "threads", "scheduler": "tcp://a:1"}, "is for engine dask"),
        ({"name": "threads", "workers": 0}, "whole number >= 1"),
        ({"name": "threads", "workers": True}, "whole number >= 1"),
        ({"name": "serial", "workers": 3}, "take engine threads"),
        ({"name": "dask", "scheduler": "tcp://a:1", "workers": 2}, "as many as they are"),
    ]:
        with pytest.raises(ParameterError, match=message):
            open_engine(given.pop("name"), **given)


def test_without_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtraError, match=r'pip install "partita\[dask\]"'):
        open_engine("dask", workers=1)


def test_a_worker_refuses_a_client_of_another_version():
    with pytest.raises(EngineError, match=r"the client has partita 0\.0\.1, a worker "), at_worker.visiting("0.0.1/x"):
        pass


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "nonsense", "tcp://", "http://127.0.0.1:1", "127.0.0.1:1"])
def test_a_wrong_address(address, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr(cluster, "CONNECT", 0.5)
    with pytest.raises(EngineError, match="no Dask scheduler answers at") as told:
        open_engine("dask", scheduler=address)
    assert address in str(told.value) and "\n" not in str(told.value)


def test_one_who_listens_and_says_nothing_is_no_scheduler(monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr(cluster, "CONNECT", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(EngineError, match="no Dask scheduler answers at"):
            open_engine("dask", scheduler=address)
