"""LWEA: linkage of micro-clusters by locally weighted co-association (after Huang, Wang and Lai 2018).

LWEA merges objects by their weighted co-association, an n × n matrix. This version first groups similar rows into a few
hundred micro-clusters, so that the matrix is small, and prevents clusters of a few objects. It compares six linkages
and the spectral cut of `lwgp`, which is better if clusters differ much in size, keeps the partition with the largest
weighted covariance, and assigns every row by one EM iteration of `mm`, which also gives membership probabilities.

Symbols used in this module, where sums over pairs of objects include each object paired with itself:

==========  ==================================================================================================
n, r, t, k  objects, clusterings, base clusters of all clusterings, consensus clusters
q           micro-clusters
N[a, c]     number of objects of group a (a micro-cluster or a cluster) that are in base cluster c; `counts` (groups, t)
n_a         number of objects of group a; `sizes`
w_c         weight of base cluster c; `cluster_weights` (t,)
==========  ==================================================================================================
"""

from dataclasses import dataclass
from itertools import product
from typing import Final, NamedTuple

import numpy as np
from numpy.random import Generator

from partita.core.consensus import Consensus
from partita.core.counting import label_columns, label_counts, unit_weights
from partita.core.ensemble import Ensemble
from partita.core.interrupts import finishing
from partita.core.method import Method
from partita.core.params import setting
from partita.core.sampling import collapsed, draw_sample
from partita.core.soft import AnyEnsemble, SoftEnsemble
from partita.core.types import FloatArray, IntArray
from partita.kernels.compiling import Array, kernel
from partita.models.mixture import at_site, entropy, free_labels, maximise, memberships, soften
from partita.models.mm import model_of
from partita.starts.lloyd import best_centers, nearest_centers
from partita.starts.spectral import cluster_weights, embed, lifting, spectral_start

THETA: Final = 0.3
"""Default scale of the entropy in the weights of base clusters."""
GAMMA: Final = 0.1
"""Factor of the share expected by chance in `weighted_covariance`, by which partitions with the same k are compared."""
EXTRA_EIGENVECTORS: Final = 10
"""Eigenvectors beyond k: with k = 2 alone, rows of unit length would lie on an arc."""
MIN_MICRO_CLUSTERS, MICRO_CLUSTERS_PER_CLUSTER, MANY_MICRO_CLUSTERS = 150, 6, 600
"""max(150, 6 k) micro-clusters, but at most max(600, 2 k): more cost time and change little."""
MIN_SAMPLE, SAMPLE_PER_MICRO_CLUSTER = 2000, 10
KMEANS_STARTS, KMEANS_MAX_ITER = 2, 30
SIZE_EXPONENTS: Final = (0.0, 0.25, 0.5)
MIN_SHARES: Final = (0.02, 0.1)
EQUAL: Final = 1e-12
"""Values of weighted covariance that differ by at most this are equal."""


@dataclass(frozen=True, slots=True)
class Params:
    """Parameters of the method `lwea`."""

    theta: float = setting(
        THETA, "scale of the entropy (bits) at which the weight of a base cluster falls to 1/e", low=1e-6
    )
    em_iterations: int = setting(
        1, "EM iterations after the linkage; more iterations raise the likelihood and may divide large clusters", low=1
    )


class MicroClusters(NamedTuple):
    """Groups of similar rows."""

    labels: IntArray  # (n,) the micro-cluster of each row
    counts: FloatArray  # (q, t) objects of each micro-cluster in each base cluster
    sizes: FloatArray  # (q,) objects of each micro-cluster


class Partition(NamedTuple):
    """A partition of the rows into k clusters, and its weighted covariance with the base clusterings."""

    labels: IntArray  # (n,)
    covariance: float
    source: str  # "spectral cut" or the settings of a linkage


def fit(ensemble: AnyEnsemble, k: int, params: Params, rng: Generator) -> Consensus:
    """Compare linkages of micro-clusters and the spectral cut, and assign rows by a mixture of label distributions.

    Parameters
    ----------
    ensemble : Ensemble or SoftEnsemble
        Base clusterings; labels may be missing, rows may have multiplicities.
    k : int
        Number of clusters.
    params : Params
        Scale of the cluster weights and number of EM iterations.
    rng : numpy.random.Generator
        Random numbers for the k-means runs of the micro-clusters and of the spectral cut.

    Returns
    -------
    Consensus
        `membership` holds the responsibilities of the mixture and `model` its parameters. `detail` names the partition
        that was kept and its weighted covariance.

    Notes
    -----
    The mixture starts from the label distributions of the partition's clusters, softened as in every start of `mm`. One
    EM iteration moves single rows to the cluster whose labels they share. Further iterations raise the likelihood, but
    on tables with clusters of very different sizes they divide the large ones: mean ARI on such tables falls from .76
    to .75 and from .48 to .41 in the two halves of `benchmarks/kinds.py`.

    Time n r² + n q k + n r k + q t (q + k) + t³ + q³, with q = min(max(150, 6 k), max(600, 2 k)) micro-clusters.

    References
    ----------
    huang2018 : D. Huang, C.-D. Wang and J.-H. Lai, "Locally weighted ensemble clustering", IEEE Transactions on
        Cybernetics 48, 2018.
    """
    rows, inverse = collapsed(ensemble)
    weights = locally_weighted(rows, params.theta)
    q = min(max(MIN_MICRO_CLUSTERS, MICRO_CLUSTERS_PER_CLUSTER * k), max(MANY_MICRO_CLUSTERS, 2 * k))
    micro = micro_clusters(rows, weights, k + EXTRA_EIGENVECTORS, q, rng)
    best = best_partition(linkages(micro, rows, weights, k), spectral_partition(rows, weights, k, rng))
    labels = best.labels[inverse]
    initial = soften(*label_counts(ensemble, labels, int(labels.max()) + 1))
    statistics, clustering_weights = initial, unit_weights(ensemble)
    for _ in range(params.em_iterations):
        mixture = maximise(statistics, ensemble.offsets, 0.0, clustering_weights)
        statistics = at_site(mixture, ensemble)
    with finishing():
        shares, _ = memberships(mixture, ensemble)
        detail = {
            "log likelihood": statistics.log_likelihood,
            "free parameters": k - 1 + k * free_labels(ensemble),
            "membership entropy": entropy(shares, ensemble.counts),
            "micro-clusters": len(micro.sizes),
            "partition": best.source,
            "covariance": best.covariance,
        }
    return Consensus.soft(shares, k_asked=k, model=model_of(mixture, ensemble), detail=detail)


def locally_weighted(rows: AnyEnsemble, theta: float) -> FloatArray:
    """(t,) w_c = w_j exp(-H_c / θ) of each base cluster c of clustering j, with H_c its mean entropy in bits.

    The clustering weights w_j multiply the cluster weights and weigh the mean over the clusterings.
    """
    of_clustering = np.repeat(rows.weights, rows.sizes)
    return np.asarray(of_clustering * cluster_weights(rows, theta, rows.weights))


def micro_clusters(
    rows: AnyEnsemble, cluster_weights: FloatArray, n_vectors: int, q: int, rng: Generator
) -> MicroClusters:
    """Group unique rows into at most q micro-clusters by k-means in the spectral embedding of LWGP.

    With at most q rows, each row is its own micro-cluster. Otherwise the centers come from a sample of the rows, and
    every row goes to its nearest center.
    """
    if len(rows) <= q:
        labels: IntArray = np.arange(len(rows), dtype=np.int32)
        return MicroClusters(labels, _counts(rows, labels, len(rows)), rows.counts)
    points = embed(rows, lifting(rows, cluster_weights, n_vectors))
    sample, multiplicities = points, rows.counts
    size = max(MIN_SAMPLE, SAMPLE_PER_MICRO_CLUSTER * q)
    if len(rows) > size:
        places, factors = draw_sample(rows.counts, size, rng)
        sample, multiplicities = points[places], rows.counts[places] * factors
    centers = best_centers(sample, multiplicities, q, rng, KMEANS_STARTS, KMEANS_MAX_ITER)
    used, nearest = np.unique(nearest_centers(points, centers), return_inverse=True)
    labels = nearest.astype(np.int32)
    sizes = np.bincount(labels, weights=rows.counts, minlength=len(used)).astype(np.float64)
    return MicroClusters(labels, _counts(rows, labels, len(used)), sizes)


def _counts(rows: AnyEnsemble, labels: IntArray, groups: int) -> FloatArray:
    """(groups, t) the number of objects of each group in each base cluster."""
    return np.ascontiguousarray(label_counts(rows, labels, groups)[0].T)


class Similarity(NamedTuple):
    """Weighted co-association of micro-clusters; both matrices add up when groups are merged."""

    shared: FloatArray  # (q, q) S[a, b] = sum_c w_c N[a, c] N[b, c]
    pairs: FloatArray  # (q, q) number of pairs of objects that the mean is taken over; n_a n_b if no label is missing


def similarity(micro: MicroClusters, rows: AnyEnsemble, cluster_weights: FloatArray) -> Similarity:
    """Return the weighted co-association of micro-clusters and the pairs of objects whose labels are known in both."""
    shared = (micro.counts * cluster_weights) @ micro.counts.T
    known = np.add.reduceat(micro.counts, rows.offsets[:-1], axis=1)  # (q, r) objects known in each clustering
    pairs = (known * (rows.weights / rows.weights.sum())) @ known.T
    return Similarity(shared, pairs)


def linkages(micro: MicroClusters, rows: AnyEnsemble, cluster_weights: FloatArray, k: int) -> list[Partition]:
    """Return the partitions of six linkages, in the order of size exponents and minimum shares."""
    similar = similarity(micro, rows, cluster_weights)
    found = []
    for size_exponent, min_share in product(SIZE_EXPONENTS, MIN_SHARES):
        groups = merge(similar, micro.sizes, k, size_exponent, min_share)
        score = weighted_covariance(group_counts(micro, groups), rows.offsets, cluster_weights)
        source = f"linkage with size exponent {size_exponent:g} and minimum share {min_share:g}"
        found.append(Partition(groups[micro.labels], score, source))
    return found


def spectral_partition(rows: AnyEnsemble, cluster_weights: FloatArray, k: int, rng: Generator) -> Partition:
    """Return the partition of `lwgp`; soft rows are hardened for it."""
    labels = spectral_start(rows if isinstance(rows, Ensemble) else rows.harden(), k, rng)
    score = weighted_covariance(_counts(rows, labels, k), rows.offsets, cluster_weights)
    return Partition(labels, score, "spectral cut")


def best_partition(linked: list[Partition], cut: Partition) -> Partition:
    """Return the partition with the largest weighted covariance; ties go to the first linkage, then to the cut."""
    best = linked[0]
    for other in (*linked[1:], cut):
        if other.covariance > best.covariance + EQUAL:
            best = other
    return best


def group_counts(micro: MicroClusters, groups: IntArray) -> FloatArray:
    """(groups, t) objects of each cluster in each base cluster, from those of its micro-clusters."""
    counts = np.zeros((int(groups.max()) + 1, micro.counts.shape[1]))
    np.add.at(counts, groups, micro.counts)
    return counts


def merge(similar: Similarity, sizes: FloatArray, k: int, size_exponent: float, min_share: float) -> IntArray:
    """(q,) the cluster of each micro-cluster after merging them into k clusters.

    Parameters
    ----------
    similar : Similarity
        Weighted co-association of the micro-clusters.
    sizes : ndarray of shape (q,)
        Number of objects of each micro-cluster.
    k : int
        Number of clusters.
    size_exponent : float
        Exponent ρ of the penalty on large clusters: the pair with the largest mean co-association times
        (n_a + n_b)^-ρ is merged first.
    min_share : float
        Share τ of n / k objects from which a cluster counts as one of the k.
    """
    groups = np.arange(len(sizes))
    min_size = min_share * sizes.sum() / k
    merge_groups(similar.shared.copy(), similar.pairs.copy(), sizes.copy(), groups, k, size_exponent, min_size)
    merged: IntArray = np.unique(groups, return_inverse=True)[1].astype(np.int32)
    return merged


@kernel
def mean_similarity(shared: Array, pairs: Array, sizes: Array, a: int, b: int, size_exponent: float) -> float:
    """Return S[a, b] / P[a, b] · (n_a + n_b)^-ρ, the criterion for merging a and b; 0 if no pair is known in both."""
    if pairs[a, b] <= 0.0:
        return 0.0
    mean: float = shared[a, b] / pairs[a, b]
    if size_exponent > 0.0:
        mean *= (sizes[a] + sizes[b]) ** -size_exponent
    return mean


@kernel
def most_similar(shared: Array, pairs: Array, sizes: Array, alive: Array, a: int, rho: float) -> tuple[int, float]:
    """Return the group that is most similar to group a, ties to the lowest index, and its similarity."""
    best, highest = -1, -1.0
    for b in range(sizes.shape[0]):
        if alive[b] and b != a:
            value = mean_similarity(shared, pairs, sizes, a, b, rho)
            if value > highest:
                best, highest = b, value
    return best, highest


@kernel
def merge_groups(shared: Array, pairs: Array, sizes: Array, groups: Array, k: int, rho: float, min_size: float) -> None:
    """Merge groups until k are left, without spending a cluster on fewer than `min_size` objects.

    =========  =============================================================================================
    S          shared (q, q), weighted number of shared base clusters; rows and columns add up in a merge
    P          pairs (q, q), number of pairs of objects; adds up in the same way
    n          sizes (q,); a cluster *counts* if n_a >= min_size
    g          groups (q,), in and out: the group of each micro-cluster, named by one of its members
    partner    (q,) the most similar other group of each group, and `highest` the similarity
    =========  =============================================================================================
    """
    q = sizes.shape[0]
    alive = np.ones(q, np.bool_)
    partner, highest = np.empty(q, np.int64), np.empty(q)
    for a in range(q):
        partner[a], highest[a] = most_similar(shared, pairs, sizes, alive, a, rho)
    left, counting = q, 0
    for a in range(q):
        counting += sizes[a] >= min_size
    absorb = False
    while left > k:
        # Phase 1: the pair with the largest similarity; phase 2 (absorb): the smallest group and its most similar one.
        a = -1
        for c in range(q):
            if alive[c] and (a < 0 or (sizes[c] < sizes[a] if absorb else highest[c] > highest[a])):
                a = c
        b = partner[a]
        if not absorb and counting <= k and sizes[a] >= min_size and sizes[b] >= min_size:
            # At most k groups count, so this merge would lose one of them; the small groups are absorbed instead.
            absorb = True
            continue
        keep, gone = min(a, b), max(a, b)
        counting -= (sizes[keep] >= min_size) + (sizes[gone] >= min_size)
        for c in range(q):
            shared[keep, c] += shared[gone, c]
            pairs[keep, c] += pairs[gone, c]
            if groups[c] == gone:
                groups[c] = keep
        for c in range(q):
            shared[c, keep] += shared[c, gone]
            pairs[c, keep] += pairs[c, gone]
        sizes[keep] += sizes[gone]
        counting += sizes[keep] >= min_size
        alive[gone] = False
        left -= 1
        # Only groups whose partner was merged have to search again; the others compare with the new group.
        for c in range(q):
            if not alive[c]:
                continue
            if c == keep or partner[c] == keep or partner[c] == gone:
                partner[c], highest[c] = most_similar(shared, pairs, sizes, alive, c, rho)
            else:
                value = mean_similarity(shared, pairs, sizes, c, keep, rho)
                if value > highest[c] or (value == highest[c] and keep < partner[c]):
                    partner[c], highest[c] = keep, value


def weighted_covariance(
    counts: FloatArray, offsets: IntArray, cluster_weights: FloatArray, gamma: float = GAMMA
) -> float:
    """Return the share of weighted co-association inside clusters minus γ times the share expected by chance.

    Parameters
    ----------
    counts : ndarray of shape (k, t)
        N[g, c], the number of objects of cluster g in base cluster c; expected numbers for soft clusterings.
    offsets : ndarray of shape (r + 1,)
        Position of the first base cluster of each clustering.
    cluster_weights : ndarray of shape (t,)
        w_c, the weights of the base clusters.
    gamma : float, default=0.1
        Factor of the second term. With 1, the value is the covariance, over pairs of objects, of weighted
        co-association and membership in one cluster, divided by the mean co-association. Smaller values permit larger
        clusters: two clusters should stay apart if their mean co-association is below γ times the mean of all pairs.

    Returns
    -------
    float
        sum_gc w_c N[g, c]² / sum_c w_c |c|² - γ sum_g n_g² / n², in which |c| is the number of objects of base cluster
        c. With missing labels, every clustering j contributes means over the pairs of objects that it knows: its terms
        are divided by n_j², n_g and n are taken over its known objects, and the expected shares of the clusterings are
        averaged with the weights sum_{c in j} w_c |c|² / n_j².
    """
    known = np.add.reduceat(counts, offsets[:-1], axis=1)  # (k, r) objects of each cluster that each clustering knows
    totals = np.maximum(known.sum(axis=0), 1e-300)
    scale = cluster_weights / totals[label_columns(offsets)] ** 2
    pairs = scale * counts.sum(axis=0) ** 2  # (t,) weighted pairs of objects in each base cluster
    inside = scale * (counts**2).sum(axis=0)  # (t,) those of them that are also in one cluster
    by_chance = (known**2).sum(axis=0) / totals**2  # (r,) share of all known pairs that is in one cluster
    expected = np.add.reduceat(pairs, offsets[:-1]) @ by_chance
    return float((inside.sum() - gamma * expected) / pairs.sum())


METHOD = Method(
    fit,
    Params,
    takes=Ensemble | SoftEnsemble,
    cite="huang2018",
    handles_missing=True,
    chooses_k=False,
    deterministic=False,
    predicts="memberships",
    gives_likelihood=True,
)
