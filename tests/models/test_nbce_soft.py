"""NBCE by Gibbs on memberships: against enumeration of all clusters and labels, and Geweke's test of the sampler."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

import partita
from partita import SoftEnsemble
from partita.core.counting import unit_weights
from partita.core.types import frozen
from partita.models import nbce_gibbs
from partita.models.nbce import Rows, Strengths, log_joint, seats_of
from partita.models.nbce_chain import Plan, advance, begin, drawn_strengths, sweep_once
from partita.models.nbce_place import Sampled, mixture_of
from tests.models import nbce_oracle as oracle
from tests.models.test_bce_soft import BLOCKS
from tests.samples import noisy, noisy_soft, same_partition

FEW = {"chains": 2, "burn_in": 20, "draws": 20, "settle": 10}
priors = pytest.mark.parametrize("prior", ["tsb", "fsd"])


def soft_rows(soft, clusters, prior):
    weights = unit_weights(soft)
    memberships = frozen(soft.matrix.copy())
    return Rows(soft.harden().labels, frozen(soft.offsets), frozen(weights), clusters, prior, memberships)


def by_enumeration(rows, strengths, numbers):
    """The posterior means of numbers of (y, z), over all labels with a membership above 0 and all clusters."""
    n, r = rows.labels.shape
    sizes = np.diff(rows.offsets)
    cells = [(i, j) for i in range(n) for j in range(r) if rows.labels[i, j] >= 0]
    options = [[x for x in range(sizes[j]) if rows.memberships[i, rows.offsets[j] + x] > 0] for i, j in cells]
    logs, values = [], []
    for chosen in itertools.product(*options):
        y, said = np.full((n, r), -1), 0.0
        for (i, j), label in zip(cells, chosen, strict=True):
            y[i, j] = label
            said += math.log(rows.memberships[i, rows.offsets[j] + label])
        for z in itertools.product(range(rows.truncation), repeat=n):
            log = oracle.log_prior(z, rows.truncation, strengths.alpha, rows.prior) + said
            log += oracle.log_labels(y, sizes, z, rows.truncation, strengths.beta, rows.weights)
            logs.append(log)
            values.append(numbers(y, np.array(z)))
    chances = np.exp(np.array(logs) - max(logs))
    return chances @ np.array(values) / chances.sum()


def numbers_of(y, z):
    return [y[0, 0] == 0, y[1, 1] == 0, y[3, 1] == 0, z[0] == z[1], z[0] == z[2], z[2] == z[3], len(set(z.tolist()))]


@pytest.mark.slow
@priors
@pytest.mark.parametrize("weights", [None, [0.5, 1.5]])
def test_long_runs_match_enumeration(prior, weights):
    soft = SoftEnsemble.from_memberships(
        [[*BLOCKS[0], [np.nan, np.nan]], [*BLOCKS[1], [0.5, 0.5]]], weights=weights or [1, 1]
    )
    rows, strengths = soft_rows(soft, 3, prior), Strengths(0.9, 0.4)
    expected = by_enumeration(rows, strengths, numbers_of)
    labels = rows.labels.copy()
    rows = replace(rows, labels=labels)
    seats, draws, total = seats_of(rows, np.zeros(4, np.int32)), 20_000, np.zeros(7)
    for number in range(draws):
        sweep_once(rows, seats, strengths, np.uint64(4), number, labels)
        total += numbers_of(labels, seats.z)
    again = seats_of(rows, seats.z)
    used = seats.clusters
    for places in range(used):
        one = again.book[2, seats.book[1, places]]
        assert np.array_equal(seats.tables[:, places], again.tables[:, one])
    assert np.abs(total / draws - expected).max() < 0.02


@priors
@pytest.mark.parametrize("weighted", [False, True])
def test_the_kernel_of_memberships_draws_the_chains_of_labels(prior, weighted):
    """One-hot rows in the kernel of memberships: the same uniform numbers lead to the same clusters."""
    hard = noisy(n=40, missing=0.2)
    soft = SoftEnsemble.from_hard(hard)
    weights = frozen(np.array([1, 2, 0.5, 1, 0.8, 1, 0.7]) if weighted else np.ones(7))
    rows = Rows(hard.labels, frozen(hard.offsets), weights, 12, prior)
    plan, chosen = Plan(5, 10, 2, 3, True, True), np.zeros(40, np.int32)
    chains = [
        advance(one, plan, 100, begin(one, chosen, Strengths(1.0, 0.5), np.random.default_rng(1)))
        for one in (rows, replace(rows, memberships=frozen(soft.matrix.copy())))
    ]
    assert np.array_equal(chains[0].seats.z, chains[1].seats.z) and np.array_equal(chains[1].labels, hard.labels)
    assert np.allclose(chains[0].trace, chains[1].trace, rtol=1e-9)
    for one, other in zip(*(chain.kept for chain in chains), strict=True):
        models = [mixture_of(rows, Sampled(d.z, Strengths(*d.point[2:]), d.tables)) for d in (one, other)]
        assert np.allclose(models[0].log_probs, models[1].log_probs, rtol=1e-9)


def test_log_joint_has_the_memberships():
    soft = SoftEnsemble.from_memberships(BLOCKS)
    rows, z = soft_rows(soft, 4, "tsb"), np.array([0, 2, 0], np.int32)
    given = replace(rows, memberships=None)
    strengths = Strengths(0.9, 0.4)
    said = math.log(0.7 * 0.6 * 1.0 * 0.8 * 0.5 * 0.9)
    assert log_joint(rows, seats_of(rows, z), strengths) == pytest.approx(
        log_joint(given, seats_of(given, z), strengths) + said
    )


@priors
def test_one_hot_rows_give_exactly_the_result_of_labels(prior):
    hard = noisy(n=40, missing=0.15)
    results = [
        partita.consensus(table, "nbce-gibbs", prior=prior, **FEW) for table in (hard, SoftEnsemble.from_hard(hard))
    ]
    for name in ("labels", "membership", "trace"):
        assert np.array_equal(getattr(results[0], name), getattr(results[1], name))
    assert np.array_equal(results[0].draws.labels, results[1].draws.labels)
    assert results[0].detail == results[1].detail and np.array_equal(results[0].model.stacked, results[1].model.stacked)


def test_threads_and_blocks_change_nothing(monkeypatch):
    soft = noisy_soft()
    whole = partita.consensus(soft, "nbce-gibbs", threads=1, **FEW)
    monkeypatch.setattr(nbce_gibbs, "BLOCK", 300)
    parts = partita.consensus(soft, "nbce-gibbs", threads=2, **FEW)
    assert whole.trace == parts.trace and np.array_equal(whole.draws.labels, parts.draws.labels)
    assert np.array_equal(whole.model.stacked, parts.model.stacked)


@priors
def test_mixed_missing_and_weighted_memberships(prior):
    """Weak memberships of a common truth, one hard clustering, gaps, counts and weights; new objects are predicted."""
    rng = np.random.default_rng(2)
    truth = rng.permutation(np.arange(60) % 3)
    blocks = []
    for _ in range(7):
        block = 0.55 * np.eye(3)[truth] + 0.45 * rng.dirichlet(np.ones(3), 60)
        block[rng.random(60) < 0.15] = np.nan
        blocks.append(block)
    weights = [1, 1, 2, 0.5, 1, 1, 1, 0.5]
    soft = SoftEnsemble.from_memberships([*blocks, np.where(truth == 0, None, truth).tolist()], weights=weights)
    soft = soft.with_counts(np.arange(60) % 2 + 1)
    result = partita.consensus(soft, "nbce-gibbs", prior=prior, **FEW)
    assert partita.evaluate(result, truth=truth)["nmi"] > 0.9 and np.isfinite(result.trace).all()
    assert same_partition(result.predict(soft), result.labels)
    assert result.detail["training perplexity"] == pytest.approx(result.perplexity(soft), rel=1e-9)


# Geweke: labels are hidden behind reports; a report's membership of a label is the probability of the report given it.

N, SIZES, CLUSTERS, BATCHES = 5, (2, 3), 3, 40
OFFSETS = frozen(np.array([0, 2, 5]))
MISSING_CELLS = np.zeros((N, 2), bool)
MISSING_CELLS[[1, 4], [0, 1]] = True
PLAN = Plan(0, 1, 1, 0, True, True)
REPORTS = [np.hstack([0.5 * np.eye(m), 0.5 * np.where(np.eye(m), 0.7, 0.3 / (m - 1))]) for m in SIZES]


def reported(y, rng):
    """(n, t) memberships of labels, from a report of each known label."""
    matrix = np.zeros((N, sum(SIZES)))
    for i, j in zip(*np.nonzero(y >= 0), strict=True):
        likelihood = REPORTS[j][:, rng.choice(2 * SIZES[j], p=REPORTS[j][y[i, j]])]
        matrix[i, OFFSETS[j] : OFFSETS[j + 1]] = likelihood / likelihood.sum()
    return matrix


def rows_with(y, matrix, prior):
    return Rows(y, OFFSETS, frozen(np.ones(2)), CLUSTERS, prior, frozen(matrix))


def geweke_numbers(y, z, strengths, matrix, prior):
    rows = rows_with(y, matrix, prior)
    joint = log_joint(rows, seats_of(rows, z), strengths)
    equal = sum(np.equal.outer(column, column).sum() for column in y.T)
    logs = math.log(strengths.alpha), math.log(strengths.beta)
    return joint, len(set(z.tolist())), np.bincount(z).max(), *logs, equal, (matrix == 1).sum()


def from_the_model(prior, rng):
    strengths = Strengths(*np.clip(rng.exponential(size=2), 1e-6, 1e6))
    z = rng.choice(CLUSTERS, N, p=shares_with(strengths.alpha, prior, rng)).astype(np.int32)
    y = np.full((N, 2), -1, np.int8)
    for j, size in enumerate(SIZES):
        logs = np.log(rng.gamma(strengths.beta + 1, size=(CLUSTERS, size)))
        logs += np.log(rng.random((CLUSTERS, size))) / strengths.beta
        theta = np.exp(logs - logs.max(axis=1, keepdims=True))
        theta /= theta.sum(axis=1, keepdims=True)
        y[:, j] = [rng.choice(size, p=theta[c]) for c in z]
    y[MISSING_CELLS] = -1
    return y, z, strengths


def shares_with(alpha, prior, rng):
    """Shares of the clusters under the prior."""
    if prior == "fsd":
        return rng.dirichlet(np.full(CLUSTERS, alpha / CLUSTERS))
    pieces = np.append(rng.beta(1, alpha, CLUSTERS - 1), 1.0)
    return pieces * np.concatenate([[1.0], np.cumprod(1 - pieces[:-1])])


def geweke_distances(prior, count, broken=False):
    """By number, how many standard errors the means of model and chain are apart."""
    rng = np.random.default_rng(8)
    model = []
    for _ in range(8000):
        y, z, strengths = from_the_model(prior, rng)
        model.append(geweke_numbers(y, z, strengths, reported(y, rng), prior))
    chain = []
    for number in range(count):
        matrix = reported(y, rng)
        rows = rows_with(y, matrix, prior)
        if broken:  # labels by their memberships alone, whatever their clusters
            for i, j in zip(*np.nonzero(y >= 0), strict=True):
                y[i, j] = rng.choice(SIZES[j], p=matrix[i, OFFSETS[j] : OFFSETS[j + 1]])
            rows = replace(rows, memberships=None)
        seats = seats_of(rows, z)
        sweep_once(rows, seats, strengths, np.uint64(5), number, None if broken else y)
        seats = seats_of(rows, seats.z)
        strengths = drawn_strengths(rows, PLAN, seats, strengths, (np.uint64(5), number))
        z = seats.z
        chain.append(geweke_numbers(y, z, strengths, matrix, prior))
    model, chain = np.array(model), np.array(chain)
    means = chain.reshape(BATCHES, -1, chain.shape[1]).mean(axis=1)
    error = np.sqrt(model.var(axis=0) / len(model) + means.var(axis=0, ddof=1) / BATCHES)
    return ((chain.mean(axis=0) - model.mean(axis=0)) / error).round(2)


@pytest.mark.slow
@priors
def test_the_sampler_keeps_the_model(prior):
    found = geweke_distances(prior, 24_000)
    assert np.abs(found).max() < 3.5, found


@pytest.mark.slow
def test_labels_drawn_from_the_memberships_alone_are_caught():
    found = geweke_distances("fsd", 6000, broken=True)
    assert np.abs(found).max() > 8, found
