"""HDF5 files (MATLAB 7.3, AnnData), which must contain all of their values.

HDF5 can read parts of a file from other files: external raw storage, external links, and virtual datasets. A file from
a stranger could so turn any file on this machine into labels. `open_hdf5` refuses such files.
"""

import importlib
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final, TypeAlias

import numpy as np

from partita.core.errors import FileError, MissingExtraError
from partita.io.limits import check_input_size

WAY_OUT: Final = "a file may read no other file: save it again with its values in it"
MAX_DEPTH, MAX_OBJECTS = 50, 1_000_000
"""Limits of the groups that are loaded; a group may contain itself."""
TEXT_CELL: Final = 80
"""Memory of a short text as a Python object."""
Place: TypeAlias = tuple[Any, str]
"""Place of the parent, and name: the path, without one long text for each of many nested groups."""


@contextmanager
def open_hdf5(file: Any) -> Iterator[Any]:
    """Open an HDF5 file (path or binary file) for reading; raise a `FileError` if it refers to other files."""
    h5py = import_hdf5_package("h5py")
    with h5py.File(file, "r") as opened:
        check_self_contained(opened)
        yield opened


def import_hdf5_package(name: str) -> Any:
    """Import h5py or a part of anndata; raise `MissingExtraError` if it is not installed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return importlib.import_module(name)
    except ImportError:
        raise MissingExtraError("AnnData files need an extra: pip install 'partita[anndata]'") from None


def check_self_contained(file: Any) -> None:
    """Raise a `FileError` if any object of an open HDF5 file is stored in, or linked to, another file.

    The walk visits every object once, by its address: those that hard links reach, and those that only an object
    reference in an attribute reaches (AnnData files before version 0.8 refer to categories in this way). Soft links
    need no visit, because all links on their path are visited. No object is read, and no external link is followed.
    """
    from h5py import h5d, h5g, h5l, h5o

    seen: set[tuple[int, int]] = set()
    groups: list[tuple[Any, Place | None]] = []
    pending: list[tuple[Any, Place | None]] = [(h5o.open(file.id, b"/"), None)]

    def visit(found: Any, place: Place | None) -> None:
        info = h5o.get_info(found)
        if (info.fileno, info.addr) in seen:
            return
        seen.add((info.fileno, info.addr))
        if isinstance(found, h5g.GroupID):
            groups.append((found, place))
        elif isinstance(found, h5d.DatasetID):
            _check_dataset(found, place)
        for referenced, name in _referenced(found) if info.num_attrs else ():
            pending.append((referenced, (place, f"@{name}")))

    while pending or groups:
        while pending:
            visit(*pending.pop())
        if not groups:
            break
        group, place = groups.pop()
        for name in group:
            below = (place, name.decode("utf-8", "replace"))
            kind = group.links.get_info(name).type
            if kind == h5l.TYPE_HARD:
                visit(h5o.open(group, name), below)
            elif kind != h5l.TYPE_SOFT:
                other = group.links.get_val(name)[0].decode("utf-8", "replace") if kind == h5l.TYPE_EXTERNAL else "?"
                raise FileError(f"{path_of(below)!r:.200} is a link to another file ({other!r:.300}); {WAY_OUT}")


def check_loaded_size(items: Iterable[Any], limit: int) -> None:
    """Raise if datasets, and all datasets in groups, need more memory than the limit when they are loaded.

    A dataset may have a large shape and no stored values: all of its cells then have its fill value.
    """
    import h5py

    needed, objects = 0.0, 0
    pending = [(item, 0) for item in items]
    while pending:
        item, depth = pending.pop()
        objects += 1
        if depth > MAX_DEPTH or objects > MAX_OBJECTS:
            raise FileError(
                f"its groups are nested deeper than {MAX_DEPTH} levels, or have more than {MAX_OBJECTS} objects"
            )
        if isinstance(item, h5py.Dataset) and item.shape is not None:
            cell = item.dtype.itemsize
            if item.dtype.hasobject:  # text of any length
                fill = item.fillvalue
                cell = TEXT_CELL + (len(fill) if isinstance(fill, bytes | str) else 0)
            needed += float(item.size) * cell
            check_input_size(needed, limit, f"the dataset {item.name!r:.300} of shape {item.shape} and {item.dtype}")
        elif isinstance(item, h5py.Group):
            pending += [(item.get(name), depth + 1) for name in item]


def path_of(place: Any) -> str:
    """Return the path of an object in its file."""
    names: list[str] = []
    while place is not None:
        place, name = place
        names.append(name)
    return "/" + "/".join(reversed(names))


def _check_dataset(dataset: Any, place: Any) -> None:
    """Raise if the values of a dataset are in other files, or are those of other datasets.

    Virtual datasets are refused even if they refer to the same file: libhdf5 crashes on one that refers to itself.
    """
    from h5py import h5d

    properties = dataset.get_create_plist()
    if properties.get_external_count():
        other = properties.get_external(0)[0]
        raise FileError(f"{path_of(place)!r:.200} has its values in another file ({_text(other)!r:.300}); {WAY_OUT}")
    if properties.get_layout() == h5d.VIRTUAL:
        other = properties.get_virtual_filename(0) if properties.get_virtual_count() else "no file"
        raise FileError(
            f"{path_of(place)!r:.200} is a virtual dataset, with its values in {_text(other)!r:.300}; {WAY_OUT}"
        )


def _text(name: Any) -> str:
    return name.decode("utf-8", "replace") if isinstance(name, bytes) else str(name)


def _referenced(found: Any) -> Iterator[tuple[Any, str]]:
    """Yield the objects to which the attributes of an object refer, with the names of the attributes."""
    from h5py import h5a, h5r, h5t

    for place in range(h5a.get_num_attrs(found)):
        attribute = h5a.open(found, index=place)
        if attribute.get_type().get_class() != h5t.REFERENCE:
            continue
        values = np.empty(attribute.shape, attribute.dtype)
        attribute.read(values)
        for reference in values.ravel():
            if reference:  # not null
                yield h5r.dereference(reference, found), attribute.name.decode("utf-8", "replace")
