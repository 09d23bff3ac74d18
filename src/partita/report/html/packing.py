"""The labels of all objects, packed so small that they travel in the page, and what could not be taken along.

The bytes, gzipped and in base64, are: the labels (little-endian, in the smallest type), then the confidences in
thousandths (65535: not known), then the ids as a JSON list. The page's script unpacks them into a CSV file.
"""

import base64
import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from partita.core.types import FloatArray, IntArray, smallest_type

UNKNOWN: Final = 65535
MOST_WHOLE: Final = 2**53
"""Whole numbers beyond this are written as text: a browser's numbers cannot hold them."""


@dataclass(frozen=True, slots=True)
class Packed:
    """What travels, and how it is laid out."""

    rows: int
    width: int
    """Bytes of a label."""
    has_confidence: bool
    has_ids: bool
    data: str
    """Base64; empty where not even the labels fit."""


def pack(labels: IntArray, confidence: FloatArray | None, ids: NDArray[Any] | None, budget: int) -> Packed:
    """The labels with as much of the rest as fits in `budget` letters: ids first, then confidences."""
    kind = np.dtype(smallest_type(int(labels.max(initial=0)) + 1)).newbyteorder("<")
    body = labels.astype(kind).tobytes()
    sure = b"" if confidence is None else thousandths(confidence).tobytes()
    for with_ids, with_confidence in ((True, True), (True, False), (False, True), (False, False)):
        if (with_ids and ids is None) or (with_confidence and confidence is None):
            continue
        if with_ids and ids is not None and _too_many(ids, budget):
            continue
        names = ids_json(ids) if with_ids and ids is not None else b""
        data = _letters(body + (sure if with_confidence else b"") + names)
        if len(data) <= budget:
            return Packed(len(labels), kind.itemsize, with_confidence, with_ids, data)
    return Packed(len(labels), kind.itemsize, False, False, "")


def unpack(packed: Packed) -> tuple[IntArray, FloatArray | None, list[Any] | None]:
    """Labels, confidences and ids again, as the page's script does it."""
    held = gzip.decompress(base64.b64decode(packed.data))
    end = packed.rows * packed.width
    labels = np.frombuffer(held[:end], f"<i{packed.width}").astype(np.int64)
    sure, names = None, None
    if packed.has_confidence:
        levels = np.frombuffer(held[end : end + 2 * packed.rows], "<u2")
        sure = np.where(levels == UNKNOWN, np.nan, levels / 1000)
        end += 2 * packed.rows
    if packed.has_ids:
        names = json.loads(held[end:])
    return labels, sure, names


def thousandths(values: FloatArray) -> NDArray[np.uint16]:
    """Confidences as whole thousandths in two bytes."""
    known = np.isfinite(values)
    return np.where(known, np.rint(np.where(known, values, 0) * 1000), UNKNOWN).astype("<u2")


def ids_json(ids: NDArray[Any]) -> bytes:
    """Ids as a JSON list: whole numbers as numbers where a browser can hold them, all else as text."""
    values = list(_plain(ids.tolist()))
    return json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def _plain(values: list[Any]) -> Iterator[Any]:
    for value in values:
        whole = isinstance(value, int) and not isinstance(value, bool) and abs(value) < MOST_WHOLE
        yield value if whole else str(value)


def _too_many(ids: NDArray[Any], budget: int) -> bool:
    """Whether a sample of the ids says that all of them cannot fit, so that they need not be packed to see it."""
    sample = ids[:: max(len(ids) // 4096, 1)]
    if len(sample) == len(ids):
        return False
    return len(_letters(ids_json(sample))) * len(ids) / len(sample) > 8 * budget


def _letters(data: bytes) -> str:
    return base64.b64encode(gzip.compress(data, 6, mtime=0)).decode()
