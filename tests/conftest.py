"""Settings of all tests: no deadline for examples (the first one may compile a kernel), a working Ctrl-C, fast gc."""

import gc
import signal
import threading

from hypothesis import settings

settings.register_profile("compiled", deadline=None)
settings.load_profile("compiled")

if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # a shell starts what runs in the background so, and the processes that tests interrupt would inherit it
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish():
    """Exclude the thousands of collected tests from garbage collection, which would visit them again and again."""
    gc.collect()
    gc.freeze()
