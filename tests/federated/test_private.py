"""Noise, suppression and randomised labels where they are used: at a site, before anything leaves it."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import kstest

from partita.core.errors import FederatedError, ParameterError
from partita.federated import privacy
from partita.federated.coordinate import Plan
from partita.federated.messages import Ask
from partita.federated.simulate import simulate
from partita.federated.site import answer
from tests.federated.recording import link_of, recorded, table

K = 3
NOISY = {"max_iter": 4}
PARTS = [np.arange(0, 50), np.arange(50, 100), np.arange(100, 150)]


def site_of(plan, name="s1"):
    link, terms = link_of(table(), plan, PARTS)
    return link.locals[name], link.states[name], terms


def noisy_plan(method="mm", **more):
    settings = {"learn_alpha": False, **NOISY} if method == "bce-vb" else NOISY
    return Plan((), "rows", method, K, settings, transport="float", init="random", rho=2.0, **more)


def assign(terms, number=0):
    t = sum(map(len, terms.classes))
    rng = np.random.default_rng(8)
    return Ask(terms.run, number, "assign", {"tables": rng.standard_normal((t, K)), "bias": np.zeros(K)})


def test_noise_has_the_scale_that_the_budget_says():
    local, state, terms = site_of(noisy_plan())
    bare, bare_state, bare_terms = site_of(Plan((), "rows", "mm", K, transport="float", init="random"))
    sigma = privacy.noise_scale(np.sqrt(1 + len(terms.names)), NOISY["max_iter"] + 1, 2.0)
    exact = answer(bare, bare_state, assign(bare_terms))[1].arrays
    draws = []
    for seed in range(60):
        found = answer(type(local)(**{**vars(local), "noise": seed, "cache": {}}), state, assign(terms))[1].arrays
        assert not found["scalars"].any()
        draws.append(np.concatenate([(found[name] - exact[name]).ravel() for name in ("labels", "sizes")]))
    assert kstest(np.concatenate(draws) / sigma, "norm").pvalue > 1e-4


def test_the_same_ask_gets_the_same_noise_and_a_run_wound_back_gets_other_noise():
    """Noise that was a function of run and round would cancel between two answers of a coordinator's choice."""
    local, state, terms = site_of(noisy_plan())
    after, first = answer(local, state, assign(terms))
    assert answer(local, after, assign(terms))[1] is first
    real = replace(local, noise=None)
    one, two = (answer(real, state, assign(terms))[1].arrays["labels"] for _ in range(2))
    assert np.abs(one - two).min() > 1e-9


def test_a_spent_budget_and_steps_without_noise_are_refused():
    local, state, terms = site_of(noisy_plan())
    with pytest.raises(FederatedError, match="s1: step 'overlaps' cannot be made private"):
        answer(local, state, Ask(terms.run, 0, "overlaps"))
    for number in range(NOISY["max_iter"] + 1):
        state, _ = answer(local, state, assign(terms, number))
    with pytest.raises(FederatedError, match="the budget is spent"):
        answer(local, state, assign(terms, number + 1))


def test_bce_tells_no_expected_logarithms_under_noise():
    link, outcome, _, _ = recorded(table(n=400), noisy_plan("bce-vb"), 3)
    shares = [found for step, _, found in link.kept if step == "bce"]
    assert len(shares) == NOISY["max_iter"] and outcome.trace == ()
    assert all(not s.arrays["sizes"].any() and not s.arrays["scalars"].any() for f in shares for s in f.values())
    assert any("epsilon" in note for note in outcome.notes)


@pytest.mark.parametrize("method", ["mm", "bce-vb"])
def test_with_much_data_noise_costs_little(method):
    ensemble = table(n=6000, r=8, noise=0.2)
    bare = simulate(ensemble, Plan((), "rows", method, K), rows=3).consensus
    plan = Plan((), "rows", method, K, noisy_plan(method).settings, init="random", rho=2.0, seed=1)
    found = simulate(ensemble, plan, rows=3).consensus
    assert found.scores["anmi"] > 0.95 * bare.scores["anmi"]


def test_suppression_comes_after_noise_and_hides_small_cells():
    local, state, terms = site_of(noisy_plan(suppress=9.0))
    noisy_local, noisy_state, _ = site_of(noisy_plan())
    full = answer(noisy_local, noisy_state, assign(terms))[1].arrays["labels"]
    cut = answer(local, state, assign(terms))[1].arrays["labels"]
    assert np.array_equal(cut, np.where(np.abs(full) < 9, 0, full)) and (np.abs(full) < 9).any()


def test_suppression_reaches_every_count_that_is_told():
    plan = Plan((), "rows", "mm", K, transport="float", suppress=6.0)
    link, _, _, _ = recorded(table(n=200), plan, 3)
    assert {"overlaps", "chosen", "mixture", "nearest"} <= {step for step, _, _ in link.kept}
    for step, _, found in link.kept:
        for share in found.values():
            for name in {"overlaps": ("overlaps",), "nearest": ("sizes",)}.get(step, ("labels",)):
                cells = share.arrays.get(name, np.zeros(0))
                if step != "overlaps":
                    assert not ((cells != 0) & (cells < 6)).any(), (step, name)
    plain, weighted = [found for step, _, found in link.kept if step == "overlaps"]
    for site in plain:
        cells = plain[site].arrays["overlaps"]
        assert not ((cells != 0) & (cells < 6)).any()
        assert np.array_equal(cells == 0, weighted[site].arrays["overlaps"] == 0)


@pytest.mark.parametrize(
    ("more", "match"),
    [
        ({"init": "spectral"}, "init=random"),
        ({"settings": {}}, "max_iter"),
        ({"method": "qmi"}, "method=mm or method=bce-vb"),
        ({"settings": {"max_iter": 3, "restarts": 2}}, "restarts"),
        ({"method": "bce-vb"}, "learn_alpha"),
        ({"rho": -1.0}, "rho=-1"),
    ],
)
def test_plans_that_noise_cannot_keep_private_are_refused(more, match):
    plan = {"sites": (), "layout": "rows", "method": "mm", "k": K, "settings": NOISY, "init": "random", "rho": 1.0}
    with pytest.raises(ParameterError, match=match):
        simulate(table(), Plan(**{**plan, **more}), rows=3)


@pytest.mark.parametrize("layout", ["rows", "columns"])
def test_labels_are_randomised_once_and_then_fitted_like_any_others(layout):
    ensemble = table(n=900, r=9, noise=0.1, missing=0.1)
    plan = Plan((), layout, "mm", K, transport="float", seed=2)
    parts = (
        [np.arange(300 * i, 300 * i + 300) for i in range(3)] if layout == "rows" else [[0, 1, 2], [3, 4, 5], [6, 7, 8]]
    )
    link, _ = link_of(ensemble, plan, parts)
    local = type(link.locals["s0"])(**{**vars(link.locals["s0"]), "randomise": 1.0})
    from partita.federated.local import randomised

    part = local.table
    found = randomised(local, part)
    assert np.array_equal(randomised(local, part).labels, found.labels)
    assert np.array_equal(found.labels < 0, part.labels < 0)
    for j, size in enumerate(part.sizes):
        known = part.labels[:, j] >= 0
        kept = np.mean(found.labels[known, j] == part.labels[known, j])
        assert abs(kept - np.e / (np.e + size - 1)) < 5 * np.sqrt(0.25 / known.sum())
    simulated = simulate(ensemble, plan, **{layout: parts}, randomise=4.0)
    assert any("epsilon = 4 for each label, 36 for all" in note for note in simulated.consensus.notes)
    bare = simulate(ensemble, plan, **{layout: parts}).consensus
    assert simulated.consensus.scores["anmi"] > 0.9 * bare.scores["anmi"]


def test_randomised_labels_need_a_lasting_secret():
    link, terms = link_of(table(), Plan((), "rows", "mm", K, transport="float"), PARTS)
    local = type(link.locals["s0"])(**{**vars(link.locals["s0"]), "randomise": 1.0, "entropy": None})
    with pytest.raises(FederatedError, match="state folder"):
        answer(local, link.states["s0"], Ask(terms.run, 0, "overlaps"))
