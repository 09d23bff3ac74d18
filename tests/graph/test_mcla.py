"""MCLA and sMCLA against their definitions."""

import numpy as np
import pytest

import partita
from partita import Ensemble, SoftEnsemble
from partita.graph import mcla, smcla
from partita.graph.incidence import gram
from tests.samples import noisy, noisy_labels, noisy_soft


def weighted_sample(seed=0):
    """Gaps, weights, multiplicities."""
    labels, _ = noisy_labels(n=50, r=5, k=3, noise=0.3, missing=0.2, seed=seed)
    ensemble = Ensemble.from_labels(labels, missing=-1, weights=[1, 2, 0.5, 1, 3], transpose=False)
    return ensemble.with_counts(1 + np.arange(50) % 3)


def members(ensemble):
    """For every base cluster the set of (row, copy) that are in it."""
    return [
        {(i, c) for i in range(len(ensemble)) if ensemble.labels[i, j] == label for c in range(int(ensemble.counts[i]))}
        for j, size in enumerate(ensemble.sizes)
        for label in range(size)
    ]


def test_jaccard_by_sets():
    ensemble = weighted_sample()
    found = mcla.jaccard(gram(ensemble))
    sets = members(ensemble)
    expected = [[len(a & b) / len(a | b) for b in sets] for a in sets]
    assert np.allclose(found, expected, atol=1e-12)


def test_no_edges_within_a_clustering():
    ensemble = weighted_sample()
    edges = mcla.only_between(ensemble, np.ones((15, 15)))
    assert np.array_equal(edges == 0, np.kron(np.eye(5), np.ones((3, 3))) == 1)


@pytest.mark.parametrize("seed", range(3))
def test_association_is_the_weighted_mean_of_indicators(seed):
    ensemble = weighted_sample(seed)
    result = partita.consensus(ensemble, "mcla", 3, seed=seed)
    group = [set(np.flatnonzero(table[:, label])) for table in result.model.tables for label in range(table.shape[1])]
    clusters = [(j, label) for j, size in enumerate(ensemble.sizes) for label in range(size)]
    assert all(len(found) == 1 for found in group)
    for i, row in enumerate(ensemble.labels):
        means = []
        for wanted in range(result.model.bias.size):
            mine = [(j, label) for (j, label), found in zip(clusters, group, strict=True) if wanted in found]
            weights = [ensemble.weights[j] for j, _ in mine]
            means.append(np.average([float(row[j] == label) for j, label in mine], weights=weights))
        assert result.per_object["association"][i] == pytest.approx(means[result.labels[i]])
        assert means[result.labels[i]] == pytest.approx(max(means))
        assert result.membership[i].max() == pytest.approx(max(means) / sum(means))


def test_ties_are_broken_by_the_seed():
    """Two objects torn between two clusters of equal right: some seed sends them one way, some the other."""
    table = [[0, 0]] * 5 + [[1, 1]] * 5 + [[0, 1]]
    found = {partita.consensus(table, "mcla", 2, seed=seed).labels[-1] for seed in range(20)}
    assert found == {0, 1}


def test_more_clusters_than_base_clusters():
    """There cannot be more groups than base clusters; the note says what was found."""
    table = np.array([[0, 0], [0, 1], [1, 0], [1, 1], [0, 2], [1, 2]])
    result = partita.consensus(table, "mcla", 6)
    assert result.k <= 5 and any("requested 6 clusters" in note for note in result.notes)


def distances(matrix, counts):
    columns = np.repeat(matrix, counts.astype(int), axis=0).T
    return np.array([[((a - b) ** 2).sum() for b in columns] for a in columns])


@pytest.mark.parametrize("scaled", [True, False])
def test_gaussian_by_definition(scaled):
    soft = noisy_soft(n=6, r=3).with_counts([1, 2, 1, 1, 3, 1])
    squares = distances(soft.matrix, soft.counts)
    mean = squares[np.triu_indices(len(squares), 1)].mean() if scaled else 1.0
    assert np.allclose(smcla.gaussian(gram(soft), scaled), np.exp(-squares / mean))


@pytest.mark.parametrize(
    ("sizes", "k", "within"), [((3, 3, 3), 3, False), ((3, 3, 3), 2, True), ((3, 4, 3), 3, True), ((3, 4, 3), 4, True)]
)
def test_edges_within_a_clustering_unless_every_size_is_k(monkeypatch, sizes, k, within):
    seen = []
    real = smcla.group_clusters
    monkeypatch.setattr(
        smcla,
        "group_clusters",
        lambda e, k, similarity, *rest: seen.append(similarity) or real(e, k, similarity, *rest),
    )
    rng = np.random.default_rng(2)
    partita.consensus(SoftEnsemble.from_memberships([rng.dirichlet(np.ones(size), 30) for size in sizes]), "smcla", k)
    assert bool(seen[0][0, 1]) == within


def test_literal_similarity_underflows_and_says_so():
    rng = np.random.default_rng(0)
    soft = SoftEnsemble.from_memberships([rng.dirichlet([0.2] * 3, 6000) for _ in range(4)])
    result = partita.consensus(soft, "smcla", 3, similarity="literal")
    assert any("use scaled" in note for note in result.notes)
    assert not partita.consensus(soft, "smcla", 3).notes


@pytest.mark.parametrize("k", [2, 3, 6])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("one_hot", [False, True], ids=["hard", "one-hot"])
def test_hard_input_gives_the_result_of_mcla(one_hot, seed, k):
    """Different numbers of clusters, missing labels and weights included, and however the ensemble is stored."""
    rng = np.random.default_rng(seed)
    labels = np.column_stack(
        [noisy(n=80, k=size, r=1, noise=0.4, missing=0.1, seed=seed).labels for size in range(2, 8)]
    )
    ensemble = Ensemble.from_labels(labels, missing=-1, weights=rng.uniform(0.5, 2, 6), transpose=False)
    hard = partita.consensus(ensemble, "mcla", k, seed=seed)
    soft = partita.consensus(SoftEnsemble.from_hard(ensemble) if one_hot else ensemble, "smcla", k, seed=seed)
    assert np.array_equal(soft.labels, hard.labels)
    assert np.allclose(soft.per_object["association"], hard.per_object["association"])
    assert soft.detail["cut"] == hard.detail["cut"]


@pytest.mark.parametrize("seed", range(3))
def test_clusters_of_different_sizes_group_by_overlap(seed):
    """Soft clusterings that split four clusters into uneven parts; distances not relative to size group small parts."""
    rng = np.random.default_rng(seed)
    truth = np.repeat(np.arange(4), [300, 150, 100, 50])
    blocks = []
    for parts in (1, 2, 4, 6, 8, 10):
        fine = truth * parts + rng.choice(parts, 600, p=rng.dirichlet(np.ones(parts)))
        blocks.append(0.9 * np.eye(4 * parts)[fine] + 0.1 / (4 * parts))
    soft = SoftEnsemble.from_memberships(blocks)
    ari = {
        name: partita.evaluate(partita.consensus(soft, "smcla", 4, similarity=name), truth=truth)["ari"]
        for name in ("jaccard", "scaled")
    }
    assert ari["jaccard"] == 1 and ari["scaled"] < 0.6


def test_soft_association_is_the_mean_membership():
    soft = noisy_soft()
    result = partita.consensus(soft, "smcla", 3)
    assert np.allclose(result.membership.sum(axis=1), 1)
    sums = result.per_object["association"] / result.membership.max(axis=1)
    assert (sums > 0).all() and np.allclose(
        (result.membership * sums[:, None]).max(axis=1), result.per_object["association"]
    )
