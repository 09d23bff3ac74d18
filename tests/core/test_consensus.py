"""Consensus: numbering by first appearance, the way back to the user's objects, notes."""

import copy
import dataclasses
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import partita
from partita import Consensus, Ensemble
from partita.core.consensus import by_appearance, restore
from partita.core.model import ColumnModel
from partita.core.prepare import prepare
from tests.core.oracles import steady
from tests.samples import noisy


@steady
@given(st.lists(st.integers(-1, 5), max_size=20), st.integers(0, 3))
def test_by_appearance(labels, spare):
    array = np.array(labels, dtype=np.int32)
    width = max([0, *(x + 1 for x in labels)]) + spare
    renumbered, order = by_appearance(array, width)
    seen = list(dict.fromkeys(x for x in labels if x != -1))
    assert renumbered.tolist() == [-1 if x == -1 else seen.index(x) for x in labels]
    assert order[: len(seen)].tolist() == seen
    assert sorted(order.tolist()) == list(range(width))
    assert order[len(seen) :].tolist() == sorted(set(range(width)) - set(seen))


def test_hard_and_soft():
    hard = Consensus.hard([2, 0, 2])
    assert (
        hard.labels.dtype == np.int32 and hard.k == 3 and hard.membership is None and hard.sizes.tolist() == [1, 0, 2]
    )
    soft = Consensus.soft(np.array([[0.5, 0.5], [0.2, 0.8]]), k_asked=2)
    assert soft.labels.tolist() == [0, 1] and soft.confidence is None and soft.k_asked == 2
    nothing = Consensus.hard([-1, -1])
    assert nothing.k == 0 and nothing.unknown == 2 and len(nothing) == 2 and nothing.sizes.tolist() == []
    with pytest.raises(AttributeError, match="has no model"):
        hard.predict([[1]])
    with pytest.raises(AttributeError, match="has no model"):
        hard.predict_proba([[1]])
    assert "2 clusters of 5 requested" in repr(dataclasses.replace(Consensus.hard([0, 1]), k_asked=5))


@steady
@given(
    hnp.arrays("i8", st.tuples(st.integers(2, 10), st.integers(2, 4)), elements=st.integers(-1, 2)),
    st.integers(0, 10**6),
    st.booleans(),
)
def test_restore_brings_everything_back(labels, seed, compress):
    if (labels == -1).all():
        labels[0, 0] = 0
    ensemble = Ensemble.from_labels(labels, missing=-1, transpose=False, ids=[f"o{i}" for i in range(len(labels))])
    prepared = prepare(ensemble, compress)
    rng = np.random.default_rng(seed)
    rows = len(prepared.ensemble)
    membership = rng.dirichlet(np.ones(4), rows)
    tables = tuple(rng.random((4, size)) for size in prepared.ensemble.sizes)
    model = ColumnModel(rng.random(4), tables, "share")
    soft = Consensus.soft(membership, model=model, k_asked=4, confidence=membership.max(axis=1))
    result = restore(soft, prepared, ensemble)
    empty = (labels == -1).all(axis=1)
    assert result.ids.tolist() == ensemble.ids.tolist() and result.unknown == empty.sum()
    assert np.array_equal(result.labels == -1, empty)
    known = np.flatnonzero(~empty)
    own = membership[prepared.inverse[known]]
    assert np.allclose(np.sort(result.membership[known], axis=1), np.sort(own, axis=1))
    assert np.array_equal(result.membership[known].argmax(axis=1), result.labels[known])
    assert np.allclose(result.confidence[known], own.max(axis=1))
    assert np.isnan(result.membership[empty]).all() and np.isnan(result.confidence[empty]).all()
    first = [result.labels.tolist().index(c) for c in range(result.k)]
    assert first == sorted(first)
    for i in known:
        codes = [(j, c) for j, c in enumerate(ensemble.labels[i]) if c != -1]
        score = result.model.bias + sum(result.model.tables[j][:, c] for j, c in codes)
        there = prepared.ensemble.labels[prepared.inverse[i]]
        before = model.bias + sum(table[:, c] for table, c in zip(tables, there, strict=True) if c != -1)
        assert np.allclose(np.sort(score), np.sort(before))
        # cluster c of the result is the same cluster in membership and in model
        place = {round(float(m), 12): s for m, s in zip(own[known.tolist().index(i)], before, strict=True)}
        assert np.allclose([place[round(float(m), 12)] for m in result.membership[i]], score)
    for array in (result.labels, result.membership, result.confidence):
        assert not array.flags.writeable


def test_a_cluster_without_rows_keeps_its_model():
    """A method may leave its last cluster empty: fewer than k come out, and the result says so."""
    ensemble = Ensemble.from_labels([[0, 0], [1, 1], [0, 0]])
    prepared = prepare(ensemble)
    for labels in ([0, 0], [2, 2], [1, 0]):
        model = ColumnModel(np.array([0.0, 0.0, -np.inf]), tuple(np.zeros((3, 2)) for _ in range(2)), "best")
        result = restore(Consensus.hard(labels, model=model, k_asked=3), prepared, ensemble)
        assert result.k == len(set(labels)) and len(result.model.bias) == 3
        assert any("cluster" in note and f"{result.k}" in note and "3" in note for note in result.notes)


def test_notes():
    ensemble = Ensemble.from_labels([[0, 0], [None, None], [1, 1], [None, None]])
    prepared = prepare(ensemble)
    result = restore(Consensus.hard([0, 1], notes=("said before",)), prepared, ensemble)
    assert result.notes[0] == "said before" and len(result.notes) == 2
    assert "2 objects" in result.notes[1] and "-1" in result.notes[1]
    assert restore(Consensus.hard([0, 1], k_asked=2), prepare(ensemble.rows([0, 2])), ensemble.rows([0, 2])).notes == ()


def test_results_survive_copying_and_pickling():
    """Workers and caches pickle what they hold."""
    ensemble = noisy(missing=0.1)
    result = partita.consensus(ensemble, "qmi", 3)
    for twin in (pickle.loads(pickle.dumps(result)), copy.deepcopy(result)):
        assert np.array_equal(twin.labels, result.labels) and twin.recipe == result.recipe
        assert dict(twin.scores) == dict(result.scores)
    for other in (pickle.loads(pickle.dumps(ensemble)), copy.deepcopy(ensemble)):
        assert other.fingerprint == ensemble.fingerprint


def test_results_are_frozen():
    result = partita.consensus(noisy(), "voting", 3)
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.labels = None
    for mapping in (result.scores, result.detail, result.recipe.params):
        with pytest.raises(TypeError):
            mapping["anmi"] = 5
