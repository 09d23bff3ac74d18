"""Work over processes: results as they come, whatever a worker does; a killed run leaves no worker behind."""

import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import wait as wait_for
from types import ModuleType
from typing import Any, Generic, TypeVar

T = TypeVar("T")
R = TypeVar("R")
_scripts: list[ModuleType] = []
"""The user's script, once for each start under way; starts may overlap, in several threads."""
_hiding = threading.Lock()


@dataclass(frozen=True, slots=True)
class Crew(Generic[T, R]):
    """What is done with each item, here or by workers; for workers, all of it must be pickled.

    A result may be handed over twice where Ctrl-C falls between two steps; whoever takes it counts it once.
    """

    work: Callable[[T], R]
    lost: Callable[[T], R]
    """What an item comes to that killed its worker."""
    begin: Callable[[], None] | None = None
    """Called once in each worker, before its first item."""
    orphaned: Callable[[], None] | None = None
    """Called in each worker where the process that started it is gone, before it ends."""

    def here(self, items: Sequence[T], emit: Callable[[R], None]) -> None:
        """One item after another, in this process; on Ctrl-C the one at work is lost and the interrupt goes on."""
        with _presses() as pressed:
            for item in items:
                result = self.work(item)
                if pressed:
                    raise KeyboardInterrupt
                emit(result)

    def apart(self, items: Sequence[T], workers: int, emit: Callable[[R], None]) -> None:
        """In so many processes, each result handed to `emit` as it comes.

        On Ctrl-C the workers are ended, what they had finished is handed over, and the interrupt goes on. Where a
        worker dies, the items that it may have had are tried again one by one, and the one that kills is `lost`.
        """
        waiting = deque(items)
        while waiting:
            for suspect in self._with_pool(waiting, workers, emit):
                for item in self._with_pool(deque([suspect]), 1, emit):
                    emit(self.lost(item))

    def _with_pool(self, waiting: deque[T], workers: int, emit: Callable[[R], None]) -> list[T]:
        """Work until nothing waits; where a worker dies, end with the items of which one must have killed it."""
        before = set(multiprocessing.active_children())
        context = multiprocessing.get_context("spawn")  # a fork would copy the state of compiled libraries' threads
        number = min(workers, len(waiting))
        pool = ProcessPoolExecutor(number, context, initializer=_begin, initargs=(self.begin, self.orphaned))
        flight: dict[Future[R], T] = {}
        try:
            while waiting or flight:
                while waiting and len(flight) < workers + 1:  # one more than can run, so that no worker waits for us
                    with starting():
                        flight[pool.submit(self.work, waiting[0])] = waiting[0]
                    waiting.popleft()
                for future in wait(flight, return_when=FIRST_COMPLETED).done:
                    emit(future.result())
                    del flight[future]
        except BrokenProcessPool:
            _hand_over(flight, emit)
            return list(flight.values())
        except BaseException:
            try:
                _hand_over(flight, emit)
            finally:  # a second Ctrl-C must not leave workers behind, for which Python would wait at its end
                for worker in set(multiprocessing.active_children()) - before:
                    worker.terminate()
                pool.shutdown(wait=False, cancel_futures=True)
            raise
        pool.shutdown()
        return []


@contextmanager
def starting() -> Iterator[None]:
    """Within it, a worker that is started does not run the user's script, which need not be guarded against it, and is
    deaf to Ctrl-C from its first moment on. What workers are given lives in modules of ours.
    """
    mask = getattr(signal, "pthread_sigmask", None)  # not on Windows
    before = mask(signal.SIG_BLOCK, [signal.SIGINT]) if mask else None
    with _hiding:
        if not _scripts:
            _scripts.append(sys.modules["__main__"])
            sys.modules["__main__"] = ModuleType("__main__")
        else:
            _scripts.append(_scripts[0])
    try:
        yield
    finally:
        with _hiding:
            script = _scripts.pop()
            if not _scripts:
                sys.modules["__main__"] = script
        if mask:
            mask(signal.SIG_SETMASK, before)


def _hand_over(flight: dict[Future[R], T], emit: Callable[[R], None]) -> None:
    """What was finished when the others were stopped is not lost."""
    finished = [each for each in flight if each.done() and not each.cancelled() and each.exception() is None]
    for future in finished:
        emit(future.result())
        del flight[future]


@contextmanager
def _presses() -> Iterator[list[int]]:
    """Within it, Ctrl-C is also noted: a fit that it ends early returns what it has, and that is no finished one."""
    pressed: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield pressed
        return

    def note(number: int, frame: Any) -> None:
        pressed.append(number)
        raise KeyboardInterrupt

    usual = signal.signal(signal.SIGINT, note)
    try:
        yield pressed
    finally:
        signal.signal(signal.SIGINT, usual)


def _begin(begin: Callable[[], None] | None, orphaned: Callable[[], None] | None) -> None:
    """A worker leaves Ctrl-C to the process that started it, and ends when that one is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, args=(orphaned,), daemon=True).start()
    if begin is not None:
        begin()


def _end_with_parent(orphaned: Callable[[], None] | None) -> None:
    parent = multiprocessing.parent_process()
    if parent is None:
        return
    wait_for([parent.sentinel])
    try:
        if orphaned is not None:
            orphaned()
    finally:
        os._exit(1)
