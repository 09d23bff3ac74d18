"""Where row-distributed methods begin: clusters found from sums alone.

The graph of base clusters that a spectral consensus needs (`starts.spectral`) adds up over rows, and so do its weights.
Centres are first looked for among the base clusters, then moved by Lloyd's iterations over the rows.
"""

from typing import Final

import numpy as np
from numpy.random import Generator

from partita.core.consensus import by_appearance
from partita.core.counting import label_columns
from partita.core.errors import FederatedError
from partita.core.types import FloatArray, IntArray
from partita.federated.hub import Totals
from partita.models.mixture import Counts, Elsewhere
from partita.starts.lloyd import weighted_kmeans
from partita.starts.spectral import MOST_DENSE, vectors_from, weights_from

THETA: Final = 0.4
TRIES, ROUNDS, SETTLED = 10, 20, 1e-4
"""k-means runs among the base clusters; most Lloyd rounds over the rows, and the change that ends them."""


def start_clusters(hub: Totals, rows: Elsewhere, k: int, rng: Generator) -> Counts:
    """The labels and sizes of k clusters; every site keeps which of its rows are in which."""
    size = int(rows.offsets[-1])
    if hub.terms.init == "random":
        return random_clusters(hub, rows.offsets, k, rng)
    if size > MOST_DENSE:
        raise FederatedError(
            f'the spectral start sends a table of {size} x {size} labels; start elsewhere (init = "random")'
        )
    if k > size:
        return random_clusters(hub, rows.offsets, k, rng)
    return spectral_clusters(hub, rows, k, rng)


def random_clusters(hub: Totals, offsets: IntArray, k: int, rng: Generator) -> Counts:
    """Each row to the likeliest of k random label distributions."""
    draws = rng.standard_exponential((int(offsets[-1]), k))
    totals = np.add.reduceat(draws, offsets[:-1], axis=0)[label_columns(offsets)]
    found = hub.total("assign", {"tables": np.log(draws / totals), "bias": np.zeros(k)})
    return Counts(found["sizes"], found["labels"], np.nan, 0)


def spectral_clusters(hub: Totals, rows: Elsewhere, k: int, rng: Generator) -> Counts:
    """The k-way normalised cut of the graph of rows and base clusters, locally weighted."""
    shared, size = hub.total("overlaps")["overlaps"], int(rows.offsets[-1])
    edges = rows.weights[label_columns(rows.offsets)] * weights_from(shared, rows.offsets, THETA)
    graph = hub.total("overlaps", {"edges": edges})["overlaps"]
    scale, vectors = vectors_from(graph, edges, k)
    scale = np.where(graph.any(axis=1), scale, 0.0)  # a base cluster without objects lies nowhere
    points = scale[:, None] * vectors
    points /= np.maximum(np.sqrt((points**2).sum(axis=1, keepdims=True)), 1e-300)
    masses = np.maximum(np.diag(shared), 0.0)
    groups = np.arange(size) if k == size else weighted_kmeans(points, masses + 1e-9, k, rng, TRIES)
    groups, _ = by_appearance(groups, k)  # of tries that found the same, rounding picks one: it must not name clusters
    centers = np.stack([_center(points, masses, groups == cluster) for cluster in range(k)])
    tables = np.ascontiguousarray(edges[:, None] * scale[:, None] * vectors)
    last = np.inf
    for _ in range(ROUNDS):
        found = hub.total("nearest", {"tables": tables, "centers": centers})
        here = found["sizes"][:, None] > 0.5
        centers = np.where(here, found["sums"] / np.maximum(found["sizes"], 1.0)[:, None], centers)
        spread = float(found["scalars"][0])
        if last - spread <= SETTLED * abs(last):
            break
        last = spread
    counts = hub.total("chosen", {"clusters": np.array([k])})
    return Counts(counts["sizes"], counts["labels"], np.nan, 0)


def _center(points: FloatArray, masses: FloatArray, members: np.ndarray) -> FloatArray:
    """The mean of some base clusters, that of all where there are none."""
    some = members if members.any() else np.ones(len(points), np.bool_)
    return np.average(points[some], axis=0, weights=masses[some] + 1e-9)
