"""The default rule for the number of clusters, used by every method that does not infer it.

Four steps: a test of independence (k = 1 if the clusterings do not agree more than random ones), omission of
clusterings that are independent of all others, the k that at least half of the clusterings have, and otherwise the k
with the largest covariance criterion.

Symbols used in this module:

==========  ==================================================================================================
n, r, t     objects, clusterings, base clusters of all clusterings
c, j        a base cluster, a clustering
S[c, c']    number of objects that are in both of two base clusters
N[g, c]     number of objects of consensus cluster g that are in base cluster c
w_c         weight of base cluster c: exp(-mean entropy of its members' labels / theta)
==========  ==================================================================================================
"""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.special import gammaincc

from partita.core.counting import label_columns, label_counts
from partita.core.ensemble import Ensemble
from partita.core.errors import ParameterError
from partita.core.k_choice import KChoice
from partita.core.prepare import prepare
from partita.core.rng import generator
from partita.core.soft import AnyEnsemble
from partita.core.threads import map_threads
from partita.core.types import FloatArray, FrozenDict, IntArray
from partita.models.lwea import group_counts, locally_weighted, merge, micro_clusters, similarity, weighted_covariance
from partita.starts.spectral import MOST_DENSE, overlaps, sparse_overlaps

MIN_OBJECTS: Final = 20
"""Objects from which the test of independence applies."""
MIN_CLUSTER: Final = 5
"""Base clusters with fewer objects are one category of the test."""
MAX_P_STRUCTURE: Final = 0.001
"""Largest p value at which the clusterings count as dependent."""
MAX_P_CLUSTERING: Final = 0.01
"""Largest p value at which one clustering counts as dependent on the others."""
MIN_SHARE: Final = 0.5
"""Share of the clusterings from which their common k is chosen."""
LINKAGE_THETA, CRITERION_THETA, GAMMA = 0.3, 0.4, 0.5
FINE_QUANTILE, FINE_RATIO, FINE_INSIDE, FINE_GAMMA = 0.25, 0.8, 0.75, 0.35
"""γ is 0.35 if k is below 0.8 of the lower quartile of the base k and at least 0.75 of the weighted co-association is
inside the k clusters: the base clusters are parts of them. With less inside, the labels are noisy."""
MIN_EIGENVECTORS, MAX_EIGENVECTORS, EXTRA_EIGENVECTORS = 20, 100, 10
MIN_MICRO_CLUSTERS, MAX_MICRO_CLUSTERS, MICRO_CLUSTERS_PER_BASE, MICRO_CLUSTERS_PER_K = 150, 600, 4, 2
"""Eigenvectors and micro-clusters grow with the lower quartile of the base k; at least 2 micro-clusters per k."""
CLUSTER_SHARE: Final = 0.02
"""Share of n / k objects from which a cluster of the linkage counts as one of the k."""
MIN_TRIED, MAX_TRIED, TRIED_PER_BASE, MAX_K = 20, 200, 1.5, 500
"""The covariance criterion compares k from 2 to max(20, 1.5 times the largest base k), at most 200 numbers.
Of given numbers, those up to 500 are compared."""
MAX_NAMED: Final = 5
"""Omitted clusterings that a note names."""
EQUAL: Final = 1e-12


def choose_k(table: Ensemble, ks: Sequence[int] | None = None) -> KChoice:
    """Choose the number of clusters of an ensemble.

    Parameters
    ----------
    table : Ensemble
        Base clusterings as `canonical_table` returns them.
    ks : sequence of int, optional
        The allowed numbers of clusters, at most the number of unique rows each. By default the rule decides which to
        compare.

    Returns
    -------
    KChoice
        The choice depends only on the partitions, their weights and `ks`.

    Notes
    -----
    The covariance criterion of k clusters is

        sum_gc w_c N[g, c]² / sum_c w_c |c|² - γ sum_g n_g² / n²,  γ = 0.5,

    with γ = 0.35 if the k found so is below 0.8 of the lower quartile of the numbers of base clusters and the first
    term is at least 0.75. It is evaluated for a linkage of micro-clusters. Two clusters stay apart if their mean
    weighted co-association is below half of the mean of all pairs. Time n r² + t³ + K q², with K numbers of clusters
    compared and q micro-clusters.

    Examples
    --------
    >>> table = [[0, 0, 0], [0, 0, 0], [1, 1, 1], [1, 1, 1], [2, 2, 1]] * 4
    >>> choose_k(canonical_table(Ensemble.from_labels(table))).reason
    '2 of 3 clusterings have exactly 3 clusters'
    """
    allowed = None if ks is None else sorted(set(ks))
    if len(table) == 1 and (allowed is None or 1 in allowed):
        return KChoice(1, "no structure", "all objects have the same labels in every clustering")
    test = independence_test(table)
    independent = test.p_value is not None and test.p_value > MAX_P_STRUCTURE
    notes: list[str] = []
    if independent:
        reason = f"the clusterings are statistically independent (p = {test.p_value:.2g}), so they support no division"
        if allowed is None or 1 in allowed:
            return KChoice(1, "no structure", reason, p_value=test.p_value)
        notes.append(f"{reason}; 1 is not among the given numbers of clusters")
    kept = range(len(table.names)) if independent else _dependent_clusterings(test)
    omitted_columns = np.setdiff1d(np.arange(len(table.names)), kept)
    omitted = {table.names[j]: float(test.by_clustering[j]) for j in omitted_columns}
    if omitted:
        notes.append(_omission_note(omitted))
        table = prepare(table.columns(list(kept))).ensemble
    found = _common_k(table, allowed) or _largest_covariance(table, allowed)
    return KChoice(
        found.k,
        found.rule,
        found.reason,
        found.criterion,
        found.runner_up,
        test.p_value,
        FrozenDict(omitted),
        (*notes, *found.notes, *_end_notes(found.k, allowed, len(table))),
        found.gamma,
    )


def canonical_table(ensemble: AnyEnsemble) -> Ensemble:
    """Return unique rows with multiplicities in canonical order, without clusterings of weight 0.

    Soft clusterings are hardened: memberships spread over all clusters raise the co-association of all pairs of objects
    and would lower k.
    """
    table: Ensemble = prepare(ensemble if isinstance(ensemble, Ensemble) else ensemble.harden()).ensemble
    return table


def _dependent_clusterings(test: "Independence") -> list[int]:
    """Return the clusterings that depend on others, in order; at least the two with the smallest p values."""
    values = np.nan_to_num(test.by_clustering, nan=0.0)
    most_dependent = set(np.argsort(values, kind="stable")[:2].tolist())
    return [j for j, p in enumerate(values) if p <= MAX_P_CLUSTERING or j in most_dependent]


def _omission_note(omitted: Mapping[str, float]) -> str:
    """Return a note that names the omitted clusterings, the first few if there are many."""
    named = [f"{name!r} (p = {p:.2g})" for name, p in sorted(omitted.items())]
    if len(named) > MAX_NAMED:
        named = [*named[:MAX_NAMED], f"{len(named) - MAX_NAMED} more"]
    names = ", ".join(named)
    if len(omitted) == 1:
        return f"clustering {names} is statistically independent of all others: it is fitted, but not used to choose k"
    return f"clusterings {names} are statistically independent of all others: they are fitted, but not used to choose k"


def _common_k(table: Ensemble, allowed: Sequence[int] | None) -> KChoice | None:
    """Return the k > 1 that at least half of the clusterings have; None if there is none or more than one."""
    totals = label_counts(table, np.zeros(len(table), np.int32), 1)[0][:, 0]
    sizes = np.add.reduceat((totals > 0).astype(np.int64), table.offsets[:-1])
    share = np.bincount(sizes) / len(sizes)
    common = np.flatnonzero(share >= MIN_SHARE)
    if len(common) != 1 or common[0] < 2 or (allowed is not None and common[0] not in allowed):
        return None
    k = int(common[0])
    shares = {int(size): float(share[size]) for size in np.flatnonzero(share)}
    others = sorted((size for size in shares if size != k), key=lambda size: (-shares[size], size))
    reason = f"{np.count_nonzero(sizes == k)} of {len(sizes)} clusterings have exactly {k} clusters"
    return KChoice(k, "common k", reason, FrozenDict(shares), others[0] if others else None)


def _largest_covariance(table: Ensemble, allowed: Sequence[int] | None) -> KChoice:
    """Return the k with the largest covariance criterion; ties go to the smallest."""
    limit, notes = len(table), list[str]()
    ks: Sequence[int]
    if allowed is None:
        wanted = max(MIN_TRIED, int(TRIED_PER_BASE * max(table.sizes)))
        if min(wanted, limit) > MAX_TRIED:
            notes.append(f"only numbers of clusters up to {MAX_TRIED} were compared; give k to compare larger ones")
        ks = range(2, min(wanted, limit, MAX_TRIED) + 1)
    else:
        ks = [k for k in allowed if 1 < k <= MAX_K] or [k for k in allowed if k == 1]
        if not ks:
            raise ParameterError(
                f"k = {allowed[0]} to {allowed[-1]} cannot be compared; the rule compares numbers of clusters up to "
                f"{MAX_K}; give one k"
            )
        if len(ks) > MAX_TRIED or allowed[-1] > MAX_K:
            ks = ks[:MAX_TRIED]
            notes.append(f"k = {ks[0]} to {ks[-1]} of the given numbers of clusters were compared; give one larger k")
    values = covariance_by_k(table, ks)
    best = _smallest_best(values[GAMMA])
    # at the largest k that is allowed, a larger one may be better, and nothing is known of the clusterings' fineness
    expected = (values[FINE_GAMMA][best] - values[GAMMA][best]) / (GAMMA - FINE_GAMMA)
    observed = values[GAMMA][best] + GAMMA * expected
    fine = best < max(ks) and best < FINE_RATIO * np.quantile(table.sizes, FINE_QUANTILE) and observed >= FINE_INSIDE
    gamma = FINE_GAMMA if fine else GAMMA
    return _choice_of(values[gamma], gamma, notes)


def _smallest_best(values: Mapping[int, float]) -> int:
    """Return the k with the largest value; ties go to the smallest."""
    largest = max(values.values())
    return min(k for k, value in values.items() if value >= largest - EQUAL)


def _choice_of(values: Mapping[int, float], gamma: float, notes: Sequence[str]) -> KChoice:
    """Return the choice by the values of the criterion with this γ."""
    best = _smallest_best(values)
    runner_up = min((k for k in values if k != best), key=lambda k: (-values[k], k), default=None)
    if runner_up is None:
        reason = f"{best} is the only possible number of clusters"
    else:
        reason = (
            f"the covariance criterion is largest ({values[best]:.3f}; {values[best] - values[runner_up]:.2g} less at "
            f"k = {runner_up})"
        )
        if gamma == FINE_GAMMA:
            reason += f", with γ = {gamma} because the base clusters are parts of larger clusters"
    return KChoice(best, "covariance", reason, FrozenDict(values), runner_up, notes=tuple(notes), gamma=gamma)


def _end_notes(k: int, allowed: Sequence[int] | None, rows: int) -> list[str]:
    """Return a note if k is at an end of the given numbers."""
    if allowed is None or len(allowed) < 2:
        return []
    if k == allowed[-1] < rows:
        return [f"k = {k} is the largest of the given numbers of clusters; a larger one may be better"]
    if k == allowed[0] > 2:
        return [f"k = {k} is the smallest of the given numbers of clusters; a smaller one may be better"]
    return []


def covariance_by_k(table: Ensemble, ks: Sequence[int]) -> dict[float, dict[int, float]]:
    """Return the covariance criterion of every k for both γ, for an ensemble from `canonical_table`.

    Parameters
    ----------
    table : Ensemble
        Unique rows with multiplicities.
    ks : sequence of int
        Numbers of clusters, at most the number of rows each.

    Returns
    -------
    dict of float to dict of int to float
        The criterion by γ and k, in the order of `ks`.
    """
    linkage_weights = locally_weighted(table, LINKAGE_THETA)
    criterion_weights = locally_weighted(table, CRITERION_THETA)
    base_k = int(np.quantile(table.sizes, FINE_QUANTILE))
    eigenvectors = max(MIN_EIGENVECTORS, min(MAX_EIGENVECTORS, base_k + EXTRA_EIGENVECTORS))
    q = max(MIN_MICRO_CLUSTERS, min(MAX_MICRO_CLUSTERS, MICRO_CLUSTERS_PER_BASE * base_k))
    q = max(q, MICRO_CLUSTERS_PER_K * max(ks))
    micro = micro_clusters(table, linkage_weights, eigenvectors, q, generator(0))
    similar = similarity(micro, table, linkage_weights)

    def criterion(k: int) -> tuple[float, float]:
        groups = merge(similar, micro.sizes, min(k, len(micro.sizes)), 0.0, CLUSTER_SHARE)
        counts = group_counts(micro, groups)
        usual, fine = (
            weighted_covariance(counts, table.offsets, criterion_weights, gamma) for gamma in (GAMMA, FINE_GAMMA)
        )
        return usual, fine

    found = map_threads(criterion, ks, "numbers of clusters")
    return {
        gamma: {k: pair[place] for k, pair in zip(ks, found, strict=True)}
        for place, gamma in enumerate((GAMMA, FINE_GAMMA))
    }


def covariance_of_choice(table: Ensemble, choice: KChoice, ks: Sequence[int]) -> dict[int, float]:
    """Return the covariance criterion of every k as `choose_k` computes it, whatever rule decided.

    Clusterings that were omitted from the choice are omitted here, too.
    """
    if choice.omitted:
        kept = [j for j, name in enumerate(table.names) if name not in choice.omitted]
        table = prepare(table.columns(kept)).ensemble
    known = choice.criterion if choice.rule == "covariance" else {}
    others = [k for k in ks if k not in known]
    gamma = GAMMA if choice.gamma is None else choice.gamma
    values = {**known, **(covariance_by_k(table, others)[gamma] if others else {})}
    return {k: values[k] for k in ks}


class Independence(NamedTuple):
    """Result of the test that the clusterings are independent."""

    p_value: float | None  # None if the test does not apply
    by_clustering: FloatArray  # (r,) p value of each clustering against all others; NaN if the test does not apply


class PairStatistics(NamedTuple):
    """Pearson's chi-squared of every pair of clusterings, and its moments under random permutation; (r, r) each."""

    statistic: FloatArray
    mean: FloatArray
    variance: FloatArray


def independence_test(hard: Ensemble) -> Independence:
    """Test if the clusterings agree more than independent ones.

    Parameters
    ----------
    hard : Ensemble
        Clusterings, with multiplicities: a row that represents m objects counts as m objects.

    Returns
    -------
    Independence
        p values of the sum of Pearson's chi-squared over all pairs of clusterings, and over the pairs of each
        clustering.

    Notes
    -----
    Under random permutation of each clustering, chi-squared statistics of different pairs are uncorrelated, so that
    their means and variances add. The sum X is compared with a chi-squared distribution of the same mean M and variance
    V: 2 M X / V has 2 M² / V degrees of freedom. The test applies from 20 objects.
    """
    pairs = pair_statistics(hard)
    by_clustering = _upper_tail(*(values.sum(axis=1) for values in pairs))
    if hard.counts.sum() < MIN_OBJECTS:
        return Independence(None, np.full(len(by_clustering), np.nan))
    p = float(_upper_tail(*(np.array([np.triu(values, 1).sum()]) for values in pairs))[0])
    return Independence(None if np.isnan(p) else p, by_clustering)


def _upper_tail(statistic: FloatArray, mean: FloatArray, variance: FloatArray) -> FloatArray:
    """Return P(X >= statistic) for a scaled chi-squared X with this mean and variance; NaN if the variance is 0."""
    scale = np.where(variance > 0, variance, np.nan)
    return np.asarray(gammaincc(mean**2 / scale, mean * np.maximum(statistic, 0.0) / scale))


def pair_statistics(hard: Ensemble) -> PairStatistics:
    """Return Pearson's chi-squared of each pair of clusterings with its exact mean and variance under permutation.

    Base clusters with fewer than 5 objects are one category per clustering. With missing labels, a pair is compared on
    the objects that are labelled in both, and categories without such objects are ignored; pairs with fewer than 4 such
    objects have statistic, mean and variance 0.

    Notes
    -----
    Per pair with n objects, and for each of its clusterings with category sizes s_c,

        d = categories - 1,  σ = sum_c 1 / s_c - (2 d + 1) / n,
        u = (n - 1) d - d²,  v = n (n + 1) σ - (n - 1) (d² + 2 d),

    and primes for the other clustering,

        mean     = n d d' / (n - 1),
        variance = n² (2 u u' / ((n - 1)² (n + 1) (n - 2)) + v v' / ((n + 1) n (n - 1) (n - 2) (n - 3))).
    """
    shared, column = _category_overlaps(hard)
    r = len(hard.sizes)
    first, second = column[shared.row], column[shared.col]
    known = np.bincount(shared.row * r + second, weights=shared.data, minlength=len(column) * r).reshape(-1, r)
    n = np.zeros((r, r))
    np.add.at(n, column, known)
    degrees, inverse_sizes = np.zeros((r, r)), np.zeros((r, r))
    np.add.at(degrees, column, (known > 0).astype(np.float64))
    np.add.at(inverse_sizes, column, 1 / np.where(known > 0, known, np.inf))
    # sum over cells of S² / (row size × column size)
    cells = shared.data**2 / (known[shared.row, second] * known[shared.col, first])
    squares = np.bincount(first * r + second, weights=cells, minlength=r * r).reshape(r, r)
    usable = (n >= 4) & ~np.eye(r, dtype=bool)
    n, d = np.where(usable, n, 4.0), np.where(usable, degrees - 1, 0.0)
    sigma = inverse_sizes - (2 * d + 1) / n
    u = (n - 1) * d - d**2
    v = n * (n + 1) * sigma - (n - 1) * (d**2 + 2 * d)
    variance = n**2 * (
        2 * u * u.T / ((n - 1) ** 2 * (n + 1) * (n - 2)) + v * v.T / ((n + 1) * n * (n - 1) * (n - 2) * (n - 3))
    )
    compared = usable & (d > 0) & (d.T > 0)
    return PairStatistics(
        np.where(compared, n * (squares - 1), 0.0),
        np.where(compared, n * d * d.T / (n - 1), 0.0),
        np.where(compared, np.maximum(variance, 0.0), 0.0),
    )


class _Cells(NamedTuple):
    """Non-zero cells of a table of two categories each."""

    row: IntArray
    col: IntArray
    data: FloatArray


def _category_overlaps(hard: Ensemble) -> tuple[_Cells, IntArray]:
    """Return the numbers of objects in each two categories, and the clustering of each category."""
    column = label_columns(hard.offsets)
    totals = label_counts(hard, np.zeros(len(hard), np.int32), 1)[0][:, 0]
    # the categories of a clustering are its large clusters, then one for all small ones
    large = totals >= MIN_CLUSTER
    keys = np.where(large, np.arange(len(column)), len(column) + column)
    names, category = np.unique(keys, return_inverse=True)
    owner = np.where(names < len(column), column[np.minimum(names, len(column) - 1)], names - len(column))
    table = overlaps if len(column) <= MOST_DENSE else sparse_overlaps
    cells = csr_array(table(hard, hard.counts)).tocoo()
    merged = csr_array((cells.data, (category[cells.row], category[cells.col])), shape=(len(names), len(names))).tocoo()
    return _Cells(merged.row.astype(np.int64), merged.col.astype(np.int64), merged.data), owner
