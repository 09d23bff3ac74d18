"""What all tests need: examples without a deadline, since a first one may compile a kernel, and a working Ctrl-C."""

import signal
import threading

from hypothesis import settings

settings.register_profile("compiled", deadline=None)
settings.load_profile("compiled")

if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # a shell starts what runs in the background so, and the processes that tests interrupt would inherit it
    signal.signal(signal.SIGINT, signal.default_int_handler)
