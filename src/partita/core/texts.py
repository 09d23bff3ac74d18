"""Checks that text is valid Unicode, so that it can be compared, printed and written to files."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

LAST_CODE_POINT = 0x10FFFF
SURROGATES = 0xD800, 0xDFFF
"""Code points of UTF-16; alone they are no character."""
WAY_OUT = "text must be valid Unicode; replace the character"


def first_invalid(values: Iterable[Any]) -> int | None:
    """Return the position of the first text with an invalid code point, None if there is none; other values are valid.

    >>> first_invalid(["a", 1, "\\ud800"]), first_invalid(["a", "\u00e4"])
    (2, None)
    """
    return next((place for place, value in enumerate(values) if isinstance(value, str) and not _is_valid(value)), None)


def _is_valid(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode("utf-8").decode("utf-8")  # also fails for code points that NumPy lets through
    except (UnicodeError, SystemError):
        return False
    return True


def first_invalid_cell(array: NDArray[Any]) -> tuple[int, ...] | None:
    """Return the index of the first cell of a NumPy text array that has an invalid code point, None if there is none.

    NumPy stores any 32-bit number as a character. Python raises a `SystemError` when it makes text of some of them.
    """
    if array.dtype.kind != "U" or not array.size or not array.dtype.itemsize:
        return None
    codes = np.ascontiguousarray(array).view(np.dtype(np.uint32).newbyteorder(array.dtype.byteorder))
    bad = (codes > LAST_CODE_POINT) | ((codes >= SURROGATES[0]) & (codes <= SURROGATES[1]))
    if not bad.any():
        return None
    cell = np.argmax(bad.reshape(array.size, -1).any(axis=1))
    return tuple(int(place) for place in np.unravel_index(cell, array.shape))
