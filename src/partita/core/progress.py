"""How long work tells how far it is. The library reports; only the command line draws."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeAlias, TypeVar

T = TypeVar("T")
Report: TypeAlias = Callable[[str, int, int], None]
"""Called with what is being done, how many steps are done, and how many there are."""

_report: ContextVar[Report | None] = ContextVar("partita_progress", default=None)


@contextmanager
def reporting(report: Report) -> Iterator[None]:
    """Within it, long work calls `report`."""
    token = _report.set(report)
    try:
        yield
    finally:
        _report.reset(token)


def steps(items: Iterable[T], total: int, what: str) -> Iterator[T]:
    """The items, with a report after each."""
    report = _report.get()
    for done, item in enumerate(items, 1):
        yield item
        if report is not None:
            report(what, done, total)
