"""Array aliases and the two constants of the label matrix."""

from typing import Any, Final, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

IntArray: TypeAlias = NDArray[np.signedinteger[Any]]
FloatArray: TypeAlias = NDArray[np.float64]
BoolArray: TypeAlias = NDArray[np.bool_]

MISSING: Final = -1
"""The code of an unobserved label, and the consensus label of an object about which nothing is known."""


def smallest_type(labels: int) -> type[np.signedinteger[Any]]:
    """The smallest signed integer type that holds the codes 0..labels-1 and MISSING.

    >>> smallest_type(128).__name__, smallest_type(129).__name__
    ('int8', 'int16')
    """
    for kind in (np.int8, np.int16):
        if labels <= np.iinfo(kind).max + 1:
            return kind
    return np.int32


A = TypeVar("A", bound=np.ndarray[Any, Any])


def frozen(array: A) -> A:
    """The array itself, made read-only."""
    array.setflags(write=False)
    return array
