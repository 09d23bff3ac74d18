"""BCE by Gibbs on memberships: against enumeration of all clusters and labels, and Geweke's test of the sampler."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

import partita
from partita import SoftEnsemble
from partita.core.types import frozen
from partita.models import bce_gibbs
from partita.models.bce_chain import Plan, Tokens, advance, begin, concentration, counts_of, log_joint, sweep_once
from tests.models.test_bce_gibbs import by_definition
from tests.samples import noisy, noisy_soft, same_partition

FEW = {"chains": 2, "burn_in": 20, "draws": 20}


def soft_tokens(blocks, k, weights=None, alpha=0.7, omega=0.3):
    soft = SoftEnsemble.from_memberships(blocks)
    weights = np.ones(len(blocks)) if weights is None else np.asarray(weights, float)
    return Tokens(
        soft.harden().labels, frozen(soft.offsets), frozen(weights), k, alpha, omega, frozen(soft.matrix.copy())
    )


def by_enumeration(tokens, numbers):
    """The posterior means of numbers of (y, z), over all labels with a membership above 0 and all their clusters."""
    n, r = tokens.labels.shape
    cells = [(i, j) for i in range(n) for j in range(r) if tokens.labels[i, j] >= 0]
    options = [
        [label for label in range(tokens.offsets[j + 1] - tokens.offsets[j])
         if tokens.memberships[i, tokens.offsets[j] + label] > 0]
        for i, j in cells
    ]  # fmt: skip
    logs, values = [], []
    for chosen in itertools.product(*options):
        y = np.full((n, r), -1, np.int8)
        said = 0.0
        for (i, j), label in zip(cells, chosen, strict=True):
            y[i, j] = label
            said += math.log(tokens.memberships[i, tokens.offsets[j] + label])
        given = replace(tokens, labels=frozen(y), memberships=None)
        for clusters in itertools.product(range(tokens.k), repeat=len(cells)):
            z = np.zeros((n, r), np.int8)
            for (i, j), h in zip(cells, clusters, strict=True):
                z[i, j] = h
            logs.append(by_definition(given, z) + said)
            values.append(numbers(y, z))
    chances = np.exp(np.array(logs) - max(logs))
    return chances @ np.array(values) / chances.sum(), max(logs) + math.log(chances.sum())


def numbers_of(y, z):
    """Numbers that do not depend on the names of clusters."""
    return [y[0, 0] == 0, y[1, 1] == 0, z[0, 0] == z[1, 0], z[0, 0] == z[0, 1], z[1, 1] == z[2, 1]]


BLOCKS = [
    [[0.7, 0.3], [0.4, 0.6], [0.0, 1.0]],
    [[0.2, 0.8], [0.5, 0.5], [0.9, 0.1]],
]


@pytest.mark.parametrize("weights", [None, [0.5, 1.5]])
def test_long_runs_match_enumeration(weights):
    tokens = soft_tokens(BLOCKS, 2, weights)
    expected, _ = by_enumeration(tokens, numbers_of)
    z, labels = np.zeros((3, 2), np.int8), tokens.labels.copy()
    tokens = replace(tokens, labels=labels)
    counts, draws, total = counts_of(tokens, z), 40_000, np.zeros(5)
    for number in range(draws):
        sweep_once(tokens, z, counts, np.uint64(4), number, labels)
        total += numbers_of(labels, z)
    for kept, anew in zip(counts, counts_of(tokens, z), strict=True):
        assert np.array_equal(kept, anew)
    assert np.abs(total / draws - expected).max() < 0.012


def test_log_joint_has_the_memberships():
    tokens = soft_tokens([*BLOCKS, [[np.nan] * 2, [0.3, 0.7], [1, 0]]], 3, [1, 0.6, 1.4])
    z = np.random.default_rng(0).integers(3, size=(3, 3)).astype(np.int8)
    given = replace(tokens, memberships=None)
    said = math.log(0.7 * 0.6 * 1.0 * 0.8 * 0.5 * 0.9 * 0.7 * 1.0)
    assert log_joint(tokens, z, counts_of(tokens, z)) == pytest.approx(by_definition(given, z) + said, abs=1e-10)


@pytest.mark.parametrize("weights", [None, [1, 2, 0.5, 1, 1.5, 1, 1]])
def test_the_kernel_of_memberships_draws_the_chains_of_labels(weights):
    """One-hot rows in the kernel of memberships: the same uniform numbers lead to the same clusters."""
    hard = noisy(n=30, missing=0.2)
    soft = SoftEnsemble.from_hard(hard)
    weights = frozen(np.ones(7) if weights is None else np.array(weights, float))
    tokens = Tokens(hard.labels, frozen(hard.offsets), weights, 3, 0.7, 0.3)
    plan, chosen = Plan(5, 10, 2), np.arange(30, dtype=np.int32) % 3
    chains = [
        advance(one, plan, 100, begin(one, chosen, np.random.default_rng(1)))
        for one in (tokens, replace(tokens, memberships=frozen(soft.matrix.copy())))
    ]
    assert np.array_equal(chains[0].z, chains[1].z) and np.array_equal(chains[1].labels, hard.labels)
    assert np.allclose(chains[0].trace, chains[1].trace, rtol=1e-12) and np.array_equal(chains[0].sums, chains[1].sums)


def test_one_hot_rows_give_exactly_the_result_of_labels():
    hard = noisy(n=40, missing=0.15)
    results = [partita.consensus(table, "bce-gibbs", 3, **FEW) for table in (hard, SoftEnsemble.from_hard(hard))]
    for name in ("labels", "membership", "trace"):
        assert np.array_equal(getattr(results[0], name), getattr(results[1], name))
    assert results[0].detail == results[1].detail and np.array_equal(results[0].model.stacked, results[1].model.stacked)


def test_threads_and_blocks_change_nothing(monkeypatch):
    soft = noisy_soft()
    whole = partita.consensus(soft, "bce-gibbs", 3, threads=1, **FEW)
    monkeypatch.setattr(bce_gibbs, "BLOCK", 300)
    parts = partita.consensus(soft, "bce-gibbs", 3, threads=2, **FEW)
    assert whole.trace == parts.trace and np.array_equal(whole.membership, parts.membership)


def test_mixed_missing_and_weighted_memberships():
    """Weak memberships of a common truth, one hard clustering, gaps, counts and weights; new objects are predicted."""
    rng = np.random.default_rng(2)
    truth = rng.permutation(np.arange(60) % 3)
    blocks = []
    for _ in range(7):
        block = 0.55 * np.eye(3)[truth] + 0.45 * rng.dirichlet(np.ones(3), 60)
        block[rng.random(60) < 0.15] = np.nan
        blocks.append(block)
    weights = [1, 1, 2, 0.5, 1, 1, 1, 0]
    soft = SoftEnsemble.from_memberships([*blocks, np.where(truth == 0, None, truth).tolist()], weights=weights)
    soft = soft.with_counts(np.arange(60) % 2 + 1)
    result = partita.consensus(soft, "bce-gibbs", 3, **FEW)
    assert partita.evaluate(result, truth=truth)["nmi"] > 0.9 and np.isfinite(result.trace).all()
    assert same_partition(result.predict(soft), result.labels)
    assert np.isfinite(result.log_likelihood(soft))


# Geweke: labels are hidden behind reports; a report's membership of a label is the probability of the report given it.

N, SIZES, K, ALPHA, OMEGA = 4, (2, 3), 2, 0.8, 0.6
OFFSETS = frozen(np.array([0, 2, 5]))
MISSING_CELLS = np.zeros((N, 2), bool)
MISSING_CELLS[1, 0] = True
BATCHES = 40


def reports_of(size):
    """(labels, reports) the probability of each report given the label: half are exact, half are right by 70 %."""
    vague = np.where(np.eye(size), 0.7, 0.3 / (size - 1))
    return np.hstack([0.5 * np.eye(size), 0.5 * vague])


REPORTS = [reports_of(size) for size in SIZES]


def reported(y, rng):
    """(n, t) memberships of labels, from a report of each known label."""
    matrix = np.zeros((N, sum(SIZES)))
    for i, j in itertools.product(range(N), range(2)):
        if y[i, j] >= 0:
            likelihood = REPORTS[j][:, rng.choice(2 * SIZES[j], p=REPORTS[j][y[i, j]])]
            matrix[i, OFFSETS[j] : OFFSETS[j + 1]] = likelihood / likelihood.sum()
    return matrix


def geweke_numbers(y, z, matrix):
    tokens = Tokens(frozen(y.copy()), OFFSETS, frozen(np.ones(2)), K, ALPHA, OMEGA, frozen(matrix))
    counts = counts_of(tokens, z)
    within = np.mean([(z[i, 0] == z[i, 1]) for i in (0, 2, 3)])
    equal = sum(np.equal.outer(column, column).sum() for column in y.T)
    agreeing = sum(np.equal.outer(column, column)[y[:, j] >= 0].sum() for j, column in enumerate(z.T))
    sure = (matrix == 1).sum()
    return log_joint(tokens, z, counts), concentration(tokens, counts), within, equal, agreeing, sure


def from_the_model(rng):
    theta = rng.dirichlet(np.full(K, ALPHA), N)
    y, z = np.full((N, 2), -1, np.int8), np.zeros((N, 2), np.int8)
    for j, size in enumerate(SIZES):
        beta = rng.dirichlet(np.full(size, OMEGA), K)
        for i in range(N):
            if not MISSING_CELLS[i, j]:
                z[i, j] = rng.choice(K, p=theta[i])
                y[i, j] = rng.choice(size, p=beta[z[i, j]])
    return y, z


def geweke_distances(count, broken=False):
    """By number, how many standard errors the means of model and chain are apart."""
    rng = np.random.default_rng(6)
    model = []
    for _ in range(6000):
        y, z = from_the_model(rng)
        model.append(geweke_numbers(y, z, reported(y, rng)))
    chain = []
    for number in range(count):
        matrix = reported(y, rng)
        tokens = Tokens(y, OFFSETS, frozen(np.ones(2)), K, ALPHA, OMEGA, frozen(matrix))
        if broken:  # labels by their memberships alone, whatever their clusters
            for i, j in zip(*np.nonzero(y >= 0), strict=True):
                y[i, j] = rng.choice(SIZES[j], p=matrix[i, OFFSETS[j] : OFFSETS[j + 1]])
            sweep_once(replace(tokens, memberships=None), z, counts_of(tokens, z), np.uint64(9), number)
        else:
            sweep_once(tokens, z, counts_of(tokens, z), np.uint64(9), number, y)
        chain.append(geweke_numbers(y, z, matrix))
    model, chain = np.array(model), np.array(chain)
    means = chain.reshape(BATCHES, -1, chain.shape[1]).mean(axis=1)
    error = np.sqrt(model.var(axis=0) / len(model) + means.var(axis=0, ddof=1) / BATCHES)
    return ((chain.mean(axis=0) - model.mean(axis=0)) / error).round(2)


@pytest.mark.slow
def test_the_sampler_keeps_the_model():
    found = geweke_distances(24_000)
    assert np.abs(found).max() < 3.5, found


@pytest.mark.slow
def test_labels_drawn_from_the_memberships_alone_are_caught():
    found = geweke_distances(6000, broken=True)
    assert np.abs(found).max() > 8, found
