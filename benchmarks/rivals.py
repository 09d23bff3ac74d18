"""Rivals that live in other environments, run through `adapter.py` by the interpreters named in PARTITA_RIVALS."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import Contestant, Reported

VARIABLE = "PARTITA_RIVALS"
SECONDS = 180.0
GIGABYTES = 18.0
OFFERS = {
    "ClusterEnsembles": ("cspa", "hgpa", "mcla", "hbgf"),
    "Cluster_Ensembles": ("cspa", "hgpa", "mcla"),
    "py-cluster-ensemble": ("cspa", "hgpa", "mcla", "lwgp"),
    "OpenEnsembles": ("eac",),
    "StepMix": ("mm",),
    "tomotopy": ("bce-gibbs",),
}
"""Which methods of ours each rival has a public function for."""


def interpreters() -> list[str]:
    """The running Python, then those of PARTITA_RIVALS (paths, separated as in PATH)."""
    return [sys.executable, *filter(None, os.environ.get(VARIABLE, "").split(os.pathsep))]


def rivals_of(method: str, k: int) -> tuple[Contestant, ...]:
    """Every rival that offers the method."""
    return tuple(
        Contestant(rival, lambda data, rival=rival: outside(rival, method, k, data[0]))
        for rival, offered in OFFERS.items()
        if method in offered
    )


def outside(rival: str, method: str, k: int, labels: np.ndarray) -> Reported:
    """The rival's answer from the first interpreter that has it; ImportError where none has."""
    reasons = []
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "table.npy"
        np.save(table, labels)
        for interpreter in interpreters():
            report = _run(interpreter, (rival, method, str(k), str(GIGABYTES)), table)
            if "failure" in report:
                return Reported(**report)
            if "absent" not in report:
                return Reported(np.load(table.with_name("answer.npy")), **report)
            reasons.append(report["absent"])
    raise ImportError(f"{reasons[-1]}; name an interpreter that has it in {VARIABLE}", name=rival)


def _run(interpreter: str, words: tuple[str, ...], table: Path) -> dict[str, Any]:
    answer, report = table.with_name("answer.npy"), table.with_name("report.json")
    command = [interpreter, str(Path(__file__).with_name("adapter.py")), *words, str(table), str(answer), str(report)]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | {"MPLBACKEND": "Agg"}
    try:
        child = subprocess.Popen(
            command,
            cwd=table.parent,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
    except OSError as error:
        return {"absent": f"{interpreter}: {error.strerror}"}
    try:
        errors = child.communicate(timeout=SECONDS)[1]
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        child.communicate()
        return {"failure": f"did not finish in {SECONDS:.0f} s"}
    if not report.exists():
        said = errors.strip().splitlines()
        return {"failure": f"died with exit code {child.returncode}: {said[-1] if said else 'silent'}"}
    found: dict[str, Any] = json.loads(report.read_text())
    return found
