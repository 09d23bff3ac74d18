"""Graphs that follow from a table of labels, against the same graphs written out."""

import numpy as np
import pytest

from partita import Ensemble
from partita.partition import Graph, GraphOptions, Partition, improve_pairs, tables
from partita.partition.blocks import set_limits
from partita.partition.improve import blocks_of
from partita.partition.table_moves import table_changes, table_sweep
from tests.samples import noisy_labels

K = 3
EDGES = np.array([1.0, 2.0, 0.5, 1.0])


def sample(seed=0, n=14):
    labels, _ = noisy_labels(n=n, r=4, k=3, noise=0.4, missing=0.2, seed=seed)
    ensemble = Ensemble.from_labels(labels, missing=-1, transpose=False)
    return ensemble.with_counts(1.0 + np.arange(n) % 3)


def dense(ensemble, pairs):
    """The matrix of the graph, entry by entry."""
    rows = len(ensemble)
    size = rows if pairs else rows + int(ensemble.offsets[-1])
    table = np.zeros((size, size))
    for i, row in enumerate(ensemble.labels):
        for j, label in enumerate(row):
            if label < 0:
                continue
            if pairs:
                for other in range(rows):
                    if other != i and ensemble.labels[other, j] == label:
                        table[i, other] += EDGES[j] * ensemble.counts[i] * ensemble.counts[other]
            else:
                place = rows + ensemble.offsets[j] + label
                table[i, place] = table[place, i] = EDGES[j] * ensemble.counts[i]
    return table


def slow_cut(table, labels):
    return (table * (labels[:, None] != labels)).sum() / 2


@pytest.mark.parametrize("pairs", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_cut_and_changes_by_definition(pairs, seed):
    ensemble = sample(seed)
    graph, table = tables.TableGraph(ensemble, EDGES, pairs), dense(ensemble, pairs)
    assert len(graph.vertex_weights) == len(table)
    labels = np.random.default_rng(seed).integers(K, size=len(table)).astype(np.int32)
    state = graph.table(labels, K)
    assert graph.cut(labels, state.shares) == pytest.approx(slow_cut(table, labels))
    blocks, changes = blocks_of(labels, graph.vertex_weights, K), np.empty(K)
    for vertex in range(len(table)):
        table_changes(state, blocks, vertex, changes)
        for block in range(K):
            moved = labels.copy()
            moved[vertex] = block
            assert changes[block] == pytest.approx(slow_cut(table, moved) - slow_cut(table, labels))


@pytest.mark.parametrize("pairs", [True, False])
def test_sweeps_lower_the_cut_and_keep_the_shares(pairs):
    ensemble = sample(n=60)
    graph = tables.TableGraph(ensemble, EDGES, pairs)
    limits = set_limits(graph.vertex_weights, K, 0.1)
    rng = np.random.default_rng(1)
    labels = rng.integers(K, size=len(graph.vertex_weights)).astype(np.int32)
    state, blocks = graph.table(labels, K), blocks_of(labels, graph.vertex_weights, K)
    capacities = np.full(K, limits.capacity)
    before = graph.cut(labels, state.shares)
    for _ in range(3):
        table_sweep(state, blocks, rng.permutation(len(labels)), capacities, 1e-9)
        assert np.allclose(state.shares, graph.table(blocks.labels, K).shares)
        assert np.allclose(blocks.loads, np.bincount(blocks.labels, graph.vertex_weights, K))
    assert graph.cut(blocks.labels, state.shares) < before


@pytest.mark.parametrize("seed", range(3))
def test_improving_pairs_never_raises_the_cut(seed):
    ensemble = sample(seed, n=40)
    table = dense(ensemble, True)
    limits = set_limits(ensemble.counts, K, 0.2)
    start = np.arange(40, dtype=np.int32) % K
    found = improve_pairs(ensemble, EDGES, Partition(start, 0.0, 0.0, "start", ()), 0.2, np.random.default_rng(seed))
    assert found.cut == pytest.approx(slow_cut(table, found.labels)) and found.cut <= slow_cut(table, start)
    assert np.bincount(found.labels, ensemble.counts).max() <= limits.capacity + 1e-9
    for vertex in range(40):
        loads = np.bincount(found.labels, ensemble.counts, K)
        for block in range(K):
            moved = found.labels.copy()
            moved[vertex] = block
            fits = loads[block] + ensemble.counts[vertex] <= limits.capacity or block == found.labels[vertex]
            assert not fits or slow_cut(table, moved) >= found.cut - 1e-9


def test_written_out_graph_is_the_same_graph():
    ensemble = sample()
    graph = tables.bipartite(ensemble, EDGES, np.arange(14), ensemble.counts)
    table = np.zeros((len(graph), len(graph)))
    for vertex in range(len(graph)):
        places = slice(graph.starts[vertex], graph.starts[vertex + 1])
        table[vertex, graph.ends[places]] = graph.weights[places]
    assert np.allclose(table, dense(ensemble, False))
    assert isinstance(graph, Graph) and np.array_equal(graph.vertex_weights[:14], ensemble.counts)


@pytest.mark.parametrize("partitioner", ["auto", "metis", "kahip"])
def test_sampled_division_is_whole_and_balanced(monkeypatch, partitioner):
    monkeypatch.setattr(tables, "sample_size", lambda k: 20)
    labels, _ = noisy_labels(n=500, r=4, k=3, noise=0.2)
    ensemble = Ensemble.from_labels(labels)
    work = ensemble.rows(ensemble.distinct.first)
    options = GraphOptions(partitioner, runs=4)
    found = [tables.partition_members(work, EDGES, K, options, np.random.default_rng(2)) for _ in range(2)]
    assert np.array_equal(found[0].labels, found[1].labels)
    assert len(found[0].labels) == len(work) + 12 and found[0].balance <= 1.05 + 1e-9
    assert all("sample" in one.name for one in found[0].tries)


def test_a_row_of_many_objects_gets_a_block(monkeypatch):
    """One row that stands for half of all objects, among many others: the rest is as balanced as without it."""
    monkeypatch.setattr(tables, "sample_size", lambda k: 20)
    labels, _ = noisy_labels(n=500, r=4, k=3, noise=0.3)
    ensemble = Ensemble.from_labels(labels)
    work = ensemble.rows(ensemble.distinct.first)
    counts = np.ones(len(work))
    counts[7] = 2.0 * len(work)
    work = work.with_counts(counts)
    found = tables.partition_members(work, EDGES, K, GraphOptions(), np.random.default_rng(2))
    loads = np.bincount(found.labels, np.concatenate([counts, np.ones(12)]), K)
    own = found.labels[7]
    assert loads[own] <= 1.05 * counts[7] + 1e-9
    assert np.delete(loads, own).max() <= 1.05 * (len(work) - 1 + 12) / 2 + 1
    assert any("weigh as much as a fair block" in note for note in found.notes)
