"""Array files: NumPy's .npy and .npz, and MATLAB pools (`members`, one column a clustering, and `gt`)."""

import math
import os
import zipfile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.core.errors import FileError
from partita.io.archive import read_npy_header
from partita.io.formats import HDF5_MAGIC, MAGIC_BYTES
from partita.io.hdf5 import check_loaded_size, open_hdf5
from partita.io.limits import check_input_size
from partita.io.matlab import matlab_arrays
from partita.io.options import ReadOptions
from partita.io.raw import Raw, check_several, choose, place_of, some
from partita.io.source import Source, guarded

REFERENCES = ("gt", "reference", "consensus")
"""Arrays that hold one known labelling beside a pool."""


def load_array(source: Source, options: ReadOptions) -> Raw:
    """The clusterings of an array file, called c0, c1, … unless an array `names` says more; ids from an array `ids`."""
    arrays = read_arrays(source)
    found = _pool(arrays, source.format)
    if found.ndim != 2 or 0 in found.shape:
        raise FileError(
            f"the array has shape {found.shape}; "
            "a label table has two dimensions, objects in rows and clusterings in columns"
        )
    names, named_ids = _called(arrays, found)
    choice = choose(names, None, options)
    if not options.transpose:
        check_several([names[j] for j in choice.labels], options)
    ids = named_ids if choice.ids is None else found[:, choice.ids]
    if found.dtype.kind in "iuf":
        return Raw(names, matrix=found, ids=ids, header=False).pick(choice.labels)
    return Raw(names, tuple(found[:, j] for j in range(found.shape[1])), ids=ids, header=False).pick(choice.labels)


def _called(arrays: dict[str, NDArray[Any]], table: NDArray[Any]) -> tuple[tuple[str, ...], Any]:
    """What the file calls its clusterings and its objects."""
    names, ids = arrays.get("names"), arrays.get("ids")
    fits = names is not None and names.dtype.kind == "U" and names.shape == table.shape[1:]
    called = names.tolist() if fits and names is not None else [f"c{j}" for j in range(table.shape[1])]
    return tuple(called), ids if ids is not None and ids.shape == table.shape[:1] else None


def read_arrays(source: Source) -> dict[str, NDArray[Any]]:
    """The arrays of a file by name; the one of a .npy has the name ''."""
    if source.format == "npy":
        arrays = guarded(lambda: _read_npy(source), "an npy file")
    elif source.format == "npz":
        arrays = guarded(lambda: _read_npz(source), "an npz file")
    else:
        arrays = _read_mat(source)
    return {name: _usable(np.asarray(array), name) for name, array in arrays.items()}


def reference(arrays: dict[str, NDArray[Any]], name: str | None) -> tuple[str, NDArray[Any]]:
    """The one labelling of an array file: the named array, else `gt`, `reference` or `consensus`, else the only one."""
    if name is not None:
        place_of(name, list(arrays))
    else:
        flat = [key for key, array in arrays.items() if array.size == max(array.shape, default=0)]
        marked = [key for key in REFERENCES if key in arrays] or flat
        if len(marked) != 1 and not (set(marked) & set(REFERENCES)):
            raise FileError(f"holds {some(list(arrays))}; say which is the labelling by column= (--column)")
        name = marked[0]
    values = arrays[name]
    if values.size == 0 or values.size != max(values.shape, default=0):
        raise FileError(f"{name or 'the array'} has shape {values.shape}; one labelling is one value an object")
    return name or "labels", values.reshape(-1)


def _read_npy(source: Source) -> dict[str, NDArray[Any]]:
    with source.open() as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(0)
        check_input_size(_npy_size(file, size), source.limit, "the array")
        file.seek(0)
        return {"": np.load(file, allow_pickle=False)}


def _read_npz(source: Source) -> dict[str, NDArray[Any]]:
    with source.open() as file, zipfile.ZipFile(file) as archive:
        entries = archive.infolist()
        if any(entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) for entry in entries):
            raise ValueError("an entry is compressed in a way that NumPy does not write")
        needed = 0
        for entry in entries:
            with archive.open(entry) as array:
                needed += _npy_size(array, entry.file_size)
        check_input_size(needed, source.limit, "the archive")
        file.seek(0)
        with np.load(file, allow_pickle=False) as arrays:
            return {name: arrays[name] for name in arrays.files}


def _npy_size(file: Any, size: int) -> int:
    """Return the memory of the array in an NPY file of `size` bytes; raise if its header claims another size."""
    shape, _, dtype = read_npy_header(file)
    cells = int(math.prod(shape))
    needed = cells * dtype.itemsize
    if dtype.hasobject:
        raise ValueError("pickled objects")
    if needed > size or (cells and not dtype.itemsize):
        raise ValueError(f"its header claims an array of {dtype} and shape {shape}, which its {size} bytes cannot hold")
    return needed * (5 if dtype.kind == "S" else 1)  # bytes become text of 4 bytes per character


def _usable(array: NDArray[Any], name: str) -> NDArray[Any]:
    if array.dtype.kind == "S":
        try:
            return np.char.decode(array, "utf-8")
        except UnicodeDecodeError:
            raise FileError(f"{name or 'the array'} holds bytes that are not UTF-8; save strings") from None
    return array


def _pool(arrays: dict[str, NDArray[Any]], kind: str) -> NDArray[Any]:
    """The array that is the label table."""
    wanted = {"mat": "members", "npz": "labels", "npy": ""}[kind]
    tables = [name for name, array in arrays.items() if array.ndim == 2 and name not in REFERENCES]
    if kind == "npz" and wanted not in arrays and len(tables) == 1:
        wanted = tables[0]
    if wanted not in arrays:
        held = some(list(arrays)) or "nothing"
        raise FileError(f"holds no {wanted!r} array, but {held}; save the label table as {wanted!r}")
    array = arrays[wanted]
    if array.dtype.kind not in "iufbU":
        raise FileError(f"holds an array of {array.dtype}; save labels as a plain array of integers or strings")
    return array


def _read_mat(source: Source) -> dict[str, NDArray[Any]]:
    with source.open() as file:
        magic = file.read(MAGIC_BYTES)
    if magic.startswith((HDF5_MAGIC, b"MATLAB 7.3")):
        return _read_mat_hdf5(source)
    if 0 not in magic[:4]:
        return guarded(lambda: matlab_arrays(source.content(), source.limit), "a MATLAB file")
    from scipy.io import loadmat

    found = guarded(lambda: loadmat(source.handle(), appendmat=False), "a MATLAB file")
    return {name: array for name, array in found.items() if isinstance(array, np.ndarray)}


def _read_mat_hdf5(source: Source) -> dict[str, NDArray[Any]]:
    try:
        import h5py
    except ImportError:
        raise FileError("is a MATLAB 7.3 file; save it with -v7 in MATLAB, or install h5py") from None

    def read() -> dict[str, NDArray[Any]]:
        with open_hdf5(source.handle()) as file:
            items = {name: item for name, item in file.items() if isinstance(item, h5py.Dataset)}
            check_loaded_size(items.values(), source.limit)
            return {name: item[()].T for name, item in items.items()}

    return guarded(read, "a MATLAB 7.3 file")
