"""Label values as JSON can hold them, and back, each with its type."""

from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Final, NamedTuple
from uuid import UUID

from partita.core.coding import Label
from partita.core.errors import FileError

PLAIN: Final = (str, int, bool, type(None))
"""Types that JSON tells apart by itself."""


CONVERT: Final = (
    "as labels and ids, use strings, numbers, dates, or times and durations to the microsecond; convert others to "
    'text, for example with df["id"].astype(str)'
)
"""Advice in messages on types that cannot be saved."""


class Kind(NamedTuple):
    """A type that is written as text beside its name."""

    type: type[Any]
    write: Callable[[Any], str]
    read: Callable[[str], Any]


def _duration(text: str) -> timedelta:
    """Read days, seconds and microseconds."""
    days, seconds, microseconds = map(int, text.split())
    return timedelta(days, seconds, microseconds)


KINDS: Final = {
    "float": Kind(float, float.hex, float.fromhex),
    "bytes": Kind(bytes, bytes.hex, bytes.fromhex),
    "date": Kind(date, date.isoformat, date.fromisoformat),
    "datetime": Kind(datetime, datetime.isoformat, datetime.fromisoformat),
    "time": Kind(time, time.isoformat, time.fromisoformat),
    "timedelta": Kind(timedelta, lambda value: f"{value.days} {value.seconds} {value.microseconds}", _duration),
    "decimal": Kind(Decimal, str, Decimal),
    "uuid": Kind(UUID, str, UUID),
}


def written(value: Label, where: str) -> Any:
    """A label as JSON holds it; one of a type that no file can hold raises.

    >>> written("a", ""), written(date(2024, 5, 1), "")
    ('a', {'date': '2024-05-01'})
    """
    if type(value) in PLAIN:
        return value
    for name, kind in KINDS.items():
        inherits = kind.type in (datetime, timedelta) and isinstance(value, kind.type)
        if type(value) is kind.type or (inherits and _is_exact(value)):
            return {name: kind.write(value)}
    raise FileError(
        f"{where}: the label {value!r:.60} is a {type(value).__name__}, which a model file cannot hold; {CONVERT}"
    )


def _is_exact(value: Label) -> bool:
    """Return whether a time or duration of another library, such as a pandas Timestamp, is one to the microsecond."""
    try:
        if isinstance(value, timedelta):
            return bool(timedelta(value.days, value.seconds, value.microseconds) == value)
        return isinstance(value, datetime) and bool(datetime.fromisoformat(value.isoformat()) == value)
    except (ValueError, OverflowError):
        return False


def read_back(value: Any) -> Label:
    """The label that `written` wrote; anything else raises a ValueError.

    >>> read_back({"date": "2024-05-01"})
    datetime.date(2024, 5, 1)
    """
    if type(value) in PLAIN:
        return value
    if isinstance(value, dict) and len(value) == 1:
        ((name, text),) = value.items()
        if name in KINDS and isinstance(text, str):
            return KINDS[name].read(text)
    raise ValueError(f"{value!r:.60} is no label")
