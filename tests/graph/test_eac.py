"""Evidence accumulation against SciPy's linkage and against a slow obvious tree."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster
from scipy.cluster.hierarchy import linkage as scipy_linkage
from scipy.spatial.distance import squareform

import partita
from partita import Ensemble
from partita.core import memory
from partita.core.errors import MethodError, ParameterError
from partita.core.prepare import prepare
from partita.core.progress import reporting
from partita.graph import eac
from tests.samples import noisy, noisy_labels, same_partition

LINKAGES = ("average", "single", "complete")
SPANS = {"average": np.average, "single": lambda d, weights: d.min(), "complete": lambda d, weights: d.max()}


def slow_distances(ensemble):
    """1 - the weighted share of clusterings known in both, in which two rows share a label."""
    n = len(ensemble)
    out = np.zeros((n, n))
    for a, b in itertools.product(range(n), repeat=2):
        both = [j for j in range(len(ensemble.names)) if ensemble.labels[a, j] >= 0 and ensemble.labels[b, j] >= 0]
        same = sum(ensemble.weights[j] for j in both if ensemble.labels[a, j] == ensemble.labels[b, j])
        known = sum(ensemble.weights[j] for j in both)
        out[a, b] = 1 - same / known if both else 1.0
    return out


def tree(ensemble, linkage):
    """The merges over the rows as given."""
    return eac.single_merges(ensemble) if linkage == "single" else eac.chain_merges(ensemble, linkage)


def check_greedy(merges, distances, counts, linkage):
    """Every merge is of a nearest pair of clusters and at their distance; which pair of equals is free."""
    clusters = {i: [i] for i in range(len(distances))}
    home = list(range(len(distances)))

    def apart(a, b):
        block = distances[np.ix_(clusters[a], clusters[b])]
        return SPANS[linkage](block, weights=np.outer(counts[clusters[a]], counts[clusters[b]]))

    for x, y, height in zip(*merges, strict=True):
        a, b = home[x], home[y]
        assert a != b and apart(a, b) == pytest.approx(height, abs=1e-6)
        assert min(apart(c, d) for c, d in itertools.combinations(clusters, 2)) == pytest.approx(height, abs=1e-6)
        for i in clusters[b]:
            home[i] = a
        clusters[a] += clusters.pop(b)


def without_ties(seed=0, n=60, missing=0.0):
    """A table whose pairs of distinct rows are all at different distances, some rows repeated."""
    labels, _ = noisy_labels(n=n, r=25, k=2, noise=0.6, missing=missing, seed=seed)
    rng = np.random.default_rng(seed)
    repeated = np.concatenate([np.arange(n), rng.integers(n, size=n // 2)])
    return Ensemble.from_labels(labels[repeated], missing=-1, transpose=False, weights=rng.uniform(0.5, 2.0, 25))


@pytest.mark.parametrize("linkage", LINKAGES)
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_scipy_on_the_repeated_objects(linkage, missing):
    ensemble = without_ties(missing=missing)
    theirs = scipy_linkage(squareform(slow_distances(ensemble), checks=False), linkage)
    work = prepare(ensemble).ensemble
    ours = tree(work, linkage)
    zeros = len(ensemble) - len(work)
    assert zeros > 20 and np.allclose(theirs[:zeros, 2], 0) and np.allclose(theirs[zeros:, 2], ours.heights, atol=1e-6)
    assert np.diff(ours.heights).min() > 1e-7
    for k in (2, 3, 5, 9, 20):
        result = partita.consensus(ensemble, "eac", k, linkage=linkage)
        assert result.k == k and same_partition(result.labels, fcluster(theirs, k, "maxclust"))
        assert result.detail["merge heights"] == pytest.approx(tuple(theirs[-20:, 2]), abs=1e-6)
        assert result.detail["cut height"] == pytest.approx(theirs[-k, 2], abs=1e-6)


@pytest.mark.parametrize("linkage", LINKAGES)
def test_small_tables_full_of_ties(linkage):
    for seed in range(60):
        rng = np.random.default_rng(seed)
        labels = rng.integers(-1, 3, size=(rng.integers(2, 15), rng.integers(2, 5)))
        labels[:, 0] = np.maximum(labels[:, 0], 0)
        labels = np.maximum(labels, 0) if seed % 3 == 0 else labels
        weights = rng.choice([1.0, 2.0, 0.5], labels.shape[1]) if seed % 2 else None
        ensemble = Ensemble.from_labels(labels, missing=-1, transpose=False, weights=weights)
        work = prepare(ensemble.with_counts(rng.integers(1, 4, len(labels)))).ensemble
        check_greedy(tree(work, linkage), slow_distances(work), work.counts, linkage)


def test_single_linkage_heights_do_not_depend_on_ties():
    ensemble = noisy(n=80, r=5, missing=0.1)
    theirs = scipy_linkage(squareform(slow_distances(ensemble), checks=False), "single")
    ours = tree(prepare(ensemble).ensemble, "single").heights
    assert np.allclose(theirs[len(theirs) - len(ours) :, 2], ours, atol=1e-6)


@pytest.mark.parametrize("linkage", LINKAGES)
@pytest.mark.parametrize("weights", [None, np.linspace(1, 2, 9)])
def test_wide_label_types(linkage, weights):
    rng = np.random.default_rng(4)
    labels = np.concatenate([rng.integers(300, size=(30, 9)) * (rng.random((30, 9)) < 0.5), np.full((9, 9), 7)])
    labels[30:, 0] = np.arange(9)
    work = prepare(Ensemble.from_labels(np.concatenate([labels, rng.integers(999, size=(260, 9))]), weights=weights))
    assert work.ensemble.labels.dtype == np.int16
    small = work.ensemble.rows(np.unique(work.inverse[:39]))
    check_greedy(tree(small, linkage), slow_distances(small), small.counts, linkage)


@pytest.mark.parametrize("linkage", LINKAGES)
def test_slices_change_nothing(linkage, monkeypatch):
    work = prepare(noisy(n=200, r=6, noise=0.5)).ensemble
    expected = tree(work, linkage)
    monkeypatch.setattr(eac, "SLICE", 1)
    assert all(np.array_equal(*pair) for pair in zip(tree(work, linkage), expected, strict=True))


@pytest.mark.parametrize("linkage", LINKAGES)
def test_more_rows_than_a_block(linkage):
    """Each row is at distance 0.5 from those of its label; blocks of rows meet without a seam."""
    n = 4096 + 1000
    labels = np.stack([np.arange(n) % 7, np.arange(n)], axis=1)
    result = partita.consensus(Ensemble.from_labels(labels, allow="id-like-column"), "eac", 7, linkage=linkage)
    assert same_partition(result.labels, labels[:, 0])
    assert result.detail["cut height"] == pytest.approx(0.5, abs=1e-6)


def test_cut_by_hand():
    """Three pairs at 0.25, two of them joined at 0.5, all at 1: two clusters are cut between 0.5 and 1."""
    labels = [[0, 0, 0, 0], [0, 0, 0, 1], [0, 0, 2, 2], [0, 0, 2, 3], [5, 5, 5, 5], [5, 5, 5, 6]]
    result = partita.consensus(labels, "eac", 2)
    assert result.labels.tolist() == [0, 0, 0, 0, 1, 1]
    assert result.detail["merge heights"] == pytest.approx((0.25, 0.25, 0.25, 0.5, 1.0))
    assert result.detail["cut height"] == pytest.approx(0.5)


def test_nothing_known_in_both_is_nothing_shared():
    table = [[0, None], [0, None], [None, 1], [None, 1], [0, 2]]
    result = partita.consensus(Ensemble.from_labels(table, transpose=False), "eac", 2)
    assert result.labels.tolist() == [0, 0, 1, 1, 0]
    assert result.detail["merge heights"] == pytest.approx((0.0, 1.0))


def test_refuses_memory_it_may_not_take():
    ensemble = noisy(n=400, r=9)
    rows = len(ensemble.distinct.first)
    with pytest.raises(MethodError, match=rf"the {rows} distinct rows .* allows 0 GB; set max_memory=0.1.*lwgp"):
        partita.consensus(ensemble, "eac", 4, max_memory=0)
    with pytest.raises(ParameterError, match="max_memory"):
        partita.consensus(ensemble, "eac", 4, max_memory=-1)
    assert eac.needed_memory(20_000) < 1e9
    with pytest.raises(MethodError, match=r"may need 20 GB for the 100000 .* allows 4 GB; set max_memory=20.1"):
        eac.check_memory(100_000, 4.0)


def test_refuses_memory_that_is_not_there(monkeypatch):
    monkeypatch.setattr(eac, "available_memory", lambda: 10**9)
    eac.check_memory(20_000, 4.0)
    with pytest.raises(MethodError, match=r"may need 1\.8 GB .* 1 GB are available; take linkage"):
        eac.check_memory(30_000, 4.0)


def test_single_linkage_needs_no_memory():
    ensemble = noisy(n=400, r=9)
    result = partita.consensus(ensemble, "eac", 4, linkage="single", max_memory=0)
    assert result.k == 4


def test_available_memory(tmp_path, monkeypatch):
    assert memory.available_memory() > 0
    monkeypatch.setattr(memory, "MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(memory, "CGROUP", tmp_path)
    everything = memory.available_memory()
    assert everything is None or everything > 0
    (tmp_path / "meminfo").write_text("MemTotal: 900 kB\nMemAvailable: 500 kB\n")
    assert memory.available_memory() == 500 * 1024
    (tmp_path / "memory.max").write_text("4000\n")
    (tmp_path / "memory.stat").write_text("anon 1000\nfile 2900\n")
    assert memory.available_memory() == 3000
    (tmp_path / "memory.max").write_text("max\n")
    assert memory.available_memory() == 500 * 1024


@pytest.mark.parametrize("linkage", LINKAGES)
def test_tells_how_far_it_is_and_can_be_stopped(linkage, monkeypatch):
    monkeypatch.setattr(eac, "SLICE", 1)
    ensemble, heard = noisy(n=300, r=9), []
    with reporting(lambda what, done, total: heard.append((what, done, total))):
        expected = partita.consensus(ensemble, "eac", 4, linkage=linkage)
    told = [done / total for what, done, total in heard if what == f"eac: {linkage} linkage"]
    assert len(told) > 50 and told == sorted(told) and told[0] == 0 and told[-1] == 1

    def stop(what, done, total):
        if done > total / 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), reporting(stop):
        partita.consensus(ensemble, "eac", 4, linkage=linkage)
    again = partita.consensus(ensemble, "eac", 4, linkage=linkage)
    assert np.array_equal(again.labels, expected.labels)


@pytest.mark.parametrize("linkage", LINKAGES)
def test_only_ratios_of_weights_and_counts_matter(linkage):
    work = prepare(noisy(n=50, r=7, missing=0.1)).ensemble
    counts, weights = 1.0 + np.arange(len(work)) % 3, np.array([3.0, 1.0, 2.0, 1.0, 1.0, 5.0, 1.0])
    expected = tree(replace(work, weights=weights, multiplicity=counts), linkage)
    for scale in (2.0**-40, 2.0**40, 1e30):
        scaled = tree(replace(work, weights=weights * scale, multiplicity=counts * scale), linkage)
        assert all(np.array_equal(found, before) for found, before in zip(scaled, expected, strict=True))


@pytest.mark.parametrize("linkage", LINKAGES)
@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_extreme_weights_and_counts(linkage, missing):
    work = prepare(noisy(n=50, r=7, missing=missing)).ensemble
    weights, counts = np.logspace(-200, 200, 7), np.logspace(-99, 99, len(work))
    merges = tree(replace(work, weights=weights, multiplicity=counts), linkage)
    assert np.isfinite(merges.heights).all() and len(np.unique(eac.cut(merges, len(work) - 4))) == 4


def test_whole_numbers():
    assert eac.whole_numbers(np.array([4.0, 8.0, 4.0])).tolist() == [1, 2, 1]
    assert eac.whole_numbers(np.array([0.25, 0.75])).tolist() == [1, 3]
    assert eac.whole_numbers(np.array([6.0, 9.0])).tolist() == [2, 3]
    assert eac.whole_numbers(np.array([1e-300, 1e300])).tolist() == [1, 2**24]
