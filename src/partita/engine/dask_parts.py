"""Parts in the memory of Dask workers: where they lie, the steps they have gone, and what to do when a worker dies."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Final, Generic, TypeVar

from partita.core.errors import EngineError
from partita.engine import at_worker
from partita.engine.at_worker import BehindError, Step, Told
from partita.engine.cluster import Cluster
from partita.engine.trees import groups

T = TypeVar("T")
R = TypeVar("R")
P = TypeVar("P")
AHEAD: Final = 2
TRIES: Final = 10
"""How often in a row workers may die before one step is done."""


class LostError(Exception):
    """A worker is gone, and the parts that it had."""


class DaskParts(Generic[P]):
    """Each part is a Dask result, pinned to the worker that has it; where that is gone, Dask loads it again elsewhere.

    Tasks of a step go to the worker of their part. The log keeps the steps that changed a state, and none of those
    that changed nothing, for parts that have to catch up.
    """

    def __init__(self, cluster: Cluster, load: Callable[[T], P], items: Sequence[T]) -> None:
        self.cluster = cluster
        self.number = 0
        self.log: list[Step] = []
        self.homes: list[str] = []
        self.size = len(items)
        self.cells: list[Any] = self._loading(load, items)
        try:
            self._locate()
        except BaseException:
            cluster.cancel(self.cells)
            raise

    def __len__(self) -> int:
        return self.size

    def _loading(self, load: Callable[[T], P], items: Sequence[T]) -> list[Any]:
        """The parts on their way, dealt out evenly; Dask may give one to another worker where the first is gone."""
        cluster = self.cluster
        workers, shared = sorted(cluster.alive()), cluster.common(load)
        packed = [cluster.packed(block) for block in enumerate(items)]
        cells: list[Any] = [None] * len(packed)
        for turn, worker in enumerate(workers):
            mine = range(turn, len(packed), len(workers))
            some = [packed[place] for place in mine]
            where = {"workers": [worker], "allow_other_workers": True}
            found = cluster.submit_all(
                "load", at_worker.load_cell, [shared] * len(some), some, session=cluster.session, **where
            )
            for place, cell in zip(mine, found, strict=True):
                cells[place] = cell
        return cells

    def _locate(self) -> None:
        """Wait until all parts are loaded, and see where."""
        while True:
            while not self.cluster.settled(self.cells):
                self.cluster.alive()
            for cell in self.cells:
                if cell.status == "error":
                    self.cluster.value(cell)
            where = self.cluster.asked(lambda: self.cluster.client.who_has(self.cells))
            if all(where.get(cell.key) for cell in self.cells):
                self.homes = [where[cell.key][0] for cell in self.cells]
                return

    def step(self, function: Callable[[Any, P, Any], tuple[Any, R]], common: Any, add: Callable[[Sequence[R]], R]) -> R:
        """Every part where it lies, and a tree over the shares on the workers; the sum alone comes here."""
        step = Step(self.number + 1, function, common, add)
        told: Told = self._tried(partial(self._step, step))
        self.number = step.number
        if told.changed:
            self.log.append(step)
        share: R = told.share
        return share

    def _tried(self, work: Callable[[], Any]) -> Any:
        """Some work, again where a worker died in the middle of it."""
        for again in range(TRIES):
            try:
                if again:
                    self._recover()
                return work()
            except (LostError, BehindError):
                continue
        raise EngineError(
            f"workers of the Dask scheduler at {self.cluster.address} died {TRIES} times in one step; give them more "
            "memory, or smaller blocks"
        )

    def _step(self, step: Step) -> Any:
        cluster, session = self.cluster, self.cluster.session
        shared = cluster.common(step)
        level: list[Any] = self._at_homes("step", at_worker.advance, shared)
        while len(level) > 1:
            level = cluster.submit_all("add", at_worker.combine, groups(level), step=shared, session=session)
        (root,) = level  # nobody wants the others but the sums that they go into: Dask forgets them one by one
        del level, shared
        try:
            return self._outcome(root)
        except BaseException:
            cluster.cancel([root])
            raise

    def _at_homes(self, what: str, function: Callable[..., Any], *given: Any) -> list[Any]:
        """One task a part, at its worker; in the order of the parts."""
        found: list[Any] = [None] * self.size
        for home in sorted(set(self.homes)):
            mine = [place for place in range(self.size) if self.homes[place] == home]
            same = [[one] * len(mine) for one in given]
            cells = [self.cells[place] for place in mine]
            tasks = self.cluster.submit_all(
                what, function, cells, *same, session=self.cluster.session, workers=[home], allow_other_workers=False
            )
            for place, task in zip(mine, tasks, strict=True):
                found[place] = task
        return found

    def _outcome(self, future: Any) -> Any:
        """What a task comes to; raises where a worker that has parts is gone, since its tasks then wait for ever."""
        while not self.cluster.settled([future]):
            if not self.cluster.alive().keys() >= set(self.homes):
                raise LostError
        return self.cluster.value(future)

    def _recover(self) -> None:
        """Have Dask load again what was lost, and those parts go the steps of the others."""
        self._locate()
        log, number = self.cluster.common(self.log), self.number
        tasks = self._at_homes("catch-up", at_worker.catch_up, log, number)
        try:
            for task in tasks:
                self._outcome(task)
        except BaseException:
            self.cluster.cancel(tasks)
            raise

    def each(self, function: Callable[[P, Any], R]) -> Iterator[R]:
        """At the worker of each part; the results in order, some ahead."""
        shared = self.cluster.common(function)
        flight: deque[Any] = deque()
        try:
            for place in range(self.size):
                yield self._tried(partial(self._first, place, flight, shared))
                flight.popleft()
        finally:
            if flight:
                self.cluster.cancel(flight)

    def _first(self, place: int, flight: deque[Any], shared: Any) -> Any:
        """What the part at that place, the first in flight, comes to."""
        ahead = min(AHEAD * sum(self.cluster.alive().values()), self.size - place)
        flight.extend(self._tell(place + more, shared) for more in range(len(flight), max(ahead, 1)))
        try:
            return self._outcome(flight[0])
        except (LostError, BehindError):
            self.cluster.cancel(flight)
            flight.clear()
            raise

    def _tell(self, place: int, shared: Any) -> Any:
        return self.cluster.submit(
            "tell",
            at_worker.tell,
            self.cells[place],
            shared,
            self.number,
            session=self.cluster.session,
            workers=[self.homes[place]],
            allow_other_workers=False,
        )

    def release(self) -> None:
        """Let Dask forget the parts."""
        self.cells, self.log, self.size = [], [], 0
