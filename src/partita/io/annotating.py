"""A consensus into a copy of the .h5ad file its labels came from; the copy appears whole or not at all."""

import importlib
import os
import shutil
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from partita.core.errors import FileError, ParameterError, PartitaError
from partita.core.fields import check_length
from partita.io.annotation import Annotation, check_key, figure_keys, is_ours, membership_key
from partita.io.formats import HDF5_MAGIC, STREAM, check_format, detect_format
from partita.io.hdf5 import import_hdf5_package, open_hdf5
from partita.io.source import checked_path, guarded, naming
from partita.io.writing import check_place, replacing_path

T = TypeVar("T")
_SPARE = 1 << 20
_ENCODING = ("dataframe", "0.2.0")


@dataclass(frozen=True, slots=True)
class Annotating:
    """An .h5ad file, where its copy with a result goes, and what the result is called there."""

    source: Path
    path: Path
    key: str
    rows: int
    """How many observations the file holds."""
    stamp: tuple[int, int, int]
    """What tells whether the file has changed since."""

    @classmethod
    def of(
        cls, source: Any, path: Any, key: str = "consensus", overwrite: bool = False, kind: str | None = None
    ) -> "Annotating":
        """Checked before long work: an .h5ad to copy, a place for the copy, and a name that is free, or may be taken.

        `kind` is the format of the source where its name does not tell. The path may be that of the source, which the
        copy then replaces.
        """
        check_key(key)
        with naming(source):
            checked_path(source)
        with naming(path, "standard output"):
            if str(path) == STREAM:
                raise FileError("an .h5ad cannot go to standard output; give --output a name that ends in .h5ad")
            if str(source) == STREAM:
                raise FileError("an .h5ad is a copy of the one with the labels, so standard input will not do; name it")
            found = check_format(kind, (kind,)) if kind is not None else detect_format(source)
            if found != "h5ad":
                raise FileError(
                    f"an .h5ad is written as a copy of the one with the labels, and {source} is {found}; choose "
                    ".csv, .parquet or .json, or put the labels into AnnData by partita.anndata.annotate"
                )
            check_place(checked_path(path))
            if Path(path).exists() and not Path(path).is_file():
                raise FileError("is no plain file, as an .h5ad must be; give another path")
        with naming(source):
            place = checked_path(source)
            rows = _opened(place, lambda file: _checked(file, key, overwrite))
            stamp = _stamp(place)
        _check_space(Path(path), stamp[0])
        return cls(place, Path(path), key, rows, stamp)

    def check_table(self, objects: int, names: Iterable[str]) -> None:
        """Refuse a table of other objects than the observations, such as one turned round, and a result that would
        stand in the place of one of the clusterings it is made of.
        """
        check_length("the label table", objects, str(self.source), self.rows)
        for name in names:
            if name in (self.key, *figure_keys(self.key)):
                raise ParameterError(
                    f"{name!r} is one of the clusterings, and the result would replace it; choose another --key-added, "
                    f"or leave it out by --exclude {name}"
                )

    def write(self, parts: Annotation) -> None:
        """The copy with the result in it."""
        with naming(self.source):
            if _stamp(self.source) != self.stamp:
                raise FileError("was changed while the consensus was sought; run it again")
        with naming(self.path), replacing_path(self.path) as temporary:
            shutil.copyfile(self.source, temporary)
            _reserve(temporary, parts)
            _edit(temporary, parts)


def _stamp(path: Path) -> tuple[int, int, int]:
    found = path.stat()
    return found.st_size, found.st_mtime_ns, found.st_ino


def _check_space(path: Path, size: int) -> None:
    free = shutil.disk_usage(path.resolve().parent).free
    if free < size + _SPARE:
        raise FileError(
            f"{path}: {size / 1e6:.0f} MB are to be copied there and {free / 1e6:.0f} MB are free; make room, or "
            "give another path"
        )


def _reserve(path: Path, parts: Annotation) -> None:
    """Take the room for what is added, which HDF5 gives back where it is not needed; without room HDF5 crashes."""
    shares = 0 if parts.membership is None else parts.membership.shape[1]
    room = _SPARE + 8 * len(parts.codes) * (4 + shares)
    with path.open("ab") as file:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), file.tell(), room)
        else:
            for start in range(0, room, _SPARE):
                file.write(bytes(min(_SPARE, room - start)))


def _opened(path: Path, look: Callable[[Any], T]) -> T:
    """What is seen in a file opened for reading."""
    with path.open("rb") as file:
        if file.read(len(HDF5_MAGIC)) != HDF5_MAGIC:
            raise FileError("is no HDF5 file, or a compressed one; give an .h5ad as AnnData writes it")
    import_hdf5_package("anndata.io")  # `_edit` needs it, after long work

    def read() -> T:
        with open_hdf5(path) as file:
            return look(file)

    return guarded(read, "an AnnData file")


def _checked(file: Any, key: str, overwrite: bool) -> int:
    """How many observations there are; a file that cannot take the result raises."""
    obs = file.get("obs")
    attributes = {} if obs is None else obs.attrs
    if (attributes.get("encoding-type"), attributes.get("encoding-version")) != _ENCODING:
        raise FileError(
            "its observations are not as AnnData writes them since version 0.8, so nothing can be added; write it "
            "anew first: anndata.read_h5ad(old).write_h5ad(new)"
        )
    index = attributes["_index"]
    if index in (key, *figure_keys(key)):
        raise FileError(f"the observation names are called {index!r} there; choose another --key-added")
    columns = [("obs", name) for name in (key, *figure_keys(key))]
    places = (*columns, ("obsm", membership_key(key)), ("uns", key))
    taken = [f"{group}[{name!r}]" for group, name in places if group in file and name in file[group]]
    if taken and not overwrite:
        raise FileError(f"holds {' and '.join(taken)} already; choose another --key-added, or say --overwrite")
    return int(obs[index].shape[0])


def _edit(path: Path, parts: Annotation) -> None:
    h5py, write_elem = import_hdf5_package("h5py"), import_hdf5_package("anndata.io").write_elem
    try:
        with h5py.File(path, "r+") as file, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _put(file, parts, write_elem, h5py.string_dtype())
            file.flush()
        with path.open("rb") as written:
            os.fsync(written.fileno())
    except (PartitaError, MemoryError):
        raise
    except Exception as error:  # h5py raises OSError, RuntimeError, ValueError or KeyError, by where it fails
        reason = " ".join(str(error).split())[:160] or type(error).__name__
        raise FileError(f"cannot be written ({reason}); is the disk full?") from None


def _put(file: Any, parts: Annotation, write_elem: Any, text: Any) -> None:
    """The same places that `partita.anndata` fills in an object."""
    pandas = importlib.import_module("pandas")
    for name in ("obsm", "uns"):
        if name not in file:
            write_elem(file, name, {})
    obs, obsm, uns = file["obs"], file["obsm"], file["uns"]
    replaced = is_ours(uns.get(parts.key))
    order = [str(name) for name in obs.attrs["column-order"]]
    write_elem(obs, parts.key, pandas.Categorical.from_codes(parts.codes, categories=list(parts.categories)))
    added = [parts.key]
    for name, figures in zip(figure_keys(parts.key), parts.figures.values(), strict=True):
        if figures is not None:
            write_elem(obs, name, np.asarray(figures))
            added.append(name)
        elif replaced and name in obs:
            del obs[name]
            order.remove(name)
    order += [name for name in added if name not in order]
    obs.attrs.create("column-order", np.array(order, dtype=object), dtype=text)
    if parts.membership is not None:
        write_elem(obsm, parts.membership_key, np.asarray(parts.membership))
    elif replaced and parts.membership_key in obsm:
        del obsm[parts.membership_key]
    write_elem(uns, parts.key, parts.told)
    if parts.colors_key in uns and len(uns[parts.colors_key]) != len(parts.categories):
        del uns[parts.colors_key]
