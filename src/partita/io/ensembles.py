"""An ensemble as a file that `read` reads back."""

import gzip
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from partita.core.ensemble import Ensemble
from partita.core.errors import FileError
from partita.core.soft import AnyEnsemble
from partita.core.types import MISSING
from partita.io.formats import STREAM, TEXT, check_format, detect_format, is_packed
from partita.io.source import checked_path, naming
from partita.io.summary import column, id_list, plain
from partita.io.writing import check_place, check_stdout, replacing, to_stdout, write_parquet, write_text

WRITABLE: Final = ("csv", "tsv", "parquet", "npz")
ROWS_AT_A_TIME: Final = 1 << 16


def write_ensemble(
    ensemble: AnyEnsemble,
    path: str | Path,
    format: str | None = None,  # noqa: A002  # as in `write`
    id_name: str = "id",
    made: Mapping[str, Any] | None = None,
) -> None:
    """Write base clusterings as CSV, TSV (also .gz), Parquet or NPZ, whole or not at all; `-` is CSV on stdout.

    One column a clustering, its label codes, empty where there is no label; of a soft one the columns `name:0`, … The
    ids, if there are any, stand in the first column, called `id_name`, in an NPZ in the array `ids`. `made` tells how
    the ensemble was made and goes into the metadata of Parquet and into an NPZ.
    """
    with naming(path, "standard output"):
        kind = ensemble_format(path, format)
        names = column_names(ensemble)
        if ensemble.ids is not None and id_name in names:
            raise FileError(f"the id column cannot be called {id_name!r}, which is a clustering; give another name")
        if str(path) == STREAM:
            return to_stdout(lambda file: _put(ensemble, kind, file, id_name, made))
        check_place(Path(path))
        with replacing(Path(path)) as file:
            if kind in TEXT and is_packed(path):
                with gzip.GzipFile(fileobj=file, mode="wb", compresslevel=5, mtime=0, filename="") as packed:
                    _put(ensemble, kind, packed, id_name, made)  # type: ignore[arg-type]  # binary in all but name
            else:
                _put(ensemble, kind, file, id_name, made)
    return None


def ensemble_format(path: str | Path, kind: str | None = None) -> str:
    """The format in which an ensemble is written there; a place to which nothing can be written raises."""
    if kind is None:
        kind = "csv" if str(path) == STREAM else detect_format(checked_path(path), WRITABLE)
    return check_format(kind, WRITABLE)


def check_ensemble_path(path: str | Path, kind: str | None = None) -> None:
    """Refuse, before long work, a path to which no ensemble could be written."""
    with naming(path, "standard output"):
        ensemble_format(path, kind)
        if str(path) == STREAM:
            check_stdout()
        else:
            check_place(checked_path(path))


def column_names(ensemble: AnyEnsemble) -> list[str]:
    """The columns of the file, less the ids."""
    if isinstance(ensemble, Ensemble):
        return list(ensemble.names)
    return [f"{name}:{c}" for name, size in zip(ensemble.names, ensemble.sizes, strict=True) for c in range(size)]


def _put(ensemble: AnyEnsemble, kind: str, file: IO[bytes], id_name: str, made: Mapping[str, Any] | None) -> None:
    told = json.dumps(plain(made), allow_nan=False)
    if kind == "npz":
        arrays: dict[str, Any] = {"labels": _matrix(ensemble), "names": np.array(column_names(ensemble))}
        if ensemble.ids is not None:
            arrays["ids"] = np.array([str(value) for value in ensemble.ids.tolist()])
        np.savez_compressed(file, made=np.array(told), **arrays)
    elif kind == "parquet":
        write_parquet(_parts(ensemble, id_name), {b"partita": told.encode()} if made else {}, file)
    else:
        write_text(_parts(ensemble, id_name), "\t" if kind == "tsv" else ",", file)


def _matrix(ensemble: AnyEnsemble) -> NDArray[Any]:
    """All columns; floats with NaN for unobserved cells where there are such."""
    if not isinstance(ensemble, Ensemble):
        gaps = np.repeat(~ensemble.known, ensemble.sizes, axis=1)
        return np.where(gaps, np.nan, ensemble.matrix)
    if ensemble.missing_share == 0:
        return ensemble.labels
    return np.where(ensemble.labels == MISSING, np.nan, ensemble.labels)


def _parts(ensemble: AnyEnsemble, id_name: str) -> Iterator[pa.Table]:
    """The table in pieces of rows."""
    names = column_names(ensemble)
    ids = None if ensemble.ids is None else id_list(ensemble.ids)
    for start in range(0, len(ensemble), ROWS_AT_A_TIME):
        rows = slice(start, start + ROWS_AT_A_TIME)
        part = ensemble.rows(rows)
        columns = [_cells(part, values) for values in _matrix(part).T]
        called = names
        if ids is not None:
            columns, called = [ids[rows], *columns], [id_name, *names]
        yield pa.Table.from_arrays(columns, names=called)


def _cells(part: AnyEnsemble, values: NDArray[Any]) -> pa.Array:
    """One column; labels stay whole numbers where some are unobserved."""
    cells = column(values)
    return cells.cast(pa.int32()) if isinstance(part, Ensemble) else cells
