"""A small PNG of one colour whose strength says the value, so that it suits a light and a dark page alike."""

import base64
import struct
import zlib
from typing import Final

import numpy as np

from partita.core.types import FloatArray

COLOUR: Final = (31, 119, 199)
_LEVELS: Final = 255


def strength_png(values: FloatArray) -> bytes:
    """Values from 0 (see-through) to 1 (full colour) as an indexed PNG; NaN is see-through."""
    levels = np.clip(np.rint(np.nan_to_num(values) * _LEVELS), 0, _LEVELS).astype(np.uint8)
    height, width = levels.shape
    lines = np.zeros((height, width + 1), np.uint8)  # each line begins with 0: no filter
    lines[:, 1:] = levels
    return b"".join(
        [
            b"\x89PNG\r\n\x1a\n",
            _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
            _chunk(b"PLTE", bytes(COLOUR) * (_LEVELS + 1)),
            _chunk(b"tRNS", bytes(range(_LEVELS + 1))),
            _chunk(b"IDAT", zlib.compress(lines.tobytes(), 9)),
            _chunk(b"IEND", b""),
        ]
    )


def shrunk(values: FloatArray, most: int) -> FloatArray:
    """At most so many rows and columns, each the mean of neighbours; what is not known counts as 0.

    >>> shrunk(np.array([[1.0, 0.0], [0.0, 1.0]]), 1).tolist()
    [[0.5]]
    """
    known = np.nan_to_num(values)
    for axis in (0, 1):
        many = known.shape[axis]
        if many > most:
            ends = np.arange(most + 1) * many // most
            known = np.add.reduceat(known, ends[:-1], axis) / np.expand_dims(np.diff(ends), 1 - axis)
    return known


def data_uri(png: bytes) -> str:
    """The picture as an address that needs no network."""
    return "data:image/png;base64," + base64.b64encode(png).decode()


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
