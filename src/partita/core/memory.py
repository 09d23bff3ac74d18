"""How much memory a process may still take, for work that states its need before it begins."""

import os
from pathlib import Path

from partita.core.errors import MethodError

GIGABYTE = 10**9
MEMINFO, CGROUP = Path("/proc/meminfo"), Path("/sys/fs/cgroup")


def available_memory() -> int | None:
    """Bytes that can be taken without pushing others out; None where the system does not tell."""
    known = [amount for amount in (_by_kernel(), _by_group()) if amount is not None]
    return min(known) if known else _physical()


def check_memory(needed: int, what: str, way: str) -> None:
    """Refuse, before memory is taken that is not there; `what` needs it, `way` is the way out."""
    there = available_memory()
    if there is not None and needed > there:
        raise MethodError(
            f"{what} may need {needed / GIGABYTE:.3g} GB, and {there / GIGABYTE:.3g} GB are available; {way}"
        )


def _by_kernel() -> int | None:
    """What Linux says is available."""
    try:
        lines = MEMINFO.read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration, ValueError, IndexError):
        return None


def _by_group() -> int | None:
    """What the container's limit leaves, if it has one; cached files give way."""
    try:
        limit = int((CGROUP / "memory.max").read_text())
        used = dict(line.split() for line in (CGROUP / "memory.stat").read_text().splitlines())
        return max(limit - int(used["anon"]), 0)
    except (OSError, ValueError, KeyError):
        return None


def _physical() -> int | None:
    """All there is, where nothing better is known."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None
