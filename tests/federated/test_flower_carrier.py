"""Carrying between desk and sites, without Flower: a post office that loses letters, SuperNodes that come and go."""

import itertools
import threading

import numpy as np
import pytest

from partita.core.errors import FederatedError
from partita.federated import flower_carrier
from partita.federated.desk import Desk, Hooks
from partita.federated.flower_carrier import CRASHES, Carrier, Lost, Node, carried
from partita.federated.frames import decode, encode
from partita.federated.messages import Ask, Hello, Refusal, Share, Terms

RUN = "run-1"
SITES = ("east", "north", "south")
TERMS = Terms(RUN, SITES, "rows", "mm", 3)
QUICK = 0.001


def share(site, ask, value=7):
    return Share(ask.run, ask.round, ask.step, site, {"card": np.array([value], np.uint8)})


class Office:
    """SuperNodes that answer at once; `answers` replaces what one of them says to an ask, a `fatal` one dies of it."""

    def __init__(self, *sites):
        self.online = {Node(number, "first"): site for number, site in enumerate(sites, 1)}
        self.names = dict(enumerate(sites, 1))
        self.runs = {}
        self.dead = set()
        self.fatal = set()
        self.answers = {}
        self.greetings = {}
        self.lose = lambda node: None
        self.letters = {}
        self.sent = []
        self.pulled = set()
        self.number = itertools.count()

    def nodes(self):
        return list(self.online)

    def post(self, node, frame):
        letter = f"letter-{next(self.number)}"
        self.sent.append((node, decode(frame, 1 << 20)))
        if node in self.fatal and isinstance(self.sent[-1][1], Ask):
            self.fatal.discard(node)
            self.dead.add(node)
        self.letters[letter] = None if node in self.dead else (node, frame)
        return letter

    def collect(self, letters):
        assert not self.pulled & set(letters), "a letter that was answered is asked for again"
        found = {letter: self.reply(*self.letters[letter]) for letter in letters if self.letters[letter]}
        self.pulled |= found.keys()
        return found

    def reply(self, node, frame):
        site, message = self.names[node], decode(frame, 1 << 20)
        if isinstance(message, Hello) and (said := self.greetings.get(node) or self.lose(node)):
            return said
        if isinstance(message, Ask):
            return self.answers[node](message) if node in self.answers else encode(share(site, message))
        if isinstance(message, Terms):
            self.runs[site] = message.run
        else:
            assert (message.site, message.layout) == ("", "rows")
        return encode(Hello(site, "1", "rows", run=self.runs.get(site, "")))

    def restart(self, node, since, number=None):
        """The SuperNode comes back, under another number where its key is not registered; its letters are lost."""
        site = self.online.pop(node)
        self.dead.discard(node.id)
        self.letters = {letter: held if held and held[0] != node.id else None for letter, held in self.letters.items()}
        fresh = Node(number or node.id, since)
        self.names[fresh.id] = site
        self.online[fresh] = site

    def asked(self, node, step="keys"):
        return sum(to == node and getattr(message, "step", "") == step for to, message in self.sent)


def ran(office, rounds=2, patience=5.0, before=lambda: None):
    """The shares of a run of so many rounds; `before` is called when the terms are agreed on."""
    desk = Desk(SITES, patience, 1 << 20, Hooks())

    def coordinate():
        desk.gather_hellos()
        desk.propose(TERMS)
        before()
        return [desk.ask(Ask(RUN, number, "keys"), SITES) for number in range(rounds)]

    return carried(Carrier(office, desk, "rows"), coordinate, QUICK)


def test_every_site_is_asked_once_a_round():
    office = Office("north", "south", "east")
    found = ran(office, rounds=3)
    assert [{site: (s.site, s.round) for site, s in shares.items()} for shares in found] == [
        {site: (site, number) for site in SITES} for number in range(3)
    ]
    assert [office.asked(node) for node in (1, 2, 3)] == [3, 3, 3]
    assert [sum(isinstance(m, Terms) for to, m in office.sent if to == node) for node in (1, 2, 3)] == [1, 1, 1]


@pytest.mark.parametrize("number", [None, 9], ids=["same key", "new number"])
def test_a_site_that_restarts_is_asked_again(number, monkeypatch):
    """The letter went to a SuperNode that died with it; Flower says nothing, and the site is found again."""
    monkeypatch.setattr(flower_carrier, "REPLY", 0.05)
    office = Office("north", "south", "east")
    looks = itertools.count()

    def nodes():
        if office.asked(2) == 1 and next(looks) == 3:
            office.restart(Node(2, "first"), "second", number)
        return list(office.online)

    monkeypatch.setattr(office, "nodes", nodes)
    office.fatal = {2}
    found = ran(office)
    assert [set(shares) for shares in found] == [set(SITES)] * 2
    assert office.asked(1) == office.asked(3) == 2
    assert office.asked(2) + (office.asked(9) if number else 0) == 3


def test_a_site_without_its_state_cannot_go_on(monkeypatch):
    office = Office("north", "south", "east")

    def nodes():
        if office.asked(2) == 2 and Node(2, "first") in office.online:
            office.runs.clear()
            office.restart(Node(2, "first"), "second")
        return list(office.online)

    monkeypatch.setattr(office, "nodes", nodes)
    with pytest.raises(FederatedError, match=f"site south: holds no state of run {RUN}"):
        ran(office, rounds=9)


def test_a_letter_that_flower_lost_is_written_again():
    office = Office("north", "south", "east")
    losses = iter([Lost("node unavailable", final=False)] * 5)
    office.answers[1] = lambda ask: next(losses, encode(share("north", ask)))
    assert len(ran(office)) == 2
    assert (office.asked(1), office.asked(2)) == (7, 2)


def test_nothing_is_sent_to_a_supernode_that_is_offline(monkeypatch):
    office = Office("north", "south", "east")
    office.answers[1] = lambda ask: Lost("node unavailable", final=False)
    monkeypatch.setattr(office, "nodes", lambda: [node for node in office.online if node.id > 1 or not office.asked(1)])
    with pytest.raises(FederatedError, match="site north has not answered round 0"):
        ran(office, patience=0.3)
    assert office.asked(1) == 1


def test_a_process_that_keeps_ending_stops_the_run():
    office = Office("north", "south", "east")
    office.answers[1] = lambda _: Lost("its process ended without an answer", final=False, crash=True)
    with pytest.raises(FederatedError, match=r"site 'north': its process ended"):
        ran(office)
    assert office.asked(1) == CRASHES


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda ask: Lost("its SuperNode cannot load the app", final=True), "cannot load the app"),
        (lambda ask: encode(Refusal("north", "it knows nothing of this run")), "knows nothing of this run"),
        (lambda ask: b"garbage", "not a valid message"),
        (lambda ask: encode(share("north", Ask(RUN, 5, "keys"))), "round 5"),
        (lambda ask: encode(share("south", ask)), "not its own"),
        (lambda ask: encode(share("north", Ask("run-2", 0, "keys"))), "of run run-2"),
        (lambda ask: encode(Share(RUN, 0, "keys", "north", {"card": np.zeros(1 << 20, np.uint8)})), "more than"),
    ],
    ids=["final", "refusal", "garbage", "other round", "other site", "other run", "too large"],
)
def test_a_bad_answer_stops_the_run(answer, said):
    office = Office("north", "south", "east")
    office.answers[1] = answer
    with pytest.raises(FederatedError, match=said):
        ran(office)


def test_a_site_that_never_comes_is_named():
    with pytest.raises(FederatedError, match="site east has not come"):
        ran(Office("north", "south"), patience=0.2)


def test_a_registered_name_binds_the_key_to_the_site():
    office = Office("north", "south", "east")
    office.online = {Node(1, "first", "north"): "north", Node(2, "first", "mallory"): "south"}
    with pytest.raises(FederatedError, match="SuperNode 'mallory' says that it is site 'south'"):
        ran(office)


def test_two_supernodes_for_one_site_are_refused():
    with pytest.raises(FederatedError, match="site 'north': two SuperNodes"):
        ran(Office("north", "south", "east", "north"))


def test_supernodes_of_others_are_left_alone_but_told_of(caplog):
    office = Office("north", "south", "east", "a stranger", "west", "broken")
    office.greetings[4] = Lost("its SuperNode cannot load the app", final=True)
    office.greetings[6] = encode(Refusal("", "the site's own files cannot be read"))
    assert len(ran(office)) == 2
    assert "SuperNode 4: its SuperNode cannot load the app" in caplog.text
    assert "SuperNode 5: 'west' is not among the sites" in caplog.text
    assert "SuperNode 6: the site's own files cannot be read" in caplog.text
    assert [sum(to == node for to, _ in office.sent) for node in (4, 5, 6)] == [1, 1, 1]


def test_a_greeting_that_was_lost_is_said_again():
    office = Office("north", "south", "east")
    losses = iter([Lost("node unavailable", final=False)] * 2)
    office.lose = lambda node: next(losses, None) if node == 2 else None
    assert len(ran(office)) == 2
    assert sum(to == 2 and isinstance(message, Hello) for to, message in office.sent) == 3


@pytest.mark.parametrize(("name", "site"), [("", "south"), ("south", ""), ("south", "south")])
def test_a_site_that_cannot_even_greet_stops_the_run(name, site):
    """Where it can be known which site it is: by what it says, or by the name of its key."""
    office = Office("north", "south", "east")
    office.online = {Node(1, "first"): "north", Node(2, "first", name): "south", Node(3, "first"): "east"}
    office.greetings[2] = encode(Refusal(site, "its certificate cannot be used"))
    with pytest.raises(FederatedError, match=r"^site south cannot take part: its certificate cannot be used$"):
        ran(office)
    assert not office.asked(1)


def test_what_the_mail_or_the_coordinator_raises_comes_through():
    office = Office("north", "south", "east")
    office.collect = lambda letters: 1 / 0
    with pytest.raises(ZeroDivisionError):
        ran(office, patience=0.1)

    def fail():
        raise KeyError("a bug")

    with pytest.raises(KeyError, match="a bug"):
        ran(Office("north", "south", "east"), before=fail)
    assert "partita-coordinator" not in [thread.name for thread in threading.enumerate()]
