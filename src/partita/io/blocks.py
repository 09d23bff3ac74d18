"""Label tables that are read a block at a time: Parquet files, memory-mapped NPY files, arrays, or made on the way.

A block is a run of rows that one worker reads by itself, in pieces small enough to hold; it is described by plain
values, so that it can be sent anywhere. Blocks depend on the files alone, not on who reads them.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from partita.core.errors import FileError, TableError
from partita.io.columnar import check_one_file, index_column_of
from partita.io.finding import files_of, kind_of, opened, stamp_of
from partita.io.options import ReadOptions
from partita.io.raw import Choice, Raw, check_several, choose, is_soft
from partita.io.source import guarded, naming

BLOCK: Final = 1 << 20
"""Rows of a block, about."""
PIECE: Final = 1 << 17
"""Rows that are read at once."""


@dataclass(frozen=True, slots=True)
class Block:
    """Some consecutive rows."""

    number: int
    first: int
    """Its first row among all rows."""
    rows: int
    path: str = ""
    place: int = 0
    """Parquet: its first row group in the file; otherwise its first row in the file."""
    groups: int = 0
    """Parquet: how many row groups."""
    row: int = 0
    """Its first row in the file."""


class LabelBlocks(Protocol):
    """A label table in blocks."""

    @property
    def names(self) -> tuple[str, ...]:
        """The clusterings."""

    @property
    def blocks(self) -> tuple[Block, ...]:
        """All rows, in order."""

    @property
    def signature(self) -> tuple[str, ...]:
        """What tells this table from another one, or from itself after a change, without reading it."""

    def pieces(self, block: Block, picks: NDArray[np.int64] | None = None) -> Iterator[Raw]:
        """The rows of a block, or some of them (rising places within it), a piece at a time."""


@contextmanager
def naming_file(block: Block) -> Iterator[None]:
    """Errors that name the file of a block, if it has one."""
    with naming(block.path) if block.path else nullcontext():
        yield


@contextmanager
def naming_source(source: LabelBlocks) -> Iterator[None]:
    """Put the file, or the folder of the files, in front of errors that concern the whole table."""
    paths = list(dict.fromkeys(block.path for block in source.blocks if block.path))
    with naming(paths[0] if len(paths) == 1 else os.path.commonpath(paths)) if paths else nullcontext():
        yield


def rows_of(source: LabelBlocks) -> int:
    """How many rows there are in all."""
    return source.blocks[-1].first + source.blocks[-1].rows


@dataclass(frozen=True, slots=True)
class ParquetBlocks:
    """The row groups of Parquet files with the same columns."""

    names: tuple[str, ...]
    blocks: tuple[Block, ...]
    signature: tuple[str, ...]
    words: tuple[str, ...] = ()
    """Columns of strings, read as dictionaries."""
    ids: str | None = None

    def pieces(self, block: Block, picks: NDArray[np.int64] | None = None) -> Iterator[Raw]:
        """The rows of a block."""
        if picks is not None and not len(picks):
            return
        wanted = [*self.names, *([] if self.ids is None else [self.ids])]
        groups = list(range(block.place, block.place + block.groups))
        with opened(block.path) as file:
            held = guarded(lambda: pq.ParquetFile(file, read_dictionary=list(self.words)), "a Parquet file")
            batches = held.iter_batches(PIECE, row_groups=groups, columns=wanted, use_threads=False)
            done = 0
            while (batch := guarded(lambda: next(batches, None), "a Parquet file")) is not None:
                here = _within(picks, done, len(batch))
                done += len(batch)
                yield self._raw(batch, here)
        if done != block.rows:
            raise FileError(f"holds {done} rows where there were {block.rows}; was it changed? start again")

    def _raw(self, batch: pa.RecordBatch, picks: NDArray[np.int64] | None) -> Raw:
        def taken(name: str, plain: Callable[[pa.Array], pa.Array]) -> pa.Array:
            column = plain(batch.column(name))
            return column if picks is None else column.take(pa.array(picks))

        ids = None if self.ids is None else taken(self.ids, _plain_ids)
        return Raw(self.names, tuple(taken(name, _plain_labels) for name in self.names), ids=ids)


def _plain_labels(column: pa.Array) -> pa.Array:
    """Texts and decimal numbers as the types that all of Arrow's functions know."""
    if pa.types.is_string_view(column.type):
        return column.cast(pa.string())
    return column.cast(pa.float64()) if pa.types.is_decimal(column.type) else column


def _plain_ids(column: pa.Array) -> pa.Array:
    """Ids of one kind as one type, so that parts and files fit together."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    kind = _sort(column.type)
    return column.cast({"integers": pa.int64(), "strings": pa.string()}.get(kind, column.type))


@dataclass(frozen=True, slots=True)
class NpyBlocks:
    """Rows of NPY files, which are mapped into memory and not read before they are needed."""

    names: tuple[str, ...]
    blocks: tuple[Block, ...]
    signature: tuple[str, ...]
    columns: tuple[int, ...]
    ids: int | None = None

    def pieces(self, block: Block, picks: NDArray[np.int64] | None = None) -> Iterator[Raw]:
        """The rows of a block."""
        whole = guarded(lambda: np.load(block.path, mmap_mode="r", allow_pickle=False), "an npy file")
        if len(whole) < block.place + block.rows:
            raise FileError("has fewer rows than before; was it changed? start again")
        part = whole[block.place : block.place + block.rows]
        for found in _array_pieces(part, picks):
            ids = None if self.ids is None else found[:, self.ids]
            yield Raw(self.names, tuple(found[:, j] for j in self.columns), ids=ids)


@dataclass(frozen=True, slots=True)
class MadeBlocks:
    """Rows that a function makes or reads: `read(start, stop)` gives an integer array (rows, clusterings)."""

    names: tuple[str, ...]
    blocks: tuple[Block, ...]
    read: Callable[[int, int], NDArray[Any]]
    signature: tuple[str, ...] = ()

    def pieces(self, block: Block, picks: NDArray[np.int64] | None = None) -> Iterator[Raw]:
        """The rows of a block."""
        if picks is not None and not len(picks):
            return
        found = np.asarray(self.read(block.first, block.first + block.rows))
        if found.shape != (block.rows, len(self.names)) or found.dtype.kind not in "iub":
            raise TableError(
                f"rows {block.first} to {block.first + block.rows}: got an array of {found.dtype} and shape "
                f"{found.shape}; give integers, shape {(block.rows, len(self.names))}"
            )
        for piece in _array_pieces(found, picks):
            yield Raw(self.names, tuple(piece[:, j] for j in range(piece.shape[1])))


def made_blocks(
    read: Callable[[int, int], NDArray[Any]], rows: int, names: Sequence[str], block: int = BLOCK
) -> MadeBlocks:
    """A table of so many rows from a function that gives any consecutive ones."""
    if rows < 1:
        raise TableError("the table is empty; give objects in rows and clusterings in columns")
    return MadeBlocks(tuple(names), _runs("", rows, 0, 0, block), read)


def array_blocks(array: NDArray[Any], names: Sequence[str] | None = None, block: int = BLOCK) -> MadeBlocks:
    """An array in memory, or mapped into it, in blocks."""
    if array.ndim != 2 or 0 in array.shape or array.dtype.kind not in "iub":
        raise TableError(
            f"an array of {array.dtype} and shape {array.shape} is no table of label codes; give integers, objects in "
            "rows and clusterings in columns"
        )
    called = [f"c{j}" for j in range(array.shape[1])] if names is None else names
    return made_blocks(lambda start, stop: array[start:stop], len(array), called, block)


def open_blocks(paths: str | Path | Sequence[str | Path], options: ReadOptions, block: int = BLOCK) -> LabelBlocks:
    """The blocks of one file, of all files of a folder, of those that fit a pattern (`labels/*.parquet`), or of a list.

    Files are taken in the order of their names. Paths may be URIs that Arrow knows, such as `s3://bucket/labels`.
    """
    if options.transpose or options.header is not None:
        raise FileError("tables read in blocks have objects in rows and named columns; leave out transpose and header")
    given = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    if not given or not all(isinstance(path, (str, os.PathLike)) for path in given):
        raise FileError(f"{paths!r:.60} names no file; give a path, a pattern, a folder or a list of them")
    files = [found for path in given for found in files_of(str(path))]
    kinds = {kind_of(file, options.format) for file in files}
    if len(kinds) > 1:
        raise FileError(f"{given[0]}: files of several formats ({', '.join(sorted(kinds))}) are no one table; name one")
    return (_parquet if kinds == {"parquet"} else _npy)(files, options, block)


def _parquet(files: list[str], options: ReadOptions, block: int) -> ParquetBlocks:
    blocks: list[Block] = []
    first: tuple[str, pa.Schema, Choice] | None = None
    for path in files:
        with naming(path), opened(path) as file:
            held = guarded(lambda file=file: pq.ParquetFile(file), "a Parquet file")  # type: ignore[misc]  # bound now
            schema, meta = held.schema_arrow, held.metadata
            check_one_file(meta)
            if first is None:
                names = schema.names  # a new list at each access
                choice = choose(names, index_column_of(schema), options)
                _check_names([names[j] for j in choice.labels], options)
                first = path, schema, choice
            _check_alike(schema, path, *first)
            sizes = [meta.row_group(group).num_rows for group in range(meta.num_row_groups)]
        blocks += _grouped(path, sizes, len(blocks), blocks[-1].first + blocks[-1].rows if blocks else 0, block)
    assert first is not None
    if not blocks:
        raise FileError(f"{files[0]}: holds no rows; give one row an object")
    _, schema, choice = first
    names, types = schema.names, schema.types
    if choice.ids is not None and pa.types.is_nested(types[choice.ids]):
        raise FileError(f"{files[0]}: column {names[choice.ids]!r} holds {types[choice.ids]}, no ids")
    labels = tuple(names[j] for j in choice.labels)
    words = tuple(names[j] for j in choice.labels if pa.types.is_string(types[j]))
    ids = None if choice.ids is None else names[choice.ids]
    return ParquetBlocks(labels, tuple(blocks), tuple(map(stamp_of, files)), words, ids)


def _check_names(names: list[str], options: ReadOptions) -> None:
    soft = [name for name in names if is_soft(name)]
    if soft:
        raise FileError(
            f"column {soft[0]!r} belongs to memberships, which are not read in blocks; leave them out (--exclude), or "
            "read the file whole"
        )
    check_several(names, options)


def _check_alike(schema: pa.Schema, path: str, other: str, wanted: pa.Schema, choice: Choice) -> None:
    """Refuse a file whose columns are not those of the first one."""
    places = [*choice.labels, *([] if choice.ids is None else [choice.ids])]
    names, types = wanted.names, wanted.types
    type_of = dict(zip(schema.names, schema.types, strict=True))
    for j in places:
        if names[j] not in type_of:
            raise FileError(f"has no column {names[j]!r}, which {other} has; give files with the same columns")
        if _sort(type_of[names[j]]) != _sort(types[j]):
            raise FileError(
                f"column {names[j]!r} holds {type_of[names[j]]}, in {other} {types[j]}; give all files the same type"
            )


def _sort(kind: pa.DataType) -> str:
    """Types whose values may stand side by side in one column."""
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    if pa.types.is_integer(kind) and kind != pa.uint64():
        return "integers"
    text = pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    return "strings" if text else str(kind)


def _grouped(path: str, sizes: list[int], number: int, first: int, block: int) -> list[Block]:
    """Row groups of one file put together to blocks of some size."""
    found: list[Block] = []
    begun, rows = 0, 0
    for group, size in enumerate(sizes):
        rows += size
        if rows >= block or (group == len(sizes) - 1 and rows):
            block_of = Block(number + len(found), first, rows, path, begun, group + 1 - begun, sum(sizes[:begun]))
            found.append(block_of)
            begun, first, rows = group + 1, first + rows, 0
    return found


def _npy(files: list[str], options: ReadOptions, block: int) -> NpyBlocks:
    blocks: list[Block] = []
    shape: tuple[str, int] | None = None
    for path in files:
        with naming(path):
            array = guarded(lambda path=path: np.load(path, mmap_mode="r", allow_pickle=False), "an npy file")  # type: ignore[misc]  # bound now
            if array.ndim != 2 or 0 in array.shape or array.dtype.kind not in "iub":
                raise FileError(
                    f"holds an array of {array.dtype} and shape {array.shape}; to be read in blocks it must hold "
                    "integers, objects in rows and clusterings in columns"
                )
            shape = shape or (path, array.shape[1])
            if array.shape[1] != shape[1]:
                raise FileError(f"has {array.shape[1]} columns, {shape[0]} has {shape[1]}; give files of one shape")
        blocks += _runs(path, len(array), len(blocks), blocks[-1].first + blocks[-1].rows if blocks else 0, block)
    assert shape is not None
    with naming(files[0]):
        names = [f"c{j}" for j in range(shape[1])]
        choice = choose(names, None, options)
        check_several([names[j] for j in choice.labels], options)
    called = tuple(names[j] for j in choice.labels)
    return NpyBlocks(called, tuple(blocks), tuple(map(stamp_of, files)), choice.labels, choice.ids)


def _runs(path: str, rows: int, number: int, first: int, block: int) -> tuple[Block, ...]:
    """Blocks of consecutive rows of a table of so many."""
    starts = range(0, rows, block)
    return tuple(
        Block(number + place, first + start, min(block, rows - start), path, start, row=start)
        for place, start in enumerate(starts)
    )


def _within(picks: NDArray[np.int64] | None, start: int, rows: int) -> NDArray[np.int64] | None:
    """Those of the rising places that lie in `start … start + rows`, from there on."""
    if picks is None:
        return None
    low, high = np.searchsorted(picks, [start, start + rows])
    return picks[low:high] - start


def _array_pieces(part: NDArray[Any], picks: NDArray[np.int64] | None) -> Iterator[NDArray[Any]]:
    native = part.dtype.newbyteorder("=")
    if picks is not None:
        if len(picks):
            yield np.asarray(part[picks], native)
        return
    for start in range(0, len(part), PIECE):
        yield np.asarray(part[start : start + PIECE], native)
