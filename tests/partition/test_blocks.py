"""Capacities, packings, whole weights and the list of all divisions."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from partita.partition.blocks import pack, set_limits, whole_weights
from partita.partition.exact import all_divisions, few_divisions


@pytest.mark.parametrize(("n", "k", "most"), [(7, 3, 3), (100, 10, 10), (400, 10, 42), (41, 2, 21), (1000, 3, 350)])
def test_unit_weights_get_the_capacity_of_the_paper(n, k, most):
    assert max(-(-n // k), int(1.05 * n / k)) == most
    assert int(set_limits(np.ones(n), k, 0.05).capacity + 1e-9) == most


POSITIVE = st.floats(1e-6, 1e6)


@given(st.lists(POSITIVE, min_size=2, max_size=30), st.integers(1, 10), st.sampled_from([0.0, 0.05, 1.0]))
def test_limits_can_be_kept(weights, k, imbalance):
    weights, k = np.array(weights), min(k, len(weights))
    limits = set_limits(weights, k, imbalance)
    assert len(limits.heavy) < k or k == len(weights)
    others = np.setdiff1d(np.arange(len(weights)), limits.heavy)
    labels = pack(weights[others], limits.rest.k)
    assert np.bincount(labels, weights=weights[others]).max() <= limits.capacity * (1 + 1e-9)
    assert weights[limits.heavy].min(initial=np.inf) >= limits.mean * (1 - 1e-9)
    assert len(set(pack(weights, k).tolist())) == k


@given(st.lists(st.one_of(st.floats(0, 1e300), st.sampled_from([5e-324, 0.0, 1.0, 7.0])), max_size=50))
def test_whole_weights_fit_and_keep_what_is_positive(weights):
    values = np.array(weights)
    with np.errstate(over="ignore"):
        if not np.isfinite(values.sum()):
            return
    whole = whole_weights(values, 1000)
    assert ((whole > 0) == (values > 0)).all()
    assert whole.sum() <= 1000 + len(values)
    order = np.argsort(values)
    assert (np.diff(whole[order]) >= 0).all()


def test_whole_numbers_that_fit_are_kept():
    assert whole_weights(np.array([3.0, 0.0, 4.0]), 100).tolist() == [3, 0, 4]
    assert whole_weights(np.array([3.0, 0.0, 4.0]), 6).tolist() == [3, 0, 3]
    assert whole_weights(np.array([0.1, 0.2]), 300).tolist() == pytest.approx([100, 200], abs=1)


@pytest.mark.parametrize(("n", "k"), [(1, 1), (4, 1), (4, 2), (6, 3), (7, 3), (6, 6), (8, 5)])
def test_all_divisions_once(n, k):
    table = all_divisions(n, k)
    wanted = {
        tuple({b: i for i, b in enumerate(dict.fromkeys(labels))}[b] for b in labels)
        for labels in product(range(k), repeat=n)
        if len(set(labels)) == k
    }
    assert {tuple(row) for row in table.tolist()} == wanted and len(table) == len(wanted)


def test_the_seven_objects_have_301_divisions():
    assert len(all_divisions(7, 3)) == 301
    assert few_divisions(16, 2) and not few_divisions(17, 2) and not few_divisions(10**9, 2)
