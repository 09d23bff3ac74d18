"""Data sets from OpenML, through scikit-learn's fetcher, as copies in the data folder."""

import gzip
import warnings
from collections.abc import Sequence
from http.client import HTTPException
from pathlib import Path
from typing import Any

import numpy as np

from partita.core.errors import FileError, ParameterError
from partita.datasets.base import Dataset
from partita.datasets.catalogue import entry_of
from partita.datasets.checking import check_facts
from partita.datasets.entry import Entry, OpenML
from partita.datasets.folder import COPIES, chosen_folder
from partita.datasets.loading import absence, from_copy
from partita.datasets.tables import coded, table_text
from partita.io import replacing


def fetch(name: str, folder: str | Path | None = None) -> Dataset:
    """Get a data set from OpenML into `copies/` of the data folder; returns it as `load` will, with its source.

    A fetched file has other bytes than the one in the catalogue, so it has no checksum: the numbers of objects and
    features and the sizes of the classes must agree, and `source` says whether the values do. The folder is made where
    it is not there.
    """
    entry = entry_of(name)
    if entry.package:
        raise ParameterError(f"{name}: comes with scikit-learn and needs no file; partita.datasets.load has it")
    place, _ = chosen_folder(folder)
    if entry.openml is None:
        if entry.maker:
            raise ParameterError(f"{name}: is not on OpenML and needs no file; partita.datasets.load makes it")
        raise FileError(f"{name}: is not on OpenML; {absence(entry, place)}")
    path = place / COPIES / f"{name}.csv.gz"
    found = download(entry, entry.openml)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as file:
            file.write(gzip.compress(table_text(found), compresslevel=5, mtime=0))
    except OSError as error:
        raise FileError(f"{path}: cannot be written ({error.strerror}); choose a folder with --data") from None
    return from_copy(entry, path)


def download(entry: Entry, where: OpenML) -> Dataset:
    """The data set as OpenML has it, less what is not ours."""
    place = f"OpenML {where.id} ({where.name})"
    bunch = _ask(entry, where, place)
    keep = [j for j, name in enumerate(bunch.feature_names) if name.lower() not in _lower(where.without)]
    X, names = np.asarray(bunch.data)[:, keep], _class_names(bunch.target)
    ours = [i for i, name in enumerate(names[: where.rows]) if not where.only or name in where.only]
    labels, classes = coded([where.only.get(names[i], names[i]) for i in ours], entry.classes, entry.counts)
    found = Dataset(entry.name, np.asarray(X[ours], dtype=np.float64), labels, classes, place)
    check_facts(place, found, entry)
    return found


def _ask(entry: Entry, where: OpenML, place: str) -> Any:
    from sklearn.datasets import fetch_openml

    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "A network error occurred")  # the last one is told below
            warnings.filterwarnings("ignore", "target_column=.* has flag is_ignore")  # we know and want it
            # neither frames nor pandas; the copy in the data folder is cache enough
            return fetch_openml(
                data_id=where.id, target_column=where.target, as_frame=False, parser="liac-arff", cache=False
            )
    except (OSError, HTTPException, ValueError) as error:
        reason = getattr(error, "reason", None) or error
        raise FileError(
            f"{place}: cannot be fetched ({' '.join(str(reason).split())}); try again with a network, or put a copy "
            f"of {entry.archive} as {COPIES}/{entry.name}.csv into the data folder"
        ) from None


def _class_names(target: Any) -> list[str]:
    """Classes as text, whole numbers without a point."""
    return [
        str(int(value)) if isinstance(value, float) and value.is_integer() else str(value) for value in target.tolist()
    ]


def _lower(names: Sequence[str]) -> set[str]:
    return {name.lower() for name in names}
