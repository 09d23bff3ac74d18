"""Ctrl-C while a finished fit is laid out."""

import os
import signal
import threading

import pytest

import partita
from partita import fitting
from partita.core.interrupts import finishing
from partita.metrics.scoring import scored
from partita.models import bce_vb, mm, nbce_vb
from tests.samples import noisy


def press():
    os.kill(os.getpid(), signal.SIGINT)


def test_the_first_press_passes_and_the_second_stops():
    with finishing():
        press()
        done = True
    assert done and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with pytest.raises(KeyboardInterrupt), finishing():
        press()
        press()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_within_another_the_inner_one_changes_nothing():
    with finishing():
        with finishing():
            pass
        press()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_another_handler_is_left_alone():
    heard = []
    before = signal.signal(signal.SIGINT, lambda number, frame: heard.append(number))
    try:
        with finishing():
            press()
        assert heard == [signal.SIGINT]
    finally:
        signal.signal(signal.SIGINT, before)


def test_other_threads_have_no_handlers():
    failed = []

    def work():
        try:
            with finishing():
                pass
        except ValueError as error:
            failed.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert not failed


@pytest.mark.parametrize(
    ("method", "module", "closing"),
    [("mm", mm, "memberships"), ("bce-vb", bce_vb, "infer"), ("nbce-vb", nbce_vb, "memberships")],
)
def test_a_press_in_the_closing_pass_loses_nothing(monkeypatch, method, module, closing):
    whole = partita.consensus(noisy(), method, 4)
    close = getattr(module, closing)
    monkeypatch.setattr(module, closing, lambda *args: press() or close(*args))
    pressed = partita.consensus(noisy(), method, 4)
    assert pressed.labels.tolist() == whole.labels.tolist() and pressed.converged == whole.converged


def test_a_press_while_a_fit_is_scored_loses_nothing(monkeypatch):
    monkeypatch.setattr(fitting, "scored", lambda *args: press() or scored(*args))
    assert partita.consensus(noisy(), "qmi", 4).k == 4


def test_the_choice_of_k_keeps_the_fit_that_was_pressed_in_and_begins_no_other(monkeypatch):
    presses = iter([True])
    monkeypatch.setattr(fitting, "scored", lambda *args: (next(presses, None) and press()) or scored(*args))
    found = partita.select_k(noisy(), range(2, 6), "mm", repeats=0, threads=1)
    assert found.interrupted and [trial.k for trial in found.trials] == [2]
