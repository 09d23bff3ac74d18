"""One pass over rows against the slow loops and the general way of `ColumnModel`."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from partita.core.ensemble import Ensemble
from partita.core.errors import TableError
from partita.core.model import ColumnModel
from partita.core.placing import Placer
from partita.core.threads import thread_limit
from partita.kernels.scores import IMPOSSIBLE, assign_rows, count_labels
from tests.core.oracles import steady


def random_rows(n, sizes, kind, missing, rng):
    labels = np.stack([rng.integers(size, size=n) for size in sizes], axis=1).astype(kind)
    if np.dtype(kind).kind == "i":
        labels[rng.random(labels.shape) < missing] = -1
    return labels


def numbers(sizes, k, ties, rng):
    """Bias, tables and offsets; small whole numbers where there shall be ties."""
    shape = (sum(sizes), k)
    tables = rng.integers(-2, 2, shape).astype(float) if ties else np.log(rng.random(shape))
    bias = np.zeros(k) if ties else np.log(rng.dirichlet(np.ones(k)))
    return bias, tables, np.concatenate([[0], np.cumsum(sizes)])


def slow_labels(labels, bias, tables, offsets):
    chosen, best = np.empty(len(labels), np.int32), np.empty(len(labels))
    assign_rows(labels, offsets, tables, bias, chosen, best, 0, len(labels))
    chosen[~(labels.astype(np.int64) >= 0).any(axis=1)] = -1
    return chosen


@steady
@given(
    st.integers(0, 70),
    st.lists(st.integers(1, 9), min_size=1, max_size=5),
    st.integers(1, 43),
    st.sampled_from(["i1", "i2", "i4", "u1"]),
    st.booleans(),
    st.sampled_from([0.0, 0.3, 0.9]),
    st.integers(0, 999),
)
def test_winners_and_counts(n, sizes, k, kind, ties, missing, seed):
    """The same labels as the plain loop, ties and rows without labels too, and the same counts."""
    rng = np.random.default_rng(seed)
    labels = random_rows(n, sizes, kind, missing, rng)
    bias, tables, offsets = numbers(sizes, k, ties, rng)
    found = Placer(bias, tables, offsets).place(labels, counts=True)
    expected = slow_labels(labels, bias, tables, offsets)
    assert found.labels.dtype == np.int8 and np.array_equal(found.labels, expected)
    counts, held = np.zeros(tables.shape), np.zeros(k)
    count_labels(labels, offsets, expected, np.ones(n), counts, held, 0, n)
    assert np.array_equal(found.counts, counts) and np.array_equal(found.sizes, held)
    assert found.log_likelihood is None


@steady
@given(
    st.lists(st.integers(1, 6), min_size=1, max_size=4),
    st.integers(1, 20),
    st.sampled_from([0.0, 0.2, 0.8]),
    st.sampled_from([0.0, 0.1, 0.6]),
    st.integers(0, 999),
)
def test_chances_are_those_of_the_model(sizes, k, missing, never, seed):
    """Likelihood and excluded rows as `ColumnModel` computes them, with weights and impossible labels."""
    rng = np.random.default_rng(seed)
    labels = random_rows(50, sizes, np.int16, missing, rng)
    bias, tables, offsets = numbers(sizes, k, False, rng)
    weights = rng.random(len(sizes)) + 0.5
    tables *= np.repeat(weights, sizes)[:, None]
    tables[rng.random(tables.shape) < never] = IMPOSSIBLE
    if never:
        bias[1:][rng.random(k - 1) < never] = IMPOSSIBLE
    names = tuple(f"c{j}" for j in range(len(sizes)))
    rows = Ensemble(labels, tuple(sizes), names, tuple(tuple(range(size)) for size in sizes), weights)
    model = ColumnModel(bias, tuple(np.split(tables.T, offsets[1:-1], axis=1)), "softmax", names, weights=weights)
    expected = model.assign(rows)
    found = Placer(bias, tables, offsets).place(labels, chances=True)
    shares = np.sort(expected.membership, axis=1)
    clear = np.ones(50, bool) if k == 1 else ~(shares[:, -1] - shares[:, -2] < 1e-9)
    assert np.array_equal(found.labels[clear], expected.labels[clear])
    told = model.likelihood(rows, expected)
    assert found.excluded == told.excluded
    possible = expected.log_chances[~np.isneginf(expected.log_chances)]
    assert found.log_likelihood == pytest.approx(possible.sum(), rel=1e-12)


def test_the_best_link_gives_the_same_labels():
    rng = np.random.default_rng(3)
    sizes = (4, 300)
    labels = random_rows(3000, sizes, np.int32, 0.3, rng)
    bias, tables, offsets = numbers(sizes, 6, True, rng)
    names, classes = ("a", "b"), tuple(tuple(range(size)) for size in sizes)
    model = ColumnModel(bias, tuple(np.split(tables.T, offsets[1:-1], axis=1)), "best", names)
    rows = Ensemble(labels, sizes, names, classes, np.ones(2))
    found = Placer(bias, tables, offsets).place(labels)
    assert np.array_equal(found.labels, model.assign(rows, membership=False).labels)
    model = numbers(sizes, 200, False, rng)
    many = Placer(*model).place(labels)
    assert many.labels.dtype == np.int16 and many.labels.max() > 127
    assert np.array_equal(many.labels, slow_labels(labels, *model))


def test_the_number_of_threads_changes_nothing():
    rng = np.random.default_rng(1)
    sizes = (5, 7, 3)
    labels = random_rows(200_001, sizes, np.int8, 0.2, rng)
    placer = Placer(*numbers(sizes, 11, False, rng))
    found = []
    for threads in (1, 3):
        with thread_limit(threads):
            found.append(placer.place(labels, chances=True, counts=True))
    for one, other in zip(*found, strict=True):
        assert np.array_equal(one, other, equal_nan=True) if np.ndim(one) else one == other
    assert found[0].sizes.sum() == (labels >= 0).any(axis=1).sum()


def test_rows_of_another_width_are_refused():
    placer = Placer(np.zeros(2), np.zeros((4, 2)), np.array([0, 2, 4]))
    with pytest.raises(TableError, match=r"labels have shape \(3, 1\); the model places rows of 2 labels"):
        placer.place(np.zeros((3, 1), np.int8))
