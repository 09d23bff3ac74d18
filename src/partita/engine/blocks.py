"""One block at a time: what is done with it names it where it fails."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from partita.core.errors import PartitaError

T = TypeVar("T")
R = TypeVar("R")


@contextmanager
def naming(place: int) -> Iterator[None]:
    """Errors that a user can put right name the block, counted from 1; they stay of their kind."""
    try:
        yield
    except PartitaError as error:
        error.args = (f"block {place + 1}: {error}", *error.args[1:])
        raise


def on_block(function: Callable[[T], R], block: tuple[int, T]) -> R:
    """`function` of an item that comes with its place."""
    place, item = block
    with naming(place):
        return function(item)


def on_part(function: Callable[[Any, Any, Any], tuple[Any, R]], common: Any, given: tuple[int, Any, Any]) -> Any:
    """The next state and the share of a part that comes with its place and its state."""
    place, part, state = given
    with naming(place):
        return function(common, part, state)
