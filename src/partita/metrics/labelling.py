"""Label arrays of any kind as integers that can be counted without being sorted or looked up first."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partita.core.coding import MissingRule, code_indexed
from partita.core.columns import index_column, whole_numbers
from partita.core.errors import ParameterError
from partita.core.threads import map_chunks
from partita.core.types import MISSING, FloatArray, IntArray, frozen

FEW = 1 << 16
"""Labels 0, 1, 2, … up to this, or to the number of objects, stand for themselves in a table."""

SAMPLE = 1 << 13


class Span(NamedTuple):
    """Integer labels within `low` … `low + width - 1`, MISSING where unobserved."""

    values: IntArray
    low: int
    width: int
    sure: bool = True
    """False when the range is that of a sample, so that some label may lie outside."""

    @property
    def missing(self) -> int:
        """The place of MISSING in the range, counted from `low`; -1 when it is not there."""
        return MISSING - self.low if self.low <= MISSING < self.low + self.width else -1

    @property
    def codes(self) -> bool:
        """Whether the known labels are the numbers of clusters, 0, 1, 2, …, and not just names."""
        return self.low >= MISSING and self.low + self.width <= max(FEW, len(self.values))


def as_integers(labels: Any, name: str) -> IntArray:
    """One label an object as integers of some signed type, MISSING where unobserved.

    Integers stay what they are. Other values are numbered; None, NaN and the strings that mean an empty cell in a table
    are unobserved, and so is -1 wherever it is a number.
    """
    array = _as_array(labels)
    if array is not None and array.ndim != 1:
        raise ParameterError(f"{name} has shape {array.shape}; give one label an object, in one dimension")
    if array is None or array.dtype.kind not in "biuf":
        return _numbered(labels, name)
    if array.dtype.kind == "f":
        whole = whole_numbers(array.astype(np.float64), name)
        return _plain(np.where(np.isnan(whole), MISSING, np.nan_to_num(whole)).astype(np.int64))
    return _plain(array.view(np.int8) if array.dtype.kind == "b" else _signed(array))


def _as_array(labels: Any) -> NDArray[Any] | None:
    """The labels as a NumPy array when that loses nothing, else None."""
    if isinstance(labels, np.ma.MaskedArray):
        return None if np.ma.is_masked(labels) else labels.data
    if isinstance(labels, np.ndarray):
        return labels
    if isinstance(labels, (list, tuple)):
        whole = all(type(label) is int and abs(label) < 1 << 62 for label in labels)
        return np.array(labels, dtype=np.int64) if whole else None
    kind = getattr(labels, "dtype", None)
    if isinstance(kind, np.dtype) or str(kind).lower().startswith(("int", "uint")):
        array = np.asarray(labels)
        return array if isinstance(kind, np.dtype) or array.dtype.kind in "iu" else None
    return None


def _numbered(labels: Any, name: str) -> IntArray:
    if isinstance(labels, (str, bytes)) or not hasattr(labels, "__len__"):
        raise ParameterError(f"{name} is a {type(labels).__name__}; give an array, a list or a column of labels")
    if len(labels) == 0:
        return np.empty(0, np.int8)
    if isinstance(labels, np.ma.MaskedArray) or (isinstance(labels, np.ndarray) and labels.dtype.kind == "O"):
        labels = labels.tolist()
    column = labels.to_arrow() if hasattr(labels, "to_arrow") else labels
    codes, _ = code_indexed([index_column(column, name)], [name], MissingRule.of(MISSING))
    return _plain(codes[:, 0])


def _signed(array: NDArray[Any]) -> IntArray:
    """Unsigned integers as signed ones of the same size, or of the next when some are too large for it."""
    if array.dtype.kind == "i":
        return array
    size = array.dtype.itemsize
    same = np.dtype(f"i{size}")
    if array.max(initial=0) <= np.iinfo(same).max:
        return array.astype(same)
    if size < 8:
        return array.astype(f"i{2 * size}")
    return np.unique(array, return_inverse=True)[1].reshape(-1)


def _plain(array: NDArray[Any]) -> IntArray:
    """Contiguous, in the machine's byte order and read-only, so that a kernel is compiled for one kind of array."""
    plain = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("=")).view()
    return frozen(plain)


def span_of(values: IntArray) -> Span:
    """Labels with the range they lie in."""
    if not len(values):
        return Span(values, 0, 0)
    parts = map_chunks(lambda start, stop: (values[start:stop].min(), values[start:stop].max()), len(values))
    low, high = min(int(part[0]) for part in parts), max(int(part[1]) for part in parts)
    return Span(values, low, high - low + 1)


def sampled_span(values: IntArray) -> Span:
    """Labels with the range of some thousands of them: nearly always that of all, and it saves reading them."""
    if len(values) <= SAMPLE:
        return span_of(values)
    return span_of(values[:: len(values) // SAMPLE])._replace(values=values, sure=False)


def numbered(span: Span) -> Span:
    """The same partition under the codes 0, 1, 2, … in order of the values."""
    distinct, codes = np.unique(span.values, return_inverse=True)
    known = distinct != MISSING
    numbers = np.where(known, np.cumsum(known) - 1, MISSING)
    low = 0 if known.all() else MISSING
    return Span(_plain(numbers[codes.reshape(-1)]), low, int(known.sum()) - low)


def check_object_weights(weights: Any, objects: int) -> FloatArray | None:
    """One finite weight >= 0 an object; None when each counts once."""
    if weights is None:
        return None
    try:
        array = np.ascontiguousarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError("weights are not numbers; give one weight >= 0 an object") from None
    if array.shape != (objects,):
        raise ParameterError(f"weights have shape {array.shape}; give one for each of the {objects} objects")
    bad = ~(np.isfinite(array) & (array >= 0))
    if bad.any():
        row = int(np.argmax(bad))
        raise ParameterError(f"row {row + 1} has weight {array[row]}; give finite weights >= 0")
    return frozen(array.view())
