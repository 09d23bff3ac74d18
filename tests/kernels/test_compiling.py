"""Kernels: one option set, kept on disk, free of the interpreter lock."""

import importlib
import json
import pkgutil
import subprocess
import sys
import threading

import numpy as np
import pytest
from numba.core.registry import CPUDispatcher

import partita.kernels
from partita.kernels.rows import hash_rows

MODULES = [
    name
    for _, name, _ in pkgutil.iter_modules(partita.kernels.__path__, "partita.kernels.")
    if not name.endswith(("compiling", "vectors"))  # the compiler and what it is handed
]


def dispatchers():
    for name in MODULES:
        for key, value in vars(importlib.import_module(name)).items():
            if isinstance(value, CPUDispatcher) and value.py_func.__module__ == name:
                yield f"{name}.{key}", value


def test_every_function_is_a_kernel():
    for name in MODULES:
        module = importlib.import_module(name)
        plain = [
            key
            for key, value in vars(module).items()
            if type(value).__name__ == "function" and value.__module__ == name
        ]
        assert not plain, f"{name} has uncompiled functions {plain}"
    assert len(list(dispatchers())) > 10


@pytest.mark.parametrize(("name", "dispatcher"), list(dispatchers()), ids=[name for name, _ in dispatchers()])
def test_one_option_set(name, dispatcher):
    options = dispatcher.targetoptions
    assert options.get("nogil") is True and options.get("nopython") is True
    assert not options.get("parallel") and not options.get("fastmath")
    assert type(dispatcher._cache).__name__ == "FunctionCache"
    assert dispatcher.py_func.__doc__


PROGRAM = """
import importlib, json, pkgutil
import numpy as np
import partita, partita.kernels
from numba.core.registry import CPUDispatcher
labels = np.arange(60).reshape(20, 3) % 7 % 4
for method in ("voting", "qmi"):
    partita.consensus(labels, method, 2, threads=1)
stats = {}
for _, name, _ in pkgutil.iter_modules(partita.kernels.__path__, "partita.kernels."):
    for key, value in vars(importlib.import_module(name)).items():
        if isinstance(value, CPUDispatcher):
            stats[name + "." + key] = [sum(value.stats.cache_hits.values()), sum(value.stats.cache_misses.values())]
print(json.dumps(stats))
"""


def test_a_second_process_compiles_nothing():
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    stats = json.loads(done.stdout)
    assert {name: misses for name, (_, misses) in stats.items() if misses} == {}
    used = {name for name, (hits, _) in stats.items() if hits}
    assert {"partita.kernels.rows.number_rows", "partita.kernels.scores.assign_rows"} <= used


def test_the_interpreter_runs_while_a_kernel_does():
    """Another thread gets on while one long call of a kernel is under way."""
    words = np.zeros((1 << 15, 512), np.uint64)
    hashes = np.empty(len(words), np.uint64)
    hash_rows(words[:1], hashes, 0, 1)
    done, ticks = threading.Event(), 0

    def work():
        for _ in range(4):
            hash_rows(words, hashes, 0, len(words))
        done.set()

    thread = threading.Thread(target=work)
    thread.start()
    while not done.is_set():
        ticks += 1
    thread.join()
    assert ticks > 100
