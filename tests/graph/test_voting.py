"""Voting against brute force: all permutations tried, votes counted one by one."""

import dataclasses
import itertools

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.metrics import normalized_mutual_info_score

import partita
from partita import Ensemble
from partita.core.checks import ALL
from partita.core.errors import ParameterError
from partita.core.prepare import prepare
from partita.graph import base, voting
from partita.graph.voting import merge_to, tables_against
from partita.metrics import anmi, from_dense, nmi_of
from tests.core.oracles import steady
from tests.samples import noisy, noisy_labels, same_partition

seeds = st.integers(0, 2**32 - 1)


def table(seed, n=18, sizes=(3, 3, 2, 4), missing=0.15, noise=0.35):
    """Noisy copies of one clustering, with gaps, weights and uneven counts (so that ties are rare)."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, n)
    columns = []
    for size in sizes:
        names = rng.permutation(size)
        columns.append(np.where(rng.random(n) < noise, rng.integers(0, size, n), names[truth % size]))
    labels = np.stack(columns, axis=1)
    labels[rng.random(labels.shape) < missing] = -1
    ensemble = Ensemble.from_labels(labels, missing=-1, weights=rng.integers(1, 100, len(sizes)) / 10)
    return ensemble.with_counts(rng.integers(1, 30, n))


def slow_anmi(ensemble, labels):
    """Each clustering's NMI with the labels, objects written out, by weight and number of objects."""
    total = weight = 0.0
    for j, w in enumerate(ensemble.weights):
        column = ensemble.labels[:, j]
        known = (column >= 0) & (labels >= 0)
        times = ensemble.counts[known].astype(int)
        if times.sum() == 0:
            continue
        a, b = np.repeat(column[known], times), np.repeat(labels[known], times)
        total += w * times.sum() * normalized_mutual_info_score(a, b, average_method="geometric")
        weight += w * times.sum()
    return total / weight


def slow_linkage(ensemble, column, k):
    """Average linkage over objects: merge the two clusters whose members most often share a label, until k are left."""
    groups = [[label] for label in range(ensemble.sizes[column])]

    def chance(a, b):
        total = 0.0
        for j, w in enumerate(ensemble.weights):
            hits = pairs = 0.0
            for x in np.flatnonzero(np.isin(ensemble.labels[:, column], a)):
                for y in np.flatnonzero(np.isin(ensemble.labels[:, column], b)):
                    if min(ensemble.labels[x, j], ensemble.labels[y, j]) >= 0:
                        weight = ensemble.counts[x] * ensemble.counts[y]
                        pairs += weight
                        hits += weight * (ensemble.labels[x, j] == ensemble.labels[y, j])
            total += w * hits / pairs if pairs else 0.0
        return total

    while len(groups) > k:
        found = sorted(((chance(a, b), a, b) for a, b in itertools.combinations(groups, 2)), reverse=True)
        if len(found) > 1 and found[0][0] - found[1][0] < 1e-9:
            return None
        _, a, b = found[0]
        groups = [group for group in groups if group not in (a, b)] + [a + b]
    return {label: number for number, group in enumerate(groups) for label in group}


def slow_partners(overlap, unmatched):
    """For each label its reference cluster (None: no vote) by trying every one-to-one match; None when not unique."""
    k, size = overlap.shape
    wide = np.zeros((max(k, size), max(k, size)))
    wide[:k, :size] = overlap
    best, maps = -1.0, set()
    for order in itertools.permutations(range(len(wide))):
        value = sum(wide[order[label], label] for label in range(len(wide)))
        match = tuple(
            order[label] if order[label] < k and overlap[order[label], label] > 0 else None for label in range(size)
        )
        if value > best + 1e-9:
            best, maps = value, {match}
        elif value > best - 1e-9:
            maps.add(match)
    if len(maps) > 1:
        return None
    match = list(maps.pop())
    for label in range(size):
        if match[label] is None and unmatched == "nearest" and overlap[:, label].any():
            ordered = np.sort(overlap[:, label])
            if k > 1 and ordered[-1] == ordered[-2]:
                return None
            match[label] = int(overlap[:, label].argmax())
    return match


def slow_voting(ensemble, k, unmatched):
    """(reference, its ANMI, labels, votes), or None where a tie leaves room for more than one answer."""
    r = len(ensemble.names)
    wanted = min(k, max(ensemble.sizes))
    candidates = []
    for j in range(r):
        if ensemble.sizes[j] < wanted:
            continue
        own = ensemble.labels[:, j].astype(int)
        if ensemble.sizes[j] > wanted:
            groups = slow_linkage(ensemble, j, wanted)
            if groups is None:
                return None
            own = np.array([-1 if x == -1 else groups[x] for x in own])
        candidates.append((slow_anmi(ensemble, own), j, own))
    candidates.sort(key=lambda candidate: -candidate[0])
    if len(candidates) > 1 and candidates[0][0] - candidates[1][0] < 1e-9:
        return None
    anmi, reference, own = candidates[0]
    clusters = own.max() + 1
    votes = np.zeros((len(ensemble), clusters))
    for j in range(r):
        column = ensemble.labels[:, j]
        overlap = np.zeros((clusters, ensemble.sizes[j]))
        for i, count in enumerate(ensemble.counts):
            if own[i] >= 0 and column[i] >= 0:
                overlap[own[i], column[i]] += count
        partners = slow_partners(overlap, unmatched)
        if partners is None:
            return None
        for i, label in enumerate(column):
            if label >= 0 and partners[label] is not None:
                votes[i, partners[label]] += ensemble.weights[j]
    strength = ensemble.counts @ votes
    labels = []
    for i, row in enumerate(votes):
        top = [c for c in range(clusters) if row[c] >= row.max() - 1e-9]
        labels.append(own[i] if own[i] in top else max(top, key=lambda c: strength[c]))
    return ensemble.names[reference], anmi, np.array(labels), votes


@pytest.mark.parametrize("unmatched", ["nearest", "abstain"])
@pytest.mark.parametrize("k", [2, 3, 4])
def test_voting_is_voting(k, unmatched):
    checked = []

    @steady
    @given(seeds)
    def holds(seed):
        ensemble = table(seed)
        ensemble = ensemble.rows((ensemble.labels >= 0).any(axis=1))
        assume(min(len(set(c.tolist()) - {-1}) for c in ensemble.labels.T) == min(ensemble.sizes))
        expected = slow_voting(ensemble, k, unmatched)
        assume(expected is not None)
        name, anmi, labels, votes = expected
        result = partita.consensus(ensemble, "voting", k, unmatched=unmatched)
        assert result.detail["reference"] == name
        assert result.detail["reference anmi"] == pytest.approx(anmi, abs=1e-9)
        assert same_partition(result.labels, labels)
        voted = votes.sum(axis=1) > 0
        shares = votes[voted] / votes[voted].sum(axis=1, keepdims=True)
        own = shares[np.arange(voted.sum()), labels[voted]]
        assert np.allclose(result.membership[voted].max(axis=1), own)
        assert np.allclose(np.sort(result.membership[voted], axis=1), np.sort(shares, axis=1))
        assert result.scores["anmi"] == pytest.approx(slow_anmi(ensemble, labels), abs=1e-9)
        checked.append(seed)

    holds()
    assert len(checked) >= 20


@steady
@given(seeds, st.integers(1, 4))
def test_merging_is_average_linkage(seed, k):
    ensemble = table(seed, sizes=(5, 3, 4), n=20)
    assume(ensemble.sizes[0] >= k)
    expected = slow_linkage(ensemble, 0, k)
    assume(expected is not None)
    tables = tables_against(ensemble, ensemble.labels[:, 0].astype(np.int32), ensemble.sizes[0])
    groups = merge_to(tables, ensemble.weights, k)
    assert same_partition(groups, [expected[label] for label in range(ensemble.sizes[0])])
    assert set(groups.tolist()) == set(range(k))


def test_tables_against_plain_counting():
    ensemble = table(3)
    labels = np.array([i % 3 - (i % 7 == 0) for i in range(len(ensemble))], np.int32)
    for j, found in enumerate(tables_against(ensemble, labels, 3)):
        for c in range(3):
            for x in range(ensemble.sizes[j]):
                hits = (labels == c) & (ensemble.labels[:, j] == x)
                assert found[c, x] == ensemble.counts[hits].sum()


def test_more_clusters_than_any_clustering_has():
    labels, truth = noisy_labels(n=60, k=3, noise=0.1)
    result = partita.consensus(labels, "voting", 6)
    assert result.k == 3 and result.k_asked == 6 and same_partition(result.labels, truth)
    assert any("cluster" in note and "3" in note and "6" in note for note in result.notes)


def test_one_cluster():
    result = partita.consensus(noisy(missing=0.2), "voting", 1)
    assert result.k == 1 and set(result.labels.tolist()) == {0} and np.allclose(result.membership, 1)


def test_a_tied_object_keeps_the_label_of_the_reference():
    """Column a agrees with both others except on the last object, where the votes are split two to two."""
    base = [0] * 8 + [1] * 8
    a, b, c, d = ([*base, x] for x in (0, 0, 1, 1))
    b[0], c[1], d[2], c[10], d[9] = 1, 1, 1, 0, 0
    table_ = np.column_stack([a, b, c, d])
    result = partita.consensus(table_, "voting", 2)
    assert result.detail["reference"] == "c0"
    assert result.labels[-1] == result.labels[3] and result.membership[-1].max() == pytest.approx(0.5)


def test_a_tied_object_unknown_to_the_reference_goes_to_the_larger_cluster():
    base = [0] * 5 + [1] * 9
    for first, second in ((0, 1), (1, 0)):
        rows = np.column_stack([[*base, -1], [*base, first], [*base, second]])
        rows[0, 1] = 1
        rows[1, 2] = 1
        result = partita.consensus(Ensemble.from_labels(rows, missing=-1), "voting", 2)
        assert result.detail["reference"] == "c0"
        assert result.labels[-1] == result.labels[10] and result.membership[-1].max() == pytest.approx(0.5)


def test_weights_decide():
    rows = np.array([[0, 1, 1], [0, 0, 0], [0, 0, 0], [1, 1, 1], [1, 1, 1]])
    light = partita.consensus(Ensemble.from_labels(rows), "voting", 2)
    heavy = partita.consensus(Ensemble.from_labels(rows, weights=[5, 1, 1]), "voting", 2)
    assert light.labels.tolist() == [0, 1, 1, 0, 0] and heavy.labels.tolist() == [0, 0, 0, 1, 1]
    assert heavy.membership[0].max() == pytest.approx(5 / 7) and light.membership[0].max() == pytest.approx(2 / 3)


def test_labels_without_a_partner():
    """The third label of the second clustering has no partner: it votes for the cluster it shares most with, or not."""
    a = [0] * 6 + [1] * 6 + [None]
    b = [0] * 4 + [2] * 2 + [1] * 6 + [2]
    ensemble = Ensemble.from_labels({"a": a, "b": b, "c": a}).with_counts([1.0] * 12 + [1])
    nearest = partita.consensus(ensemble, "voting")
    assert nearest.detail["reference"] == "a" and nearest.labels[-1] == nearest.labels[0]
    assert np.allclose(nearest.membership.max(axis=1), 1)
    abstain = partita.consensus(ensemble, "voting", unmatched="abstain")
    assert np.allclose(abstain.membership[:12].max(axis=1), 1) and same_partition(
        abstain.labels[:12], np.arange(12) // 6
    )
    assert abstain.labels[-1] >= 0


def test_an_object_without_votes_is_not_called_certain():
    """The only label of the last object abstains: its share must not be that of a unanimous vote."""
    a = [0] * 5 + [1] * 7 + [None]
    b = [0] * 3 + [2] * 2 + [1] * 7 + [2]
    result = partita.consensus({"a": a, "b": b, "c": a}, "voting", unmatched="abstain")
    assert result.membership[-1].max() < 1


def test_new_objects_go_where_old_ones_went():
    """Also where labels abstain."""
    a = [0] * 5 + [1] * 7 + [None]
    b = [0] * 3 + [2] * 2 + [1] * 7 + [2]
    table_ = {"a": a, "b": b, "c": a}
    for unmatched in ("nearest", "abstain"):
        result = partita.consensus(table_, "voting", unmatched=unmatched)
        assert result.predict(table_).tolist() == result.labels.tolist()
        assert np.allclose(result.predict_proba(table_), result.membership)


def test_a_clustering_of_one_cluster_among_others():
    labels, truth = noisy_labels(n=60, k=3, noise=0.1)
    wider = np.column_stack([labels, np.zeros(60, int)])
    result = partita.consensus(wider, "voting", 3)
    assert same_partition(result.labels, truth)


def one_at_a_time(ensemble, k):
    """The reference, from one contingency table per candidate and clustering: its ANMI is compared bit for bit."""
    wanted, candidates = voting.eligible(ensemble, k)
    best = None
    for j in candidates:
        tables = tables_against(ensemble, ensemble.labels[:, j].astype(np.int32), ensemble.sizes[j])
        groups = np.arange(ensemble.sizes[j])
        if wanted is not None and ensemble.sizes[j] > wanted:
            groups = merge_to(tables, ensemble.weights, wanted)
            tables = [np.stack([table[groups == g].sum(axis=0) for g in range(wanted)]) for table in tables]
        totals = ensemble.weights * np.array([table.sum() for table in tables])
        scores = [total * nmi_of(from_dense(table)) for total, table in zip(totals, tables, strict=True) if total > 0]
        anmi = float(np.sum(scores) / totals.sum())
        best = (j, groups, anmi) if best is None or anmi > best[2] else best
    return best


@given(seeds, st.integers(2, 4), st.booleans())
@settings(max_examples=60)
def test_reference_is_unchanged_if_equal_clusterings_are_computed_once(seed, k, missing):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 9))
    base = rng.integers(-1 if missing else 0, 4, size=(n, 5))
    base[:4] = rng.permutation(4)[:, None]  # four labels in every clustering
    columns = [np.append(rng.permutation(4), -1)[base[:, j]] for j in rng.integers(5, size=12)]
    options = {"missing": -1, "weights": rng.integers(1, 9, 12), "transpose": False, "allow": ALL}
    ensemble = prepare(Ensemble.from_labels(np.column_stack(columns), **options)).ensemble
    column, groups, anmi = one_at_a_time(ensemble, k)
    found = voting.choose_reference(ensemble, k)
    assert (found.column, found.groups.tolist(), found.anmi) == (column, groups.tolist(), anmi)


def test_equal_clusterings_are_candidates_once(monkeypatch):
    rng = np.random.default_rng(0)
    labels = np.column_stack(
        [(column + rng.integers(3)) % 3 for column in rng.integers(3, size=(5, 60)).repeat(20, axis=0)]
    )
    ensemble = prepare(Ensemble.from_labels(labels, transpose=False, allow=ALL)).ensemble
    seen = []
    computed = voting.joint_nmi
    monkeypatch.setattr(voting, "joint_nmi", lambda joint: seen.append(len(joint.sizes)) or computed(joint))
    voting.choose_reference(ensemble, 3)
    assert seen == [5] * 5
    seen.clear()
    monkeypatch.setattr(base, "nmi_and_objects", lambda part, found: seen.append(len(part.names)) or (np.ones(5),) * 2)
    bases = list(base.base_clusterings(ensemble))
    assert seen == [5] * 5 and [found.column for found in bases] == list(range(100))


@given(seeds, st.sampled_from([None, 2, 3]))
@settings(max_examples=40)
def test_base_clusterings_are_unchanged_if_equal_ones_are_computed_once(seed, k):
    ensemble = prepare(table(seed)).ensemble
    places = [0, 1, 0, 2, 3, 3, 1, 0]
    repeated = dataclasses.replace(ensemble.columns(places), names=tuple(map(str, places)))
    for found in base.base_clusterings(repeated, k):
        assert found.anmi == anmi(repeated, found.labels)
        labels = repeated.labels[:, found.column].astype(np.int32)
        if k is None:
            assert found.labels.tolist() == base.complete(repeated, labels).tolist()
        else:
            together = labels[:, None] == labels
            known = (labels >= 0)[:, None] & (labels >= 0)
            assert (found.labels[:, None] == found.labels)[together & known].all()


def test_a_reference_by_name():
    """The same votes as if the named clustering had the highest ANMI; unknown names get a suggestion."""
    labels, _ = noisy_labels(n=60, r=5, k=4, noise=0.4, missing=0.1)
    ensemble = Ensemble.from_labels(labels, [f"run {j}" for j in range(5)], missing=-1)
    best = partita.consensus(ensemble, "voting", 4)
    for name in ensemble.names:
        result = partita.consensus(ensemble, "voting", 4, reference=name)
        assert result.detail["reference"] == name
        assert np.array_equal(result.labels, best.labels) or name != best.detail["reference"]
        expected = anmi(ensemble, ensemble.labels[:, ensemble.names.index(name)].astype(int))
        assert result.detail["reference anmi"] == pytest.approx(expected, abs=1e-12)
    with pytest.raises(ParameterError, match=r"reference='run 9' is not a clustering; did you mean 'run .'\? expected"):
        partita.consensus(ensemble, "voting", 4, reference="run 9")


def test_a_reference_with_other_numbers_of_clusters():
    labels, _ = noisy_labels(n=60, r=4, k=4)
    ensemble = Ensemble.from_labels(np.column_stack([labels, labels[:, 0] // 2]), [*"abcd", "coarse"])
    assert partita.consensus(ensemble, "voting", 4, reference="coarse").k == 2
    assert partita.consensus(ensemble, "voting", 3, reference="a").k == 3


@given(seeds, st.integers(2, 4))
@settings(max_examples=25, deadline=None)
def test_each_clustering_as_reference(seed, k):
    """The best of the consensus clusterings with every clustering that has enough clusters as the reference."""
    ensemble = table(seed, missing=0.1)
    result = partita.consensus(ensemble, "voting", k, reference="each")
    scores = {}
    for name, size in zip(ensemble.names, ensemble.sizes, strict=True):
        if size >= min(k, max(ensemble.sizes)):
            scores[name] = anmi(ensemble, partita.consensus(ensemble, "voting", k, reference=name).labels)
    assert result.scores["anmi"] == pytest.approx(max(scores.values()), abs=1e-12)
    for name, score in result.detail["anmi by reference"].items():
        assert score == pytest.approx(scores[name], abs=1e-12)
    assert result.detail["reference"] in result.detail["anmi by reference"]
    assert result.scores["anmi"] >= partita.consensus(ensemble, "voting", k).scores["anmi"] - 1e-12
