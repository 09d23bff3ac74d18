"""Item-consensus, cluster-consensus, silhouette and blocks against every pair looked at."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import silhouette_samples

import partita.metrics as pm
from partita import Consensus, Ensemble, PartitaError, SoftEnsemble
from partita.core.errors import ParameterError
from partita.core.threads import thread_limit
from partita.metrics import joint as joint_module
from partita.metrics import together as together_module
from tests.metrics.pairs_oracle import matrix, slow_blocks, slow_items, slow_silhouette
from tests.samples import noisy, noisy_soft

KINDS = ("complete", "missing", "weighted", "counted", "soft", "soft-missing", "wide")


def close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


def with_holes(soft, share=0.4, seed=5):
    """A soft ensemble with rows of some clusterings unobserved."""
    rng = np.random.default_rng(seed)
    blocks = [soft.block(j).copy() for j in range(len(soft.names))]
    for block in blocks:
        block[rng.random(len(block)) < share] = 0.0
    return SoftEnsemble.from_memberships(blocks)


def sample(kind):
    """(ensemble, labels): labels of 5 clusters and one of a single object, some MISSING."""
    rng = np.random.default_rng(len(kind))
    ensemble = {
        "complete": lambda: noisy(n=110, noise=0.3),
        "missing": lambda: noisy(n=90, r=4, noise=0.3, missing=0.5),
        "weighted": lambda: replace(noisy(n=80, missing=0.2), weights=np.array([0.3, 0.0, 2.5, 0.1, 0.7, 1.0, 0.2])),
        "counted": lambda: noisy(n=50, missing=0.2).with_counts(rng.integers(1, 5, 50)),
        "soft": lambda: noisy_soft(n=70).with_counts(rng.integers(1, 4, 70)),
        "soft-missing": lambda: replace(with_holes(noisy_soft(n=80)), weights=np.array([0.3, 1.0, 0.0, 2.0, 0.7])),
        "wide": lambda: noisy(n=150, r=6, k=40, noise=0.5, missing=0.3),
    }[kind]()
    labels = rng.integers(-1, 100 if kind == "wide" else 5, len(ensemble))
    labels[0] = labels.max() + 1
    return ensemble, labels


@pytest.mark.parametrize("kind", KINDS)
def test_items_equal_all_pairs(kind):
    ensemble, labels = sample(kind)
    slow = slow_items(ensemble, labels)
    close(pm.item_matrix(ensemble, labels), slow)
    items = pm.item_consensus(ensemble, labels)
    sizes = [ensemble.counts[labels == h].sum() for h in range(slow.shape[1])]
    assert items.sizes.tolist() == sizes
    assert items.sizes.dtype.kind == "i"
    close(items.silhouette, slow_silhouette(slow, labels, sizes))
    for i, h in enumerate(labels):
        others = {g: slow[i, g] for g in range(slow.shape[1]) if g != h and not np.isnan(slow[i, g])}
        close(items.own[i], slow[i, h] if h >= 0 else np.nan)
        close(items.other[i], max(others.values(), default=np.nan))
        close(items.other[i], others.get(items.nearest[i], np.nan))
    for h, mean in enumerate(items.silhouettes):
        there = (labels == h) & ~np.isnan(items.silhouette)
        close(mean, np.average(items.silhouette[there], weights=ensemble.counts[there]) if there.any() else np.nan)


@pytest.mark.parametrize("kind", KINDS)
def test_blocks_equal_all_pairs(kind):
    ensemble, labels = sample(kind)
    slow = slow_blocks(ensemble, labels)
    close(pm.block_matrix(ensemble, labels), slow)
    close(pm.item_consensus(ensemble, labels).clusters, np.diag(slow))


def test_complete_labels_give_means_of_the_matrix():
    """Nothing missing: item-consensus is a mean of co-association, cluster-consensus a mean of that, as Monti has."""
    ensemble = noisy(n=300, noise=0.3)
    labels = np.random.default_rng(3).integers(4, size=300)
    full = matrix(ensemble)
    np.fill_diagonal(full, np.nan)
    items = pm.item_consensus(ensemble, labels)
    close(items.own, [np.nanmean(full[i, labels == labels[i]]) for i in range(300)])
    close(items.clusters, [np.nanmean(full[np.ix_(labels == h, labels == h)]) for h in range(4)])
    close(items.clusters, [items.own[labels == h].mean() for h in range(4)])
    distances = 1 - full
    np.fill_diagonal(distances, 0.0)
    close(items.silhouette, silhouette_samples(distances, labels, metric="precomputed"))


@pytest.mark.parametrize("kind", KINDS)
def test_many_clusters_take_the_sparse_way_to_the_same(kind, monkeypatch):
    """Tables with few clusters, with many laid out, and with too many to lay out give the same."""
    ensemble, labels = sample(kind)
    expected, blocks = pm.item_consensus(ensemble, labels), pm.block_matrix(ensemble, labels)
    table = pm.item_matrix(ensemble, labels)
    for module, name, value in ((together_module, "FEW_CLUSTERS", 0), (joint_module, "DENSE_CELLS", 0)):
        monkeypatch.setattr(module, name, value)
        monkeypatch.setattr(together_module, "SPARSE_SHARE", 2.0)
        found = pm.item_consensus(ensemble, labels)
        assert together_module.together(ensemble, labels).sparse == isinstance(ensemble, Ensemble)
        for name in ("own", "other", "silhouette", "clusters"):
            close(getattr(found, name), getattr(expected, name))
        assert found.nearest.tolist() == expected.nearest.tolist()
        close(pm.item_matrix(ensemble, labels), table)
        close(pm.block_matrix(ensemble, labels), blocks)


@pytest.mark.parametrize("kind", ["complete", "missing", "wide"])
def test_repeated_rows_are_rows_with_counts(kind):
    ensemble, labels = sample(kind)
    times = np.random.default_rng(1).integers(1, 4, len(ensemble))
    whole, names = ensemble.rows(np.repeat(np.arange(len(labels)), times)), np.repeat(labels, times)
    one, many = pm.item_consensus(ensemble.with_counts(times), labels), pm.item_consensus(whole, names)
    for name in ("own", "other", "silhouette", "nearest"):
        close(np.repeat(getattr(one, name), times), getattr(many, name))
    for name in ("clusters", "silhouettes", "sizes"):
        close(getattr(one, name), getattr(many, name))
    close(pm.block_matrix(ensemble.with_counts(times), labels), pm.block_matrix(whole, names))
    doubts = pm.doubtful(one, labels), pm.doubtful(many, names)
    for name in ("outlier", "misplaced"):
        assert np.repeat(getattr(doubts[0], name), times).tolist() == getattr(doubts[1], name).tolist()


def test_names_and_threads_change_nothing():
    ensemble, labels = sample("missing")
    big = ensemble.rows(np.tile(np.arange(len(ensemble)), 2000))
    many = np.tile(labels, 2000)
    with thread_limit(1):
        one = pm.item_consensus(big, many)
    with thread_limit(3):
        two = pm.item_consensus(big, many)
    assert all(np.array_equal(a, b, equal_nan=True) for a, b in zip(fields(one), fields(two), strict=True))
    renamed = Ensemble.from_labels(np.where(ensemble.labels < 0, -1, 7 * ensemble.labels + 3), missing=-1)
    words = [None if label < 0 else f"cluster {label}" for label in labels]
    plain, named = pm.item_consensus(ensemble, labels), pm.item_consensus(renamed, words)
    assert np.array_equal(plain.own, named.own, equal_nan=True)
    assert np.array_equal(plain.other, named.other, equal_nan=True)


def fields(items):
    """The arrays of an item-consensus."""
    return [value for value in vars(items).values() if value is not None]


def test_hard_and_soft_forms_agree():
    for kind in ("complete", "missing", "weighted", "counted"):
        ensemble, labels = sample(kind)
        one, two = (pm.item_consensus(e, labels) for e in (ensemble, SoftEnsemble.from_hard(ensemble)))
        for a, b in zip(fields(one), fields(two), strict=True):
            close(a, b)


def test_one_cluster_one_object_one_clustering():
    ensemble = noisy(n=20)
    alone = pm.item_consensus(ensemble, np.zeros(20, int))
    assert np.isnan(alone.other).all() and (alone.nearest == -1).all() and np.isnan(alone.silhouette).all()
    assert not np.isnan(alone.own).any() and alone.sizes.tolist() == [20]
    single = pm.item_consensus(Ensemble.from_labels([[0, 1]]), [0])
    assert np.isnan(single.own[0]) and np.isnan(single.clusters[0])
    column = pm.item_consensus(Ensemble.from_labels([[0], [0], [1]]), [0, 0, 1])
    assert column.own.tolist()[:2] == [1.0, 1.0] and np.isnan(column.own[2])
    assert column.silhouette.tolist() == [1.0, 1.0, 0.0]
    nobody = pm.item_consensus(ensemble, np.full(20, -1))
    assert np.isnan(nobody.own).all() and len(nobody.sizes) == 0
    assert pm.item_matrix(ensemble, np.full(20, -1)).shape == (20, 0)
    nothing = pm.item_consensus(Ensemble.from_labels([[0, None], [None, 0]]), [0, 0])
    assert np.isnan(nothing.own).all() and np.isnan(nothing.clusters).all()


@pytest.mark.parametrize("wide", [False, True])
def test_nobody_to_compare_with_is_no_number_whatever_the_weights(wide, monkeypatch):
    """Sums of such weights in another order differ in the last digit: a rest of 1e-17 is no company."""
    if wide:
        monkeypatch.setattr(together_module, "FEW_CLUSTERS", 1)
        monkeypatch.setattr(together_module, "SPARSE_SHARE", 2.0)
    rng = np.random.default_rng(0)
    for _ in range(40):
        values = np.where(rng.random((9, 7)) < 0.5, rng.integers(0, 3, (9, 7)), -1)
        ensemble = replace(Ensemble.from_labels(values, missing=-1), weights=rng.choice([0.1, 0.3, 0.7, 1.1], 7))
        labels = rng.permutation([0, 1, 2, 3, 4, 4, 5, 5, 5])
        close(pm.item_matrix(ensemble, labels), slow_items(ensemble, labels))
        close(pm.block_matrix(ensemble, labels), slow_blocks(ensemble, labels))


def test_a_cluster_that_is_empty_and_counts_that_are_not_whole():
    items = pm.item_consensus(Ensemble.from_labels([[0], [0], [1]]), [0, 0, 2])
    assert items.sizes.tolist() == [2, 0, 1] and np.isnan(items.clusters[1]) and items.nearest.tolist() == [2, 2, 0]
    half = pm.item_consensus(Ensemble.from_labels([[0], [0]]).with_counts([1.5, 0.5]), [0, 0])
    assert half.sizes.tolist() == [2.0] and half.own.tolist() == [1.0, 1.0]


def test_consensus_objects_rows_and_mistakes():
    ensemble, labels = sample("complete")
    assert np.array_equal(pm.item_matrix(ensemble, Consensus.hard(labels)), pm.item_matrix(ensemble, labels), True)
    whole, rows = pm.item_matrix(ensemble, labels), [5, 0, 5]
    assert np.array_equal(pm.item_matrix(ensemble, labels, rows), whole[rows], True)
    mask = np.arange(len(labels)) < 4
    assert np.array_equal(pm.item_matrix(ensemble, labels, mask), whole[:4], True)
    for bad, words in (([-1], "no object -1"), ([110], "no object 110"), ([0.5], "places of objects"), (3, "shape")):
        with pytest.raises(ParameterError, match=words):
            pm.item_matrix(ensemble, labels, bad)
    with pytest.raises(ParameterError, match="memberships"):
        pm.item_consensus(ensemble, np.ones((110, 2)) / 2)
    with pytest.raises(PartitaError, match="109"):
        pm.item_consensus(ensemble, labels[1:])


@pytest.mark.parametrize("kind", KINDS)
def test_consensus_matrix(kind):
    ensemble, _ = sample(kind)
    slow = matrix(replace(ensemble, multiplicity=None))
    known = ~np.isnan(np.diag(slow))
    np.fill_diagonal(slow, np.where(known, 1.0, np.nan))
    close(pm.consensus_matrix(ensemble), slow)
    rows = np.array([3, 1, 40, 7])
    close(pm.consensus_matrix(ensemble, rows), slow[np.ix_(rows, rows)])


def test_matrices_too_large_are_refused():
    ensemble = Ensemble.from_labels(np.arange(6000)[:, None] % 7)
    with pytest.raises(ParameterError, match="at most 5000 rows, or groups of objects to block_matrix"):
        pm.consensus_matrix(ensemble)
    assert pm.consensus_matrix(ensemble, np.arange(3)).shape == (3, 3)
    with pytest.raises(ParameterError, match="at most 5000 blocks"):
        pm.block_matrix(ensemble, np.arange(6000))


def test_very_many_clusters_take_little_memory():
    """200 000 objects in 50 000 clusters: a table of labels against clusters would take 8 GB."""
    rng = np.random.default_rng(0)
    truth = np.arange(200_000) % 50_000
    columns = [np.where(rng.random(len(truth)) < 0.1, rng.integers(50_000, size=len(truth)), truth) for _ in range(2)]
    ensemble = Ensemble.from_labels(np.stack(columns, axis=1))
    tracemalloc.start()
    items = pm.item_consensus(ensemble, truth)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 150e6
    some = rng.choice(len(truth), 50)
    for i in some:
        mates = np.flatnonzero(truth == truth[i])
        mates = mates[mates != i]
        close(items.own[i], (ensemble.labels[mates] == ensemble.labels[i]).mean())
