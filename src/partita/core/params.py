"""Settings of methods: frozen dataclasses whose fields carry their meaning and their limits."""

import dataclasses
import math
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np

from partita.core.errors import ParameterError
from partita.core.suggest import arguments, unknown_parameter

P = TypeVar("P")


def setting(default: Any, meaning: str, *, low: float | None = None, high: float | None = None) -> Any:
    """A field of a `Params` dataclass: its default, what it means, and the range it may take (both ends included)."""
    return dataclasses.field(default=default, metadata={"meaning": meaning, "low": low, "high": high})


def build(kind: type[P], given: Mapping[str, Any], owner: str, function: Callable[..., Any] | None = None) -> P:
    """Return the settings, checked against the types, choices and limits of the dataclass; strings are parsed.

    Parameters
    ----------
    kind : type
        The dataclass.
    given : mapping
        Values by name.
    owner : str
        Name of the method in messages.
    function : callable, optional
        The public function that received the values. The message on an unknown name also suggests its arguments.
    """
    fields = {field.name: field for field in dataclasses.fields(kind)}  # type: ignore[arg-type]  # P is a dataclass
    hints = typing.get_type_hints(kind)
    checked = {}
    for name, value in given.items():
        if name not in fields:
            raise unknown_parameter(owner, name, fields, arguments(function) if function else ())
        checked[name] = _checked(value, hints[name], fields[name], owner)
    return kind(**checked)


def describe(kind: type[Any]) -> list[dict[str, Any]]:
    """Name, type, default, meaning and limits of each setting, for help pages and documentation."""
    hints = typing.get_type_hints(kind)
    return [
        {
            "name": field.name,
            "type": type_name(hints[field.name]),
            "default": field.default,
            "meaning": field.metadata.get("meaning", ""),
        }
        for field in dataclasses.fields(kind)
    ]


def type_name(hint: Any) -> str:
    """A type as a user would say it.

    >>> type_name(typing.Literal["a", "b"]), type_name(int | None)
    ('a | b', 'int | none')
    """
    if typing.get_origin(hint) is typing.Literal:
        return " | ".join(str(choice) for choice in typing.get_args(hint))
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return " | ".join(type_name(part) for part in typing.get_args(hint))
    if typing.get_origin(hint) is tuple:
        return f"list of {type_name(typing.get_args(hint)[0])}"
    return "none" if hint is type(None) else str(getattr(hint, "__name__", hint))


def _checked(value: Any, hint: Any, field: dataclasses.Field[Any], owner: str) -> Any:
    try:
        found = _as(value, hint)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(f"{owner}: {field.name}={value!r} is not allowed; give {type_name(hint)}") from None
    low, high = field.metadata.get("low"), field.metadata.get("high")
    limits = " and ".join([f">= {low}"] * (low is not None) + [f"<= {high}"] * (high is not None))
    number = isinstance(found, (int, float)) and not isinstance(found, bool)
    if number and ((low is not None and found < low) or (high is not None and found > high)):
        raise ParameterError(f"{owner}: {field.name}={value!r} is out of range; give {type_name(hint)} {limits}")
    return found


def _as(value: Any, hint: Any) -> Any:
    """The value as the hinted type; strings (from the command line) are read, anything else must fit."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any:
        return value
    value = value.item() if isinstance(value, np.generic) else value
    if origin is typing.Literal:
        matches = [
            choice for choice in arguments if choice == value or (isinstance(value, str) and str(choice) == value)
        ]
        return matches[0] if matches else _refuse()
    if origin in (typing.Union, types.UnionType):
        return _as_any(value, arguments)
    if origin is tuple:
        parts = [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else list(value)
        return tuple(_as(part, arguments[0]) for part in parts)
    if hint is type(None):
        return None if value is None or value == "none" else _refuse()
    if hint is bool:
        return _as_bool(value)
    if hint is int:
        if isinstance(value, str):
            return int(value)
        return int(value) if value == int(value) and not isinstance(value, bool) else _refuse()
    if hint is float:
        number = float(value) if not isinstance(value, bool) else _refuse()
        return number if math.isfinite(number) else _refuse()
    return value if isinstance(value, hint) else _refuse()


def _as_any(value: Any, hints: tuple[Any, ...]) -> Any:
    for hint in sorted(hints, key=lambda hint: (hint is str, hint is not type(None))):
        try:
            return _as(value, hint)
        except (TypeError, ValueError, OverflowError):
            continue
    return _refuse()


def _as_bool(value: Any) -> bool:
    words = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
    if isinstance(value, str) and value.lower() in words:
        return words[value.lower()]
    return value if isinstance(value, bool) else _refuse()


def _refuse() -> Any:
    raise ValueError
