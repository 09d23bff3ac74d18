"""The distribution of co-association against every pair looked at, and drawn pairs against their bound."""

import math
from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest

import partita.metrics as pm
from partita import Ensemble, SoftEnsemble
from partita.core.errors import ParameterError
from partita.core.threads import thread_limit
from tests.metrics.pairs_oracle import pair_values
from tests.metrics.test_items import KINDS, close, sample
from tests.samples import noisy, noisy_labels

module = import_module("partita.metrics.coassociation")  # the package has a function of that name


def check(found, values, limits=(0.1, 0.9)):
    """All figures from the values of every pair, NaN where never labelled together."""
    seen = values[~np.isnan(values)]
    close(found.cdf, [np.mean(seen <= edge + 1e-9) for edge in found.edges])
    close(found.mean, seen.mean())
    close(found.pac, np.mean((seen > limits[0] + 1e-9) & (seen < limits[1] - 1e-9)))
    close(found.unseen, np.isnan(values).mean())
    close(found.area, sum(np.mean(seen <= q / 100 + 1e-9) for q in range(1, 101)) / 100)
    assert found.exact and found.error == found.pac_error == 0.0 and found.pairs == len(values)
    assert found.cdf[-1] == 1.0 and found.edges.tolist() == [q / 100 for q in range(101)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("limits", [(0.1, 0.9), (0.0, 1.0), (0.25, 0.5)])
def test_equal_to_all_pairs(kind, limits):
    ensemble, _ = sample(kind)
    check(pm.coassociation(ensemble, limits=limits), pair_values(ensemble), limits)


@pytest.mark.parametrize("r", [100, 300])
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_many_clusterings(r, missing):
    """More clusterings than one byte counts; with 100, co-association lies on the edges, where rounding would tell."""
    ensemble = noisy(n=40, r=r, noise=0.5, missing=missing)
    check(pm.coassociation(ensemble), pair_values(ensemble))


@pytest.mark.parametrize("shared", [7, 29, 57, 58, 10, 90])
def test_a_share_on_an_edge_is_not_above_it(shared):
    """7 / 100 and 0.07 differ in floating point; so do the sums of 100 weights of 0.01."""
    table = np.stack([np.zeros(100, int), (np.arange(100) >= shared).astype(int)])
    for weights in (None, np.full(100, 0.01), np.full(100, 3.0)):
        for ensemble in (e := Ensemble.from_labels(table, weights=weights, transpose=False), SoftEnsemble.from_hard(e)):
            found = pm.coassociation(ensemble)
            assert found.cdf.tolist() == [0.0] * shared + [1.0] * (101 - shared)
            assert found.pac == float(10 < shared < 90)


def test_weights_that_are_whole_numbers_are_counted():
    ensemble = noisy(n=50, missing=0.2)
    for weights in ([1, 2, 3, 1, 1, 2, 5], [0.5, 1.0, 1.5, 0.5, 0.5, 1.0, 2.5], [0.1, 0.2, 0.3, 0.1, 0.1, 0.2, 0.5]):
        part = replace(ensemble, weights=np.array(weights, float))
        assert module._units(part.weights).tolist() == [1, 2, 3, 1, 1, 2, 5]
        check(pm.coassociation(part), pair_values(part))
    assert module._units(np.array([1.0, math.pi])) is None


def test_blocks_of_rows():
    """More rows than are counted at a time."""
    labels, _ = noisy_labels(n=5000, r=9, k=6, noise=0.6)
    ensemble = Ensemble.from_labels(labels)
    assert len(ensemble.distinct.first) > 4200
    together = np.zeros((5000, 5000), np.int8)
    for column in labels.T:
        together += column[:, None] == column
    shares = np.bincount(together[np.triu_indices(5000, 1)], minlength=10) / (5000 * 4999 / 2)
    found = pm.coassociation(ensemble)
    close(found.mean, shares @ np.arange(10) / 9)
    close(found.pac, shares[1:9].sum())
    close(found.cdf, np.cumsum(shares)[np.floor(np.arange(101) * 9 / 100 + 1e-9).astype(int)])


@pytest.mark.parametrize("kind", ["complete", "missing", "weighted", "soft"])
def test_rows_repeated_or_counted_are_the_same(kind):
    """Both when all pairs are looked at and when some are drawn."""
    ensemble, _ = sample(kind)
    times = np.random.default_rng(2).integers(1, 5, len(ensemble))
    one = replace(ensemble, multiplicity=None).with_counts(times)
    many = replace(ensemble, multiplicity=None).rows(np.repeat(np.arange(len(ensemble)), times))
    for pairs in (None, 300):
        a, b = pm.coassociation(one, pairs=pairs), pm.coassociation(many, pairs=pairs)
        assert a.exact == b.exact == (pairs is None)
        assert np.array_equal(a.cdf, b.cdf) and (a.mean, a.pac, a.pairs) == (b.mean, b.pac, b.pairs)


@pytest.mark.parametrize("kind", ["complete", "missing", "weighted", "soft"])
@pytest.mark.parametrize("pairs", [None, 600_000])
def test_threads_and_names_change_nothing(kind, pairs, monkeypatch):
    monkeypatch.setattr(module, "EXACT_CHUNK", 8)
    monkeypatch.setattr(module, "_few", lambda part, most: most is None)
    ensemble, _ = sample(kind)
    with thread_limit(1):
        one = pm.coassociation(ensemble, pairs=pairs)
    with thread_limit(3):
        two = pm.coassociation(ensemble, pairs=pairs)
    assert np.array_equal(one.cdf, two.cdf) and (one.mean, one.pac) == (two.mean, two.pac)
    if isinstance(ensemble, Ensemble):
        table = np.where(ensemble.labels < 0, -1, 9 - ensemble.labels)
        renamed = Ensemble.from_labels(table, missing=-1, weights=ensemble.weights)
        three = pm.coassociation(renamed, pairs=pairs)
        assert np.array_equal(one.cdf, three.cdf) and one.mean == three.mean


def test_seeds():
    ensemble = noisy(n=300, noise=0.4)
    one, same, other = (pm.coassociation(ensemble, pairs=1000, seed=seed) for seed in (1, 1, 2))
    assert np.array_equal(one.cdf, same.cdf) and not np.array_equal(one.cdf, other.cdf)


@pytest.mark.parametrize("kind", ["complete", "missing", "counted", "fractional", "soft-missing"])
def test_drawn_pairs_keep_their_bound(kind):
    """The CDF and PAC of 2000 drawn pairs lie within the stated bounds in at least 99 of 100 seeds."""
    if kind == "fractional":
        ensemble = noisy(n=60, noise=0.4).with_counts(np.linspace(1.0, 4.3, 60))
    else:
        ensemble, _ = sample(kind)
    exact = pm.coassociation(ensemble)
    inside, areas = 0, []
    for seed in range(100):
        found = pm.coassociation(ensemble, pairs=100 if len(ensemble) < 50 else 1000, seed=seed)
        assert not found.exact and found.error == pytest.approx(
            math.sqrt(math.log(200) / (2 * found.pairs * (1 - found.unseen)))
        )
        off = np.abs(found.cdf - exact.cdf).max()
        inside += off <= found.error and abs(found.pac - exact.pac) <= found.pac_error
        areas.append(found.area)
    assert inside >= 99
    assert abs(np.mean(areas) - exact.area) < 4 * np.std(areas) / 10  # no bias: each pair of objects is as likely


def test_the_bound_is_not_idle():
    """At a level of one half, the bound is broken sometimes, but in no more than half of the seeds."""
    ensemble = noisy(n=300, noise=0.4)
    exact = pm.coassociation(ensemble)
    broken = 0
    for seed in range(200):
        found = pm.coassociation(ensemble, pairs=500, seed=seed, level=0.5)
        broken += np.abs(found.cdf - exact.cdf).max() > found.error
    assert 5 < broken < 100


def test_levels():
    ensemble = noisy(n=100)
    errors = [pm.coassociation(ensemble, pairs=500, level=level).error for level in (0.5, 0.9, 0.999)]
    assert errors == sorted(errors)
    assert pm.coassociation(ensemble, pairs=3).pac_error == 1.0


def test_few_and_many(monkeypatch):
    ensemble = noisy(n=100, noise=0.5)
    rows = len(ensemble.distinct.first)
    assert pm.coassociation(ensemble, pairs=rows * (rows - 1) // 2).exact
    assert not pm.coassociation(ensemble, pairs=rows * (rows - 1) // 2 - 1).exact
    monkeypatch.setattr(module, "MOST_WORK", 1.0)
    found = pm.coassociation(ensemble)
    assert not found.exact and found.pairs == 2_000_000
    assert found.pac_error == pytest.approx(2 * math.sqrt(math.log(200) / 4e6))


def test_nothing_to_compare():
    for ensemble in (Ensemble.from_labels([[0, 1]]), Ensemble.from_labels([[0, None], [None, 1]])):
        found = pm.coassociation(ensemble)
        assert math.isnan(found.mean) and math.isnan(found.pac) and np.isnan(found.cdf).all()
    assert found.unseen == 1.0 and found.pairs == 1
    twins = pm.coassociation(Ensemble.from_labels([[0, 1]]).with_counts([3]))
    assert twins.pairs == 3 and twins.mean == 1.0 and twins.pac == 0.0
    alone = pm.coassociation(Ensemble.from_labels([[0], [0], [1]]))
    assert alone.cdf[0] == pytest.approx(2 / 3) and alone.pac == 0.0


def test_clusterings_without_weight_do_not_count():
    ensemble = noisy(n=40, r=5, missing=0.3)
    weighted = replace(ensemble, weights=np.array([1.0, 0.0, 1.0, 1.0, 0.0]))
    one, two = pm.coassociation(weighted), pm.coassociation(ensemble.columns([0, 2, 3]))
    assert np.array_equal(one.cdf, two.cdf) and one.unseen == two.unseen


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"limits": (0.9, 0.1)}, "a lower and a higher share"),
        ({"limits": 0.5}, "not two numbers"),
        ({"limits": (0.1, 2)}, "between 0 and 1"),
        ({"level": 1.0}, "level=1.0 is not a probability"),
        ({"pairs": 0}, "pairs=0 is not a whole number"),
        ({"pairs": 1.5}, "pairs=1.5"),
        ({"seed": -1}, "seed=-1 is negative"),
        ({"pairs": 1, "seed": "x"}, "seed='x' is not a whole number"),
    ],
)
def test_mistakes(options, words):
    with pytest.raises(ParameterError, match=words):
        pm.coassociation(noisy(), **options)


def test_delta_area():
    assert pm.delta_area([0.5]).tolist() == [0.5] and pm.delta_area([]).tolist() == []
    close(pm.delta_area([0.2, 0.3, 0.27]), [0.2, 0.5, -0.1])
    assert np.isnan(pm.delta_area([0.2, math.nan])[1])


def test_results_are_frozen_and_told():
    found = pm.coassociation(noisy())
    with pytest.raises(ValueError, match="read-only"):
        found.cdf[0] = 2.0
    assert "exact" in repr(found) and "±" in repr(pm.coassociation(noisy(), pairs=50))
