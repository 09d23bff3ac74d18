"""R-hat and effective sample sizes against closed forms and a version written out in plain loops."""

import math
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from partita.posterior.diagnostics import (
    Mixing,
    autocovariance,
    bulk_size,
    mixing,
    normal_scores,
    rhat,
    split,
    tail_size,
    verdict,
)
from tests.core.oracles import steady

seeds = st.integers(0, 2**32 - 1)


def slow_scores(chains):
    flat = [x for chain in chains for x in chain]
    total = len(flat)

    def rank(x):
        return sum(y < x for y in flat) + (sum(y == x for y in flat) + 1) / 2

    return [[NormalDist().inv_cdf((rank(x) - 3 / 8) / (total + 1 / 4)) for x in chain] for chain in chains]


def slow_split(chains):
    half = len(chains[0]) // 2
    return [chain[:half] for chain in chains] + [chain[len(chain) - half :] for chain in chains]


def mean(values):
    return math.fsum(values) / len(values)


def variance(values):
    return math.fsum((x - mean(values)) ** 2 for x in values) / (len(values) - 1)


def slow_covariance(chain, lag):
    """By a loop over pairs of draws."""
    middle, total = mean(chain), 0.0
    for s in range(len(chain)):
        for t in range(len(chain)):
            if t - s == lag:
                total += (chain[s] - middle) * (chain[t] - middle)
    return total / len(chain)


def slow_rhat(chains):
    n = len(chains[0])
    within = mean([variance(chain) for chain in chains])
    between = n * variance([mean(chain) for chain in chains])
    return math.sqrt(((n - 1) / n * within + between / n) / within)


def slow_size(chains):
    m, n = len(chains), len(chains[0])
    within = mean([variance(chain) for chain in chains])
    overall = (n - 1) / n * within + variance([mean(chain) for chain in chains])

    def correlation(lag):
        if lag == 0:
            return 1.0
        return 1 - (within - mean([slow_covariance(chain, lag) for chain in chains])) / overall

    pairs, lag = [], 0
    while correlation(lag) + correlation(lag + 1) > 0 and lag < n - 5:
        pairs.append(correlation(lag) + correlation(lag + 1))
        lag += 2
    if not pairs:
        time = -1 + 2 * (1 + correlation(1))
    else:
        for p in range(1, len(pairs)):
            pairs[p] = min(pairs[p], pairs[p - 1])
        time = -1 + 2 * sum(pairs) + max(correlation(lag), 0.0)
    return m * n / max(time, 1 / math.log10(m * n))


def autoregressive(rho, chains, draws, seed):
    """Chains in equilibrium with correlation rho between neighbours."""
    rng = np.random.default_rng(seed)
    out = np.empty((chains, draws))
    out[:, 0] = rng.standard_normal(chains)
    for t in range(1, draws):
        out[:, t] = rho * out[:, t - 1] + math.sqrt(1 - rho**2) * rng.standard_normal(chains)
    return out


def sample(seed, chains, draws, kind):
    rng = np.random.default_rng(seed)
    values = autoregressive(rng.uniform(-0.8, 0.9), chains, draws, seed)
    if kind == "ties":
        return np.round(values)
    return values + rng.standard_normal((chains, 1)) if kind == "shifted" else values


@steady
@given(seeds, st.integers(1, 4), st.integers(4, 25), st.sampled_from(["plain", "ties", "shifted"]))
def test_equal_to_the_version_in_loops(seed, chains, draws, kind):
    values = sample(seed, chains, draws, kind)
    rows = values.tolist()
    scores = slow_split(slow_scores(rows))
    flat = sorted(x for row in rows for x in row)
    middle = (flat[(len(flat) - 1) // 2] + flat[len(flat) // 2]) / 2
    folded = slow_split(slow_scores([[abs(x - middle) for x in row] for row in rows]))
    tails = [slow_split([[float(x <= np.quantile(flat, q)) for x in row] for row in rows]) for q in (0.05, 0.95)]
    assert np.allclose(split(normal_scores(values)), scores, atol=1e-10)
    if any(all(len(set(half)) == 1 for half in halves) for halves in (scores, folded, *tails)):
        return
    assert rhat(values) == pytest.approx(max(slow_rhat(scores), slow_rhat(folded)), rel=1e-10)
    assert bulk_size(values) == pytest.approx(slow_size(scores), rel=1e-10)
    assert tail_size(values) == pytest.approx(min(map(slow_size, tails)), rel=1e-10)


@steady
@given(seeds, st.integers(1, 3), st.integers(2, 20))
def test_autocovariance(seed, chains, draws):
    values = np.random.default_rng(seed).standard_normal((chains, draws))
    expected = [[slow_covariance(chain, lag) for lag in range(draws)] for chain in values.tolist()]
    assert np.allclose(autocovariance(values), expected, atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_independent_draws(seed):
    draws = np.random.default_rng(seed).standard_normal((4, 2500))
    found = mixing(draws)
    assert found.rhat == pytest.approx(1, abs=0.003)
    assert found.bulk == pytest.approx(10_000, rel=0.08) and found.tail == pytest.approx(10_000, rel=0.12)
    assert found.enough(4)


@pytest.mark.parametrize("rho", [-0.5, 0.3, 0.6, 0.9])
@pytest.mark.parametrize("seed", range(2))
def test_correlated_draws(rho, seed):
    """N draws with correlation rho between neighbours are worth N (1 - rho) / (1 + rho)."""
    draws = autoregressive(rho, 4, 20_000, seed)
    assert bulk_size(draws) == pytest.approx(80_000 * (1 - rho) / (1 + rho), rel=0.1)


def test_chains_that_differ_in_place_or_width():
    draws = np.random.default_rng(1).standard_normal((4, 500))
    shifted, wider = draws.copy(), draws.copy()
    shifted[0] += 3
    wider[0] *= 10
    assert rhat(shifted) > 1.2 and bulk_size(shifted) < 40 and not mixing(shifted).enough(4)
    assert rhat(wider) > 1.2, "the distance from the median tells what the place does not"
    drift = draws[:1] + np.linspace(0, 5, 500)
    assert rhat(drift) > 1.5, "halves of one chain count as chains"


@steady
@given(seeds)
def test_only_ranks_matter(seed):
    draws = np.random.default_rng(seed).standard_normal((3, 60))
    assert bulk_size(np.exp(draws)) == pytest.approx(bulk_size(draws), rel=1e-12)
    assert tail_size(np.exp(5 * draws)) == pytest.approx(tail_size(draws), rel=1e-12)


@pytest.mark.parametrize(
    ("draws", "expected"),
    [
        (np.full((4, 100), 7.0), (1.0, 400.0, 400.0)),
        (np.repeat([[1.0], [2.0], [3.0]], 50, axis=1), (math.inf, 3.0, 3.0)),
        (np.zeros((4, 3)), (math.inf, 0.0, 0.0)),
        (np.zeros((1, 0)), (math.inf, 0.0, 0.0)),
        (np.array([[0.0, 1.0, 2.0, np.nan, 1.0, 0.0]]), (math.inf, 0.0, 0.0)),
        (np.array([[0.0, 1.0, np.inf, 3.0, 1.0, 0.0]]), (math.inf, 0.0, 0.0)),
    ],
)
def test_what_the_formulas_leave_open(draws, expected):
    assert tuple(mixing(draws)) == expected


@pytest.mark.parametrize("draws", range(4, 12))
def test_short_chains_give_numbers(draws):
    found = mixing(np.random.default_rng(draws).standard_normal((4, draws)))
    assert found.rhat > 0.5 and 0 < found.bulk < math.inf and 0 < found.tail < math.inf
    assert not found.enough(4)


def test_verdict_names_the_worst_and_the_way_out():
    good, apart, few = Mixing(1.001, 900.0, 800.0), Mixing(1.0149, 900.0, 800.0), Mixing(1.002, 900.0, 150.0)
    mixed = verdict({"log joint": good, "clusters": Mixing(1.003, 700.0, 900.0)}, 4)
    assert mixed.mixed and mixed.text == (
        "the chains have mixed: R-hat 1.003 of the clusters, draws worth 700 independent ones by the clusters"
    )
    split = verdict({"log joint": good, "clusters": apart}, 4)
    assert not split.mixed and split.text == (
        "the chains have not mixed well enough: R-hat 1.015 (at most 1.01 is wanted) of the clusters, draws worth 800 "
        "independent ones (at least 400 are wanted) by the log joint; the chains disagree: raise burn_in and draws"
    )
    short = verdict({"log joint": few, "clusters": good}, 4)
    assert (
        not short.mixed
        and "draws worth 150 independent ones" in short.text
        and short.text.endswith("by the log joint; raise draws, or thin")
    )
    assert verdict({"log joint": few}, 1).mixed
