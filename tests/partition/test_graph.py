"""Graph partitions against exhaustive search, planted divisions and hostile input."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from partita.core.errors import ParameterError, PartitaError
from partita.core.sampling import draw_sample
from partita.partition import Graph, GraphOptions, exact, partition_graph
from partita.partition.blocks import set_limits
from partita.partition.runs import run
from tests.partition.samples import matrix, planted, ring, slow_balance, slow_cut, slow_optimum, two_cliques
from tests.samples import same_partition

OPTIONS = GraphOptions()


def divide(table, k, options=OPTIONS, seed=0, vertex_weights=None):
    return partition_graph(Graph.from_sparse(table, vertex_weights), k, options, np.random.default_rng(seed))


def check(table, k, found, vertex_weights=None):
    """What every result promises."""
    weights = np.ones(table.shape[0]) if vertex_weights is None else np.asarray(vertex_weights, float)
    assert found.labels.dtype == np.int32 and not found.labels.flags.writeable
    assert sorted(set(found.labels.tolist())) == list(range(k))
    assert found.cut == pytest.approx(slow_cut(table, found.labels), rel=1e-9, abs=1e-300)
    assert found.balance == pytest.approx(slow_balance(found.labels, weights, k))
    assert (found.cut, found.balance) in [(one.cut, one.balance) for one in found.tries]
    limits = set_limits(weights, k, 0.05)
    assert limits.excess(found.labels, np.bincount(found.labels, weights=weights, minlength=k)) == 0.0


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_tiny_graphs_are_optimal(k, seed):
    rng = np.random.default_rng(seed)
    size = 8 if k == 2 else 7
    upper = np.triu(rng.random((size, size)) * (rng.random((size, size)) < 0.6), 1)
    table = sparse.csr_array(upper + upper.T)
    weights = rng.integers(1, 4, size).astype(float)
    limits = set_limits(weights, k, 0.05)
    assert len(limits.heavy) == 0
    found = divide(table, k, vertex_weights=weights)
    check(table, k, found, weights)
    assert found.cut == pytest.approx(slow_optimum(lambda labels: slow_cut(table, labels), weights, k, limits.capacity))


@pytest.mark.parametrize("partitioner", ["auto", "metis", "kahip"])
@pytest.mark.parametrize("size", [4, 12, 40])
def test_two_cliques_part_at_the_bridge(size, partitioner):
    found = divide(two_cliques(size, 0.5), 2, GraphOptions(partitioner))
    assert found.cut == 0.5 and same_partition(found.labels, np.arange(2 * size) // size)


@pytest.mark.parametrize("k", [2, 3, 5])
def test_a_ring_is_cut_k_times(k):
    table = ring(60)
    found = divide(table, k)
    check(table, k, found)
    assert found.cut == k


def test_partitioners_find_what_exhaustive_search_finds(monkeypatch):
    """The native path on inputs small enough to know the optimum."""
    cases = [(two_cliques(4), 2), (ring(8), 2), (matrix(6, [(0, 1, 5), (2, 3, 5), (4, 5, 5), (1, 2, 1), (3, 4, 1)]), 3)]
    best = [divide(table, k).cut for table, k in cases]
    monkeypatch.setattr(exact, "MOST_VERTICES", 0)
    for (table, k), cut in zip(cases, best, strict=True):
        for partitioner in ("auto", "kahip"):
            found = divide(table, k, GraphOptions(partitioner))
            check(table, k, found)
            assert found.cut == cut and "exact" not in [one.name for one in found.tries]


@pytest.mark.parametrize("noise", [0.3, 0.5])
def test_bipartite_graphs_do_not_collapse(noise):
    table, truth = planted(2000, 20, 10, noise)
    graph = Graph.from_bipartite(table)
    for seed in range(10):
        found = partition_graph(graph, 10, OPTIONS, np.random.default_rng(seed))
        assert found.cut <= 1.02 * graph.cut(truth.astype(np.int32)) and found.balance <= 1.05 + 1e-9
        assert len(found.tries) >= 2


def test_where_metis_collapses_we_do_not():
    table, truth = planted(20_000, 20, 10, 0.5)
    graph = Graph.from_bipartite(table)
    best = graph.cut(truth.astype(np.int32))
    limits = set_limits(graph.vertex_weights, 10, 0.05)
    by_metis = [graph.cut(run(graph, limits, "metis", np.random.default_rng(seed))) for seed in range(2)]
    assert max(by_metis) > 1.2 * best
    for seed in range(10):
        assert partition_graph(graph, 10, OPTIONS, np.random.default_rng(seed)).cut <= 1.02 * best


def test_multiplicities_and_sorted_rows_do_not_matter():
    """Distinct rows in sorted order, a few of them standing for most objects."""
    table, truth = planted(20_000, 10, 5, 0.02)
    rows, first, counts = np.unique(table.toarray(), axis=0, return_index=True, return_counts=True)
    graph = Graph.from_bipartite(sparse.csr_array(rows * counts[:, None]), counts, None)
    best = np.concatenate([truth[:20_000][first], truth[20_000:]])
    for seed in range(3):
        found = partition_graph(graph, 5, OPTIONS, np.random.default_rng(seed))
        assert found.cut <= 1.01 * graph.cut(best.astype(np.int32)) and found.balance <= 1.05 + 1e-9


def test_a_row_heavier_than_a_block_leaves_the_others_balanced():
    weights = np.ones(40)
    weights[7] = 200.0
    table = two_cliques(20)
    found = divide(table, 4, vertex_weights=weights)
    check(table, 4, found, weights)
    loads = np.sort(np.bincount(found.labels, weights=weights))
    assert loads[-1] <= 210 and loads[2] <= 14
    assert found.notes[0].startswith("1 of the vertices")


def test_a_disagreement_asks_the_others(monkeypatch):
    """A collapsed first run is noticed by its cut, dropped, and recorded."""
    table, truth = planted(1000, 10, 4, 0.3)
    graph = Graph.from_bipartite(table)
    spoiled = []

    def bad_once(whole, order):
        spoiled.append(1)
        return np.arange(len(whole.starts) - 1, dtype=np.int32) % order.k

    monkeypatch.setattr("partita.partition.native.run_kahip", bad_once)
    monkeypatch.setattr("partita.partition.improve.MOST_SWEEPS", 0)
    found = partition_graph(graph, 4, OPTIONS, np.random.default_rng(0))
    assert spoiled and found.cut <= 1.05 * graph.cut(truth.astype(np.int32))
    assert found.tries[0].name == "kahip" and found.tries[0].cut > 1.5 * found.cut
    assert "were dropped" in found.notes[0]


def test_many_blocks_use_what_metis_cannot():
    table = ring(50)
    found = divide(table, 30, GraphOptions("metis"))
    check(table, 30, found)
    assert "KaHIP did" in found.notes[0]


@pytest.mark.parametrize("scale", [1e-300, 1e-9, 1 / 3, 1e9, 1e300])
def test_the_scale_of_weights_does_not_matter(scale):
    table = two_cliques(30)
    found = divide(table * scale, 2, vertex_weights=np.full(60, scale))
    assert found.cut == pytest.approx(scale) and found.balance == pytest.approx(1.0)


def test_trivial_cases():
    table = ring(5)
    assert divide(table, 1).labels.tolist() == [0] * 5 and divide(table, 1).cut == 0
    assert sorted(divide(table, 5).labels.tolist()) == list(range(5))
    alone = divide(sparse.csr_array((1, 1)), 1)
    assert alone.labels.tolist() == [0] and alone.balance == 1.0
    empty = divide(sparse.csr_array((100, 100)), 7)
    assert empty.cut == 0 and empty.balance <= 7 * 15 / 100
    isolated = sparse.block_diag([two_cliques(20), sparse.csr_array((60, 60))], format="csr")
    assert divide(isolated, 2).cut == 0
    parts = sparse.block_diag([ring(20)] * 4, format="csr")
    assert divide(parts, 4).cut == 0
    star = matrix(50, [(0, leaf, 1.0) for leaf in range(1, 50)])
    check(star, 5, divide(star, 5))


def test_duplicates_loops_and_zeros():
    edges = sparse.coo_array(([1.0, 2.0, 3.0, 0.0, 0.0, 9.0], ([0, 0, 1, 1, 2, 2], [1, 1, 0, 2, 1, 2])), shape=(3, 3))
    graph = Graph.from_sparse(edges)
    assert graph.starts.tolist() == [0, 1, 2, 2] and graph.weights.tolist() == [3.0, 3.0]


@pytest.mark.parametrize(
    ("build", "says"),
    [
        (lambda: Graph.from_sparse(np.array([[0, -1.0], [-1.0, 0]])), "weight -1.0"),
        (lambda: Graph.from_sparse(np.array([[0, np.nan], [np.nan, 0]])), "weight nan"),
        (lambda: Graph.from_sparse(np.array([[0, np.inf], [np.inf, 0]])), "weight inf"),
        (lambda: Graph.from_sparse(np.array([[0, 1.0], [2.0, 0]])), "not symmetric"),
        (lambda: Graph.from_sparse(np.array([[0, 1.0], [0, 0]])), "not symmetric"),
        (lambda: Graph.from_sparse(np.ones((2, 3))), "shape"),
        (lambda: Graph.from_sparse("graph"), "matrix"),
        (lambda: Graph.from_sparse(sparse.csr_array((0, 0))), "vertices"),
        (lambda: Graph.from_sparse(ring(4) * 1e308), "infinity"),
        (lambda: Graph.from_sparse(ring(3), [1, 2]), "shape"),
        (lambda: Graph.from_sparse(ring(3), [1, 0, 1]), "place 1"),
        (lambda: Graph.from_sparse(ring(3), [1, 1, np.nan]), "place 2"),
        (lambda: Graph.from_sparse(ring(3), ["a", "b", "c"]), "numbers"),
        (lambda: Graph.from_bipartite(np.ones((2, 2)), [1e308, 1e308]), "infinity"),
        (lambda: divide(ring(4), 5), "k=5"),
        (lambda: divide(ring(4), 0), "k=0"),
        (lambda: divide(ring(4), 2.0), "whole"),
        (lambda: GraphOptions("best"), "partitioner"),
        (lambda: GraphOptions(imbalance=-0.1), "imbalance"),
        (lambda: GraphOptions(imbalance=np.inf), "imbalance"),
        (lambda: GraphOptions(tries=0), "tries"),
    ],
)
def test_refusals(build, says):
    with pytest.raises(ParameterError, match=says):
        build()


WEIGHTS = st.one_of(
    st.sampled_from([0.0, 1.0, 1e-300, 5e-324, 1e300, 2.0**31, 0.1, -1.0, float("nan"), float("inf")]),
    st.floats(0, 1e6),
)


@settings(max_examples=80)
@given(st.data())
def test_any_graph_is_divided_or_refused(data):
    size = data.draw(st.integers(1, 30))
    pairs = st.tuples(st.integers(0, size - 1), st.integers(0, size - 1), WEIGHTS)
    edges = data.draw(st.lists(pairs, max_size=60))
    weights = data.draw(st.one_of(st.none(), st.lists(WEIGHTS, min_size=size, max_size=size)))
    k = data.draw(st.integers(0, size + 1))
    options = GraphOptions(
        data.draw(st.sampled_from(["auto", "metis", "kahip"])),
        imbalance=data.draw(st.sampled_from([0.0, 0.05, 3.0])),
        bipartite=data.draw(st.booleans()),
        tries=data.draw(st.integers(1, 2)),
    )
    a, b, values = (np.array([edge[i] for edge in edges]) for i in range(3))
    table = (
        sparse.coo_array(
            (np.concatenate([values, values]), (np.concatenate([a, b]), np.concatenate([b, a]))), shape=(size, size)
        )
        if edges
        else sparse.coo_array((size, size))
    )
    try:
        graph = Graph.from_sparse(table, weights)
        found = partition_graph(graph, k, options, np.random.default_rng(0))
    except PartitaError:
        return
    assert sorted(set(found.labels.tolist())) == list(range(k))
    vertex_weights = graph.vertex_weights
    loads = np.bincount(found.labels, weights=vertex_weights, minlength=k)
    assert set_limits(vertex_weights, k, options.imbalance).excess(found.labels, loads) == 0.0
    again = partition_graph(graph, k, options, np.random.default_rng(0))
    assert np.array_equal(found.labels, again.labels) and found.tries == again.tries


def test_a_sample_stands_for_all():
    weights = np.random.default_rng(0).pareto(1.0, 50_000) + 0.1
    sample, scale = draw_sample(weights, 2000, np.random.default_rng(1))
    assert (np.diff(sample) > 0).all()
    assert (weights[sample] * scale).sum() == pytest.approx(weights.sum())
    assert set(np.flatnonzero(weights > weights.sum() / 2000)) <= set(sample.tolist())
