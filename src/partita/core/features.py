"""Features: a table of numbers, objects in rows, checked once; from arrays, nested lists, mappings and dataframes."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray

from partita.core.errors import TableError
from partita.core.fields import check_ids, fingerprint, index_of
from partita.core.types import FloatArray, FrozenArrays, filled
from partita.core.ways_out import PYTHON, ways_out

MOST_DENSE: Final = 1 << 26
"""Cells up to which a sparse matrix is written out (half a gigabyte)."""
SHAPE: Final = "features have two dimensions, objects in rows and features in columns"


@dataclass(frozen=True, eq=False)
class Features(FrozenArrays):
    """(n, d) finite numbers, what the features are called, and the objects if they have names."""

    matrix: FloatArray
    names: tuple[str, ...]
    ids: NDArray[Any] | None = None

    def __len__(self) -> int:
        return len(self.matrix)

    @cached_property
    def fingerprint(self) -> str:
        """Names the data: equal for equal numbers in the same order."""
        return fingerprint("features", self.matrix, np.ones(0), None)


def as_features(table: Any) -> Features:
    """Any table of numbers; one that holds anything else raises, with the row and the column.

    >>> as_features([[1, 2.5], [3, 4]]).matrix.tolist()
    [[1.0, 2.5], [3.0, 4.0]]
    """
    if isinstance(table, Features):
        return table
    if hasattr(table, "toarray") and hasattr(table, "nnz"):
        table = _written_out(table)
    if hasattr(table, "obs") and hasattr(table, "obsm"):
        raise TableError("an AnnData object is not a table of features; give adata.X or one of adata.obsm")
    frame = _frame(table)
    if frame is not None:
        columns = [_column(frame[:, place], str(name)) for place, name in enumerate(frame.columns)]
        return checked(_stacked(columns), [str(name) for name in frame.columns], index_of(table))
    if isinstance(table, Mapping):
        named = {str(name): _numbers(np.asarray(values), [str(name)]) for name, values in table.items()}
        return checked(_stacked([values.reshape(-1) for values in named.values()]), list(named))
    try:
        array = filled(table)
    except ValueError:
        raise TableError(f"the rows have different lengths; {SHAPE}") from None
    return checked(array)


def checked(array: NDArray[Any], names: list[str] | None = None, ids: Any = None, gaps: bool = False) -> Features:
    """An array as features, once its shape and every cell are checked; its columns are called f0, f1, …

    With `gaps`, cells that are not finite stay.
    """
    if array.ndim != 2:
        hint = "; one feature is array.reshape(-1, 1)" if array.ndim == 1 else ""
        raise TableError(f"an array of shape {array.shape} is no table; {SHAPE}{hint}")
    if 0 in array.shape:
        raise TableError(f"the table is empty (shape {array.shape}); {SHAPE}")
    called = names or [f"f{j}" for j in range(array.shape[1])]
    matrix = _numbers(array, called)
    bad = ~np.isfinite(matrix)
    if bad.any() and not gaps:
        row, place = np.argwhere(bad)[0]
        raise TableError(
            f"column {called[place]!r}, row {row + 1}: {matrix[row, place]} is not a finite number; fill such cells "
            "first (by the column's median, say), or leave out the row or the column"
        )
    return Features(matrix.view(), tuple(called), check_ids(ids, len(matrix)))


def not_a_number(name: str, row: int, value: Any) -> TableError:
    """The error for a cell that holds something else."""
    ways = ways_out()
    # functions that take features in memory have no ids=
    ids = "" if ways is PYTHON else f"{ways.ids.format(ways.quoted(name))} if it holds ids, "
    return TableError(
        f"column {name!r}, row {row + 1}: {value!r:.60} is not a number; {ways.without([name])}, {ids}or turn it into "
        "numbers"
    )


def _frame(table: Any) -> Any:
    """A dataframe of any library, None for anything else."""
    try:
        found = nw.from_native(table, eager_only=True, pass_through=True)
    except nw.exceptions.DuplicateError:
        raise TableError("two columns have the same name; rename one of them") from None
    return found if isinstance(found, nw.DataFrame) else None


def _column(column: Any, name: str) -> FloatArray:
    if column.dtype.is_numeric() or column.dtype == nw.Boolean:
        found: FloatArray = np.asarray(column.cast(nw.Float64).to_numpy(), dtype=np.float64)
        return found
    cells = column.to_list()
    return _numbers(np.fromiter(cells, object, len(cells)), [name])


def _stacked(columns: list[FloatArray]) -> FloatArray:
    lengths = sorted({len(column) for column in columns})
    if len(lengths) > 1:
        raise TableError(f"the columns have different lengths ({lengths}); give every feature of the same objects")
    return np.stack(columns, axis=1) if columns else np.empty((0, 0))


def _numbers(array: NDArray[Any], names: list[str]) -> FloatArray:
    """Cells as float64, empty ones as NaN; the first that is no number raises."""
    if array.dtype.kind in "biuf":
        return np.ascontiguousarray(array, dtype=np.float64)
    found = [_number(cell, place, names) for place, cell in enumerate(array.reshape(-1).tolist())]
    return np.array(found, dtype=np.float64).reshape(array.shape)


def _number(cell: Any, place: int, names: list[str]) -> float:
    row, column = divmod(place, len(names))
    if cell is None:
        return np.nan
    try:
        if isinstance(cell, (str, bytes)):
            raise TypeError
        return float(cell)
    except (TypeError, ValueError, OverflowError):
        raise not_a_number(names[column], row, cell) from None


def _written_out(matrix: Any) -> NDArray[Any]:
    """A sparse matrix as a dense one, unless that would be too large."""
    cells = int(np.prod(matrix.shape, dtype=np.float64))
    if cells > MOST_DENSE:
        raise TableError(
            f"a sparse matrix of shape {tuple(matrix.shape)} would take {8 * cells / 2**30:.1f} GiB as a dense one; "
            "bring it to fewer features first, for example by sklearn.decomposition.TruncatedSVD(100)"
        )
    return np.asarray(matrix.toarray())
