"""Files of data sets: a CSV whose last column is the class, plain or gzipped, and word counts with labels apart."""

import gzip
import io
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv

from partita.core.errors import FileError
from partita.core.types import FloatArray, IntArray
from partita.datasets.base import Dataset


class Table(NamedTuple):
    """Features and the class of each object as the file has it."""

    X: FloatArray
    classes: Sequence[str]


def raw_bytes(path: Path) -> bytes:
    """What the file holds, unpacked by nobody."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise FileError(f"{path}: cannot be read ({error.strerror})") from None


def unpacked(path: Path, raw: bytes) -> bytes:
    """The bytes of a file that may be gzipped."""
    if path.suffix != ".gz":
        return raw
    try:
        return gzip.decompress(raw)
    except (OSError, EOFError, zlib.error) as error:
        raise FileError(f"{path}: is no whole gzip file ({error}); get it again") from None


def read_table(path: Path, raw: bytes) -> Table:
    """Features and classes of a CSV with a header line and the class in the last column."""
    text = unpacked(path, raw)
    last = text[: text.find(b"\n")].decode("utf-8", "replace").strip().rsplit(",", 1)[-1].strip('"')
    try:
        read = pacsv.read_csv(io.BytesIO(text), convert_options=pacsv.ConvertOptions(column_types={last: pa.string()}))
        X = np.column_stack([column.to_numpy() for column in read.columns[:-1]]).astype(np.float64)
    except (pa.ArrowInvalid, ValueError, TypeError) as error:
        reason = str(error).splitlines()[0]
        raise FileError(f"{path}: is no table of numbers with the class in the last column ({reason})") from None
    if not np.isfinite(X).all():
        row, column = np.argwhere(~np.isfinite(X))[0]
        raise FileError(f"{path}: row {row}, feature {column} is empty or not finite; every value must be a number")
    return Table(X, read.columns[-1].to_pylist())


def read_counts(counts: tuple[Path, bytes], labels: tuple[Path, bytes], d: int) -> Table:
    """Word counts as triplets doc,word,count, and a column of labels."""
    read = pacsv.read_csv(io.BytesIO(unpacked(*counts)))
    classes = unpacked(*labels).decode().split()[1:]
    X = np.zeros((len(classes), d))
    doc, word, count = (column.to_numpy() for column in read.columns)
    X[doc, word] = count
    return Table(X, classes)


def coded(names: Sequence[str], classes: Sequence[str], counts: Sequence[int]) -> tuple[IntArray, tuple[str, ...]]:
    """Codes 0..k-1 of the classes of another copy, and their names: ours where they can be told, else its own.

    >>> coded(["B", "a", "a"], ("a", "b"), (2, 1))
    (array([1, 0, 0]), ('a', 'b'))
    >>> coded(["1", "0", "0"], ("a", "b"), (2, 1))
    (array([1, 0, 0]), ('a', 'b'))
    >>> coded(["g", "b", "b"], ("good", "bad"), (1, 2))
    (array([1, 0, 0]), ('b', 'g'))
    """
    found = sorted(set(names), key=lambda name: (len(name), name) if name.isdigit() else (0, name))
    ours = {name.casefold(): code for code, name in enumerate(classes)}
    if {name.casefold() for name in found} == set(ours):
        return np.array([ours[name.casefold()] for name in names]), tuple(classes)
    codes = np.array([found.index(name) for name in names])
    if found == [str(code) for code in range(len(classes))] and np.bincount(codes).tolist() == list(counts):
        return codes, tuple(classes)
    return codes, tuple(found)


def table_text(dataset: Dataset) -> bytes:
    """The data set as a CSV: features f0, f1, …, then the class by name."""
    columns = {f"f{j}": pa.array(column) for j, column in enumerate(dataset.X.T)}
    columns["class"] = pa.array([dataset.classes[code] for code in dataset.labels])
    out = io.BytesIO()
    pacsv.write_csv(pa.table(columns), out, pacsv.WriteOptions(quoting_style="needed"))
    return out.getvalue()
