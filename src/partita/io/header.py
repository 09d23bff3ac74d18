"""The first line of a text table: its delimiter, and whether it names the columns."""

import csv
import io
import re
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partita.core.coding import BLANKS
from partita.core.errors import FileError
from partita.io.limits import COLUMN_BYTES, check_input_size
from partita.kernels.text import line_end

NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_DELIMITERS = (",", ";", "\t")
_BOM = np.frombuffer(b"\xef\xbb\xbf", np.uint8)
_LINE_ENDS = (10, 13)
TEXT_COPIES: Final = 10
"""Memory of a line, per byte, while Python's csv module reads it; it uses four bytes per character."""


class Header(NamedTuple):
    """What stands above the data of a text table."""

    names: tuple[str, ...]
    row_names: int | None
    """0 when the first column has no name, so holds ids."""
    delimiter: str
    start: int
    """Where the data begins, in bytes."""
    line: int
    """The line of the first data row, counted from 1."""
    given: bool
    """Whether the file names its columns itself."""


def trimmed(data: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The text without byte-order mark and without empty lines at its end; its lines end in newlines."""
    if np.array_equal(data[:3], _BOM):
        data = data[3:]
    if line_end(data, 0) == len(data) and (data == 13).any():  # lines ended by a return alone
        data = np.where(data == 13, np.uint8(10), data)
    stop = len(data)
    while stop and data[stop - 1] in _LINE_ENDS:
        stop -= 1
    return data[: line_end(data, stop)]


def read_header(data: NDArray[np.uint8], delimiter: str | None, header: bool | None, limit: int) -> Header:
    """The header of a trimmed text; `header` is as in `ReadOptions`, `limit` as in `Source`."""
    begin, line = 0, 1
    while begin < len(data) and data[begin] in _LINE_ENDS:
        line += int(data[begin] == 10)
        begin += 1
    record, stop = _first_record(data, begin, limit)
    if not record.strip():
        raise FileError("the file is empty")
    delimiter = delimiter or _sniff(record)
    cells = _cells(record, delimiter)
    if header is False:
        return Header(tuple(f"c{j}" for j in range(len(cells))), None, delimiter, begin, line, False)
    row_names = 0 if not cells[0] and len(cells) > 1 else None
    counted = [str(j) for j in range(len(cells) - (row_names is not None))]
    default = cells[-len(counted) :] == counted
    if header is None and not default and _looks_like_data(cells):
        raise FileError(
            f"the first row ({', '.join(cells[:4])}{', …' if len(cells) > 4 else ''}) looks like data; "
            "give names, or say header=False (--no-header); header=True (--header) if these are the names"
        )
    return Header(tuple(cells), row_names, delimiter, stop, line + record.count("\n") + 1, not default)


def _first_record(data: NDArray[np.uint8], begin: int, limit: int) -> tuple[str, int]:
    """The first line as text and where the next begins; a quoted cell may run over several lines."""
    stop = line_end(data, begin)
    quotes = np.count_nonzero(data[begin:stop] == 34)
    while stop < len(data) and quotes % 2:
        start, stop = stop, line_end(data, stop)
        quotes += np.count_nonzero(data[start:stop] == 34)
    line = data[begin:stop]
    cells = 1 + max(int(np.count_nonzero(line == ord(delimiter))) for delimiter in _DELIMITERS)
    needed = len(data) + TEXT_COPIES * len(line) + COLUMN_BYTES * cells
    check_input_size(needed, limit, f"the first line, with {cells} columns in {len(line)} bytes,")
    try:
        record = data[begin:stop].tobytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise not_utf8(1, data[begin + error.start]) from None
    return record.rstrip("\r\n"), stop


def not_utf8(line: int, byte: int) -> FileError:
    """The error for text in another encoding."""
    return FileError(f"line {line} is not UTF-8 text (byte 0x{byte:02x}); save the file as UTF-8")


def _sniff(record: str) -> str:
    outside = re.sub(r'"[^"]*"', "", record)
    return max(_DELIMITERS, key=outside.count)


def _cells(record: str, delimiter: str) -> list[str]:
    try:
        rows = list(csv.reader(io.StringIO(record, newline=""), delimiter=delimiter))
    except csv.Error as error:
        raise FileError(f"the first line cannot be read ({error}); is this a text table?") from None
    return [cell.strip() for cell in rows[0]]


def _looks_like_data(cells: list[str]) -> bool:
    numbers = [NUMBER.fullmatch(cell) is not None for cell in cells]
    return any(numbers) and all(number or cell in BLANKS for number, cell in zip(numbers, cells, strict=True))
