"""What every way to make ensembles must do; `test_ways.py` crosses the registry with this list."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest

import partita
from partita import Ensemble, SoftEnsemble
from partita.core import threads
from partita.core.errors import ParameterError
from partita.generate import registry
from partita.generate.clusterers import CLUSTERERS
from partita.generate.portfolio import TEN

CITATIONS = (Path(__file__).parents[2] / "CITATION.cff").read_text()
K = 3


def blobs(n=60, d=4, seed=0):
    """Three blobs; returns (features, truth)."""
    rng = np.random.default_rng(seed)
    truth = rng.permutation(np.arange(n) % K)
    return rng.normal(scale=0.3, size=(n, d)) + 4 * rng.normal(size=(K, d))[truth], truth


def make(way, X=None, **options):
    """A small ensemble; ways whose base clusterers take long, or are not there, use k-means."""
    options = {"members": 4, "k": K} | options
    if way == "portfolio" and "base" not in options:
        options["base"] = "kmeans,kmeans-cosine,gmm"
    return partita.make_ensemble(blobs()[0] if X is None else X, way, **options)


def values(ensemble):
    return ensemble.matrix if isinstance(ensemble, SoftEnsemble) else ensemble.labels


def check_valid_ensemble(way):
    """So many members of at most k clusters, each with a name of its own; labels only where the way leaves none out."""
    found = make(way)
    assert isinstance(found, SoftEnsemble if way == "mixtures" else Ensemble)
    assert len(found) == 60 and len(found.names) == 4 == len(set(found.names))
    assert max(found.sizes) <= K and min(found.sizes) >= 2
    assert (found.missing_share > 0) == (way == "objects")


def check_same_seed_same_result(way):
    """A seed fixes everything, for one thread and for two; another seed gives other members."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(threads, "available", lambda: 2)
        first, again = make(way, seed=5, threads=1), make(way, seed=5, threads=2)
    assert np.array_equal(values(first), values(again)) and first.names == again.names
    many = {"members": 12, "k": "2..8"}
    assert make(way, seed=5, **many).fingerprint != make(way, seed=6, **many).fingerprint


def check_more_members_keep_the_first(way):
    """Members do not feel how many others there are; parts of the objects do, since together they cover all."""
    few, many = make(way, members=3, k="2..5"), make(way, members=6, k="2..5")
    same = np.array_equal(values(many.columns([0, 1, 2])), values(few))
    assert same == (way != "objects")


def check_leaves_the_input_alone(way):
    """Neither the features nor NumPy's global state are touched."""
    X, _ = blobs()
    copy, before = X.copy(), np.random.get_state()[1].copy()  # noqa: NPY002
    make(way, X)
    assert np.array_equal(X, copy) and np.array_equal(np.random.get_state()[1], before)  # noqa: NPY002


def check_draws_k_from_a_range(way):
    """A pair, a string and `vary` are ranges, and every member draws its own number."""
    for k in ((2, 6), "2..6"):
        sizes = make(way, k=k, members=12).sizes
        assert min(sizes) >= 2 and max(sizes) <= 6 and len(set(sizes)) > 1
    assert make(way, k=(2, 6), members=12).sizes == make(way, k="2..6", members=12).sizes
    varied = make(way, k=4, vary=True, members=12).sizes
    assert min(varied) >= 2 and 4 < max(varied) <= 8


def check_soft_rows_sum_to_one(way):
    """Memberships are shares."""
    if way in ("cuts", "uspec"):
        with pytest.raises(ParameterError, match="no memberships"):
            make(way, soft=True)
        return
    soft = make(way, soft=True, base="gmm")
    assert isinstance(soft, SoftEnsemble)
    for j in range(len(soft.names)):
        assert np.allclose(soft.block(j)[soft.known[:, j]].sum(axis=1), 1)


def check_scale_does_not_matter_once_standardised(way):
    """With scale="standard" the unit of a feature changes nothing."""
    X, _ = blobs()
    stretched = X * [1, 1000, 0.5, 7] + 3
    plain, other = make(way, X, scale="standard"), make(way, stretched, scale="standard")
    assert np.allclose(values(plain), values(other))


def check_ids_are_kept(way):
    """A dataframe with an index names the objects."""
    import pandas as pd

    X, _ = blobs()
    frame = pd.DataFrame(X, index=[f"object {i}" for i in range(60)])
    found = make(way, frame)
    assert found.ids.tolist() == frame.index.tolist()
    assert np.array_equal(values(found), values(make(way, X)))


def check_described(way):
    """A summary, settings with meanings, and a paper that is cited."""
    found = registry.get(way)
    assert len(registry.summary(way)) > 20
    assert found.cite == "" or f"notes: {found.cite}\n" in CITATIONS
    assert all(field.metadata["meaning"] for field in dataclasses.fields(found.Params))
    assert way != "portfolio" or set(TEN) <= set(CLUSTERERS)


CHECKS = [check for name, check in list(globals().items()) if name.startswith("check_")]
