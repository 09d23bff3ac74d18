"""Text tables: comma-, semicolon- or tab-separated."""

import csv
import io
import re
from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
from numpy.typing import NDArray

from partita.core.coding import BLANKS
from partita.core.errors import FileError
from partita.core.memory import GIGABYTE
from partita.core.types import sealed
from partita.io.header import Header, not_utf8, read_header, trimmed
from partita.io.limits import VALUE_BYTES, check_input_size
from partita.io.options import ReadOptions
from partita.io.plain import CHUNK_BYTES, line_cuts, read_plain
from partita.io.raw import Choice, Raw, check_several, choose, is_soft
from partita.io.source import Source
from partita.kernels.text import EMPTY, broken_quote, count_lines

_LABELS = pa.dictionary(pa.int32(), pa.string())
_LARGEST_BLOCK = (1 << 31) - 1
LINE_COPIES = 20
"""Memory of a very long line, per byte, in Arrow's parser or in Python's csv module: a cell may have one byte."""
WORD_BYTES = 150
"""Memory per different word in a chunk of text, in Arrow's dictionaries (measured: 130)."""
MAX_SAMPLES = 8
"""Chunks of a text in which different words are counted."""


def load_text(source: Source, options: ReadOptions) -> Raw:
    """The clusterings of a text table."""
    data, header = read_top(source, options.header)
    choice = choose(header.names, header.row_names, options)
    if not options.transpose:
        named = [header.names[j] for j in choice.labels]
        check_several(named, options, f"; is {header.delimiter!r} the wrong delimiter?")
    return read_columns(data, header, choice, source.limit, everything=bool(options.transpose))


def read_top(source: Source, header: bool | None) -> tuple[NDArray[np.uint8], Header]:
    """The text, trimmed, and its header; there must be data under it."""
    assert source.data is not None
    data = trimmed(source.data)
    found = read_header(data, "\t" if source.format == "tsv" else None, header, source.limit)
    if found.start >= len(data):
        raise FileError("holds a header and no data; give one row an object")
    return data, found


def read_columns(data: NDArray[np.uint8], header: Header, choice: Choice, limit: int, everything: bool = False) -> Raw:
    """The chosen columns, by the fast route when it can; `everything` reads memberships as text too."""
    names = tuple(header.names[j] for j in choice.labels)
    plain = read_plain(data[header.start :], header.delimiter, len(header.names), choice, limit)
    if plain is not None:
        return Raw(names, matrix=plain.labels, empty=EMPTY, ids=plain.ids, text=True, header=header.given)
    types: dict[str, Any] = {
        str(j): pa.float64() if is_soft(header.names[j]) and not everything else _LABELS for j in choice.labels
    }
    if choice.ids is not None:
        types[str(choice.ids)] = pa.string()
    table = _read_general(data, header, types, limit)
    ids = None if choice.ids is None else table.column(str(choice.ids))
    columns = tuple(table.column(str(j)) for j in choice.labels)
    return Raw(names, columns, ids=ids, text=True, header=header.given)


def read_numbers(data: NDArray[np.uint8], header: Header, choice: Choice, limit: int) -> Raw:
    """The chosen columns as floats; as text, all of them, where a cell is no number."""
    types: dict[str, Any] = {str(j): pa.float64() for j in choice.labels}
    if choice.ids is not None:
        types[str(choice.ids)] = pa.string()
    table = _read_general(data, header, types, limit)
    ids = None if choice.ids is None else table.column(str(choice.ids))
    names = tuple(header.names[j] for j in choice.labels)
    return Raw(names, tuple(table.column(str(j)) for j in choice.labels), ids=ids)


def _read_general(data: NDArray[np.uint8], header: Header, types: dict[str, Any], limit: int) -> pa.Table:
    """The columns of `types` (keyed by place), with quotes and words; a broken table raises with its line."""
    body = data[header.start :]
    _check_memory(body, header, types, limit)
    if re.search(rb'"', body.data):
        _check_quotes(data, header)
    if len(header.names) > 1 and re.search(rb"\n\r?\n", body.data):
        _find_ragged(data, header)
    block = 1 << 22
    while True:
        try:
            table = _parse(body, header, types, block).unify_dictionaries()
            check_distinct(table.columns, limit)
            return table
        except pa.ArrowInvalid as error:
            reason = str(error)
        if "straddl" in reason and block != _LARGEST_BLOCK:
            block = _LARGEST_BLOCK  # one line is longer than a block
        elif "conversion error to double" in reason and pa.float64() in types.values():
            types = {place: _LABELS if kind == pa.float64() else kind for place, kind in types.items()}
        else:
            raise _diagnosed(data, header, reason)


def _check_memory(body: NDArray[np.uint8], header: Header, types: dict[str, Any], limit: int) -> None:
    """Raise if Arrow would need too much memory, or if a line is so long that Arrow ends the process."""
    stops = np.array(line_cuts(body))
    rows = count_lines(body, 0, len(body)) + 1
    # Every chunk of lines but one line is at most CHUNK_BYTES long.
    line = max(int(np.diff(stops).max()) - CHUNK_BYTES, 0)
    if line > _LARGEST_BLOCK - CHUNK_BYTES:
        number = header.line + count_lines(body, 0, int(stops[np.argmax(np.diff(stops)) + 1]) - 1)
        size = f"{line / GIGABYTE:.2g} GB, more than the maximum of 2 GB per line"
        raise FileError(f"line {number} has {size}; give one row per object")
    cells = sum(8 if kind == pa.float64() else 4 for kind in types.values()) * rows
    # The text, its copy for Arrow, the text in Arrow's columns, and a line while its cells are counted.
    needed = 3 * len(body) + cells + LINE_COPIES * line
    check_input_size(needed, limit, f"the table of {len(body) / GIGABYTE:.3g} GB")
    if needed + WORD_BYTES * rows * len(types) > limit:  # not even if all cells are different
        words = _estimated_words(body, header, types, stops)
        check_input_size(
            needed + WORD_BYTES * words, limit, f"the table, with about {words:.2g} different text labels,"
        )


def _estimated_words(body: NDArray[np.uint8], header: Header, types: dict[str, Any], stops: NDArray[np.int64]) -> float:
    """Return the sum of the numbers of different words in all columns and chunks, estimated from some of the chunks."""
    words, size = 0, 0
    for place in sorted({*np.linspace(0, len(stops) - 2, MAX_SAMPLES).astype(int).tolist()}):
        chunk = body[stops[place] : stops[place + 1]]
        try:
            table = _parse(chunk, header, types, len(chunk))
        except pa.ArrowInvalid:  # a quoted cell of several lines; or the table is broken, which is reported later
            continue
        pieces = (piece for column in table.columns for piece in column.chunks)
        words += sum(len(piece.dictionary) for piece in pieces if pa.types.is_dictionary(piece.type))
        size += len(chunk)
    return words / size * len(body) if size else 0.0


def check_distinct(columns: Iterable[Any], limit: int) -> None:
    """Raise if the distinct values of dictionary columns need too much memory as Python objects."""
    values = 0
    for column in columns:
        if pa.types.is_dictionary(column.type) and column.num_chunks:
            values += len(column.chunk(0).dictionary)
            check_input_size(VALUE_BYTES * values, limit, f"the table, with {values} or more different text labels,")


def _parse(body: NDArray[np.uint8], header: Header, types: dict[str, Any], block: int) -> pa.Table:
    quotes = bool(re.search(rb'"', body.data))
    places = [str(j) for j in range(len(header.names))]
    return pacsv.read_csv(
        pa.BufferReader(_own_copy(body)),
        pacsv.ReadOptions(column_names=places, block_size=min(block, max(len(body), 1 << 10) + 1)),
        pacsv.ParseOptions(delimiter=header.delimiter, newlines_in_values=quotes, ignore_empty_lines=False),
        pacsv.ConvertOptions(column_types=types, include_columns=list(types), null_values=sorted(BLANKS)),
    )


def _own_copy(body: NDArray[np.uint8]) -> pa.Buffer:
    """The bytes in memory of Arrow's own.

    After an error, Arrow's threads may be the last to let go of what they read. For memory that belongs to Python they
    then ask for the interpreter, and where that is about to end, the whole process aborts.
    """
    copy = pa.allocate_buffer(len(body))
    np.frombuffer(copy, np.uint8)[:] = body
    return copy


def _diagnosed(data: NDArray[np.uint8], header: Header, reason: str) -> FileError:
    """What is wrong with a table that Arrow refused, found by reading it again line by line."""
    if "UTF8" not in reason:
        _find_ragged(data, header)
    _find_bad_byte(data)
    return FileError(f"cannot be read as a table ({reason.splitlines()[0][:200]}); check quotes and delimiters")


def _records(data: NDArray[np.uint8], header: Header) -> Any:
    stream = pa.BufferReader(pa.py_buffer(data[header.start :]))
    return csv.reader(
        io.TextIOWrapper(stream, encoding="utf-8", errors="replace", newline=""), delimiter=header.delimiter
    )


def _find_ragged(data: NDArray[np.uint8], header: Header) -> None:
    """Raise for the first line with too few or too many cells, if there is one."""
    records = _records(data, header)
    width = len(header.names)
    line = header.line
    try:
        for record in records:
            if not record:
                raise FileError(f"line {line} is empty; remove it, or fill it with {width} cells")
            if len(record) != width:
                what = "the header" if header.line > 1 else "the first line"
                raise FileError(
                    f"line {line} has {len(record)} cell{'s' * (len(record) != 1)}, {what} {width}; "
                    f"make rows equally long (an unobserved label is an empty cell between delimiters)"
                )
            line = header.line + records.line_num
    except csv.Error as error:
        raise FileError(f"line {line} cannot be read ({error}); check its quotes") from None


def _check_quotes(data: NDArray[np.uint8], header: Header) -> None:
    """Raise for a quote that would swallow what follows it: Arrow reads on to the next one, or to the end."""
    place, column, ends = broken_quote(sealed(data[header.start :]), ord(header.delimiter))
    if place < 0:
        return
    line = header.line + int(np.count_nonzero(data[header.start : header.start + place] == 10))
    where = f"line {line}, column {header.names[column]!r}" if column < len(header.names) else f"line {line}"
    what = "closes before the cell ends" if ends else "is opened and never closed"
    raise FileError(f"{where}: a quote {what}; remove it, or write a quote inside a quoted cell twice")


def _find_bad_byte(data: NDArray[np.uint8]) -> None:
    """Raise for the first line that is not UTF-8, if there is one."""
    try:
        str(data.data, "utf-8")
    except UnicodeDecodeError as error:
        raise not_utf8(int(np.count_nonzero(data[: error.start] == 10)) + 1, int(data[error.start])) from None
