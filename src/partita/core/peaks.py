"""How much memory a piece of work takes at its peak, in a process that has done other work before."""

import ctypes
import gc
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

STATUS, RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")
FORGET_PEAK: Final = "5"


@dataclass(frozen=True, slots=True)
class Peak:
    """The state before a piece of work; `rise` after it tells what it took."""

    before: int | None
    """Bytes in memory, or the most there ever were where the peak cannot be forgotten; None where nothing is told."""
    own: bool
    """Whether the peak is that of the work alone."""

    @classmethod
    def begin(cls) -> "Peak":
        """Give back what is free, and forget the peak so far where the system can (Linux)."""
        gc.collect()
        _trim()
        try:
            RESET.write_text(FORGET_PEAK)
            return cls(_status("VmRSS"), own=True)
        except (OSError, LookupError, ValueError):
            return cls(_most_ever(), own=False)

    def rise(self) -> int | None:
        """Bytes above the state before; None where the system does not tell, or an earlier peak hides this one."""
        if self.before is None:
            return None
        if self.own:
            return max(_status("VmHWM") - self.before, 0)
        most = _most_ever()
        return most - self.before if most is not None and most > self.before else None


def _status(name: str) -> int:
    """A line of Linux's account of this process, in bytes."""
    found = dict(line.split(":", 1) for line in STATUS.read_text().splitlines() if ":" in line)
    return int(found[name].split()[0]) * 1024


def _most_ever() -> int | None:
    """The most memory that this process ever held, in bytes."""
    if sys.platform == "win32":
        return None
    import resource

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def _trim() -> None:
    """Have glibc give freed memory back: it would be taken again without a rise."""
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)
