"""The numeric arrays of MATLAB files, versions 5 to 7.

SciPy's reader of these versions is compiled and can take the process down on a damaged file, so the few tags that a
pool of labels needs are read here, within bounds. Version 4 files go to SciPy, whose reader of them is plain Python.
"""

import math
import struct
import sys
import zlib
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partita.core.errors import FileError
from partita.io.limits import check_input_size

_HEADER = 128
_MATRIX, _COMPRESSED = 14, 15
_STORED = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
_CLASSES = {6: "f8", 7: "f4", 8: "i1", 9: "u1", 10: "i2", 11: "u2", 12: "i4", 13: "u4", 14: "i8", 15: "u8"}


class Element(NamedTuple):
    """One tagged piece of a file."""

    kind: int
    data: memoryview


def matlab_arrays(file: memoryview, limit: int = sys.maxsize) -> dict[str, NDArray[Any]]:
    """The arrays of a version 5 to 7 file by name; what is not numeric comes as an empty array of objects.

    They may take `limit` bytes, with the file.
    """
    if len(file) < _HEADER or bytes(file[126:128]) not in (b"IM", b"MI"):
        raise FileError("the MATLAB header is cut off or damaged; save the file again")
    order = "<" if bytes(file[126:128]) == b"IM" else ">"
    found = {}
    taken = len(file)
    for element in _elements(file[_HEADER:], order):
        inner = element
        if element.kind == _COMPRESSED:
            content = _decompressed(element.data, taken, limit)
            taken += len(content)
            inner = next(_elements(content, order), element)
        if inner.kind == _MATRIX:
            name, array = _array(inner.data, order, taken, limit)
            taken += array.nbytes
            found[name] = array
    return found


def _decompressed(data: memoryview, taken: int, limit: int) -> memoryview:
    """Return the content of a compressed element, which may have `limit` bytes with the `taken` ones."""
    unpacking = zlib.decompressobj()
    content = unpacking.decompress(data, min(max(limit - taken, 0) + 1, sys.maxsize))
    check_input_size(taken + len(content), limit, "a compressed array", at_least=True)
    if not unpacking.eof:
        raise FileError("a MATLAB array is cut off or damaged; save the file again")
    return memoryview(content)


def _elements(data: memoryview, order: str) -> Iterator[Element]:
    """The elements one after the other; short ones keep their data inside the tag."""
    place = 0
    while place + 8 <= len(data):
        kind, size = struct.unpack_from(f"{order}II", data, place)
        start, step = place + 8, 0 if kind == _COMPRESSED else -size % 8
        if kind >> 16:
            kind, size, start, step = kind & 0xFFFF, kind >> 16, place + 4, 4 - (kind >> 16)
        if start + size > len(data) or step < 0:
            raise FileError("a MATLAB array is cut off or damaged; save the file again")
        yield Element(kind, data[start : start + size])
        place = start + size + step


def _array(data: memoryview, order: str, taken: int, limit: int) -> tuple[str, NDArray[Any]]:
    parts = list(_elements(data, order))
    if len(parts) < 3:
        return "", np.empty(0, object)
    flags = struct.unpack_from(f"{order}I", parts[0].data)[0]
    shape = tuple(np.frombuffer(parts[1].data, f"{order}i4").tolist())
    name = bytes(parts[2].data).decode("ascii", "replace")
    wanted = _CLASSES.get(flags & 0xFF)
    if wanted is None or len(parts) != 4 or parts[3].kind not in _STORED:
        return name, np.empty(0, object)
    values = np.frombuffer(parts[3].data, order + _STORED[parts[3].kind])
    if min(shape, default=-1) < 0 or len(values) != math.prod(shape):
        raise FileError(f"the MATLAB array {name!r} is cut off or damaged; save the file again")
    check_input_size(taken + len(values) * np.dtype(wanted).itemsize, limit, f"the file up to the array {name!r}")
    return name, values.astype(wanted).reshape(shape, order="F")
