"""Starting a Flower run and hearing how it ended: `flwr run` itself ends well also when the coordinator did not."""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from partita.core.errors import FederatedError, FileError, MissingExtraError, PartitaError
from partita.io.writing import replacing
from partita.version import __version__

ENVIRONMENT: Final[Mapping[str, str]] = {
    "FLWR_TELEMETRY_ENABLED": "0",
    "FLWR_DISABLE_UPDATE_CHECK": "1",
    "FLWR_DISABLE_RUNTIME_DEPENDENCY_INSTALLATION": "1",
}
"""What every process of Flower should find in its environment: nothing is reported home, nothing installed."""
PAUSE: Final = 3.0
"""Seconds between two looks at a run."""
FAILED: Final = "ServerApp failed with exception: "
APP: Final = """\
[project]
name = "partita-federated"
version = "{version}"
description = "Clustering together without showing labels"
license = "MIT"
dependencies = []

[tool.flwr.app]
publisher = "partita"

[tool.flwr.app.components]
serverapp = "partita.federated.flower_app:server"
clientapp = "partita.federated.flower_app:client"

[tool.flwr.app.config]
coordinator = {coordinator}
"""


def quiet_environment() -> dict[str, str]:
    """What is in our environment, with Flower's telemetry, update checks and installations off."""
    return {**os.environ, **ENVIRONMENT}


def write_app(folder: Path, coordinator: Path) -> Path:
    """A folder that `flwr run` takes: one file, which names partita's own modules and the coordinator's file; no code.

    The coordinator runs where the SuperLink does, and reads its file there.
    """
    numbers = re.match(r"[0-9]+(\.[0-9]+)*", __version__)
    place = json.dumps(str(coordinator.resolve())).replace("\x7f", "\\u007f")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with replacing(folder / "pyproject.toml") as file:
            file.write(APP.format(version=numbers.group() if numbers else "0", coordinator=place).encode())
    except OSError as error:
        raise FileError(f"{folder}: cannot be written ({error.strerror}); give another folder") from None
    return folder


def run_flower(app: Path, superlink: str, wait: float | None = None) -> str:
    """Run the app on a SuperLink of Flower's configuration file and wait for its end; the number of Flower's run.

    A coordinator that failed raises FederatedError with its line, also where `flwr run` saw nothing wrong.
    """
    started = _flwr("run", str(app), superlink, "--stream", "--format", "json", wait=wait)
    run = started.get("run-id")
    if not run:
        raise FederatedError(f"SuperLink {superlink!r} did not start the run ({_reason(started)})")
    end = None if wait is None else time.monotonic() + wait
    while True:
        listed = _flwr("list", superlink, "--run-id", str(run), "--format", "json", wait=60)
        found = listed.get("runs") or [{}]
        state, details = str(found[0].get("status", "")), str(found[0].get("status-details", ""))
        if state.startswith("finished"):
            break
        if end is not None and time.monotonic() > end:
            raise FederatedError(f"run {run} on SuperLink {superlink!r} is not over after {wait:.0f} s")
        time.sleep(PAUSE)
    if state != "finished:completed":
        raise FederatedError(details.removeprefix(FAILED) or f"run {run} on SuperLink {superlink!r}: {state}")
    return str(run)


def _flwr(*words: str, wait: float | None) -> dict[str, Any]:
    """What a command of Flower's says in JSON."""
    place = shutil.which("flwr", path=sysconfig.get_path("scripts")) or shutil.which("flwr")
    if place is None:
        raise MissingExtraError('Flower is not installed; pip install "partita[flower]"')
    try:
        done = subprocess.run(
            [place, *words], env=quiet_environment(), stdin=subprocess.DEVNULL, capture_output=True, timeout=wait
        )
    except subprocess.TimeoutExpired:
        raise FederatedError(f"flwr {words[0]} did not end within {wait:.0f} s; is the SuperLink there?") from None
    text = done.stdout.decode(errors="replace")
    try:
        found = json.loads(text[text.index("{") :])
    except ValueError:
        told = " ".join((text + done.stderr.decode(errors="replace")).split())
        raise FederatedError(f"flwr {words[0]} ended with {done.returncode}: {told[-300:] or 'nothing said'}") from None
    if done.returncode or not isinstance(found, dict) or not found.get("success"):
        raise FederatedError(f"flwr {words[0]} ended with {done.returncode}: {_reason(found)}")
    return found


def _reason(found: Any) -> str:
    said = found.get("error-message") if isinstance(found, dict) else None
    return " ".join(str(said or found).split())[:300]


def main() -> None:
    """`python -m partita.federated.flower_run coordinator.toml SUPERLINK`: run, and say in one line what went wrong."""
    if len(sys.argv) != 3:
        sys.exit("usage: python -m partita.federated.flower_run coordinator.toml SUPERLINK")
    try:
        with tempfile.TemporaryDirectory() as folder:
            run_flower(write_app(Path(folder), Path(sys.argv[1])), sys.argv[2])
    except PartitaError as error:
        sys.exit(f"partita: {error}")


if __name__ == "__main__":
    main()
