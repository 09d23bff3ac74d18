"""nbce-gibbs as a method: its partition, certainty, model and figures against slow ones; stops, threads, settings."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import partita
from partita import Ensemble
from partita.core import memory
from partita.core.counting import unit_weights
from partita.core.draws import Draws
from partita.core.errors import MethodError, ParameterError
from partita.core.progress import reporting
from partita.core.types import frozen
from partita.models import nbce_gibbs
from partita.models.nbce import Rows, Strengths
from partita.models.nbce_chain import Plan, advance, begin
from partita.models.nbce_place import Sampled, memberships, mixture_of, model_of
from partita.posterior.losses import expected_loss
from tests.core.oracles import steady
from tests.models import nbce_oracle as oracle
from tests.samples import noisy, noisy_labels, same_partition

seeds = st.integers(0, 2**32 - 1)
FAST = {"chains": 3, "burn_in": 20, "draws": 30, "thin": 1, "settle": 10}


def planted(noise, n=200, r=10, seed=0):
    """Two clusters of which one object in twenty is none: labels, and the clusters of the others."""
    rng = np.random.default_rng(seed)
    truth, outliers = np.arange(n) % 2, rng.permutation(n)[: n // 20]
    labels = np.where(rng.random((n, r)) < noise, 1 - truth[:, None], truth[:, None])
    labels[outliers] = rng.integers(2, size=(len(outliers), r))
    inside = np.setdiff1d(np.arange(n), outliers)
    return labels, truth, inside


def random_draw(rng, prior, even):
    """An ensemble, its rows for the sampler and a draw of its clusters."""
    labels = rng.integers(0, 3, size=(8, 3))
    labels[rng.random((8, 3)) < 0.2] = -1
    labels[:3] = np.arange(3)[:, None]
    ensemble = Ensemble.from_labels(labels, missing=-1, weights=None if even else rng.uniform(0.3, 2, 3))
    rows = Rows(ensemble.labels, frozen(ensemble.offsets), frozen(unit_weights(ensemble)), 5, prior)
    some = [Sampled(rng.integers(5, size=8), Strengths(rng.uniform(0.3, 2), rng.uniform(0.1, 1))) for _ in range(3)]
    return ensemble, rows, some


def next_row(rows, draw, row):
    """log p(a further object's labels | the others', their clusters), by enumeration of its cluster.

    With weights, each label's chance at the counts is raised to its weight.
    """
    z, sizes = draw.z.tolist(), np.diff(rows.offsets)
    here, total = oracle.log_prior(z, rows.truncation, draw.strengths.alpha, rows.prior), 0.0
    for k in range(rows.truncation):
        prior = oracle.log_prior([*z, k], rows.truncation, draw.strengths.alpha, rows.prior) - here
        likelihood = 0.0
        for j, label in enumerate(row):
            seen = [rows.labels[i, j] for i in range(len(z)) if z[i] == k and rows.labels[i, j] >= 0]
            if label >= 0:
                above = draw.strengths.beta + rows.weights[j] * seen.count(label)
                below = sizes[j] * draw.strengths.beta + rows.weights[j] * len(seen)
                likelihood += rows.weights[j] * math.log(above / below)
        total += math.exp(prior + likelihood)
    return math.log(total)


@steady
@given(seeds, st.sampled_from(["tsb", "fsd"]), st.booleans())
def test_model_is_the_mean_of_the_draws(seed, prior, even):
    """Probabilities of labels, and of the clusters of a partition, by enumeration."""
    rng = np.random.default_rng(seed)
    ensemble, rows, some = random_draw(rng, prior, even)
    labels = rng.permutation(np.arange(8) % 3)
    model, perplexity = model_of(ensemble, rows, some, labels, 3)
    each = [[next_row(rows, draw, row) for draw in some] for row in ensemble.labels.tolist()]
    expected = np.log(np.exp(each).mean(axis=1))
    placed = model.place(ensemble)
    assert np.allclose(placed.log_chances, expected, atol=1e-10)
    known = (ensemble.labels >= 0) @ rows.weights
    assert perplexity == pytest.approx(math.exp(-expected.sum() / known.sum()), abs=1e-10)
    assert np.allclose(placed.memberships.sum(axis=1), 1)
    mixtures = [mixture_of(rows, draw) for draw in some]
    assert all(np.exp(one.log_weights).sum() == pytest.approx(1) for one in mixtures)
    assert len(model.bias) == sum(len(one.log_weights) for one in mixtures) == len(model.shares)
    held = np.concatenate([[len(set(draw.z.tolist()))] for draw in some])
    assert [int(model.shares[sum(len(m.log_weights) for m in mixtures[:s]) :][: held[s]].any(axis=1).sum())
            for s in range(3)] == held.tolist()  # fmt: skip


@pytest.mark.parametrize("prior", ["tsb", "fsd"])
def test_every_draw_has_its_own_strengths_in_the_model(prior):
    """Of two chains in which both are drawn; chances of labels by enumeration."""
    rng = np.random.default_rng(4)
    ensemble, rows, some = random_draw(rng, prior, even=True)
    plan = Plan(burn_in=2, draws=4, thin=3, settle=0, learn_alpha=True, learn_beta=True)
    first = [begin(rows, draw.z, draw.strengths, child) for draw, child in zip(some[:2], rng.spawn(2), strict=True)]
    chains = nbce_gibbs.sample(rows, plan, first)
    kept = nbce_gibbs.drawn(chains)
    point = nbce_gibbs.best_draw(kept)
    result = nbce_gibbs.summed_up(ensemble, rows, chains, kept, point, nbce_gibbs.told(chains, plan, point))
    draws = [Sampled(one.z, Strengths(*one.point[2:])) for chain in chains for one in chain.kept]
    assert len({one.strengths.alpha for one in draws}) == len({one.strengths.beta for one in draws}) == 8
    each = [[next_row(rows, draw, row) for draw in draws] for row in ensemble.labels.tolist()]
    expected = np.log(np.exp(each).mean(axis=1))
    assert np.allclose(result.model.place(ensemble).log_chances, expected, atol=1e-10)


@steady
@given(seeds)
def test_memberships_are_mean_shares_of_sampled_clusters(seed):
    rng = np.random.default_rng(seed)
    table, labels = rng.integers(4, size=(6, 15)), rng.permutation(np.arange(15) % 3)
    found = memberships(Draws.of(table), labels, 3)
    for i in range(15):
        shares = [[(labels[draw == draw[i]] == h).mean() for h in range(3)] for draw in table]
        assert np.allclose(found[i], np.mean(shares, axis=0), atol=1e-12)


def test_result_tells_of_draws_chains_and_mixing():
    ensemble = noisy(n=50, missing=0.1)
    result = partita.consensus(ensemble, "nbce-gibbs", seed=1, **(FAST | {"thin": 2}))
    detail, draws = result.detail, result.draws
    assert draws.labels.shape == (90, 50) and draws.chain.tolist() == np.repeat([0, 1, 2], 30).tolist()
    assert detail["draws"] == 90 and len(result.trace) == 80 and result.k_asked is None
    assert detail["clusters"] == {int(k): (draws.sizes == k).mean() for k in np.unique(draws.sizes)}
    joints, clusters = np.array(detail["log joint by sweep"]), np.array(detail["clusters by sweep"])
    assert joints.shape == clusters.shape == (3, 80)
    assert clusters[:, 21::2].ravel().tolist() == draws.sizes.tolist()
    means = joints[:, 21::2].mean(axis=1)
    assert detail["log joint"] == pytest.approx(means) and result.trace == tuple(joints[means.argmax()])
    alone = [np.mean([(draw == c).sum() == 1 for c in draw]) for draw in draws.labels]
    assert detail["outlier share"] == pytest.approx(np.mean(alone))
    assert set(detail["mixing"]) == {"log joint", "clusters"} and "not mixed" in detail["verdict"]
    assert result.converged is False and detail["verdict"] in result.notes
    assert detail["training perplexity"] == pytest.approx(result.perplexity(ensemble), rel=1e-12)
    assert 0 < detail["alpha"] < 10 and 0 < detail["beta"] < 10


@pytest.mark.parametrize("loss", ["vi", "binder"])
def test_partition_has_the_least_expected_loss(loss):
    result = partita.consensus(noisy(n=40, noise=0.4), "nbce-gibbs", seed=1, loss=loss, **FAST)
    least = expected_loss(result.draws, result.labels, loss)
    assert all(least <= expected_loss(result.draws, draw, loss) + 1e-12 for draw in result.draws.labels)


@pytest.mark.parametrize("prior", ["tsb", "fsd"])
def test_chains_from_all_starts_agree_on_clear_clusters(prior):
    labels, truth = noisy_labels(n=400, r=15, k=8, noise=0.2)
    result = partita.consensus(labels, "nbce-gibbs", seed=0, prior=prior)
    assert partita.evaluate(result, truth=truth)["nmi"] > 0.99 and result.converged and not result.notes
    assert "have mixed" in result.detail["verdict"] and np.ptp(result.detail["log joint"]) < 3


@pytest.mark.parametrize("start", ["one", "spectral", "kmeans++", "base", "random"])
def test_starts(start):
    labels, truth = noisy_labels(n=120, r=9, noise=0.1)
    result = partita.consensus(labels, "nbce-gibbs", seed=0, init=start, **FAST)
    assert partita.evaluate(result, truth=truth)["nmi"] > 0.95


def test_k_is_the_most_there_can_be():
    labels, _ = noisy_labels(n=120, r=9, noise=0.1)
    for settings, most in (({"k": 3}, 3), ({"truncation": 2}, 2), ({"truncation": 1}, 1), ({"k": 9}, 9)):
        result = partita.consensus(labels, "nbce-gibbs", seed=0, **FAST, **settings)
        assert result.draws.sizes.max() <= most and 1 <= result.k <= most
    assert result.k == 4 and "requested 9 clusters, found 4" in result.notes


@pytest.mark.parametrize("weights", [None, [1, 2, 0.5, 1, 1, 3, 1]])
@pytest.mark.parametrize("prior", ["tsb", "fsd"])
def test_threads_and_blocks_change_nothing(weights, prior, monkeypatch):
    labels, _ = noisy_labels(n=80, missing=0.1)
    ensemble = Ensemble.from_labels(labels, missing=-1, weights=weights)

    def run(threads):
        return partita.consensus(ensemble, "nbce-gibbs", seed=0, threads=threads, prior=prior, **FAST)

    results = [run(1), run(2)]
    monkeypatch.setattr(nbce_gibbs, "BLOCK", 1)
    results.append(run(2))
    for result in results[1:]:
        assert np.array_equal(result.draws.labels, results[0].draws.labels) and result.trace == results[0].trace
        assert np.array_equal(result.membership, results[0].membership)
        assert result.detail["training perplexity"] == results[0].detail["training perplexity"]


def test_counts_are_objects():
    ensemble = noisy(n=30, r=4, noise=0.1)
    counts = 1 + np.arange(30) % 3
    rows = np.repeat(np.arange(30), counts)
    counted = partita.consensus(ensemble.with_counts(counts), "nbce-gibbs", seed=0, **FAST)
    written = partita.consensus(ensemble.rows(rows), "nbce-gibbs", seed=0, **FAST)
    assert counted.draws.labels.shape == (90, 30) and same_partition(counted.labels[rows], written.labels)
    assert counted.detail["training perplexity"] == pytest.approx(written.detail["training perplexity"], rel=1e-12)
    with pytest.raises(MethodError, match=r"nbce-gibbs draws object by object.*1\.5 objects; give whole counts"):
        partita.consensus(ensemble.with_counts(np.where(counts > 2, 1.5, 1)), "nbce-gibbs")


def test_equal_weights_are_no_weights_and_heavier_clusterings_win():
    labels, _ = noisy_labels()
    plain, weighted = (
        partita.consensus(Ensemble.from_labels(labels, weights=weights), "nbce-gibbs", seed=0, **FAST)
        for weights in (None, [0.1] * 7)
    )
    assert plain.trace == weighted.trace
    a, b = np.arange(60) % 2, np.arange(60) // 30
    ensemble = Ensemble.from_labels(np.stack([a, a, a, b, b, b], axis=1), weights=[3, 3, 3, 0.1, 0.1, 0.1])
    assert same_partition(partita.consensus(ensemble, "nbce-gibbs", 2, seed=0, **FAST).labels, a)


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
    ensemble, plan = noisy(n=50), {"chains": 2, "burn_in": 5, "thin": 1}
    whole = partita.consensus(ensemble, "nbce-gibbs", seed=0, draws=7, **plan)
    monkeypatch.setattr(nbce_gibbs, "BLOCK", 1)
    monkeypatch.setattr(nbce_gibbs, "advance", stopping_after(2 * 12))
    result = partita.consensus(ensemble, "nbce-gibbs", seed=0, draws=100, threads=threads, **plan)
    assert result.detail["interrupted"] is True and result.converged is False
    assert result.notes[0].startswith("interrupted: 7 of 100 draws a chain")
    assert len(result.trace) == 12 and np.array_equal(result.draws.labels, whole.draws.labels)


def test_interruption_between_blocks():
    def stop(what, done, total):
        if what == "nbce-gibbs sweeps" and done >= 30:
            raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch, reporting(stop):
        patch.setattr(nbce_gibbs, "BLOCK", 50 * 7 * 10)
        result = partita.consensus(noisy(n=50), "nbce-gibbs", burn_in=5, draws=100, thin=1)
    assert result.detail["interrupted"] and result.detail["draws"] == 4 * 25


def test_interruption_in_the_burn_in_keeps_where_the_chains_stood(monkeypatch):
    monkeypatch.setattr(nbce_gibbs, "BLOCK", 1)
    monkeypatch.setattr(nbce_gibbs, "advance", stopping_after(5))
    result = partita.consensus(noisy(n=50), "nbce-gibbs", chains=1, burn_in=50)
    assert result.detail["interrupted"] and result.converged is False and len(result.trace) == 5
    assert "after 5 of 50 sweeps" in result.notes[0] and len(result.draws) == 1
    assert same_partition(result.labels, result.draws.labels[0])


def test_interruption_before_the_first_sweep_goes_on_up(monkeypatch):
    monkeypatch.setattr(nbce_gibbs, "advance", stopping_after(0))
    with pytest.raises(KeyboardInterrupt):
        partita.consensus(noisy(n=50), "nbce-gibbs", chains=1, burn_in=5)


def test_draws_that_do_not_fit_are_refused(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 10**6)
    with pytest.raises(MethodError, match=r"nbce-gibbs with 1000 draws of 500 objects may need .* raise thin"):
        partita.consensus(noisy(n=500), "nbce-gibbs")


def test_least_settings_work_and_wrong_ones_are_refused():
    result = partita.consensus(noisy(), "nbce-gibbs", chains=1, burn_in=0, draws=1, thin=1, settle=0)
    assert len(result.trace) == 1 and result.converged is False and "R-hat inf" in result.notes[0]
    for wrong in (
        {"alpha": 0},
        {"beta": 0},
        {"chains": 0},
        {"draws": 0},
        {"thin": 0},
        {"burn_in": -1},
        {"truncation": 0},
    ):
        with pytest.raises(ParameterError, match="out of range"):
            partita.consensus(noisy(), "nbce-gibbs", **wrong)


def true_perplexity(labels, noise):
    """The perplexity under the chances the labels were drawn with."""
    ones, r = labels.sum(axis=1), labels.shape[1]
    halves = [(1 - noise) ** ones * noise ** (r - ones), (1 - noise) ** (r - ones) * noise**ones]
    chances = 0.95 * np.mean(halves, axis=0) + 0.05 * 0.5**r
    return math.exp(-np.log(chances).sum() / labels.size)


def check_planted(noise, prior, seed):
    """Two main clusters found, and the training perplexity near that of the truth; it is given back."""
    labels, truth, inside = planted(noise, seed=seed)
    result = partita.consensus(labels, "nbce-gibbs", seed=0, prior=prior)
    main = np.argsort(-result.sizes)[:2]
    assert result.sizes[main].sum() >= 0.9 * len(labels)
    within = np.intersect1d(inside, np.flatnonzero(np.isin(result.labels, main)))
    match = (result.labels[within] == main[0]) == truth[within]
    assert max(match.mean(), 1 - match.mean()) > 0.97
    assert result.detail["training perplexity"] == pytest.approx(true_perplexity(labels, noise), abs=0.03)
    return result.detail["training perplexity"]


def test_perplexity_of_two_planted_clusters_with_outliers():
    check_planted(0.1, "tsb", seed=1)


@pytest.mark.slow
@pytest.mark.parametrize(("noise", "expected"), [(0.05, 1.34), (0.1, 1.51), (0.15, 1.65), (0.2, 1.77)])
@pytest.mark.parametrize("prior", ["tsb", "fsd"])
def test_perplexity_of_the_paper(noise, expected, prior):
    found = [check_planted(noise, prior, seed) for seed in range(5)]
    assert np.mean(found) == pytest.approx(expected, abs=0.02)


def unsure_table():
    rng = np.random.default_rng(1)
    truth = rng.integers(4, size=100)
    return np.stack([np.where(rng.random(100) < 0.5, rng.integers(4, size=100), truth) for _ in range(6)], axis=1)


def test_a_partition_unlike_its_draws_is_told_and_the_best_draw_can_be_had():
    shown = partita.consensus(unsure_table(), "nbce-gibbs", chains=2, burn_in=100, draws=100)
    assert shown.k > shown.draws.sizes.max()
    assert any(f"{shown.k} clusters" in note and 'point="draw"' in note for note in shown.notes)
    other = int(np.count_nonzero(shown.membership.argmax(axis=1) != shown.labels))
    assert other and any(note.startswith(f"{other} object") for note in shown.notes)
    draw = partita.consensus(unsure_table(), "nbce-gibbs", chains=2, burn_in=100, draws=100, point="draw")
    assert draw.labels.tolist() in draw.draws.labels.tolist()
    losses = [expected_loss(draw.draws, row, "vi") for row in draw.draws.labels]
    assert expected_loss(draw.draws, draw.labels, "vi") == pytest.approx(min(losses))


def test_the_truncation_does_not_depend_on_the_number_of_objects():
    table, fixed = [[0, 0], [0, 0], [1, 1]], {"learn_alpha": False, "learn_beta": False, "prior": "fsd"}
    found = partita.consensus(table, "nbce-gibbs", truncation=20, chains=2, draws=4000, **fixed).draws.labels
    exact = oracle.Exact(table, (2, 2), 20, 1.0, 0.5, "fsd").co_clustering()
    assert np.equal(found[:, 0], found[:, 1]).mean() == pytest.approx(exact[0, 1], abs=0.02)
    assert np.equal(found[:, 0], found[:, 2]).mean() == pytest.approx(exact[0, 2], abs=0.02)
