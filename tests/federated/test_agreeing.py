"""What sites agree on: clusterings and labels, objects by their ids, keys; and a run that is broken off and goes on."""

import dataclasses

import numpy as np
import pytest

from partita import Ensemble
from partita.core.errors import FederatedError
from partita.federated import aligning
from partita.federated.coordinate import Plan, agree_objects, agree_terms, coordinate, share_keys
from partita.federated.hub import Hub
from partita.federated.local import Local
from partita.federated.messages import Ask, Hello
from partita.federated.simulate import Together, simulate
from partita.federated.site import agree, answer, hello, result
from partita.federated.store import RunLog, load_state, save_state
from partita.version import __version__
from tests.federated.recording import link_of, recorded, table

K = 3
COLUMNS = [[0, 1], [2, 3], [4, 5]]


def greeting(site, names=("a", "b"), classes=((1, 2), ("x", "y")), **more):
    return Hello(site, more.get("version", __version__), more.get("layout", "rows"), names, classes)


def terms_of(*hellos, **more):
    plan = Plan(tuple(h.site for h in hellos), "rows", "mm", 2, **more)
    return agree_terms(plan, {h.site: h for h in hellos})


def test_labels_are_those_that_any_site_has():
    found = terms_of(
        greeting("n"),
        greeting("s", ("b", "a"), (("z", "y"), (3, 1))),
        greeting("w", classes=((), ("x", True))),
    )
    assert found.names == ("a", "b")
    assert found.classes == ((1, 2, 3), (True, "x", "y", "z"))
    assert found.sites == ("n", "s", "w") and found.weights == (1.0, 1.0)


def test_numbers_and_the_texts_that_spell_them_are_one_label():
    found = terms_of(greeting("n"), greeting("s", classes=(("1", "odd"), ("x",))), greeting("w"))
    assert found.classes[0] == (1, 2, "odd")


def test_declared_labels_replace_those_that_occur():
    found = terms_of(greeting("n"), greeting("s"), greeting("w"), labels={"a": (1, 2, 3, 4)}, weights={"b": 3.0})
    assert found.classes == ((1, 2, 3, 4), ("x", "y")) and found.weights == (1.0, 3.0)


@pytest.mark.parametrize(
    ("hellos", "more", "match"),
    [
        ([greeting("n"), greeting("s", ("a", "c")), greeting("w")], {}, "site n has a clustering 'b', site s has not"),
        ([greeting("n"), greeting("s", version="0.0"), greeting("w")], {}, "site s has partita 0.0"),
        ([greeting("n"), greeting("s", layout="columns"), greeting("w")], {}, "site s comes with columns"),
        ([greeting("n"), greeting("s"), greeting("w")], {"labels": {"q": (1,)}}, "no clustering 'q'"),
        (
            [greeting("n", classes=((), ())), greeting("s", classes=((), ())), greeting("w", classes=((), ()))],
            {},
            "no clust",
        ),
    ],
)
def test_disagreement_names_the_site(hellos, more, match):
    with pytest.raises(FederatedError, match=match):
        terms_of(*hellos, **more)


def test_a_label_that_was_not_declared_stops_the_site():
    ensemble = table()
    plan = Plan((), "rows", "mm", K, transport="float", labels={ensemble.names[0]: (0, 1)})
    with pytest.raises(FederatedError, match=r"site s\d has labels that are not among those agreed on"):
        recorded(ensemble, plan, 3)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"version": "0.0"}, "the coordinator 0.0"),
        ({"sites": ("s0", "s2", "s3")}, "s1 is not among"),
        ({"sites": ("s1", "s0", "s2")}, "alphabetical"),
        ({"sites": ("s0", "s1")}, "subtract its own share"),
    ],
)
def test_a_site_checks_the_terms(change, match):
    link, terms = link_of(table(), Plan((), "columns", "mm", K), COLUMNS)
    local = dataclasses.replace(link.locals["s1"], allow_two_sites=False)
    agree(local, terms)
    with pytest.raises(FederatedError, match=match):
        agree(local, dataclasses.replace(terms, **change))


def columns_by_id(ids, objects="common", seed=0):
    """Three sites with two clusterings each of the objects named, each in an order of its own."""
    ensemble = table(missing=0.0)
    rng = np.random.default_rng(seed)
    sites = {}
    for place, mine in enumerate(ids):
        rows = rng.permutation(np.asarray(mine))
        part = Ensemble.from_labels(
            ensemble.labels[rows][:, COLUMNS[place]], missing=-1, ids=[f"id {row}" for row in rows]
        )
        sites[f"s{place}"] = Local(f"s{place}", part)
    plan = Plan(tuple(sites), "columns", "mm", K, objects=objects, seed=1)
    terms = agree_terms(plan, {site: hello(local, "columns") for site, local in sites.items()}, run="test")
    link = Together(sites, {site: agree(local, terms) for site, local in sites.items()}, seen=[])
    return ensemble, link, terms


def by_id(link):
    """What each site says of every id."""
    found = {site: result(link.locals[site], link.states[site]) for site in link.locals}
    return {site: dict(zip(one.ids.tolist(), one.labels.tolist(), strict=True)) for site, one in found.items()}


def test_objects_in_any_order_get_the_labels_of_the_table_in_one_place():
    everyone = range(150)
    ensemble, link, terms = columns_by_id([everyone] * 3)
    outcome = coordinate(Hub(terms, link))
    assert "all sites have the same 150 objects" in outcome.notes
    assert not any(share.step == "hashes" for share in link.seen)
    found = by_id(link)
    assert found["s0"] == found["s1"] == found["s2"]
    _, again, terms = columns_by_id([everyone] * 3, seed=5)
    coordinate(Hub(terms, again))
    assert by_id(again) == found  # other keys, other files, the same result
    whole = simulate(ensemble, Plan((), "columns", "mm", K), columns=COLUMNS).consensus.labels
    ours = np.array([found["s0"][f"id {row}"] for row in range(150)])
    from partita.metrics import ari

    assert ari(ours, whole) > 0.97


def test_common_objects_and_any_objects():
    ids = [range(0, 120), range(10, 140), range(5, 130)]
    _, link, terms = columns_by_id(ids)
    outcome = coordinate(Hub(terms, link))
    assert "110 objects agreed on: s0 110 of its 120, s1 110 of its 130, s2 110 of its 125" in outcome.notes
    found = by_id(link)
    _, again, terms = columns_by_id(ids, seed=5)
    coordinate(Hub(terms, again))
    assert by_id(again) == found
    assert found["s0"]["id 3"] == -1 and found["s0"]["id 50"] == found["s1"]["id 50"] >= 0
    _, link, terms = columns_by_id(ids, "any")
    outcome = coordinate(Hub(terms, link))
    assert any(note.startswith("140 objects agreed on") for note in outcome.notes)
    found = by_id(link)
    assert found["s0"]["id 4"] >= 0 and found["s1"]["id 139"] >= 0


def test_ids_that_do_not_match_stop_the_run():
    _, link, terms = columns_by_id([range(150), range(150), range(150)])
    strange = dataclasses.replace(link.locals["s1"].table, ids=np.array([f"other {i}" for i in range(150)]))
    link.locals["s1"] = Local("s1", strange)
    with pytest.raises(FederatedError, match="site s1 shares 0 of its 150 ids with other sites"):
        coordinate(Hub(terms, link))


def test_hashes_tell_nothing_without_the_key():
    _, link, terms = columns_by_id([range(0, 120), range(10, 140), range(5, 130)])
    hub = Hub(terms, link)
    share_keys(hub)
    agree_objects(hub)
    sent = {share.site: share.arrays["hashes"] for share in link.seen if share.step == "hashes"}
    assert all(np.array_equal(aligning.rising(found), np.arange(len(found))) for found in sent.values())
    import hashlib

    plain = {hashlib.sha256(f"id {i}".encode()).digest()[:16] for i in range(150)}
    assert not plain & {row.tobytes() for found in sent.values() for row in found}


def test_matching_by_brute_force():
    rng = np.random.default_rng(0)
    for _ in range(20):
        pool = rng.integers(0, 256, (30, 16)).astype(np.uint8)
        sets = {f"s{i}": rng.permutation(30)[: rng.integers(22, 31)] for i in range(3)}
        hashes = {site: pool[places] for site, places in sets.items()}
        for objects, join in (("common", set.intersection), ("any", set.union)):
            wanted = {pool[i].tobytes() for i in join(*(set(places.tolist()) for places in sets.values()))}
            found = aligning.match(hashes, objects)
            assert [row.tobytes() for row in found.hashes] == sorted(wanted)
            assert found.found == {s: len(wanted & {pool[i].tobytes() for i in p}) for s, p in sets.items()}


def test_a_site_sends_nothing_masked_before_it_has_keys():
    link, terms = link_of(table(), Plan((), "columns", "mm", K), COLUMNS)
    local, state = link.locals["s1"], link.states["s1"]
    for number, step in enumerate(("ids", "align")):
        state, _ = answer(local, state, Ask(terms.run, number, step))
    with pytest.raises(FederatedError, match="no keys yet"):
        answer(local, state, Ask(terms.run, 2, "round"))
    state, _ = answer(local, state, Ask(terms.run, 2, "keys"))
    with pytest.raises(FederatedError, match="no keys yet"):
        answer(local, state, Ask(terms.run, 3, "round"))


@pytest.mark.parametrize(
    ("layout", "step", "match"),
    [("rows", "turn", "not agreed on"), ("columns", "paper", "not agreed on"), ("columns", "mixture", "not agreed on")],
)
def test_what_shows_more_than_was_agreed_on_is_refused(layout, step, match):
    parts = COLUMNS if layout == "columns" else [np.arange(50), np.arange(50, 100), np.arange(100, 150)]
    link, terms = link_of(table(), Plan((), layout, "bce-vb", K, transport="float"), parts)
    local, state = link.locals["s0"], link.states["s0"]
    if layout == "columns":
        for number, first in enumerate(("ids", "align")):
            state, _ = answer(local, state, Ask(terms.run, number, first))
    with pytest.raises(FederatedError, match=match):
        answer(local, state, Ask(terms.run, state.round + 1, step))


class Breaks(Together):
    """Ends after some asks, as a process does that is killed."""

    left = 10**9

    def ask(self, ask, sites):
        Breaks.left -= 1
        if Breaks.left < 0:
            raise KeyboardInterrupt
        return super().ask(ask, sites)


@pytest.mark.parametrize("method", ["mm", "bce-vb", "qmi", "nbce-vb"])
@pytest.mark.parametrize("layout", ["rows", "columns"])
@pytest.mark.parametrize("after", [0, 2, 7, 9])
def test_coordinator_and_sites_go_on_where_they_stood(method, layout, after, tmp_path):
    if layout == "columns" and method not in ("mm", "bce-vb"):
        return
    ensemble = table()
    k = None if method == "nbce-vb" else K
    parts = COLUMNS if layout == "columns" else [np.arange(50), np.arange(50, 100), np.arange(100, 150)]
    settings = {"restarts": 2, "max_iter": 6} if method == "mm" else {"max_iter": 6}
    plan = Plan((), layout, method, k, settings, seed=4)
    _, _, expected, _ = recorded(ensemble, plan, parts)
    link, terms = link_of(ensemble, plan, parts)
    link = Breaks(link.locals, link.states)
    Breaks.left = after
    with RunLog(tmp_path / "run") as log, pytest.raises(KeyboardInterrupt):
        log.write_terms(terms)
        coordinate(Hub(terms, link, log))
    for site, state in link.states.items():
        save_state(tmp_path / site, state)
    Breaks.left = 10**9
    fresh, _ = link_of(ensemble, plan, parts)
    again = Together(fresh.locals, {site: load_state(tmp_path / site) for site in fresh.locals})
    with RunLog(tmp_path / "run") as log:
        coordinate(Hub(log.terms(), again, log))
    for site, found in expected.items():
        mine = result(again.locals[site], again.states[site])
        assert np.array_equal(mine.labels, found.labels)
        if found.membership is not None:
            assert np.array_equal(mine.membership, found.membership, equal_nan=True)
