"""Chunks of rows over threads, with results that do not depend on how many threads there are.

Kernels release the interpreter lock and work on a range of rows. The ranges depend on the number of rows alone and
their results come back in order, so a sum over them is the same to the last bit for one thread and for many.
"""

import operator
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from typing import TypeVar

from partita.core.errors import ParameterError
from partita.core.progress import steps

S = TypeVar("S")
T = TypeVar("T")

CHUNK, MOST_CHUNKS = 1 << 16, 64
_limit: ContextVar[int | None] = ContextVar("partita_threads", default=None)
_pools: dict[int, ThreadPoolExecutor] = {}
_starting = Lock()


def available() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def current() -> int:
    """How many threads the code running here may use."""
    return _limit.get() or available()


@contextmanager
def thread_limit(threads: int | None) -> Iterator[None]:
    """Within it, kernels use at most this many threads; None means every processor."""
    whole = threads is None or (hasattr(threads, "__index__") and not isinstance(threads, bool) and threads >= 1)
    if not whole:
        raise ParameterError(f"threads={threads!r} is not a whole number >= 1; leave it out to use every processor")
    token = _limit.set(None if threads is None else operator.index(threads))
    try:
        yield
    finally:
        _limit.reset(token)


def _pool(workers: int) -> ThreadPoolExecutor:
    """So many threads, kept for the next call: starting them costs more than a small table."""
    with _starting:
        if workers not in _pools:
            _pools[workers] = ThreadPoolExecutor(workers, "partita")
        return _pools[workers]


def _forget_pools() -> None:
    """A forked child has none of its parent's threads, and a lock of its own."""
    global _starting
    _starting = Lock()
    _pools.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pools)


def alone(function: Callable[[S], T], item: S) -> T:
    """Run one item in a worker, which must not start workers of its own."""
    with thread_limit(1):
        return function(item)


def map_threads(function: Callable[[S], T], items: Iterable[S], what: str = "") -> list[T]:
    """`[function(item) for item in items]`, in that order, on the threads allowed here.

    Progress is reported under the name `what`, if it has one.
    """
    work: Sequence[S] = list(items)
    workers = min(current(), len(work))
    if workers <= 1:
        return list(steps((function(item) for item in work), len(work), what))
    found: list[Future[T]] = []
    try:
        found.extend(_pool(workers).submit(alone, function, item) for item in work)
        return list(steps((future.result() for future in found), len(work), what))
    except BaseException:
        for future in found:
            future.cancel()
        wait(found)  # what has begun may still write to the caller's arrays
        raise


def map_chunks(function: Callable[[int, int], T], rows: int, chunk: int | None = None) -> list[T]:
    """`function(start, stop)` over at most 64 consecutive chunks of `rows` rows, results in row order.

    `chunk` is the least number of rows worth a call.

    >>> map_chunks(lambda start, stop: stop - start, 150_000)
    [65536, 65536, 18928]
    """
    size = max(CHUNK if chunk is None else chunk, -(-rows // MOST_CHUNKS))
    starts = range(0, rows, size)
    return map_threads(lambda start: function(start, min(start + size, rows)), starts)
