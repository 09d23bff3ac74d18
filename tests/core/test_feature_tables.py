"""Tables of measurements are recognized; label tables of any numbering are not."""

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.metrics import adjusted_rand_score

from partita import Ensemble, datasets
from partita.core import feature_tables
from partita.core.feature_tables import looks_like_features
from tests.datasets.folder import data_folder


def found(table, **options):
    ensemble = Ensemble.from_labels(table, transpose=False, allow="looks-like-features", **options)
    return looks_like_features(ensemble.labels, ensemble.classes)


def measurements(seed, n=400, r=6, spread=20.0):
    """Integers with a common factor per row, such as sizes of the same objects."""
    rng = np.random.default_rng(seed)
    size = rng.normal(0, spread, (n, 1))
    return (200 + size + rng.normal(0, spread / 2, (n, r))).round().astype(int)


def renamed(table, rng, names):
    """The same clusterings with other integers as labels."""
    return np.column_stack([names(rng, column.max() + 1)[column] for column in table.T])


def numbered(table, order):
    """The same clusterings, clusters numbered by `order` of (sizes, first rows)."""
    columns = []
    for column in table.T:
        _, first, inverse, counts = np.unique(column, return_index=True, return_inverse=True, return_counts=True)
        columns.append(np.argsort(np.argsort(order(counts, first), kind="stable"))[inverse])
    return np.column_stack(columns)


NUMBERINGS = {
    "as drawn": lambda table, rng: table,
    "shuffled": lambda table, rng: renamed(table, rng, lambda rng, k: rng.permutation(k)),
    "database keys": lambda table, rng: renamed(table, rng, lambda rng, k: 10_000 + np.cumsum(rng.integers(1, 99, k))),
    "hashes": lambda table, rng: renamed(table, rng, lambda rng, k: rng.integers(2**62, size=k)),
    "by size": lambda table, rng: numbered(table, lambda counts, first: -counts),
    "by first appearance": lambda table, rng: numbered(table, lambda counts, first: first),
}


@pytest.mark.parametrize("seed", range(5))
def test_measurements_with_a_common_factor_are_features(seed):
    assert found(measurements(seed))


def test_smooth_images_with_gray_levels_are_features():
    rng = np.random.default_rng(0)
    waves = rng.normal(size=(300, 4)) @ np.cos(np.outer(np.arange(4), np.linspace(0, 3, 64)))
    images = np.clip(128 + 30 * waves + rng.normal(0, 5, waves.shape), 0, 255).astype(int)
    assert found(images)


def test_gene_counts_with_library_sizes_are_features():
    rng = np.random.default_rng(0)
    mean = rng.lognormal(4, 1, 80) * rng.lognormal(0, 0.4, (500, 1))
    assert found(rng.negative_binomial(2, 2 / (2 + mean)))


def test_features_with_missing_values_are_features():
    table = measurements(0).astype(object)
    table[np.random.default_rng(1).random(table.shape) < 0.3] = None
    assert found(table)


def test_only_integers_are_features():
    table = measurements(0)
    assert not found([[f"c{value}" for value in row] for row in table.tolist()])


@pytest.mark.parametrize("numbering", NUMBERINGS)
@pytest.mark.parametrize(
    ("n", "r", "k", "noise"),
    [
        (5, 4, 3, 0.5),
        (60, 3, 40, 0.2),
        (300, 200, 30, 1.0),
        (500, 8, 100, 1.0),
        (800, 40, 60, 0.5),
        (3000, 5, 500, 0.9),
    ],
)
def test_noisy_labels_are_not_features_in_any_numbering(numbering, n, r, k, noise):
    rng = np.random.default_rng(n)
    labels = np.where(rng.random((n, r)) < noise, rng.integers(k, size=(n, r)), rng.integers(k, size=(n, 1)))
    labels = np.column_stack([np.unique(column, return_inverse=True)[1] for column in labels.T])
    table = NUMBERINGS[numbering](labels, rng)
    assert not found(table)
    hidden = np.where(rng.random(table.shape) < 0.3, -1, table)
    assert not found(hidden, missing=-1)


def test_cuts_of_one_dendrogram_are_not_features():
    from scipy.cluster.hierarchy import fcluster, linkage

    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 6))
    for how in ("ward", "average", "complete", "single"):
        tree = linkage(X, how)
        assert not found(np.column_stack([fcluster(tree, k, "maxclust") for k in (20, 40, 60, 90, 130, 200)]))


def test_a_few_columns_of_measurements_next_to_labels_are_not_features():
    labels = np.random.default_rng(0).integers(6, size=(400, 12))
    assert not found(np.column_stack([labels, measurements(0, r=5)]))
    assert found(np.column_stack([labels[:, :10], measurements(0, r=5)]))


def test_the_order_of_columns_and_a_shift_do_not_matter():
    table = measurements(3)
    assert found(table[:, ::-1]) and found(1_000_000 - 7 * table)


def test_statistics_equal_scipy_and_scikit_learn(monkeypatch):
    table = measurements(2, n=300, r=4, spread=9.0)
    correlations, agreements = [], []
    own_correlation, own_rand = feature_tables._mean_rank_correlation, feature_tables._adjusted_rand
    monkeypatch.setattr(
        feature_tables,
        "_mean_rank_correlation",
        lambda *arguments: correlations.append(own_correlation(*arguments)) or correlations[0],
    )
    monkeypatch.setattr(
        feature_tables, "_adjusted_rand", lambda x, y: agreements.append(own_rand(x, y)) or agreements[-1]
    )
    found(table)
    pairs = [(i, j) for i in range(4) for j in range(i + 1, 4)]
    rho = np.array([spearmanr(table[:, i], table[:, j]).statistic for i, j in pairs])
    np.testing.assert_allclose(correlations[0], [np.mean(rho**2), 300 * np.mean(rho**2)])
    np.testing.assert_allclose(agreements, [adjusted_rand_score(table[:, i], table[:, j]) for i, j in pairs])


def test_data_sets_of_integers_are_features():
    folder = data_folder("features of pendigits, vehicle and bupa")
    for name in ("pendigits", "vehicle", "bupa"):
        X = np.asarray(datasets.load(name, folder).X)
        assert found(X[:, (X.round() == X).all(axis=0)].astype(int)), name


def test_shared_pools_are_not_features():
    folder = data_folder("label tables of the pools")
    for name in ("ecoli", "umist", "vs", "spf", "is"):
        ensemble = datasets.load_pool(name, folder).ensemble
        rng = np.random.default_rng(0)
        for rows in (slice(None), rng.permutation(len(ensemble))[:200]):
            part = ensemble.labels[rows].astype(int)
            assert not any(found(change(part, rng)) for change in NUMBERINGS.values()), name
