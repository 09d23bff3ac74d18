"""What runs on the workers of a Dask cluster.

A part lies in a `Cell`, which is an ordinary Dask result: Dask keeps it where it was made, and makes it again from its
block where that worker died. The state in it moves on in place, with the number of its last step; a cell that was made
again is behind, says so, and catches up from the log of earlier steps. So Dask keeps one task a part, however many
steps are taken.
"""

import asyncio
import pickle
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import Any, Final, NamedTuple

from partita.core.errors import EngineError
from partita.core.threads import alone
from partita.engine.blocks import naming, on_block, on_part
from partita.engine.trees import added
from partita.version import __version__

REST: Final = 0.01
"""Seconds between two looks at whether a worker still works."""
_busy: Counter[str] = Counter()
_lock = Lock()


class BehindError(Exception):
    """A part was loaded again and has not gone the steps of the others."""


class Standing(NamedTuple):
    """Where a part stands."""

    step: int
    state: Any
    told: "Told | None"
    """What the last step gave if it changed the state, from which it cannot be computed again."""


class Step(NamedTuple):
    """One step of all parts."""

    number: int
    function: Callable[[Any, Any, Any], tuple[Any, Any]]
    common: Any
    add: Callable[[Sequence[Any]], Any]


class Told(NamedTuple):
    """A share, and whether it left a state changed."""

    changed: bool
    share: Any


class Cell:
    """A part, its place among the others, and where it stands."""

    def __init__(self, place: int, part: Any) -> None:
        self.place = place
        self.part = part
        self.now = Standing(0, None, None)

    def move(self, before: Standing, after: Standing) -> None:
        """Stand elsewhere, unless another try of the same step came first."""
        with _lock:
            if self.now is before:
                self.now = after


@contextmanager
def visiting(session: str) -> Iterator[None]:
    """Within it, work for a session is done, which is of the same version as this worker."""
    version = session.partition("/")[0]
    if version != __version__:
        raise EngineError(f"the client has partita {version}, a worker {__version__}; install the same everywhere")
    with _lock:
        _busy[session] += 1
    try:
        yield
    finally:
        with _lock:
            _busy[session] -= 1


async def quiet(session: str) -> None:
    """Comes back once no work for a session is done here."""
    while _busy[session]:
        await asyncio.sleep(REST)
    del _busy[session]


def version_here() -> str:
    """The version of this worker."""
    return __version__


def unpack(packed: bytes) -> Any:
    """What all tasks of a step are given; packed, so that neither Dask nor its scheduler looks into it."""
    return pickle.loads(packed)


def call(function: Callable[[Any], Any], packed: bytes, session: str) -> Any:
    """A function of an item that comes with its place."""
    with visiting(session):
        return on_block(lambda item: alone(function, item), pickle.loads(packed))


def load_cell(load: Callable[[Any], Any], packed: bytes, session: str) -> Cell:
    """A part from its item."""
    place, item = pickle.loads(packed)
    with visiting(session):
        return Cell(place, on_block(lambda item: alone(load, item), (place, item)))


def advance(cell: Cell, step: Step, session: str) -> Told:
    """The next step of a part; the same step again gives the same share."""
    with visiting(session):
        before = cell.now
        if before.step == step.number and before.told is not None:
            return before.told
        if before.step not in (step.number, step.number - 1):
            raise BehindError(f"part {cell.place} stands at step {before.step} and was asked for {step.number}")
        state, share = _done(cell, step, before.state)
        told = Told(state is not before.state, share)
        cell.move(before, Standing(step.number, state, told if told.changed else None))
        return told


def catch_up(cell: Cell, log: Sequence[Step], number: int, session: str) -> None:
    """Go the steps that changed a state, as the other parts did; `number` is the last step that was finished."""
    with visiting(session):
        before = cell.now
        if before.step >= number:
            return
        state = before.state
        for step in log:
            if step.number > before.step:
                state, _ = _done(cell, step, state)
        cell.move(before, Standing(number, state, None))


def _done(cell: Cell, step: Step, state: Any) -> tuple[Any, Any]:
    given = (cell.place, cell.part, state)
    done: tuple[Any, Any] = alone(lambda given: on_part(step.function, step.common, given), given)
    return done


def combine(shares: Sequence[Told], step: Step, session: str) -> Told:
    """The sum of some neighbours."""
    with visiting(session):
        changed = any(told.changed for told in shares)
        return Told(changed, added(lambda group: alone(step.add, group), [told.share for told in shares]))


def tell(cell: Cell, function: Callable[[Any, Any], Any], number: int, session: str) -> Any:
    """A function of a part and its state after the step of that number."""
    with visiting(session), naming(cell.place):
        if cell.now.step != number:
            raise BehindError(f"part {cell.place} stands at step {cell.now.step}, the others at {number}")
        return alone(lambda cell: function(cell.part, cell.now.state), cell)
