"""A file reads no other file: HDF5 storage and links, Parquet column chunks, pickles."""

import importlib.util

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import partita
from partita.core.errors import FileError
from partita.io import Annotating, ReadOptions, read, read_features, read_labels
from partita.io.blocks import open_blocks

h5py = pytest.importorskip("h5py")
needs_anndata = pytest.mark.skipif(
    importlib.util.find_spec("anndata") is None, reason="the extra 'anndata' is not installed"
)
SECRET = b"root:x:0:0:root:/root:/bin/bash\nuser:x:1000\n"
OBS = ReadOptions(columns=("a", "b"))


@pytest.fixture
def secret(tmp_path):
    path = tmp_path / "secret"
    path.write_bytes(SECRET)
    return path


def external(file, name, secret, shape=(2, 20)):
    return file.create_dataset(name, shape=shape, dtype="u1", external=[(str(secret), 0, int(np.prod(shape)))])


def linked(file, name, secret):
    other = secret.with_suffix(".h5")
    with h5py.File(other, "w") as held:
        held["x"] = np.frombuffer(SECRET[:40], "u1").reshape(2, 20)
    file[name] = h5py.ExternalLink(str(other), "x")


def virtual(file, name, secret):
    linked(file, "elsewhere", secret)
    del file["elsewhere"]
    layout = h5py.VirtualLayout((2, 20), "u1")
    layout[:] = h5py.VirtualSource(str(secret.with_suffix(".h5")), "x", (2, 20))
    file.create_virtual_dataset(name, layout)


def refused(reading, path, place, other=None):
    with pytest.raises(FileError) as caught:
        reading()
    message = str(caught.value)
    assert message.startswith(f"{path}: ") and "\n" not in message
    assert repr(place) in message and "save it again with its values in it" in message
    assert other is None or other.name in message


@pytest.mark.parametrize("store", [external, linked, virtual])
@pytest.mark.parametrize("name", ["members", "gt", "deep/er/x"])
def test_matlab_73_with_values_elsewhere(tmp_path, secret, store, name):
    path = tmp_path / "pool.mat"
    with h5py.File(path, "w") as file:
        if name != "members":
            file["members"] = np.array([[1, 1, 2], [1, 2, 2]])
        store(file, name, secret)
    for reading in (lambda: read(path), lambda: read_labels(path), lambda: read_features(path)):
        refused(reading, path, f"/{name}", secret if store is external else secret.with_suffix(".h5"))


def test_a_virtual_dataset_that_is_its_own_source_does_not_crash(tmp_path):
    path = tmp_path / "pool.mat"
    with h5py.File(path, "w") as file:
        layout = h5py.VirtualLayout((3, 4), "i4")
        layout[:] = h5py.VirtualSource(".", "members", (3, 4))
        file.create_virtual_dataset("members", layout)
    refused(lambda: read(path), path, "/members")


def observations(path):
    from anndata.io import write_elem

    with h5py.File(path, "w") as file:
        write_elem(file, "obs", pd.DataFrame({"a": list("xxyy"), "b": [1, 1, 2, 2]}, index=list("pqrs")))
        write_elem(file, "var", pd.DataFrame(index=list("uv")))
        write_elem(file, "X", np.arange(8.0).reshape(4, 2))
        write_elem(file, "uns", {})


def replaced_column(file, secret):
    del file["obs/b"]
    external(file, "obs/b", secret, (4,)).attrs["encoding-type"] = "array"
    file["obs/b"].attrs["encoding-version"] = "0.2.0"
    return "/obs/b"


def replaced_obs(file, secret):
    file.move("obs", "elsewhere")
    file.copy("elsewhere", "obs")
    other = secret.with_suffix(".h5ad")
    with h5py.File(other, "w") as held:
        file.copy("elsewhere", held, "obs")
    del file["elsewhere"], file["obs"]
    file["obs"] = h5py.ExternalLink(str(other), "obs")
    return "/obs"


def nested_elsewhere(file, secret):
    file["uns/deep/er"] = h5py.ExternalLink(str(secret), "/")
    return "/uns/deep/er"


def behind_a_reference(file, secret):
    file["obs/b"].attrs["categories"] = external(file, "unlinked", secret, (4,)).ref
    return "/unlinked"


@needs_anndata
@pytest.mark.parametrize("change", [replaced_column, replaced_obs, nested_elsewhere, behind_a_reference])
def test_anndata_with_values_elsewhere(tmp_path, secret, change):
    path = tmp_path / "cells.h5ad"
    observations(path)
    with h5py.File(path, "r+") as file:
        place = change(file, secret)
    refused(lambda: read(path, OBS), path, place)
    refused(lambda: read_labels(path, "a"), path, place)
    refused(lambda: read_features(path), path, place)
    refused(lambda: Annotating.of(path, tmp_path / "out.h5ad"), path, place)


@needs_anndata
def test_cycles_and_links_within_a_file_are_allowed(tmp_path):
    path = tmp_path / "cells.h5ad"
    observations(path)
    with h5py.File(path, "r+") as file:
        file["uns/loop"] = file["/"]
        file["uns/soft"] = h5py.SoftLink("/obs/a")
        file["dangling"] = h5py.SoftLink("/nowhere")
        file["uns"].attrs["all"] = np.array([file["obs"].ref, file["uns"].ref, h5py.Reference()], h5py.ref_dtype)
        file["obs"].move("b", "c")
        file["obs/b"] = h5py.SoftLink("/obs/c")
    assert read(path, OBS).labels.tolist() == [[0, 0], [0, 0], [1, 1], [1, 1]]


def test_many_nested_groups_take_little_time(tmp_path):
    path = tmp_path / "pool.mat"
    with h5py.File(path, "w") as file:
        file["members"] = np.array([[1, 1, 2], [1, 2, 2]])
        group = file.id
        for _ in range(5000):
            group = h5py.h5g.create(group, b"g" * 50)
    assert read(path).labels.tolist() == [[0, 0], [0, 1], [1, 1]]


def test_parquet_with_columns_in_another_file(tmp_path):
    table = pa.table({"a": [1, 1, 2], "b": [1, 2, 2]})
    pq.write_table(table, tmp_path / "other.parquet")
    metadata = pq.read_metadata(tmp_path / "other.parquet")
    metadata.set_file_path("other.parquet")
    path = tmp_path / "labels.parquet"
    metadata.write_metadata_file(path)
    readings = (
        lambda: read(path),
        lambda: read_labels(path, "a"),
        lambda: read_features(path),
        lambda: open_blocks(path, ReadOptions()),
    )
    for reading in readings:
        with pytest.raises(FileError, match=r"column 'a'.*another file \('other.parquet'\).*read that one") as caught:
            reading()
        assert str(caught.value).startswith(f"{path}: ")


@pytest.mark.parametrize("name", ["labels.npy", "labels.npz"])
def test_pickles_are_not_opened(tmp_path, name):
    class Trap:
        def __reduce__(self):
            return (tmp_path / "sprung").touch, ()

    trap = np.array([[Trap(), 1], [1, 2]], dtype=object)
    path = tmp_path / name
    save = np.save if name.endswith("npy") else np.savez
    save(path, trap, allow_pickle=True)
    for reading in (read, read_labels, read_features, partita.load, partita.load_model, partita.read_draws):
        with pytest.raises(FileError):
            reading(path)
    if name.endswith("npy"):
        with pytest.raises(FileError):
            open_blocks(path, ReadOptions())
    assert not (tmp_path / "sprung").exists()
