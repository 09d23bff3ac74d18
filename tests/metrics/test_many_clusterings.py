"""Tables with many clusterings: equal clusterings are computed once, with the numbers of one pair at a time."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import partita.metrics as pm
from partita.core.ensemble import Ensemble
from partita.core.soft import SoftEnsemble
from partita.core.unique_clusterings import unique_clusterings
from partita.metrics import ensemble as ensemble_module
from partita.metrics.information import joint_nmi, nmi_of
from partita.metrics.joint import column_span, hard_joint
from partita.metrics.pairs import ari_of

ANY = ("id-like-column", "transposed", "more-columns-than-rows", "all-missing-column", "constant-column")


@st.composite
def repeated_clusterings(draw):
    """A table in which columns repeat under other label names, with gaps, weights and multiplicities."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, r, k = draw(st.integers(1, 40)), draw(st.integers(1, 9)), draw(st.integers(1, 12))
    base = rng.integers(-1 if draw(st.booleans()) else 0, k, size=(n, r))
    base[0] = np.maximum(base[0], 0)
    columns = []
    for j in rng.integers(r, size=draw(st.integers(1, 14))):
        names = np.append(rng.permutation(k), -1)
        columns.append(names[base[:, j]])
    weights = rng.choice([0.0, 0.5, 1.0, 2.0], len(columns))
    weights[rng.integers(len(columns))] = 1.0
    labels = np.column_stack(columns)
    ensemble = Ensemble.from_labels(labels, weights=weights, missing=-1, allow=ANY, transpose=False)
    # rows() keeps the codes of the whole table: equal clusterings may then have other codes
    ensemble = ensemble.rows(rng.integers(n, size=n)) if draw(st.booleans()) else ensemble
    return ensemble.with_counts(rng.integers(1, 4, n)) if draw(st.booleans()) else ensemble


def relations(column):
    """Which objects are known, and which two are together: equal exactly for equal clusterings."""
    known = column >= 0
    return known.tolist(), ((column[:, None] == column) & known[:, None] & known).tolist()


def slow_pairwise(ensemble, measure):
    """One contingency table per pair j <= l of the user's clusterings."""
    r = len(ensemble.names)
    expected = np.empty((r, r))
    for j in range(r):
        for m in range(j, r):
            table = pm.contingency(ensemble.labels[:, j], ensemble.labels[:, m], ensemble.counts)
            expected[j, m] = expected[m, j] = measure(table)
    return expected


@given(repeated_clusterings())
def test_unique_clusterings_are_the_different_partitions(ensemble):
    found = unique_clusterings(ensemble)
    kinds = [(relations(column), size) for column, size in zip(ensemble.labels.T, ensemble.sizes, strict=True)]
    assert found.inverse.tolist() == [list(map(kinds.__getitem__, found.first)).index(kind) for kind in kinds]
    assert found.first.tolist() == [j for j, kind in enumerate(kinds) if kind not in kinds[:j]]
    assert found.ensemble.labels.tolist() == ensemble.labels[:, found.first].tolist()


@given(repeated_clusterings(), st.booleans())
@settings(max_examples=60)
def test_pairwise_measures_equal_one_table_per_pair(ensemble, in_blocks):
    with pytest.MonkeyPatch.context() as patch:
        if in_blocks:
            patch.setattr(ensemble_module, "BLOCK_CELLS", 30)
        nmi, ari = pm.pairwise_nmi(ensemble), pm.pairwise_ari(ensemble)
    np.testing.assert_allclose(nmi, slow_pairwise(ensemble, nmi_of), rtol=0, atol=1e-12)
    np.testing.assert_allclose(ari, slow_pairwise(ensemble, ari_of), rtol=0, atol=1e-12)


@given(repeated_clusterings())
def test_joint_nmi_has_the_bits_of_single_tables(ensemble):
    for j in range(len(ensemble.names)):
        joint = hard_joint(ensemble, column_span(ensemble, j))
        nmi, objects = joint_nmi(joint)
        tables = joint.tables()
        assert np.array_equal(nmi, [nmi_of(table) for table in tables], equal_nan=True)
        assert objects.tolist() == [table.total for table in tables]


@pytest.mark.parametrize("k", [3, 14, 40, 85])
def test_joint_nmi_has_the_bits_of_single_tables_with_many_cells(k):
    rng = np.random.default_rng(k)
    planted = rng.integers(k, size=2000)
    labels = np.where(rng.random((2000, 4)) < 0.5, rng.integers(k, size=(2000, 4)), planted[:, None])
    joint = hard_joint(
        Ensemble.from_labels(np.tile(labels, 5), allow=ANY), column_span(Ensemble.from_labels(labels), 0)
    )
    assert joint_nmi(joint)[0].tolist() == [nmi_of(table) for table in joint.tables()]


def test_pairwise_measures_count_unique_clusterings_only(monkeypatch):
    rng = np.random.default_rng(0)
    base = rng.integers(3, size=(30, 4))
    labels = np.column_stack([(base[:, j % 4] + j) % 3 for j in range(40)])
    ensemble = Ensemble.from_labels(labels, allow=ANY, transpose=False)
    spans, tables = [], []

    def counting(part, span, first):
        joint = hard_joint(part, span, first)
        spans.append(first)
        tables.append(len(joint.sizes))
        return joint

    monkeypatch.setattr(ensemble_module, "hard_joint", counting)
    found = pm.pairwise_nmi(ensemble)
    assert len(spans) == 4 and sum(tables) == 16
    assert np.array_equal(found[:4, :4], found[36:, 36:]) and found.shape == (40, 40)
    assert spans == [0, 0, 0, 0]
    pm.pairwise_nmi(ensemble.columns([0, 1, 2, 3]))
    assert sorted(tables[4:]) == [1, 2, 3, 4]


def test_equal_soft_clusterings_are_compared_once(monkeypatch):
    rng = np.random.default_rng(0)
    blocks = [rng.dirichlet(np.ones(k), 50) for k in (3, 4)]
    order = rng.permutation(4)
    soft = SoftEnsemble.from_memberships(
        [*blocks, blocks[1][:, order], blocks[0], np.eye(3)[blocks[0].argmax(axis=1)]], weights=range(5)
    )
    unique = unique_clusterings(soft)
    assert (unique.first.tolist(), unique.inverse.tolist()) == ([0, 1, 4], [0, 1, 1, 0, 2])
    given_blocks = [soft.block(j) for j in range(5)]
    expected = [[nmi_of(pm.from_dense(a.T @ b)) for b in given_blocks] for a in given_blocks]
    np.testing.assert_allclose(pm.clustering_agreement(soft).matrix, expected, atol=1e-12)
