"""Sums in a fixed order: floating-point addition is not associative, and engines must agree to the last bit."""

from collections.abc import Callable, Sequence
from typing import Final, Generic, TypeVar

R = TypeVar("R")
FAN: Final = 8
"""How many neighbours are added at once."""


def groups(items: Sequence[R]) -> list[Sequence[R]]:
    """Neighbours that are added at once.

    >>> groups("abcdefghij")
    ['abcdefgh', 'ij']
    """
    return [items[start : start + FAN] for start in range(0, len(items), FAN)]


def added(add: Callable[[Sequence[R]], R], group: Sequence[R]) -> R:
    """One group; what is alone goes up as it is."""
    return group[0] if len(group) == 1 else add(group)


class Tree(Generic[R]):
    """Takes shares in order and adds each eight neighbours, then each eight of those sums, and so on.

    Only the last few of each level are kept.

    >>> tree = Tree(lambda group: "(" + "".join(group) + ")")
    >>> for share in "abcdefghij":
    ...     tree.push(share)
    >>> tree.total()
    '((abcdefgh)(ij))'
    """

    def __init__(self, add: Callable[[Sequence[R]], R]) -> None:
        self.add = add
        self.levels: list[list[R]] = []

    def push(self, share: R, level: int = 0) -> None:
        """The next share, or a sum of the level below."""
        if level == len(self.levels):
            self.levels.append([])
        waiting = self.levels[level]
        waiting.append(share)
        if len(waiting) == FAN:
            self.levels[level] = []
            self.push(self.add(waiting), level + 1)

    def total(self) -> R:
        """The sum of all shares, of which there must be one at least."""
        level = 0
        while level < len(self.levels) - 1:
            if self.levels[level]:
                rest, self.levels[level] = self.levels[level], []
                self.push(added(self.add, rest), level + 1)
            level += 1
        return added(self.add, self.levels[-1])
