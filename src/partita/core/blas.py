"""One thread for small matrix products, whoever else uses the same library."""

from contextlib import AbstractContextManager
from functools import cache
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
