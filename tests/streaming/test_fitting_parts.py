"""Any division into parts, on any engine, gives the central fit."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from partita.core.errors import MethodError, ParameterError, TableError
from partita.core.soft import SoftEnsemble
from partita.core.types import FrozenDict
from partita.engine import open_engine
from partita.federated.at_rows import coded, hold
from partita.federated.coordinate import Plan
from partita.federated.rows import METHODS
from partita.federated.simulate import simulate
from partita.models import bce_vb, mixture, mm
from partita.streaming.fitting_parts import Asked, Piece, fit_parts, hold_rows, take_step, terms_of
from tests.engine.killing import Struck
from tests.federated.recording import table
from tests.streaming.pieces import chosen_of, fitted, numbers, taken, under, wanted

WEIGHTS = [1, 2, 0.5, 1, 3, 1]
N = 240
CUTS = {
    "one": [np.arange(N)],
    "two": np.array_split(np.arange(N), 2),
    "seventeen": np.array_split(np.random.default_rng(1).permutation(N), 17),
    "uneven": [np.arange(0, 10), np.arange(10, 10), np.arange(10, N - 1), np.array([N - 1])],  # none, and none known
}


@pytest.fixture(scope="module")
def serial():
    with open_engine("serial") as engine:
        yield engine


def near(found, expected):
    for one, other in zip(numbers(found), numbers(expected), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("start", ["spectral", "random"])
@pytest.mark.parametrize("method", METHODS)
def test_any_division_gives_the_same_fit(serial, method, start):
    ensemble, asked = table(n=N, weights=WEIGHTS), wanted(method, start)
    whole = fitted(serial, ensemble, CUTS["one"], asked)
    for cut in ("two", "seventeen", "uneven"):
        near(fitted(serial, ensemble, CUTS[cut], asked), whole)


@pytest.mark.parametrize("method", ["bce-vb", "itk"])
def test_memberships_are_fitted_too(serial, method):
    rng = np.random.default_rng(4)
    truth = rng.integers(3, size=N)
    blocks = [rng.dirichlet(np.ones(k), N) * 0.5 + 0.5 * np.eye(k)[rng.permutation(k)[truth]] for k in (3, 4, 3, 5, 3)]
    blocks[2][:7] = np.nan
    ensemble, asked = SoftEnsemble.from_memberships(blocks, weights=[1, 2, 1, 1, 0.5]), wanted(method)
    near(fitted(serial, ensemble, CUTS["seventeen"], asked), fitted(serial, ensemble, CUTS["one"], asked))


@pytest.mark.parametrize("method", METHODS)
def test_it_is_the_fit_of_sites_that_hold_the_parts(serial, method):
    """Up to eight shares are added in the order of the sites: every bit agrees."""
    cut = [*CUTS["seventeen"][:4], np.concatenate(CUTS["seventeen"][4:])]
    k = None if method == "nbce-vb" else 3
    plan = Plan((), "rows", method, k, transport="float", seed=5, init="random")
    outcome = simulate(table(n=N, weights=WEIGHTS), plan, rows=cut).outcome
    ensemble = coded(table(n=N, weights=WEIGHTS), outcome.terms, "all")
    found = fitted(serial, ensemble, cut, wanted(method, "random"))
    assert found.runs.best.trace == outcome.trace
    assert np.array_equal(found.model.stacked, outcome.model.stacked)
    assert np.array_equal(found.model.bias, outcome.model.bias)
    assert found.model.classes == ensemble.classes and found.model.recipe.method == method
    assert np.array_equal(found.model.predict(ensemble), outcome.model.predict(ensemble))


class Watched:
    """Parts that remember in which clusters their rows began."""

    def __init__(self, parts):
        self.parts, self.chosen = parts, None

    def step(self, function, common, add):
        share = self.parts.step(function, common, add)
        if common.step == "chosen" and self.chosen is None:
            self.chosen = list(self.parts.each(chosen_of))
        return share


@pytest.mark.parametrize("method", ["mm", "bce-vb"])
def test_it_is_the_central_fit_from_the_same_start(serial, method):
    cut, asked = CUTS["seventeen"], wanted(method)
    terms, ensemble = under(table(n=N, weights=WEIGHTS), asked)
    watched = Watched(hold_rows(serial, partial(taken, ensemble), cut, terms))
    found = fit_parts(watched, terms)
    whole = hold(ensemble)
    start = np.zeros(len(whole.part), np.int32)
    for rows, chosen in zip(cut, watched.chosen, strict=True):
        own = hold(ensemble.rows(rows)).inverse
        start[whole.inverse[rows[own >= 0]]] = chosen[own[own >= 0]]
    if method == "mm":
        run = mm.one_run(whole.part, mm.Params(), mixture.softened(whole.part, start, 3))
        bias = run.state.params.log_weights
    else:
        run = bce_vb.one_run(whole.part, bce_vb.Params(), bce_vb.state_of(whole.part, 3, bce_vb.Params(), start))
        bias = run.state.params.alpha
    np.testing.assert_allclose(found.runs.best.trace, run.trace, rtol=1e-10)
    np.testing.assert_allclose(found.model.bias, bias, rtol=1e-8)


@pytest.mark.parametrize("method", METHODS)
def test_threads_give_the_same_bits(serial, method):
    ensemble, asked = table(n=N, weights=WEIGHTS), wanted(method)
    expected = numbers(fitted(serial, ensemble, CUTS["seventeen"], asked))
    with open_engine("threads", workers=3) as engine:
        found = numbers(fitted(engine, ensemble, CUTS["seventeen"], asked))
    assert all(map(np.array_equal, found, expected))


@pytest.mark.slow
def test_dask_gives_the_same_bits_also_where_a_worker_dies(serial, tmp_path):
    pytest.importorskip("distributed")
    ensemble = table(n=N, weights=WEIGHTS)
    cut = np.array_split(np.arange(N), 9)  # a tree of two levels

    with open_engine("dask", workers=2) as engine:
        for method in METHODS:
            asked = wanted(method, max_iter=5)
            expected = numbers(fitted(serial, ensemble, cut, asked))
            assert all(map(np.array_equal, numbers(fitted(engine, ensemble, cut, asked)), expected))
        for method, number in {"bce-vb": 8, "qmi": 5}.items():
            asked = wanted(method, max_iter=5)
            expected = numbers(fitted(serial, ensemble, cut, asked))
            (folder := tmp_path / method).mkdir()
            found = fitted(engine, ensemble, cut, asked, partial(Struck, folder=folder, number=number))
            assert (folder / "killed").exists() and all(map(np.array_equal, numbers(found), expected))


def test_an_emptied_cluster_is_refilled_from_any_part(serial):
    """k above what the start finds: the worst-fitted rows of all parts are offered."""
    ensemble = table(n=60, k=2, noise=0.05, missing=0.0)
    terms, ensemble = under(ensemble, wanted("qmi", "random", k=9))
    traces = []
    for count in (1, 4, 20):
        steps = []
        parts = hold_rows(serial, partial(taken, ensemble), np.array_split(np.arange(60), count), terms)
        traces.append(fit_parts(Noting(parts, steps), terms).runs.best.trace[-1])
        assert "farthest" in steps and "move" in steps
    np.testing.assert_allclose(traces, traces[0], rtol=1e-9)


class Noting:
    """Parts that note which steps are taken."""

    def __init__(self, parts, steps):
        self.parts, self.steps = parts, steps

    def step(self, function, common, add):
        self.steps.append(common.step)
        return self.parts.step(function, common, add)


def test_a_step_that_keeps_nothing_leaves_the_state_itself():
    terms, ensemble = under(table(n=60), wanted("mm"))
    piece, state = Piece(0, hold(ensemble)), FrozenDict({"chosen": np.zeros(3)})
    after, share = take_step(Asked("totals", terms, {}), piece, state)
    assert after is state and share["labels"].shape == (sum(map(len, terms.classes)),)
    assert take_step(Asked("totals", terms, {}), piece, None)[0] is None


def test_a_share_does_not_grow_with_the_rows(serial):
    sizes = []
    for n in (100, 1000):
        seen = []
        terms, ensemble = under(table(n=n), wanted("bce-vb", "random", max_iter=3))
        parts = hold_rows(serial, partial(taken, ensemble), np.array_split(np.arange(n), 4), terms)
        fit_parts(Weighing(parts, seen), terms)
        sizes.append(seen[:4])
    assert sizes[0] == sizes[1]


class Weighing(Noting):
    """Parts that note how many numbers come of each step."""

    def step(self, function, common, add):
        found = self.parts.step(function, common, add)
        self.steps.append(sum(array.size for array in found.values()))
        return found


@pytest.mark.parametrize(
    ("changed", "kind", "message"),
    [
        ({"method": "cspa"}, MethodError, "cspa cannot be fitted part by part; choose one of mm, bce-vb"),
        ({"k": None}, ParameterError, "needs the number of clusters"),
        ({"k": 0}, ParameterError, "whole number >= 1"),
        ({"k": True}, ParameterError, "whole number >= 1"),
        ({"k": 2.0}, ParameterError, "whole number >= 1"),
        ({"init": "kmeans"}, ParameterError, "give spectral or random"),
        ({"settings": {"init": "random"}}, ParameterError, "beside the method's settings"),
        ({"settings": {"stable": 3}}, ParameterError, "leave stable at 0"),
        ({"settings": {"smothing": 3}}, ParameterError, "did you mean 'smoothing'"),
    ],
)
def test_what_cannot_be_fitted_is_told(changed, kind, message):
    ensemble = table()
    with pytest.raises(kind, match=message):
        under(ensemble, replace(wanted("mm"), **changed))


def test_clusterings_that_say_nothing_and_other_codes_are_refused(serial):
    ensemble, asked = table(), wanted("mm")
    with pytest.raises(TableError, match="clustering 'c1' has no label or no weight"):
        terms_of(ensemble.names, ensemble.classes, [1, 0, 1, 1, 1, 1], asked)
    terms, _ = under(ensemble, asked)
    with pytest.raises(TableError, match=r"^block 2: labels are coded otherwise"):
        hold_rows(serial, load_mixed, [ensemble, ensemble.columns([1, 0, 2, 3, 4, 5])], terms)


def load_mixed(ensemble):
    return ensemble
