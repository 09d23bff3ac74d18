"""BCE by Gibbs against enumeration of all assignments, and against its joint distribution written out."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import partita
from partita import Ensemble
from partita.core import memory
from partita.core.errors import MethodError, ParameterError
from partita.core.progress import reporting
from partita.core.types import frozen
from partita.kernels.gibbs import sweep_even, sweep_weighted
from partita.models import bce_gibbs
from partita.models.bce_chain import (
    Chain,
    Plan,
    Tokens,
    advance,
    begin,
    concentration,
    counts_of,
    log_joint,
    posterior_means,
    sweep_once,
)
from tests.core.oracles import steady
from tests.samples import noisy, noisy_labels, same_partition

seeds = st.integers(0, 2**32 - 1)
GOLDEN, WORD = 0x9E3779B97F4A7C15, 2**64


def tokens_of(labels, k, weights=None, alpha=0.7, omega=0.3):
    labels = np.asarray(labels, np.int8)
    offsets = np.concatenate([[0], np.cumsum(labels.max(axis=0) + 1)])
    weights = np.ones(labels.shape[1]) if weights is None else np.asarray(weights, float)
    return Tokens(frozen(labels), frozen(offsets), frozen(weights), k, alpha, omega)


def table(seed, n=5, r=3, k=3, missing=0.25, even=True):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, size=(n, r))
    labels[rng.random((n, r)) < missing] = -1
    labels[0] = 0
    weights = np.ones(r) if even else rng.uniform(0.2, 2.5, r)
    tokens = tokens_of(labels, k, weights, rng.uniform(0.1, 2), rng.uniform(0.05, 2))
    return tokens, rng.integers(0, k, size=(n, r)).astype(np.int8), rng


def known_tokens(tokens):
    n, r = tokens.labels.shape
    return [(i, j) for i in range(n) for j in range(r) if tokens.labels[i, j] >= 0]


def by_urn(tokens, z):
    """log p(z, y) where each label counts 1: labels come one by one, each given those before (no Gamma function)."""
    total, seen = 0.0, []
    for i, j in known_tokens(tokens):
        h, label, size = z[i, j], tokens.labels[i, j], tokens.offsets[j + 1] - tokens.offsets[j]
        mine = [z[a, b] for a, b in seen if a == i]
        there = [tokens.labels[a, b] for a, b in seen if b == j and z[a, b] == h]
        total += math.log((tokens.alpha + mine.count(h)) / (tokens.k * tokens.alpha + len(mine)))
        total += math.log((tokens.omega + there.count(label)) / (size * tokens.omega + len(there)))
        seen.append((i, j))
    return total


def by_definition(tokens, z):
    """The product of Dirichlet-multinomials at weighted counts."""

    def dirichlet(counts, prior):
        rise = sum(math.lgamma(prior + c) - math.lgamma(prior) for c in counts)
        return rise + math.lgamma(len(counts) * prior) - math.lgamma(len(counts) * prior + sum(counts))

    total, weights, places = 0.0, tokens.weights, known_tokens(tokens)
    for i in range(len(tokens.labels)):
        held = [sum(weights[b] for a, b in places if a == i and z[a, b] == h) for h in range(tokens.k)]
        total += dirichlet(held, tokens.alpha)
    for j, h in itertools.product(range(len(weights)), range(tokens.k)):
        there = [tokens.labels[a, b] for a, b in places if b == j and z[a, b] == h]
        size = tokens.offsets[j + 1] - tokens.offsets[j]
        total += dirichlet([weights[j] * there.count(label) for label in range(size)], tokens.omega)
    return total


def conditional(tokens, z, i, j):
    """(k,) the chances of one label's cluster as ratios of joint probabilities."""
    joints = []
    for h in range(tokens.k):
        other = z.copy()
        other[i, j] = h
        joints.append(by_definition(tokens, other))
    chances = np.exp(np.array(joints) - max(joints))
    return chances / chances.sum()


def mixed(x):
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) % WORD
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) % WORD
    return x ^ (x >> 31)


def unmixed(x):
    x = (x ^ (x >> 31) ^ (x >> 62)) * pow(0x94D049BB133111EB, -1, WORD) % WORD
    x = (x ^ (x >> 27) ^ (x >> 54)) * pow(0xBF58476D1CE4E5B9, -1, WORD) % WORD
    return x ^ (x >> 30) ^ (x >> 60)


def seed_for(chance, row, columns):
    """The seed with which the first label of a row meets this uniform number, in sweep 0."""
    state = unmixed(int(chance * 2**53) << 11)
    return np.uint64((state - GOLDEN * (row * columns + 1)) % WORD)


@steady
@given(seeds, st.integers(1, 4), st.booleans())
def test_log_joint_is_the_product_of_its_factors(seed, k, even):
    tokens, z, _ = table(seed, k=k, even=even)
    found = log_joint(tokens, z, counts_of(tokens, z))
    assert found == pytest.approx(by_definition(tokens, z), abs=1e-10)
    if even:
        assert found == pytest.approx(by_urn(tokens, z), abs=1e-10)


def test_joint_probabilities_of_all_tables_sum_to_1():
    total = 0.0
    for y in itertools.product((0, 1), repeat=4):
        labels = np.array([*y, 0, 0, 1, 1]).reshape(4, 2)[:2]
        for z in itertools.product((0, 1), repeat=4):
            tokens = Tokens(frozen(labels.astype(np.int8)), np.array([0, 2, 4]), frozen(np.ones(2)), 2, 0.7, 0.3)
            clusters = np.array(z, np.int8).reshape(2, 2)
            total += math.exp(log_joint(tokens, clusters, counts_of(tokens, clusters)))
    assert total == pytest.approx(1, abs=1e-12)


@steady
@given(seeds, st.integers(2, 4), st.booleans())
def test_one_draw_follows_the_ratio_of_joints(seed, k, even):
    """A uniform number 1e-12 below a step of the exact distribution draws the cluster below it, one above the next."""
    tokens, z, rng = table(seed, k=k, even=even)
    places = [i for i, j in known_tokens(tokens) if j == 0]
    row = int(rng.choice(places))
    steps = np.cumsum(conditional(tokens, z, row, 0))
    for h in range(k - 1):
        for move, expected in ((-1e-12, h), (1e-12, h + 1)):
            drawn, counts = z.copy(), counts_of(tokens, z)
            rest = (drawn, *counts, tokens.alpha, tokens.omega, seed_for(steps[h] + move, row, 3), 0, row, row + 1)
            if even:
                sweep_even(tokens.labels, tokens.offsets, *rest)
            else:
                sweep_weighted(tokens.labels, tokens.offsets, tokens.weights, *rest)
            assert drawn[row, 0] == expected


@steady
@given(seeds, st.integers(1, 4), st.booleans())
def test_sweeps_are_those_of_a_slow_sampler(seed, k, even):
    """Every label in turn, given all others, with the same uniform numbers; counts stay those of the clusters."""
    tokens, z, rng = table(seed, k=k, even=even)
    chain_seed = int(rng.integers(2**64, dtype=np.uint64))
    slow, counts = z.copy(), counts_of(tokens, z)
    n, r = z.shape
    for sweep in (1, 2):
        sweep_once(tokens, z, counts, np.uint64(chain_seed), sweep)
        for i, j in known_tokens(tokens):
            state = (chain_seed + GOLDEN * ((sweep * n + i) * r + j + 1)) % WORD
            chance = (mixed(state) >> 11) / 2**53
            slow[i, j] = min(np.searchsorted(np.cumsum(conditional(tokens, slow, i, j)), chance, "right"), k - 1)
        assert np.array_equal(z, slow)
        assert all(np.array_equal(a, b) for a, b in zip(counts, counts_of(tokens, z), strict=True))


@steady
@given(seeds)
def test_weights_of_1_are_no_weights(seed):
    tokens, z, _ = table(seed, n=30)
    other, counts, more = z.copy(), counts_of(tokens, z), counts_of(tokens, z)
    rest = (tokens.alpha, tokens.omega, np.uint64(seed), 1, 0, len(z))
    sweep_even(tokens.labels, tokens.offsets, z, *counts, *rest)
    sweep_weighted(tokens.labels, tokens.offsets, tokens.weights, other, *more, *rest)
    assert np.array_equal(z, other)


@pytest.mark.parametrize("parts", [(0, 3, 7), (0, 1, 2, 7)])
def test_a_sweep_in_parts_is_the_sweep(parts):
    tokens, z, _ = table(5, n=7)
    whole, counts = z.copy(), counts_of(tokens, z)
    sweep_once(tokens, whole, counts, np.uint64(9), 4)
    counts = counts_of(tokens, z)
    for start, stop in itertools.pairwise(parts):
        sweep_even(tokens.labels, tokens.offsets, z, *counts, tokens.alpha, tokens.omega, np.uint64(9), 4, start, stop)
    assert np.array_equal(z, whole)


CASES = [
    ([[0, 0], [0, 1], [1, 1]], None),
    ([[0, 0], [0, -1], [1, 1]], None),
    ([[0, 0], [1, 1]], None),
    ([[0, 0], [0, 0], [1, -1]], (1.6, 0.4)),
]


def together(z, places):
    """(pairs,) which pairs of labels lie in the same cluster."""
    return np.array([z[a] == z[b] for a, b in itertools.combinations(places, 2)], float)


@pytest.mark.parametrize(("labels", "weights"), CASES)
@pytest.mark.parametrize("k", [2, 3])
def test_long_runs_match_enumeration(labels, weights, k):
    """The chance that two labels lie in the same cluster, over all assignments and over draws."""
    tokens = tokens_of(labels, k, weights)
    places = known_tokens(tokens)
    exact, mass = 0.0, 0.0
    for clusters in itertools.product(range(k), repeat=len(places)):
        z = np.zeros(tokens.labels.shape, np.int8)
        for place, h in zip(places, clusters, strict=True):
            z[place] = h
        chance = math.exp(by_definition(tokens, z))
        exact, mass = exact + chance * together(z, places), mass + chance
    z = np.zeros(tokens.labels.shape, np.int8)
    counts, drawn = counts_of(tokens, z), 0.0
    for sweep in range(1, 30_001):
        sweep_once(tokens, z, counts, np.uint64(11), sweep)
        drawn = drawn + together(z, places) / 30_000
    assert np.abs(drawn - exact / mass).max() < 0.02


def test_starts_are_softened():
    tokens = tokens_of(np.zeros((20_000, 2), int), 4)
    chosen = (np.arange(20_000) % 4).astype(np.int32)
    first, second = (begin(tokens, chosen, rng) for rng in np.random.default_rng(0).spawn(2))
    shares = np.bincount((first.z - chosen[:, None]).ravel() % 4) / 40_000
    assert np.allclose(shares, [0.9, 1 / 30, 1 / 30, 1 / 30], atol=0.006)
    assert not np.array_equal(first.z, second.z) and first.z.dtype == np.int8
    assert not begin(tokens_of([[0], [0]], 1), np.zeros(2, np.int32), np.random.default_rng(0)).z.any()


def test_blocks_of_sweeps_are_one_run_and_chains_never_change():
    labels, _ = noisy_labels(n=30, r=4, missing=0.2)
    tokens, plan = tokens_of(labels, 4), Plan(burn_in=3, draws=4, thin=2)
    start = begin(tokens, np.zeros(30, np.int32), np.random.default_rng(3))
    copy = start.z.copy()
    whole = advance(tokens, plan, 1000, start)
    parts = start
    for _ in range(11):
        parts = advance(tokens, plan, 1, parts)
    assert len(whole.trace) == 11 and len(whole.kept) == 4
    assert [joint for joint, _ in whole.kept] == [whole.trace[s] for s in (4, 6, 8, 10)]
    assert parts.trace == whole.trace and parts.kept == whole.kept and np.array_equal(parts.sums, whole.sums)
    assert np.array_equal(start.z, copy) and not start.sums.any()
    assert whole.trace[-1] == pytest.approx(by_definition(tokens, whole.z), abs=1e-9)
    assert np.allclose(whole.sums.sum(axis=1), 4 * (labels >= 0).sum(axis=1))
    assert whole.tables.sum() == 4 * (labels >= 0).sum()


def chain_of(tokens, z, draws=1, joint=0.0):
    held = np.stack([((z == h) & (tokens.labels >= 0)) @ tokens.weights for h in range(tokens.k)], axis=1)
    tables = counts_of(tokens, z).tables.astype(float)
    return Chain(np.uint64(0), z, held * draws, tables * draws, kept=((joint, 0.5),) * draws)


@steady
@given(seeds, st.integers(2, 4), st.booleans())
def test_posterior_means_do_not_feel_what_clusters_are_called(seed, k, even):
    tokens, z, rng = table(seed, n=12, k=k, even=even)
    z[:, :] = (np.arange(12) % k)[:, None]
    names = rng.permutation(k).astype(np.int8)
    chains = [chain_of(tokens, names[z], 2, joint=-3.0), chain_of(tokens, z, 5, joint=-1.0)]
    means = posterior_means(tokens, chains)
    assert means.best == 1
    for i in range(12):
        held = np.array([sum(tokens.weights[j] for a, j in known_tokens(tokens) if a == i and z[i, j] == h)
                         for h in range(k)])  # fmt: skip
        assert np.allclose(means.shares[i], (tokens.alpha + held) / (tokens.alpha + held).sum(), atol=1e-12)
    for j in range(3):
        block = slice(tokens.offsets[j], tokens.offsets[j + 1])
        counts = tokens.omega + tokens.weights[j] * counts_of(tokens, z).tables[block]
        assert np.allclose(means.probs[block], counts / counts.sum(axis=0), atol=1e-12)


def test_draws_are_renamed_before_they_are_averaged():
    """A chain with weak priors that swaps clusters still averages to clear memberships."""
    truth = np.arange(40) % 2
    tokens = tokens_of(np.stack([truth] * 4, axis=1), 2, alpha=1.0, omega=0.1)
    swapped = np.repeat((1 - truth)[:, None], 4, axis=1).astype(np.int8)
    chain = chain_of(tokens, np.repeat(truth[:, None], 4, axis=1).astype(np.int8))
    moved = advance(tokens, Plan(0, 1, 1), 1, chain._replace(z=swapped, kept=()))
    assert (moved.sums[:, 0] > moved.sums[:, 1]).tolist() == (truth == 0).tolist()
    assert moved.sums.max() > 7


def test_concentration_is_the_chance_of_a_common_cluster():
    tokens, z, _ = table(2, n=20, even=False)
    places = known_tokens(tokens)
    weights = [tokens.weights[j] for _, j in places]
    same = sum(
        v * w for (a, v), (b, w) in itertools.product(zip(places, weights, strict=True), repeat=2) if z[a] == z[b]
    )
    assert concentration(tokens, counts_of(tokens, z)) == pytest.approx(same / sum(weights) ** 2, abs=1e-12)


FAST = {"chains": 3, "burn_in": 20, "draws": 30}


def test_result_tells_of_chains_and_mixing():
    result = partita.consensus(noisy(n=50, missing=0.1), "bce-gibbs", 4, thin=2, **FAST)
    assert len(result.trace) == 20 + 60 and len(result.detail["log joint"]) == 3 and result.detail["draws"] == 90
    assert max(result.detail["log joint"]) == pytest.approx(np.mean(result.trace[21::2]), rel=1e-12)
    assert set(result.detail["mixing"]) == {"log joint", "concentration"}
    for found in result.detail["mixing"].values():
        assert set(found) == {"rhat", "bulk", "tail"} and found["rhat"] > 0.9
    assert result.converged is False and "raise burn_in and draws" in result.notes[0]
    assert "interrupted" not in result.detail


def test_enough_draws_are_said_to_be_enough():
    result = partita.consensus(noisy(n=40, r=9, noise=0.1), "bce-gibbs", 4)
    assert result.converged and result.notes == ()
    assert all(one["rhat"] <= 1.01 and one["bulk"] >= 400 for one in result.detail["mixing"].values())


@pytest.mark.parametrize("weights", [None, [1, 2, 0.5, 1, 1, 3, 1]])
def test_threads_and_blocks_change_nothing(weights, monkeypatch):
    labels, _ = noisy_labels(n=80, missing=0.1)
    ensemble = Ensemble.from_labels(labels, missing=-1, weights=weights)
    results = [partita.consensus(ensemble, "bce-gibbs", 4, threads=threads, **FAST) for threads in (1, 2)]
    monkeypatch.setattr(bce_gibbs, "BLOCK", 1)
    results.append(partita.consensus(ensemble, "bce-gibbs", 4, threads=2, **FAST))
    for result in results[1:]:
        assert np.array_equal(result.membership, results[0].membership) and result.trace == results[0].trace


def test_pooled_is_the_mean_of_each_group():
    values = np.array([[0.0, 1.0], [0.5, 0.5], [1.0, 0.0], [0.25, 0.75], [0.75, 0.25]])
    found = bce_gibbs.pooled(values, np.array([1, 0, 1, 0, 1]))
    assert np.allclose(found, [[0.375, 0.625], [1.75 / 3, 1.25 / 3]], rtol=1e-15)


def test_equal_rows_have_equal_memberships_and_counts_are_objects():
    ensemble = noisy(n=30, r=4, noise=0.1)
    counts = 1 + np.arange(30) % 3
    rows = np.repeat(np.arange(30), counts)
    counted = partita.consensus(ensemble.with_counts(counts), "bce-gibbs", 4, **FAST)
    written = partita.consensus(ensemble.rows(rows), "bce-gibbs", 4, **FAST)
    assert same_partition(counted.labels[rows], written.labels)
    inverse = ensemble.rows(rows).distinct.inverse
    for group in range(inverse.max() + 1):
        assert len(np.unique(written.membership[inverse == group], axis=0)) == 1
    with pytest.raises(MethodError, match=r"stands for 1\.5 objects; give whole counts"):
        partita.consensus(ensemble.with_counts(np.where(counts > 2, 1.5, 1)), "bce-gibbs", 4)


def test_equal_weights_are_no_weights():
    labels, _ = noisy_labels()
    plain, weighted = (
        partita.consensus(Ensemble.from_labels(labels, weights=weights), "bce-gibbs", 4, **FAST)
        for weights in (None, [0.1] * 7)
    )
    assert plain.trace == weighted.trace


def test_heavier_clusterings_win():
    a, b = np.arange(60) % 2, np.arange(60) // 30
    ensemble = Ensemble.from_labels(np.stack([a, a, a, b, b, b], axis=1), weights=[3, 3, 3, 0.3, 0.3, 0.3])
    assert same_partition(partita.consensus(ensemble, "bce-gibbs", 2, **FAST).labels, a)


def stopping_after(blocks):
    """`advance` that is interrupted once so many blocks are done."""
    done = 0

    def step(*arguments):
        nonlocal done
        if done >= blocks:
            raise KeyboardInterrupt
        done += 1
        return advance(*arguments)

    return step


@pytest.mark.parametrize("threads", [1, 2])
def test_interruption_keeps_the_draws_so_far(threads, monkeypatch):
    ensemble = noisy(n=50)
    whole = partita.consensus(ensemble, "bce-gibbs", 4, chains=2, burn_in=5, draws=7)
    monkeypatch.setattr(bce_gibbs, "BLOCK", 1)
    monkeypatch.setattr(bce_gibbs, "advance", stopping_after(2 * 12))
    result = partita.consensus(ensemble, "bce-gibbs", 4, chains=2, burn_in=5, draws=100, threads=threads)
    assert result.detail["interrupted"] is True and result.converged is False
    assert result.notes[0].startswith("interrupted: the average of 7 of 100 draws a chain")
    assert len(result.trace) == 12 and np.array_equal(result.membership, whole.membership)


def test_interruption_between_blocks():
    def stop(what, done, total):
        if what == "bce-gibbs sweeps" and done >= 30:
            raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch, reporting(stop):
        patch.setattr(bce_gibbs, "BLOCK", 50 * 7 * 10)
        result = partita.consensus(noisy(n=50), "bce-gibbs", 4, burn_in=5, draws=100)
    assert result.detail["interrupted"] and result.detail["draws"] == 4 * 25


def test_interruption_in_the_burn_in_keeps_where_the_chains_stood(monkeypatch):
    monkeypatch.setattr(bce_gibbs, "BLOCK", 1)
    monkeypatch.setattr(bce_gibbs, "advance", stopping_after(5))
    result = partita.consensus(noisy(n=50), "bce-gibbs", 4, chains=1, burn_in=50)
    assert result.detail["interrupted"] and result.converged is False and len(result.trace) == 5
    assert "after 5 of 50 sweeps" in result.notes[0] and np.allclose(result.membership.sum(axis=1), 1)


def test_interruption_before_the_first_sweep_goes_on_up(monkeypatch):
    monkeypatch.setattr(bce_gibbs, "advance", stopping_after(0))
    with pytest.raises(KeyboardInterrupt):
        partita.consensus(noisy(n=50), "bce-gibbs", 4, chains=1, burn_in=5)


def test_least_settings_work_and_wrong_ones_are_refused():
    result = partita.consensus(noisy(), "bce-gibbs", 4, chains=1, burn_in=0, draws=1)
    assert len(result.trace) == 1 and result.converged is False and "R-hat inf" in result.notes[0]
    for wrong in ({"alpha": 0}, {"omega": 0}, {"chains": 0}, {"draws": 0}, {"thin": 0}, {"burn_in": -1}):
        with pytest.raises(ParameterError, match="out of range"):
            partita.consensus(noisy(), "bce-gibbs", 4, **wrong)


def test_refuses_memory_that_is_not_there(monkeypatch):
    ensemble = noisy()
    monkeypatch.setattr(memory, "available_memory", lambda: 5_000)
    with pytest.raises(MethodError, match=r"bce-gibbs with 4 chains may need .* GB, and 5e-06 GB are available; ask"):
        partita.consensus(ensemble, "bce-gibbs", 3)
