"""Hypergraph partitions against exhaustive search, strehl2002's example and hostile input."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from partita.core.errors import ParameterError, PartitaError
from partita.partition import Hypergraph, HypergraphOptions, exact, partition_hypergraph
from partita.partition.bisection import bisect, restrict
from partita.partition.blocks import set_limits
from partita.partition.native import WholeHypergraph
from tests.partition.samples import planted, seven_hyperedges, slow_balance, slow_objective, slow_optimum
from tests.samples import same_partition


def divide(graph, k, seed=0, **options):
    return partition_hypergraph(graph, k, HypergraphOptions(**options), np.random.default_rng(seed))


@pytest.mark.parametrize("natively", [False, True])
def test_the_seven_objects_cut_four_hyperedges(natively, monkeypatch):
    if natively:
        monkeypatch.setattr(exact, "MOST_VERTICES", 0)
    edges = seven_hyperedges()
    assert len(edges) == 11
    graph = Hypergraph.from_edges(7, edges)
    optimum = slow_optimum(lambda labels: slow_objective(edges, [1] * 11, labels, "cut"), np.ones(7), 3, 3)
    assert optimum == 4
    for seed in range(5):
        found = divide(graph, 3, seed)
        assert found.cut == 4 and np.bincount(found.labels).max() == 3
        assert found.kept == found.tries[0].name == ("direct, run 1" if natively else "exact")


@pytest.mark.parametrize("objective", ["cut", "km1"])
@pytest.mark.parametrize("seed", range(4))
def test_tiny_hypergraphs_are_optimal(objective, seed):
    rng = np.random.default_rng(seed)
    edges = [rng.choice(7, rng.integers(2, 5), replace=False).tolist() for _ in range(8)]
    weights, vertex_weights = rng.random(8), rng.integers(1, 3, 7).astype(float)
    found = divide(Hypergraph.from_edges(7, edges, weights, vertex_weights), 3, objective=objective)
    capacity = set_limits(vertex_weights, 3, 0.05).capacity
    best = slow_optimum(lambda labels: slow_objective(edges, weights, labels, objective), vertex_weights, 3, capacity)
    assert found.cut == pytest.approx(best)
    assert found.cut == pytest.approx(slow_objective(edges, weights, found.labels, objective))
    assert found.balance == pytest.approx(slow_balance(found.labels, vertex_weights, 3))


@pytest.mark.parametrize("k", [3, 4, 7, 10])
@pytest.mark.parametrize("mode", ["direct", "bisection"])
@pytest.mark.parametrize("objective", ["cut", "km1"])
def test_planted_blocks_are_found(objective, mode, k):
    table, truth = planted(300, 6, k, 0.0)
    graph = Hypergraph.from_sparse(table)
    found = divide(graph, k, objective=objective, mode=mode)
    assert found.cut == 0 and same_partition(found.labels, truth[:300])


@pytest.mark.parametrize("mode", ["direct", "bisection"])
def test_noise_keeps_to_the_balance_and_the_objective(mode):
    table, _ = planted(200, 5, 4, 0.2)
    edges = [table[:, [e]].nonzero()[0].tolist() for e in range(table.shape[1])]
    weights = np.random.default_rng(0).random(len(edges))
    for objective in ("cut", "km1"):
        found = divide(Hypergraph.from_sparse(table, weights), 4, objective=objective, tries=2, mode=mode)
        assert found.cut == pytest.approx(slow_objective(edges, weights, found.labels, objective))
        assert found.balance <= 1.05 + 1e-9 and len(found.tries) == 2
        assert found.cut == min(one.cut for one in found.tries)


@pytest.mark.parametrize("imbalance", [0.0, 0.02, 0.05])
@pytest.mark.parametrize(("n", "k"), [(100, 7), (64, 8), (97, 3), (61, 30), (405, 10)])
def test_bisection_alone_keeps_to_the_balance(n, k, imbalance):
    """Its blocks need no repair: the imbalance is shared among the levels, and k need not be a power of two."""
    table, _ = planted(n, 6, k, 0.3)
    graph = Hypergraph.from_sparse(table)
    capacity = max(-(-n // k), int((1 + imbalance) * n / k))
    whole = WholeHypergraph(graph.starts, graph.pins, graph.weights.astype(int), np.ones(n, int))
    labels = bisect(whole, k, capacity, "km1", np.random.default_rng(0))
    sizes = np.bincount(labels, minlength=k)
    assert len(sizes) == k and sizes.max() <= capacity


@pytest.mark.parametrize("remove_cut", [False, True])
def test_restricted_hypergraph_by_definition(remove_cut):
    rng = np.random.default_rng(1)
    edges = [sorted(rng.choice(12, rng.integers(2, 7), replace=False).tolist()) for _ in range(20)]
    graph = Hypergraph.from_edges(12, edges)
    whole = WholeHypergraph(graph.starts, graph.pins, np.arange(20), np.arange(12))
    inside = rng.random(12) < 0.6
    vertices = np.flatnonzero(inside).tolist()
    expected = []
    for weight, edge in enumerate(edges):
        pins = [vertices.index(v) for v in edge if inside[v]]
        if len(pins) > 1 and (len(pins) == len(edge) or not remove_cut):
            expected.append((weight, pins))
    part = restrict(whole, inside, remove_cut)
    pins = [sorted(edge.tolist()) for edge in np.split(part.pins, part.starts[1:-1])]
    assert list(zip(part.weights.tolist(), pins, strict=True)) == expected
    assert part.vertex_weights.tolist() == vertices


def test_edges_that_cannot_be_cut_are_dropped():
    graph = Hypergraph.from_edges(4, [[], [2], [0, 1], [1, 1], [2, 3, 3], [0, 3]], [1, 1, 1, 1, 2, 0])
    assert graph.starts.tolist() == [0, 2, 4] and graph.weights.tolist() == [1.0, 2.0]
    assert graph.pins.tolist() == [0, 1, 2, 3]


def test_trivial_cases():
    graph = Hypergraph.from_edges(5, [[0, 1, 2, 3, 4]])
    assert divide(graph, 1).cut == 0
    assert divide(graph, 5).cut == 1 and divide(graph, 5, objective="km1").cut == 4
    assert divide(Hypergraph.from_edges(1, []), 1).labels.tolist() == [0]
    assert np.bincount(divide(Hypergraph.from_edges(40, []), 7).labels).max() == 6


@pytest.mark.parametrize("scale", [1e-300, 1 / 3, 1e12, 1e300])
def test_the_scale_of_weights_does_not_matter(scale):
    table, truth = planted(100, 6, 2, 0.0)
    graph = Hypergraph.from_sparse(table, np.full(12, scale), np.full(100, scale))
    assert same_partition(divide(graph, 2).labels, truth[:100])


@pytest.mark.parametrize("mode", ["direct", "bisection"])
@pytest.mark.parametrize("imbalance", [0.0, 0.05, 2.0, 1e6])
def test_capacities_of_any_size(imbalance, mode):
    """Mt-KaHyPar adds up the capacities of all blocks in 32 bits."""
    table, _ = planted(60, 6, 5, 0.1)
    weights = np.random.default_rng(0).random(60) + 0.5
    found = divide(Hypergraph.from_sparse(table, None, weights), 5, imbalance=imbalance, mode=mode)
    limits = set_limits(weights, 5, imbalance)
    assert np.bincount(found.labels, weights=weights).max() <= limits.capacity * (1 + 1e-9)


@pytest.mark.parametrize("mode", ["direct", "bisection"])
def test_a_vertex_heavier_than_a_block(mode):
    table, _ = planted(60, 6, 3, 0.1)
    weights = np.ones(60)
    weights[[3, 4]] = 1e6, 500.0
    found = divide(Hypergraph.from_sparse(table, None, weights), 4, mode=mode)
    loads = np.sort(np.bincount(found.labels, weights=weights))
    assert loads[-1] <= 1.05e6 and loads[-2] <= 525 and loads[1] <= 31


@pytest.mark.parametrize(
    ("build", "says"),
    [
        (lambda: Hypergraph.from_edges(3, [[0, 3]]), "0 to 2"),
        (lambda: Hypergraph.from_edges(3, [[0, -1]]), "0 to 2"),
        (lambda: Hypergraph.from_edges(3, ["ab"]), "0 to 2"),
        (lambda: Hypergraph.from_edges(3, [[0, 1]], [-1]), "place 0"),
        (lambda: Hypergraph.from_edges(3, [[0, 1]], [1, 2]), "shape"),
        (lambda: Hypergraph.from_edges(3, [[0, 1]], None, [1, 1, 0]), "place 2"),
        (lambda: Hypergraph.from_edges(0, []), "vertices"),
        (lambda: Hypergraph.from_sparse("pins"), "matrix"),
        (lambda: divide(Hypergraph.from_edges(3, [[0, 1]]), 4), "k=4"),
        (lambda: HypergraphOptions(objective="soed"), "objective"),
        (lambda: HypergraphOptions(mode="recursive"), "mode"),
        (lambda: HypergraphOptions(imbalance="much"), "imbalance"),
        (lambda: HypergraphOptions(tries=True), "tries"),
    ],
)
def test_refusals(build, says):
    with pytest.raises(ParameterError, match=says):
        build()


WEIGHTS = st.one_of(st.sampled_from([0.0, 1.0, 5e-324, 1e300, 2.0**31, -1.0, float("nan")]), st.floats(0, 1e6))


@settings(max_examples=60)
@given(st.data())
def test_any_hypergraph_is_divided_or_refused(data):
    size = data.draw(st.integers(1, 25))
    edges = data.draw(st.lists(st.lists(st.integers(0, size - 1), max_size=8), max_size=15))
    weights = data.draw(st.one_of(st.none(), st.lists(WEIGHTS, min_size=len(edges), max_size=len(edges))))
    vertex_weights = data.draw(st.one_of(st.none(), st.lists(WEIGHTS, min_size=size, max_size=size)))
    k = data.draw(st.integers(0, size + 1))
    imbalance = data.draw(st.sampled_from([0.0, 0.05, 2.0]))
    objective = data.draw(st.sampled_from(["cut", "km1"]))
    mode = data.draw(st.sampled_from(["direct", "bisection"]))
    try:
        graph = Hypergraph.from_edges(size, edges, weights, vertex_weights)
        found = divide(graph, k, imbalance=imbalance, objective=objective, mode=mode)
    except PartitaError:
        return
    assert sorted(set(found.labels.tolist())) == list(range(k))
    loads = np.bincount(found.labels, weights=graph.vertex_weights, minlength=k)
    assert set_limits(graph.vertex_weights, k, imbalance).excess(found.labels, loads) == 0.0
    own = [1.0] * len(edges) if weights is None else weights
    assert found.cut == pytest.approx(slow_objective(edges, own, found.labels, objective))


def test_incidences_may_be_any_numbers():
    table = sparse.csr_array(np.array([[0.5, 0], [2, 1], [0, -3]]))
    graph = Hypergraph.from_sparse(table)
    assert graph.pins.tolist() == [0, 1, 1, 2]
