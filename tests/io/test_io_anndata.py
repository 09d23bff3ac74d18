"""Results into copies of .h5ad files: what the Python function writes, all else as it was, whole or not at all."""

import os
import resource
import subprocess
import sys

import numpy as np
import pytest

import partita
from partita import io
from partita.anndata import described
from partita.core.errors import FileError, ParameterError, PartitaWarning
from partita.io.annotation import figure_keys
from tests.test_anndata import anndata, cells, pd, same_told

h5py = pytest.importorskip("h5py")
KEYS = ("leiden_*",)


@pytest.fixture
def source(tmp_path):
    """A file with something in every group."""
    adata = cells(missing=0.1)
    adata.obsm["X_umap"] = np.random.default_rng(0).random((40, 2))
    adata.uns["leiden"] = {"params": {"resolution": 1.0}}
    adata.raw = adata.copy()
    adata.write_h5ad(tmp_path / "cells.h5ad", compression="gzip")
    return tmp_path / "cells.h5ad"


def annotated(source, path, method="mm", key="consensus", overwrite=False, k=3):
    """What the command does, without it."""
    annotating = io.Annotating.of(source, path, key, overwrite)
    ensemble = io.read(source, io.ReadOptions(columns=KEYS))
    annotating.check_table(len(ensemble), ensemble.names)
    annotating.write(described(partita.consensus(ensemble, method, k), key, ensemble))
    return anndata.read_h5ad(path)


def contents(path):
    """Every data set and attribute of a file, by name."""
    found = {}

    def look(name, item):
        found[name] = {key: np.asarray(value).tolist() for key, value in item.attrs.items()}
        if isinstance(item, h5py.Dataset):
            found[name]["="] = np.asarray(item).tolist()

    with h5py.File(path) as file:
        file.visititems(look)
    return found


@pytest.mark.parametrize("method", ["mm", "hgpa"])
def test_the_same_as_in_memory(tmp_path, source, method):
    found = annotated(source, tmp_path / "out.h5ad", method)
    expected = anndata.read_h5ad(source)
    partita.anndata.consensus(expected, k=3, method=method)
    pd.testing.assert_frame_equal(found.obs, expected.obs)
    same_told(found.uns, {**expected.uns})
    assert list(found.obsm) == list(expected.obsm)
    for key in found.obsm:
        np.testing.assert_array_equal(found.obsm[key], expected.obsm[key])


def test_all_else_is_as_it_was(tmp_path, source):
    before = contents(source)
    whole = source.read_bytes()
    annotated(source, tmp_path / "out.h5ad")
    after = contents(tmp_path / "out.h5ad")
    ours = [name for name in after if name.split("/")[1:2] and name.split("/")[1].startswith("consensus")]
    assert {"obs/consensus", "obs/consensus_confidence", "obsm/consensus_membership", "uns/consensus"} <= set(ours)
    order = after["obs"].pop("column-order")
    assert order == [*before["obs"].pop("column-order"), "consensus", *figure_keys("consensus")]
    assert {name: told for name, told in after.items() if name not in ours} == before
    assert source.read_bytes() == whole and len(list(tmp_path.iterdir())) == 2


def test_in_place_and_again(source):
    names = anndata.read_h5ad(source).obs.columns.tolist()
    annotated(source, source)
    with pytest.raises(FileError, match=r"holds obs\['consensus'\] and .*--key-added, or say --overwrite"):
        annotated(source, source)
    found = annotated(source, source, "voting", "leiden_all")
    assert found.obs.columns.tolist() == [
        *names,
        *(column for key in ("consensus", "leiden_all") for column in (key, *figure_keys(key))),
    ]
    again = annotated(source, source, "voting", "leiden_all", overwrite=True)  # its own column is no clustering
    pd.testing.assert_frame_equal(again.obs, found.obs)
    assert again.uns["leiden_all"]["params"]["keys"].tolist() == [f"leiden_{j}" for j in range(4)]


def test_overwriting_takes_away_what_is_not_replaced(source):
    annotated(source, source, "mm")
    with h5py.File(source, "r+") as file:
        anndata.io.write_elem(file["uns"], "consensus_colors", np.array(["#111111", "#222222", "#333333"], object))
    assert "consensus_colors" in annotated(source, source, "mm", overwrite=True).uns
    result = partita.Consensus.hard([0, 1] * 20)
    io.Annotating.of(source, source, "consensus", True).write(described(result, "consensus"))
    found = anndata.read_h5ad(source)
    assert "consensus_confidence" not in found.obs and list(found.obsm) == ["X_umap"]
    assert "consensus_colors" not in found.uns and found.obs["consensus"].tolist() == ["0", "1"] * 20


def test_bare_file(tmp_path):
    """No columns but the labels, no groups that hold nothing."""
    path = tmp_path / "bare.h5ad"
    cells().write_h5ad(path)
    with h5py.File(path, "r+") as file:
        del file["uns"], file["obsm"], file["layers"]
    found = annotated(path, tmp_path / "out.h5ad")
    assert found.uns["consensus"]["clusters"] == 3 and found.obsm["consensus_membership"].shape == (40, 3)


@pytest.mark.parametrize(
    ("source", "path", "told"),
    [
        ("labels.csv", "out.h5ad", "out.h5ad: .*a copy.*labels.csv is csv; choose .csv"),
        ("-", "out.h5ad", "standard input will not do"),
        ("cells.h5ad", "-", "standard output: an .h5ad cannot"),
        ("nothing.h5ad", "out.h5ad", "nothing.h5ad: no such file"),
        ("packed.h5ad", "out.h5ad", "packed.h5ad: is no HDF5 file, or a compressed one"),
        ("cells.h5ad", "nowhere/out.h5ad", "does not exist"),
        ("cells.h5ad", "folder", "is a directory"),
        ("cells.h5ad", "pipe", "is no plain file"),
    ],
)
def test_places(tmp_path, source, path, told, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cells().write_h5ad("cells.h5ad")
    (tmp_path / "packed.h5ad").write_bytes(b"\x1f\x8b" + bytes(50))
    (tmp_path / "labels.csv").write_text("a,b\n1,2\n")
    (tmp_path / "folder").mkdir()
    os.mkfifo("pipe")
    with pytest.raises(FileError, match=told):
        io.Annotating.of(source, path)


def test_other_writers_say_where_h5ad_is_written(tmp_path):
    for write in (lambda path: io.write(partita.Consensus.hard([0]), path), io.check_writable):
        with pytest.raises(FileError, match=r"partita\.anndata\.annotate"):
            write(tmp_path / "out.h5ad")


def test_old_files_and_names_that_are_taken(tmp_path, source):
    with pytest.raises(ParameterError, match="key_added='a/b'"):
        io.Annotating.of(source, tmp_path / "out.h5ad", "a/b")
    with h5py.File(source, "r+") as file:
        index = file["obs"].attrs["_index"]
        file["obs"].move(index, "consensus")
        file["obs"].attrs["_index"] = "consensus"
    with pytest.raises(FileError, match="the observation names are called 'consensus' there"):
        io.Annotating.of(source, tmp_path / "out.h5ad", overwrite=True)
    with h5py.File(source, "r+") as file:
        file["obs"].attrs["encoding-version"] = "0.1.0"
    with pytest.raises(FileError, match=r"since version 0\.8.*write_h5ad\(new\)"):
        io.Annotating.of(source, tmp_path / "out.h5ad")
    with h5py.File(source, "w") as file:
        file["members"] = np.zeros(3)
    with pytest.raises(FileError, match="observations are not as AnnData writes them"):
        io.Annotating.of(source, tmp_path / "out.h5ad")


def test_open_elsewhere(tmp_path, source):
    """As by a notebook that holds the file; another process, since one may open its own file twice."""
    words = [sys.executable, "-m", "partita", "evaluate", source, "-c", "leiden_0", "--truth", source]
    with h5py.File(source, "r+"):
        done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr == f"partita: {source}: is open elsewhere for writing; close it there, then try again\n"


def test_changed_in_between_and_other_objects(tmp_path, source):
    annotating = io.Annotating.of(source, tmp_path / "out.h5ad")
    with pytest.raises(ParameterError, match=r"has 4 objects and .* 40"):
        annotating.check_table(4, KEYS)
    with h5py.File(source, "r+") as file:
        file["uns/news"] = 1
    with pytest.raises(FileError, match="was changed while"):
        annotating.write(described(partita.Consensus.hard([0, 1] * 20), "consensus"))
    assert not (tmp_path / "out.h5ad").exists()


@pytest.mark.parametrize("extra", [-1000, 100, 20_000])
def test_full_disk_leaves_what_was_there(tmp_path, source, extra):
    """Space ends in the copy, or in what is added: one line, and no file is there that was not."""
    (tmp_path / "out.h5ad").write_text("earlier")
    annotating = io.Annotating.of(source, tmp_path / "out.h5ad")
    usual = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (source.stat().st_size + extra, usual[1]))
    try:
        with pytest.raises(FileError, match=r"out\.h5ad: File too large"):
            annotating.write(described(partita.Consensus.hard([0, 1] * 20), "consensus"))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, usual)
    assert (tmp_path / "out.h5ad").read_text() == "earlier" and len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError("no space"), RuntimeError("file write failed")])
def test_anything_else_that_fails_leaves_what_was_there(tmp_path, source, error, monkeypatch):
    whole = source.read_bytes()
    annotating = io.Annotating.of(source, source)

    def fail(*_):
        raise error

    monkeypatch.setattr("partita.io.annotating._put", fail)
    with pytest.raises(KeyboardInterrupt if error is KeyboardInterrupt else FileError):
        annotating.write(described(partita.Consensus.hard([0, 1] * 20), "consensus"))
    assert source.read_bytes() == whole and list(tmp_path.iterdir()) == [source]


def test_little_space_is_told_before_the_work(tmp_path, source, monkeypatch):
    monkeypatch.setattr("shutil.disk_usage", lambda _: type("Usage", (), {"free": 10_000})())
    with pytest.raises(FileError, match="0 MB are free; make room"):
        io.Annotating.of(source, tmp_path / "out.h5ad")


@pytest.mark.filterwarnings("ignore:Observation names are not unique")
def test_doubled_names_of_observations_go_by_rows(tmp_path):
    path = tmp_path / "cells.h5ad"
    adata = cells()
    adata.obs_names = ["twin"] * 40
    adata.write_h5ad(path)
    with pytest.warns(PartitaWarning, match="several observations are called 'twin'"):
        assert io.read(path, io.ReadOptions(columns=KEYS)).ids is None
    with pytest.warns(PartitaWarning, match="matched by row position"):
        found = annotated(path, tmp_path / "out.h5ad")
    assert found.obs["consensus"].notna().all()


def test_labels_of_a_result_are_read_with_the_names_of_the_observations(tmp_path):
    """Though the column before `consensus` would hold the ids in a text file of ours."""
    path = tmp_path / "cells.h5ad"
    adata = cells()
    adata.obs = adata.obs[["sample"]].assign(consensus=pd.Categorical(["0", "1"] * 20), id=range(40))
    adata.write_h5ad(path)
    found = io.read_labels(path)
    assert found.name == "consensus" and found.ids.tolist() == adata.obs_names.tolist()
    assert io.read_labels(path, "sample", ids="id").ids.tolist() == list(range(40))
    with pytest.raises(FileError, match="no column is called 'obs_names'"):
        io.read_labels(path, "obs_names")


def test_results_are_no_clusterings_unless_named(tmp_path, source):
    annotated(source, source, key="leiden_all")
    assert len(io.read(source, io.ReadOptions(columns=("leiden",))).names) == 4
    found = io.read(source, io.ReadOptions(columns=("leiden_all", "leiden_0")))
    assert found.names == ("leiden_0", "leiden_all")
