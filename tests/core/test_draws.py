"""Draws: sampled partitions, numbered by first appearance."""

import numpy as np
import pytest

from partita.core.draws import Draws
from partita.core.errors import TableError


def test_draws_are_numbered_by_first_appearance():
    draws = Draws.of(np.array([[9, 2, 9, -1], [5, 5, 5, -3]]), chain=[0, 1])
    assert draws.labels.tolist() == [[0, 1, 0, -1], [0, 0, 0, -1]]
    assert draws.labels.dtype == np.int8 and draws.sizes.tolist() == [2, 1] and len(draws) == 2
    assert repr(draws) == "Draws(2 partitions of 4 objects from 2 chains)"


def test_draws_hold_many_clusters_in_the_smallest_type_and_cannot_be_changed():
    draws = Draws.of(np.arange(300)[None])
    assert draws.labels.dtype == np.int16 and not draws.labels.flags.writeable


def test_draws_for_objects_repeat_rows_and_mark_unknown_ones():
    found = Draws.of([[0, 1, 1], [0, 1, 2]], chain=[3, 4]).for_objects(np.array([2, -1, 0, 2]))
    assert found.labels.tolist() == [[0, -1, 1, 0], [0, -1, 1, 0]] and found.chain.tolist() == [3, 4]


@pytest.mark.parametrize(
    ("labels", "chain", "words"),
    [
        ([[0, -1], [0, 0]], None, "object 1 has a label in some draws only"),
        ([0, 1], None, "shape"),
        (np.zeros((0, 3), int), None, "shape"),
        ([[0.5, 1.0]], None, "whole numbers"),
        ([[0, 1]], [0, 1], "one chain a draw"),
        ([[0, 1, 1], [0, 1]], None, "different lengths"),
    ],
)
def test_what_is_no_draws_is_refused(labels, chain, words):
    with pytest.raises(TableError, match=words):
        Draws.of(labels, chain)


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int32, np.uint64, ">i4"])
def test_names_of_any_size_and_kind(kind):
    rng = np.random.default_rng(0)
    table = rng.integers(100, size=(5, 40)).astype(kind)
    expected = [[list(dict.fromkeys(row.tolist())).index(value) for value in row.tolist()] for row in table]
    assert Draws.of(table).labels.tolist() == expected
    if np.dtype(kind).itemsize >= 4:
        assert Draws.of(table.astype(np.int64) * 10**15 + 7).labels.tolist() == expected
        wide = table.astype(np.int64) * 10**15
        wide[:, 3] = -(10**15)
        assert (Draws.of(wide).labels[:, 3] == -1).all() and (np.delete(Draws.of(wide).labels, 3, axis=1) >= 0).all()


def test_masked_labels_are_missing():
    assert Draws.of(np.ma.masked_array([[0, 1, 0]], [[0, 1, 0]])).labels.tolist() == [[0, -1, 0]]


def test_one_of_each_is_singular():
    assert repr(Draws.of([[0]])) == "Draws(1 partition of 1 object from 1 chain)"
