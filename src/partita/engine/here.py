"""What engines share that work in this process: the parts lie in a list."""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from functools import partial
from types import TracebackType
from typing import Any, Generic, Protocol, Self, TypeVar

from partita.engine.blocks import on_block, on_part
from partita.engine.trees import Tree

T = TypeVar("T")
R = TypeVar("R")
P = TypeVar("P")


class Run(Protocol):
    """A way to call a function on items."""

    def __call__(self, function: Callable[[T], R], items: Sequence[T]) -> Generator[R, None, None]:
        """The results in order, a bounded number ahead."""


class PartsHere(Generic[P]):
    """Parts in the memory of this process."""

    def __init__(self, run: Run, parts: list[P]) -> None:
        self.run = run
        self.parts = parts
        self.states: list[Any] = [None] * len(parts)

    def __len__(self) -> int:
        return len(self.parts)

    def step(self, function: Callable[[Any, P, Any], tuple[Any, R]], common: Any, add: Callable[[Sequence[R]], R]) -> R:
        """Every part with its state and a tree over the shares."""
        tree: Tree[R] = Tree(add)
        given = Numbered(self.parts, self.states)
        with closing(self.run(partial(on_part, function, common), given)) as done:
            for place, (state, share) in enumerate(done):
                self.states[place] = state
                tree.push(share)
        return tree.total()

    def each(self, function: Callable[[P, Any], R]) -> Iterator[R]:
        """In order."""
        return self.run(partial(_told, function), Numbered(self.parts, self.states))

    def release(self) -> None:
        """Leave them to the garbage collector."""
        self.parts, self.states = [], []


class Numbered(Sequence[tuple[int, Any, Any]]):
    """Each part with its place and its state when it is asked for, so that no old state is kept."""

    def __init__(self, parts: Sequence[Any], states: Sequence[Any]) -> None:
        self.parts, self.states = parts, states

    def __len__(self) -> int:
        return len(self.parts)

    def __getitem__(self, place: Any) -> Any:
        return place, self.parts[place], self.states[place]


def _told(function: Callable[[Any, Any], R], given: tuple[int, Any, Any]) -> R:
    place, part, state = given
    return on_block(lambda part: function(part, state), (place, part))


class EngineHere:
    """Base of engines in this process; they say how a function is called on items."""

    name: str
    workers: int

    def run(self, function: Callable[[T], R], items: Sequence[T]) -> Generator[R, None, None]:
        """The results in order: here one after another."""
        return (function(item) for item in items)

    def map(self, function: Callable[[T], R], items: Sequence[T]) -> Iterator[R]:
        """The results in order; errors name the block."""
        return self.run(partial(on_block, function), list(enumerate(items)))

    def hold(self, load: Callable[[T], P], items: Sequence[T]) -> PartsHere[P]:
        """All parts, loaded now."""
        return PartsHere(self.run, list(self.map(load, items)))

    def close(self) -> None:
        """Nothing was opened."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
