"""Co-clustering probabilities and certainty, pair by pair."""

import numpy as np
import pytest

from partita.core.draws import Draws
from partita.core.errors import ParameterError
from partita.core.threads import thread_limit
from partita.posterior import pairs
from partita.posterior.certainty import cluster_certainty, cluster_numbers, object_certainty
from partita.posterior.pairs import block_probabilities, nearest_pairs, pair_probabilities, pairs_above


def sample(n=30, draws=40, seed=0):
    rng = np.random.default_rng(seed)
    table = np.where(rng.random((draws, n)) < 0.4, rng.integers(8, size=(draws, n)), np.arange(n) % 4)
    together = (table[:, :, None] == table[:, None, :]).mean(axis=0)
    return table, together


def test_chosen_pairs():
    table, together = sample()
    chosen = np.random.default_rng(1).integers(30, size=(200, 2))
    assert pair_probabilities(Draws.of(table), chosen) == pytest.approx(together[chosen[:, 0], chosen[:, 1]])


def test_pairs_of_unknown_objects():
    table = np.array([[0, -1, 0], [0, -1, 1]])
    found = pair_probabilities(Draws.of(table), [(0, 1), (0, 2), (1, 1)])
    assert np.isnan(found[[0, 2]]).all() and found[1] == 0.5


@pytest.mark.parametrize("wrong", [[(0, 30)], [(-1, 2)], [1, 2], [(0, 1, 2)], [(0.5, 1)]])
def test_pairs_that_are_none(wrong):
    with pytest.raises(ParameterError):
        pair_probabilities(Draws.of(sample()[0]), wrong)


def test_blocks():
    table, together = sample()
    blocks = np.array(list("abcdefghij" * 2 + "abcdefgxyx"))
    found = block_probabilities(Draws.of(table), blocks)
    names = list(dict.fromkeys(blocks.tolist()))
    for a, first in enumerate(names):
        for b, second in enumerate(names):
            ways = [
                together[i, j]
                for i in np.flatnonzero(blocks == first)
                for j in np.flatnonzero(blocks == second)
                if i != j
            ]
            if ways:
                assert found[a, b] == pytest.approx(np.mean(ways))
            else:
                assert first == second == "y" and np.isnan(found[a, b])


def test_blocks_with_unknown_objects_and_too_many(monkeypatch):
    table, _ = sample()
    holes = table.copy()
    holes[:, 3] = -1
    labels = np.where(np.arange(30) == 5, -1, np.arange(30) % 2)
    kept = [i for i in range(30) if i not in (3, 5)]
    wanted = block_probabilities(Draws.of(table[:, kept]), labels[kept])
    assert block_probabilities(Draws.of(holes), labels) == pytest.approx(wanted)
    monkeypatch.setattr(pairs, "MOST_BLOCKS", 1)
    with pytest.raises(ParameterError, match="2 blocks"):
        block_probabilities(Draws.of(table), labels)


@pytest.mark.parametrize("least", [0.2, 0.45, 1.0])
def test_pairs_above(least):
    table, together = sample()
    found = pairs_above(Draws.of(table), least)
    wanted = [(i, j) for i in range(30) for j in range(i + 1, 30) if together[i, j] >= least - 1e-12]
    assert list(zip(found.first.tolist(), found.second.tolist(), strict=True)) == wanted
    assert found.probability == pytest.approx([together[pair] for pair in wanted])


def test_nearest_pairs_with_an_unknown_object():
    table, together = sample()
    table[:, 7] = -1
    found = nearest_pairs(Draws.of(table), 3)
    with thread_limit(1):
        alone = nearest_pairs(Draws.of(table), 3)
    assert all(np.array_equal(a, b) for a, b in zip(found, alone, strict=True))
    others = [i for i in range(30) if i != 7]
    assert found.first.tolist() == [i for i in others for _ in range(3)]
    for place, i in enumerate(others):
        wanted = sorted((j for j in others if j != i), key=lambda j: (-together[i, j], j))[:3]
        assert found.second[3 * place : 3 * place + 3].tolist() == wanted


def test_tables_that_would_be_too_large(monkeypatch):
    draws = Draws.of(sample()[0])
    with pytest.raises(ParameterError, match="least=0"):
        pairs_above(draws, 0)
    with pytest.raises(ParameterError, match="k=30"):
        nearest_pairs(draws, 30)
    monkeypatch.setattr(pairs, "MOST_PAIRS", 10)
    with pytest.raises(ParameterError, match="more than 10 pairs"):
        pairs_above(draws, 0.1)
    monkeypatch.setattr(pairs, "MOST_OBJECTS", 10)
    with pytest.raises(ParameterError, match="30 objects have too many pairs"):
        pairs_above(draws)


def test_certainty_of_objects_and_clusters():
    table, together = sample(n=25)
    labels = np.append(np.arange(24) % 4, 9)
    found = object_certainty(Draws.of(table), labels)
    for i in range(24):
        others = [j for j in range(24) if j != i and labels[j] == labels[i]]
        assert found[i] == pytest.approx(np.mean([together[i, j] for j in others]))
    alone = np.mean([np.count_nonzero(draw == draw[24]) == 1 for draw in table])
    assert found[24] == pytest.approx(alone)
    by_cluster = cluster_certainty(Draws.of(table), labels)
    for c in range(4):
        inside = [together[i, j] for i in range(24) for j in range(i) if labels[i] == labels[j] == c]
        assert by_cluster[c] == pytest.approx(np.mean(inside))
    assert by_cluster[4] == pytest.approx(alone)


def test_certainty_where_an_object_is_alone():
    draws = Draws.of([[0, 0, 1], [0, 1, 2], [0, 1, 0]])
    assert object_certainty(draws, [0, 0, 1]) == pytest.approx([1 / 3, 1 / 3, 2 / 3])


def test_certainty_of_unknown_objects():
    draws = Draws.of([[0, 0, -1, 1], [0, 0, -1, 0]])
    found = object_certainty(draws, ["a", "a", "b", "c"])
    assert np.isnan(found[2]) and found[[0, 1, 3]].tolist() == [1, 1, 0.5]
    assert cluster_certainty(draws, ["a", "a", "b", "c"]).tolist() == [1, 0.5]


def test_certainty_is_the_same_for_any_number_of_threads():
    table, _ = sample(n=200, draws=100)
    wanted = object_certainty(Draws.of(table), np.arange(200) % 4)
    with thread_limit(1):
        assert np.array_equal(object_certainty(Draws.of(table), np.arange(200) % 4), wanted)


def test_cluster_numbers():
    found = cluster_numbers(Draws.of([[0, 0, -1], [0, 1, -1], [3, 5, -1]]))
    assert found.clusters.tolist() == [1, 2] and found.shares == pytest.approx([1 / 3, 2 / 3])


def test_nothing_to_ask_and_nothing_known():
    draws = Draws.of([[0, 0, 1]])
    assert pair_probabilities(draws, []).shape == (0,)
    assert all(len(column) == 0 for column in pairs_above(Draws.of([[-1, -1]])))


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda draws: nearest_pairs(draws, 1.5), "k=1.5"),
        (lambda draws: pairs_above(draws, "x"), "least='x'"),
        (lambda draws: pair_probabilities(draws, [(0.0, 1.0)]), "type float64"),
        (lambda draws: pair_probabilities(draws, [0, 1]), "shape"),
    ],
)
def test_what_cannot_be_asked_is_named(ask, said):
    with pytest.raises(ParameterError, match=said):
        ask(Draws.of([[0, 0, 1]]))
