"""Any division of the columns gives the central fit; the coordinator sees noise; the paper's exchange shows all."""

import statistics
import time

import numpy as np
import pytest
from scipy.stats import chisquare, ks_2samp

from partita import Ensemble
from partita.core.counting import unit_weights
from partita.core.dirichlet import infer
from partita.core.errors import FederatedError, ParameterError
from partita.core.threads import thread_limit
from partita.federated import fixed, masks
from partita.federated.at_paper import partitions_in
from partita.federated.coordinate import Plan
from partita.federated.messages import Ask
from partita.federated.simulate import simulate
from partita.federated.site import answer
from partita.metrics import ari
from partita.models import bce_vb, mixture, mm
from partita.starts.spectral import spectral_start
from tests.federated.recording import link_of, recorded, table
from tests.federated.test_rows import soft_table

K = 3
WEIGHTS = [1, 2, 0.5, 1, 3, 1]


def start_of(link):
    """(n,) the labels in which the sites began."""
    rounds = [found for step, _, found in link.kept if step == "round"]
    labels = next(found for found in rounds if found["s0"].arrays["values"].shape[1] == 1)
    return np.rint(sum(share.arrays["values"][:, 0] for share in labels.values())).astype(np.int32)


def informative(ensemble):
    known = np.flatnonzero((ensemble.labels >= 0).any(axis=1)) if isinstance(ensemble, Ensemble) else slice(None)
    return ensemble.rows(known), known


@pytest.mark.parametrize("start", ["transfer-cut", "random"])
@pytest.mark.parametrize("parts", [1, 2, 6, [[0], [5, 1], [2, 3, 4]]])
@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_mm(parts, weights, start):
    ensemble = table(weights=weights)
    link, _, results, _ = recorded(ensemble, Plan((), "columns", "mm", K, transport="float", init=start), parts)
    whole, known = informative(ensemble)
    run = mm.one_run(whole, mm.Params(), mixture.softened(whole, start_of(link)[known], K))
    shares, _ = mixture.memberships(run.state.params, whole)
    state = link.states["s0"]
    np.testing.assert_allclose(state.notes["best trace"], run.trace, rtol=1e-10)
    np.testing.assert_allclose(state.arrays["best_shares"][known], shares, rtol=0, atol=1e-10)
    for found in results.values():
        assert np.array_equal(found.labels, results["s0"].labels)
        assert (found.labels[[3, 149]] == -1).all() and np.isnan(found.membership[3]).all()


@pytest.mark.parametrize("parts", [1, 5])
def test_mm_with_memberships_and_smoothing(parts):
    ensemble = soft_table()
    plan = Plan((), "columns", "mm", K, transport="float", settings={"smoothing": 0.7})
    link, _, _, _ = recorded(ensemble, plan, parts)
    run = mm.one_run(ensemble, mm.Params(smoothing=0.7), mixture.softened(ensemble, start_of(link), K))
    np.testing.assert_allclose(link.states["s0"].notes["best trace"], run.trace, rtol=1e-10)


@pytest.mark.parametrize("settings", [{}, {"learn_alpha": False}, {"max_inner": 1, "inner_tol": 0.0}])
@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("soft", [False, True])
def test_bce(parts, soft, settings):
    ensemble = soft_table() if soft else table(weights=WEIGHTS)
    settings = {"smoothing": 0.2, "max_iter": 40, **settings}
    link, _, _, _ = recorded(ensemble, Plan((), "columns", "bce-vb", K, transport="float", settings=settings), parts)
    whole, known = informative(ensemble)
    run = bce_vb.one_run(
        whole, bce_vb.Params(**settings), bce_vb.state_of(whole, K, bce_vb.Params(**settings), start_of(link)[known])
    )
    gamma, _ = infer(run.state.params, whole, unit_weights(whole))
    state = link.states["s0"]
    np.testing.assert_allclose(state.notes["best trace"], run.trace, rtol=1e-10)
    np.testing.assert_allclose(state.arrays["best_shares"][known], gamma, rtol=1e-9)
    np.testing.assert_allclose(state.arrays["best_bias"], run.state.params.alpha, rtol=1e-10)


@pytest.mark.parametrize("method", ["mm", "bce-vb"])
def test_masked_and_fixed_agree_bit_for_bit_and_float_nearly(method):
    ensemble = table(n=3000, noise=0.35)
    masked, plain, exact = (
        recorded(ensemble, Plan((), "columns", method, K, transport=transport, seed=5), 3)
        for transport in ("masked", "fixed", "float")
    )
    for site in masked[2]:
        assert np.array_equal(masked[2][site].membership, plain[2][site].membership, equal_nan=True)
        assert np.array_equal(masked[2][site].labels, plain[2][site].labels)
    assert np.mean(masked[2]["s0"].labels == exact[2]["s0"].labels) >= 0.999


def test_restarts_keep_the_best_run():
    ensemble = table(n=200, r=9, k=5, noise=0.6, seed=2)
    plan = {"transport": "float", "init": "random", "seed": 4}
    link, _, _, _ = recorded(ensemble, Plan((), "columns", "mm", 5, settings={"restarts": 6}, **plan), 3)
    whole, known = informative(ensemble)
    firsts = [f for s, _, f in link.kept if s == "round" and f["s0"].arrays["values"].shape[1] == 1]
    heights = []
    for found in firsts:
        labels = np.rint(sum(share.arrays["values"][:, 0] for share in found.values())).astype(np.int32)
        heights.append(mm.one_run(whole, mm.Params(), mixture.softened(whole, labels[known], 5)).trace[-1])
    assert len(heights) == 6 and max(heights) - min(heights) > 1e-3
    for state in link.states.values():
        np.testing.assert_allclose(state.notes["objective"], max(heights), rtol=1e-10)


def test_the_start_finds_what_the_central_spectral_start_finds():
    ensemble = table(n=300, r=8, noise=0.2, missing=0.1)
    link, _, _, _ = recorded(ensemble, Plan((), "columns", "mm", K, transport="float"), 4)
    whole, known = informative(ensemble)
    expected = spectral_start(whole, K, np.random.default_rng(0), theta=None)
    assert ari(start_of(link)[known], expected) > 0.95


def test_objects_without_labels_at_a_site_and_anywhere():
    ensemble = table(missing=0.5)
    found = simulate(ensemble, Plan((), "columns", "mm", K), columns=6).consensus
    nowhere = (ensemble.labels < 0).all(axis=1)
    assert np.array_equal(found.labels < 0, nowhere) and nowhere.any()


def test_weights_of_any_size_and_objects_far_out():
    """Tiny and huge weights are told by their ratio; a small cluster far from all others is drawn in, not refused."""
    ensemble = table(missing=0.2)
    plain = simulate(ensemble, Plan((), "columns", "bce-vb", K), columns=3).consensus.labels
    for scale in (3e-3, 1e6):
        heavy = Ensemble.from_labels(ensemble.labels, missing=-1, weights=np.full(6, scale))
        found = simulate(heavy, Plan((), "columns", "bce-vb", K), columns=3).consensus.labels
        assert np.mean(found == plain) > 0.99
    labels = np.zeros((3000, 30), int)
    labels[:4] = 1
    labels[1000:2000] = 2
    apart = Ensemble.from_labels(labels)
    found = simulate(apart, Plan((), "columns", "mm", K, bits=20, word=32), columns=30).consensus
    assert found.k == 3 and found.scores["anmi"] > 0.999


def rounds_of(found, site=None):
    return [s.arrays for s in found.seen if s.step == "round" and (site is None or s.site == site)]


def test_what_the_coordinator_receives_is_uniform():
    """Every byte of every masked word, over all sites and rounds, and of the sums as well."""
    found = simulate(table(n=400), Plan((), "columns", "mm", K, seed=1), columns=3, keep=True)
    rounds = sorted({s.round for s in found.seen if s.step == "round"})
    for number in rounds[1:12]:
        shares = [s.arrays["values"] for s in found.seen if s.round == number]
        for words in (*shares, fixed.add(shares)):
            counts = np.bincount(np.ascontiguousarray(words).view(np.uint8).reshape(-1), minlength=256)
            assert chisquare(counts).pvalue > 1e-7


def test_tables_with_the_same_sums_cannot_be_told_apart():
    """Two ensembles that differ in who holds what: the sums are the same, so are the transcripts once unmasked;
    masked they are as far from each other as two runs of the same table."""
    labels = np.asarray(table(n=300, r=6, missing=0.0).labels[:, [0, 3, 0, 3, 0, 3]])
    first = Ensemble.from_labels(labels, missing=-1)
    held, swapped = [[0, 2], [1, 4], [3, 5]], [[0, 4], [3, 2], [1, 5]]
    plan = Plan((), "columns", "mm", K, seed=3)
    a, b, again = (simulate(first, plan, columns=parts, keep=True) for parts in (held, swapped, held))
    assert np.array_equal(a.consensus.membership, b.consensus.membership, equal_nan=True)
    assert [(s.step, s.round, s.site) for s in a.seen] == [(s.step, s.round, s.site) for s in b.seen]
    plain = [
        simulate(first, Plan((), "columns", "mm", K, seed=3, transport="fixed"), columns=p, keep=True)
        for p in (held, swapped)
    ]
    last = max(s.round for s in plain[0].seen if s.step == "round") - 1
    sums = [fixed.add([s.arrays["values"] for s in run.seen if s.round == last]) for run in plain]
    assert np.array_equal(*sums)
    for site in ("site-1", "site-2", "site-3"):
        x, y, z = (np.concatenate([r["values"].reshape(-1) for r in rounds_of(run, site)]) for run in (a, b, again))
        assert ks_2samp(x, y).pvalue > 1e-6 and ks_2samp(x, z).pvalue > 1e-6
        assert abs(np.corrcoef(x.astype(float), y.astype(float))[0, 1]) < 6 / np.sqrt(len(x))
        assert not np.array_equal(x, z)


def test_with_the_seeds_the_transcripts_are_equal_after_unmasking():
    ensemble = table(n=120)
    masked = recorded(ensemble, Plan((), "columns", "mm", K, seed=2), 3)[0]
    plain = recorded(ensemble, Plan((), "columns", "mm", K, seed=2, transport="fixed"), 3)[0]
    rounds = [found for step, _, found in masked.kept if step == "round"]
    expected = [found for step, _, found in plain.kept if step == "round"]
    sites = tuple(masked.states)
    for shares, bare in zip(rounds, expected, strict=True):
        for site, share in shares.items():
            secrets = masked.states[site].secrets
            context = masks.context_of("test", share.round, f"values {masked.asked[share.round].hex()}")
            words = share.arrays["values"]
            words = words - masks.pairwise(site, secrets, sites, context, words.shape, 64)
            if site == "s0":
                words = words - masks.group_mask(secrets, context, words.shape, 64)
            assert np.array_equal(words, bare[site].arrays["values"])


def test_the_attack_recovers_partitions_from_the_paper_and_not_from_ours():
    ensemble = table(n=300, r=6, missing=0.0)
    held = [[0, 1], [2, 3], [4, 5]]
    labels = ensemble.labels
    known = np.flatnonzero((labels >= 0).all(axis=1))
    plan = Plan((), "columns", "bce-vb", K, protocol="paper", seed=1)
    paper = simulate(ensemble, plan, columns=held, keep=True)
    first = next(s for s in paper.seen if s.step == "paper")
    for found, column in zip(partitions_in(first.arrays["log_probs"]), held[0], strict=True):
        assert ari(found[known], labels[known, column]) == 1.0
    assert any("every site's partitions" in note for note in paper.consensus.notes)
    for transport in ("masked",):
        ours = simulate(
            ensemble, Plan((), "columns", "bce-vb", K, transport=transport, seed=1), columns=held, keep=True
        )
        for share in rounds_of(ours, "site-1"):
            values = share["values"]
            if values.shape == (300, K):
                assert ari(partitions_in(values[None])[0][known], labels[known, 0]) < 0.05
                assert len(np.unique(values, axis=0)) == len(values)
    lone = [[0], [1, 2], [3, 4, 5]]
    bare = simulate(ensemble, Plan((), "columns", "bce-vb", K, transport="fixed", seed=1), columns=lone, keep=True)
    spread = next(s for s in rounds_of(bare, "site-1")[2:] if s["values"].shape[1] == K)
    assert ari(partitions_in(spread["values"][None])[0][known], labels[known, 0]) == 1.0


@pytest.mark.parametrize(("word", "bits"), [(64, None), (32, None), (32, 20)])
def test_a_round_has_one_word_per_object_and_cluster(word, bits):
    n = 5000
    plan = Plan((), "columns", "mm", K, {"max_iter": 3, "tol": 0.0}, init="random", word=word, bits=bits)
    found = simulate(table(n=n), plan, columns=3)
    assert found.outcome.terms.bits == (bits or {64: 30, 32: 16}[word])
    for way in ("to", "from"):
        assert abs(found.ledger.a_message("round", way) / (word / 8 * n * K) - 1) < 0.01


def test_time_of_sites_side_by_side():
    """Every site of every ask, and less processor time than one site after the other took."""
    plan = Plan((), "columns", "bce-vb", K, init="random", transport="float", settings={"max_iter": 5, "tol": 0.0})
    with thread_limit(1):
        busy = time.thread_time()
        ledger = simulate(table(), plan, columns=6).ledger
        busy = time.thread_time() - busy
    assert len(ledger.worked) == sum(map(len, ledger.seconds.values())) and set(map(len, ledger.worked)) == {6}
    assert 0 < ledger.alone < ledger.side_by_side(statistics.median) <= ledger.side_by_side() < busy


def test_a_round_is_answered_once():
    link, terms = link_of(table(), Plan((), "columns", "mm", K, transport="fixed"), [[0, 1], [2, 3], [4, 5]])
    local, state = link.locals["s1"], link.states["s1"]
    for number, step in enumerate(("ids", "align", "round")):
        state, share = answer(local, state, Ask(terms.run, number, step))
    assert answer(local, state, Ask(terms.run, 2, "round"))[1] is share
    total = {"values": share.arrays["values"], "scalars": share.arrays["scalars"]}
    with pytest.raises(FederatedError, match=r"s1 has answered round 2 .* answered once"):
        answer(local, state, Ask(terms.run, 2, "round", total))
    with pytest.raises(FederatedError, match="s1 has answered round 2"):
        answer(local, state, Ask(terms.run, 1, "align"))
    with pytest.raises(FederatedError, match="s1 has answered round 2, and was asked for round 4"):
        answer(local, state, Ask(terms.run, 4, "round", total))
    with pytest.raises(FederatedError, match="s1 takes part in run test, was asked in other"):
        answer(local, state, Ask("other", 3, "round", total))


def test_two_sites_are_refused_with_the_reason():
    with pytest.raises(FederatedError, match="subtract its own share"):
        simulate(table(), Plan((), "columns", "mm", K), columns=2)
    found = simulate(table(), Plan((), "columns", "mm", K, allow_two_sites=True), columns=2)
    assert any("subtract its own share" in note for note in found.consensus.notes)


@pytest.mark.parametrize(
    ("more", "match"),
    [
        ({"method": "qmi"}, "qmi cannot be divided by columns"),
        ({"k": None}, "needs one number of clusters"),
        ({"settings": {"init": "random"}}, "init is not a setting of mm"),
        ({"protocol": "paper"}, "protocol=paper is for bce-vb"),
        ({"protocol": "sequential"}, "protocol=sequential is for"),
        ({"rho": 1.0}, "rho=1 needs layout=rows"),
        ({"bits": 30, "word": 32}, "bits=30 is not allowed with word=32; give 1 to 24 bits of fraction"),
    ],
)
def test_what_cannot_be_is_refused(more, match):
    with pytest.raises((ParameterError, FederatedError), match=match):
        simulate(table(), Plan(**{"sites": (), "layout": "columns", "method": "mm", "k": K, **more}), columns=3)


def test_many_sites_leave_no_room_in_short_words():
    ensemble = table(n=40, r=30, missing=0.0)
    with pytest.raises(FederatedError, match="word = 64"):
        simulate(ensemble, Plan((), "columns", "mm", K, bits=22, word=32), columns=30)
    wide = simulate(ensemble, Plan((), "columns", "mm", K, bits=22), columns=30)
    assert wide.consensus.k == K
