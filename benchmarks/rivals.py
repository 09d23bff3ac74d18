"""Rivals that live in other environments, run by the interpreters named in PARTITA_RIVALS.

Those in Python go through `adapter.py`, those in R (an interpreter called Rscript) through `adapter.R`.
"""

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
LONGER = {"mixdir": 900.0}
"""Seconds for rivals known to take minutes, so that their figures can be told at all."""
GIGABYTES = 18.0
OFFERS = {
    "ClusterEnsembles": ("cspa", "hgpa", "mcla", "hbgf"),
    "Cluster_Ensembles": ("cspa", "hgpa", "mcla"),
    "py-cluster-ensemble": ("cspa", "hgpa", "mcla", "lwgp"),
    "OpenEnsembles": ("eac",),
    "StepMix": ("mm",),
    "tomotopy": ("bce-gibbs",),
}
"""Which methods of ours each rival in Python has a public function for."""
OFFERS_IN_R = {"salso": ("vi", "binder"), "mixdir": ("nbce-vb",)}
"""The same for rivals in R; salso's are losses."""


def interpreters() -> list[str]:
    """The running Python, then those of PARTITA_RIVALS (paths, separated as in PATH)."""
    return [sys.executable, *filter(None, os.environ.get(VARIABLE, "").split(os.pathsep))]


def rivals_of(method: str, k: int) -> tuple[Contestant, ...]:
    """Every rival that offers the method."""
    return tuple(
        Contestant(rival, lambda data, rival=rival: outside(rival, method, k, data[0]))
        for rival, offered in (OFFERS | OFFERS_IN_R).items()
        if method in offered
    )


def outside(rival: str, method: str, k: int, labels: np.ndarray) -> Reported:
    """The rival's answer from the first interpreter that has it; ImportError where none has."""
    reasons = []
    with tempfile.TemporaryDirectory() as folder:
        for interpreter in interpreters():
            if _in_r(interpreter) != (rival in OFFERS_IN_R):
                continue
            place = Path(folder) / ("table.csv" if _in_r(interpreter) else "table.npy")
            if _in_r(interpreter):
                np.savetxt(place, labels, "%d", ",")
            else:
                np.save(place, labels)
            report = _run(interpreter, (rival, method, str(k), str(GIGABYTES)), place)
            if "failure" in report:
                return Reported(**report)
            if "absent" not in report:
                return Reported(_answer(place), **report)
            reasons.append(report["absent"])
    reasons = reasons or [f"no Rscript to run {rival}"]
    raise ImportError(f"{reasons[-1]}; name an interpreter that has it in {VARIABLE}", name=rival)


def _in_r(interpreter: str) -> bool:
    return Path(interpreter).stem == "Rscript"


def _answer(table: Path) -> np.ndarray:
    answer = table.with_name(f"answer{table.suffix}")
    return np.loadtxt(answer, dtype=np.int64) if table.suffix == ".csv" else np.load(answer)


def _run(interpreter: str, words: tuple[str, ...], table: Path) -> dict[str, Any]:
    answer, report = table.with_name(f"answer{table.suffix}"), table.with_name("report.json")
    adapter = Path(__file__).with_name("adapter.R" if _in_r(interpreter) else "adapter.py")
    command = [interpreter, str(adapter), *words, str(table), str(answer), str(report)]
    limit = LONGER.get(words[0], SECONDS)
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
        errors = child.communicate(timeout=limit)[1]
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        child.communicate()
        return {"failure": f"did not finish in {limit:.0f} s"}
    if not report.exists():
        said = errors.strip().splitlines()
        return {"failure": f"died with exit code {child.returncode}: {said[-1] if said else 'silent'}"}
    found: dict[str, Any] = json.loads(report.read_text())
    return found
