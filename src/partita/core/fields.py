"""Checks of what hard and soft ensembles both carry: names, weights, ids, multiplicities, orientation."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from partita.core.errors import TableError
from partita.core.types import FloatArray, frozen


def check_weights(weights: Any, names: Sequence[str]) -> FloatArray:
    """One finite weight >= 0 for each clustering, from a sequence or from a mapping by name (others weigh 1)."""
    if weights is None:
        return frozen(np.ones(len(names)))
    if isinstance(weights, Mapping):
        strangers = [name for name in weights if name not in names]
        if strangers:
            raise TableError(
                f"a weight is given for {strangers[0]!r}, which is no clustering here; there are {_some(names)}"
            )
        weights = [weights.get(name, 1.0) for name in names]
    try:
        array = np.array(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise TableError(f"weights={weights!r} are not numbers; give one weight >= 0 a clustering") from None
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
    """Object ids, one a row and all different."""
    if ids is None:
        return None
    array = np.asarray(ids.to_numpy(zero_copy_only=False) if isinstance(ids, (pa.Array, pa.ChunkedArray)) else ids)
    if array.shape != (rows,):
        raise TableError(f"{array.size} ids were given for {rows} objects; give one id a row")
    values = array.tolist()
    if array.dtype.kind in "iuSU" and len(set(values)) == rows:
        return frozen(array.copy())
    seen: dict[Any, int] = {}
    for row, value in enumerate(values):
        if value is None or value != value:
            raise TableError(f"row {row + 1} has no id; give every object an id, or leave the ids out")
        if seen.setdefault(value, row) != row:
            raise TableError(f"id {value!r} stands in rows {seen[value] + 1} and {row + 1}; make the ids different")
    return frozen(array.copy())


def check_counts(counts: Any, rows: int) -> FloatArray:
    """How many objects each row stands for."""
    try:
        array = np.array(counts, dtype=np.float64)
    except (TypeError, ValueError):
        raise TableError(f"counts={counts!r} are not numbers; give how many objects each row stands for") from None
    if array.shape != (rows,):
        raise TableError(f"counts have shape {array.shape}; give one for each of the {rows} rows")
    bad = ~(np.isfinite(array) & (array > 0))
    if bad.any():
        row = int(np.argmax(bad))
        raise TableError(f"row {row + 1} has count {array[row]}; counts are finite and above 0")
    return frozen(array)


def check_orientation(rows: int, columns: int, transpose: bool | None) -> None:
    """Refuse a table with far more clusterings than objects, unless the caller has said how it lies."""
    if transpose is None and columns >= 20 and columns >= 3 * rows:
        raise TableError(
            f"this table has {rows} objects (rows) and {columns} clusterings (columns) and looks transposed; say "
            "transpose=True (--transpose) to turn it, transpose=False (--no-transpose) if it is right as it is"
        )
