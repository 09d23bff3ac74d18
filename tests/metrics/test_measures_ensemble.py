"""Measures of an ensemble against dictionaries over objects and clusterings."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import partita.metrics as pm
from partita.core.ensemble import Ensemble
from partita.core.errors import LabelError, ParameterError
from partita.core.soft import SoftEnsemble
from partita.core.threads import thread_limit
from partita.datasets.examples import seven_objects
from partita.metrics import joint as joint_module


@st.composite
def ensembles(draw):
    n, r = draw(st.integers(1, 15)), draw(st.integers(1, 4))
    cell = st.integers(-1, draw(st.integers(0, 3)))
    table = draw(st.lists(st.lists(cell, min_size=r, max_size=r), min_size=n, max_size=n))
    weights = draw(st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0]), min_size=r, max_size=r).filter(any))
    ensemble = Ensemble.from_labels(table, weights=weights, missing=-1, transpose=False)
    labels = np.array(draw(st.lists(st.integers(-1, 3), min_size=n, max_size=n)))
    counts = draw(st.lists(st.integers(1, 3), min_size=n, max_size=n))
    return (ensemble.with_counts(counts) if draw(st.booleans()) else ensemble), labels


def repeated(ensemble, labels):
    """The same without multiplicities, each row as often as it counts."""
    times = ensemble.counts.astype(int)
    return ensemble.labels.repeat(times, axis=0), labels.repeat(times)


def slow_nmi(joint):
    joint = np.asarray(joint, float)
    joint = joint[joint.sum(axis=1) > 0][:, joint.sum(axis=0) > 0]
    if not joint.size:
        return math.nan
    p = joint / joint.sum()
    if 1 in p.shape:
        return float(p.shape == (1, 1))
    rows, cols = p.sum(axis=1), p.sum(axis=0)
    information = sum(
        p[a, b] * math.log(p[a, b] / rows[a] / cols[b]) for a in range(len(rows)) for b in range(len(cols)) if p[a, b]
    )
    entropies = [-sum(x * math.log(x) for x in sums) for sums in (rows, cols)]
    return max(information, 0.0) / math.sqrt(entropies[0] * entropies[1])


def slow_soft_anmi(shares, blocks, counts, weights):
    """By the definition, one object at a time."""
    above, below = 0.0, 0.0
    for block, weight in zip(blocks, weights, strict=True):
        joint, size = np.zeros((shares.shape[1], block.shape[1])), 0.0
        for share, row, count in zip(shares, block, counts, strict=True):
            if share.sum() > 0 and row.sum() > 0:
                joint += count * np.outer(share, row)
                size += count
        if size and weight:
            above += weight * size * slow_nmi(joint)
            below += weight * size
    return above / below if below else math.nan


def one_hot(labels, size):
    return np.array([[float(label == code) for code in range(size)] for label in labels]).reshape(len(labels), size)


@given(ensembles())
def test_anmi_and_column_nmi(case):
    ensemble, labels = case
    table, long = repeated(ensemble, labels)
    scores, sizes = [], []
    for column in table.T:
        both = (column != -1) & (long != -1)
        scores.append(pm.nmi(long[both], column[both]) if both.any() else math.nan)
        sizes.append(both.sum())
    np.testing.assert_allclose(pm.column_nmi(ensemble, labels), scores, atol=1e-12)
    mass = ensemble.weights * sizes
    expected = np.nansum(mass * np.array(scores)) / mass.sum() if mass.any() else math.nan
    assert pm.anmi(ensemble, labels) == pytest.approx(expected, abs=1e-12, nan_ok=True)
    blocks = [one_hot(column, size) for column, size in zip(ensemble.labels.T, ensemble.sizes, strict=True)]
    slow = slow_soft_anmi(one_hot(labels, 4), blocks, ensemble.counts, ensemble.weights)
    assert pm.anmi(ensemble, labels) == pytest.approx(slow, abs=1e-9, nan_ok=True)


@given(ensembles())
def test_soft_ensembles_of_hard_columns_agree(case):
    ensemble, labels = case
    soft = SoftEnsemble.from_hard(ensemble)
    expected = pm.anmi(ensemble, labels)
    assert pm.anmi(soft, labels) == pytest.approx(expected, abs=1e-9, nan_ok=True)
    assert pm.anmi(ensemble, one_hot(labels, 4)) == pytest.approx(expected, abs=1e-9, nan_ok=True)
    assert pm.anmi(soft, one_hot(labels, 4)) == pytest.approx(expected, abs=1e-9, nan_ok=True)
    confidence = pm.confidence(ensemble, labels)
    np.testing.assert_allclose(pm.confidence(soft, labels), confidence, atol=1e-12)


def soft_case(seed, n=30):
    rng = np.random.default_rng(seed)
    blocks = [rng.dirichlet(np.full(size, 0.4), n) for size in (3, 2, 5)]
    for block in blocks:
        block[rng.random(n) < 0.2] = 0.0
    shares = rng.dirichlet(np.ones(4), n)
    shares[rng.random(n) < 0.2] = np.nan
    counts = rng.integers(1, 4, n)
    soft = SoftEnsemble.from_memberships(blocks, weights=[1, 0.5, 2]).with_counts(counts)
    return soft, blocks, shares, counts, rng


@pytest.mark.parametrize("seed", range(5))
def test_soft_anmi(seed):
    soft, blocks, shares, counts, rng = soft_case(seed)
    expected = slow_soft_anmi(np.nan_to_num(shares), blocks, counts, soft.weights)
    assert pm.anmi(soft, shares) == pytest.approx(expected, abs=1e-12)
    labels = rng.integers(-1, 4, len(soft))
    expected = slow_soft_anmi(one_hot(labels, 4), blocks, counts, soft.weights)
    assert pm.anmi(soft, labels) == pytest.approx(expected, abs=1e-12)
    hard = soft.harden()
    blocks = [one_hot(column, size) for column, size in zip(hard.labels.T, hard.sizes, strict=True)]
    expected = slow_soft_anmi(np.nan_to_num(shares), blocks, counts, soft.weights)
    assert pm.anmi(hard, shares) == pytest.approx(expected, abs=1e-12)
    assert pm.anmi(hard, shares.tolist()) == pytest.approx(expected, abs=1e-12)


@given(ensembles())
def test_pairwise_agreement(case):
    ensemble, labels = case
    table, _ = repeated(ensemble, labels)
    nmi, ari = pm.pairwise_nmi(ensemble), pm.pairwise_ari(ensemble)
    for j, first in enumerate(table.T):
        for other, second in enumerate(table.T):
            both = (first != -1) & (second != -1)
            expected = pm.nmi(first[both], second[both]), pm.ari(first[both], second[both])
            assert (nmi[j, other], ari[j, other]) == pytest.approx(expected, abs=1e-12, nan_ok=True)
    np.testing.assert_array_equal(nmi, nmi.T)


@given(case=ensembles())
@settings(max_examples=60)
def test_tables_too_large_to_lay_out(case):
    ensemble, labels = case
    expected = pm.anmi(ensemble, labels), pm.pairwise_ari(ensemble), pm.confidence(ensemble, labels)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(joint_module, "DENSE_CELLS", 1)
        assert pm.anmi(ensemble, labels) == pytest.approx(expected[0], abs=1e-12, nan_ok=True)
        np.testing.assert_allclose(pm.pairwise_ari(ensemble), expected[1], atol=1e-12)
        np.testing.assert_allclose(pm.confidence(ensemble, labels), expected[2], atol=1e-12)
        assert len(pm.ensemble_tables(ensemble, labels)) == len(ensemble.names)


def test_codes_keep_their_rows_and_columns():
    ensemble = Ensemble.from_labels([[0, 0], [1, 0], [2, None]])
    first, second = pm.ensemble_tables(ensemble, np.array([2, -1, 0]))
    assert first.dense().tolist() == [[0, 0, 1], [0, 0, 0], [1, 0, 0]]
    assert second.dense().tolist() == [[0], [0], [1]]
    assert first.counts.dtype == np.int64
    named = pm.ensemble_tables(ensemble, [10**12, -5, 7])
    assert [table.dense().tolist() for table in named] == [[[0, 1, 0], [0, 0, 1], [1, 0, 0]], [[1], [0], [1]]]


def test_labels_of_any_kind_against_an_ensemble():
    ensemble = seven_objects()
    labels = ["x", "x", "x", "y", "y", None, "z"]
    assert pm.anmi(ensemble, labels) == pytest.approx(pm.anmi(ensemble, [0, 0, 0, 1, 1, -1, 2]))
    assert pm.anmi(ensemble, [0, 0, 0, 10**15, 10**15, -1, -7]) == pytest.approx(pm.anmi(ensemble, labels))


def canonical_partitions(n, k):
    """Every partition of n objects into exactly k clusters, numbered by first appearance."""

    def extend(prefix, used):
        if len(prefix) == n:
            if used == k:
                yield prefix
            return
        for label in range(min(used + 1, k)):
            yield from extend([*prefix, label], max(used, label + 1))

    return list(extend([], 0))


def test_the_seven_objects_of_strehl_and_ghosh():
    ensemble = seven_objects()
    partitions = canonical_partitions(7, 3)
    assert len(partitions) == 301
    ranked = sorted(((pm.anmi(ensemble, labels), labels) for labels in partitions), reverse=True)
    assert ranked[0][1] == [0, 0, 0, 1, 1, 2, 2]
    assert round(ranked[0][0], 5) == 0.71782
    assert round(ranked[1][0], 5) == 0.71589
    equal_weights = [np.nanmean(pm.column_nmi(ensemble, labels)) for labels in partitions]
    assert partitions[int(np.argmax(equal_weights))] == [0, 0, 0, 1, 2, 2, 2]


def test_threads_do_not_matter():
    rng = np.random.default_rng(11)
    n = 300_000
    table = rng.integers(-1, 6, (n, 5))
    ensemble = Ensemble.from_labels(table, missing=-1).with_counts(rng.random(n) + 0.1)
    soft = SoftEnsemble.from_hard(ensemble.rows(np.arange(100_000)))
    labels, shares = rng.integers(-1, 4, n), rng.dirichlet(np.ones(3), 100_000)
    found = []
    for threads in (1, 2):
        with thread_limit(threads):
            parts = [pm.column_nmi(ensemble, labels), pm.confidence(ensemble, labels)]
            parts += [pm.column_nmi(soft, shares), pm.column_nmi(soft, labels[:100_000]), pm.pairwise_nmi(ensemble)]
            parts += [
                pm.column_nmi(ensemble.rows(np.arange(100_000)), shares),
                pm.confidence(soft, labels[:100_000]),
            ]
            found.append(b"".join(part.tobytes() for part in parts))
    assert found[0] == found[1]


def test_nothing_known_is_nan():
    ensemble = Ensemble.from_labels([[0, None], [1, None]], weights=[0, 1])
    assert math.isnan(pm.anmi(ensemble, [0, 1]))
    assert np.isnan(pm.column_nmi(ensemble, [0, 1])).tolist() == [False, True]
    assert np.isnan(pm.confidence(ensemble, [0, 1])).all()
    assert np.isnan(pm.pairwise_nmi(ensemble)).tolist() == [[False, True], [True, True]]


def test_bad_input_is_named():
    ensemble = seven_objects()
    with pytest.raises(ParameterError, match="labels has 2 objects and the ensemble 7"):
        pm.anmi(ensemble, [0, 1])
    with pytest.raises(ParameterError, match="labels has 2 objects and the ensemble 7"):
        pm.anmi(ensemble, np.full((2, 2), 0.5))
    with pytest.raises(LabelError, match="'labels', row 1: memberships sum to 2"):
        pm.anmi(ensemble, np.ones((7, 2)))
    with pytest.raises(ParameterError, match="labels are memberships"):
        pm.confidence(ensemble, np.full((7, 2), 0.5))
