"""The hub: where a coordinator asks all sites and adds up what they answer; it remembers each finished round."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from partita.core.errors import FederatedError
from partita.core.progress import report
from partita.core.types import FloatArray
from partita.federated import fixed
from partita.federated.messages import STEPS, Arrays, Ask, Share, Terms

TOTAL = ""
"""The name under which a log keeps the sum over all sites."""


class Link(Protocol):
    """A way to reach sites."""

    def ask(self, ask: Ask, sites: tuple[str, ...]) -> Mapping[str, Share]:
        """The shares of the sites named; waits for them, and raises where one does not come."""


class Totals(Protocol):
    """What a fit over rows needs of those who hold them: sums over all."""

    @property
    def terms(self) -> Terms:
        """What all have agreed on."""

    def total(self, step: str, arrays: Arrays | None = None) -> Arrays:
        """The sum over all rows of what a step in `at_rows.STEPS` comes to, given these arrays."""


class Entry(NamedTuple):
    """One finished round."""

    round: int
    step: str
    shares: Mapping[str, Arrays]
    """By site, or their sum under `TOTAL`."""
    over: bool


class Log(Protocol):
    """Finished rounds, kept where a coordinator finds them again."""

    def append(self, round: int, step: str, shares: Mapping[str, Arrays], over: bool) -> None:  # noqa: A002
        """Keep one more."""

    def read(self) -> Sequence[Entry]:
        """All that were kept, in order."""


class Hub:
    """Asks in turn, one round number each; a finished round in the log is not asked again."""

    def __init__(self, terms: Terms, link: Link, log: Log | None = None) -> None:
        self.terms = terms
        self.link = link
        self.log = log
        self.round = -1
        self.finished = {entry.round: entry for entry in (log.read() if log else ())}

    def gather(
        self, step: str, arrays: Arrays | None = None, sites: tuple[str, ...] | None = None
    ) -> Mapping[str, Arrays]:
        """What each site answers."""
        entry = self._known(step)
        if entry is not None:
            return entry.shares
        shares = {site: share.arrays for site, share in self._asked(step, arrays, sites).items()}
        self._keep(step, shares, False)
        return shares

    def total(self, step: str, arrays: Arrays | None = None) -> Arrays:
        """The sum of what the sites answer, as numbers."""
        entry = self._known(step)
        if entry is not None:
            return entry.shares[TOTAL]
        shares = self._asked(step, arrays, None)
        found = self._sums(step, [share.arrays for share in shares.values()])
        if self.terms.transport != "float":
            found = {
                name: fixed.decode(words, fixed.scale_of(STEPS[step].share[name].kind, self.terms)[0])
                for name, words in found.items()
            }
        self._keep(step, {TOTAL: found}, False)
        return found

    def relay(self, arrays: Arrays | None) -> Entry:
        """One round of a column protocol: the sum as it is, which the sites alone can read, and the leader's word.

        Where the leader says that all is over there is no sum, but `best`: whether it was the best so far.
        """
        entry = self._known("round")
        if entry is not None:
            return entry
        shares = self._asked("round", arrays, None)
        leader = shares[self.terms.sites[0]]
        if leader.over:
            found: Arrays = {"best": np.array([leader.best], np.int64)}
        else:
            found = self._sums("round", [share.arrays for share in shares.values()])
        self._keep("round", {TOTAL: found}, leader.over)
        return Entry(self.round, "round", {TOTAL: found}, leader.over)

    def _known(self, step: str) -> Entry | None:
        """The next round, if it is finished."""
        self.round += 1
        entry = self.finished.get(self.round)
        if entry is not None and entry.step != step:
            raise FederatedError(
                f"the checkpoint has step {entry.step!r} as round {self.round}, this run {step!r}; "
                "it is of another version or other settings: give another folder"
            )
        return entry

    def _asked(self, step: str, arrays: Arrays | None, sites: tuple[str, ...] | None) -> dict[str, Share]:
        asked = sites or self.terms.sites
        report("federated rounds", self.round / (self.round + 20), 1)
        found = self.link.ask(Ask(self.terms.run, self.round, step, arrays or {}), asked)
        return {site: found[site] for site in asked}

    def _keep(self, step: str, shares: Mapping[str, Arrays], over: bool) -> None:
        if self.log is not None:
            self.log.append(self.round, step, shares, over)

    def _sums(self, step: str, parts: Sequence[Arrays]) -> dict[str, NDArray[Any]]:
        """The sums over sites, in their order, of every array that adds up."""
        add = _added if self.terms.transport == "float" else fixed.add
        return {name: add([part[name] for part in parts]) for name in STEPS[step].share}


def _added(parts: Sequence[FloatArray]) -> FloatArray:
    total = parts[0].copy()
    for part in parts[1:]:
        total += part
    return total
