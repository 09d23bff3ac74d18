"""Confidence against the formula, written out object by object."""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import partita
from partita import Ensemble, SoftEnsemble, registry
from partita.core import confidence as core
from partita.core.consensus import placed
from partita.metrics import confidence, ensemble_tables, item_consensus, scoring
from partita.metrics.confidence import label_counts
from tests.samples import SHORT_CHAINS, noisy, noisy_soft


def slow_confidence(ensemble, labels):
    """(G_i(g)^2 / sum_h G_i(h))^(1/3) with G_i(h) = exp(mean_j log(P_h[j, y_ij] + .01)), in plain Python."""
    soft = ensemble if isinstance(ensemble, SoftEnsemble) else SoftEnsemble.from_hard(ensemble)
    labels = [int(label) for label in labels]
    blocks = [soft.block(j).tolist() for j in range(len(soft.names))]
    known, counts, weights = soft.known.tolist(), soft.counts.tolist(), soft.weights.tolist()
    clusters = sorted(
        {
            h
            for h, row in zip(labels, known, strict=True)
            if h >= 0 and any(there and weight for there, weight in zip(row, weights, strict=True))
        }
    )
    return [slow_of(i, labels, clusters, blocks, known, counts, weights) for i in range(len(labels))]


def slow_of(i, labels, clusters, blocks, known, counts, weights):
    if labels[i] < 0:
        return math.nan
    terms = dict.fromkeys(clusters, 0.0)
    total, accompanied = 0.0, False
    for j, weight in enumerate(weights):
        if not known[i][j] or weight == 0:
            continue
        total += weight
        for h in clusters:
            # the objects of cluster h that j knows, without one copy of object i itself
            members = [a for a in range(len(labels)) if labels[a] == h and known[a][j]]
            others = {a: counts[a] - (a == i) for a in members}
            objects = sum(others.values())
            accompanied |= h == labels[i] and objects > 0
            for label, share in enumerate(blocks[j][i]):
                if share > 0:
                    have = sum(count * blocks[j][a][label] for a, count in others.items())
                    terms[h] += weight * share * math.log((have / objects if objects > 0 else 0.0) + 0.01)
    if not accompanied:
        return math.nan
    g = {h: math.exp(term / total) for h, term in terms.items()}
    return min(1.0, (g[labels[i]] ** 2 / sum(g.values())) ** (1 / 3))


@st.composite
def cases(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, r, k = draw(st.integers(1, 25)), draw(st.integers(1, 5)), draw(st.integers(1, 6))
    labels = rng.integers(-1 if draw(st.booleans()) else 0, k, size=n)
    counts = rng.integers(1, 5, size=n) if draw(st.booleans()) else None
    weights = rng.choice([0.0, 0.5, 1.0, 3.0], size=r) if draw(st.booleans()) else np.ones(r)
    weights[0] = weights[0] or 1.0
    hide = rng.random((n, r)) < draw(st.sampled_from([0.0, 0.3, 0.8]))
    if draw(st.booleans()):
        table = rng.integers(draw(st.integers(1, 5)), size=(n, r))
        table[hide] = -1
        ensemble = Ensemble.from_labels(table, missing=-1, transpose=False)
    else:
        blocks = [rng.dirichlet(np.full(3, 0.4), size=n) for _ in range(r)]
        for j, block in enumerate(blocks):
            block[hide[:, j]] = np.nan
        ensemble = SoftEnsemble.from_memberships(blocks)
    ensemble = dataclasses.replace(ensemble, weights=weights)
    return ensemble if counts is None else ensemble.with_counts(counts), labels


@settings(max_examples=150, deadline=None)
@given(cases())
def test_it_is_the_formula(case):
    ensemble, labels = case
    np.testing.assert_allclose(confidence(ensemble, labels), slow_confidence(ensemble, labels), rtol=0, atol=1e-12)


@settings(max_examples=80, deadline=None)
@given(cases())
def test_it_is_the_formula_with_many_clusters(case):
    """The sparse table, which is used when most of its cells are empty."""
    ensemble, labels = case
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(core, "MAX_DENSE", 0)
        np.testing.assert_allclose(confidence(ensemble, labels), slow_confidence(ensemble, labels), rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", registry.METHODS)
def test_every_method_has_the_same_confidence(name):
    method = registry.get(name)
    tables = [noisy(missing=0.15 if method.handles_missing else 0.0)]
    tables += [noisy_soft()] if method.takes is not Ensemble else []
    for table in tables:
        weighted = dataclasses.replace(table, weights=np.linspace(0.5, 2, len(table.names)))
        for polish in (False, True):
            result = partita.consensus(weighted, name, 3, polish=polish, **SHORT_CHAINS.get(name, {}))
            expected = slow_confidence(weighted, result.labels)
            np.testing.assert_allclose(result.confidence, expected, rtol=0, atol=1e-12)
            undefined = np.isnan(result.confidence).sum()
            assert undefined == 0 or any(f"for {undefined} object" in note for note in result.notes)


@pytest.mark.parametrize("name", ["mm", "hbgf", "voting"])
def test_every_command_gives_the_same_numbers(name):
    ensemble = noisy(missing=0.1)
    result = partita.consensus(ensemble, name, 4)
    found = partita.diagnose(ensemble, result)
    np.testing.assert_allclose(found.confidence, result.confidence, rtol=0, atol=1e-12)
    table = [[None if c < 0 else c for c in row] for row in ensemble.labels.tolist()]
    estimator = partita.ConsensusClustering(name, 4).fit(np.array(table, float))
    np.testing.assert_allclose(estimator.confidence_, result.confidence, rtol=0, atol=1e-12)
    np.testing.assert_allclose(confidence(ensemble, result), result.confidence, rtol=0, atol=1e-12)


def test_unique_rows_with_multiplicities_have_the_values_of_the_full_table():
    ensemble = noisy(n=300, r=4, k=3, noise=0.2)
    labels = partita.consensus(ensemble, "mm", 3).labels
    first, inverse = ensemble.distinct
    unique = ensemble.rows(first).with_counts(np.bincount(inverse))
    np.testing.assert_allclose(
        confidence(unique, labels[first])[inverse], confidence(ensemble, labels), rtol=0, atol=1e-12
    )


def test_clusters_that_do_not_occur_and_other_names_change_nothing():
    ensemble = noisy(n=60)
    labels = partita.consensus(ensemble, "mm", 3).labels
    expected = confidence(ensemble, labels)
    np.testing.assert_allclose(confidence(ensemble, 5 * labels + 2), expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(confidence(ensemble, [f"cluster {c}" for c in labels]), expected, rtol=0, atol=1e-12)


def test_thousands_of_clusters():
    rng = np.random.default_rng(0)
    ensemble = Ensemble.from_labels(rng.integers(300, size=(400, 3)))
    labels = rng.integers(300, size=400)
    np.testing.assert_allclose(confidence(ensemble, labels), slow_confidence(ensemble, labels), rtol=0, atol=1e-12)


def test_an_object_alone_or_without_company_has_none():
    ensemble = Ensemble.from_labels([[0, None], [0, None], [None, 1], [1, 1]])
    found = confidence(ensemble, [0, 1, 1, 2])
    assert np.isnan(found).all()  # alone, never labeled together, never labeled together, alone
    assert not np.isnan(item_consensus(ensemble, [0, 0, 1, 1]).own[:2]).any()


def test_confidence_is_at_most_one():
    ensemble = Ensemble.from_labels(np.zeros((5, 3), int))
    assert confidence(ensemble, np.zeros(5, int)).tolist() == [1.0] * 5


@settings(max_examples=60, deadline=None)
@given(cases())
def test_new_objects_have_the_confidence_of_the_training_counts(case):
    """The same formula, in which no object is excluded: as if the object were one more, equal row."""
    ensemble, labels = case
    if not (labels >= 0).any():
        return
    n = len(ensemble)
    found = label_counts(ensemble, ensemble_tables(ensemble, labels), labels.astype(np.int32))
    new = found.confidence(ensemble, labels.astype(np.int32), counted=False)
    for i in range(n):
        more = ensemble.rows(np.append(np.arange(n), i)).with_counts(np.append(ensemble.counts, 1.0))
        expected = slow_confidence(more, np.append(labels, labels[i]))[-1]
        np.testing.assert_allclose(new[i], expected, rtol=0, atol=1e-12)


def test_a_table_that_is_too_large_is_not_stored(monkeypatch):
    monkeypatch.setattr(scoring, "MAX_CELLS", 10)
    without, own = partita.consensus(noisy(), "hbgf", 4), partita.consensus(noisy(), "mm", 4)
    assert without.model is None and any("new objects cannot be predicted" in note for note in without.notes)
    assert not own.model.counts and any("predicted labels have no confidence" in note for note in own.notes)
    assert placed(own.model, noisy()).confidence is None
    assert np.isfinite(without.confidence).all() and np.isfinite(own.confidence).all()
