"""From the runs to one small file that is kept: docs/benchmarks.json."""

import importlib.metadata
import json
import platform
import subprocess
from pathlib import Path
from typing import Any

from benchmarks.records import Log, Record, machine

KEYS = {"grid": ("method", "program", "n"), "pools": ("method", "program")}
STANDS_ON = ("numpy", "scipy", "scikit-learn", "numba", "pymetis", "kahip", "mtkahypar")


def gathered(logs: list[Log]) -> dict[str, Any]:
    """All runs of all files; of two of the same the later counts."""
    found: dict[str, dict[tuple[Any, ...], Record]] = {part: {} for part in KEYS}
    commands, versions = [], {}
    for log in logs:
        for record in log:
            part = record.pop("part")
            if part == "command":
                commands.append(record)
                continue
            if ran := record.pop("versions", None):
                versions[record["program"]] = ran
            found[part][tuple(record[key] for key in KEYS[part])] = record
    return {
        "machine": machine(),
        "ours": {"python": platform.python_version()} | {name: importlib.metadata.version(name) for name in STANDS_ON},
        "commands": commands,
        "versions": versions,
        **{part: list(records.values()) for part, records in found.items()},
    }


def commit() -> str:
    """The state of the working tree; empty where git does not know it."""
    root = Path(__file__).parents[1]
    told = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=root, capture_output=True, text=True)
    return told.stdout.strip()


def as_text(results: dict[str, Any]) -> str:
    """JSON with one run a line, so that a difference shows what changed."""
    parts = []
    for key, value in results.items():
        if isinstance(value, list):
            rows = ",\n".join("    " + json.dumps(each, ensure_ascii=False) for each in value)
            parts.append(f'  "{key}": [\n{rows}\n  ]')
        else:
            parts.append(f'  "{key}": {json.dumps(value, ensure_ascii=False)}')
    return "{\n" + ",\n".join(parts) + "\n}\n"
