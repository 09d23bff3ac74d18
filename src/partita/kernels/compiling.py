"""The one door to the compiler: the option set shared by every kernel, and the news that a compilation runs."""

import logging
from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar, cast

import numpy as np
from numba import njit
from numba.core import event

Array: TypeAlias = np.ndarray[Any, Any]
F = TypeVar("F", bound=Callable[..., Any])
log = logging.getLogger("partita.kernels")


def kernel(function: F) -> F:
    """Compile `function` on first use and keep the machine code on disk.

    One option set for all: numba's disk cache does not key on options, so two option sets for one function would run
    whichever was compiled first.
    """
    return cast(F, njit(nogil=True, cache=True, error_model="numpy")(function))


class _Announce(event.Listener):
    """Says once per process that kernels are being compiled; a kernel loaded from disk says nothing."""

    told = False
    count = 0

    def on_start(self, event: Any) -> None:
        self.count += 1
        if not self.told:
            self.told = True
            log.info("compiling kernels (once per machine; later runs load them from disk)")

    def on_end(self, event: Any) -> None:
        pass


_announce = _Announce()
event.register("numba:compile", _announce)


def compilations() -> int:
    """How many compilations this process has begun; whoever measures time compares."""
    return _announce.count
