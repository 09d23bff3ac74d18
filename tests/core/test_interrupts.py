"""Ctrl-C while a finished fit is laid out."""

import os
import signal
import threading

import pytest

from partita.core.interrupts import finishing


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
