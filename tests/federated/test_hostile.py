"""What is refused of a coordinator that does not keep to the protocol, and of sites that were told other things."""

from dataclasses import replace

import numpy as np
import pytest

from partita import Ensemble
from partita.core.errors import FederatedError, ParameterError
from partita.federated import masks, privacy, setup
from partita.federated.cards import Identity
from partita.federated.certs import make_certificates
from partita.federated.config import read_site
from partita.federated.coordinate import Plan, check_plan, close, coordinate
from partita.federated.desk import Desk, Hooks
from partita.federated.frames import decode, encode
from partita.federated.hub import Hub
from partita.federated.messages import Ask, Hello, Refusal
from partita.federated.site import answer
from partita.federated.state import State
from partita.metrics import ari
from partita.version import __version__
from tests.federated.recording import link_of, recorded, table

K = 3
ROWS = [np.arange(50), np.arange(50, 100), np.arange(100, 150)]
SITES = ("a", "b", "c")


def begun(method="bce-vb", protocol="sums", k=K):
    """A site of rows whose objects lie in K clusters, and an ask of it."""
    link, terms = link_of(table(), Plan((), "rows", method, k, transport="float", protocol=protocol), ROWS)
    labels = sum(map(len, terms.classes))
    local, state = link.locals["s0"], link.states["s0"]
    tables = np.log(np.random.default_rng(0).dirichlet(np.ones(labels), K).T)
    state, _ = answer(local, state, Ask(terms.run, 0, "assign", {"tables": tables, "bias": np.zeros(K)}))

    def asked(step, width, **more):
        arrays = {"log_probs": np.full((labels, width), -1.0), **more}
        return answer(local, state, Ask(terms.run, 1, step, arrays))

    return asked


@pytest.mark.parametrize("width", [0, 1, 2, 4, 500])
@pytest.mark.parametrize(("step", "name", "protocol"), [("bce", "alpha", "sums"), ("turn", "bias", "sequential")])
def test_parameters_of_other_widths_never_reach_a_kernel(step, name, protocol, width):
    with pytest.raises(FederatedError, match="site s0"):
        begun(protocol=protocol)(step, width, **{name: np.ones(width)})
    begun(protocol=protocol)(step, K, **{name: np.ones(K)})


def test_a_width_that_was_kept_is_held_to():
    link, terms = link_of(table(), Plan((), "rows", "bce-vb", K, transport="float"), ROWS)
    labels, local, state = sum(map(len, terms.classes)), link.locals["s0"], link.states["s0"]
    flat = {"tables": np.zeros((labels, K)), "bias": np.zeros(K)}
    state, _ = answer(local, state, Ask(terms.run, 0, "assign", flat))
    even = {"alpha": np.ones(K), "log_probs": np.full((labels, K), -1.0)}
    state, _ = answer(local, state, Ask(terms.run, 1, "bce", even))
    fewer = {"alpha": np.ones(2), "log_probs": np.full((labels, 2), -1.0)}
    with pytest.raises(FederatedError, match="has 2 clusters, the site's objects lie in 3"):
        answer(local, state, Ask(terms.run, 2, "bce", fewer))


@pytest.mark.parametrize("width", [0, K + 1])
def test_mixtures_have_the_clusters_agreed_on(width):
    with pytest.raises(FederatedError, match=f"of {width} clusters; 1 to {K} are agreed on"):
        begun("mm")("mixture", width, log_weights=np.zeros(width))


def test_ids_are_not_told_without_a_key():
    link, terms = link_of(table(), Plan((), "columns", "mm", K), [[0, 1], [2, 3], [4, 5]])
    terms = replace(terms, aligned=False)
    with pytest.raises(FederatedError, match="no key of the sites"):
        answer(link.locals["s0"], State(terms, arrays=link.states["s0"].arrays), Ask(terms.run, 0, "ids"))


@pytest.fixture(scope="module")
def identities(tmp_path_factory):
    """Sites' identities under one authority, and under another that they do not know."""
    made = {}
    for who in ("theirs", "other"):
        folder = tmp_path_factory.mktemp(who)
        make_certificates(folder, SITES)
        read = {
            site: Identity((folder / f"{site}.pem").read_bytes(), (folder / f"{site}.key").read_bytes())
            for site in SITES
        }
        made[who] = read, (folder / "ca.pem").read_bytes()
    return made


def states_of(terms, who):
    """Each site's card and its state with the secret behind it."""
    cards, states = [], {}
    for site in SITES:
        card, secrets = setup.make_card(site, terms, who[site])
        cards.append(card.tobytes())
        states[site] = State(terms, secrets=secrets)
    return cards, states


def agreed():
    hellos = {site: Hello(site, __version__, "columns") for site in SITES}
    from partita.federated.coordinate import agree_terms

    return agree_terms(Plan(SITES, "columns", "mm", K), hellos)


def test_a_key_of_another_authority_is_refused(identities):
    """A coordinator that puts a key of its own in a site's place would read that site's numbers."""
    terms = agreed()
    (theirs, authority), (others, _) = identities["theirs"], identities["other"]
    cards, states = states_of(terms, theirs)
    setup.seal_group("a", states["a"], setup.pack(cards), authority)
    forged, _ = setup.make_card("b", terms, others["b"])
    with pytest.raises(FederatedError, match="site 'b': its certificate was not issued"):
        setup.seal_group("a", states["a"], setup.pack([cards[0], forged.tobytes(), cards[2]]), authority)


def test_a_site_knows_its_own_key(identities):
    terms = agreed()
    theirs, authority = identities["theirs"]
    cards, states = states_of(terms, theirs)
    another, _ = setup.make_card("a", terms, theirs["a"])
    with pytest.raises(FederatedError, match="another key than the site's own"):
        setup.seal_group("a", states["a"], setup.pack([another.tobytes(), *cards[1:]]), authority)


def test_sites_that_were_told_other_terms_have_other_keys(identities):
    terms = agreed()
    theirs, authority = identities["theirs"]
    cards, states = states_of(terms, theirs)
    states["b"] = replace(states["b"], terms=replace(terms, k=K + 1))
    pairs = {site: setup.seal_group(site, states[site], setup.pack(cards), authority)[1].pairs for site in SITES}
    assert pairs["a"]["c"] == pairs["c"]["a"]
    assert pairs["a"]["b"] != pairs["b"]["a"] and pairs["c"]["b"] != pairs["b"]["c"]
    sealed, secrets = setup.seal_group("a", states["a"], setup.pack(cards), authority)
    states["b"] = replace(states["b"], secrets=setup.seal_group("b", states["b"], setup.pack(cards), authority)[1])
    with pytest.raises(FederatedError):
        setup.open_group("b", states["b"], sealed)
    assert len(secrets.group) == 32 and masks.public_of(secrets.private)


def test_results_that_differ_are_told():
    link, terms = link_of(table(), Plan((), "columns", "mm", K, transport="float"), [[0, 1], [2, 3], [4, 5]])
    coordinate(Hub(terms, link))

    class Falsified:
        terms = link.states["s0"].terms

        def gather(self, step, arrays=None):
            return {site: {"digest": np.full(32, site == "s1", np.uint8)} for site in ("s0", "s1", "s2")}

    with pytest.raises(FederatedError, match="site s1 came to another result than site s0"):
        close(Falsified(), {})


@pytest.mark.parametrize(("protocol", "refused"), [("paper", False), ("sums", True)])
def test_only_where_all_are_asked_is_an_older_state_refused(protocol, refused):
    """The paper's server asks one site a round: the others' states are rightly older when a coordinator returns."""
    terms = replace(agreed(), protocol=protocol, method="bce-vb")
    desk = Desk(SITES, 1.0, 1 << 20, Hooks())
    desk.hold = 0.0
    desk.propose(terms, answered=41)
    reply = desk.handle("c", encode(Hello("c", __version__, "columns", run=terms.run, round=40)))
    assert isinstance(decode(reply, len(reply)) if reply else None, Refusal) == refused


def test_a_site_recovers_what_all_others_agree_on_from_the_sums():
    """As docs/federated.md says: the sums less its own share are the joint partition of the rest."""
    ensemble = table(n=300, r=3, noise=0.3, missing=0.0)
    link, _, _, _ = recorded(ensemble, Plan((), "columns", "mm", K, transport="float", seed=1), [[0], [1], [2]])
    rounds = [found for step, _, found in link.kept if step == "round" and found["s0"].arrays["values"].shape[1] == K]
    shares = {site: share.arrays["values"] for site, share in rounds[-1].items()}
    others = (sum(shares.values()) - shares["s0"]).round(9)
    _, found = np.unique(others, axis=0, return_inverse=True)
    joint = ensemble.labels[:, 1].astype(int) * 100 + ensemble.labels[:, 2]
    assert ari(found.reshape(-1), joint) == 1.0


def test_an_objects_lots_are_its_own():
    """The same labels are drawn for it whatever rows come beside it, and others for other labels or secrets."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 4, (500, 3))
    whole = Ensemble.from_labels(labels, ids=[f"p{i}" for i in range(500)])
    order = rng.permutation(500)[:400]
    part = whole.rows(order)
    lots = privacy.lots_of(5, whole, whole.ids)
    assert np.array_equal(privacy.lots_of(5, part, part.ids), lots[order])
    assert lots.min() >= 0 and lots.max() < 1 and abs(lots.mean() - 0.5) < 0.02
    assert len(np.unique(lots)) == lots.size
    assert not np.isin(privacy.lots_of(6, whole, whole.ids), lots).any()
    renamed = replace(whole, classes=((*whole.classes[0][:3], "new"), *whole.classes[1:]))
    again = privacy.lots_of(5, renamed, whole.ids)
    assert not np.isin(again[:, 0], lots).any() and np.array_equal(again[:, 1:], lots[:, 1:])


SITE = """site = "a"\ncoordinator = "h:1"\nlayout = "{layout}"\nlabels = "x.csv"\n{more}
[tls]\nauthority = "a"\ncertificate = "b"\nkey = "c"\n{tables}"""


@pytest.mark.parametrize(
    ("layout", "more", "tables", "match"),
    [
        ("columns", "", "[declare]\nx = [1]\n", "declare is for rows"),
        ("rows", "", "[weights]\nx = 2\n", "weights is for columns"),
    ],
)
def test_what_a_site_would_not_heed_is_refused(tmp_path, layout, more, tables, match):
    path = tmp_path / "site.toml"
    path.write_text(SITE.format(layout=layout, more=more, tables=tables))
    with pytest.raises(ParameterError, match=match):
        read_site(path)


@pytest.mark.parametrize(
    ("layout", "more", "match"),
    [
        ("rows", {"objects": "any"}, "objects=any needs layout=columns"),
        ("rows", {"word": 32}, "word=32 needs layout=columns"),
        ("rows", {"init": "transfer-cut"}, "init='transfer-cut' is not available with layout=rows"),
        ("columns", {"init": "spectral"}, "init='spectral' is not available with layout=columns"),
        ("rows", {"settings": {"foo": 1}}, "mm: unknown parameter 'foo'"),
    ],
)
def test_what_a_coordinator_would_not_heed_is_refused(layout, more, match):
    with pytest.raises(ParameterError, match=match):
        check_plan(Plan(**{"sites": SITES, "layout": layout, "method": "mm", "k": K, **more}))


def test_more_clusters_than_objects_are_refused():
    link, terms = link_of(table(n=40), Plan((), "columns", "mm", 41), [[0, 1], [2, 3], [4, 5]])
    with pytest.raises(FederatedError, match="k=41 is more than the 40 objects"):
        coordinate(Hub(terms, link))
