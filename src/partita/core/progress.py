"""How long work tells how far it is. The library reports; only the command line draws."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeAlias, TypeVar

T = TypeVar("T")
Report: TypeAlias = Callable[[str, float, float], None]
"""Called with what is being done, how many steps are done, and how many there are."""

_report: ContextVar[Report | None] = ContextVar("partita_progress", default=None)


@contextmanager
def reporting(listener: Report) -> Iterator[None]:
    """Within it, long work calls `listener`."""
    token = _report.set(listener)
    try:
        yield
    finally:
        _report.reset(token)


def report(what: str, done: float, total: float) -> None:
    """Tell whoever listens how far the work called `what` is; work without a name is not told."""
    listener = _report.get()
    if listener is not None and what:
        listener(what, done, total)


def steps(items: Iterable[T], total: int, what: str) -> Iterator[T]:
    """The items, with a report after each."""
    for done, item in enumerate(items, 1):
        yield item
        report(what, done, total)
