"""The data sets of the five papers, as `catalogue.toml` has them; no data folder is looked at."""

import tomllib
from importlib.resources import files
from typing import Any, Final

from partita.core.errors import ParameterError
from partita.core.suggest import did_you_mean
from partita.datasets.entry import Entry, OpenML


def _entry(table: dict[str, Any]) -> Entry:
    found: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in table.items()}
    if "openml" in found:
        found["openml"] = OpenML(**{**found["openml"], "without": tuple(found["openml"].get("without", ()))})
    found["parts"] = {name: (first, past) for name, (first, past) in table.get("parts", {}).items()}
    return Entry(**found)


def _entries() -> dict[str, Entry]:
    text = files("partita.datasets").joinpath("catalogue.toml").read_text(encoding="utf-8")
    return {table["name"]: _entry(table) for table in tomllib.loads(text)["set"]}


CATALOGUE: Final = _entries()
"""By name, in the order of the catalogue."""


def names() -> tuple[str, ...]:
    """What `load` knows.

    >>> names()[:3]
    ('iris', 'wine', 'wdbc')
    """
    return tuple(CATALOGUE)


def entry_of(name: str) -> Entry:
    """The entry of that name."""
    if name not in CATALOGUE:
        guess = did_you_mean(name, CATALOGUE)
        raise ParameterError(f"no data set is called {name!r}; {guess}there are {', '.join(CATALOGUE)}")
    return CATALOGUE[name]
