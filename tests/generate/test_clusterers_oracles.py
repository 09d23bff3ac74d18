"""The base clusterers against slow, obvious versions of what they compute."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import eigh
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn.cluster import AgglomerativeClustering
from sklearn.mixture import GaussianMixture

from partita.core import memory
from partita.core.errors import MethodError
from partita.generate.clusterers import agglomerative, get, gmm, graph, hypergraph, kmeans, som, uspec
from partita.generate.clusterers.nearest import BLOCK, nearest_centres, nearest_few
from partita.generate.clusterers.similarity import correlated, directed, jaccard
from partita.metrics import nmi


def rng(seed=0):
    return np.random.default_rng(seed)


def loss(X, labels):
    """The sum of squared distances from cluster means."""
    return sum(((X[labels == c] - X[labels == c].mean(axis=0)) ** 2).sum() for c in set(labels))


def same_partition(a, b):
    return nmi(a, b) > 1 - 1e-12


@pytest.mark.parametrize("shift", [0.0, 1e7])
def test_nearest_centres_and_the_nearest_few(shift):
    """Over several blocks, also far from the origin, where |x|² - 2xᵀc + |c|² alone would lose the distance."""
    points, centres = rng(1).normal(size=(2 * BLOCK + 7, 3)) + shift, rng(2).normal(size=(11, 3)) + shift
    table = cdist(points, centres, "sqeuclidean")
    chosen, distance = nearest_centres(points, centres)
    assert_array_equal(chosen, table.argmin(axis=1))
    assert_allclose(distance, table.min(axis=1), atol=1e-7)
    few, squares = nearest_few(points, centres, 4)
    assert_array_equal(few, np.argsort(table, axis=1)[:, :4])
    assert_allclose(squares, np.sort(table, axis=1)[:, :4], atol=1e-7)


def test_equal_distances_go_to_the_first():
    points, centres = np.zeros((3, 2)), np.array([[1.0, 0], [0, 1], [-1, 0], [0, -1]])
    assert_array_equal(nearest_centres(points, centres)[0], 0)
    assert_array_equal(nearest_few(points, centres, 3)[0], [[0, 1, 2]] * 3)


@pytest.mark.parametrize("init", ["k-means++", "random"])
def test_kmeans_reaches_the_best_division_of_eight_points(init):
    for seed in range(2):
        X = rng(seed).normal(size=(8, 2))
        best = min(loss(X, np.array([0, *labels])) for labels in itertools.product(range(3), repeat=7))
        found = kmeans.fit(X, 3, kmeans.Params(n_init=30, init=init), rng(seed))
        assert loss(X, found.labels) == pytest.approx(best)


def test_kmeans_ends_where_every_row_is_nearest_its_own_mean():
    X = rng(3).normal(size=(300, 4))
    labels = kmeans.fit(X, 6, kmeans.Params(max_iter=1000), rng(0)).labels
    means = np.array([X[labels == c].mean(axis=0) for c in range(6)])
    assert (cdist(X, means).argmin(axis=1) == labels).mean() > 0.97


def test_iterations_lower_the_loss():
    X = rng(4).normal(size=(400, 5))
    losses = [loss(X, kmeans.fit(X, 8, kmeans.Params(init="random", max_iter=m), rng(1)).labels) for m in (1, 3, 30)]
    assert losses[0] > losses[1] > losses[2]


def test_cosine_ignores_lengths_and_correlation_ignores_levels():
    X = rng(5).normal(size=(60, 6))
    lengths, levels = rng(6).uniform(0.1, 9, size=(60, 1)), rng(7).normal(size=(60, 1))
    for name, changed in (("cosine", X * lengths), ("correlation", X * lengths + levels)):
        for family in ("kmeans", "graph"):
            clusterer = get(f"{family}-{name}")
            labels = [clusterer.fit(data, 4, clusterer.Params(), rng(8)).labels for data in (X, changed)]
            assert_array_equal(*labels)


def test_spherical_kmeans_is_kmeans_on_rows_of_length_one():
    """On well-separated unit vectors the two objectives have the same best division."""
    middle = directed(rng(9).normal(size=(4, 5)))
    X = directed(middle[np.arange(80) % 4] + 0.05 * rng(10).normal(size=(80, 5)))
    plain = kmeans.fit(X, 4, kmeans.Params(n_init=10), rng(0)).labels
    cosine = get("kmeans-cosine").fit(X, 4, kmeans.Params(n_init=10), rng(0)).labels
    assert same_partition(plain, cosine)


def test_rows_by_direction_and_correlation():
    X = rng(11).normal(size=(7, 5))
    assert_allclose(directed(X) @ directed(X).T, X @ X.T / np.outer(*[np.linalg.norm(X, axis=1)] * 2))
    assert_allclose(correlated(X) @ correlated(X).T, np.corrcoef(X), atol=1e-12)
    assert_array_equal(correlated(np.full((2, 3), 0.1)), 0)
    assert_array_equal(directed(np.zeros((2, 3))), 0)


def test_extended_jaccard_by_definition():
    X, Y = rng(12).normal(size=(6, 4)), rng(13).normal(size=(3, 4))
    expected = [[x @ y / (x @ x + y @ y - x @ y) for y in Y] for x in X]
    assert_allclose(jaccard(X, Y), expected)
    binary = rng(14).integers(0, 2, size=(5, 9)).astype(float)
    binary[0] = 0
    for x, y in itertools.product(binary, repeat=2):
        either = np.count_nonzero((x + y) > 0)
        share = np.count_nonzero(x * y) / either if either else 1.0  # two empty sets are alike
        assert_allclose(jaccard(x[None], y[None])[0, 0], share)


def test_jaccard_kmeans_gives_each_row_its_most_similar_centre():
    X = rng(15).poisson(0.7, size=(50, 8)).astype(float)
    found = get("kmeans-jaccard").fit(X, 3, kmeans.Params(), rng(0))
    _, centres = found.place.args
    assert_array_equal(found.labels, jaccard(X, centres).argmax(axis=1))


@pytest.mark.parametrize("kind", ["diag", "full"])
def test_mixture_against_scikit_learn(kind):
    """From the same start, to the same end: memberships and mean log-likelihood."""
    X = np.vstack([rng(16).normal(size=(60, 3)), rng(17).normal(2, 0.6, size=(50, 3))])
    params = gmm.Params(covariance=kind, tol=0, max_iter=200)
    found = gmm.fit(X, 2, params, rng(0))
    theirs = GaussianMixture(2, covariance_type=kind, tol=1e-12, reg_covar=1e-6 * X.var(axis=0).mean(), max_iter=500)
    theirs.set_params(n_init=5, random_state=0).fit(X)
    shares = theirs.predict_proba(X)
    order = [0, 1] if same_order(shares, found.membership) else [1, 0]
    assert_allclose(found.membership, shares[:, order], atol=1e-4)
    assert gmm.expected(found.place.args[0], X)[1].mean() == pytest.approx(theirs.score(X), abs=1e-6)


def same_order(a, b):
    return np.abs(a - b).sum() < np.abs(a[:, ::-1] - b).sum()


def test_mixture_likelihood_rises():
    X = rng(18).normal(size=(80, 3))
    start = np.eye(4)[rng(19).integers(0, 4, size=80)]
    state, before = gmm.maximised(X, start, 1e-9, full=True), -np.inf
    for _ in range(15):
        resp, now = gmm.expected(state, X)
        assert now.mean() >= before - 1e-9
        before, state = now.mean(), gmm.maximised(X, resp, 1e-9, full=True)


@pytest.mark.parametrize("linkage", ["average", "ward", "complete", "single"])
def test_agglomerative_against_scikit_learn(linkage):
    X = rng(20).normal(size=(60, 3))
    for k in (1, 2, 7, 60):
        found = agglomerative.fit(X, k, agglomerative.Params(linkage=linkage), rng(0)).labels
        assert len(set(found)) == k
        assert same_partition(found, AgglomerativeClustering(k, linkage=linkage).fit_predict(X))


def test_agglomerative_refuses_what_does_not_fit(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 10**6)
    with pytest.raises(MethodError, match=r"agglomerative on 1000 objects may need .* take another base clusterer"):
        agglomerative.fit(np.zeros((1000, 2)), 2, agglomerative.Params(), rng(0))


def test_map_grid():
    """Six units lie two by three, seven on a line, and any number on a line when asked."""
    assert_allclose(np.sort(som.squared_steps(6, 2)[0]), [0, 1, 1, 2, 4, 5])
    line = (np.arange(7) - np.arange(7)[:, None]) ** 2
    assert_allclose(som.squared_steps(7, 2), line)
    assert_allclose(som.squared_steps(6, 1), line[:6, :6])


def test_map_moves_units_to_weighted_means():
    X, units, near = rng(21).normal(size=(40, 2)), rng(22).normal(size=(4, 2)), rng(23).uniform(size=(4, 4))
    best = cdist(X, units).argmin(axis=1)
    expected = [np.average(X, axis=0, weights=near[u, best]) for u in range(4)]
    assert_allclose(som.moved(X, units, near), expected)


def test_map_fits_better_with_training_and_keeps_order():
    X = rng(24).uniform(size=(500, 1))
    errors = []
    for epochs in (1, 5, 40):
        found = som.fit(X, 8, som.Params(dimensions=1, epochs=epochs), rng(0))
        units = found.place.args[0]
        errors.append(nearest_centres(X, units)[1].mean())
    assert errors[0] > errors[1] > errors[2]
    assert abs(np.sign(np.diff(units[:, 0])).sum()) == 7  # neighbours on the line are neighbours in the data


def test_graph_weights_by_definition():
    """All pairs of few objects, under each similarity."""
    X = rng(25).normal(size=(9, 4))
    squares = cdist(X, X, "sqeuclidean")
    unit = directed(X)
    expected = {
        graph.CLUSTERER: np.exp(-squares / (squares.sum() / 72)),
        graph.COSINE: np.maximum(unit @ unit.T, 0),
        graph.CORRELATION: (1 + np.corrcoef(X)) / 2,
        graph.JACCARD: np.maximum(jaccard(X, X), 0),
    }
    for clusterer, table in expected.items():
        likeness = clusterer.fit.keywords["likeness"]
        found = graph.similarity_graph(likeness.rows(X), 8, likeness, rng(0)).toarray()
        np.fill_diagonal(table, 0)
        assert_allclose(found, table, atol=1e-12)


def test_graph_of_nearest_neighbours(monkeypatch):
    """An edge where either end has the other among its three nearest, however many blocks there are."""
    monkeypatch.setattr(graph, "BLOCK", 7)
    X = rng(26).normal(size=(30, 2))
    likeness = graph.CLUSTERER.fit.keywords["likeness"]
    found = graph.similarity_graph(X, 3, likeness, rng(0)).toarray()
    ranks = cdist(X, X).argsort(axis=1).argsort(axis=1)
    near = (ranks >= 1) & (ranks <= 3)
    assert_array_equal(found > 0, near | near.T)
    assert_allclose(found, found.T)
    monkeypatch.setattr(graph, "CANDIDATES", 12)
    sampled = graph.similarity_graph(X, 3, likeness, rng(0)).toarray()
    assert (np.count_nonzero(sampled, axis=1) >= 3).all()
    assert not np.diagonal(sampled).any()


def test_graph_blocks_are_balanced():
    X = np.vstack([rng(27).normal(size=(30, 2)), rng(28).normal(9, 1, size=(70, 2))])
    sizes = np.bincount(graph.CLUSTERER.fit(X, 2, graph.Params(), rng(0)).labels)
    assert sizes.max() <= 52  # 1.05 times the mean, rounded down
    loose = np.bincount(graph.CLUSTERER.fit(X, 2, graph.Params(imbalance=0.5), rng(0)).labels)
    assert loose.max() == 70


def test_hyperedges_of_ranges_and_of_words():
    X = np.column_stack([np.arange(8.0), [5, 5, 5, 5, 5, 5, 1, 9.0]])
    found = hypergraph.ranges(X, 4).toarray()
    assert_array_equal(found.sum(axis=1), 2)
    first, second = found[:, :4], found[:, 4:]
    assert_array_equal(first.sum(axis=0), [1, 2, 2, 3])  # quantiles of eight values, the edge in the upper range
    for value in (1, 5, 9):
        assert len(np.unique(second[X[:, 1] == value], axis=0)) == 1
    counts = rng(29).poisson(0.3, size=(40, 20)).astype(float)
    assert hypergraph.looks_like_counts(counts)
    assert not hypergraph.looks_like_counts(-counts)
    assert not hypergraph.looks_like_counts(X)


def test_words_gather_their_documents():
    """Two vocabularies that no document mixes."""
    truth = np.arange(40) % 2
    words = np.where((np.arange(60) % 2)[None] == truth[:, None], rng(30).poisson(0.6, size=(40, 60)), 0)
    assert same_partition(truth, hypergraph.fit(words.astype(float), 2, hypergraph.Params(), rng(0)).labels)


def dense_cut(B, count):
    """The leading generalised eigenvectors of the whole bipartite graph, all its vertices: rows, then columns."""
    n, p = B.shape
    W = np.zeros((n + p, n + p))
    W[:n, n:], W[n:, :n] = B, B.T
    return eigh(W, np.diag(W.sum(axis=1)))[1][:, ::-1][:, :count]


def test_transfer_cut_against_the_whole_graph():
    """Solutions on the landmarks, carried over to the objects, span those of the (n + p) x (n + p) problem."""
    B = rng(31).uniform(size=(40, 9)) * (rng(32).uniform(size=(40, 9)) < 0.5)
    B[:, 0] += 0.1
    small = uspec.transfer_cut(csr_array(B), 4)
    carried = (B / B.sum(axis=1, keepdims=True)) @ small
    whole = dense_cut(B, 4)
    for ours, theirs in zip(np.vstack([carried, small]).T, whole.T, strict=True):
        for part in (slice(40), slice(40, None)):  # the objects' and the landmarks' scales differ by the eigenvalue
            cosine = ours[part] @ theirs[part] / np.linalg.norm(ours[part]) / np.linalg.norm(theirs[part])
            assert abs(cosine) == pytest.approx(1)


def test_columns_without_edges_are_left_out():
    B = csr_array(np.array([[1.0, 0, 0], [2, 0, 0], [1, 0, 3]]))
    found = uspec.transfer_cut(B, 3)
    assert found.shape == (3, 2)
    assert_array_equal(found[1], 0)
    assert np.isfinite(found).all()


def test_landmark_graph_against_a_dense_computation():
    """Weights exp(-d² / 2 sigma²) to the three nearest landmarks, sigma the mean of those distances."""
    X = rng(33).normal(size=(70, 3))
    found = uspec.fit(X, 4, uspec.Params(landmarks=12, neighbours=3), rng(0))
    model, centres = found.place.args
    distances = cdist(X, model.landmarks)
    nearest = np.sort(distances, axis=1)[:, :3]
    assert model.sigma == pytest.approx(nearest.mean())
    B = np.where(distances <= nearest[:, -1:], np.exp(-(distances**2) / (2 * nearest.mean() ** 2)), 0)
    edges = uspec.Edges(*nearest_few(X, model.landmarks, 3))
    ours = np.zeros_like(B)
    np.put_along_axis(ours, edges.near, edges.weights(model.sigma), axis=1)
    assert_allclose(ours, B, atol=1e-12)
    carried = directed((B / B.sum(axis=1, keepdims=True)) @ model.vectors)
    assert_array_equal(found.labels, cdist(carried, centres).argmin(axis=1))
    assert_allclose(uspec.transfer_cut(csr_array(B), 4), model.vectors, atol=1e-9)


def test_landmarks_are_means_of_candidates_and_cover_them():
    X = rng(34).normal(size=(2000, 2))
    made = uspec.choose_landmarks(X, uspec.Params(landmarks=30), rng(0))
    drawn = uspec.choose_landmarks(X, uspec.Params(landmarks=30, candidates=1), rng(0))
    assert made.shape == drawn.shape == (30, 2)
    assert (cdist(drawn, X).min(axis=1) < 1e-12).all()
    assert nearest_centres(X, made)[1].mean() < 0.7 * nearest_centres(X, drawn)[1].mean()
    few = uspec.choose_landmarks(X[:20], uspec.Params(landmarks=30), rng(0))
    assert_allclose(np.sort(few, axis=0), np.sort(X[:20], axis=0))


def rings(seed, n=400):
    angle, truth = rng(seed).uniform(0, 2 * np.pi, n), np.arange(n) % 2
    noise = 0.1 * rng(seed + 1).normal(size=(n, 2))
    return np.column_stack([np.cos(angle), np.sin(angle)]) * (1 + 3 * truth)[:, None] + noise, truth


def test_uspec_finds_and_places_what_kmeans_cannot():
    X, truth = rings(35)
    new, true = rings(37)
    found = uspec.fit(X, 2, uspec.Params(landmarks=200), rng(0))
    assert nmi(truth, found.labels) > 0.99
    assert nmi(true, found.place(new)) > 0.99
    assert nmi(truth, kmeans.fit(X, 2, kmeans.Params(), rng(0)).labels) < 0.5


def test_objects_far_from_every_landmark_are_placed():
    X, _ = rings(39, 100)
    place = uspec.fit(X, 2, uspec.Params(), rng(0)).place
    assert set(place(1e6 * X)) <= {0, 1}
