"""Threads, seeds and progress: order kept, limits obeyed, exceptions passed on, nothing global."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from partita import Ensemble
from partita.core import threads
from partita.core.counting import label_counts
from partita.core.errors import ParameterError
from partita.core.progress import reporting, steps
from partita.core.rng import generator, resolve_seed
from partita.core.threads import available, current, map_chunks, map_threads, thread_limit
from tests.samples import noisy


@pytest.mark.parametrize("count", [1, 2, 5])
def test_results_come_in_order(count):
    def slow_first(item):
        time.sleep(0.02 if item == 0 else 0)
        return item * item

    with thread_limit(count):
        assert map_threads(slow_first, range(12)) == [item * item for item in range(12)]
        assert map_threads(slow_first, []) == [] and map_threads(slow_first, iter([3])) == [9]


def test_work_is_spread_over_no_more_threads_than_allowed():
    seen, lock = set(), threading.Lock()

    def note(item):
        time.sleep(0.005)
        with lock:
            seen.add(threading.get_ident())

    with thread_limit(3):
        map_threads(note, range(30))
    assert 1 < len(seen) <= 3
    seen.clear()
    with thread_limit(1):
        map_threads(note, range(3))
    assert seen == {threading.get_ident()}


@pytest.mark.parametrize("count", [1, 2])
def test_exceptions_pass_and_stop_the_rest(count):
    done = []

    def fail(item):
        if item == 1:
            raise KeyError("one")
        time.sleep(0.002)
        done.append(item)

    with thread_limit(count), pytest.raises(KeyError, match="one"):
        map_threads(fail, range(500))
    assert len(done) < 400
    with thread_limit(2):
        assert map_threads(str, range(3)) == ["0", "1", "2"]


def test_an_interrupt_while_work_is_handed_out_leaves_nothing_running():
    begun = []

    def note(item):
        time.sleep(0.005)
        begun.append(item)

    pool = threads._pool(2)
    with thread_limit(2), pytest.MonkeyPatch.context() as patch, pytest.raises(KeyboardInterrupt):
        asked = iter(range(51))

        def interrupted(*words):
            if next(asked) == 50:
                raise KeyboardInterrupt
            return ThreadPoolExecutor.submit(pool, *words)

        patch.setattr(pool, "submit", interrupted)
        map_threads(note, range(100))
    before = len(begun)
    time.sleep(0.05)
    assert len(begun) == before < 50


def test_limits_nest_and_end():
    outside = current()
    with thread_limit(3):
        assert current() == 3
        with thread_limit(1):
            assert current() == 1
        with thread_limit(None):
            assert current() == available()
        assert current() == 3
        with pytest.raises(RuntimeError), thread_limit(2):
            raise RuntimeError
        assert current() == 3
    assert current() == outside >= 1


def test_workers_start_no_workers():
    def inner(_):
        return current()

    with thread_limit(4):
        assert map_threads(inner, range(8)) == [1] * 8
        assert map_threads(lambda _: max(map_threads(inner, range(2))), range(4)) == [1] * 4
        assert map_threads(inner, [0]) == [4]


@pytest.mark.parametrize("bad", [0, -1, 2.5, "2", True, float("nan"), [1]])
def test_bad_limits(bad):
    with pytest.raises(ParameterError, match="threads="), thread_limit(bad):
        pass
    assert current() == available()


def test_numpy_integers_are_whole_numbers():
    with thread_limit(np.int64(2)):
        assert current() == 2


@pytest.mark.parametrize("rows", [0, 1, 6, 7, 8, 100, 449, 10_000])
def test_chunks_cover_every_row_once(monkeypatch, rows):
    monkeypatch.setattr(threads, "CHUNK", 7)
    for count in (1, 3):
        with thread_limit(count):
            spans = map_chunks(lambda start, stop: (start, stop), rows)
        assert [i for start, stop in spans for i in range(start, stop)] == list(range(rows))
        assert len(spans) <= threads.MOST_CHUNKS and all(stop - start >= 7 for start, stop in spans[:-1])
    assert map_chunks(lambda start, stop: stop - start, rows, chunk=rows + 1) == ([rows] if rows else [])


def test_sums_do_not_depend_on_the_number_of_threads(monkeypatch):
    monkeypatch.setattr(threads, "CHUNK", 13)
    rng = np.random.default_rng(0)
    ensemble = noisy(n=400, missing=0.1).with_counts(rng.random(400) + 0.1)
    labels = rng.integers(0, 5, 400).astype(np.int32)
    results = []
    for count in (1, 2, 4):
        with thread_limit(count):
            results.append(label_counts(ensemble, labels, 5))
    for tables, sizes in results[1:]:
        assert np.array_equal(tables, results[0][0]) and np.array_equal(sizes, results[0][1])


def test_label_counts_against_plain_counting():
    rng = np.random.default_rng(1)
    labels = rng.integers(-1, 3, size=(50, 4))
    ensemble = Ensemble.from_labels(labels, missing=-1).with_counts(rng.integers(1, 5, 50))
    chosen = rng.integers(-1, 3, 50).astype(np.int32)
    tables, sizes = label_counts(ensemble, chosen, 4)
    for cluster in range(4):
        inside = chosen == cluster
        assert sizes[cluster] == ensemble.counts[inside].sum()
        for j in range(4):
            for code in range(ensemble.sizes[j]):
                hits = inside & (ensemble.labels[:, j] == code)
                assert tables[ensemble.offsets[j] + code, cluster] == ensemble.counts[hits].sum()


def test_seeds():
    assert resolve_seed(5) == 5 and resolve_seed(np.int64(5)) == 5 and type(resolve_seed(np.int64(5))) is int
    assert resolve_seed(0) == 0 and resolve_seed(2**100) == 2**100
    drawn = {resolve_seed(None) for _ in range(5)}
    assert len(drawn) > 1 and all(0 <= seed < 2**32 for seed in drawn)
    assert generator(7).random() == generator(7).random() != generator(8).random()
    children = [child.random() for child in generator(7).spawn(3)]
    assert children == [child.random() for child in generator(7).spawn(3)] and len(set(children)) == 3


@pytest.mark.parametrize("bad", [-1, 2.0, "5", [1], np.random.default_rng(0), float("nan")])
def test_bad_seeds(bad):
    with pytest.raises(ParameterError, match=r"seed=.*>= 0"):
        resolve_seed(bad)


def test_progress_is_reported_only_inside():
    seen = []
    assert list(steps("ab", 2, "quiet")) == ["a", "b"] and seen == []
    with reporting(lambda what, done, total: seen.append((what, done, total))):
        assert list(steps(iter("abc"), 3, "work")) == ["a", "b", "c"]
        for _ in steps("xyz", 3, "left early"):
            break
    assert seen == [("work", 1, 3), ("work", 2, 3), ("work", 3, 3)]
    list(steps("ab", 2, "quiet"))
    assert len(seen) == 3


def test_reports_end_with_an_exception():
    seen = []
    with pytest.raises(KeyError), reporting(lambda *news: seen.append(news)):
        raise KeyError
    list(steps("ab", 2, "quiet"))
    assert seen == []
