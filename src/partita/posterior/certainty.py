"""How sure the draws are of a partition's objects and clusters, and of the number of clusters."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partita.core.draws import Draws
from partita.core.threads import map_chunks
from partita.core.types import MISSING, FloatArray, IntArray, sealed
from partita.kernels.draws import add_company
from partita.posterior.losses import coded, groups

PARTS = 8
"""Into so many parts the draws are divided, each with counts of its own."""


class ClusterNumbers(NamedTuple):
    """The distribution of the number of clusters."""

    clusters: IntArray
    """The numbers that occur, rising."""
    shares: FloatArray
    """The share of the draws that have each."""


def object_certainty(draws: Draws, labels: Any) -> FloatArray:
    """(n,) the mean probability of an object being together with each other member of its cluster.

    For an object that is a cluster by itself: the probability of being alone. NaN for a MISSING object.

    >>> object_certainty(Draws.of([[0, 0, 1], [0, 1, 2]]), [0, 0, 1]).tolist()
    [0.5, 0.5, 1.0]
    """
    codes = coded(labels, draws)
    members, starts = groups(codes)
    names = sealed(draws.labels)

    def part(start: int, stop: int) -> NDArray[np.int64]:
        counts = np.zeros(len(codes), np.int64)
        add_company(names, sealed(members), sealed(starts), counts, start, stop)
        return counts

    total = sum(map_chunks(part, len(draws), -(-len(draws) // PARTS)), np.zeros(len(codes), np.int64))
    others = np.maximum(np.diff(starts) - 1, 1)
    certainty = total / (len(draws) * np.append(others, 1)[codes])
    return np.asarray(np.where(codes == MISSING, np.nan, certainty))


def cluster_certainty(draws: Draws, labels: Any) -> FloatArray:
    """(k,) the mean probability of being together over a cluster's pairs of objects; of being alone, if it is one.

    Cluster c is the c-th to appear in the labels.
    """
    codes = coded(labels, draws)
    return mean_by_cluster(object_certainty(draws, labels), codes)


def mean_by_cluster(values: FloatArray, codes: IntArray) -> FloatArray:
    """(k,) the mean over each cluster's objects."""
    known = codes != MISSING
    return np.asarray(np.bincount(codes[known], values[known]) / np.bincount(codes[known]))


def cluster_numbers(draws: Draws) -> ClusterNumbers:
    """How many clusters the draws have.

    >>> cluster_numbers(Draws.of([[0, 0, 1], [0, 1, 2], [0, 0, 1], [0, 1, 1]]))
    ClusterNumbers(clusters=array([2, 3]), shares=array([0.75, 0.25]))
    """
    clusters, counts = np.unique(draws.sizes, return_counts=True)
    return ClusterNumbers(clusters, counts / len(draws))
