"""A site over gRPC: it calls the coordinator, answers what it is asked and keeps its state before it answers."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

from partita.core.errors import FederatedError, PartitaError
from partita.federated.config import SiteConfig, Tls
from partita.federated.desk import DONE, HOLD, WAIT, Hooks, News
from partita.federated.frames import decode, encode
from partita.federated.grpc_server import METHOD, grpc_needed, message_options
from partita.federated.messages import Ask, Message, Refusal, Share, Terms
from partita.federated.partaking import Party, check_output, check_own, is_finished, local_of, party_of, put_result
from partita.federated.site import SiteResult
from partita.federated.state import State
from partita.federated.store import load_state, save_state
from partita.federated.trust import check_tls, read_pem
from partita.io.holding import holding

DEADLINE: Final = HOLD + 40.0
SLOWEST: Final = 50_000
"""Bytes a second below which a line counts as broken."""
FIRST_PAUSE: Final = 0.1
LONGEST_PAUSE: Final = 5.0
DISTRUST: Final = ("certificate", "ssl", "tls handshake")
"""Words of a handshake that TLS itself refused. One that broke off ("Handshake read failed") is a coordinator that
stops or begins at this moment."""
R = TypeVar("R")


class UnreachableError(FederatedError):
    """The coordinator does not answer; it may later."""


@dataclass(slots=True)
class Visit(Generic[R]):
    """A site's part in a run, from its first Hello to the result."""

    party: Party[R]
    carry: Callable[[bytes], bytes]
    """Brings a frame to the coordinator and its reply back; raises UnreachableError where that fails."""
    path: Path
    """Where the state is kept."""
    largest: int
    patience: float
    hooks: Hooks

    def follow(self, state: State | None, finished: Callable[[R], None]) -> R:
        """Take part until the coordinator says that all is done; `finished` gets the result as soon as there is one."""
        message: Message = self.party.hello(state)
        if state is not None and is_finished(state):
            finished(self.party.result(state))
        begun, start = False, time.monotonic()
        while True:
            reply = self._reply(message, state)
            told = None if reply in (WAIT, DONE) else decode(reply, self.largest)
            if isinstance(told, Refusal):
                raise FederatedError(told.reason)
            if reply == DONE or (begun and isinstance(told, Terms) and state is not None and is_finished(state)):
                return self._whole(state)
            if isinstance(told, Terms):
                state = self._insisting(partial(self._agreed, state, begun, told))
                save_state(self.path, state)
            if not isinstance(told, Ask) or state is None:
                time.sleep(FIRST_PAUSE if time.monotonic() - start < FIRST_PAUSE and told is None else 0.0)
                message, start = self.party.hello(state), time.monotonic()
                continue
            state, share = self._answered(state, told)
            if told.step == "close":
                finished(self.party.result(state))
            self.hooks.news(News(told.round, told.step, time.monotonic() - start, len(encode(share)), len(reply)))
            message, begun, start = share, True, time.monotonic()

    def _whole(self, state: State | None) -> R:
        """The result of a run that is done."""
        if state is None or not is_finished(state):
            raise FederatedError(f"site {self.party.name}: the coordinator ended the run without a result")
        return self.party.result(state)

    def _reply(self, message: Message, state: State | None) -> bytes:
        """The coordinator's reply; a site that has its result does without."""
        try:
            return self._carried(message, state)
        except UnreachableError as error:
            if state is None or not is_finished(state):
                raise
            self.hooks.note(f"the run is complete here; the coordinator did not confirm it ({error})")
            return DONE

    def _agreed(self, state: State | None, begun: bool, terms: Terms) -> State:
        """The beginning of a run; terms never change within one, and one that was begun is not left for another."""
        if state is not None and terms.run == state.terms.run:
            if terms != state.terms:
                raise FederatedError(
                    f"site {self.party.name}: the terms of run {terms.run} were changed after all agreed"
                )
            return state
        if state is not None and begun:
            raise FederatedError(
                f"site {self.party.name} takes part in run {state.terms.run} and was offered run {terms.run}; "
                "start it again to leave the one for the other"
            )
        if state is not None and not is_finished(state):
            self.hooks.note(f"run {state.terms.run} is given up for run {terms.run}")
        return self.party.agree(terms)

    def _answered(self, state: State, ask: Ask) -> tuple[State, Share]:
        """The share for an ask, kept before anybody sees it."""
        state, share = self._insisting(partial(self.party.answer, state, ask))
        save_state(self.path, state)
        return state, share

    def _insisting(self, act: Callable[[], Any]) -> Any:
        """Do it, or tell the coordinator why not."""
        try:
            return act()
        except FederatedError as error:
            with suppress(FederatedError):
                self.carry(encode(Refusal(self.party.name, str(error))))
            if isinstance(error.__cause__, PartitaError):  # what stays here may say more
                raise error.__cause__ from None
            raise

    def _carried(self, message: Message, state: State | None) -> bytes:
        """The reply; while the coordinator is away the site says Hello again and again, ever less often."""
        start, pause, told = time.monotonic(), FIRST_PAUSE, False
        while True:
            try:
                return self.carry(encode(message))
            except UnreachableError as error:
                if time.monotonic() - start > self.patience:
                    raise UnreachableError(
                        f"site {self.party.name}: {error}, for {self.patience:g} s; its state is kept in "
                        f"{self.path.parent}: start the same command again to go on"
                    ) from None
                if not told and pause > 1:
                    told = True
                    self.hooks.note(f"{error}; trying again for {self.patience:g} s")
            message = self.party.hello(state)
            time.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)


def take_part(config: SiteConfig, hooks: Hooks | None = None) -> SiteResult:
    """Take part in a run, or go on where this site stood; the result is written to `config.output`, if there is one."""
    told = hooks or Hooks()
    check_tls(config.tls, config.site)
    if config.output is not None:
        check_output(config.output)
    with holding(config.state, "another process of this site runs there; stop it"):
        local = local_of(config, told)
        path = config.state / "state"
        state = load_state(path)
        if state is not None:
            check_own(config, local, state)
        with calling(config.coordinator, config.tls, config.largest << 20) as carry:
            visit = Visit(party_of(local, config), carry, path, config.largest << 20, config.patience, told)
            return visit.follow(state, partial(put_result, config, local, told))


@contextmanager
def calling(coordinator: str, tls: Tls, largest: int) -> Iterator[Callable[[bytes], bytes]]:
    """A way to bring frames to a coordinator."""
    grpc = grpc_needed()
    credentials = grpc.ssl_channel_credentials(
        root_certificates=read_pem(tls.authority, "authority"),
        private_key=read_pem(tls.key, "key"),
        certificate_chain=read_pem(tls.certificate, "certificate"),
    )
    options = [
        *message_options(largest),
        ("grpc.initial_reconnect_backoff_ms", 100),
        ("grpc.max_reconnect_backoff_ms", 5_000),
        ("grpc.enable_retries", 0),
    ]
    with grpc.secure_channel(coordinator, credentials, options) as channel:
        call, largest_yet = channel.unary_unary(METHOD), 0

        def carry(frame: bytes) -> bytes:
            nonlocal largest_yet
            largest_yet = max(largest_yet, len(frame))
            try:
                reply: bytes = call(frame, timeout=DEADLINE + 2 * largest_yet / SLOWEST)
            except grpc.RpcError as error:
                raise _failure(grpc, coordinator, error) from None
            largest_yet = max(largest_yet, len(reply))
            return reply

        yield carry


def _failure(grpc: Any, coordinator: str, error: Any) -> FederatedError:
    """What a failed call means: the coordinator is away for now, or will never take this site."""
    code, detail = error.code(), " ".join(str(error.details()).split())[:200]
    if code in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.CANCELLED):
        if any(word in detail.lower() for word in DISTRUST):
            return FederatedError(
                f"the coordinator at {coordinator} and this site do not trust each other's certificates ({detail}); "
                "check [tls] on both sides"
            )
        hint = "; it may not know this site's certificate" if "socket closed" in detail.lower() else ""
        return UnreachableError(f"the coordinator at {coordinator} does not answer ({detail}{hint})")
    if code == grpc.StatusCode.RESOURCE_EXHAUSTED:
        if "larger than max" in detail:
            return FederatedError(f"a message is larger than allowed ({detail}); raise `largest` on both sides")
        return UnreachableError(f"the coordinator at {coordinator} is busy ({detail})")
    return FederatedError(f"the coordinator at {coordinator} failed ({code.name}: {detail}); look at its messages")
