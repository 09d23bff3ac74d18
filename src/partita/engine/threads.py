"""Blocks side by side on threads; kernels release the interpreter lock and start no workers of their own here."""

from collections import deque
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Final, TypeVar

from partita.core.threads import alone
from partita.engine.here import EngineHere

T = TypeVar("T")
R = TypeVar("R")
AHEAD: Final = 2
"""Results ahead of who takes them, times the number of workers: enough that no worker waits for its next block."""


class Threads(EngineHere):
    """Threads of its own, ended when it is closed."""

    name = "threads"

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self.pool = ThreadPoolExecutor(workers, "partita-engine")

    def run(self, function: Callable[[T], R], items: Sequence[T]) -> Generator[R, None, None]:
        """The results in order, some ahead."""
        flight: deque[Future[R]] = deque()
        try:
            for item in items:
                flight.append(self.pool.submit(alone, function, item))
                if len(flight) == AHEAD * self.workers:
                    yield flight[0].result()
                    flight.popleft()
            while flight:
                yield flight[0].result()
                flight.popleft()
        finally:
            for future in flight:
                future.cancel()
            wait(flight)  # what has begun may still write to a file or to the caller's arrays

    def close(self) -> None:
        """End the threads."""
        self.pool.shutdown(cancel_futures=True)
