"""From features to clusters in one step: the same as the two steps, with a recipe of both."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.cluster import DBSCAN, AgglomerativeClustering
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import partita
from partita import EnsembleClustering
from partita.core.errors import MethodError, ParameterError
from partita.generate.making import Making
from tests.generate.checks import blobs
from tests.samples import noisy_labels, noisy_soft

FEW = {"members": 5}


def test_same_as_the_two_steps():
    X, truth = blobs()
    found = partita.cluster(X, 3, seed=4)
    ensemble = partita.make_ensemble(X, "uspec", k=(3, 12), scale="standard", seed=4)
    assert np.array_equal(found.labels, partita.consensus(ensemble, "lwgp", 3, seed=4).labels)
    assert found.recipe.fingerprint == ensemble.fingerprint
    assert adjusted_rand_score(truth, found.labels) == 1


def test_the_recipe_repeats_it():
    X, _ = blobs()
    found = partita.cluster(
        X, 3, way="features", method="mm", settings={"smoothing": 0.5}, seed=2, size=2, base_k="2..5", n_init=2, **FEW
    )
    made = found.recipe.made
    assert (made["way"], made["seed"], made["params"]["size"], made["params"]["n_init"]) == ("features", 2, 2, 2)
    again = partita.make_ensemble(X, made["way"], seed=made["seed"], **made["params"])
    assert again.fingerprint == found.recipe.fingerprint
    assert found.recipe.params["smoothing"] == 0.5 and found.model.recipe.made == made
    other = partita.cluster(X + 1e-9, 3, way="features", **FEW)
    assert other.recipe.made["features"] != made["features"]


def test_a_recipe_survives_files(tmp_path):
    X, _ = blobs()
    found = partita.cluster(X, 3, method="mm", way="restarts", settings={"smoothing": 0.5}, **FEW)
    partita.save_model(found, tmp_path / "model.npz")
    assert partita.load_model(tmp_path / "model.npz").recipe.made["way"] == "restarts"


def test_k_is_found():
    X, truth = blobs(n=90)
    found = partita.cluster(X)
    assert 3 <= found.k <= 5 and adjusted_rand_score(truth, found.labels) > 0.7
    assert found.k_choice.k == found.k and found.notes[0] == f"k = {found.k} was chosen: {found.k_choice.reason}"
    assert partita.cluster(X, method="auto", base_k=3).k == 3
    assert partita.cluster(X, method="mm").k == found.k


@pytest.mark.parametrize("k", [range(2, 5), [2, 4], (3, 4)])
def test_several_k(k):
    X, _ = blobs(n=90)
    found = partita.cluster(X, k, way="restarts", **FEW)
    assert found.k_asked in k and found.recipe.made["params"]["k"] == (min(k), 4 * max(k))
    with pytest.raises(ParameterError, match="k=500 is more than"):
        partita.cluster(X, [2, 500], way="restarts", base_k=3)


def test_ids_and_settings():
    X, _ = blobs()
    frame = pd.DataFrame(X, index=[f"object {i}" for i in range(60)])
    assert partita.cluster(frame, 3, way="restarts", **FEW).ids.tolist() == frame.index.tolist()
    with pytest.raises(ParameterError, match="lwgp: unknown parameter 'smoothing'"):
        partita.cluster(X, 3, settings={"smoothing": 1})
    with pytest.raises(ParameterError, match="neither uspec nor its base clusterer uspec has a parameter 'member'"):
        partita.cluster(X, 3, member=3)
    with pytest.raises(ParameterError, match="k=0 is less than 1"):
        partita.cluster(X, 0)
    with pytest.raises(MethodError, match="no way to make ensembles"):
        partita.cluster(X, 3, way="none")


@pytest.mark.parametrize("scale", ["none", "standard"])
def test_scale(scale):
    """A feature in large units decides alone, unless features are standardised."""
    rng = np.random.default_rng(0)
    truth = np.arange(100) % 2
    X = np.column_stack([truth + rng.normal(scale=0.1, size=100), 1000 * rng.normal(size=100)])
    found = partita.cluster(X, 2, way="restarts", base_k=2, scale=scale, **FEW)
    assert (adjusted_rand_score(truth, found.labels) > 0.5) == (scale == "standard")


def test_votes_by_hand():
    labels, _ = noisy_labels(n=40, r=3, missing=0.2)
    ensemble = partita.Ensemble.from_labels(labels, missing=-1)
    found = partita.consensus(ensemble, "hbgf", 3)
    model = found.model
    assert model.approximate
    for i, row in enumerate(labels):
        votes = np.zeros(found.k)
        for j, label in enumerate(row):
            if label != -1:
                votes += (
                    np.bincount(found.labels[labels[:, j] == label], minlength=found.k) / (labels[:, j] == label).sum()
                )
        assert np.allclose(model.predict_proba(labels[i : i + 1])[0], votes / votes.sum())


def test_votes_of_memberships():
    soft = noisy_soft()
    found = partita.consensus(soft, "shbgf", 3)
    assert (found.predict(soft) == found.labels).mean() > 0.9


@parametrize_with_checks(
    [
        EnsembleClustering(2, way="restarts", params=FEW),
        EnsembleClustering(3, params=FEW),
        EnsembleClustering(params=FEW),
        EnsembleClustering(2, way="restarts", method="voting", params={**FEW, "scale": "none"}),
    ]
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    ("way", "method"), [("uspec", "lwgp"), ("restarts", "voting"), ("features", "mm"), ("mixtures", "shbgf")]
)
def test_new_objects(way, method):
    X, truth = blobs(n=120, seed=3)
    settings = {"smoothing": 0.5} if method == "mm" else None
    model = EnsembleClustering(3, way=way, method=method, params=FEW, settings=settings, random_state=1).fit(X[:80])
    assert adjusted_rand_score(truth[:80], model.labels_) > 0.9
    assert (model.predict(X[:80]) == model.labels_).mean() > 0.97
    both = np.concatenate([model.labels_, model.predict(X[80:])])
    assert adjusted_rand_score(truth, both) > 0.9
    assert len(model.ensemble_.names) == 5 and model.consensus_.labels is model.labels_
    assert np.array_equal(clone(model).fit_predict(X[:80]), model.labels_)


def test_members_place_what_they_saw_where_it_was():
    X, _ = blobs()
    for way in ("restarts", "features", "projections", "cuts", "uspec"):
        made = Making.of(way, {"k": 4, "members": 4, "scale": "standard"}, 0).on(X)
        assert made.places and made.place(X).fingerprint == made.ensemble.fingerprint


def test_where_base_models_do_not_allow():
    X, _ = blobs()
    model = EnsembleClustering(3, way="restarts", params={"base": AgglomerativeClustering(), **FEW})
    assert not hasattr(model, "predict") and model.fit(X).labels_.max() == 2
    with pytest.raises(MethodError, match="cannot place new objects"):
        model._made.place(X)
    with pytest.raises(NotFittedError):
        EnsembleClustering(3).predict(X)


def test_random_state_kinds():
    X, _ = blobs()
    for state in (None, np.random.RandomState(0), np.int64(4)):
        assert EnsembleClustering(3, way="restarts", params=FEW, random_state=state).fit(X).labels_.max() == 2


def test_memberships_need_a_method_that_takes_them():
    """Refused before any work, with what takes them; such a method, or labels instead, then works."""
    X, truth = blobs()
    for params in ({"way": "mixtures"}, {"way": "restarts", "soft": True}):
        with pytest.raises(
            MethodError, match=r"memberships here, and lwgp takes labels; .*shbgf.*soft=False"
        ) as caught:
            partita.cluster("not even read", 3, **params)
        assert "\n" not in str(caught.value) and "harden" not in str(caught.value)
        for more in ({"method": "shbgf"}, {"soft": False}):
            found = partita.cluster(X, 3, **FEW, **(params | more))
            assert adjusted_rand_score(truth, found.labels) > 0.9
    assert partita.cluster(X, way="mixtures", method="mm", **FEW).k >= 2


def test_more_clusters_than_can_be():
    X, _ = blobs()
    for more in ({}, {"base_k": 3}, {"way": "objects"}):
        with pytest.raises(ParameterError, match=r"^k=200 is more than the 60 objects; give a smaller k$"):
            partita.cluster(X, 200, **more)
    with pytest.raises(ParameterError, match=r"^k=40\.\.160 is more than the 30 objects that a member sees"):
        partita.cluster(X, 40, way="objects", parts=4, method="mm")
    constant, groups = np.ones((30, 2)), "the base clusterings tell only one group of objects apart"
    with pytest.raises(ParameterError, match=groups):
        partita.cluster(constant, 3, way="restarts", **FEW)
    with pytest.raises(ParameterError, match="k=3, but the base clusterings tell only 2 groups"):
        partita.cluster(np.repeat([[0.0], [9.0]], 20, axis=0), 3, way="restarts", base=DBSCAN(), **FEW)
