"""Array aliases, what an unobserved label is, and what cannot be changed."""

from collections.abc import Iterable, Mapping
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


def sealed(array: A) -> A:
    """A read-only view, so that kernels are compiled for read-only arrays alone and not for both kinds."""
    return frozen(array.view())


def frozen(array: A) -> A:
    """The array itself, made read-only."""
    array.setflags(write=False)
    return array


def is_sequence(value: Any) -> bool:
    """Whether a value is an ordered, one-dimensional run of items and not a string, a mapping or a set.

    >>> [is_sequence(value) for value in ([1], (1,), "ab", {1}, 5, np.zeros((2, 2)))]
    [True, True, False, False, False, False]
    """
    unordered = isinstance(value, (str, bytes, Mapping, set, frozenset))
    unordered = unordered or hasattr(value, "toarray")  # sparse
    return not unordered and hasattr(value, "__len__") and len(getattr(value, "shape", (1,))) == 1


def filled(values: Any) -> NDArray[Any]:
    """The values as an array; numbers of a masked array as floats that are NaN where masked."""
    if not isinstance(values, np.ma.MaskedArray):
        return np.asarray(values)
    numbers: Any = values.astype(np.float64) if values.dtype.kind in "biuf" else values
    return np.asarray(numbers.filled(np.nan if numbers.dtype.kind in "fO" else None))


class FrozenDict(dict[Any, Any]):
    """A dictionary that cannot be changed, and can be pickled."""

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise TypeError("this dictionary belongs to a result and cannot be changed; make a dict of it first")

    __setitem__ = __delitem__ = clear = pop = popitem = setdefault = update = __ior__ = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return FrozenDict, (dict(self),)


class PerCluster(tuple[Any, ...]):
    """One value per cluster, in the order of the cluster numbers.

    A method gives this type to the entries of `Consensus.detail` that have one value per cluster. Whatever renumbers
    the clusters of a result then permutes them, see `renumber_detail`.

    >>> PerCluster(["a", "b", "c"]).in_order(np.array([2, 0, 1]))
    ('c', 'a', 'b')
    """

    __slots__ = ()

    def in_order(self, order: IntArray) -> "PerCluster":
        """Return the values in which cluster `order[c]` has the number c; clusters that `order` lacks keep theirs."""
        order = np.concatenate([order, np.arange(len(order), len(self))])
        return PerCluster(self[c] for c in order.tolist() if c < len(self))


class FrozenArrays:
    """Base of dataclasses whose arrays are read-only, also after pickling and copying."""

    def __post_init__(self) -> None:
        _freeze(vars(self).values())

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        _freeze(state.values())


def _freeze(values: Iterable[Any]) -> None:
    for value in values:
        if isinstance(value, np.ndarray):
            value.setflags(write=False)
        elif isinstance(value, tuple) and value and isinstance(value[0], np.ndarray):
            _freeze(value)
