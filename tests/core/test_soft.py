"""SoftEnsemble: memberships in, checked once; hard clusterings among them."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from partita import Ensemble, SoftEnsemble
from partita.core.errors import LabelError, PartitaError, TableError
from tests.core.oracles import slow_codes, slow_distinct, steady
from tests.samples import noisy, noisy_soft

NAN = np.nan


def test_hard_and_soft_side_by_side():
    soft = SoftEnsemble.from_memberships(
        {"a": [[0.25, 0.75], [1, 0], [0, 0]], "b": ["x", None, "y"], "c": np.array([7, 7, 9])}
    )
    assert soft.matrix.tolist() == [[0.25, 0.75, 1, 0, 1, 0], [1, 0, 0, 0, 1, 0], [0, 0, 0, 1, 0, 1]]
    assert soft.sizes == (2, 2, 2) and soft.classes == ((0, 1), ("x", "y"), (7, 9)) and soft.names == ("a", "b", "c")
    assert soft.known.tolist() == [[True, True, True], [True, False, True], [False, True, True]]
    assert soft.missing_share == pytest.approx(2 / 9) and soft.offsets.tolist() == [0, 2, 4, 6]
    assert soft.block(1).tolist() == [[1, 0], [0, 0], [0, 1]]
    assert "2" in repr(soft) and "22.2% missing" in repr(soft)
    for array in (soft.matrix, soft.weights, soft.known, soft.counts, *soft.distinct):
        assert not array.flags.writeable


@pytest.mark.parametrize(
    "block",
    [
        [[0.5, 0.5], [0, 1]],
        ((0.5, 0.5), (0, 1)),
        np.array([[0.5, 0.5], [0, 1]]),
        np.array([[0.5, 0.5], [0, 1]], order="F"),
        np.array([[0.5, 0.5], [0, 1]], dtype="f4"),
        np.array([[0.5, 0.5], [0, 1]], dtype=">f8"),
        np.array([[0.5, 0.5], [0, 1]], dtype=object),
        pd.DataFrame([[0.5, 0.5], [0, 1]], index=["x", "y"]),
        pl.DataFrame([[0.5, 0.0], [0.5, 1.0]]),
        pa.table({"p": [0.5, 0.0], "q": [0.5, 1.0]}),
    ],
    ids=lambda block: type(block).__name__,
)
def test_holders_of_memberships(block):
    soft = SoftEnsemble.from_memberships([block, [1, 2]])
    assert soft.matrix.tolist() == [[0.5, 0.5, 1, 0], [0, 1, 0, 1]]


@pytest.mark.parametrize(
    "labels",
    [
        ["x", None],
        pd.Series(["x", None]),
        pd.Categorical(["x", None]),
        pl.Series(["x", None]),
        pa.array(["x", None]),
        pa.chunked_array([["x", None]]),
        np.array(["x", "NA"]),
        np.array(["x", None], dtype=object),
        ("x", ""),
    ],
    ids=lambda labels: type(labels).__name__,
)
def test_holders_of_hard_labels(labels):
    soft = SoftEnsemble.from_memberships([[[1, 0], [0, 1]], labels])
    assert soft.matrix.tolist() == [[1, 0, 1], [0, 1, 0]] and soft.classes[1] == ("x",)


def test_the_callers_array_is_left_alone():
    block = np.array([[0.5, 0.5001], [NAN, NAN]])
    copy = block.copy()
    SoftEnsemble.from_memberships([block])
    assert np.array_equal(block, copy, equal_nan=True) and block.flags.writeable


def test_empty_rows_are_unobserved():
    soft = SoftEnsemble.from_memberships([[[NAN, NAN], [0, 0], [-0.0, 1], [0.3, 0.7]]])
    assert soft.matrix.tolist() == [[0, 0], [0, 0], [0, 1], [0.3, 0.7]] and soft.missing_share == 0.5
    assert not np.signbit(soft.matrix).any()
    masked = np.ma.masked_array([[0.5, 0.5], [1, 0]], mask=[[1, 1], [0, 0]])
    assert SoftEnsemble.from_memberships([masked]).known.tolist() == [[False], [True]]


@steady
@given(hnp.arrays("f8", (5, 3), elements=st.floats(0.01, 1)), st.floats(-0.00099, 0.00099))
def test_rows_within_the_tolerance_are_scaled(block, off):
    exact = block / block.sum(axis=1, keepdims=True)
    soft = SoftEnsemble.from_memberships([exact * (1 + off)])
    assert np.allclose(soft.matrix.sum(axis=1), 1, atol=1e-15, rtol=0) and np.allclose(soft.matrix, exact)


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ([0.5, 0.4], "sum to 0.9, not 1"),
        ([0.5, 0.5011], r"sum to 1\.0011"),
        ([1.0, 1.0], "sum to 2"),
        ([1.5, -0.5], "not all numbers >= 0"),
        ([NAN, 1.0], "not all numbers >= 0"),
        ([np.inf, 0], "not all numbers >= 0"),
        ([np.inf, -np.inf], "not all numbers >= 0"),
        ([1e308, 1e308], "sum|numbers"),
        ([1e-320, 0], "sum to"),
    ],
)
def test_bad_rows_name_place_and_value(row, words):
    with pytest.raises(LabelError, match=rf"clustering 'p', row 2: .*({words})"):
        SoftEnsemble.from_memberships({"p": [[1, 0], row, [0, 1]]})


@pytest.mark.parametrize(
    "blocks",
    [
        [],
        {},
        5,
        None,
        "ab",
        [5],
        [None],
        ["ab"],
        [[]],
        [[[]]],
        [[[1], [0.5, 0.5]]],
        [np.zeros((2, 0))],
        [np.zeros((2, 2, 2))],
        [[[1, 0], [0, 1]], [1, 2, 3]],
        [[["a", "b"], ["c", "d"]]],
        [np.array([[1j, 0], [0, 1]])],
        [[0.3, 0.7]],
        [[[1, 0], None]],
        [[{"a": 1}, {"a": 2}]],
        [{"a": 1}],
    ],
    ids=repr,
)
def test_what_holds_no_memberships(blocks):
    with pytest.raises(PartitaError) as caught:
        SoftEnsemble.from_memberships(blocks)
    assert "\n" not in str(caught.value)


def test_minus_one_must_be_declared_here_too():
    blocks = [[[1, 0], [0, 1]], [0, -1]]
    with pytest.raises(LabelError, match="-1 may be a label"):
        SoftEnsemble.from_memberships(blocks)
    assert SoftEnsemble.from_memberships(blocks, missing=-1).known.tolist() == [[True, True], [True, False]]
    assert SoftEnsemble.from_memberships(blocks, missing=()).sizes == (2, 2)


def test_lengths_must_agree():
    with pytest.raises(TableError, match=r"\[2, 3\] objects"):
        SoftEnsemble.from_memberships([[1, 2], [1, 2, 3]])


@steady
@given(hnp.arrays("f8", (6, 4), elements=st.sampled_from([0.0, 1.0, 2.0, 3.0])))
def test_hardening_takes_the_first_of_the_largest(block):
    sums = block.sum(axis=1, keepdims=True)
    soft = SoftEnsemble.from_memberships([block / np.where(sums > 0, sums, 1), ["a"] * 6])
    hard = soft.harden()
    expected = [-1 if not any(row) else row.index(max(row)) for row in block.tolist()]
    assert hard.labels[:, 0].tolist() == expected and hard.sizes == (4, 1) and hard.classes[0] == (0, 1, 2, 3)
    assert isinstance(hard, Ensemble) and not hard.labels.flags.writeable


def test_hard_to_soft_and_back():
    hard = Ensemble.from_labels(
        [["a", 1], ["b", None], ["a", 2], [None, 2]], ["p", "q"], weights=[1, 3], ids=list("wxyz")
    )
    hard = hard.with_counts([1, 2, 3, 4])
    soft = SoftEnsemble.from_hard(hard)
    assert soft.matrix.tolist() == [[1, 0, 1, 0], [0, 1, 0, 0], [1, 0, 0, 1], [0, 0, 0, 1]]
    back = soft.harden()
    for field in ("labels", "weights", "ids", "counts"):
        assert np.array_equal(getattr(back, field), getattr(hard, field))
    assert (back.sizes, back.names, back.classes) == (hard.sizes, hard.names, hard.classes)
    assert back.fingerprint == hard.fingerprint and back.labels.dtype == hard.labels.dtype


@pytest.mark.parametrize("column", [[None, None], ["NA", ""]])
def test_a_clustering_in_which_nothing_is_known(column):
    soft = SoftEnsemble.from_memberships({"a": column, "b": [1, 2]})
    assert soft.sizes == (0, 2) and soft.known.tolist() == [[False, True], [False, True]]
    assert soft.harden().labels.tolist() == [[-1, 0], [-1, 1]]
    hard = Ensemble.from_labels({"a": column, "b": [1, 2]})
    assert SoftEnsemble.from_hard(hard).harden().labels.tolist() == hard.labels.tolist()
    zeros = SoftEnsemble.from_memberships({"a": [[0, 0], [NAN, NAN]], "b": [1, 2]})
    assert zeros.harden().labels.tolist() == [[-1, 0], [-1, 1]]


@steady
@given(hnp.arrays("f8", st.tuples(st.integers(1, 12), st.just(2)), elements=st.sampled_from([0.0, 0.5, 1.0])))
def test_distinct_rows(block):
    block = np.column_stack([block[:, 0], 1 - block[:, 0]])
    soft = SoftEnsemble.from_memberships([block, block[:, ::-1]])
    first, inverse = slow_distinct(soft.matrix.tolist())
    assert soft.distinct.first.tolist() == first and soft.distinct.inverse.tolist() == inverse


def test_rows_and_counts():
    soft = noisy_soft(n=6).with_counts([1, 2, 3, 4, 5, 6])
    part = soft.rows([4, 0])
    assert np.array_equal(part.matrix, soft.matrix[[4, 0]]) and part.counts.tolist() == [5, 1] and len(part) == 2
    assert not part.matrix.flags.writeable and part.sizes == soft.sizes
    with pytest.raises(TableError, match="count"):
        soft.with_counts([1])


def test_fingerprints_tell_memberships_weights_and_counts_apart():
    soft = noisy_soft(n=6)
    twin = SoftEnsemble.from_memberships([soft.block(j) for j in range(5)], names=list("abcde"), ids=range(6))
    assert np.allclose(twin.matrix, soft.matrix, atol=1e-15)
    hard = noisy(n=12)
    assert SoftEnsemble.from_hard(hard).fingerprint != hard.fingerprint
    assert soft.with_counts([2] * 6).fingerprint != soft.fingerprint
    assert soft.rows([1, 0, 2, 3, 4, 5]).fingerprint != soft.fingerprint
    again = SoftEnsemble.from_memberships([soft.block(j) for j in range(5)], names=list("abcde"), ids=range(6))
    assert again.fingerprint == twin.fingerprint


@steady
@given(st.lists(st.one_of(st.none(), st.sampled_from(["a", "b", "c", "NA"])), min_size=1, max_size=10))
def test_hard_blocks_are_one_hot_by_first_appearance(column):
    codes, classes = slow_codes(column)
    soft = SoftEnsemble.from_memberships([column, [0] * len(column)])
    expected = [[float(code == c) for c in range(len(classes))] for code in codes]
    assert soft.block(0).tolist() == expected and soft.classes[0] == classes
