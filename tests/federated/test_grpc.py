"""The desk and the gRPC ends, with sites that answer by rote: everyone is served, wrong frames disturb nobody."""

import re
import socket
import struct
import threading
import time
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest

from partita.core.errors import FederatedError, FileError
from partita.federated import desk as desks
from partita.federated.desk import DONE, WAIT, AwayError, Desk, Hooks
from partita.federated.frames import decode, encode
from partita.federated.grpc_server import listening
from partita.federated.grpc_site import UnreachableError, Visit, calling
from partita.federated.messages import Ask, Hello, Refusal, Share
from partita.federated.store import load_state
from tests.federated.wire import SITES, TERMS, Fake, make_tls, refusal, share_arrays, total

grpc = pytest.importorskip("grpc")
LARGEST = 1 << 22


class Told:
    """Hooks that remember."""

    def __init__(self):
        self.lines, self.rounds = [], []
        self.hooks = Hooks(self.lines.append, self.rounds.append)


@pytest.fixture(scope="module")
def tls(tmp_path_factory):
    return make_tls(tmp_path_factory.mktemp("tls"), ["coordinator", *SITES, "stranger"])


@pytest.fixture
def told():
    return Told()


@pytest.fixture
def desk(told):
    found = Desk(SITES, 5.0, LARGEST, told.hooks)
    found.hold = 0.2
    return found


def coordinate(desk, rounds, first=0):
    """Ask so many rounds, then close."""
    if first == 0:
        desk.gather_hellos()
    desk.propose(TERMS, first - 1)
    sums = []
    for place in range(first, rounds):
        shares = desk.ask(Ask("run1", place, "totals"), SITES)
        sums.append(sum(share.arrays["labels"] for share in shares.values()).tolist())
    desk.ask(Ask("run1", rounds, "close"), SITES)
    desk.finish(5.0)
    return sums


class Background(threading.Thread):
    """A thread whose result or error comes back."""

    def __init__(self, act):
        super().__init__(daemon=True)
        self.act, self.found, self.error = act, None, None
        self.start()

    def run(self):
        try:
            self.found = self.act()
        except BaseException as error:
            self.error = error

    def get(self, seconds=20):
        self.join(seconds)
        assert not self.is_alive(), "still at work"
        if self.error is not None:
            raise self.error
        return self.found


def visit(carry, name, folder, told, patience=5.0, fake=None):
    folder.mkdir(exist_ok=True)
    path = folder / "state"
    fake = fake or Fake(name)
    found = Visit(fake.party, carry, path, LARGEST, patience, told.hooks)
    return Background(lambda: found.follow(load_state(path), lambda result: None))


def visits(desk, tmp_path, told, names=SITES):
    return [visit(lambda frame, name=name: desk.handle(name, frame), name, tmp_path / name, told) for name in names]


def test_a_run_without_a_network(desk, tmp_path, told):
    sites = visits(desk, tmp_path, told)
    assert coordinate(desk, 4) == [total(place) for place in range(4)]
    assert [site.get() for site in sites] == [(name, 4) for name in SITES]
    assert not desk.refused and not told.lines


def test_a_run_over_grpc(desk, tmp_path, told, tls):
    with (
        listening(desk, "127.0.0.1:0", tls["coordinator"]) as address,
        calling(address, tls["a"], LARGEST) as a,
        calling(address, tls["b"], LARGEST) as b,
        calling(address.replace("127.0.0.1", "localhost"), tls["c"], LARGEST) as c,
    ):
        sites = [visit(to, name, tmp_path / name, told) for name, to in zip(SITES, (a, b, c), strict=True)]
        assert coordinate(desk, 20) == [total(place) for place in range(20)]
        assert [site.get() for site in sites] == [(name, 20) for name in SITES]
    ours = [news for news in told.rounds if news.step == "totals" and news.received > 300]
    assert len({news.round for news in ours}) == 20
    assert sorted(news.seconds for news in ours)[10] < 0.1


def test_the_state_is_kept_before_the_share_is_sent(desk, tmp_path, told):
    kept = []

    def carry(frame):
        message = decode(frame, LARGEST)
        if isinstance(message, Share):
            kept.append((message.round, load_state(tmp_path / "a" / "state").round))
        return desk.handle("a", frame)

    first = visit(carry, "a", tmp_path / "a", told)
    others = visits(desk, tmp_path, told, ("b", "c"))
    coordinate(desk, 3)
    for site in (first, *others):
        site.get()
    assert kept == [(0, 0), (1, 1), (2, 2), (3, 3)]


@pytest.mark.parametrize("lost", ["before", "after"])
def test_a_site_that_dies_and_returns(desk, tmp_path, told, lost):
    """Its share is lost before or after the coordinator has it; either way it goes on where it was."""

    class Killed(BaseException):
        pass

    def dying(frame):
        message = decode(frame, LARGEST)
        if isinstance(message, Share) and message.round == 2:
            if lost == "after":
                threading.Thread(target=desk.handle, args=("b", frame), daemon=True).start()
                time.sleep(0.1)
            raise Killed
        return desk.handle("b", frame)

    others = visits(desk, tmp_path, told, ("a", "c"))
    doomed = visit(dying, "b", tmp_path / "b", told)
    run = Background(lambda: coordinate(desk, 5))
    doomed.join(10)
    assert isinstance(doomed.error, Killed)
    again = visit(lambda frame: desk.handle("b", frame), "b", tmp_path / "b", told)
    assert run.get() == [total(place) for place in range(5)]
    assert [site.get() for site in (*others, again)] == [("a", 5), ("c", 5), ("b", 5)]


def test_a_coordinator_that_dies_and_returns(tmp_path, told, tls):
    """A second desk goes on at the round that the first had not finished."""
    first, second = Desk(SITES, 5.0, LARGEST, told.hooks), Desk(SITES, 5.0, LARGEST, told.hooks)
    with listening(first, "127.0.0.1:0", tls["coordinator"]) as address:
        callers = [calling(address, tls[name], LARGEST) for name in SITES]
        sites = [visit(c.__enter__(), name, tmp_path / name, told) for c, name in zip(callers, SITES, strict=True)]
        first.gather_hellos()
        first.propose(TERMS)
        for place in range(3):
            first.ask(Ask("run1", place, "totals"), SITES)
    with listening(second, address, tls["coordinator"]):
        assert coordinate(second, 5, first=2) == [total(place) for place in range(2, 5)]
        assert [site.get() for site in sites] == [(name, 5) for name in SITES]
    for caller in callers:
        caller.__exit__(None, None, None)


def test_a_late_site_is_waited_for(desk, tmp_path, told, monkeypatch):
    monkeypatch.setattr(desks, "REMIND", 0.1)
    early = visits(desk, tmp_path, told, ("a", "b"))
    run = Background(lambda: coordinate(desk, 2))
    time.sleep(1.3)
    late = visits(desk, tmp_path, told, ("c",))
    assert run.get() == [total(0), total(1)]
    assert [site.get() for site in (*early, *late)]
    assert told.lines == ["waiting: c has not come"]


def test_a_site_that_stays_away_is_named(tmp_path, told):
    desk = Desk(SITES, 0.4, LARGEST, told.hooks)
    with pytest.raises(AwayError, match=r"site a has not come and was not heard of for 0.4 s; .* same command"):
        desk.gather_hellos()
    desk.propose(TERMS)
    with pytest.raises(AwayError, match=r"site a has not answered round 0 \(totals\)"):
        desk.ask(Ask("run1", 0, "totals"), SITES)


def test_an_absent_coordinator_ends_a_sites_patience(tmp_path, told, tls):
    with calling("127.0.0.1:1", tls["a"], LARGEST) as carry:
        site = visit(carry, "a", tmp_path / "a", told, patience=0.5)
        with pytest.raises(UnreachableError, match=r"site a: the coordinator at 127.0.0.1:1 does not answer .*0.5 s"):
            site.get()


def begun(desk):
    """A desk whose first round is out; the thread that asks."""
    run = Background(lambda: coordinate(desk, 2))
    for name in SITES:
        Background(lambda name=name: desk.handle(name, encode(Fake(name).hello(None))))
    until_asked(desk, 0)
    return run


def until_asked(desk, place):
    """Wait until this round is out."""
    deadline = time.monotonic() + 10
    while (desk._current is None or desk._current.ask.round < place) and time.monotonic() < deadline:
        time.sleep(0.01)


def share(name, place=0, **changes):
    ask = Ask("run1", place, "totals")
    return encode(replace(Share("run1", place, "totals", name, share_arrays(name, ask)), **changes))


def flood(size):
    return {"labels": np.zeros(size, np.uint64), "scalars": np.ones(1, np.uint64)}


@pytest.mark.parametrize(
    ("caller", "frame", "words"),
    [
        ("d", share("d"), r"'d' is not among the sites of this run: a, b, c"),
        ("", share("a"), "'' is not among"),
        ("a", b"", "too few"),
        ("a", b"GET / HTTP/1.1\r\n", "does not begin"),
        ("a", share("a")[:-8], "does not fit"),
        ("a", share("b"), "site a: sent a Share that is not its own"),
        ("a", encode(TERMS), "site a: sent a Terms that is not its own"),
        ("a", encode(Ask("run1", 0, "totals")), "sent a Ask that is not its own"),
        ("a", share("a", run="run2"), "site a: round 0 is of run run2, which is not this one"),
        ("a", share("a", 1), r"site a: round 1 \(totals\) was sent, asked for is 0 \(totals\)"),
        ("a", encode(Share("run1", 0, "close", "a", {"digest": np.zeros(1, np.uint8)})), r"asked for is 0 \(totals\)"),
        ("a", share("a", arrays=flood(3)), "site a: round 0: .*t is 2"),
        ("a", share("a", arrays={"labels": np.zeros(2), "scalars": np.ones(1)}), "agreed was uint64"),
        ("a", share("a", arrays=flood(10**6)), r"a message of 80\d+ bytes, more than"),
    ],
)
def test_wrong_frames_are_refused_and_disturb_nobody(desk, told, caller, frame, words):
    run = begun(desk)
    reply = refusal(desk.handle(caller, frame))
    assert re.search(words, reply)
    assert told.lines == [f"refused: {reply}"]
    assert desk.refused == {caller if caller in SITES else "": 1}
    finish(desk)
    assert run.get() == [total(0), total(1)]


def finish(desk):
    """Answer what is left of a run of two rounds."""
    for place in (0, 1):
        for name in SITES:
            Background(lambda name=name, place=place: desk.handle(name, share(name, place)))
        until_asked(desk, place + 1)
    for name in SITES:
        ask = Ask("run1", 2, "close")
        frame = encode(Share("run1", 2, "close", name, share_arrays(name, ask)))
        Background(lambda name=name, frame=frame: desk.handle(name, frame))


def test_a_replayed_round_is_refused(desk, told):
    run = begun(desk)
    finish(desk)
    assert run.get() == [total(0), total(1)]
    assert "site a: round 0 (totals) was sent, asked for is 2 (close)" in refusal(desk.handle("a", share("a", 0)))
    assert len(told.lines) == 1


def test_the_same_share_again_is_welcome_and_another_is_not(desk):
    run = begun(desk)
    assert desk.handle("a", share("a")) == WAIT
    assert desk.handle("a", share("a")) == WAIT
    other = {"labels": np.array([7, 7], np.uint64), "scalars": np.ones(1, np.uint64)}
    assert "answered before, with other numbers" in refusal(desk.handle("a", share("a", arrays=other)))
    for name in ("b", "c"):
        Background(lambda name=name: desk.handle(name, share(name)))
    found = decode(desk.handle("a", share("a")), LARGEST)  # it had not heard of its success
    assert isinstance(found, Ask) and found.round == 1
    finish(desk)
    assert run.get() == [total(0), total(1)]


def test_only_sites_that_are_asked_may_answer(desk):
    desk.propose(TERMS)
    asking = Background(lambda: desk.ask(Ask("run1", 0, "totals"), ("b",)))
    until_asked(desk, 0)
    assert "site a: round 0 was not asked of it" in refusal(desk.handle("a", share("a")))
    desk.handle("b", share("b"))
    assert list(asking.get()) == ["b"]


def test_shares_of_different_shapes_are_not_added(desk):
    terms = replace(TERMS, layout="columns", transport="fixed")
    desk.propose(terms)
    asking = Background(lambda: desk.ask(Ask("run1", 0, "round"), SITES))
    until_asked(desk, 0)
    for name, n in (("a", 5), ("b", 5), ("c", 6)):
        arrays = {"values": np.zeros((n, 2), np.uint64), "scalars": np.zeros(1, np.uint64)}
        desk.handle(name, encode(Share("run1", 0, "round", name, arrays)))
    with pytest.raises(FederatedError, match=r"site c: values has shape \(6, 2\) in round 0, that of site a \(5, 2\)"):
        asking.get()


def test_a_share_has_at_most_two_rows_per_object(desk):
    """Two starts are settled for every object at the end of BCE-VB; no round has more rows."""
    desk.propose(replace(TERMS, layout="columns", transport="fixed"))
    for place, n in ((0, 5), (1, 10), (2, 11)):
        asking = Background(lambda place=place: desk.ask(Ask("run1", place, "round"), ("a",)))
        until_asked(desk, place)
        arrays = {"values": np.zeros((n, 2), np.uint64), "scalars": np.zeros(1, np.uint64)}
        reply = desk.handle("a", encode(Share("run1", place, "round", "a", arrays)))
        if place < 2:
            asking.get()
    assert "site a: round 2: " in refusal(reply) and "11 rows, where there are 5 objects" in refusal(reply)


def test_a_flood_is_counted_but_not_told_for_ever(desk, told):
    for _ in range(50):
        desk.handle("a", b"noise")
    assert desk.refused == {"a": 50}
    assert len(told.lines) == desks.LINES and told.lines[-1].endswith("its further ones are not told")


def admit(hello):
    if hello.version != "1":
        raise FederatedError(f"site {hello.site}: has partita {hello.version}, the coordinator 1; install the same")


def test_another_version_is_refused_and_may_come_back(tmp_path, told):
    desk = Desk(SITES, 5.0, LARGEST, told.hooks, admit)
    sites = visits(desk, tmp_path, told, ("a", "b"))
    run = Background(lambda: coordinate(desk, 1))
    other = visit(lambda frame: desk.handle("c", frame), "c", tmp_path / "c", told, fake=Fake("c", version="2"))
    with pytest.raises(FederatedError, match="site c: has partita 2, the coordinator 1; install the same"):
        other.get()
    sites += visits(desk, tmp_path, told, ("c",))
    assert run.get() == [total(0)]
    assert [site.get() for site in sites]
    assert told.lines == ["refused: site c: has partita 2, the coordinator 1; install the same"]


def test_a_site_that_refuses_the_terms_stops_the_run_on_both_sides(desk, tmp_path, told):
    class Insisting(Fake):
        def agree(self, terms):
            raise FederatedError("site c requires k = 3, the coordinator offers k = 2")

    visits(desk, tmp_path, told, ("a", "b"))
    refusing = visit(lambda frame: desk.handle("c", frame), "c", tmp_path / "c", told, fake=Insisting("c"))
    with pytest.raises(FederatedError, match="site c cannot take part: site c requires k = 3"):
        coordinate(desk, 1)
    with pytest.raises(FederatedError, match="site c requires k = 3"):
        refusing.get()


def test_all_sites_hear_why_a_run_stops(desk, tmp_path, told):
    sites = visits(desk, tmp_path, told)
    desk.gather_hellos()
    desk.stop("site c: holds other objects", 5.0)
    for site in sites:
        with pytest.raises(FederatedError, match="site c: holds other objects"):
            site.get()


def test_a_site_that_lost_its_state_is_told_so(desk):
    desk.propose(TERMS, 2)
    words = refusal(desk.handle("a", encode(Fake("a").hello(None))))
    assert words.startswith("site a: holds no state of run run1, which has begun")


def replies(*frames_):
    """A coordinator that says this, then is away."""
    left = list(frames_)
    heard = []

    def carry(frame):
        heard.append(decode(frame, LARGEST))
        if not left:
            raise UnreachableError("gone")
        return left.pop(0)

    return carry, heard


def test_terms_cannot_be_changed_within_a_run(tmp_path, told):
    """Else a coordinator could have a site forget what it answered, and answer otherwise under the same masks."""
    again = [encode(TERMS), encode(Ask("run1", 0, "totals")), encode(TERMS), encode(Ask("run1", 1, "totals"))]
    carry, heard = replies(*again, encode(replace(TERMS, k=9)))
    with pytest.raises(FederatedError, match="site a: the terms of run run1 were changed after all agreed"):
        visit(carry, "a", tmp_path / "a", told).get()
    assert [message.round for message in heard if isinstance(message, Share)] == [0, 1]
    assert isinstance(heard[-1], Refusal)
    assert load_state(tmp_path / "a" / "state").round == 1


def test_a_run_that_was_begun_is_not_left_for_another(tmp_path, told):
    other = encode(replace(TERMS, run="run2"))
    carry, _ = replies(encode(TERMS), encode(Ask("run1", 0, "totals")), other)
    with pytest.raises(FederatedError, match="site a takes part in run run1 and was offered run run2; start it again"):
        visit(carry, "a", tmp_path / "a", told).get()
    assert load_state(tmp_path / "a" / "state").terms.run == "run1"
    carry, _ = replies(other)
    with pytest.raises(UnreachableError):
        visit(carry, "a", tmp_path / "a", told, patience=0.2).get()
    assert "run run1 is given up for run run2" in told.lines
    assert load_state(tmp_path / "a" / "state").terms.run == "run2"


def test_terms_may_change_before_the_first_answer(tmp_path, told):
    carry, _ = replies(encode(TERMS), encode(replace(TERMS, run="run2")))
    with pytest.raises(UnreachableError):
        visit(carry, "a", tmp_path / "a", told, patience=0.2).get()
    assert load_state(tmp_path / "a" / "state").terms.run == "run2"


def test_a_run_cannot_end_without_a_result(tmp_path, told):
    carry, _ = replies(encode(TERMS), DONE)
    with pytest.raises(FederatedError, match="site a: the coordinator ended the run without a result"):
        visit(carry, "a", tmp_path / "a", told).get()


def test_a_site_whose_state_is_older_than_its_answers_is_told_so(desk):
    """It would go on from numbers that nobody else has any more."""
    desk.propose(TERMS, 4)
    words = refusal(desk.handle("a", encode(Hello("a", "1", "rows", run="run1", round=3))))
    assert words.startswith("site a: its state is of round 3 and it has answered round 4; put its newest state back")
    assert desk.handle("a", encode(Hello("a", "1", "rows", run="run1", round=4))) == WAIT
    desk.propose(replace(TERMS, protocol="sequential"), 4)
    assert desk.handle("a", encode(Hello("a", "1", "rows", run="run1", round=3))) == WAIT


def test_an_older_state_is_seen_within_a_run(desk):
    run = begun(desk)
    finish(desk)
    run.get()
    words = refusal(desk.handle("a", encode(Hello("a", "1", "rows", run="run1", round=1))))
    assert "its state is of round 1 and it has answered round 2" in words


def test_a_newer_call_of_a_site_takes_the_place_of_the_older(desk):
    desk.hold = 10.0
    desk.propose(TERMS)
    hello = encode(Hello("a", "1", "rows", run="run1"))
    older = Background(lambda: desk.handle("a", hello))
    time.sleep(0.1)
    newer = Background(lambda: desk.handle("a", hello))
    time.sleep(0.1)
    desk.release()
    assert (older.get(1), newer.get(1)) == (WAIT, WAIT)


def test_a_finished_site_hears_done_when_it_returns(desk):
    desk.propose(TERMS, 2)
    desk.finish(0.0)
    assert desk.handle("a", encode(Hello("a", "1", "rows", run="run1", round=3))) == DONE


# what TLS and gRPC refuse themselves


def refused_call(address, tls, words):
    with calling(address, tls, LARGEST) as carry:
        for _ in range(3):
            try:
                return carry(encode(Hello("a", "1", "rows")))
            except UnreachableError:
                time.sleep(0.1)
            except FederatedError as error:
                assert re.search(words, str(error)), error
                return None
    return None


def test_certificates_of_another_authority_are_refused(desk, tmp_path, told, tls):
    foreign = make_tls(tmp_path / "other", ["a", "coordinator"])["a"]
    mixed = replace(foreign, authority=tls["a"].authority)
    expired = make_tls(tmp_path / "old", ["a", "coordinator"], days=-1)
    with listening(desk, "127.0.0.1:0", tls["coordinator"]) as address:
        for wrong in (foreign, mixed, replace(expired["a"], authority=tls["a"].authority)):
            assert refused_call(address, wrong, "do not trust each other's certificates") is None
        assert not desk._hellos
        assert desk.handle("a", encode(Hello("a", "1", "rows"))) == WAIT


def reset(line):
    line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    line.close()


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (socket.socket.close, UnreachableError),
        (reset, UnreachableError),
        (lambda line: line.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n"), FederatedError),
    ],
    ids=["closed", "reset", "no TLS"],
)
def test_a_handshake_that_breaks_off_is_a_coordinator_that_is_away(tls, answer, error):
    """As one that is killed or begins in this moment; only what TLS refuses is for good."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def take():
            with suppress(OSError):
                while True:
                    line, _ = server.accept()
                    held.append(line)
                    line.recv(1)
                    answer(line)

        held = []
        Background(take)
        with calling(f"127.0.0.1:{server.getsockname()[1]}", tls["a"], LARGEST) as carry:
            for _ in range(3):
                with pytest.raises(FederatedError) as caught:
                    carry(encode(Hello("a", "1", "rows")))
                assert type(caught.value) is error
        server.shutdown(socket.SHUT_RDWR)
        for line in held:
            line.close()


def test_no_certificate_no_entry(desk, tls):
    with listening(desk, "127.0.0.1:0", tls["coordinator"]) as address:
        bare = grpc.ssl_channel_credentials(tls["a"].authority.read_bytes())
        for channel in (grpc.secure_channel(address, bare), grpc.insecure_channel(address)):
            with channel, pytest.raises(grpc.RpcError) as caught:
                channel.unary_unary("/partita.Federation/Exchange")(encode(Hello("a", "1", "rows")), timeout=5)
            assert caught.value.code() == grpc.StatusCode.UNAVAILABLE
    assert not desk._hellos


def test_a_name_is_proved_by_the_certificate(desk, tls):
    with listening(desk, "127.0.0.1:0", tls["coordinator"]) as address:
        with calling(address, tls["b"], LARGEST) as carry:
            assert "site b: sent a Hello that is not its own" in refusal(carry(encode(Hello("a", "1", "rows"))))
        with calling(address, tls["stranger"], LARGEST) as carry:
            assert "'stranger' is not among the sites" in refusal(carry(encode(Hello("stranger", "1", "rows"))))
        with calling(address, tls["coordinator"], LARGEST) as carry:
            assert "is not among the sites" in refusal(carry(encode(Hello("a", "1", "rows"))))


def test_a_site_speaks_to_nobody_but_the_coordinator_it_trusts(desk, tmp_path, told, tls):
    foreign = make_tls(tmp_path / "other", ["coordinator"])["coordinator"]
    with listening(desk, "127.0.0.1:0", foreign) as address:
        assert refused_call(address, tls["a"], "do not trust") is None
    assert not desk._hellos


def test_messages_larger_than_the_cap_do_not_pass(desk, tls):
    with listening(desk, "127.0.0.1:0", tls["coordinator"]) as address:
        with calling(address, tls["a"], 10 * LARGEST) as carry, pytest.raises(FederatedError, match="raise `largest`"):
            carry(b"x" * (LARGEST + 1))
        with calling(address, tls["a"], LARGEST) as carry:
            assert "does not begin" in refusal(carry(b"x" * 1000))


def test_a_taken_port_and_a_missing_key_are_named(desk, tls, tmp_path):
    again = Desk(SITES, 1.0, LARGEST, Hooks())
    with (
        listening(desk, "127.0.0.1:0", tls["coordinator"]) as address,
        pytest.raises(FederatedError, match=f"cannot listen at {address}"),
        listening(again, address, tls["coordinator"]),
    ):
        pass
    lost = replace(tls["a"], key=tmp_path / "no.key")
    with pytest.raises(FileError, match=r"no.key: the key cannot be read"), calling(address, lost, LARGEST):
        pass
    (tmp_path / "no.key").write_text("secret")
    with pytest.raises(FileError, match="is no PEM file"), calling(address, lost, LARGEST):
        pass
