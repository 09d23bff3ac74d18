"""A site behind Flower: one process for one message, so its table and state are read anew each time."""

import logging
import time
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

from partita.core.errors import FederatedError, FileError
from partita.federated.config import SiteConfig, read_site
from partita.federated.desk import Hooks
from partita.federated.frames import decode, encode
from partita.federated.local import Local
from partita.federated.messages import Ask, Hello, Refusal, Terms
from partita.federated.partaking import check_own, local_of, party_of, put_result
from partita.federated.state import State
from partita.federated.store import load_state, save_state
from partita.federated.trust import check_tls
from partita.io.holding import holding

CONFIG: Final = "site-config"
"""What a SuperNode's `--node-config` calls the site's file."""
GIVEN: Final = {"coordinator": "flower:1"}
"""What only gRPC needs."""
BUSY: Final = 30.0
"""Seconds for which the site's folder may be held by another process."""

logger = logging.getLogger(__name__)


def reply(frame: bytes, settings: Mapping[str, Any]) -> bytes:
    """The site's answer as a frame; what goes wrong is a refusal that shows nothing of its files but to its own log."""
    site = ""
    try:
        if CONFIG not in settings:
            raise FederatedError(
                f"its SuperNode knows of no file; start it with --node-config '{CONFIG}=\"site.toml\"'"
            )
        config = read_site(Path(str(settings[CONFIG])).expanduser(), GIVEN)
        site = config.site
        with ExitStack() as stack:
            _hold(stack, config.state)
            return _answered(frame, config, *_opened(config))
    except FederatedError as error:
        logger.warning("%s", error)
        return encode(Refusal(site, str(error)))
    except Exception as error:
        logger.exception("the message was not answered")
        return encode(Refusal(site, f"{type(error).__name__} at the site; the log of its SuperNode says more"))


def _hold(stack: ExitStack, folder: Path) -> None:
    """Have the folder alone; the process of a SuperNode that was killed may hold it a little longer."""
    end = time.monotonic() + BUSY
    while True:
        try:
            stack.enter_context(holding(folder, "another message is being answered there; stop that SuperNode"))
        except FileError:
            if time.monotonic() > end:
                raise
            time.sleep(0.2)
        else:
            return


def _opened(config: SiteConfig) -> tuple[Local, State | None]:
    """What the site holds, and where it stood."""
    try:
        check_tls(config.tls, config.site)
    except FederatedError as error:
        logger.warning("%s", error)
        raise FederatedError("its certificate cannot be used; the log of its SuperNode says why") from None
    local = local_of(config, Hooks(note=logger.info))
    state = load_state(_place(config))
    if state is not None:
        check_own(config, local, state)
    return local, state


def _answered(frame: bytes, config: SiteConfig, local: Local, state: State | None) -> bytes:
    """The answer to a greeting, to terms or to an ask; the state is kept before anybody sees it."""
    message = decode(frame, config.largest << 20)
    party = party_of(local, config)
    if isinstance(message, Ask):
        if state is None:
            raise FederatedError(f"site {config.site} takes part in no run; begin a new one")
        state, share = party.answer(state, message)
        save_state(_place(config), state)
        if message.step == "close":
            put_result(config, local, Hooks(note=logger.info), party.result(state))
        return encode(share)
    if isinstance(message, Terms) and (state is None or state.terms.run != message.run):
        state = party.agree(message)
        save_state(_place(config), state)
    elif not isinstance(message, (Hello, Terms)):
        raise FederatedError(f"site {config.site} was sent a {type(message).__name__}, to which there is no answer")
    return encode(party.hello(state))


def _place(config: SiteConfig) -> Path:
    return config.state / "state"
