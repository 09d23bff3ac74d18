"""The small loops against the same in plain Python."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from partita.core.distinct import distinct_rows
from partita.kernels.canonical import mix
from partita.kernels.rows import number_rows
from partita.kernels.scores import add_scores, assign_rows, hamming_to
from tests.core.oracles import slow_distinct, steady

labels_of = hnp.arrays("i4", st.tuples(st.integers(1, 12), st.integers(1, 4)), elements=st.integers(-1, 2))


@steady
@given(labels_of, st.integers(1, 4), st.integers(0, 999))
def test_scores_and_assignment(labels, k, seed):
    rng = np.random.default_rng(seed)
    n, r = labels.shape
    offsets = 3 * np.arange(r + 1)
    tables, bias = rng.random((3 * r, k)), rng.random(k)
    expected = np.array(
        [bias + sum((tables[3 * j + x] for j, x in enumerate(row) if x >= 0), np.zeros(k)) for row in labels]
    )
    out = np.tile(bias, (n, 1))
    add_scores(labels, offsets, tables, out, 0, n)
    assert np.allclose(out, expected)
    chosen, best = np.full(n, 9, np.int32), np.zeros(n)
    assign_rows(labels, offsets, tables, bias, chosen, best, 1, n)
    assert chosen[0] == 9 and np.array_equal(chosen[1:], expected[1:].argmax(axis=1))
    assert np.allclose(best[1:], expected[1:].max(axis=1))


@steady
@given(labels_of, st.integers(0, 999))
def test_hamming(labels, seed):
    rng = np.random.default_rng(seed)
    n, r = labels.shape
    weights, before = rng.integers(0, 3, r).astype(float), rng.random(n)
    distance = before.copy()
    hamming_to(labels, weights, 0, distance, 0, n)
    for i in range(n):
        both = (labels[i] >= 0) & (labels[0] >= 0)
        shared = weights[both].sum()
        found = weights[both & (labels[i] != labels[0])].sum() / shared if shared else 1.0
        assert distance[i] == min(before[i], found)


@steady
@given(hnp.arrays("u8", st.tuples(st.integers(1, 20), st.integers(1, 3)), elements=st.integers(0, 2)))
def test_rows_with_equal_hashes_are_still_told_apart(words):
    """Every hash the same: slow, never wrong."""
    n = len(words)
    first, inverse = np.empty(n, np.int32), np.empty(n, np.int32)
    found = number_rows(words, np.full(n, 5, np.uint64), np.full(64, -1, np.int32), first, inverse)
    expected = slow_distinct(words.tolist())
    assert first[:found].tolist() == expected[0] and inverse.tolist() == expected[1]


@steady
@given(
    hnp.arrays(
        st.sampled_from(["i1", "i2", "f8", "u8"]),
        st.tuples(st.integers(1, 20), st.integers(1, 5)),
        elements=st.integers(0, 1),
    )
)
def test_distinct_rows_of_any_layout(matrix):
    expected = slow_distinct(matrix.tolist())
    for laid_out in (matrix, np.asfortranarray(matrix), np.repeat(matrix, 2, axis=1)[:, ::2]):
        found = distinct_rows(laid_out)
        assert found.first.tolist() == expected[0] and found.inverse.tolist() == expected[1]


def test_mix_is_splitmix64():
    """The first outputs of the generator with seed 0, as published."""
    golden = 0x9E3779B97F4A7C15
    outputs = [mix(np.uint64(golden * i % 2**64)) for i in (1, 2, 3)]
    assert [int(x) for x in outputs] == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]
