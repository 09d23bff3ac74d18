"""Any division of the rows gives the central fit: the same code on one table is the oracle."""

import numpy as np
import pytest

from partita.core.counting import label_counts
from partita.core.soft import SoftEnsemble
from partita.federated.at_rows import coded, hold
from partita.federated.coordinate import Plan
from partita.federated.partaking import consensus_of
from partita.federated.rows import refills
from partita.federated.simulate import simulate
from partita.metrics import confidence
from partita.models import bce_vb, itk, mixture, mm, nbce_start, nbce_vb, qmi
from partita.models.nbce_bound import Hyper
from partita.models.reseed import fill_empty
from partita.registry import get
from tests.federated.recording import recorded, table
from tests.samples import noisy

K = 3
WEIGHTS = [1, 2, 0.5, 1, 3, 1]


def central_rows(ensemble, terms):
    """The whole table as one site would hold it."""
    return hold(coded(ensemble, terms, "all")).part


def whole_start(ensemble, link, parts, whole):
    """(rows of whole,) the clusters in which the sites' rows began, put together."""
    per_object = np.full(len(ensemble), -1)
    for site, part in zip(link.locals, parts, strict=True):
        held = link.locals[site].cache["rows"]
        known = held.inverse >= 0
        per_object[np.asarray(part)[known]] = link.first("chosen")[site]["chosen"][held.inverse[known]]
    held = hold(coded(ensemble, link.states["s0"].terms, "all"))
    labels = np.full(len(whole), -1)
    for obj, row in enumerate(held.inverse):
        if row >= 0:
            assert labels[row] in (-1, per_object[obj])
            labels[row] = per_object[obj]
    return labels.astype(np.int32)


def soft_table():
    rng = np.random.default_rng(4)
    truth = rng.integers(K, size=80)
    blocks = [rng.dirichlet(np.ones(k), 80) * 0.5 + 0.5 * np.eye(k)[rng.permutation(k)[truth]] for k in (3, 4, 3, 5, 3)]
    blocks[2][:7] = np.nan
    return SoftEnsemble.from_memberships(blocks, weights=[1, 2, 1, 1, 0.5])


@pytest.mark.parametrize("parts", [1, 2, 5, [np.arange(0, 10), np.arange(10, 149), np.array([149])]])
@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_mm(parts, weights):
    ensemble = table(weights=weights)
    link, outcome, _, cut = recorded(ensemble, Plan((), "rows", "mm", K, transport="float", seed=3), parts)
    whole = central_rows(ensemble, outcome.terms)
    start = mixture.softened(whole, whole_start(ensemble, link, cut, whole), K)
    run = mm.one_run(whole, mm.Params(), start)
    np.testing.assert_allclose(outcome.trace, run.trace, rtol=1e-10)
    np.testing.assert_allclose(outcome.model.stacked, mixture.scores_of(run.state.params, whole), rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("soft", [False, True])
def test_bce(parts, soft):
    ensemble = soft_table() if soft else table(weights=WEIGHTS)
    link, outcome, results, cut = recorded(ensemble, Plan((), "rows", "bce-vb", K, transport="float", seed=3), parts)
    whole = central_rows(ensemble, outcome.terms)
    first = bce_vb.state_of(whole, K, bce_vb.Params(), whole_start(ensemble, link, cut, whole))
    run = bce_vb.one_run(whole, bce_vb.Params(), first)
    np.testing.assert_allclose(outcome.trace, run.trace, rtol=1e-10)
    np.testing.assert_allclose(outcome.model.bias, run.state.params.alpha, rtol=1e-8)
    for (_, found), part in zip(results.items(), cut, strict=True):
        again = outcome.model.predict(ensemble.rows(part))
        assert np.array_equal(found.labels, again)


@pytest.mark.parametrize("parts", [1, 4])
def test_qmi(parts):
    ensemble = table(weights=WEIGHTS)
    link, outcome, _, cut = recorded(ensemble, Plan((), "rows", "qmi", K, transport="float", seed=3), parts)
    whole = central_rows(ensemble, outcome.terms)
    whole = type(whole)(
        whole.labels, whole.sizes, whole.names, whole.classes, whole.weights / whole.weights.max(), None, whole.counts
    )
    space = qmi.describe(whole)
    run = qmi.one_run(whole, space, qmi.centers_of(whole, space, whole_start(ensemble, link, cut, whole), K), 300)
    np.testing.assert_allclose(outcome.trace, run.trace, rtol=1e-10)


@pytest.mark.parametrize("parts", [1, 4])
@pytest.mark.parametrize("soft", [False, True])
def test_itk(parts, soft):
    ensemble = soft_table() if soft else table(weights=WEIGHTS)
    plan = Plan((), "rows", "itk", K, transport="float", seed=3, settings={"smoothing": 0.5})
    link, outcome, _, cut = recorded(ensemble, plan, parts)
    whole = central_rows(ensemble, outcome.terms)
    space = itk.describe(whole)
    params = itk.Params(smoothing=0.5)
    first = itk.partition(space, whole_start(ensemble, link, cut, whole), K, 0.5)
    run = itk.one_run(space, first, params)
    np.testing.assert_allclose(outcome.trace, run.trace, rtol=1e-10)


@pytest.mark.parametrize("prior", ["tsb", "fsd"])
@pytest.mark.parametrize("parts", [1, 4])
def test_nbce(prior, parts):
    ensemble = table(weights=WEIGHTS)
    plan = Plan((), "rows", "nbce-vb", transport="float", seed=3, settings={"prior": prior})
    link, outcome, _, cut = recorded(ensemble, plan, parts)
    whole = central_rows(ensemble, outcome.terms)
    labels = whole_start(ensemble, link, cut, whole)
    seeds = int(whole.offsets[-1])
    hyper = Hyper(prior, 100, 1.0, 0.5, True, True)
    tables, sizes = label_counts(whole, labels, seeds)
    pieces = nbce_start.gathered(whole, mixture.Counts(sizes, tables, np.nan, 0), hyper)
    run = nbce_vb.one_run(whole, nbce_vb.Params(prior=prior), hyper, nbce_start.merged(pieces, whole.offsets, hyper))
    np.testing.assert_allclose(outcome.trace, run.trace, rtol=1e-10)


def methods_by(layout):
    return [name for name in ("mm", "bce-vb", "qmi", "itk", "nbce-vb") if layout in get(name).splits]


@pytest.mark.parametrize("start", ["spectral", "random"])
@pytest.mark.parametrize("method", methods_by("rows"))
def test_masked_and_fixed_agree_bit_for_bit_and_float_nearly(method, start):
    ensemble = table(n=400)
    found = {
        transport: simulate(
            ensemble,
            Plan((), "rows", method, None if method == "nbce-vb" else K, transport=transport, init=start, seed=5),
            rows=4,
        )
        for transport in ("masked", "fixed", "float")
    }
    masked, fixed, exact = (found[transport].consensus for transport in ("masked", "fixed", "float"))
    assert masked.trace == fixed.trace and np.array_equal(masked.labels, fixed.labels)
    assert masked.membership is None or np.array_equal(masked.membership, fixed.membership, equal_nan=True)
    assert np.mean(masked.labels == exact.labels) >= 0.999


def test_what_a_row_site_sends_does_not_grow_with_its_objects():
    sizes = []
    for n in (100, 1000):
        plan = Plan((), "rows", "mm", K, seed=1, init="random", settings={"max_iter": 5, "tol": 0.0})
        sizes.append(simulate(table(n=n), plan, rows=3).ledger.a_message("mixture", "from"))
    assert sizes[0] == sizes[1]


def test_an_emptied_cluster_gets_the_worst_fitted_row_as_in_the_central_fit():
    rng = np.random.default_rng(2)
    for _ in range(50):
        n, k = 40, 5
        chosen = rng.integers(3, size=n).astype(np.int32)
        apart = rng.random(n)
        expected = chosen.copy()
        fill_empty(expected, apart, k)
        parts = np.array_split(rng.permutation(n), 4)
        offered, owners = np.zeros((4, 16)), np.zeros((4, 16), np.int64) - 1
        orders = [part[np.argsort(-apart[part], kind="stable")] for part in parts]
        for i, order in enumerate(orders):
            offered[i, : len(order)], owners[i, : len(order)] = apart[order], chosen[order]
        rows = np.bincount(chosen, minlength=k).astype(float)
        moves = refills(offered, owners, rows, np.flatnonzero(rows == 0))
        found = chosen.copy()
        for i, order in enumerate(orders):
            for place, row in enumerate(order):
                if moves[i, place]:
                    found[row] = moves[i, place] - 1
        assert np.array_equal(found, expected)


def test_refilling_over_sites_equals_the_central_fit():
    """k above what the start finds: clusters are empty at once."""
    ensemble = table(n=60, k=2, noise=0.05, missing=0.0)
    plan = Plan((), "rows", "qmi", 9, transport="float", init="random", seed=2)
    one, many = recorded(ensemble, plan, 1), recorded(ensemble, plan, 4)
    assert any(step == "farthest" for step, _, _ in many[0].kept)
    np.testing.assert_allclose(one[1].trace[-1], many[1].trace[-1], rtol=1e-9)


@pytest.mark.parametrize("method", ["mm", "bce-vb"])
def test_sequential_keeps_labels_possible_that_a_site_lacks(method):
    """Misprint 22: without smoothing a site without some label gives it chance 0, and the next site has log 0."""
    ensemble = table(n=200, missing=0.0)
    rare = np.flatnonzero(ensemble.labels[:, 2] == 4)
    parts = np.array_split(np.random.default_rng(0).permutation(np.setdiff1d(np.arange(200), rare)), 4)
    parts[0] = np.concatenate([parts[0], rare])
    assert len(rare) > 3 and all((ensemble.labels[part, 2] != 4).all() for part in parts[1:])
    plan = Plan((), "rows", method, K, protocol="sequential", seed=1)
    found = simulate(ensemble, plan, rows=parts)
    assert found.outcome.terms.params["smoothing"] == 1.0
    assert np.isfinite(found.outcome.trace).all() and found.consensus.k == K
    assert any("shows the coordinator" in note for note in found.consensus.notes)
    assert (
        found.consensus.scores["anmi"]
        > 0.9 * simulate(ensemble, Plan((), "rows", method, K), rows=3).consensus.scores["anmi"]
    )


@pytest.mark.parametrize("name", ["mm", "bce-vb", "qmi", "itk", "nbce-vb"])
@pytest.mark.parametrize("transport", ["float", "masked"])
def test_sites_compute_the_confidence_of_the_whole_table(name, transport):
    """From the sum of the sites' tables of labels by cluster, without the object itself."""
    ensemble = noisy(missing=0.15, n=90)
    found = simulate(ensemble, Plan((), "rows", name, 4, transport=transport, seed=3), rows=3).consensus
    assert np.isfinite(found.confidence).sum() > 80
    np.testing.assert_allclose(found.confidence, confidence(ensemble, found.labels), rtol=0, atol=1e-12)
    assert sum(counts.sum() for counts in found.model.counts) == (ensemble.labels >= 0).sum()


@pytest.mark.parametrize(
    ("layout", "terms", "reason"),
    [
        ("columns", {}, "labels of an object, which are at different sites"),
        ("rows", {"rho": 50.0, "init": "random", "settings": {"max_iter": 5}}, "not charged to the privacy budget"),
        ("rows", {"suppress": 3}, "small ones are suppressed"),
    ],
)
def test_confidence_is_omitted_with_a_note_where_its_table_may_not_be_shared(layout, terms, reason):
    found = simulate(noisy(n=90), Plan((), layout, "mm", 4, seed=3, **terms), **{layout: 3})
    assert (found.consensus.confidence is None and found.consensus.model is None) or not found.consensus.model.counts
    assert sum(reason in note for note in found.consensus.notes) == 1
    for site in found.sites.values():
        assert site.confidence is None
        assert sum(reason in note for note in consensus_of(site, "").notes) == 1
