"""Getting it right (Geweke 2004): the sampler and the model, by turns, must keep the prior of everything.

Clusters, alpha and beta are drawn from their priors and labels from the model, many times: that is what should be. Then
one chain alternates: labels given clusters by the model, clusters, alpha and beta given labels by the sampler. If the
sampler is right, any number that does not depend on what clusters are called has the same mean in both. A sampler that
uses equation 5 as it is printed (all labels of a clustering in place of the object's own) is caught.
"""

import math
from functools import partial

import numpy as np
import pytest

from partita.core.types import frozen
from partita.models.nbce import Rows, Strengths, log_joint, log_prior, seats_of
from partita.models.nbce_chain import Plan, drawn_strengths, sweep_once

N, SIZES, CLUSTERS, BATCHES = 7, (2, 3, 2), 4, 40
MISSING_CELLS = np.zeros((N, 3), bool)
MISSING_CELLS[[1, 4, 4], [0, 1, 2]] = True
OFFSETS = frozen(np.array([0, 2, 5, 7]))
PLAN = Plan(0, 1, 1, 0, True, True)
NUMBERS = ("clusters", "log joint", "largest share", "log alpha", "log beta", "equal labels")
SEED = np.uint64(5)


def shares_of(alpha, prior, rng):
    if prior == "fsd":
        return rng.dirichlet(np.full(CLUSTERS, alpha / CLUSTERS))
    pieces = np.append(rng.beta(1, alpha, CLUSTERS - 1), 1.0)
    return pieces * np.concatenate([[1.0], np.cumprod(1 - pieces[:-1])])


def labels_of(z, beta, rng):
    """Labels of objects in given clusters; the same cells are always missing."""
    columns = []
    for size in SIZES:
        logs = np.log(rng.gamma(beta + 1, size=(CLUSTERS, size))) + np.log(rng.random((CLUSTERS, size))) / beta
        chances = np.exp(logs - logs.max(axis=1, keepdims=True))  # Gamma(beta) draws that cannot vanish
        steps = np.cumsum(chances / chances.sum(axis=1, keepdims=True), axis=1)
        columns.append((rng.random(N)[:, None] > steps[z, :-1]).sum(axis=1))
    return np.where(MISSING_CELLS, -1, np.stack(columns, axis=1)).astype(np.int8)


def numbers_of(rows, z, strengths):
    seats = seats_of(rows, z)
    labels = rows.labels.astype(float)
    equal = sum(np.equal.outer(column, column).sum() for column in labels.T)
    largest = np.bincount(z).max() / N
    joint = log_joint(rows, seats, strengths)
    return seats.clusters, joint, largest, math.log(strengths.alpha), math.log(strengths.beta), equal


def rows_with(labels, prior):
    return Rows(frozen(labels), OFFSETS, frozen(np.ones(3)), CLUSTERS, prior)


def independent(prior, count, rng):
    """(count, numbers) as the model has them."""
    found = []
    for _ in range(count):
        strengths = Strengths(*np.clip(rng.exponential(size=2), 1e-6, 1e6))
        z = rng.choice(CLUSTERS, N, p=shares_of(strengths.alpha, prior, rng)).astype(np.int32)
        found.append(numbers_of(rows_with(labels_of(z, strengths.beta, rng), prior), z, strengths))
    return np.array(found)


def alternating(prior, count, rng, sweep):
    """(count, numbers) as a chain has them in which model and sampler take turns."""
    strengths, z, found = Strengths(1.0, 1.0), np.zeros(N, np.int32), []
    for number in range(count):
        rows = rows_with(labels_of(z, strengths.beta, rng), prior)
        seats = seats_of(rows, z)
        sweep(rows, seats, strengths, number, rng)
        seats = seats_of(rows, seats.z)
        strengths = drawn_strengths(rows, PLAN, seats, strengths, (SEED, number))
        z = seats.z
        found.append(numbers_of(rows, z, strengths))
    return np.array(found)


def compiled(rows, seats, strengths, number, rng):
    sweep_once(rows, seats, strengths, SEED, number)


def slow(rows, seats, strengths, number, rng, printed):
    """A sweep object by object; where `printed`, by equation 5 as it stands."""
    for i in range(N):
        logs = []
        for k in range(CLUSTERS):
            seats.z[i] = k
            total = log_prior(rows, seats_of(rows, seats.z), strengths.alpha)
            others = [o for o in range(N) if o != i and seats.z[o] == k]
            for j, size in enumerate(SIZES):
                known = [rows.labels[o, j] for o in others if rows.labels[o, j] >= 0]
                own = range(size) if printed else [rows.labels[i, j]] * int(rows.labels[i, j] >= 0)
                for label in own:
                    above = strengths.beta + known.count(label)
                    total += math.log(above / (size * strengths.beta + len(known)))
            logs.append(total)
        chances = np.exp(np.array(logs) - max(logs))
        seats.z[i] = rng.choice(CLUSTERS, p=chances / chances.sum())


def distances(prior, sweep, count):
    """By number, how many standard errors the two means are apart; a chain's error is that of the means of batches."""
    rng = np.random.default_rng(1)
    model, chain = independent(prior, 20_000, rng), alternating(prior, count, rng, sweep)
    means = chain.reshape(BATCHES, -1, len(NUMBERS)).mean(axis=1)
    error = np.sqrt(model.var(axis=0) / len(model) + means.var(axis=0, ddof=1) / BATCHES)
    return dict(zip(NUMBERS, ((chain.mean(axis=0) - model.mean(axis=0)) / error).round(2).tolist(), strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("prior", ["tsb", "fsd"])
def test_the_sampler_keeps_the_model(prior):
    found = distances(prior, compiled, 40_000)
    assert max(map(abs, found.values())) < 3.5, found


@pytest.mark.slow
@pytest.mark.parametrize("prior", ["tsb", "fsd"])
def test_a_broken_sampler_is_caught(prior):
    """The same slow sweep passes with the object's own labels and fails with those of the printed equation."""
    right = distances(prior, partial(slow, printed=False), 2000)
    wrong = distances(prior, partial(slow, printed=True), 2000)
    assert max(map(abs, right.values())) < 4, right
    assert max(map(abs, wrong.values())) > 8, wrong
