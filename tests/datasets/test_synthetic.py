"""Data sets made from their description: shapes, moments, and what the papers measured on them."""

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from partita.datasets import CATALOGUE, load
from partita.datasets import synthetic as made

MAKERS = {
    "2d2k": made.make_2d2k,
    "8d5k": made.make_8d5k,
    "halfrings": made.make_halfrings,
    "two_spirals": made.make_spirals,
    "synthetic_control": made.make_control_charts,
}


def rng(seed=0):
    return np.random.default_rng(seed)


def kmeans_error(data):
    """Mean share of objects in the wrong cluster, best matching, over five starts."""
    wrong = []
    for seed in range(5):
        found = KMeans(data.k, n_init=1, random_state=seed).fit_predict(data.X)
        table = np.zeros((data.k, data.k))
        np.add.at(table, (data.labels, found), 1)
        wrong.append(1 - table[linear_sum_assignment(-table)].sum() / len(data))
    return np.mean(wrong)


@pytest.mark.parametrize("name", MAKERS)
def test_sizes_are_those_of_the_catalogue(name):
    data, entry = MAKERS[name](rng()), CATALOGUE[name]
    assert data.X.shape == (entry.n, entry.d) and data.name == name
    assert tuple(np.bincount(data.labels)) == entry.counts and data.classes == entry.classes
    assert not data.X.flags.writeable and "description" in data.source


@pytest.mark.parametrize("name", MAKERS)
def test_a_seed_is_a_data_set(name):
    again = [MAKERS[name](rng(seed)).X for seed in (1, 1, 2)]
    assert np.array_equal(again[0], again[1])
    assert np.array_equal(again[0], again[2]) == (name == "two_spirals")  # nothing in it is random


@pytest.mark.parametrize("name", ["2d2k", "8d5k"])
def test_standard_deviation_not_variance(name):
    """MISPRINTS 45."""
    data = MAKERS[name](rng())
    inside = [data.X[data.labels == c].std(axis=0) for c in range(data.k)]
    assert np.allclose(inside, 0.1, atol=0.015)


def test_2d2k_centres():
    data = made.make_2d2k(rng())
    means = [data.X[data.labels == c].mean(axis=0) for c in range(2)]
    assert np.allclose(means, [[-0.227, 0.077], [0.095, 0.323]], atol=0.02)


def test_8d5k_centres_lie_in_the_unit_cube_and_differ_from_draw_to_draw():
    data, other = made.make_8d5k(rng(0)), made.make_8d5k(rng(1))
    means = np.array([data.X[data.labels == c].mean(axis=0) for c in range(5)])
    assert means.min() > -0.05 and means.max() < 1.05
    assert abs(means - [other.X[other.labels == c].mean(axis=0) for c in range(5)]).max() > 0.2


def test_half_rings_are_arcs_of_their_radii():
    data = made.make_halfrings(rng())
    for c, centre, side, low in ((0, (0.3315, 0.262), 1, 0.161), (1, (0.6657, 0.3347), -1, 0.252)):
        away = data.X[data.labels == c] - centre
        radius = np.linalg.norm(away, axis=1)
        assert low <= radius.min() and radius.max() <= 0.336 and (side * away[:, 1] >= 0).all()


def test_kmeans_errs_as_often_as_published():
    """topchy2004 Table 2: half-rings 25.6 %, two spirals 43.5 %."""
    with threadpool_limits(1):
        rings = np.mean([kmeans_error(made.make_halfrings(rng(seed))) for seed in range(5)])
        assert rings == pytest.approx(0.256, abs=0.03)
        assert kmeans_error(made.make_spirals(rng())) == pytest.approx(0.435, abs=0.015)


def test_spirals_mirror_each_other_and_take_noise():
    data = made.make_spirals(rng())
    assert np.array_equal(data.X[:100], -data.X[100:])
    radius = np.linalg.norm(data.X[:100], axis=1)
    assert np.allclose(np.diff(radius), 1 / 16) and radius[-1] == pytest.approx(6.75)
    moved = made.make_spirals(rng(), noise=0.2).X - data.X
    assert moved.std() == pytest.approx(0.2, abs=0.02)


def test_control_charts_by_kind():
    """Moments of the published equations: r s has variance 12 whatever the kind."""
    data = made.make_control_charts(rng(), each=2000)
    kinds = {name: data.X[data.labels == c] for c, name in enumerate(data.classes)}
    t = np.arange(60)
    flat = kinds["normal"]
    assert flat.min() >= 24 and flat.max() <= 36 and flat.var() == pytest.approx(12, rel=0.01)
    assert np.allclose(kinds["increasing"].mean(axis=0), 30 + 0.35 * t, atol=0.6)
    assert np.allclose(kinds["decreasing"].mean(axis=0), 30 - 0.35 * t, atol=0.6)
    for name, sign in (("upward_shift", 1), ("downward_shift", -1)):
        assert kinds[name][:, :19].mean() == pytest.approx(30, abs=0.1)
        assert kinds[name][:, 41:].mean() == pytest.approx(30 + sign * 13.75, abs=0.3)
    waves = kinds["cyclic"] - 30
    assert waves.var() == pytest.approx(12 + (12.5**2 + 25 / 12) / 2, rel=0.05)
    assert abs(waves).max() <= 21


def test_outliers_stand_apart():
    data = made.make_outliers(rng(), each=50, outliers=7)
    assert np.bincount(data.labels).tolist() == [50, 50, 7] and data.classes[2] == "outlier"
    away = np.linalg.norm(data.X[data.labels == 2][:, None] - [[-4, 0], [4, 0]], axis=2)
    assert away.min() >= 4 and abs(data.X).max() <= 10
    assert np.bincount(made.make_outliers(rng()).labels).tolist() == [100, 100, 10]


def test_labelling_of_the_noise_experiment():
    labels = made.noise_labels(rng())
    assert np.bincount(labels).tolist() == [40] * 10
    assert (np.diff(labels) < 0).any()


@pytest.mark.parametrize("name", MAKERS)
def test_load_makes_what_has_no_file(name, tmp_path):
    data = load(name, tmp_path)
    assert np.array_equal(data.X, MAKERS[name](rng(2002)).X)
    assert "description" in data.source and "seed 2002" in data.source
