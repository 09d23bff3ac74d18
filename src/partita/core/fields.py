"""Checks of what hard and soft ensembles both carry: names, weights, ids, multiplicities."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.core.columns import is_empty
from partita.core.errors import ParameterError, TableError
from partita.core.texts import WAY_OUT, first_invalid, first_invalid_cell
from partita.core.types import FloatArray, frozen, is_sequence


def check_weights(weights: Any, names: Sequence[str]) -> FloatArray:
    """One finite weight >= 0 for each clustering, from a sequence or from a mapping by name (others weigh 1)."""
    if weights is None:
        return frozen(np.ones(len(names)))
    if hasattr(weights, "to_dict") and hasattr(weights, "index") and type(weights.index).__name__ != "RangeIndex":
        weights = weights.to_dict()  # a pandas Series says which weight is whose
    if isinstance(weights, Mapping):
        known = set(names)
        strangers = [name for name in weights if name not in known]
        if strangers:
            raise TableError(
                f"a weight is given for {strangers[0]!r}, which is no clustering here; there are {_some(names)}"
            )
        weights = [weights.get(name, 1.0) for name in names]
    array = _numbers(weights, "weights", "one weight >= 0 a clustering")
    if array.shape != (len(names),):
        raise TableError(f"weights have shape {array.shape}; give one weight for each of the {len(names)} clusterings")
    for name, weight in zip(names, array, strict=True):
        if not np.isfinite(weight) or weight < 0:
            raise TableError(
                f"the weight of {name!r} is {weight}; give a finite number >= 0 (0 leaves the clustering out)"
            )
    if not array.any():
        raise TableError("every weight is 0, so no clustering is left; give at least one a weight above 0")
    return frozen(array)


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:8])
    return shown if len(names) <= 8 else f"{shown} and {len(names) - 8} more"


def check_ids(ids: Any, rows: int) -> NDArray[Any] | None:
    """Object ids, one a row and all different, each as it was given."""
    if ids is None:
        return None
    cell = first_invalid_cell(ids) if isinstance(ids, np.ndarray) else None
    values = _as_list(ids) if cell is None else []
    bad = first_invalid(values) if cell is None else cell[0]
    if bad is not None:
        raise TableError(f"row {bad + 1}: the id has an invalid code point; {WAY_OUT}")
    if len(values) != rows:
        raise TableError(f"{len(values)} ids were given for {rows} objects; give one id a row")
    kinds = set(map(type, values))
    if kinds not in ({int}, {str}) or len(set(values)) != rows:
        _check_different(values)
    try:
        return frozen(np.fromiter(values, np.int64 if kinds == {int} else object, rows))
    except OverflowError:
        return frozen(np.fromiter(values, object, rows))


def _as_list(ids: Any) -> list[Any]:
    if not is_sequence(ids):
        raise TableError(f"ids={ids!r:.60} is not a list of ids; give one id a row")
    reader = next((name for name in ("to_pylist", "tolist", "to_list") if hasattr(ids, name)), None)
    return list(ids) if reader is None else list(getattr(ids, reader)())


def _check_different(values: list[Any]) -> None:
    seen: dict[Any, int] = {}
    for row, value in enumerate(values):
        try:
            if is_empty(value):
                raise TableError(f"row {row + 1} has no id; give every object an id, or leave the ids out")
            first = seen.setdefault(value, row)
        except (TypeError, ValueError) as error:
            if isinstance(error, TableError):
                raise
            raise TableError(f"row {row + 1}: {value!r:.60} cannot be an id; give numbers or strings") from None
        if first != row:
            raise TableError(f"id {value!r} stands in rows {first + 1} and {row + 1}; make the ids different")


def _numbers(values: Any, what: str, each: str) -> FloatArray:
    """Real numbers as an array; anything else raises."""
    if np.ma.is_masked(values):
        raise TableError(f"{what} have masked values; give {each}")
    try:
        array = np.asarray(values)
        if array.dtype.kind not in "biufO":
            raise TypeError
        return array.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise TableError(f"{what}={values!r:.60} are not numbers; give {each}") from None


def check_counts(counts: Any, rows: int) -> FloatArray:
    """How many objects each row stands for."""
    array = _numbers(counts, "counts", "how many objects each row stands for")
    if array.shape != (rows,):
        raise TableError(f"counts have shape {array.shape}; give one for each of the {rows} rows")
    bad = ~(np.isfinite(array) & (array > 0))
    if bad.any():
        row = int(np.argmax(bad))
        raise TableError(f"row {row + 1} has count {array[row]}; counts are finite and above 0")
    return frozen(array)


def fingerprint(kind: str, matrix: NDArray[Any], weights: FloatArray, counts: FloatArray | None) -> str:
    """32 hexadecimal digits that name the data; counts that are all 1 are the same as none."""
    little = matrix.dtype.newbyteorder("<")
    digest = hashlib.sha256(f"{kind} {matrix.shape} {little.str}".encode())
    digest.update(np.ascontiguousarray(matrix, dtype=little).data)
    digest.update(weights.astype("<f8").tobytes())
    if counts is not None and (counts != 1).any():
        digest.update(counts.astype("<f8").tobytes())
    return digest.hexdigest()[:32]


def index_of(values: Any) -> list[Any] | None:
    """The ids that a pandas Series carries in its index, None where it only counts from 0."""
    index = getattr(values, "index", None)
    plain = type(index).__name__ == "RangeIndex" and getattr(index, "start", 0) == 0 and getattr(index, "step", 1) == 1
    return list(index.tolist()) if index is not None and hasattr(index, "tolist") and not plain else None


def places_of(ids: Any, others: Any, what: str) -> NDArray[np.int64]:
    """(n,) where each id stands among the others; one that does not raises."""
    place = {value: row for row, value in enumerate(_as_list(others))}
    absent = [value for value in _as_list(ids) if value not in place]
    if absent:
        raise TableError(f"{what} has no object {absent[0]!r}; give the same objects on both sides")
    return np.array([place[value] for value in _as_list(ids)], np.int64)


def check_length(name: str, found: int, other: str, expected: int) -> None:
    """Refuse two things that do not speak of the same objects."""
    if found != expected:
        raise ParameterError(
            f"{name} has {found} objects and {other} {expected}; give both for the same objects in the same order"
        )
