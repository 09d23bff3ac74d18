"""Every way to make ensembles, held to every law; and what is particular to some."""

import numpy as np
import pytest
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline

import partita
from partita.core.errors import MethodError, ParameterError
from partita.generate import making, objects
from partita.generate.making import Making
from partita.generate.plans import Common, Shape, k_range
from partita.generate.registry import WAYS, get
from partita.generate.scaling import Scaling
from tests.generate.checks import CHECKS, blobs, make
from tests.samples import same_partition


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("way", WAYS)
def test_law(way, check):
    check(way)


@pytest.mark.parametrize("way", [way for way in WAYS if way != "cuts"])
def test_blobs_are_found(way):
    X, truth = blobs(n=90)
    found = partita.consensus(make(way, X, members=8), "auto", 3)
    assert adjusted_rand_score(truth, found.labels) > 0.9


def test_many_weak_cuts_find_blobs():
    X, truth = blobs(n=90)
    assert adjusted_rand_score(truth, partita.consensus(make("cuts", X, members=100), "lwgp", 3).labels) > 0.8


def plan(way, shape=(60, 8), **params):
    asked = Making.of(way, {"k": 3} | params, 0)
    return get(way).plan(Shape(*shape), asked.options, np.random.default_rng(0))


@pytest.mark.parametrize(("given", "size"), [({"size": 3}, 3), ({"share": 0.25}, 2), ({}, 4), ({"share": 0.0}, 1)])
def test_feature_subsets_have_the_size_asked_for(given, size):
    views = plan("features", members=30, **given)
    assert all(len(set(view.features.tolist())) == size == len(view.features) for view in views)
    assert {j for view in views for j in view.features.tolist()} == set(range(8))
    assert all(view.of(np.arange(480.0).reshape(60, 8)).shape == (60, size) for view in views)


def test_a_member_sees_only_its_features():
    """Noise in the other features changes nothing."""
    X, _ = blobs(d=6)
    (view,) = plan("features", (60, 6), members=1, size=2)
    other = X.copy()
    other[:, np.setdiff1d(np.arange(6), view.features)] = np.random.default_rng(1).normal(size=(60, 4))
    assert make("features", X, members=1, size=2).fingerprint == make("features", other, members=1, size=2).fingerprint


@pytest.mark.parametrize(("n", "p", "v"), [(60, 4, 2.0), (61, 16, 2.0), (100, 72, 2.0), (50, 2, 3.0), (50, 5, 1.0)])
def test_parts_cover_everything_coordinately(n, p, v):
    """p parts of about n v / p different objects, every object in at least one (strehl2002 §4.4)."""
    views = plan("objects", (n, 2), parts=p, factor=v, k=1)
    assert len(views) == p
    size = min(n, round(n * v / p))
    for view in views:
        assert len(set(view.rows.tolist())) == len(view.rows)
        assert size <= len(view.rows) <= max(size, -(-n // p))
    assert set(np.concatenate([view.rows for view in views]).tolist()) == set(range(n))


def test_parts_hold_their_share_and_a_random_rest():
    share = np.arange(10)
    found = [objects.part(share, 40, 20, np.random.default_rng(seed)) for seed in range(200)]
    assert all(set(range(10)) <= set(rows.tolist()) and len(rows) == 20 for rows in found)
    often = np.bincount(np.concatenate(found), minlength=40)[10:]
    assert often.min() > 35 and often.max() < 100  # each of the others in a third of 200 parts


def test_objects_outside_a_part_have_no_label_unless_placed():
    views = plan("objects", (60, 4), parts=4)
    found = make("objects", parts=4, members=None)
    assert len(found.names) == 4
    for j, view in enumerate(views):
        assert np.array_equal(np.flatnonzero(found.labels[:, j] >= 0), view.rows)
    assert make("objects", complete=True).missing_share == 0


def test_parts_are_members():
    """Either says how many; two numbers that differ are refused, and the recipe tells what was made."""
    X, _ = blobs()
    by_parts, by_members = make("objects", parts=5, members=None), make("objects", members=5)
    assert by_parts.fingerprint == by_members.fingerprint == make("objects", parts=5, members=5).fingerprint
    assert len(partita.make_ensemble(X, "objects", k=2).names) == 20
    with pytest.raises(ParameterError, match="members=5 and parts=16: each part is one member; leave out one"):
        make("objects", members=5, parts=16)
    told = partita.cluster(X, 3, way="objects", parts=6, method="mm").recipe.made["params"]
    assert (told["parts"], told["members"]) == (6, None)
    assert len(partita.make_ensemble(X, "objects", **told).names) == 6


@pytest.mark.parametrize("way", ["objects", "bootstrap"])
def test_complete_needs_a_base_that_places(way):
    for base, name in (("agglomerative", "agglomerative"), (AgglomerativeClustering(), "the base clusterer")):
        with pytest.raises(MethodError, match=f"complete=True, but {name} cannot place objects; choose another base"):
            make(way, base=base, complete=True)
        assert make(way, base=base).missing_share > 0
    assert make(way, complete=True).missing_share == 0


def test_a_feature_in_small_units_counts():
    """Standardised, a unit of any size changes nothing; only what rounding makes vary is flat."""
    X, _ = blobs()
    for unit in (1e-13, 1e-30, 1e30):
        assert np.allclose(Scaling.of(X * unit, "standard").applied(X * unit), Scaling.of(X, "standard").applied(X))
    flat = np.column_stack([np.full(60, 0.1), np.full(60, 1e-20), np.zeros(60), 1e6 + 1e-9 * X[:, 0]])
    assert np.abs(Scaling.of(flat, "standard").applied(flat)).max() < 1e-6


def test_bootstrap_leaves_gaps_unless_placed():
    X, _ = blobs()
    whole, gaps = make("bootstrap", X), make("bootstrap", X, complete=False)
    known = gaps.labels >= 0
    assert whole.missing_share == 0 and 0.25 < gaps.missing_share < 0.5
    for j in range(4):
        assert same_partition(whole.labels[known[:, j], j], gaps.labels[known[:, j], j])
    cannot = make("bootstrap", X, base=AgglomerativeClustering())
    assert 0.25 < cannot.missing_share < 0.5
    assert len(plan("bootstrap", share=0.5, members=1)[0].rows) == 30


def test_projections_keep_lengths_on_average():
    X = np.random.default_rng(0).normal(size=(50, 8))
    views = plan("projections", members=400, dimensions=3)
    lengths = np.mean([(view.of(X) ** 2).sum(axis=1) for view in views], axis=0)
    assert views[0].of(X).shape == (50, 3) and plan("projections", (60, 16))[0].projection.shape == (16, 4)
    assert np.allclose(lengths / (X**2).sum(axis=1), 1, atol=0.25)


@pytest.mark.parametrize("directions", [1, 3])
def test_cuts_are_cells_of_half_spaces(directions):
    """k cells, none empty; along one direction they are intervals; what is placed falls where it was."""
    X, _ = blobs()
    made = Making.of("cuts", {"members": 20, "k": 5, "directions": directions}, 0).on(X)
    assert made.ensemble.sizes == (5,) * 20
    assert made.place(X).fingerprint == made.ensemble.fingerprint
    if directions == 1:
        for j, member in enumerate(made.members):
            order = np.argsort(member.view.of(X)[:, 0])
            steps = np.count_nonzero(np.diff(made.ensemble.labels[order, j]))
            assert steps == 4


def test_cuts_of_equal_objects():
    assert make("cuts", np.ones((10, 2)), k=4).sizes == (1,) * 4
    assert make("cuts", np.repeat([[0.0], [1.0]], 5, axis=0), k=4).sizes == (2,) * 4


def test_portfolio_takes_turns():
    names = make("portfolio", members=5, base=["kmeans", "gmm"]).names
    assert names == ("kmeans_1", "gmm_1", "kmeans_2", "gmm_2", "kmeans_3")
    assert make("portfolio", members=None, base=["kmeans", KMeans(n_init=1)]).names == ("kmeans", "KMeans")


@pytest.mark.parametrize(
    ("base", "sizes"),
    [
        (KMeans(n_init=1), (2, 4)),
        (GaussianMixture(), (2, 4)),
        (make_pipeline(PCA(2), KMeans(n_init=1)), (2, 4)),
        (AgglomerativeClustering(n_clusters=None, distance_threshold=3.0), (3, 30)),
    ],
    ids=["kmeans", "mixture", "pipeline", "threshold"],
)
def test_any_scikit_learn_clusterer(base, sizes):
    before = repr(base.get_params())
    found = make("restarts", base=base, k="2..4", members=8)
    assert min(found.sizes) >= sizes[0] and max(found.sizes) <= sizes[1]
    assert repr(base.get_params()) == before
    assert np.array_equal(found.labels, make("restarts", base=base, k="2..4", members=8, threads=1).labels)


def test_scikit_learn_noise_is_missing():
    X, _ = blobs()
    base = DBSCAN(eps=0.5)
    found = make("restarts", X, base=base)
    assert np.array_equal(found.labels[:, 0] < 0, base.fit_predict(X) < 0) and found.missing_share > 0


def test_scikit_learn_memberships():
    soft = make("features", base=GaussianMixture(), soft=True)
    assert soft.sizes == (3,) * 4 and np.allclose(soft.block(2).sum(axis=1), 1)
    with pytest.raises(MethodError, match="KMeans has no memberships"):
        make("restarts", base=KMeans(), soft=True)


def test_settings_reach_the_base_clusterer():
    assert make("restarts", n_init=3).sizes == (3,) * 4
    with pytest.raises(ParameterError, match=r"neither restarts nor its base clusterer kmeans has .* 'n_inits'"):
        make("restarts", n_inits=3)
    with pytest.raises(ParameterError, match="n_init='many' is not allowed"):
        make("restarts", n_init="many")
    with pytest.raises(ParameterError, match="base clusterer KMeans has a parameter 'n_init'"):
        make("restarts", base=KMeans(), n_init=3)


@pytest.mark.parametrize(
    ("params", "told"),
    [
        ({"k": 0}, "no number of clusters"),
        ({"k": "5..2"}, "no number of clusters"),
        ({"k": "few"}, "no number of clusters"),
        ({"k": (1, 2, 3)}, "no number of clusters"),
        ({"k": 61}, "more than the 60 objects"),
        ({"members": 0}, "out of range"),
        ({"base": "kmeens"}, "did you mean 'kmeans'"),
        ({"base": KMeans}, "is no base clusterer"),
        ({"base": PCA(2)}, "has no fit_predict"),
        ({"scale": "minmax"}, "give none | standard"),
    ],
)
def test_what_cannot_be_asked_for(params, told):
    with pytest.raises(ParameterError, match=told.replace("|", r"\|")):
        make("restarts", **params)


def test_unknown_way_and_sizes():
    with pytest.raises(MethodError, match="did you mean 'features'"):
        make("feature")
    with pytest.raises(ParameterError, match="size=9 is more than the 4 features"):
        make("features", size=9)
    with pytest.raises(ParameterError, match="parts=61 is more"):
        make("objects", parts=61, members=None)
    with pytest.raises(ParameterError, match="names no clusterer"):
        make("portfolio", base=[])


def test_a_failing_estimator_is_named():
    with pytest.raises(MethodError, match="KMeans failed on 60 objects with k = 3"):
        make("restarts", base=KMeans(init=np.zeros((2, 4))))


def test_k_left_out():
    assert k_range(Common(), 100) == (2, 10) and k_range(Common(), 10**6) == (2, 50) and k_range(Common(), 1) == (1, 1)


def test_ctrl_c_keeps_what_is_finished(monkeypatch):
    from partita.generate.plans import View

    begun, seen = [], View.of

    def of(self, X):
        begun.append(self)
        if len(begun) == 3:
            raise KeyboardInterrupt
        return seen(self, X)

    monkeypatch.setattr(View, "of", of)
    made = Making.of("restarts", {"k": 3, "members": 6}, 0).on(blobs()[0], threads=1)
    monkeypatch.setattr(View, "of", seen)
    assert made.interrupted and made.ensemble.names == ("restarts_1", "restarts_2")
    assert np.array_equal(made.ensemble.labels, make("restarts", members=6).labels[:, :2])
    begun.clear()
    monkeypatch.setattr(View, "of", of)
    with pytest.raises(KeyboardInterrupt):  # an ensemble with fewer members than asked for must not pass for it
        make("restarts", members=6, threads=1)


def test_progress_is_told():
    from partita.core.progress import reporting

    told = []
    with reporting(lambda what, done, total: told.append((what, done, total))):
        make("restarts")
    assert (making.WHAT, 4, 4) in told
