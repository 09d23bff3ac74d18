"""HBGF and sHBGF: the graph by definition, and the graph that is never written out against the one that is."""

import numpy as np
import pytest

import partita
from partita import Ensemble, SoftEnsemble
from partita.core.counting import unit_weights
from partita.core.rng import generator
from partita.graph import hbgf, shbgf
from partita.graph.incidence import cluster_shares, incidence
from partita.partition import graph, runs, tables
from tests.samples import noisy, noisy_labels, noisy_soft


def weighted():
    labels, _ = noisy_labels(n=50, r=5, k=3, noise=0.3, missing=0.2)
    return Ensemble.from_labels(labels, missing=-1, weights=[1, 2, 0.5, 1, 3], transpose=False)


def test_incidence_by_definition():
    ensemble = weighted()
    table = incidence(ensemble, cluster_shares(ensemble)).toarray()
    for i, row in enumerate(ensemble.labels):
        for j, size in enumerate(ensemble.sizes):
            for label in range(size):
                expected = ensemble.weights[j] / ensemble.weights.mean() if row[j] == label else 0
                assert table[i, ensemble.offsets[j] + label] == pytest.approx(expected)
    soft = SoftEnsemble.from_hard(ensemble)
    assert np.allclose(incidence(soft, cluster_shares(soft)).toarray(), table)


def slow_cut(ensemble, result_labels, blocks_of_clusters):
    total = 0.0
    for i, row in enumerate(ensemble.labels):
        for j, label in enumerate(row):
            if label >= 0 and result_labels[i] != blocks_of_clusters[ensemble.offsets[j] + label]:
                total += ensemble.counts[i] * ensemble.weights[j] / ensemble.weights.mean()
    return total


def test_cut_counts_cut_memberships():
    ensemble = weighted()
    found = tables.partition_members(ensemble, unit_weights(ensemble), 3, hbgf.options_of(hbgf.Params()), generator(0))
    assert found.cut == pytest.approx(slow_cut(ensemble, found.labels[:50], found.labels[50:]))
    assert found.balance == pytest.approx(3 * np.bincount(found.labels).max() / len(found.labels))


def test_large_tables_are_divided_by_a_sample(monkeypatch):
    """The same cut as the written-out graph gives, on a table where both are sure to find it."""
    labels, truth = noisy_labels(n=1500, r=9, k=4, noise=0.3)
    whole = partita.consensus(labels, "hbgf", 4)
    monkeypatch.setattr(tables, "sample_size", lambda k: 200)
    sampled = partita.consensus(labels, "hbgf", 4)
    assert sampled.detail["cut"] <= 1.001 * whole.detail["cut"]
    assert partita.evaluate(sampled, truth=truth)["nmi"] > 0.97
    assert sampled.detail["balance"] <= 1.05 + 1e-9
    unique = len(np.unique(labels, axis=0))
    assert any(f"a sample of about 200 of {unique} rows" in note for note in sampled.notes)
    assert not any("sample" in note for note in whole.notes)


def test_large_soft_tables_report_the_sample(monkeypatch):
    rng = np.random.default_rng(0)
    truth = rng.integers(3, size=700)
    columns = [0.8 * np.eye(3)[truth] + 0.2 * rng.dirichlet([1, 1, 1], 700) for _ in range(4)]
    soft = SoftEnsemble.from_memberships(columns)
    whole = partita.consensus(soft, "shbgf", 3)
    for module in (runs, graph):
        monkeypatch.setattr(module, "sample_size", lambda k: 200)
    sampled = partita.consensus(soft, "shbgf", 3)
    assert any("a sample of about 200 of 700 rows" in note for note in sampled.notes)
    assert not any("sample" in note for note in whole.notes)


def test_one_hot_rows_give_hbgf():
    ensemble = noisy(missing=0.1)
    hard = hbgf.fit(ensemble, 4, hbgf.Params(), generator(1))
    soft = shbgf.fit(SoftEnsemble.from_hard(ensemble), 4, hbgf.Params(), generator(1))
    assert np.array_equal(hard.labels, soft.labels) and hard.detail["cut"] == soft.detail["cut"]


def test_soft_cut_is_the_membership_between_blocks(monkeypatch):
    seen = []
    real = shbgf.partition_graph
    monkeypatch.setattr(shbgf, "partition_graph", lambda *given: seen.append(real(*given)) or seen[-1])
    soft = noisy_soft(n=30)
    result = shbgf.fit(soft, 3, hbgf.Params(), generator(0))
    blocks = seen[0].labels
    apart = blocks[:30, None] != blocks[30:]
    assert result.detail["cut"] == pytest.approx((soft.matrix * apart).sum())


@pytest.mark.parametrize("partitioner", ["metis", "kahip"])
@pytest.mark.parametrize("method", ["hbgf", "cspa", "mcla"])
def test_partitioner_can_be_chosen(method, partitioner):
    labels, truth = noisy_labels(n=300, r=9, k=4, noise=0.2)
    result = partita.consensus(labels, method, 4, partitioner=partitioner)
    assert partita.evaluate(result, truth=truth)["nmi"] > 0.95
