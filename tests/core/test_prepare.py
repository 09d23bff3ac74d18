"""prepare(): one table for all ways to write it down, and the way back."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import partita
from partita import Ensemble, SoftEnsemble
from partita.core import threads
from partita.core.errors import TableError
from partita.core.prepare import prepare
from tests.core.oracles import slow_distinct, steady
from tests.samples import noisy, noisy_soft

tables = hnp.arrays("i8", st.tuples(st.integers(1, 14), st.integers(1, 5)), elements=st.integers(-1, 2))
seeds = st.integers(0, 2**32 - 1)


def told_apart(rows, counts, weights, rounds=3):
    """Whether colour refinement with exact multisets, as many rounds as prepare makes, tells distinct rows apart."""
    rows = [tuple(row) for row in rows]
    colours = dict.fromkeys(rows, 0)
    for row, count in zip(rows, counts, strict=True):
        colours[row] += count
    for _ in range(rounds):
        clusters = {
            (j, x): (weights[j], tuple(sorted(repr(c) for row, c in colours.items() if row[j] == x)))
            for row in colours
            for j, x in enumerate(row)
            if x != -1
        }
        numbers = {colour: number for number, colour in enumerate(sorted(set(clusters.values())))}
        fresh = {
            row: (c, tuple(sorted(numbers[clusters[j, x]] for j, x in enumerate(row) if x != -1)))
            for row, c in colours.items()
        }
        names = {colour: number for number, colour in enumerate(sorted(set(fresh.values()), key=repr))}
        colours = {row: names[colour] for row, colour in fresh.items()}
    return len(set(colours.values())) == len(colours)


def shuffled(labels, weights, counts, rng):
    """The same table under other names, with rows and columns in another order; and the two orders."""
    rows, columns = rng.permutation(len(labels)), rng.permutation(labels.shape[1])
    moved = labels[rows][:, columns].copy()
    for j in range(moved.shape[1]):
        names = rng.permutation(100)[: max(moved[:, j].max(), 0) + 1]
        moved[:, j] = np.where(moved[:, j] == -1, -1, np.append(names, -1)[moved[:, j]])
    ensemble = Ensemble.from_labels(moved, missing=-1, transpose=False, weights=weights[columns])
    return ensemble.with_counts(counts[rows]), rows, columns


def scaled(weights):
    """The weights a method gets: the largest is 1."""
    return weights / weights.max()


@steady
@given(tables, seeds, st.booleans(), st.booleans(), st.booleans())
def test_order_and_names_do_not_matter(labels, seed, weighted, counted, compress):
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, 3, labels.shape[1]).astype(float) if weighted else np.ones(labels.shape[1])
    counts = rng.integers(1, 3, len(labels)).astype(float) if counted else np.ones(len(labels))
    used = [j for j in range(labels.shape[1]) if weights[j] > 0 and (labels[:, j] != -1).any()]
    assume(used and told_apart(labels[:, used].tolist(), counts.tolist(), weights[used].tolist()))
    assume(compress or not counted)
    ensemble = Ensemble.from_labels(labels, missing=-1, transpose=False, weights=weights).with_counts(counts)
    other, rows, columns = shuffled(labels, weights, counts, rng)
    first, second = prepare(ensemble, compress), prepare(other, compress)
    assert np.array_equal(first.ensemble.labels, second.ensemble.labels)
    assert np.array_equal(first.ensemble.weights, second.ensemble.weights)
    assert np.array_equal(first.ensemble.counts, second.ensemble.counts)
    assert first.ensemble.sizes == second.ensemble.sizes and first.ensemble.fingerprint == second.ensemble.fingerprint
    if compress:
        assert np.array_equal(first.inverse[rows], second.inverse)
    partitions = ensemble.labels.T.tolist()
    same = [partitions[j] for j in first.columns]
    if len(set(map(str, same))) == len(used):
        assert [partitions[columns[j]] for j in second.columns] == same


@steady
@given(tables, seeds, st.booleans())
def test_the_way_back(labels, seed, compress):
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, 3, labels.shape[1]).astype(float)
    used = [j for j in range(labels.shape[1]) if weights[j] > 0 and (labels[:, j] != -1).any()]
    assume(used)
    counts = rng.integers(1, 4, len(labels)).astype(float)
    ensemble = Ensemble.from_labels(
        labels, missing=-1, transpose=False, weights=weights, ids=range(len(labels))
    ).with_counts(counts)
    prepared = prepare(ensemble, compress)
    work = prepared.ensemble
    assert sorted(prepared.columns) == used and [ensemble.names[j] for j in prepared.columns] == list(work.names)
    assert work.ids is None and np.array_equal(work.weights, scaled(weights[list(prepared.columns)]))
    empty = (labels[:, used] == -1).all(axis=1)
    assert np.array_equal(prepared.inverse == -1, empty)
    for i in np.flatnonzero(~empty):
        for p, j in enumerate(prepared.columns):
            here, code = work.labels[prepared.inverse[i], p], ensemble.labels[i, j]
            assert here == (-1 if code == -1 else prepared.codes[p][code])
            assert code == -1 or work.classes[p][here] == ensemble.classes[j][code]
    first, _ = slow_distinct(labels[~empty][:, used].tolist())
    assert len(work) == (len(first) if compress else int((~empty).sum()))
    assert (work.labels != -1).any(axis=1).all()
    assert work.sizes == tuple(len(set(work.labels[:, p].tolist()) - {-1}) for p in range(len(used)))
    for row in range(len(work)):
        assert work.counts[row] == counts[prepared.inverse == row].sum()
    values = rng.random((len(work), 2))
    expanded = prepared.expand(values, np.nan)
    assert np.isnan(expanded[empty]).all() and np.array_equal(expanded[~empty], values[prepared.inverse[~empty]])
    for array in (work.labels, work.weights, work.counts):
        assert not array.flags.writeable


@steady
@given(tables, seeds)
def test_tables_come_back_under_the_users_codes(labels, seed):
    assume((labels != -1).any())
    ensemble = Ensemble.from_labels(labels, missing=-1, transpose=False)
    part = ensemble.rows(np.random.default_rng(seed).permutation(len(labels))[: max(1, len(labels) // 2)])
    assume((part.labels != -1).any())
    prepared = prepare(part)
    rng = np.random.default_rng(seed)
    small = tuple(rng.random((3, size)) for size in prepared.ensemble.sizes)
    large, seen = prepared.expand_tables(small, len(part.names)), prepared.seen(len(part.names))
    for j, table in enumerate(large):
        occurring = sorted(set(part.labels[:, j].tolist()) - {-1})
        assert seen[j].tolist() == occurring and table.shape == (3, len(occurring))
        for place, code in enumerate(occurring):
            p = prepared.columns.index(j)
            assert np.array_equal(table[:, place], small[p][:, prepared.codes[p][code]])


def test_nothing_left_is_an_error():
    for labels, weights in (([[None, None], [None, None]], None), ([[1, None], [2, None]], [0, 1])):
        with pytest.raises(TableError, match="no object has a label in a clustering that counts"):
            prepare(Ensemble.from_labels(labels, weights=weights))
    soft = SoftEnsemble.from_memberships({"a": [[0, 0], [0, 0]], "b": [None, None]})
    with pytest.raises(TableError, match="no object has a label"):
        prepare(soft)


def test_threads_and_chunks_change_nothing(monkeypatch):
    ensemble = noisy(n=300, r=6, k=5, noise=0.5, missing=0.2)
    whole = prepare(ensemble)
    monkeypatch.setattr(threads, "CHUNK", 7)
    for count in (1, 3):
        with threads.thread_limit(count):
            chunked = prepare(replace(ensemble))
        assert np.array_equal(chunked.ensemble.labels, whole.ensemble.labels)
        assert np.array_equal(chunked.inverse, whole.inverse)


def soft_table(seed, n=9, weights=(1.0, 2.0, 1.0)):
    """Random memberships with gaps and repeated rows, one hard block among them."""
    rng = np.random.default_rng(seed)
    blocks = [rng.dirichlet(np.ones(size), n) for size in (2, 3)] + [np.eye(2)[rng.integers(2, size=n)]]
    for block in blocks:
        block[rng.random(n) < 0.2] = 0
    again = rng.integers(n, size=n)
    return [block[again] for block in blocks], np.array(weights)


@steady
@given(seeds, st.booleans(), st.sampled_from([(1.0, 2.0, 1.0), (1.0, 0.0, 1.0), (0.0, 1.0, 3.0), (1.0, 1.0, 0.0)]))
def test_soft_order_does_not_matter(seed, compress, weights):
    blocks, weights = soft_table(seed, weights=weights)
    counting = [block for block, weight in zip(blocks, weights, strict=True) if weight > 0]
    assume(all(block.any() for block in counting))
    rng = np.random.default_rng(seed + 1)
    rows, columns = rng.permutation(9), rng.permutation(3)
    moved = [blocks[j][rows][:, rng.permutation(blocks[j].shape[1])] for j in columns]
    first = prepare(SoftEnsemble.from_memberships(blocks, weights=weights), compress)
    second = prepare(SoftEnsemble.from_memberships(moved, weights=weights[columns]), compress)
    assert first.ensemble.sizes == second.ensemble.sizes
    assert np.array_equal(first.ensemble.matrix, second.ensemble.matrix)
    assert np.array_equal(first.ensemble.counts, second.ensemble.counts)
    assert [columns[j] for j in second.columns] == list(first.columns)


@steady
@given(seeds, st.booleans(), st.sampled_from([(1.0, 2.0, 1.0), (1.0, 0.0, 1.0)]))
def test_the_way_back_from_soft(seed, compress, weights):
    blocks, weights = soft_table(seed, weights=weights)
    soft = SoftEnsemble.from_memberships(blocks, weights=weights).with_counts(np.arange(1, 10))
    used = [j for j in range(3) if weights[j] > 0 and blocks[j].any()]
    prepared = prepare(soft, compress)
    work = prepared.ensemble
    assert sorted(prepared.columns) == used and np.array_equal(work.weights, scaled(weights[list(prepared.columns)]))
    known = np.concatenate([blocks[j] for j in used], axis=1).any(axis=1)
    assert np.array_equal(prepared.inverse != -1, known)
    for i in np.flatnonzero(known):
        for p, j in enumerate(prepared.columns):
            here = work.block(p)[prepared.inverse[i]]
            assert np.array_equal(here[prepared.codes[p]], soft.block(j)[i])
    for row in range(len(work)):
        assert work.counts[row] == soft.counts[prepared.inverse == row].sum()
    distinct = {tuple(np.concatenate([soft.block(j)[i] for j in used])) for i in np.flatnonzero(known)}
    assert len(work) == (len(distinct) if compress else known.sum())


def test_a_soft_clustering_of_weight_0_leaves_no_trace():
    """What it says of the objects must not decide their order either."""
    soft = noisy_soft(n=20)
    blocks = [soft.block(j) for j in range(5)]
    rng = np.random.default_rng(3)
    work = [
        prepare(
            SoftEnsemble.from_memberships([*blocks, rng.dirichlet(np.ones(4), 20)], weights=[1, 1, 1, 1, 1, 0])
        ).ensemble
        for _ in range(3)
    ]
    assert np.array_equal(work[0].matrix, work[1].matrix) and np.array_equal(work[0].matrix, work[2].matrix)
    assert np.array_equal(work[0].matrix, prepare(soft).ensemble.matrix)


def test_a_hard_clustering_of_weight_0_leaves_no_trace():
    ensemble = noisy(n=30, r=5)
    wider = np.column_stack([ensemble.labels, np.arange(30) % 7])
    with_ghost = prepare(Ensemble.from_labels(wider, weights=[1, 1, 1, 1, 1, 0])).ensemble
    assert np.array_equal(with_ghost.labels, prepare(ensemble).ensemble.labels)


def test_one_hot_soft_is_hard():
    """Hard and one-hot tables have one canonical order."""
    ensemble = noisy(n=40, missing=0.2)
    hard, soft = prepare(ensemble), prepare(SoftEnsemble.from_hard(ensemble))
    assert np.array_equal(hard.inverse, soft.inverse) and hard.columns == soft.columns
    assert np.array_equal(SoftEnsemble.from_hard(hard.ensemble).matrix, soft.ensemble.matrix)
    assert all(np.array_equal(a, b) for a, b in zip(hard.codes, soft.codes, strict=True))


@pytest.mark.parametrize("method", ["lwgp", "mm", "qmi", "voting", "cspa"])
def test_only_ratios_of_weights_matter(method):
    """However large or small all of them are; their squares are beyond what a float can hold."""
    labels = noisy(n=60, r=5, k=3, noise=0.4).labels
    for weights in (np.ones(5), np.array([1.0, 2.0, 1.0, 3.0, 1.5])):
        found = [
            partita.consensus(Ensemble.from_labels(labels, weights=weights * scale), method, 3).labels.tolist()
            for scale in (1.0, 1e160, 1e-300)
        ]
        assert found[0] == found[1] == found[2] and len(set(found[0])) == 3


@pytest.mark.parametrize("scale", [1.0, 0.1, 1e300])
def test_equal_weights_are_exactly_1(scale):
    hard, soft = noisy(n=20, r=3).labels, noisy_soft(n=20)
    assert prepare(Ensemble.from_labels(hard, weights=[scale] * 3)).ensemble.weights.tolist() == [1.0] * 3
    memberships = SoftEnsemble.from_memberships([soft.block(j) for j in range(5)], weights=[scale] * 5)
    assert prepare(memberships).ensemble.weights.tolist() == [1.0] * 5


def test_many_soft_clusters_are_told_apart():
    """Some hundred clusters with keys of few bits would look alike, and the file's order would decide between them."""
    rng = np.random.default_rng(0)
    labels = rng.integers(250, size=(3000, 8))
    order = rng.permutation(len(labels))
    first, second = (prepare(SoftEnsemble.from_hard(Ensemble.from_labels(table))) for table in (labels, labels[order]))
    assert np.array_equal(first.ensemble.matrix, second.ensemble.matrix)
    assert np.array_equal(first.inverse[order], second.inverse)
