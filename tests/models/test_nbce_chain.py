"""Every step of the sampler of nonparametric Bayesian cluster ensembles against enumeration of all assignments."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from partita.core.types import frozen, sealed
from partita.kernels.nbce import ALPHA, AT, BETA, PLACE, SIZE, draw_strength
from partita.kernels.nbce_gibbs import sweep_even, sweep_weighted
from partita.kernels.nbce_pairs import split_and_merge
from partita.kernels.nbce_seats import swap_positions, swap_two
from partita.models import nbce_chain
from partita.models.nbce import Rows, Seats, Strengths, log_joint, log_prior, mean_shares, seats_of
from partita.models.nbce_chain import Plan, advance, begin, sweep_once, with_last_draw
from tests.core.oracles import steady
from tests.models import nbce_oracle as oracle
from tests.models.test_bce_gibbs import GOLDEN, WORD, unmixed

seeds = st.integers(0, 2**32 - 1)
priors = st.sampled_from(["tsb", "fsd"])
SEED = np.uint64(11)
AT_FIRST = Strengths(0.8, 0.3)


def rows_of(labels, clusters, prior, weights=None):
    labels = np.asarray(labels, np.int8)
    offsets = np.concatenate([[0], np.cumsum(labels.max(axis=0) + 1)])
    weights = np.ones(labels.shape[1]) if weights is None else np.asarray(weights, float)
    return Rows(frozen(labels), frozen(offsets), frozen(weights), clusters, prior)


def table(seed, prior, n=6, r=5, clusters=4, even=True):
    """Some labels with gaps, clusters of the objects and strengths."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, size=(n, r))
    labels[rng.random((n, r)) < rng.choice([0, 0.25])] = -1
    labels[0] = 0
    weights = None if even else rng.uniform(0.2, 2.5, r)
    rows = rows_of(labels, clusters, prior, weights)
    z = rng.integers(0, clusters, size=n).astype(np.int8)
    return rows, z, Strengths(rng.uniform(0.1, 3), rng.uniform(0.05, 2)), rng


def exact_joint(rows, z, strengths):
    labels = oracle.log_labels(
        rows.labels.tolist(), np.diff(rows.offsets).tolist(), list(z), rows.truncation, strengths.beta, rows.weights
    )
    return labels + oracle.log_prior(list(z), rows.truncation, strengths.alpha, rows.prior)


def conditional(rows, z, i, strengths):
    """(K,) the chances of one object's cluster as ratios of joint probabilities."""
    joints = []
    for k in range(rows.truncation):
        other = z.copy()
        other[i] = k
        joints.append(exact_joint(rows, other, strengths))
    chances = np.exp(np.array(joints) - max(joints))
    return chances / chances.sum()


def sweep(rows, seats, strengths, seed, number, start, stop):
    rest = (*seats, *strengths, rows.sticks, seed, number, start, stop)
    if rows.even:
        sweep_even(rows.labels, rows.offsets, *rest)
    else:
        sweep_weighted(rows.labels, rows.offsets, rows.weights, *rest)


def check_seats(rows, seats):
    """Counts and book are those of the clusters, in some order of slots; what lies behind them is empty."""
    fresh, m = seats_of(rows, seats.z), seats.clusters
    assert fresh.clusters == m
    assert sorted(seats.book[PLACE, :m]) == sorted(fresh.book[PLACE, :m])
    for k in range(rows.truncation):
        slot, other = seats.book[AT, k], fresh.book[AT, k]
        assert (slot < 0) == (other < 0)
        if slot >= 0:
            assert seats.book[PLACE, slot] == k and seats.book[SIZE, slot] == fresh.book[SIZE, other]
            assert np.array_equal(seats.tables[:, slot], fresh.tables[:, other])
            assert np.array_equal(seats.totals[:, slot], fresh.totals[:, other])
    assert not seats.tables[:, m:].any() and not seats.totals[:, m:].any() and not seats.book[SIZE, m:].any()


@steady
@given(seeds, priors, st.integers(1, 4), st.booleans())
def test_log_joint_is_that_of_enumeration(seed, prior, clusters, even):
    rows, z, strengths, _ = table(seed, prior, clusters=clusters, even=even)
    found = log_joint(rows, seats_of(rows, z), strengths)
    assert found == pytest.approx(exact_joint(rows, z, strengths), abs=1e-10)


@pytest.mark.parametrize("prior", ["tsb", "fsd"])
@pytest.mark.parametrize("clusters", [1, 2, 3, 4])
def test_prior_sums_to_1(prior, clusters):
    rows = rows_of(np.zeros((4, 1), int), clusters, prior)
    every = itertools.product(range(clusters), repeat=4)
    total = sum(math.exp(log_prior(rows, seats_of(rows, np.array(z, np.int8)), 0.7)) for z in every)
    assert total == pytest.approx(1, abs=1e-12)


@steady
@given(seeds, priors, st.integers(1, 5))
def test_mean_shares_foretell_the_next_object(seed, prior, clusters):
    """The mean share of a cluster is the prior chance that one more object goes there."""
    rng = np.random.default_rng(seed)
    z, alpha = rng.integers(clusters, size=6).tolist(), rng.uniform(0.1, 5)
    here = oracle.log_prior(z, clusters, alpha, prior)
    expected = [math.exp(oracle.log_prior([*z, k], clusters, alpha, prior) - here) for k in range(clusters)]
    assert np.allclose(mean_shares(np.bincount(z, minlength=clusters), alpha, prior), expected, atol=1e-12)


def seed_for(chance, row):
    """The seed with which an object meets this uniform number in sweep 0."""
    return np.uint64((unmixed(int(chance * 2**53) << 11) - GOLDEN * (2 * row + 1)) % WORD)


def groups_of(rows, seats, row):
    """The positions among which one uniform number chooses, in its order.

    Sticks: one by one up to the last other object, then all behind; else cluster by cluster, then all empty ones, of
    which an object that is alone keeps its own.
    """
    others = {int(k) for i, k in enumerate(seats.z) if i != row}
    if rows.sticks:
        end = max(others, default=-1) + 1
        return [{k} for k in range(end)] + [set(range(end, rows.truncation))]
    held = [int(k) for k in seats.book[PLACE, : seats.clusters]]
    empty = set(range(rows.truncation)) - others
    return [empty if k not in others else {k} for k in held] + ([] if int(seats.z[row]) in empty else [empty])


def check_conditional(rows, z, strengths, row, error=1e-12):
    """A uniform number just below a step of the exact distribution draws the group below, one just above the next."""
    chances = conditional(rows, z, row, strengths)
    likely = [group for group in groups_of(rows, seats_of(rows, z), row) if sum(chances[k] for k in group) > 4 * error]
    steps = np.cumsum([sum(chances[k] for k in group) for group in likely])
    assert steps[-1] == pytest.approx(1)
    for h in range(len(likely) - 1):
        for move, expected in ((-error, h), (error, h + 1)):
            seats = seats_of(rows, z)
            sweep(rows, seats, strengths, seed_for(steps[h] + move, row), 0, row, row + 1)
            assert int(seats.z[row]) in likely[expected]
            check_seats(rows, seats)


@steady
@given(seeds, priors, st.integers(1, 5), st.booleans(), st.sampled_from([1, 2, 4, 5, 9]))
def test_one_draw_follows_the_ratio_of_joints(seed, prior, clusters, even, columns):
    rows, z, strengths, rng = table(seed, prior, r=columns, clusters=clusters, even=even)
    check_conditional(rows, z, strengths, int(rng.integers(len(z))))


@pytest.mark.parametrize("prior", ["tsb", "fsd"])
@pytest.mark.parametrize("missing", [0, 0.1])
@pytest.mark.parametrize("clusters", [4, 5])
@pytest.mark.parametrize("weight", [1.0, 1.25])
def test_products_too_small_for_a_number(prior, missing, clusters, weight):
    """An object torn between two clusters in 400 clusterings: one is lost in the first half and level at the end.

    With five clusters allowed, an empty one fits far better than any; with four it must not drown them.
    """
    rng = np.random.default_rng(4)
    one, other = rng.integers(4, size=(2, 400))
    torn = np.where(np.arange(400) < 200, one, other)
    labels = np.stack([one, one, other, other, torn, 3 - one, 3 - other])
    labels[rng.random(labels.shape) < missing] = -1
    z = np.array([0, 0, 1, 1, 0, 3, 2], np.int8)
    for beta in (1e-6, 1e-3, 1.0):
        rows, strengths = rows_of(labels, clusters, prior, [weight] * 400), Strengths(1.0, beta)
        halves = [exact_joint(rows_of(labels[:, part], 5, prior), z, strengths) for part in np.split(np.arange(400), 2)]
        assert min(halves) < -700
        check_conditional(rows, z, strengths, 4, error=1e-8)


@pytest.mark.parametrize("prior", ["tsb", "fsd"])
def test_empty_positions_behind_all_objects(prior):
    """The second number of an object picks among them: each with its prior chance under sticks."""
    rows = rows_of([[0, 1], [1, 0]], 6, prior)
    chances = conditional(rows, np.array([0, 0], np.int8), 1, Strengths(2.0, 0.05))
    found = np.zeros(6)
    for seed in range(20_000):
        seats = seats_of(rows, np.array([0, 0], np.int8))
        sweep(rows, seats, Strengths(2.0, 0.05), np.uint64(seed * 7919), 0, 1, 2)
        found[seats.z[1]] += 1 / 20_000
    if prior == "fsd":
        chances[1:] = chances[1:].sum(), 0, 0, 0, 0
    assert np.abs(found - chances).max() < 0.015


@steady
@given(seeds, priors)
def test_weights_of_1_are_no_weights(seed, prior):
    rows, z, strengths, _ = table(seed, prior, n=30, r=7, clusters=8)
    even, weighted = seats_of(rows, z), seats_of(rows, z)
    for number in range(3):
        sweep_even(rows.labels, rows.offsets, *even, *strengths, rows.sticks, SEED, number, 0, 30)
        sweep_weighted(rows.labels, rows.offsets, rows.weights, *weighted, *strengths, rows.sticks, SEED, number, 0, 30)
        assert np.array_equal(even.z, weighted.z)


@steady
@given(seeds, priors, st.booleans(), st.integers(1, 12))
def test_counts_follow_the_objects(seed, prior, even, clusters):
    rows, z, strengths, _ = table(seed, prior, n=12, clusters=clusters, even=even)
    seats = seats_of(rows, z)
    for number in range(1, 6):
        sweep_once(rows, seats, strengths, SEED, number)
        check_seats(rows, seats)
        assert log_joint(rows, seats, strengths) == pytest.approx(exact_joint(rows, seats.z, strengths), abs=1e-9)


@pytest.mark.parametrize("parts", [(0, 3, 12), (0, 1, 2, 12)])
@pytest.mark.parametrize("prior", ["tsb", "fsd"])
def test_a_sweep_in_parts_is_the_sweep(parts, prior):
    rows, z, strengths, _ = table(5, prior, n=12)
    whole, pieces = seats_of(rows, z), seats_of(rows, z)
    sweep(rows, whole, strengths, SEED, 4, 0, 12)
    for start, stop in itertools.pairwise(parts):
        sweep(rows, pieces, strengths, SEED, 4, start, stop)
    assert np.array_equal(whole.z, pieces.z)


CASES = {
    "complete": ([[0, 0, 1], [0, 1, 1], [1, 1, 0], [1, 0, 0], [0, 0, 1]], None),
    "missing": ([[0, 0, 1], [0, 1, 1], [1, 1, -1], [1, 0, 0], [0, 0, -1]], None),
    "weights": ([[0, 0, 1], [0, 1, 1], [1, 1, -1], [1, 0, 0], [0, 0, -1]], (1.6, 0.4, 1.0)),
    "six": ([[0, 0], [0, 0], [1, 1], [1, 1], [2, 1], [-1, 0]], None),
}


def exact_posterior(rows, strengths):
    sizes = np.diff(rows.offsets).tolist()
    return oracle.Exact(rows.labels.tolist(), sizes, rows.truncation, *strengths, rows.prior, rows.weights)


def run_of(rows, step, sweeps=20_000):
    """Co-clustering, numbers of clusters and frequencies of assignments over a long run of one kind of step."""
    seats = seats_of(rows, np.zeros(len(rows.labels), np.int8))
    together, numbers, seen = 0.0, np.zeros(rows.truncation + 1), {}
    for number in range(1, sweeps + 1):
        step(seats, number)
        together = together + np.equal.outer(seats.z, seats.z) / sweeps
        numbers[seats.clusters] += 1 / sweeps
        z = tuple(seats.z.tolist())
        seen[z] = seen.get(z, 0) + 1 / sweeps
    return together, numbers, seen


def sweeps_alone(rows):
    return lambda seats, number: sweep(rows, seats, AT_FIRST, SEED, number, 0, len(seats.z))


def pairs_alone(rows):
    given = (rows.labels, rows.offsets, rows.weights)
    return lambda seats, number: split_and_merge(*given, *seats, *AT_FIRST, rows.sticks, 5, SEED, number)


def all_moves(rows):
    return lambda seats, number: sweep_once(rows, seats, AT_FIRST, SEED, number)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("prior", ["tsb", "fsd"])
@pytest.mark.parametrize("steps", [sweeps_alone, pairs_alone, all_moves])
def test_long_runs_match_enumeration(case, prior, steps):
    labels, weights = CASES[case]
    rows = rows_of(labels, 3, prior, weights)
    exact = exact_posterior(rows, AT_FIRST)
    together, numbers, seen = run_of(rows, steps(rows))
    assert np.abs(together - exact.co_clustering()).max() < 0.02
    assert np.abs(numbers - exact.numbers()).max() < 0.02
    if steps is all_moves and prior == "tsb":  # names of clusters, which mean something under sticks alone
        chances = zip(exact.assignments, exact.chances, strict=True)
        assert max(abs(seen.get(z, 0) - chance) for z, chance in chances) < 0.02


@pytest.mark.parametrize("prior", ["tsb", "fsd"])
@pytest.mark.parametrize("moves", ["swap", "split-merge", "none"])
def test_long_runs_with_some_moves_match_enumeration(moves, prior):
    rows = rows_of(CASES["missing"][0], 3, prior, None)
    exact = exact_posterior(rows, AT_FIRST)

    def step(seats, number):
        sweep_once(rows, seats, AT_FIRST, SEED, number, moves=moves)

    together, numbers, _ = run_of(rows, step)
    assert np.abs(together - exact.co_clustering()).max() < 0.02
    assert np.abs(numbers - exact.numbers()).max() < 0.02


@pytest.mark.parametrize(
    ("moves", "called"), [("all", {"split", "swap"}), ("swap", {"swap"}), ("split-merge", {"split"}), ("none", set())]
)
def test_moves_that_are_made(monkeypatch, moves, called):
    rows, z, _, _ = table(8, "tsb", n=20, clusters=6)
    made = set()
    monkeypatch.setattr(nbce_chain, "split_and_merge", lambda *given: made.add("split"))
    monkeypatch.setattr(nbce_chain, "swap_positions", lambda *given: made.add("swap"))
    plan = Plan(0, 2, 1, 0, True, True, moves)
    advance(rows, plan, 2, begin(rows, z, AT_FIRST, np.random.default_rng(3)))
    assert made == called


@steady
@given(seeds, st.integers(2, 6))
def test_swaps_are_taken_by_the_ratio_of_priors(seed, clusters):
    """A chance 1e-9 on either side of 1 - p(Z') / p(Z) decides; what is counted behind positions follows."""
    rows, z, strengths, rng = table(seed, "tsb", n=9, clusters=clusters)
    first, second = sorted(rng.choice(clusters, 2, replace=False).tolist())
    swapped = np.where(z == first, second, np.where(z == second, first, z))
    before = oracle.log_prior(z.tolist(), clusters, strengths.alpha, "tsb")
    ratio = math.exp(oracle.log_prior(swapped.tolist(), clusters, strengths.alpha, "tsb") - before)
    for move in (-1e-9, 1e-9):
        chance = 1 - ratio + move
        if not 0 <= chance < 1:
            continue
        book = seats_of(rows, z).book
        beyond = np.array([(z > k).sum() for k in range(clusters)], float)
        swap_two(book, beyond, first, second, strengths.alpha, chance)
        expected = swapped if move > 0 else z
        if first in z or second in z:
            sizes = [book[SIZE, book[AT, k]] if book[AT, k] >= 0 else 0 for k in range(clusters)]
            assert sizes == np.bincount(expected, minlength=clusters).tolist()
            assert beyond.tolist() == [(expected > k).sum() for k in range(clusters)]


def test_swaps_bring_large_clusters_forward():
    rows = rows_of(np.zeros((60, 1), int), 8, "tsb")
    seats = seats_of(rows, np.repeat([7, 5, 2], [40, 15, 5]).astype(np.int8))
    sizes = np.zeros(8)
    for number in range(2000):
        swap_positions(seats.book, seats.z, 1.0, SEED, number)
        check_seats(rows, seats)
        sizes += np.bincount(seats.z, minlength=8)
    assert sizes.argsort()[::-1].tolist()[:2] == [0, 1] and sizes[0] / sizes.sum() > 0.5


@pytest.mark.parametrize("prior", ["tsb", "fsd"])
@pytest.mark.parametrize("which", [ALPHA, BETA])
def test_strengths_follow_their_distribution(prior, which):
    """20 000 draws given the clusters against the density on a grid: mean and spread of the logarithm, quartiles."""
    rows, z, _, _ = table(3, prior, n=8, clusters=4)
    seats = seats_of(rows, z)
    grid = np.linspace(math.log(1e-6), math.log(60), 4000)
    logs = []
    for value in np.exp(grid):
        strengths = Strengths(value, 0.4) if which == ALPHA else Strengths(0.9, value)
        logs.append(exact_joint(rows, z, strengths) - value + math.log(value))
    chances = np.exp(np.array(logs) - max(logs))
    chances /= chances.sum()
    value, drawn = 1.0, []
    for number in range(20_000):
        given_all = (rows.offsets, rows.weights, *map(sealed, seats[1:]), len(z), rows.sticks)
        value = draw_strength(which, value, *given_all, SEED, number)
        drawn.append(math.log(value))
    mean = grid @ chances
    assert np.mean(drawn) == pytest.approx(mean, abs=0.04)
    assert np.std(drawn) == pytest.approx(math.sqrt((grid - mean) ** 2 @ chances), abs=0.04)
    for share in (0.25, 0.75):
        assert np.mean(np.array(drawn) < grid[np.searchsorted(np.cumsum(chances), share)]) == pytest.approx(
            share, abs=0.02
        )


@pytest.mark.parametrize("prior", ["tsb", "fsd"])
def test_blocks_of_sweeps_are_one_run_and_chains_never_change(prior):
    rows, z, _, _ = table(8, prior, n=20, clusters=6)
    plan = Plan(burn_in=3, draws=4, thin=2, settle=2, learn_alpha=True, learn_beta=True)
    start = begin(rows, z, AT_FIRST, np.random.default_rng(3))
    copy = start.seats.copy()
    whole = advance(rows, plan, 1000, start)
    parts = start
    for _ in range(11):
        parts = advance(rows, plan, 1, parts)
    assert len(whole.trace) == 11 and [draw.point for draw in whole.kept] == [whole.trace[s] for s in (4, 6, 8, 10)]
    assert parts.trace == whole.trace and parts.strengths == whole.strengths
    assert all(np.array_equal(a.z, b.z) for a, b in zip(parts.kept, whole.kept, strict=True))
    assert all(np.array_equal(a, b) for a, b in zip(start.seats, copy, strict=True)) and not start.kept
    last = whole.trace[-1]
    assert last.log_joint == pytest.approx(exact_joint(rows, whole.kept[-1].z, whole.strengths), abs=1e-9)
    assert last.clusters == len(set(whole.kept[-1].z.tolist())) and (last.alpha, last.beta) == whole.strengths
    stopped = with_last_draw(rows, advance(rows, plan, 2, start))
    assert len(stopped.kept) == 1 and stopped.kept[0].point == whole.trace[1]


def test_strengths_stay_until_clusters_have_formed_and_where_they_are_fixed():
    rows, z, _, _ = table(8, "tsb", n=20, clusters=6)
    for alpha, beta in itertools.product((True, False), repeat=2):
        plan = Plan(burn_in=8, draws=1, thin=1, settle=5, learn_alpha=alpha, learn_beta=beta)
        trace = advance(rows, plan, 9, begin(rows, z, AT_FIRST, np.random.default_rng(1))).trace
        assert all((point.alpha, point.beta) == AT_FIRST for point in trace[:5])
        assert all((point.alpha != AT_FIRST.alpha) == alpha for point in trace[5:])
        assert all((point.beta != AT_FIRST.beta) == beta for point in trace[5:])


def test_many_clusters_and_one_object():
    """K of 200 needs wider numbers; a single object goes anywhere."""
    rng = np.random.default_rng(0)
    rows = rows_of(rng.integers(3, size=(300, 4)), 200, "tsb")
    chain = begin(rows, np.arange(300) % 200, AT_FIRST, rng)
    plan = Plan(0, 3, 1, 0, True, True)
    moved = advance(rows, plan, 3, chain)
    check_seats(rows, moved.seats)
    assert moved.kept[0].z.dtype == np.int16
    alone = advance(
        rows_of([[0, 0]], 3, "tsb"), plan, 3, begin(rows_of([[0, 0]], 3, "tsb"), np.zeros(1), AT_FIRST, rng)
    )
    assert isinstance(alone.seats, Seats) and alone.trace[-1].clusters == 1
