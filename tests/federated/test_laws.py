"""Laws of column-distributed fits, for every method that the registry declares, through the public API."""

import numpy as np
import pytest

import partita
from partita import Ensemble, SoftEnsemble
from partita.federated import fixed
from partita.federated.coordinate import Plan
from partita.federated.partaking import consensus_of, write_result
from partita.federated.simulate import simulate
from partita.registry import METHODS, get
from tests.federated.recording import recorded, table

K = 3
BY_COLUMNS = [name for name in METHODS if "columns" in get(name).splits]


def softened(ensemble):
    """Memberships of .7 to 1 in the own cluster; missing labels stay missing."""
    rng, soft = np.random.default_rng(0), SoftEnsemble.from_hard(ensemble)
    blocks = {}
    for j, name in enumerate(ensemble.names):
        own = rng.uniform(0.7, 1, size=(len(ensemble), 1))
        spread = rng.dirichlet(np.ones(ensemble.sizes[j]), size=len(ensemble))
        blocks[name] = np.where(soft.known[:, [j]], own * soft.block(j) + (1 - own) * spread, np.nan)
    return SoftEnsemble.from_memberships(blocks)


TABLES = {
    "complete": lambda: table(n=90, noise=0.2, missing=0.0, seed=1),
    "missing": lambda: table(n=120, noise=0.35, missing=0.2, seed=2),
    "weights": lambda: table(n=90, r=7, noise=0.25, seed=3, weights=[1, 2, 0.5, 1, 3, 1, 1]),
    "soft": lambda: softened(table(n=80, noise=0.15, seed=4)),
}
every_method = pytest.mark.parametrize("method", BY_COLUMNS)


def central(ensemble, method, seed=0, **settings):
    return partita.consensus(ensemble, method, K, seed=seed, init="transfer-cut", **settings)


def apart(ensemble, method, columns, seed=0, settings=None, **more):
    plan = Plan((), "columns", method, K, settings or {}, seed=seed, allow_two_sites=True, **more)
    return simulate(ensemble, plan, columns=columns)


def difference(a, b):
    assert np.array_equal(a.labels, b.labels)
    assert np.array_equal(np.isnan(a.membership), np.isnan(b.membership))
    return np.nanmax(np.abs(a.membership - b.membership))


@every_method
@pytest.mark.parametrize("kind", TABLES)
def test_any_split_is_the_central_fit(method, kind):
    """With default settings: exactly in floating point, and to 1e-6 under masks with the default number of bits."""
    ensemble = TABLES[kind]()
    expected = central(ensemble, method)
    for columns in (2, len(ensemble.names)):
        found = apart(ensemble, method, columns, transport="float").consensus
        assert difference(found, expected) < 1e-10
        np.testing.assert_allclose(found.trace, expected.trace, rtol=1e-10)
        assert found.converged == expected.converged
    assert difference(apart(ensemble, method, 3).consensus, expected) < 1e-6


@every_method
def test_restarts_are_those_of_the_central_fit(method):
    ensemble = table(n=90, noise=0.6, missing=0.1, seed=5)
    settings = {"restarts": 3, "max_iter": 15}
    found = apart(ensemble, method, 3, seed=4, settings=settings, transport="float").consensus
    assert difference(found, central(ensemble, method, seed=4, **settings)) < 1e-10


@every_method
def test_the_order_of_the_objects_does_not_matter(method):
    ensemble = table(n=120, noise=0.4, missing=0.1, seed=6)
    order = np.random.default_rng(0).permutation(len(ensemble))
    shuffled = Ensemble.from_labels(ensemble.labels[order], missing=-1)
    whole = central(ensemble, method)
    for found in (central(shuffled, method), apart(shuffled, method, 3, transport="float").consensus):
        again = found.match_to(whole.labels[order])
        assert np.array_equal(again.labels, whole.labels[order])
        np.testing.assert_allclose(again.membership, whole.membership[order], rtol=0, atol=1e-9)


@pytest.mark.parametrize("init", ["transfer-cut", "random"])
def test_the_papers_exchange_takes_init_and_restarts_and_is_the_same_fit(init):
    """From every number of sites: the start does not depend on it."""
    ensemble = table(n=90, noise=0.4, missing=0.1, seed=7, weights=[1, 2, 0.5, 1, 3, 1])
    settings = {"restarts": 2, "max_iter": 20, "smoothing": 0.1}
    ours = apart(ensemble, "bce-vb", 3, settings=settings, init=init, transport="float").consensus
    if init == "transfer-cut":
        assert difference(ours, central(ensemble, "bce-vb", **settings)) < 1e-10
    for sites in (1, 2, 6):
        paper = apart(ensemble, "bce-vb", sites, settings=settings, init=init, protocol="paper")
        assert difference(paper.consensus, ours) < 1e-10
        for found in paper.sites.values():
            assert found.trace == pytest.approx(ours.trace, rel=1e-10) and found.converged == ours.converged


@every_method
@pytest.mark.parametrize("protocol", ["sums", "paper"])
def test_a_site_writes_its_own_model_trace_bound_and_convergence(method, protocol, tmp_path):
    if protocol == "paper" and method != "bce-vb":
        return
    ensemble = table(n=90, noise=0.2, missing=0.1, seed=8)
    expected = central(ensemble, method)
    plan = Plan((), "columns", method, K, transport="float", protocol=protocol, seed=0)
    parts = [[0, 3], [1], [2, 4, 5]]
    _, _, results, _ = recorded(ensemble, plan, parts)
    for found, own in zip(results.values(), parts, strict=True):
        result = consensus_of(found, "x")
        assert result.converged is expected.converged is True
        assert result.detail["objective"] == pytest.approx(expected.detail["objective"], rel=1e-10)
        np.testing.assert_allclose(result.trace, expected.trace, rtol=1e-10)
        assert result.model.names == tuple(ensemble.names[j] for j in own)
        for table_, j in zip(result.model.tables, own, strict=True):
            whole = expected.model.tables[ensemble.names.index(ensemble.names[j])]
            np.testing.assert_allclose(table_, whole, atol=1e-8)
        predicted = result.predict_proba(ensemble.columns(own))
        assert predicted.shape == (90, K) and np.nanmean(result.predict(ensemble.columns(own)) == found.labels) > 0.5
        path = tmp_path / f"{found.terms.method}.partita"
        write_result(found, "x", path, None)
        loaded = partita.load(path)
        assert loaded.trace == result.trace and loaded.converged is True
        np.testing.assert_array_equal(loaded.predict_proba(ensemble.columns(own)), predicted)
    whole_site = recorded(ensemble, plan, 1)[2]["s0"]
    np.testing.assert_allclose(
        whole_site.model.predict_proba(ensemble), expected.model.predict_proba(ensemble), atol=1e-8
    )


@every_method
def test_label_distributions_never_leave_their_site(method):
    """No message of a masked run holds a number of any site's tables, or an array of their shape."""
    ensemble = table(n=90, noise=0.2, missing=0.1, seed=9)
    parts = [[0, 3], [1], [2, 4, 5]]
    plan = Plan((), "columns", method, K, {"max_iter": 10}, seed=0)
    link, _, results, _ = recorded(ensemble, plan, parts)
    numbers = np.unique(np.concatenate([t.ravel() for found in results.values() for t in found.model.tables]))
    numbers = np.concatenate([numbers, np.exp(numbers)])
    numbers = numbers[np.abs(numbers) > 1e-6]
    seen = 0
    for step, _, shares in link.kept:
        for share in shares.values():
            for name, array in share.arrays.items():
                if step != "round":
                    assert array.dtype == np.uint8 or (name == "objects" and array.size == 1)
                    continue
                assert array.dtype == np.uint64
                assert name == "scalars" or array.shape[1] in (0, 1, 2, K, K + 2)
                values = fixed.decode(array, 30).ravel()
                nearest = np.abs(values[:, None] - numbers[None, :]).min(initial=np.inf)
                assert nearest > 1e-6
                seen += array.size
    assert seen > 1000
