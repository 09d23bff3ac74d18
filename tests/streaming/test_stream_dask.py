"""Streamed on the workers of a Dask cluster: the same bytes as on threads."""

import os
import signal
import threading
import time
from dataclasses import replace

import pytest

import partita
from partita import Streaming
from partita.core.errors import ParameterError
from partita.engine import open_engine
from partita.io.blocks import open_blocks
from tests.samples import noisy_labels
from tests.streaming.test_stream import READ, K, _bytes, put, words

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def engine():
    with open_engine("dask", workers=2) as found:
        yield found


@pytest.mark.parametrize("fit", ["distinct", "sample", "full"])
def test_dask_writes_what_threads_write(fit, engine, tmp_path):
    source = open_blocks(put(tmp_path / "labels", words()), READ, 64)
    how = Streaming(fit=fit, sample=300, read=READ)
    here = partita.stream(source, tmp_path / "here", "mm", K, how=how)
    there = partita.stream(source, tmp_path / "there", "mm", K, how=replace(how, engine=engine))
    assert _bytes(tmp_path / "here") == _bytes(tmp_path / "there")
    assert here.summary() | {"output": ""} == there.summary() | {"output": ""}


def test_on_dask_too_many_different_rows_lead_to_a_fit_of_all(engine, tmp_path):
    source = open_blocks(put(tmp_path / "labels", words()), READ, 64)
    how = Streaming(most=20, sample=300, read=READ, engine=engine)
    assert partita.stream(source, tmp_path / "mm", "mm", K, how=how).fit == "full"
    assert partita.stream(source, tmp_path / "lwgp", "lwgp", K, how=how).fit == "sample"
    with pytest.raises(ParameterError, match="labels stay where the workers write them"):
        partita.stream(noisy_labels(n=200)[0], None, "mm", K, how=Streaming(engine=engine))


@pytest.mark.parametrize("fit", ["sample", "full"])
def test_a_worker_that_is_killed_changes_nothing(fit, tmp_path):
    """Killed as soon as the first part is there: the parts come out as from threads."""
    source = open_blocks(put(tmp_path / "labels", words(n=4000), files=8), READ, 64)
    how = Streaming(fit=fit, sample=300, read=READ)
    partita.stream(source, tmp_path / "here", "mm", K, how=how)
    with open_engine("dask", workers=2) as engine:
        victim = next(iter(engine.map(_process, [0])))

        def kill():
            while not list((tmp_path / "there").glob("part-*.parquet")):
                time.sleep(0.001)
            os.kill(victim, signal.SIGKILL)

        killer = threading.Thread(target=kill, daemon=True)
        killer.start()
        partita.stream(source, tmp_path / "there", "mm", K, how=replace(how, engine=engine))
        killer.join(60)
    assert _bytes(tmp_path / "here") == _bytes(tmp_path / "there")


def _process(item):
    return os.getpid()
