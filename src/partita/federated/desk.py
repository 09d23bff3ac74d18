"""The coordinator's desk: what becomes of each frame that a site hands in, whatever carries it.

A site says Hello until it is given the Terms, then an Ask, and hands in its Share; each time it gets the next thing it
needs, or `WAIT` after some seconds. What is wrong is answered with a Refusal, counted, and does not disturb the run.
"""

import hashlib
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from partita.core.errors import FederatedError
from partita.federated.frames import HEADER_MOST, check_arrays, decode, encode, frame_limit
from partita.federated.messages import STEPS, Ask, Hello, Refusal, Share, Terms

WAIT: Final = b""
DONE: Final = b"done"
HOLD: Final = 20.0
"""Seconds for which a site's call is held before it is told to wait."""
REMIND: Final = 10.0
LINES: Final = 20
STARTS_PER_OBJECT: Final = 2
"""Maximum number of rows per object in a round by columns: BCE-VB settles two starts of every object at its end."""
"""Refusals of one site that are told one by one."""


class News(NamedTuple):
    """One finished round, for those who watch."""

    round: int
    step: str
    seconds: float
    sent: int
    received: int


@dataclass(frozen=True, slots=True)
class Hooks:
    """Who is told what happens; nothing here prints."""

    note: Callable[[str], None] = lambda line: None
    news: Callable[[News], None] = lambda news: None


@dataclass(slots=True)
class _Current:
    """The ask that is out, and what has come back."""

    ask: Ask
    frame: bytes
    sites: tuple[str, ...]
    shares: dict[str, Share] = field(default_factory=dict)
    received: int = 0


class Desk:
    """A `hub.Link` whose sites come to it. Threads hand in frames through `handle`; one thread asks."""

    def __init__(
        self,
        sites: tuple[str, ...],
        patience: float,
        largest: int,
        hooks: Hooks,
        admit: Callable[[Hello], None] = lambda hello: None,
    ) -> None:
        """`admit` raises for a Hello that cannot take part: it is refused, and its site may come again."""
        self.sites = sites
        self.patience = patience
        self.largest = largest
        self.hooks = hooks
        self.hold = HOLD
        self.refused: Counter[str] = Counter()
        """Refusals by site; unknown ones under ""."""
        self._changed = threading.Condition()
        self._admit = admit
        self._hellos: dict[str, Hello] = {}
        self._terms: Terms | None = None
        self._begun = False
        self._answered = -1
        self._current: _Current | None = None
        self._last: dict[str, tuple[int, bytes]] = {}
        self._seen = dict.fromkeys(sites, time.monotonic())
        self._calls: Counter[str] = Counter()
        self._told: set[str] = set()
        self._done = False
        self._interrupted = False
        self._stopped: str | None = None
        self._failure: str | None = None
        self._objects: int | None = None

    # what the coordinator's thread calls

    def gather_hellos(self) -> dict[str, Hello]:
        """Every site's Hello."""
        with self._changed:
            self._wait_for(lambda: [site for site in self.sites if site not in self._hellos], "has not come")
            return {site: self._hellos[site] for site in self.sites}

    def propose(self, terms: Terms, answered: int = -1) -> None:
        """Tell every site what was agreed on; `answered` is the round that sites have answered before, if any."""
        with self._changed:
            self._terms, self._begun, self._answered = terms, answered >= 0, answered
            self._changed.notify_all()

    def ask(self, ask: Ask, sites: tuple[str, ...]) -> Mapping[str, Share]:
        """The shares of the sites named; raises where one stays away for longer than the desk is patient."""
        start = time.monotonic()
        if self._interrupted:
            raise StoppedError("stopped by Ctrl-C")
        with self._changed:
            current = self._current = _Current(ask, encode(ask), sites)
            self._changed.notify_all()
            self._wait_for(
                lambda: [site for site in sites if site not in current.shares],
                f"has not answered round {ask.round} ({ask.step})",
            )
            self._check_equal(current)
            self._begun = True
        seconds = time.monotonic() - start
        self.hooks.news(News(ask.round, ask.step, seconds, len(current.frame) * len(sites), current.received))
        return current.shares

    def finish(self, linger: float) -> None:
        """Tell all sites that the run is complete; waits so many seconds for those that still have to hear it."""
        with self._changed:
            self._done = True
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._told >= set(self.sites), linger)

    def stop(self, reason: str, linger: float) -> None:
        """Tell all sites why the run cannot go on; waits so many seconds for those that still have to hear it."""
        with self._changed:
            self._stopped = reason
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._told >= set(self.sites), linger)

    def interrupt(self) -> None:
        """Have every further ask raise: a method that takes Ctrl-C for the end of its fit must not close a run."""
        self._interrupted = True

    def release(self) -> None:
        """Let every held call go."""
        with self._changed:
            self.hold = 0.0
            self._changed.notify_all()

    # what the threads of the transport call

    def handle(self, caller: str, frame: bytes) -> bytes:
        """The reply to a frame from a caller whose name its certificate proves."""
        try:
            if caller not in self.sites:
                raise FederatedError(f"{caller!r} is not among the sites of this run: {', '.join(self.sites)}")
            message = decode(frame, self._limit())
            if getattr(message, "site", None) != caller:
                raise FederatedError(f"site {caller}: sent a {type(message).__name__} that is not its own")
            digest = hashlib.sha256(frame).digest() if isinstance(message, Share) else b""
            with self._changed:
                self._seen[caller] = time.monotonic()
                if isinstance(message, Refusal):
                    self._failure = f"site {caller} cannot take part: {message.reason}"
                    self._told.add(caller)
                    self._changed.notify_all()
                    return WAIT
                if isinstance(message, Share):
                    self._take(message, digest, len(frame))
                elif isinstance(message, Hello):
                    self._greet(message)
                return self._next(caller, message.run if isinstance(message, Hello) else None)
        except FederatedError as error:
            return self._refuse(caller, str(error))

    def _limit(self) -> int:
        """Bytes that a frame may have by now."""
        with self._changed:
            if self._terms is None:
                return min(HEADER_MOST + 64, self.largest)
            if self._terms.layout == "rows":
                return min(frame_limit(self._terms, 0), self.largest)
            return self.largest if self._objects is None else min(frame_limit(self._terms, self._objects), self.largest)

    def _greet(self, hello: Hello) -> None:
        self._admit(hello)
        terms = self._terms
        if terms is not None and hello.run != terms.run and (self._begun or hello.site in self._last):
            raise FederatedError(
                f"site {hello.site}: holds no state of run {terms.run}, which has begun; "
                "start it with the state folder that it had, or a new run in another folder"
            )
        last = max(self._answered if self._all_answer else -1, self._last.get(hello.site, (-1,))[0])
        if terms is not None and hello.run == terms.run and hello.round < last:
            raise FederatedError(
                f"site {hello.site}: its state is of round {hello.round} and it has answered round {last}; "
                "put its newest state back, or start a new run in another folder"
            )
        self._hellos[hello.site] = hello
        self._changed.notify_all()

    @property
    def _all_answer(self) -> bool:
        """Whether every round is asked of every site."""
        return self._terms is not None and self._terms.protocol == "sums"

    def _take(self, share: Share, digest: bytes, size: int) -> None:
        """Accept a share for the ask that is out, once; the same again is welcome, another one is not."""
        place = f"site {share.site}: round {share.round}"
        if self._last.get(share.site) == (share.round, digest):
            return
        if self._terms is None or share.run != self._terms.run:
            raise FederatedError(f"{place} is of run {share.run}, which is not this one")
        current = self._current
        if current is None or (share.round, share.step) != (current.ask.round, current.ask.step):
            now = "none" if current is None else f"{current.ask.round} ({current.ask.step})"
            raise FederatedError(f"{place} ({share.step}) was sent, asked for is {now}")
        if share.site not in current.sites:
            raise FederatedError(f"{place} was not asked of it")
        if share.site in current.shares:
            raise FederatedError(f"{place} was answered before, with other numbers")
        try:
            check_arrays("share", share.step, share.arrays, self._terms, self._sizes(current.ask))
        except FederatedError as error:
            raise FederatedError(f"{place}: {error}") from None
        rows = len(share.arrays["values"]) if share.step == "round" else 0
        if self._objects is not None and rows > STARTS_PER_OBJECT * self._objects:
            raise FederatedError(f"{place}: {rows} rows, where there are {self._objects} objects")
        current.shares[share.site] = share
        current.received += size
        self._last[share.site] = (share.round, digest)
        self._changed.notify_all()

    def _next(self, site: str, known: str | None) -> bytes:
        """What the site needs next; `known` is the run of which a Hello speaks."""
        self._calls[site] += 1
        call, until = self._calls[site], time.monotonic() + self.hold
        while True:
            reply = self._ready(site, known)
            left = until - time.monotonic()
            if reply is not None or left <= 0 or self._calls[site] != call or self.hold == 0:
                self._seen[site] = time.monotonic()
                return WAIT if reply is None else reply
            self._changed.wait(left)

    def _ready(self, site: str, known: str | None) -> bytes | None:
        if self._stopped is not None or (self._done and known in (None, self._terms and self._terms.run)):
            self._told.add(site)
            self._changed.notify_all()
            return DONE if self._stopped is None else encode(Refusal(site, self._stopped))
        if self._terms is None:
            return None
        if known is not None and known != self._terms.run:
            return encode(self._terms)
        current = self._current
        if current is not None and site in current.sites and site not in current.shares:
            return current.frame
        return None

    def _refuse(self, caller: str, reason: str) -> bytes:
        name = caller if caller in self.sites else ""
        with self._changed:
            self.refused[name] += 1
            count = self.refused[name]
        if count <= LINES:
            more = "; its further ones are not told" if count == LINES else ""
            self.hooks.note(f"refused: {reason}{more}")
        return encode(Refusal(caller, reason))

    def _sizes(self, ask: Ask) -> dict[str, int]:
        """What is known of the dimensions that all sites share."""
        assert self._terms is not None
        found = {} if self._objects is None else {"n": self._objects}
        if self._terms.layout == "rows":
            found["t"] = sum(len(labels) for labels in self._terms.classes)
        for name, array in ask.arrays.items():
            spec = STEPS[ask.step].ask[name]
            found |= {letter: size for letter, size in zip(spec.shape, array.shape, strict=True) if letter in "ntks"}
        return found

    def _check_equal(self, current: _Current) -> None:
        """Refuse to add up what has different shapes."""
        specs = STEPS[current.ask.step].share
        first = current.sites[0]
        for site in current.sites:
            for name, array in current.shares[site].arrays.items():
                wanted = current.shares[first].arrays[name].shape
                if specs[name].kind in ("narrow", "wide") and array.shape != wanted:
                    raise FederatedError(
                        f"site {site}: {name} has shape {array.shape} in round {current.ask.round}, that of "
                        f"site {first} {wanted}; they do not hold the same objects or labels"
                    )
                if specs[name].shape[0] == "n" or (name == "values" and self._objects is None):
                    self._objects = wanted[0]

    def _wait_for(self, missing: Callable[[], list[str]], what: str) -> None:
        """Wait until nobody is missing; remind, and raise when one was not heard of for too long."""
        start, reminded = time.monotonic(), False
        while away := missing():
            if self._failure is not None:
                raise FederatedError(self._failure)
            if self._interrupted:
                raise StoppedError("stopped by Ctrl-C")
            now = time.monotonic()
            for site in away:
                if now - max(self._seen[site], start) > self.patience:
                    raise AwayError(
                        f"site {site} {what} and was not heard of for {self.patience:g} s; what is finished is kept: "
                        "start the same command again to go on"
                    )
            if now - start > REMIND and not reminded:
                reminded = True
                self.hooks.note(f"waiting: {', '.join(away)} {what}")
            self._changed.wait(min(1.0, self.patience / 4))


class StoppedError(FederatedError):
    """Somebody stopped the coordinator; the run can go on when it is back."""


class AwayError(FederatedError):
    """A site stays away; the run can go on when it is back."""
