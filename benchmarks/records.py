"""Results of the page's runs: one JSON line a run, so that what was killed goes on where it stopped."""

import json
import math
import os
import platform
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Record = dict[str, Any]
PATHS = re.compile(r"(?<![\w.])/(?:[\w.+@-]+/)+[\w.+@-]*")


@dataclass(frozen=True)
class Log:
    """A file of runs."""

    path: Path

    def __iter__(self) -> Iterator[Record]:
        """The runs so far; a line that a killed run left half written is no run."""
        lines = self.path.read_text().splitlines() if self.path.exists() else []
        for line in lines:
            try:
                yield json.loads(line)
            except json.JSONDecodeError:
                continue

    def add(self, record: Record) -> None:
        """Write a run to disk at once, without what a reader elsewhere has no use for."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        broken = self.path.exists() and not self.path.read_bytes().endswith(b"\n") and self.path.stat().st_size
        with self.path.open("a") as file:
            file.write(("\n" if broken else "") + json.dumps(tidy(record), ensure_ascii=False) + "\n")


def tidy(value: Any) -> Any:
    """Four significant digits, no numbers that are none, no paths of this machine."""
    if isinstance(value, dict):
        return {key: tidy(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [tidy(each) for each in value]
    if isinstance(value, float):
        return float(f"{value:.4g}") if math.isfinite(value) else None
    return PATHS.sub("…", value) if isinstance(value, str) else value


def load() -> float:
    """How many processes wanted a processor in the last minute."""
    return round(os.getloadavg()[0], 1)


def machine() -> dict[str, str]:
    """What the figures were measured on."""
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    pages = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "processor": names[0] if names else platform.processor() or platform.machine(),
        "cores": str(os.cpu_count()),
        "memory": f"{pages / 2**30:.0f} GiB",
        "system": f"{platform.system()} {platform.release().split('-')[0]}",
    }
