"""Data sets by name: from a checked file, another copy, scikit-learn, or made from their description."""

from pathlib import Path

import numpy as np

from partita.core.errors import AbsentDataError, ParameterError
from partita.core.rng import generator
from partita.datasets import synthetic
from partita.datasets.base import Dataset
from partita.datasets.catalogue import entry_of
from partita.datasets.checking import check_facts, check_sum
from partita.datasets.entry import Entry
from partita.datasets.folder import COPIES, VARIABLE, data_folder
from partita.datasets.tables import Table, coded, raw_bytes, read_counts, read_table


def load(name: str, folder: str | Path | None = None, part: str | None = None) -> Dataset:
    """A data set of the papers by name; `Dataset.source` says where its values come from.

    Looks in `folder`, else in the folder that PARTITA_DATA names, else in the user's cache, for the file of the
    catalogue, whose checksum must be right, then for a copy from elsewhere (`fetch` makes one), whose sizes must be.
    Without a file, iris, wine and wdbc come from scikit-learn, and 2d2k, 8d5k, halfrings, two_spirals and
    synthetic_control are made from their description, always the same. Anything else is an error that says how to get
    the file. `part` takes the rows of a part that the catalogue names, such as the test rows of segmentation.

    >>> iris = load("iris")
    >>> iris.X.shape, iris.classes
    ((150, 4), ('setosa', 'versicolor', 'virginica'))
    """
    entry = entry_of(name)
    if part is not None and part not in entry.parts:
        raise ParameterError(f"part={part!r}: the parts of {name} are {', '.join(entry.parts) or 'none'}")
    place = data_folder(folder)
    if (place / entry.file).is_file():
        return _part(_from_file(entry, place), entry, part)
    copy = copy_of(entry, place)
    if copy is None and not entry.package and not entry.maker:
        raise AbsentDataError(absence(entry, place))
    if part is not None:
        raise AbsentDataError(
            f"{name}, part {part!r}: only {entry.file} has its rows in a known order; {absence(entry, place)}"
        )
    if copy is not None:
        return from_copy(entry, copy)
    return _packaged(entry) if entry.package else _made(entry)


def copy_of(entry: Entry, place: Path) -> Path | None:
    """The copy from elsewhere that lies in a data folder."""
    for suffix in (".csv", ".csv.gz"):
        path = place / COPIES / f"{entry.name}{suffix}"
        if path.is_file():
            return path
    return None


def from_copy(entry: Entry, path: Path) -> Dataset:
    """The data set from a copy made elsewhere: sizes must agree, and the source says whether the values do."""
    read = read_table(path, raw_bytes(path))
    labels, classes = coded(read.classes, entry.classes, entry.counts)
    found = Dataset(entry.name, read.X, labels, classes, f"{path}")
    same = check_facts(str(path), found, entry)
    said = "the values are those of the catalogue" if same else "sizes agree with the catalogue, not every value does"
    return Dataset(entry.name, read.X, labels, classes, f"{path}, a copy from elsewhere: {said}, rows in its own order")


def state(entry: Entry, place: Path) -> str:
    """How `load` would get the data set, in a few words."""
    if (place / entry.file).is_file():
        return "file"
    if copy_of(entry, place) is not None:
        return "copy"
    if entry.package:
        return "scikit-learn"
    if entry.maker:
        return "made"
    return f"absent: partita datasets fetch {entry.name}" if entry.openml else f"absent: see show {entry.name}"


def absence(entry: Entry, place: Path) -> str:
    """What is not there and how to get it, in one line."""
    ways = []
    if entry.openml:
        ways.append(f"run `partita datasets fetch {entry.name}` (OpenML {entry.openml.id}, {entry.openml.name})")
    ways.append(f"name the folder that has it (--data, folder= or {VARIABLE})")
    ways.append(
        f"put a copy of {entry.archive} there as {COPIES}/{entry.name}.csv: a header line, {entry.d} features, "
        "the class last"
    )
    return f"{entry.name}: there is no {entry.file} in {place}; {', or '.join(ways)}"


def _from_file(entry: Entry, place: Path) -> Dataset:
    names = [name for name in (entry.file, entry.labels_file) if name]
    sums = dict(zip(names, (entry.sha256, entry.labels_sha256), strict=False))
    files = []
    for name in names:
        path = place / name
        raw = raw_bytes(path)
        check_sum(str(path), raw, sums[name], _way_out(entry))
        files.append((path, raw))
    read: Table = read_counts(files[0], files[1], entry.d) if entry.labels_file else read_table(*files[0])
    source = f"{place / entry.file}, checksum right"
    return Dataset(entry.name, read.X, np.array(read.classes, dtype=np.int64), entry.classes, source)


def _way_out(entry: Entry) -> str:
    again = f"and run `partita datasets fetch {entry.name}`" if entry.openml else "and get it again"
    return f"delete it {again}, or move another copy of the data to {COPIES}/{entry.name}.csv"


def _part(dataset: Dataset, entry: Entry, part: str | None) -> Dataset:
    if part is None:
        return dataset
    rows = slice(*entry.parts[part])
    source = f"{dataset.source}; rows {rows.start} to {rows.stop - 1}"
    return Dataset(dataset.name, dataset.X[rows], dataset.labels[rows], dataset.classes, source)


def _packaged(entry: Entry) -> Dataset:
    from sklearn import datasets

    bunch = getattr(datasets, entry.package)()
    X, labels = np.asarray(bunch.data, dtype=np.float64), np.asarray(bunch.target, dtype=np.int64)
    return Dataset(entry.name, X, labels, entry.classes, f"scikit-learn, sklearn.datasets.{entry.package}")


def _made(entry: Entry) -> Dataset:
    made: Dataset = getattr(synthetic, entry.maker)(generator(synthetic.SEED))
    source = f"made from its description, synthetic.{entry.maker} with seed {synthetic.SEED}"
    return Dataset(made.name, made.X, made.labels, made.classes, source)
