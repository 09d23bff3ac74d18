"""Ctrl-C while a finished fit is being laid out: it is not lost for a second's impatience."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_passed = 0


def passed() -> int:
    """How many presses have been let pass so far; whoever would begin more work compares, and stops."""
    return _passed


@contextmanager
def finishing() -> Iterator[None]:
    """Within it, the first Ctrl-C is let pass, since what is left takes a moment; the second one stops it.

    Only where Python's own handler listens: in the main thread, and where nobody has put another in its place.
    """
    usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if not usual or threading.current_thread() is not threading.main_thread():
        yield
        return

    def once(number: int, frame: Any) -> None:
        global _passed
        _passed += 1
        signal.signal(signal.SIGINT, signal.default_int_handler)

    signal.signal(signal.SIGINT, once)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
