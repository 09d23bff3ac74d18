"""Blocks on the workers of a Dask cluster; parts never leave them, and a worker that dies changes no result."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any, Final, Self, TypeVar

from partita.engine import at_worker
from partita.engine.cluster import Cluster
from partita.engine.dask_parts import DaskParts

T = TypeVar("T")
R = TypeVar("R")
P = TypeVar("P")
AHEAD: Final = 2
"""Results ahead of who takes them, times the number of threads of all workers."""


class DaskEngine:
    """A connection to a cluster."""

    name = "dask"

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.held: list[DaskParts[Any]] = []

    @property
    def workers(self) -> int:
        """How many items are worked on side by side: workers may come and go."""
        return max(1, sum(self.cluster.alive().values()))

    def map(self, function: Callable[[T], R], items: Sequence[T]) -> Iterator[R]:
        """The results in order, some ahead; Dask does a dead worker's items again."""
        cluster, ahead = self.cluster, AHEAD * self.workers
        shared = cluster.common(function)
        flight: deque[Any] = deque()
        try:
            for block in enumerate(items):
                flight.append(
                    cluster.submit("map", at_worker.call, shared, cluster.packed(block), session=cluster.session)
                )
                if len(flight) == ahead:
                    yield self._first(flight)
                    flight.popleft()
            while flight:
                yield self._first(flight)
                flight.popleft()
        finally:
            if flight:
                cluster.cancel(flight)

    def _first(self, flight: deque[Any]) -> Any:
        while not self.cluster.settled([flight[0]]):
            self.cluster.alive()
        return self.cluster.value(flight[0])

    def hold(self, load: Callable[[T], P], items: Sequence[T]) -> DaskParts[P]:
        """All parts, spread over the workers."""
        parts: DaskParts[P] = DaskParts(self.cluster, load, items)
        self.held.append(parts)
        return parts

    def close(self) -> None:
        """Forget all parts and leave; a cluster that was started here ends."""
        for parts in self.held:
            parts.release()
        with suppress(TimeoutError):
            self.cluster.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open_dask(scheduler: str | None, workers: int) -> DaskEngine:
    """The engine of a scheduler that runs, or of so many processes that are started."""
    return DaskEngine(Cluster(scheduler, workers))
