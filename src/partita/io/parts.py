"""A labelling written block by block: a Parquet file for each block in a folder, put together at the end or left so."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from partita.core.errors import FileError
from partita.core.types import FloatArray, IntArray
from partita.io.formats import TEXT
from partita.io.labelling import CONSENSUS
from partita.io.source import naming
from partita.io.summary import column
from partita.io.writing import ROWS_AT_A_TIME, format_of, replacing, write_parquet, write_text

TOTALS: Final = b"partita totals"
"""Where a part keeps what its rows add up to."""


def check_whole(path: Path) -> str | None:
    """The format of the one file that is wanted, None for a folder of parts."""
    if not path.suffix or path.is_dir():
        return None
    kind = format_of(path, None)
    if kind not in (*TEXT, "parquet"):
        raise FileError(f"{path}: blocks are written as .parquet, .csv or .tsv, or into a folder; choose one of these")
    return kind


def part_path(folder: Path, number: int) -> Path:
    """Where the labels of a block are."""
    return folder / f"part-{number:06d}.parquet"


def labels_table(
    labels: IntArray,
    confidence: FloatArray | None,
    second: tuple[IntArray, FloatArray] | None,
    membership: FloatArray | None,
    ids: Any,
    id_name: str,
) -> pa.Table:
    """Return rows of a result with the columns of `result_table.result_columns`."""
    columns = {} if ids is None else {id_name: ids if isinstance(ids, (pa.Array, pa.ChunkedArray)) else column(ids)}
    columns[CONSENSUS] = pa.array(labels)
    if confidence is not None:
        columns["confidence"] = column(confidence)
    if second is not None:
        columns |= {"second": column(second[0]), "second_item_consensus": column(second[1])}
    if membership is not None:
        columns |= {f"{CONSENSUS}:{j}": column(shares) for j, shares in enumerate(membership.T)}
    return pa.table(columns)


def write_part(path: Path, tables: Iterator[pa.Table], totals: Any) -> None:
    """The pieces of a block, and the arrays that `totals()` then gives; the file is there whole or not at all."""
    with replacing(path) as file:
        first = next(tables)
        with pq.ParquetWriter(file, first.schema, compression="zstd", compression_level=1) as writer:
            writer.write_table(first)
            for table in tables:
                writer.write_table(table.cast(first.schema))
            writer.add_key_value_metadata({TOTALS: _written(totals())})


def _written(arrays: tuple[NDArray[np.float64], ...]) -> bytes:
    told = [{"shape": array.shape, "hex": array.astype("<f8").tobytes().hex()} for array in arrays]
    return json.dumps(told).encode()


def read_totals(path: Path) -> tuple[NDArray[np.float64], ...] | None:
    """What the rows of a part add up to; None where there is no such part, or it is damaged."""
    try:
        with path.open("rb") as file:
            told = json.loads((pq.ParquetFile(file).metadata.metadata or {})[TOTALS])
        return tuple(np.frombuffer(bytes.fromhex(one["hex"]), "<f8").reshape(one["shape"]) for one in told)
    except (OSError, KeyError, ValueError, TypeError, pa.ArrowException):
        return None


def read_parts(folder: Path, parts: int) -> Iterator[pa.Table]:
    """All parts in order, a piece at a time."""
    for number in range(parts):
        with part_path(folder, number).open("rb") as file:
            for batch in pq.ParquetFile(file).iter_batches(ROWS_AT_A_TIME):
                yield pa.Table.from_batches([batch])


def join_parts(folder: Path, parts: int, path: Path, kind: str, notes: Mapping[bytes, bytes]) -> None:
    """Put all parts together to one file."""
    with naming(path), replacing(path) as file:
        if kind == "parquet":
            write_parquet(_groups(folder, parts), dict(notes), file)
        else:
            write_text(read_parts(folder, parts), "\t" if kind == "tsv" else ",", file)


def _groups(folder: Path, parts: int) -> Iterator[pa.Table]:
    """A table for each part."""
    for number in range(parts):
        with part_path(folder, number).open("rb") as file:
            yield pq.ParquetFile(file).read().replace_schema_metadata(None)


def remove_parts(folder: Path) -> None:
    """Remove them all."""
    for part in folder.glob("part-*.parquet"):
        part.unlink(missing_ok=True)


def remove_halves(folder: Path) -> None:
    """Remove what a process that was killed left of the files it was writing; nobody writes there now."""
    for half in folder.glob(".*.tmp"):
        half.unlink(missing_ok=True)
