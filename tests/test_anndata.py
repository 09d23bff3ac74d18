"""partita.anndata: the columns of obs in, labels, confidence, memberships and recipe out, as scanpy's functions do."""

import builtins
import doctest
import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

import partita
from partita.core.errors import MissingExtraError, ParameterError, TableError
from tests.samples import noisy_labels

anndata = pytest.importorskip("anndata")
pd = pytest.importorskip("pandas")


def cells(n=40, r=4, k=3, missing=0.0, seed=0):
    """An object whose clusterings are categories of text, beside columns that are none."""
    labels, _ = noisy_labels(n=n, r=r, k=k, missing=missing, seed=seed)
    names = [f"leiden_{j}" for j in range(r)]
    obs = pd.DataFrame({"depth": np.linspace(0.5, 9.5, n)}, index=[f"cell {i}" for i in range(n)])
    for j, name in enumerate(names):
        obs[name] = pd.Categorical([None if value < 0 else str(value) for value in labels[:, j]])
    obs["sample"] = pd.Categorical(["s1"] * n)
    rng = np.random.default_rng(seed)
    return anndata.AnnData(rng.random((n, 3)), obs, layers={"raw": rng.random((n, 3))})


def labels_of(column):
    """A column of ours as codes."""
    assert column.dtype == "category" and not column.cat.ordered
    assert column.cat.categories.tolist() == [str(code) for code in range(len(column.cat.categories))]
    return column.cat.codes.to_numpy()


def same_result(adata, expected, key="consensus"):
    """The object holds this result."""
    np.testing.assert_array_equal(labels_of(adata.obs[key]), expected.labels)
    if expected.confidence is None:
        assert f"{key}_confidence" not in adata.obs
    else:
        np.testing.assert_array_equal(adata.obs[f"{key}_confidence"], expected.confidence)
    if expected.membership is None:
        assert f"{key}_membership" not in adata.obsm
    else:
        np.testing.assert_array_equal(adata.obsm[f"{key}_membership"], expected.membership)


@pytest.mark.parametrize(("method", "k"), [("auto", None), ("auto", 3), ("mm", 3), ("voting", 3), ("nbce-cvb", None)])
def test_the_same_as_consensus_of_the_columns(method, k):
    adata = cells(missing=0.1)
    columns = [f"leiden_{j}" for j in range(4)]
    expected = partita.consensus(adata.obs[columns], method, k, seed=3)
    assert partita.anndata.consensus(adata, k=k, method=method, seed=3) is None
    same_result(adata, expected)
    told = adata.uns["consensus"]
    assert told["params"]["method"] == method and told["params"]["seed"] == 3
    assert told["params"].get("k") == expected.k_asked and told["clusters"] == expected.k
    assert told["params"]["keys"].tolist() == columns
    assert told["params"]["fingerprint"] == expected.recipe.fingerprint
    assert told["params"]["partita"] == partita.__version__
    scores = partita.evaluate(expected, ensemble=adata.obs[columns])
    assert told["anmi"] == expected.scores["anmi"] == pytest.approx(scores["anmi"], abs=1e-12)
    assert told["nmi"].tolist() == list(scores["nmi by clustering"].values())
    assert told["notes"].tolist() == list(expected.notes)


def test_unknown_objects_are_empty():
    adata = cells()
    for j in range(4):
        adata.obs.loc["cell 7", f"leiden_{j}"] = np.nan
    partita.anndata.consensus(adata, k=3, method="mm")
    assert pd.isna(adata.obs["consensus"].iloc[7]) and adata.obs["consensus"].notna().sum() == 39
    assert np.isnan(adata.obs["consensus_confidence"].iloc[7])
    assert np.isnan(adata.obsm["consensus_membership"][7]).all()
    assert "no label in any clustering" in adata.uns["consensus"]["notes"][0]


@pytest.mark.parametrize(
    ("keys", "columns"),
    [
        ("leiden_*", [0, 1, 2, 3]),
        ("leiden_", [0, 1, 2, 3]),
        ("leiden_[12]", [1, 2]),
        (["leiden_3", "leiden_0"], [0, 3]),
        (("leiden_1", "*_[03]", "leiden_1"), [0, 1, 3]),
        (pd.Index(["leiden_2", "leiden_1"]), [1, 2]),
    ],
)
def test_choice_of_columns(keys, columns):
    adata = cells()
    names = [f"leiden_{j}" for j in columns]
    found = partita.anndata.ensemble(adata, keys)
    assert found.names == tuple(names) and found.ids.tolist() == adata.obs_names.tolist()
    assert found.fingerprint == partita.Ensemble.from_labels(adata.obs[names]).fingerprint


def test_a_name_that_is_there_is_a_name():
    adata = cells()
    adata.obs["leiden_*"] = adata.obs["leiden_0"]
    adata.obs["a[1]"] = adata.obs["leiden_1"]
    assert partita.anndata.ensemble(adata, ["leiden_*", "a[1]"]).names == ("leiden_*", "a[1]")


def test_results_are_never_input():
    adata = cells()
    partita.anndata.consensus(adata, "leiden_*", 3, "leiden_all", method="voting")
    first = adata.obs["leiden_all"].copy()
    partita.anndata.consensus(adata, "leiden_*", 2, "leiden_two", method="voting")
    assert adata.uns["leiden_two"]["params"]["keys"].tolist() == [f"leiden_{j}" for j in range(4)]
    partita.anndata.consensus(adata, "leiden_*", 3, "leiden_all", method="voting")
    pd.testing.assert_series_equal(adata.obs["leiden_all"], first)
    for key in ("leiden_all", "leiden_all_confidence"):
        with pytest.raises(ParameterError, match="is where the result goes"):
            partita.anndata.consensus(adata, [key, "leiden_1"], key_added="leiden_all")
    named = partita.anndata.ensemble(adata, ["leiden_all", "leiden_two"])  # by name they may be compared
    assert named.names == ("leiden_all", "leiden_two")


def test_errors():
    adata = cells()
    with pytest.raises(TableError, match=r"'louvain_\*' fits no column.*'leiden_0', .*'sample'$") as caught:
        partita.anndata.consensus(adata, "louvain_*")
    assert "depth" not in str(caught.value)
    with pytest.raises(TableError, match="no column there holds labels"):
        partita.anndata.consensus(anndata.AnnData(np.zeros((3, 1))))
    with pytest.raises(TableError, match="one clustering is no ensemble"):
        partita.anndata.consensus(adata, "leiden_1")
    with pytest.raises(TableError, match=r"column 'depth', row 1: 0\.5"):
        partita.anndata.consensus(adata, ["depth", "leiden_1"])
    with pytest.raises(ParameterError, match="k=500 is more than"):
        partita.anndata.consensus(adata, method="mm", k=[3, 500])
    for keys in ([], None, 5, [5], ""):
        with pytest.raises(ParameterError, match="names no columns of obs"):
            partita.anndata.consensus(adata, keys)
    for key in ("", "a/b", None, "_index"):
        with pytest.raises(ParameterError, match="key_added="):
            partita.anndata.consensus(adata, key_added=key)
    doubled = cells()
    doubled.obs.columns = ["leiden_0" if name == "leiden_1" else name for name in doubled.obs]
    with pytest.raises(TableError, match="clustering 'leiden_0' is given twice; rename"):
        partita.anndata.consensus(doubled)
    with pytest.raises(TableError, match="a DataFrame is not an AnnData"):
        partita.anndata.consensus(adata.obs)
    with pytest.raises(ParameterError, match="40 objects and adata 30"):
        partita.anndata.annotate(adata[:30], partita.consensus(partita.anndata.ensemble(adata), k=3))
    assert list(adata.uns) == [] and "consensus" not in adata.obs


def test_without_the_package(monkeypatch):
    adata, load = cells(), importlib.import_module

    def without(name, *args):
        if name == "anndata":
            raise ImportError(name)
        return load(name, *args)

    monkeypatch.setattr(importlib, "import_module", without)
    with pytest.raises(MissingExtraError, match=r"pip install 'partita\[anndata\]'"):
        partita.anndata.consensus(adata)


def test_module_needs_no_anndata(monkeypatch):
    """Importing partita.anndata works where the package is absent; calling it tells what to install."""
    usual = builtins.__import__

    def without(name, *args, **kwargs):
        if name.split(".")[0] in ("anndata", "h5py"):
            raise ImportError(name)
        return usual(name, *args, **kwargs)

    monkeypatch.delitem(sys.modules, "partita.anndata")
    monkeypatch.setattr(builtins, "__import__", without)
    assert importlib.import_module("partita.anndata").__doc__


def test_kinds_of_columns():
    """Whatever holds the labels, they are the same labels."""
    labels, _ = noisy_labels(n=40, r=2, k=3, missing=0.1)
    text = pd.Series([None if value < 0 else f"t{value}" for value in labels[:, 0]])
    number = pd.Series(np.where(labels[:, 1] < 0, np.nan, labels[:, 1]))
    columns = {
        "a": text,
        "b": text.astype("string"),
        "c": text.astype(pd.ArrowDtype(__import__("pyarrow").string())),
        "d": pd.Categorical(text, categories=["unused", "t2", "t0", "t1"]),
        "e": number,
        "f": number.astype("Int64"),
        "g": number.fillna(7).astype(np.uint8),
        "h": number > 0,
        "i": pd.Categorical(number),
    }
    adata = anndata.AnnData(np.zeros((40, 1)), pd.DataFrame(columns).set_axis([f"o{i}" for i in range(40)]))
    found = partita.anndata.ensemble(adata, list(columns))
    expected = partita.Ensemble.from_labels(np.where(labels < 0, -1, labels), missing=-1)
    for place, name in enumerate(columns):
        if name not in "gh":
            np.testing.assert_array_equal(found.labels[:, place], expected.labels[:, int(place > 3)], name)
    assert found.sizes == (3, 3, 3, 3, 3, 3, 4, 2, 3)
    partita.anndata.consensus(adata, list(columns), 3, method="voting")
    same_result(adata, partita.consensus(adata.obs[list(columns)], "voting", 3))


def test_minus_one_is_asked_about_and_weights():
    adata = cells()
    adata.obs["leiden_1"] = pd.Categorical(["-1", *adata.obs["leiden_1"].astype(str)[1:]])
    with pytest.raises(TableError, match="'leiden_1', row 1: -1 may be a label"):
        partita.anndata.consensus(adata)
    weights = {"leiden_2": 3.0}
    partita.anndata.consensus(adata, k=3, method="mm", missing=-1, weights=weights, threads=1, restarts=2)
    table = adata.obs[[f"leiden_{j}" for j in range(4)]]
    table = partita.Ensemble.from_labels(table, missing=-1, weights=weights)
    same_result(adata, partita.consensus(table, "mm", 3, restarts=2))
    assert adata.uns["consensus"]["params"]["weights"].tolist() == [1, 1, 3, 1]
    assert adata.uns["consensus"]["params"]["settings"]["restarts"] == 2


def test_memberships_in_obs_are_one_clustering():
    adata = cells()
    share = np.random.default_rng(0).random(40).round(3)
    adata.obs["topic:0"], adata.obs["topic:1"] = share, 1 - share
    found = partita.anndata.ensemble(adata, ["topic", "leiden_1"])
    assert isinstance(found, partita.SoftEnsemble) and found.sizes == (3, 2)
    partita.anndata.consensus(adata, ["topic", "leiden_1"], 2, method="itk")
    same_result(adata, partita.consensus(found, "itk", 2))


def test_doubled_names_of_objects():
    adata = cells()
    adata.obs_names = ["twin"] * 40
    partita.anndata.consensus(adata, k=3, method="voting")
    same_result(adata, partita.consensus(cells().obs[[f"leiden_{j}" for j in range(4)]], "voting", 3))
    assert partita.anndata.ensemble(adata).ids is None


def test_view_becomes_an_object_of_its_own():
    adata = cells()
    view = adata[::2, :2]
    assert view.is_view
    partita.anndata.consensus(view, k=3, method="mm")  # warnings are errors here
    assert not view.is_view and view.shape == (20, 2)
    same_result(view, partita.consensus(adata.obs.iloc[::2][[f"leiden_{j}" for j in range(4)]], "mm", 3))
    assert "consensus" not in adata.obs and "consensus" not in adata.uns and not list(adata.obsm)


def test_copy():
    adata = cells()
    before = adata.copy()
    copied = partita.anndata.consensus(adata, k=3, copy=True)
    assert "consensus" in copied.obs and copied is not adata
    pd.testing.assert_frame_equal(adata.obs, before.obs)
    assert not adata.uns and not list(adata.obsm)
    view = adata[:20]
    assert "consensus" in partita.anndata.consensus(view, k=3, copy=True).obs and view.is_view


def test_a_second_result_replaces_the_first_whole():
    adata = cells()
    partita.anndata.consensus(adata, k=3, method="mm")
    adata.uns["consensus_colors"] = np.array(["#111111", "#222222", "#333333"])
    partita.anndata.consensus(adata, k=3, method="mm", seed=1)
    assert len(adata.uns["consensus_colors"]) == 3
    partita.anndata.consensus(adata, k=2, method="hgpa")
    assert "consensus_colors" not in adata.uns and "consensus_membership" not in adata.obsm
    assert adata.uns["consensus"]["params"]["method"] == "hgpa"
    columns = [f"leiden_{j}" for j in range(4)]
    same_result(adata, partita.consensus(adata.obs[columns], "hgpa", 2))


def test_a_column_of_others_is_kept():
    """Only what an earlier result of ours left is taken away."""
    adata = cells()
    adata.obs["consensus_confidence"] = 1.0
    result = partita.Consensus.hard([0, 1] * 20)
    partita.anndata.annotate(adata, result)
    assert (adata.obs["consensus_confidence"] == 1).all()
    about = adata.uns["consensus"]
    assert set(about) == {"schema", "params", "clusters", "notes", "note_codes"}
    assert about["schema"] == 1 and about["params"] == {} and about["clusters"] == 2


def same_told(a, b):
    """Dictionaries of texts, numbers and arrays, as files hold them."""
    assert a.keys() == b.keys()
    for name, value in a.items():
        if isinstance(value, dict):
            same_told(value, b[name])
        else:
            assert np.array_equal(value, b[name]), name


@pytest.mark.filterwarnings("ignore:.*zarr v2")
@pytest.mark.parametrize(
    ("suffix", "method"), [*(("h5ad", method) for method in ("auto", "mm", "bce-vb", "supra", "eac")), ("zarr", "mm")]
)
def test_files(tmp_path, method, suffix):
    adata = cells(missing=0.1)
    partita.anndata.consensus(adata, k=3, method=method)
    path = tmp_path / f"cells.{suffix}"
    getattr(adata, f"write_{suffix}")(path)
    back = getattr(anndata, f"read_{suffix}")(path)
    pd.testing.assert_frame_equal(back.obs, adata.obs)
    same_told(adata.uns["consensus"], back.uns["consensus"])
    for key in adata.obsm:
        np.testing.assert_array_equal(back.obsm[key], adata.obsm[key])
    partita.anndata.consensus(back, k=3, method="voting")  # the earlier result is known as such, and replaced
    assert back.uns["consensus"]["params"]["keys"].tolist() == [f"leiden_{j}" for j in range(4)]


def test_backed_by_a_file(tmp_path):
    path = tmp_path / "cells.h5ad"
    cells().write_h5ad(path)
    backed = anndata.read_h5ad(path, backed="r")
    partita.anndata.consensus(backed, k=3, method="mm")
    assert backed.isbacked
    same_result(backed, partita.consensus(cells().obs[[f"leiden_{j}" for j in range(4)]], "mm", 3))
    for ask in (
        lambda: partita.anndata.consensus(backed[:20], k=3),
        lambda: partita.anndata.consensus(backed, copy=True),
    ):
        with pytest.raises(ParameterError, match="to_memory"):
            ask()
    backed.file.close()


def test_annotate_any_result():
    adata = cells()
    found = partita.anndata.ensemble(adata, "leiden_")
    chosen = partita.select_k(found, range(2, 4), repeats=0)
    partita.anndata.annotate(adata, chosen.consensus, "best", found)
    same_result(adata, chosen.consensus, "best")
    assert adata.uns["best"]["params"]["keys"].tolist() == list(found.names)


def test_the_page_about_it():
    """The examples of the page run as printed."""
    labels, truth = noisy_labels(n=300, r=3, k=4, noise=0.1)
    names = ["leiden_0.5", "leiden_1.0", "leiden_2.0"]
    obs = pd.DataFrame({name: pd.Categorical(labels[:, j].astype(str)) for j, name in enumerate(names)})
    obs["cell_type"] = pd.Categorical(truth.astype(str))
    adata = anndata.AnnData(np.zeros((300, 2)), obs.set_axis([f"cell {i}" for i in range(300)]))
    page = Path(__file__).parents[1] / "docs" / "anndata.md"
    examples = doctest.DocTestParser().get_doctest(
        page.read_text().replace("```", ""), {"adata": adata}, "page", None, 0
    )
    assert len(examples.examples) == 10
    assert doctest.DocTestRunner().run(examples).failed == 0
