"""Tables of any kind (array, nested list, mapping, pandas, polars, Arrow) as named columns."""

import numbers
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from partita.core.coding import Indexed, Label, MissingRule, code_indexed, code_integers
from partita.core.columns import index_column, not_text, whole_numbers
from partita.core.errors import LabelError, TableError
from partita.core.texts import WAY_OUT, first_invalid, first_invalid_cell
from partita.core.types import IntArray, is_sequence

EMPTY_CELL = np.iinfo(np.int64).min
_SIGNED = {np.dtype(kind): np.dtype(wider) for kind, wider in (("u1", "i2"), ("u2", "i4"), ("u4", "i8"), ("u8", "i8"))}


@dataclass(frozen=True, slots=True)
class Table:
    """Named columns of one length, and the object ids when the table carries them; `matrix` when it is one array."""

    names: tuple[str, ...]
    columns: tuple[Any, ...]
    ids: tuple[Any, ...] | None = None
    matrix: NDArray[Any] | None = None
    id_name: str = "id"
    """Name of the index of a pandas dataframe."""

    @property
    def rows(self) -> int:
        """How many objects there are."""
        return len(self.columns[0])

    def without(self, name: str) -> "tuple[Table, Any]":
        """The table less one column, and that column."""
        if name not in self.names:
            raise TableError(f"no column is called {name!r}; there are {', '.join(map(repr, self.names[:8]))}")
        place = self.names.index(name)
        keep = [j for j in range(len(self.names)) if j != place]
        if not keep:
            raise TableError(f"{name!r} is the only column; give clusterings beside it")
        matrix = None if self.matrix is None else self.matrix[:, keep]
        rest = Table(tuple(self.names[j] for j in keep), tuple(self.columns[j] for j in keep), self.ids, matrix)
        return rest, self.columns[place]

    def lists(self) -> list[list[Any]]:
        """Return the columns as lists of Python objects."""
        return [column.to_pylist() if hasattr(column, "to_pylist") else list(column) for column in self.columns]

    def with_row_names(self, name: str) -> "Table":
        """Return the table without one column, whose values are the ids."""
        rest, column = self.without(name)
        return replace(rest, ids=tuple(column.to_pylist() if hasattr(column, "to_pylist") else list(column)))

    def turned(self) -> "Table":
        """Return the table with rows as columns; the ids become the names, and then the names become the ids."""
        if self.matrix is not None and self.ids is None:
            return _from_array(self.matrix.T)
        for place, column in enumerate(self.columns):
            cell = first_invalid_cell(column) if isinstance(column, np.ndarray) else None
            if cell is not None:
                raise not_text(str(self.ids[cell[0]]) if self.ids else f"c{cell[0]}", place)
        lists = self.lists()
        names = self.ids or tuple(f"c{j}" for j in range(len(lists[0])))
        turned = _from_columns([str(name) for name in names], [list(row) for row in zip(*lists, strict=True)])
        return Table(turned.names, turned.columns, self.names if self.ids is not None else None)

    def renamed(self, names: Sequence[str] | None) -> "Table":
        """Return the table with other names of the columns, or as it is without `names`; the names must differ."""
        found = self
        if names is not None:
            if not is_sequence(names):
                raise TableError(f"names={names!r} is not a list of names; give one name a clustering")
            if len(names) != len(self.names):
                raise TableError(
                    f"{len(names)} names were given for {len(self.names)} clusterings; give one name a column"
                )
            found = replace(self, names=tuple(map(str, names)))
        _check_different(found.names)
        return found


def as_table(table: Any, names: Sequence[str] | None = None) -> Table:
    """Return any table as named columns."""
    return _read(table).renamed(names)


def _check_different(names: Sequence[str]) -> None:
    if len(set(names)) < len(names):
        raise _doubled(names)
    bad = first_invalid(names)
    if bad is not None:
        raise TableError(f"the name of column {bad + 1} has an invalid code point; {WAY_OUT}")


def _doubled(names: Sequence[str]) -> TableError:
    name = next(name for name, times in Counter(names).items() if times > 1)
    return TableError(f"column name {name!r} appears twice; rename one of the two")


def code_table(table: Table, rule: MissingRule) -> tuple[IntArray, tuple[tuple[Label, ...], ...]]:
    """The label codes (n, r) of a table and each column's original values in code order."""
    if table.matrix is not None and table.matrix.dtype.kind in "iu" and _fits(table.matrix):
        native = table.matrix.dtype.newbyteorder("=")
        values = np.ascontiguousarray(table.matrix, dtype=_SIGNED.get(native, native))
        if values.dtype != np.int64 or not (values == EMPTY_CELL).any():
            return code_integers(values, EMPTY_CELL, table.names, rule)
        return code_indexed([Indexed(*_sorted_values(column)) for column in values.T], table.names, rule)
    if table.matrix is not None and table.matrix.dtype.kind == "f":
        values = np.empty(table.matrix.shape, np.int64)
        for j, name in enumerate(table.names):
            column = whole_numbers(table.matrix[:, j].astype(np.float64), name)
            values[:, j] = np.where(np.isnan(column), EMPTY_CELL, np.nan_to_num(column)).astype(np.int64)
        return code_integers(values, EMPTY_CELL, table.names, rule)
    columns: list[Indexed] = [
        index_column(column, name) for column, name in zip(table.columns, table.names, strict=True)
    ]
    return code_indexed(columns, table.names, rule)


def _sorted_values(column: IntArray) -> tuple[IntArray, list[int]]:
    distinct, indices = np.unique(column, return_inverse=True)
    return indices.reshape(-1).astype(np.int32), distinct.tolist()


def _fits(matrix: NDArray[Any]) -> bool:
    return matrix.dtype != np.uint64 or bool((matrix <= np.uint64(np.iinfo(np.int64).max)).all())


def _read(table: Any) -> Table:
    if isinstance(table, Table):
        return table
    if hasattr(table, "toarray") and hasattr(table, "nnz"):  # a dictionary too, in some formats
        raise TableError("a sparse matrix is not a label table; give a dense array of labels, objects in rows")
    if isinstance(table, memoryview):
        table = _viewed(table)
    if isinstance(table, Mapping):
        return _from_columns([str(name) for name in table], [_column(table[name], str(name)) for name in table])
    if isinstance(table, np.ndarray):
        return _from_array(table)
    if hasattr(table, "obs") and hasattr(table, "obsm"):
        raise TableError(
            "an AnnData object is not a label table; take partita.anndata.consensus(adata, 'leiden_*'), or give its "
            "columns of labels, such as adata.obs[['a', 'b']]"
        )
    try:
        frame = nw.from_native(table, eager_only=True, pass_through=True)
    except nw.exceptions.DuplicateError:
        names = [str(name) for name in getattr(table, "column_names", getattr(table, "columns", ()))]
        raise _doubled(names) from None
    if isinstance(frame, nw.DataFrame):
        return _from_frame(frame)
    if hasattr(table, "__arrow_c_stream__") or isinstance(table, (pa.Array, pa.ChunkedArray)):
        try:
            return _from_frame(nw.from_native(pa.table(table), eager_only=True))
        except (pa.ArrowException, TypeError, ValueError):
            raise TableError(
                f"a {type(table).__name__} is not a table; give objects in rows, clusterings in columns"
            ) from None
    if hasattr(table, "__dataframe__"):
        from pyarrow.interchange import from_dataframe

        return _from_frame(nw.from_native(from_dataframe(table), eager_only=True))
    return _from_rows(table)


def _viewed(table: memoryview) -> NDArray[Any]:
    """A memoryview as an array."""
    try:
        return np.asarray(table)
    except (ValueError, TypeError, NotImplementedError):  # released, or of a format that NumPy does not know
        raise TableError("a memoryview that NumPy cannot read is not a table; give an array of labels") from None


def _from_frame(frame: Any) -> Table:
    native = frame.to_native()
    index: Any = getattr(native, "index", None)
    plain = type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1
    ids = tuple(index.tolist()) if hasattr(index, "tolist") and not plain else None
    if isinstance(native, pa.Table):
        names, columns = native.column_names, list(native.columns)
    else:
        names = list(native.columns)
        _check_different([str(name) for name in names])
        columns = [_arrow_or_list(native[name]) for name in names]
    found = _from_columns([str(name) for name in names], columns, ids)
    name = getattr(index, "name", None)
    return found if ids is None or name is None else replace(found, id_name=str(name))


def _arrow_or_list(column: Any) -> Any:
    """A polars column as Arrow, or as a list when it holds Python objects; other columns as they are."""
    if not hasattr(column, "to_arrow"):
        return column
    return column.to_list() if str(column.dtype) == "Object" else column.to_arrow()


def _column(values: Any, name: str) -> Any:
    """A column given by name, refused when it is not a list of cells."""
    if not is_sequence(values):
        raise TableError(
            f"column {name!r} is a {type(values).__name__} and not a list of labels; give one label an object"
        )
    return _arrow_or_list(values)


def _from_columns(names: list[str], columns: list[Any], ids: tuple[Any, ...] | None = None) -> Table:
    lengths = {len(column) for column in columns}
    if not columns or lengths == {0}:
        raise TableError("the table is empty; give objects in rows and clusterings in columns")
    if len(lengths) > 1:
        raise TableError(
            f"the columns have different lengths ({sorted(lengths)}); give every clustering of the same objects"
        )
    return Table(tuple(names), tuple(columns), ids)


def _from_array(array: NDArray[Any]) -> Table:
    if array.ndim != 2:
        raise TableError(
            f"a label table has two dimensions, objects in rows and clusterings in columns; shape {array.shape} has not"
        )
    if 0 in array.shape:
        raise TableError(f"the table is empty (shape {array.shape}); give objects in rows and clusterings in columns")
    if array.dtype.kind in "cV":
        raise LabelError(f"an array of {array.dtype} holds no labels; give integers, strings, booleans or categories")
    names = tuple(f"c{j}" for j in range(array.shape[1]))
    if isinstance(array, np.ma.MaskedArray):
        return _from_columns(list(names), [column.tolist() for column in array.T])
    plain = np.asarray(array)
    columns = tuple(plain[:, j].tolist() if plain.dtype.kind == "O" else plain[:, j] for j in range(plain.shape[1]))
    return Table(names, columns, None, plain if plain.dtype.kind in "iuf" else None)


def _from_rows(table: Any) -> Table:
    try:
        rows = [list(row) if is_sequence(row) else None for row in table]
    except (TypeError, ValueError):
        kind = type(table).__name__
        raise TableError(
            f"a {kind} is not a table; give an array, nested lists or a dataframe, objects in rows"
        ) from None
    if not rows or rows[0] == []:
        raise TableError("the table is empty; give objects in rows and clusterings in columns")
    for place, row in enumerate(rows):
        if row is None:
            raise TableError(
                f"row {place + 1} is not a list of labels; give each row as a list, one label a clustering"
            )
        if len(row) != len(rows[0] or ()):
            raise TableError(
                f"row {place + 1} has {len(row)} labels, the first row {len(rows[0] or ())}; make rows equally long"
            )
    columns: list[Any] = [list(column) for column in zip(*(row for row in rows if row is not None), strict=True)]
    integers = all(
        isinstance(cell, numbers.Integral) and not isinstance(cell, bool) for column in columns for cell in column
    )
    if integers:
        try:
            return _from_array(np.array(columns, dtype=np.int64).T)
        except OverflowError:
            pass
    return _from_columns([f"c{j}" for j in range(len(columns))], columns)
