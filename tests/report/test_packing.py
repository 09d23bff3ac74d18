"""The labels that travel in the page: nothing is lost, and what does not fit is left behind in order."""

import numpy as np
import pytest

from partita.report.html.packing import pack, unpack

MUCH = 10**7


def sample(n=500, k=5, seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.integers(-1, k, n).astype(np.int32)
    sure = rng.random(n)
    sure[rng.random(n) < 0.1] = np.nan
    return labels, sure


@pytest.mark.parametrize("k", [2, 300, 70_000])
def test_all_comes_back(k):
    labels, sure = sample(k=k)
    ids = np.array([f"o{i},\n\"'</script>é" for i in range(len(labels))], object)
    packed = pack(labels, sure, ids, MUCH)
    found, certain, names = unpack(packed)
    np.testing.assert_array_equal(found, labels)
    np.testing.assert_allclose(certain, sure, atol=0.0005001)
    assert names == ids.tolist() and "<" not in packed.data
    assert packed.width == {2: 1, 300: 2, 70_000: 4}[k]


def test_whole_numbers_stay_numbers_where_a_browser_can_hold_them():
    labels, _ = sample(n=3)
    assert unpack(pack(labels, None, np.array([7, 2**53 - 1, -4]), MUCH))[2] == [7, 2**53 - 1, -4]
    assert unpack(pack(labels, None, np.array([7, 2**53, 1], object), MUCH))[2] == [7, str(2**53), 1]


def test_half_a_letter_does_not_break_it():
    assert unpack(pack(*sample(n=1), np.array(["\ud800x"], object), MUCH))[2] == ["?x"]


def test_what_does_not_fit_is_left_out_confidence_first():
    labels, sure = sample(n=20_000)
    rng = np.random.default_rng(1)
    ids = np.array([rng.bytes(6).hex() for _ in labels], object)
    whole = pack(labels, sure, ids, MUCH)
    assert whole.has_ids and whole.has_confidence
    no_sure = pack(labels, sure, ids, len(whole.data) - 1)
    assert no_sure.has_ids and not no_sure.has_confidence
    no_ids = pack(labels, sure, ids, len(no_sure.data) - 1)
    assert not no_ids.has_ids and no_ids.has_confidence
    bare = pack(labels, sure, ids, len(no_ids.data) - 1)
    assert not bare.has_ids and not bare.has_confidence
    np.testing.assert_array_equal(unpack(bare)[0], labels)
    none = pack(labels, sure, ids, len(bare.data) - 1)
    assert none.data == "" and none.rows == len(labels)


def test_the_same_bytes_every_time():
    assert pack(*sample(), None, MUCH) == pack(*sample(), None, MUCH)
