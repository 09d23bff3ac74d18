"""Starts of the iterative methods: valid, seeded, and k-means++ drawing as it should."""

import itertools

import numpy as np
import pytest

from partita import Ensemble
from partita.core import threads
from partita.starts import STARTS, base_start, plusplus_start, random_start
from tests.samples import noisy

every_start = pytest.mark.parametrize("start", STARTS.values(), ids=STARTS)


def generator(seed):
    return np.random.default_rng(seed)


@every_start
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_every_row_gets_one_of_k_labels(start, missing):
    ensemble = noisy(n=50, missing=missing)
    for k in (1, 2, 4, 7, 50):
        for seed in range(5):
            labels = start(ensemble, k, generator(seed))
            assert labels.shape == (50,) and labels.dtype == np.int32
            assert labels.min() >= 0 and labels.max() < k


@every_start
def test_a_seed_fixes_the_start(start):
    ensemble = noisy(n=80, noise=0.5)
    first = [start(ensemble, 4, generator(seed)).tolist() for seed in range(6)]
    assert first == [start(ensemble, 4, generator(seed)).tolist() for seed in range(6)]
    assert len({tuple(labels) for labels in first}) > 1


@every_start
def test_threads_change_nothing(start, monkeypatch):
    monkeypatch.setattr(threads, "CHUNK", 7)
    ensemble = noisy(n=80, noise=0.5, missing=0.2)
    found = []
    for count in (1, 3):
        with threads.thread_limit(count):
            found.append(start(ensemble, 4, generator(0)).tolist())
    assert found[0] == found[1]


def distinct(n, seed=0):
    """n different complete rows."""
    rng = generator(seed)
    table = np.column_stack([np.arange(n), rng.integers(0, 3, size=(n, 3))])
    return Ensemble.from_labels(table, allow="id-like-column")


@pytest.mark.parametrize("start", [random_start, plusplus_start])
def test_all_k_labels_are_used_when_there_are_rows_enough(start):
    for n, k in ((5, 5), (8, 3), (30, 12)):
        for seed in range(20):
            assert set(start(distinct(n), k, generator(seed)).tolist()) == set(range(k))
    assert len(set(random_start(distinct(3), 5, generator(0)).tolist())) == 3


def test_plusplus_on_fewer_distinct_rows_than_k():
    ensemble = Ensemble.from_labels([[0, 0], [0, 0], [1, 1]])
    for seed in range(5):
        labels = plusplus_start(ensemble, 3, generator(seed))
        assert labels[0] == labels[1] != labels[2] and set(labels.tolist()) == {0, 1}


def hamming(ensemble, a, b):
    """Weighted share of differing labels among those known in both rows; 1 where there is none."""
    pairs = [
        (x, y, w)
        for x, y, w in zip(ensemble.labels[a], ensemble.labels[b], ensemble.weights, strict=True)
        if x >= 0 and y >= 0
    ]
    shared = sum(w for _, _, w in pairs)
    return sum(w for x, y, w in pairs if x != y) / shared if shared else 1.0


def chances(ensemble, k):
    """The exact chance of every sequence of k centres.

    The first is drawn by multiplicity; each other is the best of 2 + ln k draws by multiplicity times squared distance.
    """
    n = len(ensemble)
    found = {}

    def potential(centers):
        return sum(c * min(hamming(ensemble, i, x) for x in centers) for i, c in enumerate(ensemble.counts))

    def go(centers, chance):
        if len(centers) == k:
            found[centers] = found.get(centers, 0) + chance
            return
        near = [min((hamming(ensemble, i, c) for c in centers), default=1.0) for i in range(n)]
        weight = ensemble.counts * near
        rows = np.flatnonzero(weight).tolist()
        totals = {i: potential((*centers, i)) for i in rows}
        for tries in itertools.product(rows, repeat=2 + int(np.log(k)) if centers else 1):
            best = min(tries, key=lambda i: round(totals[i], 9))
            go((*centers, best), chance * np.prod([weight[i] / weight.sum() for i in tries]))

    go((), 1.0)
    return found


def labels_of(ensemble, centers):
    """Each row at the first of its nearest centres."""
    return tuple(
        min(range(len(centers)), key=lambda c: (hamming(ensemble, i, centers[c]), c)) for i in range(len(ensemble))
    )


@pytest.mark.parametrize("gaps", [False, True])
def test_plusplus_draws_in_proportion_to_the_squared_distance(gaps):
    table = [[0, 0, 0], [0, 1, 1], [1, 1, 2], [2, 0, 2], [0, 0, 1]]
    if gaps:
        table[1][0] = table[3][2] = None
    ensemble = Ensemble.from_labels(table, weights=[1, 2, 0.5]).with_counts([1, 3, 2, 1, 4])
    expected = {}
    for centers, chance in chances(ensemble, 3).items():
        labels = labels_of(ensemble, centers)
        expected[labels] = expected.get(labels, 0) + chance
    assert sum(expected.values()) == pytest.approx(1)
    draws = 6000
    rng = generator(0)
    seen = {}
    for _ in range(draws):
        labels = tuple(plusplus_start(ensemble, 3, rng).tolist())
        seen[labels] = seen.get(labels, 0) + 1
    assert set(seen) <= set(expected)
    for labels, chance in expected.items():
        spread = np.sqrt(draws * chance * (1 - chance))
        assert abs(seen.get(labels, 0) - draws * chance) < 5 * spread + 3


def test_base_start_copies_a_clustering():
    ensemble = Ensemble.from_labels([[0, 5], [0, 6], [1, 6], [1, 7], [2, 7], [2, 7]], weights=[1, 0])
    for seed in range(5):
        assert base_start(ensemble, 3, generator(seed)).tolist() in ([0, 0, 1, 1, 2, 2],)


def test_base_start_keeps_the_largest_and_draws_by_weight():
    labels = [0] * 6 + [1] * 3 + [2] * 2 + [3]
    ensemble = Ensemble.from_labels(np.column_stack([labels, np.arange(12) % 2]), weights=[1, 0])
    for seed in range(10):
        found = base_start(ensemble, 2, generator(seed))
        assert (found[:6] == found[0]).all() and (found[6:9] == found[6]).all() and found[0] != found[6]
        assert set(found.tolist()) == {0, 1}
    heavy = ensemble.with_counts([1] * 11 + [50])
    for seed in range(10):
        found = base_start(heavy, 2, generator(seed))
        assert (found[:6] == found[0]).all() and found[11] != found[0]
    counts = [0, 0]
    both = Ensemble.from_labels(np.column_stack([np.arange(12) // 6, np.arange(12) % 2]), weights=[3, 1])
    rng = generator(1)
    for _ in range(800):
        found = base_start(both, 2, rng)
        counts[int(found[0] != found[1])] += 1
    assert abs(counts[0] - 600) < 5 * np.sqrt(800 * 0.75 * 0.25)


def test_random_start_is_uniform():
    ensemble = noisy(n=60)
    rng = generator(0)
    counts = sum(np.bincount(random_start(ensemble, 3, rng), minlength=3) for _ in range(200))
    assert np.abs(counts - 4000).max() < 5 * np.sqrt(12000 * 2 / 9)
