"""The memory of a piece of work is its own, whatever was done before."""

import sys

import numpy as np
import pytest

from partita.core import peaks
from partita.core.peaks import Peak

linux = pytest.mark.skipif(not peaks.RESET.exists(), reason="only Linux forgets a peak")


def took(bytes_):
    peak = Peak.begin()
    np.ones(bytes_ // 8).sum()
    return peak.rise()


@linux
def test_a_small_peak_after_a_large_one():
    assert took(300_000_000) == pytest.approx(300_000_000, rel=0.1)
    assert took(100_000_000) == pytest.approx(100_000_000, rel=0.1)
    assert took(8) < 5_000_000


def test_where_the_peak_is_never_forgotten(monkeypatch, tmp_path):
    monkeypatch.setattr(peaks, "RESET", tmp_path / "none" / "clear_refs")
    highest = iter([500, 800, 800, 800])
    monkeypatch.setattr(peaks, "_most_ever", lambda: next(highest))
    assert took(8) == 300, "a new peak is told"
    assert took(8) is None, "an older one hides what was taken"
    assert not Peak(None, own=False).own and Peak(None, own=False).rise() is None


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not tell")
def test_the_most_there_ever_was():
    assert peaks._most_ever() > 10_000_000
