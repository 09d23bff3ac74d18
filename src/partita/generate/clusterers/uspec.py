"""U-SPEC: spectral clustering through landmarks (Huang, Wang, Wu, Lai and Kwoh 2020).

Landmarks are the k-means centres of random candidates. Each object is joined to its few nearest landmarks, and the
normalised cut of that bipartite graph is found on the landmarks alone (transfer cut). The nearest landmarks are found
exactly, block by block with compiled selection, not by the paper's coarse-to-fine search.
"""

from dataclasses import dataclass
from functools import partial
from typing import Literal, NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.sparse import csr_array

from partita.core.params import setting
from partita.core.types import FloatArray, IntArray
from partita.generate.base import Clusterer, Fitted
from partita.generate.clusterers import kmeans
from partita.generate.clusterers.nearest import nearest_centres, nearest_few
from partita.generate.clusterers.similarity import directed
from partita.starts.spectral import leading

FEWEST, MOST = 20, 1000
"""Landmarks where none are asked for: were all objects of a small table landmarks, outliers would be clusters."""
LANDMARK_STEPS = 10
"""Iterations of the k-means that makes landmarks of candidates."""
LEAST_WEIGHT = 1e-16
"""The weight of an edge too long for its own, so that no object is without edges."""


@dataclass(frozen=True, slots=True)
class Params:
    """Settings of U-SPEC."""

    landmarks: int | None = setting(
        None, f"most landmarks; left out, a quarter of the objects, {FEWEST} to {MOST} of them", low=1
    )
    candidates: int = setting(10, "random objects for each landmark, from which k-means makes it; 1: no k-means", low=1)
    neighbours: int = setting(5, "nearest landmarks to which each object is joined", low=1)
    n_init: int = setting(1, "how many k-means starts are compared on the embedded objects", low=1)
    init: Literal["k-means++", "random"] = setting("k-means++", "first centres of that k-means: far apart, or any")
    max_iter: int = setting(100, "most iterations of that k-means", low=1)


class Edges(NamedTuple):
    """Objects and their nearest landmarks."""

    near: IntArray
    """(n, neighbours) landmarks, nearest first."""
    squares: FloatArray
    """(n, neighbours) squared distances."""

    def weights(self, sigma: float) -> FloatArray:
        """(n, neighbours) exp(-d² / 2 sigma²)."""
        return np.asarray(np.maximum(np.exp(-self.squares / (2 * sigma**2)), LEAST_WEIGHT))

    def shares(self, sigma: float) -> FloatArray:
        """The same divided by their sum in each row, also where all of them are too small for a number."""
        relative = np.exp((self.squares[:, :1] - self.squares) / (2 * sigma**2))
        return np.asarray(relative / relative.sum(axis=1, keepdims=True))


class Model(NamedTuple):
    """What places an object."""

    landmarks: FloatArray
    """(p, d)"""
    neighbours: int
    sigma: float
    vectors: FloatArray
    """(p, dimensions) the landmarks in the space of the leading eigenvectors."""

    def points(self, edges: Edges) -> FloatArray:
        """(n, dimensions) objects in that space, each of length 1."""
        return directed(_graph(edges.near, edges.shares(self.sigma), len(self.landmarks)) @ self.vectors)


def fit(X: FloatArray, k: int, params: Params, rng: Generator) -> Fitted:
    """Landmarks, edges, transfer cut, and k-means on the objects carried over."""
    landmarks = choose_landmarks(X, params, rng)
    neighbours = min(params.neighbours, len(landmarks))
    edges = Edges(*nearest_few(X, landmarks, neighbours))
    sigma = float(np.sqrt(edges.squares).mean()) or 1.0
    vectors = transfer_cut(_graph(edges.near, edges.weights(sigma), len(landmarks)), k)
    model = Model(landmarks, neighbours, sigma, vectors)
    points = model.points(edges)
    settings = kmeans.Params(n_init=params.n_init, init=params.init, max_iter=params.max_iter)
    centres = kmeans.best_centres(points, k, settings, rng)
    return Fitted(nearest_centres(points, centres)[0], place=partial(_place, model, centres))


def _place(model: Model, centres: FloatArray, X: FloatArray) -> IntArray:
    edges = Edges(*nearest_few(X, model.landmarks, model.neighbours))
    return nearest_centres(model.points(edges), centres)[0]


def _graph(near: IntArray, weights: FloatArray, landmarks: int) -> csr_array:
    starts = np.arange(0, near.size + 1, near.shape[1])
    return csr_array((weights.ravel(), near.ravel(), starts), (len(near), landmarks))


def choose_landmarks(X: FloatArray, params: Params, rng: Generator) -> FloatArray:
    """(p, d) the centres of a short k-means among random objects; all objects where they are no more than p."""
    count = min(params.landmarks or max(FEWEST, min(MOST, len(X) // 4)), len(X))
    drawn = X[rng.choice(len(X), min(params.candidates * count, len(X)), replace=False)]
    centres = drawn[:count]
    if len(drawn) > count:
        for _ in range(LANDMARK_STEPS):
            centres = kmeans.means(drawn, nearest_centres(drawn, centres)[0], centres)
    return centres


def transfer_cut(graph: csr_array, k: int) -> FloatArray:
    """(p, k) the leading solutions of the normalised cut of a bipartite graph, on its columns.

    With B the (n, p) weights of edges and D the sums of its rows, those of the graph Bᵀ D⁻¹ B among columns; D⁻¹ B
    carries them over to the rows (Li, Wu and Chang 2012). Columns without edges get zeros, and where fewer than k
    columns have edges there are fewer solutions.
    """
    joined = csr_array(graph.T) @ (graph / graph.sum(axis=1)[:, None])
    degrees = np.asarray(joined.sum(axis=1))
    there = np.flatnonzero(degrees > 0)
    scale = 1 / np.sqrt(degrees[there])
    square = joined.tocsr()[there][:, there].toarray() * np.outer(scale, scale)
    count = min(k, len(there))
    vectors = np.zeros((graph.shape[1], count))
    vectors[there] = scale[:, None] * leading((square + square.T) / 2, count)
    return vectors


CLUSTERER = Clusterer(fit, Params, soft=False, places=True, cite="huang2020")
