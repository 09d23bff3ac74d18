"""The command line reads and writes .h5ad files."""

import json
import subprocess
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

import partita
from partita.cli.main import app
from partita.cli.options import output_formats
from partita.core.errors import FileError, ParameterError
from tests.test_anndata import anndata, cells, pd


def called(*words):
    """The command in this process; an error of ours is raised."""
    done = CliRunner().invoke(app, [str(word) for word in words])
    if isinstance(done.exception, partita.PartitaError):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.fixture
def data(tmp_path):
    adata = cells()
    adata.obs["cell_type"] = pd.Categorical([f"t{label}" for label in adata.obs["leiden_0"]])
    adata.write_h5ad(tmp_path / "data.h5ad")
    return tmp_path / "data.h5ad"


def test_run(data):
    words = ["run", "data.h5ad", "-c", "leiden_*", "-k", "3", "-o", "out.h5ad", "--json"]
    done = subprocess.run(
        [sys.executable, "-m", "partita", *words], cwd=data.parent, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
    expected = anndata.read_h5ad(data)
    partita.anndata.consensus(expected, k=3)
    found = anndata.read_h5ad(data.parent / "out.h5ad")
    pd.testing.assert_frame_equal(found.obs, expected.obs)
    np.testing.assert_array_equal(found.X, expected.X)
    assert json.loads(done.stdout)["clusters"] == found.uns["consensus"]["clusters"] == 3


def test_every_command_reads_it(data, tmp_path):
    out, model = tmp_path / "out.h5ad", tmp_path / "model.npz"
    called("run", data, "-c", "leiden_", "-k", 3, "-m", "mm", "-q", "--save-model", model, "-o", out)
    chosen = json.loads(called("select-k", data, "-c", "leiden_*", "-k", "2..3", "--repeats", 0, "--json", "-q"))
    assert [trial["k"] for trial in chosen["trials"]] == [2, 3]
    scores = json.loads(
        called(
            "evaluate",
            out,
            "--ensemble",
            data,
            "-c",
            "leiden_*",
            "--truth",
            data,
            "--truth-column",
            "cell_type",
            "--json",
        )
    )
    adata = anndata.read_h5ad(out)
    expected = partita.evaluate(
        adata.obs["consensus"], ensemble=partita.anndata.ensemble(adata), truth=adata.obs["cell_type"]
    )
    assert list(scores["nmi by clustering"]) == list(expected["nmi by clustering"])
    assert scores["anmi"] == pytest.approx(expected["anmi"], abs=1e-12) and scores["ari"] == expected["ari"]
    called("predict", model, data, "-o", tmp_path / "new.h5ad", "--key-added", "placed", "-q")
    placed = anndata.read_h5ad(tmp_path / "new.h5ad")
    assert placed.obs["placed"].tolist() == adata.obs["consensus"].tolist()
    assert placed.uns["placed"]["params"]["method"] == "mm" and "placed_membership" in placed.obsm


def test_cluster_features_into_the_same_file(data, tmp_path):
    out = tmp_path / "out.h5ad"
    called("cluster", data, "-k", 2, "--way", "restarts", "--members", 3, "-m", "voting", "-q", "-o", out)
    found = anndata.read_h5ad(out)
    assert sorted(found.obs["consensus"].unique()) == ["0", "1"]
    assert json.loads(found.uns["consensus"]["params"]["made"])["way"] == "restarts"


def test_options(data, tmp_path):
    out = tmp_path / "out.h5ad"
    base = ["run", data, "-c", "leiden_", "-k", 3, "-m", "mm", "-q"]
    called(*base, "-o", out, "--no-membership", "--key-added", "a")
    assert list(anndata.read_h5ad(out).obsm) == []
    called(*base, "-o", data, "--key-added", "a")
    with pytest.raises(FileError, match="--overwrite"):
        called(*base, "-o", data, "--key-added", "a")
    called(*base, "-o", data, "--key-added", "a", "--overwrite")
    whole = data.read_bytes()
    with pytest.raises(ParameterError, match=r"'leiden_0' is one of the clusterings.*--exclude leiden_0"):
        called(*base, "-o", data, "--key-added", "leiden_0", "--overwrite")
    assert data.read_bytes() == whole
    called(*base, "-o", out, "--key-added", "leiden_0", "--overwrite", "--exclude", "leiden_0")
    for option in (["--key-added", "a"], ["--overwrite"]):
        with pytest.raises(ParameterError, match=r"is for an \.h5ad alone"):
            called(*base, "-o", tmp_path / "out.csv", *option)
    with pytest.raises(FileError, match="cannot go to standard output"):
        called(*base, "--format", "h5ad")
    with pytest.raises(FileError, match="overwrite the label table"):
        called(*base, "-o", data, "--format", "csv")
    (tmp_path / "labels.csv").write_text("a,b\n0,0\n1,1\n")
    with pytest.raises(FileError, match=r"labels\.csv is csv; choose"):
        called("run", tmp_path / "labels.csv", "-k", 2, "-o", out)
    assert "h5ad" in output_formats("h")
