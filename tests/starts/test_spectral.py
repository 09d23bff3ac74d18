"""The transfer cut against the normalised cut of the whole graph, cluster weights against their formula."""

import math

import numpy as np
import pytest
from scipy.sparse import csr_array

from partita import Ensemble
from partita.core.counting import column_scores
from partita.core.prepare import prepare
from partita.core.rng import generator
from partita.metrics import nmi
from partita.starts import spectral
from partita.starts.lloyd import weighted_kmeans
from tests.samples import noisy, noisy_labels


def incidence(ensemble, edges):
    """(n, t) the weighted incidence of rows and clusters, written out."""
    matrix = np.zeros((len(ensemble), int(ensemble.offsets[-1])))
    for i, row in enumerate(ensemble.labels.tolist()):
        for j, label in enumerate(row):
            if label >= 0:
                matrix[i, ensemble.offsets[j] + label] = edges[ensemble.offsets[j] + label]
    return matrix


def sample(**options):
    return prepare(noisy(n=30, r=4, k=3, missing=0.2, **options)).ensemble


def test_overlaps_are_counted():
    ensemble = sample()
    plain = incidence(ensemble, np.ones(int(ensemble.offsets[-1])))
    expected = plain.T @ (ensemble.counts[:, None] * plain)
    assert np.allclose(spectral.overlaps(ensemble, ensemble.counts), expected)


def test_cluster_weights_follow_their_definition():
    """exp(-H / (theta r)) with H the sum over clusterings of the entropy of the members' known labels, in bits."""
    ensemble = sample(seed=3)
    found = spectral.cluster_weights(ensemble, 0.4)
    place = 0
    for j, size in enumerate(ensemble.sizes):
        for label in range(size):
            members = [i for i in range(len(ensemble)) if ensemble.labels[i, j] == label]
            bits = 0.0
            for m in range(len(ensemble.sizes)):
                counts = {}
                for i in members:
                    if ensemble.labels[i, m] >= 0:
                        counts[ensemble.labels[i, m]] = counts.get(ensemble.labels[i, m], 0) + ensemble.counts[i]
                total = sum(counts.values())
                bits -= sum(c / total * math.log2(c / total) for c in counts.values())
            assert found[place] == pytest.approx(math.exp(-bits / (0.4 * len(ensemble.sizes))))
            place += 1


@pytest.mark.parametrize("seed", range(4))
def test_transfer_cut_is_the_cut_of_the_whole_graph(seed):
    """The lifted vectors span the leading eigenvectors of the normalised (n + t)-vertex graph."""
    ensemble = sample(seed=seed)
    edges = np.random.default_rng(seed).random(int(ensemble.offsets[-1])) + 0.2
    rows = np.repeat(np.arange(len(ensemble)), ensemble.counts.astype(int))
    matrix = incidence(ensemble, edges)[rows]
    n, t = matrix.shape
    graph = np.zeros((n + t, n + t))
    graph[:n, n:], graph[n:, :n] = matrix, matrix.T
    degree = graph.sum(axis=1)
    normal = graph / np.sqrt(np.outer(degree, degree))
    values, vectors = np.linalg.eigh(normal)
    k = 3
    assert values[-k] - values[-k - 1] > 1e-6
    whole = (vectors[:, -k:] / np.sqrt(degree)[:, None])[:n]
    scaled = np.linalg.qr(lifted_without_lengths(ensemble, edges, k)[rows])[0]
    assert np.allclose(scaled @ scaled.T @ whole, whole, atol=1e-8)
    points = lifted_without_lengths(ensemble, edges, k)
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    assert np.allclose(np.abs((points * spectral.embed(ensemble, spectral.lifting(ensemble, edges, k))).sum(axis=1)), 1)


def lifted_without_lengths(ensemble, edges, k):
    degree = column_scores(edges[:, None], ensemble, np.zeros(1))
    graph = spectral.overlaps(ensemble, ensemble.counts / degree[:, 0]) * np.outer(edges, edges)
    scale = 1 / np.sqrt(graph.sum(axis=1))
    vectors = spectral.leading(graph * np.outer(scale, scale), k)
    return column_scores(edges[:, None] * scale[:, None] * vectors, ensemble, np.zeros(vectors.shape[1])) / degree


def test_few_of_many_eigenvectors_by_either_route(monkeypatch):
    matrix = np.random.default_rng(0).random((60, 60))
    matrix = matrix @ matrix.T
    exact = spectral.leading(matrix, 4)
    monkeypatch.setattr(spectral, "FEW_CLUSTERS", 10)
    assert np.allclose(np.abs(spectral.leading(matrix, 4).T @ exact), np.eye(4), atol=1e-8)


def test_it_finds_what_is_there():
    _, truth = noisy_labels(n=300, r=8, k=5, noise=0.3)
    work = prepare(noisy(n=300, r=8, k=5, noise=0.3))
    for theta in (0.4, None):
        found = work.expand(spectral.spectral_start(work.ensemble, 5, generator(0), theta), -1)
        assert nmi(found, truth) > 0.9


def test_kmeans_on_points_equals_weights_as_copies():
    rng = np.random.default_rng(0)
    points = np.concatenate([rng.normal(c, 0.1, (20, 2)) for c in (0, 3, 6)])
    weights = rng.integers(1, 4, 60).astype(float)
    labels = weighted_kmeans(points, weights, 3, generator(1), 3)
    assert nmi(labels, np.repeat([0, 1, 2], 20)) == pytest.approx(1)


def test_a_frequent_row_leaves_room_for_the_others():
    """Ten clusters of many rows stay ten when one row stands for a hundred million objects."""
    rng = np.random.default_rng(1)
    truth = rng.integers(10, size=9000)
    noise = rng.random((9000, 12)) < 0.3
    labels = np.unique(np.where(noise, rng.integers(10, size=noise.shape), truth[:, None]), axis=0)
    counts = np.ones(len(labels))
    counts[0] = 1e8
    ensemble = Ensemble.from_labels(labels).with_counts(counts)
    assert len(np.unique(spectral.spectral_start(ensemble, 10, np.random.default_rng(0)))) == 10


@pytest.mark.parametrize("most_dense", [2000, 50])
def test_vectors_of_a_graph_in_parts(monkeypatch, most_dense):
    """Ten parts, ten times the eigenvalue 1: none of its vectors is missed, nor those that come next."""
    monkeypatch.setattr(spectral, "MOST_DENSE", most_dense)
    rng, size = np.random.default_rng(4), 30
    graph = np.zeros((10 * size, 10 * size))
    for part in range(10):
        weights = rng.uniform(size=(size, size))
        graph[part::10, part::10] = weights + weights.T
    scale = 1 / np.sqrt(graph.sum(axis=1))
    matrix = graph * np.outer(scale, scale)
    expected = np.linalg.eigvalsh(matrix)[::-1][:14]
    for vectors in (spectral.leading(matrix, 14), spectral.of_parts(csr_array(matrix), 14, spectral._nearly_largest)):
        assert np.allclose(vectors.T @ vectors, np.eye(14), atol=1e-6)
        assert np.allclose(np.diagonal(vectors.T @ matrix @ vectors), expected, atol=1e-6)
    assert np.allclose(expected[:10], 1) and expected[10] < 0.9
