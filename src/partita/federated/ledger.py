"""The ledger: every byte that crossed a site's boundary, by step, site and direction."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

Way = Literal["to", "from"]


class Line(NamedTuple):
    """What one kind of message came to."""

    step: str
    messages: int
    to_sites: int
    from_sites: int


@dataclass(slots=True)
class Ledger:
    """Counts bytes as they are sent.

    >>> ledger = Ledger()
    >>> ledger.record("round", "north", "to", 100)
    >>> ledger.record("round", "north", "from", 40)
    >>> ledger.lines()
    [Line(step='round', messages=2, to_sites=100, from_sites=40)]
    """

    counts: dict[tuple[str, str, Way], list[int]] = field(default_factory=lambda: defaultdict(lambda: [0, 0, 0]))
    """For each step, site and way: messages, bytes, and the bytes of the largest message."""
    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    """For each step how long every ask took, until all had answered."""
    worked: list[tuple[float, ...]] = field(default_factory=list)
    """For every ask the processor time of each site that answered."""
    alone: float = 0.0
    """Processor time of the coordinator beside asking."""

    def record(self, step: str, site: str, way: Way, size: int) -> None:
        """One more message."""
        entry = self.counts[step, site, way]
        entry[0] += 1
        entry[1] += size
        entry[2] = max(entry[2], size)

    def time(self, step: str, seconds: float) -> None:
        """How long one ask took."""
        self.seconds[step].append(seconds)

    def side_by_side(self, waits_for: Callable[[Sequence[float]], float] = max) -> float:
        """Seconds of a run whose sites each have a machine of their own and whose messages cost nothing.

        An ask waits for the slowest site; among many on one machine that is mostly one the machine interrupted, so that
        the median says more of their work.
        """
        return sum(map(waits_for, self.worked)) + self.alone

    def lines(self) -> list[Line]:
        """One line a step, in the order in which steps first came."""
        found: dict[str, Line] = {}
        for (step, _, way), (messages, size, _) in self.counts.items():
            line = found.get(step, Line(step, 0, 0, 0))
            to_sites, from_sites = (size, 0) if way == "to" else (0, size)
            found[step] = Line(step, line.messages + messages, line.to_sites + to_sites, line.from_sites + from_sites)
        return list(found.values())

    def a_message(self, step: str, way: Way) -> int:
        """Bytes of the largest message of a step, one way: in most steps all are of that size."""
        sizes = [entry[2] for (name, _, there), entry in self.counts.items() if (name, there) == (step, way)]
        return max(sizes, default=0)

    @property
    def total(self) -> int:
        """All bytes."""
        return sum(size for _, size, _ in self.counts.values())
