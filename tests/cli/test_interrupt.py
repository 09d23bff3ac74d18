"""Ctrl-C in a long fit: the best state so far is written, marked as not converged, and the exit code says 130."""

import json
import signal
import subprocess
import sys
import time

import numpy as np


def test_ctrl_c_writes_the_best_state_so_far(tmp_path):
    labels = np.random.default_rng(0).integers(6, size=(40_000, 12))
    np.save(tmp_path / "labels.npy", labels)
    words = ["run", "labels.npy", "-m", "mm", "-k", "8", "--set", "init=random", "--set", "tol=0"]
    words += ["--set", "max_iter=1000000", "-o", "out.json"]
    partita = [sys.executable, "-m", "partita"]
    few = [*words[:-4], "--set", "max_iter=2", "-o", "warm.json"]
    subprocess.run([*partita, *few], cwd=tmp_path, check=True, capture_output=True)
    running = subprocess.Popen([*partita, *words], cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    time.sleep(6)
    running.send_signal(signal.SIGINT)
    told = running.communicate(timeout=60)[1]
    assert running.returncode == 130, told
    found = json.loads((tmp_path / "out.json").read_text())
    assert found["converged"] is False and found["detail"]["interrupted"] is True and "interrupted" in told
    assert len(found["objects"]["consensus"]) == 40_000 and len(found["trace"]) >= 1
