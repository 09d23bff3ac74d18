"""The only loop of the iterative methods: it owns the trace and the stopping rule."""

from collections.abc import Callable, Sequence
from typing import Generic, NamedTuple, TypeVar

S = TypeVar("S")


class Run(NamedTuple, Generic[S]):
    """Where an iteration ended and how it got there."""

    state: S
    trace: tuple[float, ...]
    converged: bool


def settled(trace: Sequence[float], tol: float) -> bool:
    """Whether the last step changed the objective by no more than `tol` times its size."""
    return len(trace) > 1 and abs(trace[-1] - trace[-2]) <= tol * max(1.0, abs(trace[-2]))


def iterate(step: Callable[[S], tuple[S, float]], state: S, *, tol: float, max_iter: int) -> Run[S]:
    """Repeat `step` until the objective settles or `max_iter` is reached.

    >>> iterate(lambda x: (x / 2, x / 2), 1.0, tol=0.01, max_iter=100).converged
    True
    """
    trace: list[float] = []
    for _ in range(max_iter):
        state, objective = step(state)
        trace.append(objective)
        if settled(trace, tol):
            return Run(state, tuple(trace), True)
    return Run(state, tuple(trace), False)
