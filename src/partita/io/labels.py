"""Label values as JSON can hold them, and back, each with its type."""

from collections.abc import Callable
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, Final, NamedTuple
from uuid import UUID

from partita.core.coding import Label
from partita.core.errors import FileError

PLAIN: Final = (str, int, bool, type(None))
"""Types that JSON tells apart by itself."""


class Kind(NamedTuple):
    """A type that is written as text beside its name."""

    type: type[Any]
    write: Callable[[Any], str]
    read: Callable[[str], Any]


KINDS: Final = {
    "float": Kind(float, float.hex, float.fromhex),
    "bytes": Kind(bytes, bytes.hex, bytes.fromhex),
    "date": Kind(date, date.isoformat, date.fromisoformat),
    "datetime": Kind(datetime, datetime.isoformat, datetime.fromisoformat),
    "time": Kind(time, time.isoformat, time.fromisoformat),
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
        if type(value) is kind.type or (kind.type is datetime and _moment(value)):
            return {name: kind.write(value)}
    raise FileError(
        f"{where}: the label {value!r:.60} is a {type(value).__name__}, which a model file cannot hold; "
        "use strings or numbers as labels"
    )


def _moment(value: Label) -> bool:
    """Whether a value of a library's own type, such as a pandas Timestamp, is a datetime to the microsecond."""
    try:
        return isinstance(value, datetime) and bool(datetime.fromisoformat(value.isoformat()) == value)
    except ValueError:
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
