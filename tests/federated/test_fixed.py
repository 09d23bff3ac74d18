import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from partita.core.errors import FederatedError
from partita.federated.fixed import BLOCK, add, decode, encode, scale_of
from partita.federated.messages import Terms

WORDS = (32, 64)


def terms(**more):
    return Terms("run", ("a", "b", "c"), "rows", "mm", 3, **more)


def signed(total, word):
    """The value of a sum modulo 2**word that lies in the signed range."""
    return (total + 2 ** (word - 1)) % 2**word - 2 ** (word - 1)


def test_scales():
    assert scale_of("narrow", terms()) == (30, 64)
    assert scale_of("narrow", terms(bits=20, word=32)) == (20, 32)
    assert scale_of("wide", terms(bits=20)) == (24, 64)
    with pytest.raises(FederatedError, match="'float'"):
        scale_of("float", terms())


@pytest.mark.parametrize("word", WORDS)
def test_known_words(word):
    values = np.array([0.0, 1.0, -1.0, 0.5, -0.25, 1 / 8, 3 / 8, -3 / 8])
    words = encode(values, 2, word, 3)
    assert words.dtype == (np.uint32 if word == 32 else np.uint64)
    assert words.tolist() == [0, 4, 2**word - 4, 2, 2**word - 1, 0, 2, 2**word - 2]  # halves go to even
    assert decode(words, 2).tolist() == [0, 1, -1, 0.5, -0.25, 0, 0.5, -0.5]


@given(
    hnp.arrays(np.float64, hnp.array_shapes(max_dims=3, min_side=0), elements=st.floats(-1000, 1000)),
    st.integers(0, 20),
    st.sampled_from(WORDS),
)
def test_nearest(values, bits, word):
    back = decode(encode(values, bits, word, 1), bits)
    assert back.shape == values.shape and back.dtype == np.float64
    assert np.all(np.abs(back - values) <= 2.0 ** -(bits + 1))
    assert np.array_equal(decode(encode(back, bits, word, 1), bits), back)


@given(st.data(), st.sampled_from(WORDS), st.integers(0, 24), st.integers(1, 7))
def test_sums_are_exact(data, word, bits, parties):
    """Against Python's whole numbers, at any size that is allowed."""
    limit = ((2 ** (word - 1) - 1) // parties) / 2**bits * (1 - 1e-9)
    values = data.draw(hnp.arrays(np.float64, (parties, 4), elements=st.floats(-limit, limit)))
    wanted = [sum(round(float(v) * 2**bits) for v in column) for column in values.T]
    total = add([encode(row, bits, word, parties) for row in values])
    assert [signed(int(v), word) for v in total] == wanted
    assert decode(total, bits).tolist() == [float(v) / 2**bits for v in wanted]


@given(
    st.sampled_from(WORDS).flatmap(
        lambda word: st.tuples(
            st.just(word), st.lists(st.lists(st.integers(0, 2**word - 1), min_size=3, max_size=3), min_size=1)
        )
    )
)
def test_adding_wraps(case):
    word, rows = case
    arrays = [np.array(row, np.uint32 if word == 32 else np.uint64) for row in rows]
    kept = [array.copy() for array in arrays]
    assert add(arrays).tolist() == [sum(column) % 2**word for column in zip(*rows, strict=True)]
    assert all(np.array_equal(a, b) for a, b in zip(arrays, kept, strict=True))


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("order", ["C", "F"])
def test_long_and_transposed_arrays(word, order):
    rng = np.random.default_rng(3)
    values = [np.array(rng.normal(size=(BLOCK // 2 + 7, 5)), order=order) for _ in range(3)]
    kept = values[0].copy()
    total = decode(add([encode(v, 20, word, 3) for v in values]), 20)
    wanted = sum(np.rint(v * 2**20) for v in values) / 2**20
    assert np.array_equal(total, wanted)
    assert np.array_equal(values[0], kept)


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("parties", [1, 3, 20])
@pytest.mark.parametrize("sign", [1, -1])
def test_the_limit_is_exact(word, parties, sign):
    units = (2 ** (word - 1) - 1) // parties
    most = float(units)
    if int(most) > units:
        most = float(np.nextafter(most, 0))
    full = np.array([sign * most])
    assert signed(int(add([encode(full, 0, word, parties)] * parties)[0]), word) == sign * int(most) * parties
    with pytest.raises(FederatedError, match=f"words of {word} bits hold no more than"):
        encode(np.array([0.0, sign * max(np.nextafter(most, np.inf), most + 1)]), 0, word, parties)


def test_refusals_name_value_limit_and_way_out():
    with pytest.raises(FederatedError, match=r"largest value .* is 40000.* than 6553\.6; .*fewer bits.* 64 bits"):
        encode(np.array([1.0, -40000.0]), 16, 32, 5)
    with pytest.raises(FederatedError, match=r"fewer bits of fraction$"):
        encode(np.array([1e300]), 24, 64, 2)
    with pytest.raises(FederatedError, match="largest value"):
        encode(np.array([-1e308]), 24, 64, 2)
    for bad in (np.nan, np.inf, -np.inf):
        with pytest.raises(FederatedError, match="finite"):
            encode(np.array([0.0, bad, 1.0]), 16, 32, 2)
    with pytest.raises(FederatedError, match="32 or 64"):
        encode(np.zeros(1), 4, 16, 1)
    with pytest.raises(FederatedError, match="parties"):
        encode(np.zeros(1), 16, 32, 0)
    with pytest.raises(FederatedError, match="bits of fraction"):
        encode(np.zeros(1), 32, 32, 1)
    with pytest.raises(FederatedError, match="nothing"):
        add([])
    with pytest.raises(FederatedError, match=r"\(3,\)"):
        add([np.zeros(2, np.uint32), np.zeros(3, np.uint32)])
    with pytest.raises(FederatedError, match="uint64"):
        add([np.zeros(2, np.uint32), np.zeros(2, np.uint64)])
    with pytest.raises(FederatedError, match="float64"):
        decode(np.zeros(2), 4)


def test_large_words_keep_53_bits():
    words = np.array([2**53 + 1, 2**63 - 1, 2**63], np.uint64)
    assert decode(words, 0).tolist() == [float(2**53), float(2**63), -float(2**63)]
    assert int(encode(np.array([2.0**60 + 2**10]), 2, 64, 1)[0]) == 2**62 + 2**12
