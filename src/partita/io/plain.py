"""The fast route for text tables of integers: bytes to label matrix in one compiled pass."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from partita.core.threads import map_chunks, map_threads
from partita.io.limits import ID_BYTES, check_input_size
from partita.io.raw import Choice
from partita.kernels.text import NEWLINE, RECORDED, SKIPPED, count_lines, gather_spans, line_end, parse_labels

CHUNK_BYTES = 1 << 22


class Plain(NamedTuple):
    """A label matrix (EMPTY where a cell is) and the ids of its rows, if any."""

    labels: NDArray[np.int32]
    ids: pa.Array | None


def read_plain(body: NDArray[np.uint8], delimiter: str, width: int, choice: Choice, limit: int) -> Plain | None:
    """The chosen columns of a text of `width` columns, or None when it holds more than plain integers and ids."""
    cuts = line_cuts(body)
    chunks = list(pairwise(cuts))
    lines = map_threads(lambda chunk: count_lines(body, *chunk), chunks)
    lines[-1] += int(body[-1] != NEWLINE)
    firsts = np.concatenate([[0], np.cumsum(lines)]).astype(np.int64)
    targets = np.full(width, SKIPPED, np.int64)
    targets[list(choice.labels)] = np.arange(len(choice.labels))
    if choice.ids is not None:
        targets[choice.ids] = RECORDED
    needed = len(body) + int(firsts[-1]) * (4 * len(choice.labels) + ID_BYTES * (choice.ids is not None))
    check_input_size(needed, limit, f"the table of {firsts[-1]} rows and {len(choice.labels)} columns")
    labels = np.empty((firsts[-1], len(choice.labels)), np.int32)
    spans = np.empty((firsts[-1] if choice.ids is not None else 0, 2), np.int64)

    def parse(place: int) -> int:
        start, stop = chunks[place]
        return parse_labels(body, start, stop, ord(delimiter), targets, labels, spans, firsts[place])

    if max(map_threads(parse, range(len(chunks)), "reading")) >= 0:
        return None
    if choice.ids is None:
        return Plain(labels, None)
    ids = _strings(body, spans)
    return None if ids is None else Plain(labels, ids)


def line_cuts(body: NDArray[np.uint8]) -> Sequence[int]:
    """Where chunks of whole lines begin and end; they depend on the text alone."""
    cuts = [0]
    while cuts[-1] < len(body):
        cuts.append(line_end(body, min(cuts[-1] + CHUNK_BYTES, len(body))))
    return cuts


def _strings(body: NDArray[np.uint8], spans: NDArray[np.int64]) -> pa.Array | None:
    """The cells at `spans` as an Arrow array, or None when they are not UTF-8."""
    rows = len(spans)
    offsets = np.zeros(rows + 1, np.int64)
    np.cumsum(spans[:, 1] - spans[:, 0], out=offsets[1:])
    text = np.empty(offsets[-1], np.uint8)
    map_chunks(lambda start, stop: gather_spans(body, spans, offsets, text, start, stop), rows)
    array = pa.LargeStringArray.from_buffers(rows, pa.py_buffer(offsets), pa.py_buffer(text))
    try:
        array.validate(full=True)
    except pa.ArrowInvalid:
        return None
    return array
