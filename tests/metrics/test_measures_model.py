"""Perplexity and the geometric mean ratio."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from partita.core.errors import ParameterError
from partita.metrics import gmr, perplexity


def test_perplexity_is_the_number_of_labels_of_a_uniform_model():
    assert perplexity(10 * math.log(1 / 6), 10) == pytest.approx(6)
    assert perplexity(0.0, 3) == 1.0
    assert perplexity(-math.inf, 3) == math.inf
    assert perplexity(-1e6, 1) == math.inf


@pytest.mark.parametrize("known", [0, -1, math.nan])
def test_perplexity_needs_a_label(known):
    with pytest.raises(ParameterError, match="known_labels"):
        perplexity(-1.0, known)


def test_perplexity_refuses_nan():
    with pytest.raises(ParameterError, match="NaN"):
        perplexity(math.nan, 3)


scores = st.floats(1e-3, 1)


@given(st.lists(st.tuples(scores, scores), min_size=1, max_size=20))
def test_gmr_by_definition(pairs):
    first, second = zip(*pairs, strict=True)
    product = math.prod(b / a for a, b in pairs)
    assert gmr(first, second) == pytest.approx(product ** (1 / len(pairs)), rel=1e-9)
    assert gmr(second, first) == pytest.approx(1 / gmr(first, second), rel=1e-9)


def test_gmr_replaces_zero():
    assert gmr([0.0], [0.1]) == pytest.approx(1e4)
    assert gmr([0.0, 1.0], [0.0, 1.0]) == 1.0
    given_scores = np.array([0.0, 1.0])
    gmr(given_scores, given_scores)
    assert given_scores.tolist() == [0.0, 1.0]


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ([1.0], [1.0, 2.0], "same ensembles"),
        ([], [], "shape"),
        ([1.0, -0.5], [1.0, 1.0], r"scores_a\[1\] is -0.5"),
        ([1.0], [math.nan], r"scores_b\[0\] is nan"),
        (["x"], [1.0], "not numbers"),
    ],
)
def test_gmr_refuses(first, second, message):
    with pytest.raises(ParameterError, match=message):
        gmr(first, second)
