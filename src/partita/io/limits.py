"""Limit of the memory that the contents of a file may take, checked before the memory is allocated.

A small file can unpack to a large table: compressed text, runs of equal values, or a header that claims many rows.
"""

import math
import sys
from typing import Any, Final, SupportsFloat

from partita.core.errors import FileError, ParameterError
from partita.core.memory import GIGABYTE, available_memory

COLUMN_BYTES: Final = 350
"""Memory per column of a table: its name, and its entries in lists and dictionaries (measured: 330)."""
ID_BYTES: Final = 80
"""Memory per id of a column of text, as a Python object."""
VALUE_BYTES: Final = 300
"""Memory per distinct text label of a column, as a Python object in a list and a dictionary (measured: 300)."""


def input_limit(max_input_gb: Any = None) -> int:
    """Return the maximum number of bytes of the contents of a file; the default is half of the available memory.

    >>> input_limit(0.5)
    500000000
    """
    if max_input_gb is None:
        available = available_memory()
        return sys.maxsize if available is None else available // 2
    number = isinstance(max_input_gb, SupportsFloat) and not isinstance(max_input_gb, bool)
    if not number or not float(max_input_gb) > 0:
        raise ParameterError(
            f"max_input_gb={max_input_gb!r:.40} (--max-input-gb) is not allowed; expected a number of gigabytes above 0"
        )
    return int(min(float(max_input_gb) * GIGABYTE, sys.maxsize))


def check_input_size(needed: float, limit: int, what: str, at_least: bool = False) -> None:
    """Raise a `FileError` if the contents need more memory than the limit.

    Parameters
    ----------
    needed : float
        Bytes.
    limit : int
        Bytes; see `input_limit`.
    what : str
        What needs the memory, such as "the table of 10 rows and 2 columns".
    at_least : bool, default False
        Whether `needed` is only a lower bound, because unpacking stopped there.
    """
    if needed <= limit:
        return
    size = f"more than {_gigabytes(limit)}" if at_least else _gigabytes(needed)
    way = "to a larger number" if at_least else f"to {_rounded_up(needed):g} or more"
    raise FileError(
        f"{what} needs {size} GB of memory, and the limit is {_gigabytes(limit)} GB (default: half of the available "
        f"memory); set max_input_gb= (--max-input-gb) {way} if there is as much memory, or read a smaller part of the "
        "table"
    )


def _gigabytes(size: float) -> str:
    return f"{size / GIGABYTE:.3g}"


def _rounded_up(size: float) -> float:
    """Return a size in gigabytes, rounded up to two digits."""
    unit = 10.0 ** (math.floor(math.log10(size / GIGABYTE)) - 1)
    return math.ceil(size / GIGABYTE / unit) * unit
