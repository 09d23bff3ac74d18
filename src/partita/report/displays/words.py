"""Words of pictures: short names that stay apart, counted things, numbers as people read them."""

from collections.abc import Sequence
from typing import Final

LONG: Final = 24
"""Characters of a name that are shown."""


def short_names(names: Sequence[object], most: int = LONG) -> tuple[str, ...]:
    """Names on one line, long ones cut in the middle; those that became equal get their place.

    >>> short_names(["a" * 40 + "1", "a" * 40 + "2", " b\\n c "], 9)
    ('aaaa…aaa1', 'aaaa…aaa2', 'b c')
    >>> short_names(["x" * 30, "x" * 31], 8)
    ('xx…xxx 1', 'xx…xxx 2')
    """
    plain = [" ".join("".join(c if c.isprintable() else " " for c in str(name)).split()) for name in names]
    found = [_cut(name, most) for name in plain]
    twice = {name for name in found if found.count(name) > 1}
    return tuple(_numbered(name, place, most) if name in twice else name for place, name in enumerate(found, 1))


def _cut(name: str, most: int) -> str:
    if len(name) <= most:
        return name
    head = (most - 1) // 2
    return f"{name[:head]}…{name[-(most - 1 - head) :]}"


def _numbered(name: str, place: int, most: int) -> str:
    tail = f" {place}"
    return _cut(name, max(most - len(tail), 3)) + tail


def counted(number: float, what: str) -> str:
    """A number of things.

    >>> counted(1, "cluster"), counted(12500, "object")
    ('1 cluster', '12,500 objects')
    """
    return f"{amount(number)} {what}" if number == 1 else f"{amount(number)} {what}s"


def amount(number: float) -> str:
    """A count, with two decimals at most.

    >>> amount(1234567.0), amount(2.5), amount(999)
    ('1,234,567', '2.5', '999')
    """
    return f"{int(number):,}" if number == int(number) else f"{number:,.2f}".rstrip("0")


def listed(words: Sequence[str]) -> str:
    """Several words as a sentence has them.

    >>> listed(["a"]), listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
