"""Agreement between clusterings, what each brings, doubtful objects, and all diagnostics at once."""

import doctest
import math
import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.cluster.hierarchy import is_valid_linkage
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

import partita
import partita.metrics as pm
from partita import Ensemble, SoftEnsemble
from partita.core.errors import ParameterError
from partita.core.progress import reporting
from partita.metrics import clusterings as clusterings_module
from tests.metrics.test_items import close, sample
from tests.samples import noisy, noisy_labels, noisy_soft


def slow_agreement(ensemble, measure):
    labels = ensemble.labels.repeat(ensemble.counts.astype(int), axis=0)
    r = labels.shape[1]
    found = np.full((r, r), np.nan)
    for a in range(r):
        for b in range(r):
            both = (labels[:, a] >= 0) & (labels[:, b] >= 0)
            if both.any():
                found[a, b] = measure(labels[both, a], labels[both, b])
    return found


def geometric(a, b):
    return normalized_mutual_info_score(a, b, average_method="geometric")


@pytest.mark.parametrize("kind", ["complete", "missing", "counted"])
def test_agreement(kind):
    ensemble, _ = sample(kind)
    for name, measure in (("nmi", geometric), ("ari", adjusted_rand_score)):
        found = pm.clustering_agreement(ensemble, name)
        close(found.matrix, slow_agreement(ensemble, measure))
        r = len(ensemble.names)
        assert sorted(found.order.tolist()) == list(range(r)) and found.linkage.shape == (r - 1, 4)
        assert is_valid_linkage(found.linkage) and found.objects == ensemble.counts.sum() and found.measure == name
        others = np.where(np.eye(r, dtype=bool), np.nan, found.matrix)
        close(found.means, np.nanmean(others, axis=1))


def test_the_tree_puts_like_beside_like():
    """Two families of clusterings, mixed: the order parts them, and the last join is the mean distance across."""
    one, _ = noisy_labels(n=200, r=3, noise=0.1, seed=1)
    two, _ = noisy_labels(n=200, r=3, noise=0.1, seed=2)
    table = np.stack([one[:, 0], two[:, 0], one[:, 1], two[:, 1], one[:, 2], two[:, 2]], axis=1)
    found = pm.clustering_agreement(Ensemble.from_labels(table))
    assert [place % 2 for place in found.order] in ([0, 0, 0, 1, 1, 1], [1, 1, 1, 0, 0, 0])
    close(found.linkage[-1, 2], 1 - found.matrix[::2, 1::2].mean())


def test_clusterings_that_never_meet():
    found = pm.clustering_agreement(Ensemble.from_labels([[0, None], [1, None], [None, 0], [None, 1]]))
    assert math.isnan(found.matrix[0, 1]) and found.linkage[0, 2] == 1.0 and np.isnan(found.means).all()


def test_one_clustering_and_many(monkeypatch):
    one = pm.clustering_agreement(noisy(r=1))
    assert one.order.tolist() == [0] and one.linkage.shape == (0, 4) and one.matrix.tolist() == [[1.0]]
    many = pm.clustering_agreement(noisy(n=30, r=60))
    assert sorted(many.order.tolist()) == list(range(60))
    monkeypatch.setattr(clusterings_module, "MOST_ORDERED", 59)
    plain = pm.clustering_agreement(noisy(n=30, r=60))
    assert sorted(plain.order.tolist()) == list(range(60))
    steps = [np.diag(found.matrix[found.order][:, found.order], 1).sum() for found in (plain, many)]
    assert steps[0] < steps[1]  # neighbours agree more in the best order


@pytest.mark.parametrize("measure", ["nmi", "ari"])
def test_soft_clusterings(measure):
    hard = noisy(n=60, missing=0.2)
    one, two = (pm.clustering_agreement(e, measure) for e in (hard, SoftEnsemble.from_hard(hard)))
    close(one.matrix, two.matrix)
    soft = noisy_soft()
    found = pm.clustering_agreement(soft, measure)
    if measure == "nmi":
        blocks = [soft.block(j) for j in range(5)]
        expected = [[pm.nmi_of(pm.from_dense(a.T @ b)) for b in blocks] for a in blocks]
        close(found.matrix, expected)
    else:
        close(found.matrix, pm.pairwise_ari(soft.harden()))


@pytest.mark.parametrize("counted", [False, True])
def test_a_sample_is_compared_where_there_is_much(monkeypatch, counted):
    monkeypatch.setattr(clusterings_module, "FEWEST", 2000)
    monkeypatch.setattr(clusterings_module, "MOST_WORK", 1)
    ensemble = noisy(n=8000, r=4, noise=0.3)
    whole = pm.pairwise_nmi(ensemble)
    if counted:
        ensemble = ensemble.with_counts(np.full(8000, 2.0))
    found, same, other = (pm.clustering_agreement(ensemble, seed=seed) for seed in (0, 0, 1))
    assert found.objects == (4000 if counted else 2000)
    assert np.array_equal(found.matrix, same.matrix) and not np.array_equal(found.matrix, other.matrix)
    assert np.abs(found.matrix - whole).max() < 0.06


def test_a_sample_weighs_heavy_rows_as_they_weigh(monkeypatch):
    """Rows that stand for many objects are all compared, and those that are drawn stand for the others too."""
    monkeypatch.setattr(clusterings_module, "FEWEST", 2000)
    monkeypatch.setattr(clusterings_module, "MOST_WORK", 1)
    labels = np.repeat(np.arange(4), 2000)[:, None].repeat(2, axis=1)
    labels[:8, 1] = np.arange(8) % 4  # on the heavy rows the two clusterings do not agree
    ensemble = Ensemble.from_labels(labels).with_counts(np.where(np.arange(8000) < 8, 1000.0, 1.0))
    assert np.abs(pm.clustering_agreement(ensemble).matrix - pm.pairwise_nmi(ensemble)).max() < 0.03


def test_an_unknown_measure():
    with pytest.raises(ParameterError, match="measure='ami' is not known; give one of nmi, ari"):
        pm.clustering_agreement(noisy(), "ami")


@pytest.mark.parametrize("kind", ["complete", "missing", "weighted", "counted", "soft", "soft-missing"])
def test_influence_leaves_one_out(kind):
    ensemble, labels = sample(kind)
    found = pm.influence(ensemble, labels)
    close(found.nmi, pm.column_nmi(ensemble, labels))
    close(found.anmi, pm.anmi(ensemble, labels))
    for j, without in enumerate(found.without):
        close(without, pm.anmi(ensemble.columns([i for i in range(len(ensemble.names)) if i != j]), labels))


def test_influence_of_a_single_clustering_and_of_none():
    one = pm.influence(noisy(r=1), np.zeros(60, int))
    assert math.isnan(one.without[0]) and one.anmi == 0.0
    none = pm.influence(noisy(), np.full(60, -1))
    assert math.isnan(none.anmi) and np.isnan(none.nmi).all() and np.isnan(none.without).all()
    ensemble = Ensemble.from_labels([[0, None], [1, None], [1, None]])
    half = pm.influence(ensemble, [0, 1, 1])
    assert half.anmi == half.without[1] == 1.0 and math.isnan(half.without[0]) and math.isnan(half.nmi[1])


def slow_doubt(items, labels):
    """Misplaced and outlying objects, one at a time."""
    counts = np.ones(len(labels)) if items.counts is None else items.counts
    misplaced, outlier = [], []
    for i, label in enumerate(labels):
        own, other = items.own[i], items.other[i]
        misplaced.append(bool(other > own + 1e-9))
        mates = (np.asarray(labels) == label) & ~np.isnan(items.own)
        if label < 0 or math.isnan(own):
            outlier.append(False)
            continue
        first, third = np.quantile(items.own[mates].repeat(counts[mates].astype(int)), [0.25, 0.75])
        fence = first - 1.5 * (third - first)
        outlier.append(bool(own < fence - 1e-9 and not other >= fence - 1e-9))
    return misplaced, outlier


@pytest.mark.parametrize("kind", ["complete", "missing", "weighted", "counted", "soft", "wide"])
def test_doubt_one_object_at_a_time(kind):
    ensemble, _ = sample(kind)
    labels = partita.consensus(ensemble, "mm", 4).labels
    items = pm.item_consensus(ensemble, labels)
    doubt = pm.doubtful(items, labels)
    misplaced, outlier = slow_doubt(items, labels)
    assert doubt.misplaced.tolist() == misplaced and doubt.outlier.tolist() == outlier
    close(doubt.margin, items.own - items.other)
    assert sorted(doubt.order.tolist()) == list(range(len(labels)))
    keys = [(items.own[i] - np.nan_to_num(items.other[i]), items.own[i]) for i in doubt.order]
    keys = [key for key in keys if not math.isnan(key[0])]
    assert keys == sorted(keys)


def planted():
    """60 objects in three clear clusters, one put in the wrong one, and one whose labels are all its own."""
    rng = np.random.default_rng(0)
    truth = np.arange(60) % 3
    columns = [np.where(rng.random(60) < 0.1, rng.integers(3, size=60), truth) for _ in range(20)]
    table = np.stack(columns, axis=1)
    table[7] = 9
    labels = truth.copy()
    labels[11] = (truth[11] + 1) % 3
    return Ensemble.from_labels(table), labels


def test_planted_doubts_are_found():
    ensemble, labels = planted()
    doubt = pm.doubtful(pm.item_consensus(ensemble, labels), labels)
    assert np.flatnonzero(doubt.misplaced).tolist() == [11] and np.flatnonzero(doubt.outlier).tolist() == [7]
    assert doubt.order[:2].tolist() == [11, 7]
    assert "1 misplaced, 1 outliers of 60 objects" in repr(doubt)


def test_doubts_of_odd_labellings():
    ensemble = noisy(n=30)
    one = pm.doubtful(pm.item_consensus(ensemble, np.zeros(30, int)), np.zeros(30, int))
    assert not one.misplaced.any() and np.isnan(one.margin).all()
    assert one.order.tolist() == np.argsort(pm.item_consensus(ensemble, np.zeros(30, int)).own, kind="stable").tolist()
    labels = np.full(30, -1)
    labels[3:9] = 0
    some = pm.doubtful(pm.item_consensus(ensemble, labels), labels)
    assert set(some.order[:6].tolist()) == set(range(3, 9)) and not some.outlier[:3].any()
    nobody = np.full(30, -1)
    assert not pm.doubtful(pm.item_consensus(ensemble, nobody), nobody).outlier.any()
    singles = np.arange(30)
    assert not pm.doubtful(pm.item_consensus(ensemble, singles), singles).outlier.any()
    with pytest.raises(partita.PartitaError, match="29"):
        pm.doubtful(pm.item_consensus(ensemble, singles), singles[1:])


@pytest.mark.parametrize("kind", ["missing", "soft"])
def test_diagnose_is_all_of_it(kind):
    ensemble, _ = sample(kind)
    consensus = partita.consensus(ensemble, "mm", 3)
    seen = []
    with reporting(lambda *step: seen.append(step)):
        found = partita.diagnose(ensemble, consensus, threads=2)
    assert seen[-1] == ("diagnosing", 6, 6)
    same = partita.diagnose(ensemble, consensus.labels, threads=1)
    for name in ("items", "coassociation", "agreement", "influence", "doubt"):
        one, two = vars(getattr(found, name)), vars(getattr(same, name))
        assert all(np.array_equal(one[key], two[key], equal_nan=_floats(one[key])) for key in one), name
    close(found.influence.anmi, consensus.scores["anmi"])
    assert np.array_equal(found.confidence, same.confidence, equal_nan=True)
    again = pickle.loads(pickle.dumps(found))
    assert np.array_equal(again.coassociation.cdf, found.coassociation.cdf) and not again.items.own.flags.writeable


def _floats(value):
    return np.asarray(value).dtype.kind == "f"


def test_diagnose_takes_any_table():
    found = partita.diagnose([["a", 1], ["a", 1], ["b", None], ["b", 2]], ["x", "x", "y", "y"])
    assert found.items.own.tolist() == [1.0, 1.0, 1.0, 1.0] and found.agreement.names == ("c0", "c1")


def test_diagnose_joins_by_id():
    labels, _ = noisy_labels(n=40, noise=0.4)
    ensemble = Ensemble.from_labels(labels, ids=[f"o{i}" for i in range(40)])
    consensus = partita.consensus(ensemble, "voting", 3)
    turned = partita.diagnose(ensemble.rows(np.arange(40)[::-1]), consensus)
    close(turned.items.own, partita.diagnose(ensemble, consensus).items.own)
    with pytest.raises(partita.PartitaError, match="has no object 'o39'"):
        partita.diagnose(ensemble.rows(np.arange(39)), consensus)


def test_weights_do_not_change_their_scale():
    """Twice the weights, the same figures."""
    ensemble, labels = sample("weighted")
    one, two = (partita.diagnose(e, labels) for e in (ensemble, replace(ensemble, weights=2 * ensemble.weights)))
    close(one.items.own, two.items.own)
    close(one.coassociation.cdf, two.coassociation.cdf)
    close(one.influence.without, two.influence.without)


def test_the_page_tells_what_comes_out():
    page = Path(__file__).parents[2] / "docs" / "diagnostics.md"
    failed, tried = doctest.testfile(str(page), module_relative=False)
    assert failed == 0 and tried > 12
