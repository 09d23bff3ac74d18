"""The only loop of the iterative methods: it owns the trace and the stopping rule."""

from collections.abc import Callable, Sequence
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

S = TypeVar("S")
Tick: TypeAlias = Callable[[int], None]
"""Hears how many iterations are done."""


class Run(NamedTuple, Generic[S]):
    """Where an iteration ended and how it got there."""

    state: S
    trace: tuple[float, ...]
    converged: bool


class Interrupted(KeyboardInterrupt):
    """The user stopped an iteration (Ctrl-C); `run` is where it stood."""

    def __init__(self, run: Run[Any]) -> None:
        super().__init__()
        self.run = run


def settled(trace: Sequence[float], tol: float) -> bool:
    """Whether the last step changed the objective by no more than `tol` times its size, or times 1 if it is smaller."""
    return len(trace) > 1 and abs(trace[-1] - trace[-2]) <= tol * max(1.0, abs(trace[-2]))


def untold(iteration: int) -> None:
    """Nobody listens."""


def iterate(
    step: Callable[[S], tuple[S, float]],
    state: S,
    *,
    tol: float,
    max_iter: int,
    tick: Tick = untold,
    enough: Callable[[S], bool] = lambda state: False,
) -> Run[S]:
    """Repeat `step` until the objective settles, the state is `enough`, or `max_iter` is reached.

    `tick` hears of every iteration. Ctrl-C raises `Interrupted` with the last whole state, once there is one.

    >>> iterate(lambda x: (x / 2, x / 2), 1.0, tol=0.01, max_iter=100).converged
    True
    """
    trace: list[float] = []
    try:
        for iteration in range(1, max_iter + 1):
            state, objective = step(state)
            trace.append(objective)
            tick(iteration)
            if settled(trace, tol) or enough(state):
                return Run(state, tuple(trace), True)
    except KeyboardInterrupt as stop:
        if not trace:
            raise
        raise Interrupted(Run(state, tuple(trace), False)) from stop
    return Run(state, tuple(trace), False)
