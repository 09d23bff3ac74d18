"""Rivals that live in other environments, run by the interpreters named in PARTITA_RIVALS.

Those in Python go through `adapter.py`, those in R (an interpreter called Rscript) through `adapter.R`. Our own
methods, and what one would write with SciPy and scikit-learn, go through `worker.py` in the running Python, so that all
are measured by the same lines.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
from pyarrow import csv

from benchmarks.harness import Contestant, Reported
from benchmarks.worker import OWN

VARIABLE = "PARTITA_RIVALS"
SECONDS = 180.0
LONGER = {"mixdir": 900.0}
"""Seconds for rivals known to take minutes, so that their figures can be told at all."""
GIGABYTES = 18.0
PATIENCE = 10.0
"""Seconds within which a quick rival is called again, so that its best time counts, as ours does."""
OFFERS = {
    "ClusterEnsembles": ("cspa", "hgpa", "mcla", "hbgf", "supra"),
    "Cluster_Ensembles": ("cspa", "hgpa", "mcla", "supra"),
    "py-cluster-ensemble": ("cspa", "hgpa", "mcla", "lwgp", "qmi"),
    "OpenEnsembles": ("eac", "mm"),
    "StepMix": ("mm",),
    "tomotopy": ("bce-gibbs",),
    "pyckmeans": ("eac",),
}
"""Which methods of ours each rival in Python has a public function for."""
OFFERS_IN_R = {
    "salso": ("vi", "binder"),
    "mixdir": ("nbce-vb",),
    "clue DWH": ("voting",),
    "clue SE": ("voting",),
    "ConsensusClusterPlus": ("eac",),
}
"""The same for rivals in R; salso's are losses, clue's the name of its method."""


@dataclass(frozen=True)
class Bounds:
    """What a contestant may take: seconds of the clock in all, GB of address space, seconds to be called again."""

    seconds: float = SECONDS
    gigabytes: float = GIGABYTES
    patience: float = PATIENCE


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


def outside(rival: str, method: str, k: int, labels: np.ndarray, bounds: Bounds | None = None) -> Reported:
    """The rival's answer from the first interpreter that has it; ImportError where none has."""
    reasons = []
    bounds = bounds or Bounds(LONGER.get(rival, SECONDS))
    with tempfile.TemporaryDirectory() as folder:
        for interpreter in _hosts(rival):
            table = _written(labels, Path(folder) / "table", interpreter)
            report = _run(interpreter, (rival, method, str(k)), table, bounds)
            if "failure" in report:
                return Reported(**report)
            if "absent" not in report:
                return Reported(_answer(table.with_name(f"answer{table.suffix}")), **report)
            reasons.append(report["absent"])
    raise ImportError(_absent(rival, reasons), name=rival)


def answers(
    rival: str, method: str, tables: Sequence[tuple[np.ndarray, int]], limit: float, total: float
) -> Iterator[Reported]:
    """The rival's answers to tables with their k, in order, from the first interpreter that has it.

    A table that takes more than `limit` seconds fails, and the rest is asked of a new process; what is not answered
    when `total` seconds are over is left out.
    """
    reasons = []
    for interpreter in _hosts(rival):
        with tempfile.TemporaryDirectory() as folder:
            paths = [
                _written(labels, Path(folder) / f"{number:04d}_{k}", interpreter)
                for number, (labels, k) in enumerate(tables)
            ]
            found = list(_answered(interpreter, (rival, method), paths, limit, total))
        if not found or found[0].failure != "absent":
            yield from found
            return
        reasons.append(str(found[0].value))
    raise ImportError(_absent(rival, reasons), name=rival)


def _hosts(rival: str) -> list[str]:
    """The interpreters that may have it."""
    if rival in OWN:
        return [sys.executable]
    return [each for each in interpreters() if _in_r(each) == (rival in OFFERS_IN_R)]


def _absent(rival: str, reasons: list[str]) -> str:
    return f"{(reasons or [f'no Rscript to run {rival}'])[-1]}; name an interpreter that has it in {VARIABLE}"


def _in_r(interpreter: str) -> bool:
    return Path(interpreter).stem == "Rscript"


def _written(labels: np.ndarray, place: Path, interpreter: str) -> Path:
    """The table in a file that the interpreter reads."""
    if not _in_r(interpreter):
        np.save(place.with_suffix(".npy"), labels)
        return place.with_suffix(".npy")
    columns = [pyarrow.array(np.ascontiguousarray(column)) for column in labels.T]
    table = pyarrow.table(columns, [str(j) for j in range(len(columns))])
    csv.write_csv(table, place.with_suffix(".csv"), csv.WriteOptions(include_header=False))
    return place.with_suffix(".csv")


def _answer(answer: Path) -> np.ndarray:
    in_r = answer.suffix == ".csv" or answer.with_suffix(".csv").exists()
    return np.loadtxt(answer, dtype=np.int64, ndmin=1) if in_r else np.load(answer)


def _started(interpreter: str, words: tuple[str, ...], folder: Path) -> subprocess.Popen[str]:
    name = "adapter.R" if _in_r(interpreter) else "worker.py" if words[0] in OWN else "adapter.py"
    dropped = () if words[0] in OWN else ("PYTHONPATH",)
    environment = {name: value for name, value in os.environ.items() if name not in dropped} | {"MPLBACKEND": "Agg"}
    command = [interpreter, str(Path(__file__).with_name(name)), *words]
    if _in_r(interpreter) and shutil.which(interpreter):  # R cannot bound itself, as the adapter in Python does
        kilobytes = int(float(words[-5 if len(words) > 4 else -2]) * 2**20)
        command = ["sh", "-c", f'ulimit -v {kilobytes}; exec "$0" "$@"', *command]
    with (folder / "errors.txt").open("w") as errors:
        return subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            text=True,
            start_new_session=True,
        )


def _stopped(child: subprocess.Popen[str]) -> None:
    """End the child, if it has not ended, and all that it has started."""
    if child.poll() is None:
        os.killpg(child.pid, signal.SIGKILL)
    child.communicate()


def _last_words(child: subprocess.Popen[str], folder: Path) -> str:
    said = (folder / "errors.txt").read_text(errors="replace").strip().splitlines()
    return f"died with exit code {child.returncode}: {said[-1] if said else 'silent'}"


def _run(interpreter: str, words: tuple[str, ...], table: Path, bounds: Bounds) -> dict[str, Any]:
    """The report of a measured call."""
    answer, report = table.with_name(f"answer{table.suffix}"), table.with_name("report.json")
    limits = (str(bounds.gigabytes), str(bounds.patience))
    report.unlink(missing_ok=True)  # that of an interpreter that has not got it
    try:
        child = _started(interpreter, (*words, *limits, str(table), str(answer), str(report)), table.parent)
    except OSError as error:
        return {"absent": f"{interpreter}: {error.strerror}"}
    try:
        child.communicate(timeout=bounds.seconds)
    except subprocess.TimeoutExpired:
        _stopped(child)
        return {"failure": f"did not finish in {bounds.seconds:.0f} s"}
    if not report.exists():
        return {"failure": _last_words(child, table.parent)}
    found: dict[str, Any] = json.loads(report.read_text())
    return found


def _answered(
    interpreter: str, words: tuple[str, ...], paths: list[Path], limit: float, total: float
) -> Iterator[Reported]:
    """Answers to files, each told when it comes; the first one only, with failure "absent", where there is no rival."""
    over, child = time.monotonic() + total, None
    try:
        for path in paths:
            report, late = path.with_suffix(".json"), time.monotonic() + limit
            while not report.exists():
                if child is None:
                    child = _started(interpreter, (*words, str(GIGABYTES), str(path.parent)), path.parent)
                if time.monotonic() > over:
                    return
                if why := _hindered(child, report, limit if time.monotonic() > late else None):
                    _stopped(child)
                    child = None
                    report.write_text(json.dumps({"failure": why}))
                time.sleep(0.01)
            told = json.loads(report.read_text())
            if "absent" in told:
                yield Reported(told["absent"], failure="absent")
                return
            yield Reported(None if "failure" in told else _answer(path.with_suffix(".answer")), **told)
    except OSError as error:
        yield Reported(f"{interpreter}: {error.strerror}", failure="absent")
    finally:
        if child is not None:
            _stopped(child)


def _hindered(child: subprocess.Popen[str], report: Path, limit: float | None) -> str:
    """Why no answer will come; a report that came in the meantime is one."""
    if child.poll() is not None:
        return "" if report.exists() else _last_words(child, report.parent)
    return "" if limit is None else f"did not finish in {limit:.0f} s"
