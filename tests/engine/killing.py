"""Ends one worker in the middle of a step, which waits for that."""

import os
import signal
import threading
from contextlib import contextmanager
from functools import partial

from tests.engine.working import killed_once, wait_until


@contextmanager
def killer(folder):
    """Within it, the first process that says in the folder that it waits is killed, and then all may go on."""

    def kill():
        try:
            found = wait_until(lambda: next(folder.glob("pid-*"), None))
            os.kill(int(found.name.partition("-")[2]), signal.SIGKILL)
        finally:
            (folder / "killed").touch()

    thread = threading.Thread(target=kill)
    thread.start()
    yield
    thread.join()
    assert next(folder.glob("pid-*"), None) is not None


class Struck:
    """Parts of which one worker dies in the step of a number."""

    def __init__(self, parts, folder, number):
        self.parts, self.folder, self.number, self.steps = parts, folder, number, 0

    def __len__(self):
        return len(self.parts)

    def step(self, function, common, add):
        self.steps += 1
        wrapped = partial(killed_once, str(self.folder), function, self.number)
        if self.steps != self.number:
            return self.parts.step(wrapped, (common, self.steps), add)
        with killer(self.folder):
            return self.parts.step(wrapped, (common, self.steps), add)

    def each(self, function):
        return self.parts.each(function)
