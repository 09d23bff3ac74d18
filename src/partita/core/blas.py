"""One thread for small matrix products, whoever else uses the same library."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import cache, partial
from typing import Any

import scipy.linalg  # noqa: F401  # so that its library is loaded, and found, too
from threadpoolctl import ThreadpoolController


@cache
def _controller() -> ThreadpoolController:
    """The libraries of this process; looking for them costs more than a small eigenvalue problem."""
    return ThreadpoolController()


def one_thread() -> AbstractContextManager[Any]:
    """Within it, matrix products run on one thread: more cost more than they bring where matrices are small."""
    return _controller().limit(limits=1, user_api="blas")  # type: ignore[no-any-return]


def openmp_limiter() -> Callable[[], AbstractContextManager[Any]]:
    """Makes contexts in which OpenMP loops, such as scikit-learn's, run on one thread; to be entered in each worker.

    OpenMP's limit belongs to the thread that sets it. Libraries that are loaded later are not found.
    """
    return partial(ThreadpoolController().limit, limits=1, user_api="openmp")
