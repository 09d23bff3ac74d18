"""Carries frames between a coordinator's desk and the sites behind SuperNodes. Flower is not imported here.

Which SuperNode speaks for which site is found out by asking: the coordinator says Hello without a name, the site says
it with its own. A SuperNode that restarts counts as a new one, so that its site is found again and is asked again what
was lost. Asking twice does no harm: a site answers the same ask with the same share.
"""

import logging
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from threading import Thread
from typing import Final, Generic, NamedTuple, Protocol, TypeVar

from partita.core.errors import FederatedError
from partita.federated.desk import DONE, WAIT, Desk
from partita.federated.frames import HEADER_MOST, decode, encode
from partita.federated.messages import Hello, Layout, Message, Refusal
from partita.version import __version__

POLL: Final = 0.5
"""Seconds between two looks for answers."""
CRASHES: Final = 3
"""So often a site's process may end without an answer before the run stops."""
REPLY: Final = 30.0
"""Seconds for which a SuperNode that may be dead is waited for."""

logger = logging.getLogger(__name__)

R = TypeVar("R")


class Node(NamedTuple):
    """A SuperNode since it last came online."""

    id: int
    since: str
    name: str = ""
    """What the SuperLink's operator registered its key as; empty where keys are not registered by name."""

    def __str__(self) -> str:
        return self.name or str(self.id)


class Lost(NamedTuple):
    """What Flower says instead of an answer."""

    reason: str
    final: bool
    """Whether asking again is of no use."""
    crash: bool = False
    """Whether the site's process ended without an answer."""


class Mail(Protocol):
    """What a carrier needs of Flower."""

    def nodes(self) -> Collection[Node]:
        """The SuperNodes that are online."""

    def post(self, node: int, frame: bytes) -> str:
        """Send a frame; the name of the letter."""

    def collect(self, letters: Collection[str]) -> Mapping[str, bytes | Lost]:
        """The answers that have come to these letters; nobody asks for them a second time."""


@dataclass(slots=True)
class Seat:
    """A site at the desk."""

    node: Node
    frame: bytes
    """What it last said."""
    letter: str = ""
    """What it has been asked and has not answered."""
    crashes: int = 0


class Carrier:
    """Brings what sites say to the desk, and what the desk says to them; `turn` after `turn`."""

    def __init__(self, mail: Mail, desk: Desk, layout: Layout) -> None:
        desk.hold = 0.0
        self.mail = mail
        self.desk = desk
        self.greeting = encode(Hello("", __version__, layout))
        self.seats: dict[str, Seat] = {}
        self._greeted: dict[str, Node] = {}
        self._known: set[Node] = set()

    def turn(self) -> None:
        """One look at who is there, what has come and what is to be sent; what cannot go on raises."""
        self._look()
        for site, seat in self.seats.items():
            if not seat.letter and seat.node in self._known:
                told = self.desk.handle(site, seat.frame)
                if told not in (WAIT, DONE):
                    self._stop_if_refused(told)
                    seat.letter = self.mail.post(seat.node.id, told)
        out = {seat.letter: site for site, seat in self.seats.items() if seat.letter}
        for letter, reply in self.mail.collect(list(out)).items():
            seat = self.seats[out[letter]]
            seat.letter = ""
            if isinstance(reply, Lost):
                self._excuse(out[letter], seat, reply)
            else:
                seat.frame = reply

    def _look(self) -> None:
        """Ask SuperNodes that are new for their sites, and hear what others say that were asked."""
        online = set(self.mail.nodes())
        self._known &= online
        for node in sorted(online - self._known):
            self._greeted[self.mail.post(node.id, self.greeting)] = node
            self._known.add(node)
        for letter, reply in self.mail.collect(list(self._greeted)).items():
            node = self._greeted.pop(letter)
            if not isinstance(reply, Lost):
                self._seat(node, reply)
            elif reply.final:
                logger.warning("SuperNode %s: %s", node, reply.reason)
            else:
                self._known.discard(node)

    def _seat(self, node: Node, reply: bytes) -> None:
        """Let a SuperNode speak for the site that it names; others may share the SuperLink and are left alone."""
        try:
            message: Message = decode(reply, HEADER_MOST)
        except FederatedError as error:
            message = Refusal("", str(error))
        site = getattr(message, "site", "")
        if isinstance(message, Refusal) and (site or node.name) in self.desk.sites:
            raise FederatedError(f"site {site or node.name} cannot take part: {message.reason}")
        if site not in self.desk.sites:
            reason = message.reason if isinstance(message, Refusal) else f"{site!r} is not among the sites of this run"
            logger.warning("SuperNode %s: %s", node, reason)
            return
        if node.name and node.name != site:
            raise FederatedError(
                f"SuperNode {node.name!r} says that it is site {site!r}; register its key under the site's name, "
                "or correct the name in the site's file"
            )
        held = self.seats.get(site)
        if held is not None and self._answers(held.node):
            raise FederatedError(f"site {site!r}: two SuperNodes say that they are it; stop one of them")
        self.seats[site] = Seat(node, reply)

    def _answers(self, node: Node) -> bool:
        """Whether a SuperNode that Flower takes for online still answers; one that was killed is online for a while."""
        if node not in self._known:
            return False
        letter = self.mail.post(node.id, self.greeting)
        end = time.monotonic() + REPLY
        while time.monotonic() < end:
            for reply in self.mail.collect([letter]).values():
                return not isinstance(reply, Lost)
            time.sleep(POLL)
        return False

    def _excuse(self, site: str, seat: Seat, lost: Lost) -> None:
        """Stop where asking again is of no use."""
        seat.crashes += lost.crash
        if lost.final or seat.crashes >= CRASHES:
            raise FederatedError(f"site {site!r}: {lost.reason}; look into the log of its SuperNode")

    def _stop_if_refused(self, told: bytes) -> None:
        """A site that the desk will not have: it cannot come again by itself, so the run stops."""
        message = decode(told, max(len(told), 1))
        if isinstance(message, Refusal):
            raise FederatedError(message.reason)


class _Work(Thread, Generic[R]):
    """A call in a thread of its own, with what came of it."""

    def __init__(self, call: Callable[[], R]) -> None:
        super().__init__(daemon=True, name="partita-coordinator")
        self.call = call
        self.results: list[R] = []
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            self.results.append(self.call())
        except BaseException as error:
            self.error = error


def carried(carrier: Carrier, coordinate: Callable[[], R], poll: float = POLL) -> R:
    """What `coordinate` comes to, which asks at the desk, while letters are carried."""
    work = _Work(coordinate)
    work.start()
    while work.is_alive():
        try:
            carrier.turn()
        except BaseException:
            leader = carrier.desk.sites[0]
            carrier.desk.handle(leader, encode(Refusal(leader, "no letters are carried any more")))
            work.join(REPLY)
            raise
        work.join(poll)
    if work.error is not None:
        raise work.error
    return work.results[0]
