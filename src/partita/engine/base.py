"""What every engine does: map a function over items, and hold parts to which steps are applied."""

from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import Any, Protocol, Self, TypeVar

T = TypeVar("T")
R = TypeVar("R")
P = TypeVar("P")
P_co = TypeVar("P_co", covariant=True)


class Parts(Protocol[P_co]):
    """Parts that stay where they were loaded, with a state each: None at first.

    What is sent between processes must be pickled. A function may be applied to a part again where a worker died, so
    it must give the same for the same, and writing a file twice must leave one whole file.
    """

    def __len__(self) -> int:
        """How many."""

    def step(
        self,
        function: Callable[[Any, P_co, Any], tuple[Any, R]],
        common: Any,
        add: Callable[[Sequence[R]], R],
    ) -> R:
        """`function(common, part, state)` of every part gives its next state and a share; the shares are added up.

        `add` is applied in a tree whose shape depends on the number of parts alone (`partita.engine.trees`) and leaves
        what it is given unchanged. `function` does not write to the state that it was given: it makes a new one, or
        gives back the very same object where nothing changed. Where a step raises, the parts are good for nothing but
        to be released. There must be one part at least.
        """

    def each(self, function: Callable[[P_co, Any], R]) -> Iterator[R]:
        """`function(part, state)` of every part, in order; the results come here, so they should be small."""

    def release(self) -> None:
        """Forget all parts and states."""


class Engine(Protocol):
    """Does work over items; as a context manager it closes in the end what it opened."""

    @property
    def name(self) -> str:
        """What `open_engine` knows it by."""

    @property
    def workers(self) -> int:
        """How many items are worked on side by side."""

    def map(self, function: Callable[[T], R], items: Sequence[T]) -> Iterator[R]:
        """`function(item)` of each item, in their order, a bounded number of results ahead of who takes them.

        Closing the iterator cancels what has not begun and waits for what has; so does Ctrl-C, which is raised again.
        """

    def hold(self, load: Callable[[T], P], items: Sequence[T]) -> Parts[P]:
        """What `load` gives for each item, kept where it was loaded; it never comes here from another process."""

    def close(self) -> None:
        """Give back what was opened."""

    def __enter__(self) -> Self:
        """The engine itself."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close."""
