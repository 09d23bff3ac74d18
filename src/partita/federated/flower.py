"""A Flower app over the same protocols, for organisations that already run Flower: its two halves, and its mail.

Flower starts a new process for every message, so a site's state is read from and written to its folder around each.
"""

import logging
from collections.abc import Collection, Iterable
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from partita.core.errors import FederatedError, MissingExtraError
from partita.federated.flower_carrier import Lost, Node
from partita.federated.flower_serve import coordinator, serve
from partita.federated.flower_site import reply

FRAME: Final = "frame"
KIND: Final = "query"
LIFE: Final = 86400.0
"""Seconds for which Flower keeps a letter."""
LOAD, RAISED, UNSENT, UNANSWERED, GONE, MOD, UNTRUSTED, CRASHED = 1, 2, 3, 4, 5, 6, 7, 8
"""Flower's codes of errors (flwr.common.constant.ErrorCode)."""
COORDINATOR: Final = "coordinator"
"""What the app's settings call the coordinator's file."""


def server_app() -> Any:
    """The coordinator as a `flwr.serverapp.ServerApp`."""
    app = _flower("serverapp").ServerApp()

    @app.main()  # type: ignore[untyped-decorator]  # Flower is imported by name
    def coordinate(grid: Any, context: Any) -> None:
        _audible()
        serve(coordinator(Path(str(context.run_config[COORDINATOR])).expanduser()), GridMail(grid))

    return app


def client_app() -> Any:
    """A site as a `flwr.clientapp.ClientApp`; its SuperNode's `--node-config` says `site-config="site.toml"`."""
    app = _flower("clientapp").ClientApp()

    @app.query()  # type: ignore[untyped-decorator]  # Flower is imported by name
    def answer(message: Any, context: Any) -> Any:
        _audible()
        try:
            frame = unwrapped(message.content)
        except FederatedError:
            frame = b"\0"
        return _flower("app").Message(wrapped(reply(frame, context.node_config)), reply_to=message)

    return app


def wrapped(frame: bytes) -> Any:
    """A frame as a Flower record; an array of bytes, which Flower cuts up where it is large."""
    flower = _flower("app")
    array = flower.Array(dtype="uint8", shape=(len(frame),), stype="partita.frame", data=bytes(frame))
    return flower.RecordDict({FRAME: flower.ArrayRecord({FRAME: array})})


def unwrapped(content: Any) -> bytes:
    """The frame in a Flower record."""
    try:
        return bytes(content[FRAME][FRAME].data)
    except (KeyError, TypeError, AttributeError):
        raise FederatedError("not a message of partita's; use the same partita version everywhere") from None


class GridMail:
    """Flower's grid as the mail of a `FlowerLink`."""

    def __init__(self, grid: Any) -> None:
        self.grid = grid

    def nodes(self) -> list[Node]:
        """The SuperNodes online in this federation."""
        return [Node(node.node_id, node.last_activated_at, node.name) for node in self.grid.get_nodes()]

    def post(self, node: int, frame: bytes) -> str:
        """Send one letter."""
        message = _flower("app").Message(wrapped(frame), dst_node_id=node, message_type=KIND, ttl=LIFE)
        letters = list(self.grid.push_messages([message]))
        if len(letters) != 1 or not letters[0]:
            raise FederatedError(f"Flower did not take a message of {len(frame)} bytes for SuperNode {node}")
        return str(letters[0])

    def collect(self, letters: Collection[str]) -> dict[str, bytes | Lost]:
        """What has come."""
        replies: Iterable[Any] = self.grid.pull_messages(list(letters)) if letters else ()
        return {message.metadata.reply_to_message_id: _content(message) for message in replies}


def _content(message: Any) -> bytes | Lost:
    if message.has_error():
        return lost(message.error.code, str(message.error.reason))
    try:
        return unwrapped(message.content)
    except FederatedError as error:
        return Lost(str(error), final=True)


def lost(code: int, reason: str) -> Lost:
    """What an error of Flower's means to a run."""
    line = " ".join(reason.split())[:200]
    if code in (UNSENT, UNANSWERED, GONE):
        return Lost(line, final=False)
    if code == LOAD:
        return Lost("its SuperNode cannot load the app; install the same partita there, with flwr", final=True)
    if code == UNTRUSTED:
        return Lost("its SuperNode does not trust the app", final=True)
    if code in (RAISED, MOD):
        return Lost(f"its SuperNode reports an error ({line})", final=True)
    return Lost(f"its process ended without an answer ({line})", final=False, crash=True)


def _audible() -> None:
    """Let what partita says reach the process's own log."""
    logger = logging.getLogger("partita")
    if not logger.handlers:
        logger.addHandler(logging.StreamHandler())
        logger.setLevel(logging.INFO)


def _flower(part: str) -> Any:
    try:
        return import_module(f"flwr.{part}")
    except ImportError:
        raise MissingExtraError('Flower is not installed; pip install "partita[flower]"') from None
